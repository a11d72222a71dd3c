"""How an engine's program is put together around a problem's part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reservoir.opencl import BuiltProgram, DeviceInfo, assemble, build
from reservoir.problems.base import KernelProblem


def build_around(
    kernel: KernelProblem,
    device: DeviceInfo,
    constants: Mapping[str, int | float | str],
    *,
    before: Sequence[str] = (),
    after: Sequence[str],
    options: Sequence[str] = (),
) -> BuiltProgram:
    """Assemble and build an engine's program for a problem.

    Parameters
    ----------
    kernel : KernelProblem
    device : DeviceInfo
    constants : mapping
        Macros, beside the problem's.
    before, after : sequence of str
        Kernel files that the problem's may use, behind those of vectors, and those that use the problem's.
    options : sequence of str
        Of the compiler.
    """
    head = assemble(["common/vector/lanes.cl", *before], {**kernel.constants, **constants})
    return build(device, "\n".join([head, kernel.source, assemble([*kernel.files, *after], {})]), options)


def memory_constants(name: str, in_global: bool) -> dict[str, int | str]:
    """Macros of an array of a work group: whether it stands in global memory, its address space, and its fence."""
    space = "global" if in_global else "local"
    return {
        f"{name}_IN_GLOBAL": int(in_global),
        f"{name}_SPACE": f"__{space}",
        f"{name}_FENCE": f"CLK_{space.upper()}_MEM_FENCE",
    }
