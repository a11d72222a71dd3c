"""Search parts on the devices of this machine: host and device at work at once, each device as fast as it is."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from threading import Event

from reservoir.errors import DeviceError, InputError, shortened
from reservoir.interrupts import deferred
from reservoir.planning.parts.columns import columns_of, told_of
from reservoir.planning.parts.progress import PartsProgress
from reservoir.planning.parts.run import Brought, Part
from reservoir.planning.search import Method, search
from reservoir.planning.stages import StageProgress
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers.registry import devices_of

#: Parts of a device that are at work at once: while one is on the device, the host works at the others.
_AT_ONCE = 3
#: How often a wait looks for an interrupt.
_LOOK_SECONDS = 0.2


def local_workers(method: Method) -> LocalWorkers:
    """Threads for each device that a method names; for a solver that needs none, threads for the host.

    Raises
    ------
    DeviceError
        If there is no such device.
    """
    devices = devices_of(method.solver, method.device)
    return LocalWorkers(list(devices) or [None], ", ".join(sorted(set(devices.values()))))


class LocalWorkers:
    """Threads of this process, some for each device.

    Parameters
    ----------
    devices : sequence of str or None
        Names of devices, each of one; None for a solver that needs none.
    place : str
        What the devices are.
    """

    def __init__(self, devices: Sequence[str | None], place: str) -> None:
        self._devices, self.place = list(devices), place

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[Brought]:
        """Search each part on the device that is free first.

        A device that fails is left out, and its parts are done by the others; the last one's failure is raised.
        """
        pending, flying = deque(parts), dict[Future[Brought], tuple[str | None, Part]]()
        devices, lost = list(self._devices), list[str]()
        ended = Event()
        told = PartsProgress(progress, sum(part.stop - part.first for part in parts), ended)
        with ThreadPoolExecutor(_AT_ONCE * len(devices)) as pool:
            try:
                while pending or flying:
                    with deferred():  # an interrupt in the midst of a future's lock would keep that for ever
                        busy = Counter(device for device, _ in flying.values())
                        for device in devices * _AT_ONCE:
                            if pending and busy[device] < _AT_ONCE:
                                part = pending.popleft()
                                there = replace(method, device=device)
                                task = partial(searched, part.of(problems), part, there, told.of(part), tuple(lost))
                                flying[pool.submit(task)] = device, part
                                busy[device] += 1
                        ended_now = wait(flying, _LOOK_SECONDS, FIRST_COMPLETED).done
                        errors = {future: future.exception() for future in ended_now}
                    for future, error in errors.items():
                        device, part = flying.pop(future)
                        if error is None:
                            yield future.result()
                        elif devices == [device] or not _of_device(error):
                            raise error
                        else:
                            pending.append(part)
                            if device in devices:
                                devices.remove(device)
                                lost.append(_left_out(device, error))
            except BaseException:
                ended.set()
                raise


def searched(
    problems: RecordProblems, part: Part, method: Method, progress: StageProgress, lost: tuple[str, ...] = ()
) -> Brought:
    """Search the problems of a part; `lost` tells of devices that were left out."""
    watch = Stopwatch()
    found = search(problems, method, progress, None, watch)
    told = told_of(replace(found, notes=(*lost, *found.notes)), watch.seconds)
    return part, columns_of(found), told


def _of_device(error: BaseException) -> bool:
    """Whether another device may do better: not at a mistake of the user, nor after an interrupt."""
    return isinstance(error, DeviceError) or (isinstance(error, Exception) and not isinstance(error, InputError))


def _left_out(device: str | None, error: BaseException) -> str:
    return f"The device {device} failed ({shortened(str(error))}) and was left out; the others solved its years."
