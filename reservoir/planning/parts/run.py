"""Search a large record in parts: which years a part has, and how parts become the whole."""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from threading import Event, Lock
from typing import Any, Protocol

from reservoir.errors import DeviceError, InputError, shortened
from reservoir.planning.parts.store import Columns, PartStore, columns_of, found_of, run_identity, told_of
from reservoir.planning.search import Found, Method, search
from reservoir.planning.solving import StageProgress
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.runtime import deferred
from reservoir.solvers.registry import devices_of

#: Years of a part, at most. The same everywhere: which years are solved again depends on the sum of the gaps of a part.
PART_YEARS = 4096
#: What the search of all parts is called among the stages of a plan.
PARTS_STAGE = "search"


@dataclass(frozen=True)
class Part:
    """Some years of a record.

    Parameters
    ----------
    number : int
    first, stop : int
        Places of its years.
    """

    number: int
    first: int
    stop: int

    def of(self, problems: RecordProblems) -> RecordProblems:
        """The problems of its years."""
        return problems.span(self.first, self.stop)


#: What a worker brings of a part: its arrays, and what it tells of itself.
Brought = tuple[Part, Columns, Mapping[str, Any]]


class Workers(Protocol):
    """Those who search parts."""

    @property
    def place(self) -> str:
        """The devices that search, if that is known."""

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[Brought]:
        """Search parts, and hand on what is found in any order; `progress` counts years of all parts by stage."""


def parts_of(years: int) -> list[Part]:
    """Parts of at most `PART_YEARS`, as even as can be, in their order."""
    count = -(-years // PART_YEARS)
    firsts = [years * number // count for number in range(count + 1)]
    return [Part(number, first, stop) for number, (first, stop) in enumerate(pairwise(firsts))]


def has_parts(problems: RecordProblems) -> bool:
    """Whether a record has so many years that they are searched in parts."""
    return len(problems) > PART_YEARS


def search_in_parts(
    problems: RecordProblems, method: Method, progress: StageProgress, store: PartStore, workers: Workers
) -> Found:
    """Search the parts that are not kept yet, keep each, and join all.

    Parameters
    ----------
    problems : RecordProblems
        Years.
    method : Method
    progress : callable
        As of `reservoir.planning.search.search`; counts years of all parts, also of those that were kept before.
    store : PartStore
    workers : Workers
    """
    started = time.perf_counter()
    parts = parts_of(len(problems))
    store.begin(run_identity(problems, method, workers.place) | {"parts": len(parts)}, len(problems))
    left = [part for part in parts if part.number not in store.told]
    kept = len(problems) - sum(part.stop - part.first for part in left)

    def of_all(stage: str, done: int, total: int) -> None:
        progress(stage, kept + done, len(problems))

    for part, columns, told in workers.search(problems, left, method, of_all):
        store.keep(part.number, part.first, columns, told)
    told_in_order = [store.told[part.number] for part in parts]
    return found_of(problems, store.columns(), told_in_order, time.perf_counter() - started)


class EndedError(Exception):
    """The run ended while a part was being searched; never leaves the workers."""


def _adding_up(progress: StageProgress, years: int, ended: Event) -> Callable[[Part], StageProgress]:
    """What each part tells its progress to: `progress` is told the sums over all parts, which have so many years.

    Stages of fewer years than a part has are left out. Once `ended` is set, parts at work end with an `EndedError`.
    """
    done, lock = defaultdict[str, dict[int, int]](dict), Lock()

    def of_part(part: Part) -> StageProgress:
        def told(stage: str, count: int, total: int) -> None:
            if ended.is_set():
                raise EndedError
            if total == part.stop - part.first:
                with lock:
                    done[stage][part.number] = count
                    progress(stage, sum(done[stage].values()), years)

        return told

    return of_part


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
        told_by = _adding_up(progress, sum(part.stop - part.first for part in parts), ended)
        with ThreadPoolExecutor(_AT_ONCE * len(devices)) as pool:
            try:
                while pending or flying:
                    with deferred():  # an interrupt in the midst of a future's lock would keep that for ever
                        busy = Counter(device for device, _ in flying.values())
                        for device in devices * _AT_ONCE:
                            if pending and busy[device] < _AT_ONCE:
                                part = pending.popleft()
                                there = replace(method, device=device)
                                task = partial(searched, part.of(problems), part, there, told_by(part), tuple(lost))
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
