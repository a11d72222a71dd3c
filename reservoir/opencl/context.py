"""The one context of a process on a device, and the message when its driver reports an error."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl.devices import DeviceInfo

if TYPE_CHECKING:
    import pyopencl as cl


#: Held while a context is made: threads with one each would hand kernels the buffers of another.
_MAKING = Lock()


def context_of(device: DeviceInfo) -> cl.Context:
    """Make a device's context once, so that what is built in it is built once, and all threads have the same."""
    with _MAKING:
        return _made(device)


@cache
def _made(device: DeviceInfo) -> cl.Context:
    import pyopencl as cl

    return cl.Context([device.device])


class explained:
    """Turn a driver's error inside the block into one that says which step of ours it refused.

    A class and no generator: it stands around every launch, of which there are tens of thousands.

    Parameters
    ----------
    device : DeviceInfo
    action : str or callable
        Such as ``"upload inflow"``; or what makes the words, if they are needed.

    Raises
    ------
    DeviceError
        Naming the device and the action.
    """

    def __init__(self, device: DeviceInfo, action: str | Callable[[], str]) -> None:
        self._device, self._action = device, action

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Explain an error of OpenCL."""
        if error is None:
            return
        import pyopencl as cl

        if isinstance(error, cl.Error):
            action = self._action if isinstance(self._action, str) else self._action()
            raise DeviceError(Mistake(problem=f"{self._device.name} could not {action}: {error}")) from error
