"""Work groups of a launch that wait for each other: the host's side of ``kernels/common/sync/grid.cl``."""

from __future__ import annotations

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl import DeviceInfo, Session, ordering_of

#: Looks at the verdict until a group gives up that the others are there: some tenths of a second.
MAX_POLLS = {"GPU": 200_000, "accelerator": 200_000, "CPU": 20_000_000}

#: The verdict, as the kernels' `CO_RESIDENT`.
_CO_RESIDENT = 2


def require_ordering(device: DeviceInfo, what: str, mend: str) -> None:
    """Refuse a device whose work groups cannot show each other what they write, in order.

    Parameters
    ----------
    device : DeviceInfo
    what : str
        Whose groups do so.
    mend : str
        What to choose instead.

    Raises
    ------
    DeviceError
    """
    if not ordering_of(device).promised:
        problem = (
            f"work groups of {what} exchange data while they run, and {device.name} does not guarantee memory ordering"
        )
        expected = "OpenCL C 2.0, OpenCL C 3.0 with device-scope atomics, or CUDA"
        raise DeviceError(Mistake(problem, expected, mend))


def co_resident(session: Session) -> bool:
    """Whether all groups of the launch that filled the buffer ``probe`` were at work at once; waits for it."""
    return bool(session.download("probe")[1] == _CO_RESIDENT)
