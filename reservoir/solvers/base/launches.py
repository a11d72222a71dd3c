"""Many problems on one device or several, in launches that a device can be given at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

import numpy as np

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem, by_program_key, take
from reservoir.solvers.base.progress import Progress
from reservoir.solvers.base.rows import Column
from reservoir.solvers.base.solution import EngineResults, LaunchResult

#: Solves problems of one program key on one device at once; results in the problems' order.
Launch = Callable[[DeviceInfo, Sequence[Problem]], LaunchResult]

#: Told problems that are solved, the positions found and the number of all problems: whether to end now.
Stops = Callable[[Sequence[Problem], Column, int], bool]


def never(problems: Sequence[Problem], positions: Column, total: int) -> bool:
    """Go on."""
    return False


def launch_all(
    problems: Sequence[Problem],
    devices: Sequence[DeviceInfo],
    most: Callable[[DeviceInfo, Problem], int],
    launch: Launch,
    progress: Progress,
    stops: Stops = never,
) -> LaunchResult:
    """Share problems among devices by their compute units, and work on all devices at once.

    Parameters
    ----------
    problems : sequence of Problem
        Of any program keys: those of one are launched together.
    devices : sequence of DeviceInfo
        At least one.
    most : callable
        Problems like one that a launch on a device may hold.
    launch : callable
        See `Launch`; called by a thread for each device where there are several.
    progress : callable
        Told how many of the problems are done.
    stops : callable
        See `Stops`; if it says so, the other devices end with the launch that they are at.

    Returns
    -------
    LaunchResult
        Of all problems; after a stop, of those before the first that is not solved.
    """
    found: list[tuple[Sequence[int], EngineResults]] = []
    done, lock, stop = 0, Lock(), Event()

    def work(device: DeviceInfo, launches: list[Sequence[int]]) -> tuple[float, Counter[str]]:
        nonlocal done
        seconds, host_seconds_by_phase = 0.0, Counter[str]()
        for members in launches:
            if stop.is_set():
                break
            part = take(problems, members)
            brought = launch(device, part)
            seconds += brought.device_seconds
            host_seconds_by_phase.update(brought.host_seconds_by_phase)
            with lock:
                found.append((members, brought.found))
                done += len(members)
                progress(done, len(problems))
                if stops(part, brought.found.position, len(problems)):
                    stop.set()
        return seconds, host_seconds_by_phase

    shares = _shares(problems, devices, most)
    if len(shares) == 1:
        worked = [work(*shares[0])]
    else:
        with ThreadPoolExecutor(len(shares)) as pool:
            try:
                worked = list(pool.map(lambda share: work(*share), shares))
            except BaseException:
                stop.set()  # the other devices end with the launch that they are at
                raise
    host_seconds_by_phase = sum((each for _, each in worked), Counter[str]())
    return LaunchResult(
        found=_in_order(found),
        device_seconds=max(each for each, _ in worked),
        host_seconds_by_phase=dict(host_seconds_by_phase),
    )


def _in_order(found: Sequence[tuple[Sequence[int], EngineResults]]) -> EngineResults:
    """Results of launches in the order of the problems, as far as there is one of every problem."""
    places = np.concatenate([np.asarray(members) for members, _ in found])
    order = np.argsort(places)
    gaps = np.flatnonzero(places[order] != np.arange(len(order)))
    leading = order[: gaps[0]] if gaps.size else order
    results = EngineResults.joined([each for _, each in found])
    return results if np.array_equal(leading, np.arange(len(places))) else results.some(leading)


def _shares(
    problems: Sequence[Problem], devices: Sequence[DeviceInfo], most: Callable[[DeviceInfo, Problem], int]
) -> list[tuple[DeviceInfo, list[Sequence[int]]]]:
    """Launches of each device that gets any."""
    launches: dict[DeviceInfo, list[Sequence[int]]] = {device: [] for device in devices}
    for group in by_program_key(problems).values():
        for device, part in _parts(group, devices):
            launches[device] += _cut(part, most(device, problems[group[0]]))
    return [share for share in launches.items() if share[1]]


def _parts(group: Sequence[int], devices: Sequence[DeviceInfo]) -> Iterator[tuple[DeviceInfo, Sequence[int]]]:
    """A part of the group for each device, as large as its share of the compute units."""
    units = sum(device.compute_units for device in devices)
    first = before = 0
    for device in devices:
        before += device.compute_units
        last = len(group) * before // units
        yield device, group[first:last]
        first = last


def _cut(part: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Launches of at most so many problems, as even as can be."""
    count = -(-len(part) // max(most, 1))
    for launch in range(count):
        yield part[len(part) * launch // count : len(part) * (launch + 1) // count]
