"""Kernels of proofs in float32, with mistakes if a test wants some."""

from __future__ import annotations

from reservoir.certificate import on_device
from reservoir.certificate.on_device import definitions
from reservoir.opencl import assemble, build

SOURCE = assemble(on_device.FILES, definitions(single=True))
#: Nothing is rounded outwards, in single operations or in sums of terms.
NO_MARGIN_OF_SUMS = (
    ("#define ROUNDING 0x1p-20f", "#define ROUNDING 0.0f"),
    ("#define ROUNDING_OF_LEVELS 0x1p-19f", "#define ROUNDING_OF_LEVELS 0.0f"),
)
NO_OUTWARD_ROUNDING = (("#define EPS 0x1p-23f", "#define EPS 0.0f"), *NO_MARGIN_OF_SUMS)


def with_mistakes(*mistakes):
    """The source, with parts of it replaced by others."""
    source = SOURCE
    for before, after in mistakes:
        assert source.count(before) == 1
        source = source.replace(before, after)
    return source


def built(device, kernel, *mistakes):
    """A kernel behind those of proofs in float32."""
    return build(device, with_mistakes(*mistakes) + kernel, on_device.SINGLE_OPTIONS, as_written=True)
