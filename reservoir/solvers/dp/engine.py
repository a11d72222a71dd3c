"""Dynamic programming over storage in OpenCL: the reference optimum of all years at once, a work group each.

The method is that of `dynamic_programming` (Heidari et al. 1971, Water Resour. Res. 7:273); the kernel is
``kernels/solvers/dp/dynamic_programming.cl``. It reckons in float64 where the device can.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, as_batch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.dp.program import GridLayout, build_program, contexts, curve_tables, layout_for
from reservoir.solvers.dp.settings import GridSettings, reservoir_years
from reservoir.solvers.dp.start_search import best_starts

NAME = "dp-opencl"
SETTINGS = GridSettings

FloatArray = NDArray[np.float64]

_RESULTS = ("position", "fitness", "grids", "transitions")
#: Years of one launch: few enough to report progress and to be interrupted, enough to fill a device of that kind.
LAUNCH_YEARS = {"GPU": 4096, "accelerator": 256, "CPU": 64}


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    lanes: int | None = None,
    items: int | None = None,
    double: bool | None = None,
    **options: Any,
) -> Solutions:
    """Find the reference optimum of each reservoir year.

    Parameters
    ----------
    problems : sequence of ReservoirYear
        Years of any reservoirs.
    seed
        Not used: nothing is random.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    lanes, items : int, optional
        States in a work item's vector and work items of a year; chosen for the device if not given. A result does not
        depend on them beyond rounding.
    double : bool, optional
        Whether to reckon in float64; if not given, where the device can.
    **options
        Fields of `GridSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked.
    InputError
        If a problem is no reservoir year, or a setting is out of range.
    """
    settings = GridSettings(**options)
    years = reservoir_years(problems)
    devices = choose_devices(device)

    def most(device: DeviceInfo) -> int:
        return max(device.compute_units, LAUNCH_YEARS[device.kind])

    def launch(device: DeviceInfo, members: Sequence[Problem]) -> LaunchResult:
        layout = layout_for(device, settings, lanes, items, double)
        return _launch(as_batch(members), device, layout, settings)

    started = time.perf_counter()
    launched = launch_all(years, devices, most, launch, progress)
    wall = time.perf_counter() - started
    return to_solutions(years, launched, solver=NAME, devices=devices, settings=settings.as_dict(), wall_seconds=wall)


@dataclass(frozen=True)
class _Round:
    """Every year from each of some starts: arrays of shape (years, starts), the position's with an axis more."""

    position: NDArray[np.floating]
    fitness: NDArray[np.floating]
    grids: NDArray[np.int64]
    transitions: NDArray[np.int64]
    device_seconds: float


@dataclass(frozen=True, eq=False)
class _Years:
    """Years of one signature as a device takes them."""

    device: DeviceInfo
    clock: HostClock
    layout: GridLayout
    program: BuiltProgram
    contexts: NDArray[np.floating]
    tables: NDArray[np.floating]
    steps: int

    def solved(self, starts_hm3: FloatArray, most_states: int) -> _Round:
        """Solve every year from each of its starts, shape (years, starts); a group for each."""
        groups, dtype, items = starts_hm3.size, self.layout.dtype, self.layout.items
        years = np.repeat(np.arange(len(starts_hm3), dtype=np.int32), starts_hm3.shape[1])
        with Session(self.device, self.clock) as session:
            starts = starts_hm3.ravel().astype(dtype)
            session.upload(contexts=self.contexts, years=years, starts=starts, tables=self.tables)
            session.allocate(
                choices=((groups, self.steps, self.layout.room), np.uint16),
                position=((groups, self.steps), dtype),
                fitness=(groups, dtype),
                grids=(groups, np.int32),
                transitions=((groups, items), np.int64),
            )
            arguments = "contexts", "years", "starts", "tables", np.int32(most_states), "choices", *_RESULTS
            session.run(self.program, "dynamic_programming", groups * items, items, *arguments)
            position, fitness, grids, tried = (
                session.download(name).reshape(*starts_hm3.shape, -1) for name in _RESULTS
            )
            seconds = sum(session.device_seconds.values())
        return _Round(position, fitness[..., 0], grids[..., 0], tried.sum(axis=2, dtype=np.int64), seconds)


def _launch(years: ReservoirYears, device: DeviceInfo, layout: GridLayout, settings: GridSettings) -> LaunchResult:
    clock, steps = HostClock(), years.limits.steps
    with clock("build"):
        program = build_program(device, years, settings, layout)
    with clock("prepare"):
        rows, tables = contexts(years, layout), curve_tables(years.model.reservoir, layout)
    ready = _Years(device, clock, layout, program, rows, tables, steps)
    bounds = years.limits.start_bounds_hm3
    starts, rounds = _starts(ready, bounds, settings) if years.limits.cyclic else (bounds[:, 0], [])
    rounds.append(ready.solved(starts[:, np.newaxis], settings.most_states))
    positions = np.column_stack([rounds[-1].position[:, 0], starts])[:, : years.dimension]
    grids = sum(each.grids.sum(axis=1) for each in rounds)
    transitions = sum(each.transitions.sum(axis=1) for each in rounds)
    used = {"lanes": layout.lanes, "items": layout.items, "double": layout.double}
    found = [
        DeviceResult(position, int(refined), int(tried), layout=used)
        for position, refined, tried in zip(positions, grids, transitions, strict=True)
    ]
    return LaunchResult(found, sum(each.device_seconds for each in rounds), clock.seconds)


def _starts(ready: _Years, bounds_hm3: FloatArray, settings: GridSettings) -> tuple[FloatArray, list[_Round]]:
    """The best start of each cyclic year, and the rounds it took to find.

    Each start is tried from one first grid: its neighbours confirm it, not a finer grid.
    """
    rounds: list[_Round] = []

    def fitness_of(starts_hm3: FloatArray) -> FloatArray:
        rounds.append(ready.solved(starts_hm3, settings.states))
        return rounds[-1].fitness.astype(np.float64)

    lowest, highest = bounds_hm3.T
    return best_starts(lowest, highest, settings.start_states, settings.agreement, fitness_of), rounds
