"""Run a kernel of a test's own over the functions under test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reservoir.opencl import DeviceInfo, Session, assemble, build

#: Lanes a vector can have.
WIDTHS = (1, 2, 4, 8, 16)

Run = Callable[..., np.ndarray]


def run_on(
    device: DeviceInfo,
    files: Sequence[str],
    kernel: str,
    constants: Mapping[str, int | float | str],
    out: np.ndarray,
    items: int,
    *arguments: np.ndarray | np.generic,
    between: str = "",
) -> np.ndarray:
    """Run the kernel named ``test`` and return what it wrote into its first argument.

    `between` is source that stands after the first of the kernel files and in front of the others.
    """
    source = "\n".join([assemble(files[:1], constants), between, assemble(files[1:], {}), kernel])
    names = [f"argument{place}" for place in range(len(arguments))]
    with Session(device) as session:
        session.upload(out=out)
        for name, argument in zip(names, arguments, strict=True):
            if isinstance(argument, np.ndarray):
                session.upload(**{name: argument})
        given = [
            name if isinstance(argument, np.ndarray) else argument
            for name, argument in zip(names, arguments, strict=True)
        ]
        session.run(build(device, source), "test", items, 1, "out", *given)
        return session.download("out")
