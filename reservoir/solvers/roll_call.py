"""Whether all work groups of a launch were at work at once: the host's side of ``kernels/common/grid.cl``."""

from __future__ import annotations

from reservoir.opencl import Session

#: Looks at the roll until a group gives up that the others are there: some tenths of a second.
PATIENCE = {"GPU": 200_000, "accelerator": 200_000, "CPU": 20_000_000}

_PRESENT = 2


def all_present(session: Session) -> bool:
    """Whether the groups answered the roll call together; waits for the kernel that called it."""
    return bool(session.download("roll")[1] == _PRESENT)
