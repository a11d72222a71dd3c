"""Dynamic programming over storage in OpenCL: the reference optimum of all years at once, a work group each.

Of a long horizon a work group makes one run, from a first grid to its last refinement, and `first_grids` compares them.
The method is that of `sequential` (Heidari et al. 1971, Water Resour. Res. 7:273); the kernel is
``kernels/solvers/dp/dynamic_programming.cl``. It reckons in float64 where the device can. Last, the host exchanges
water of the best trajectories between steps (`reservoir.solvers.exchanges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon import MOST_STEPS_OF_YEAR
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session
from reservoir.problems.base import Problem, as_batch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.processors import processors
from reservoir.solvers.base.device_engine import DeviceEngine, Launch, choices
from reservoir.solvers.base.results import LaunchResult, engine_results
from reservoir.solvers.dp.first_grids import Runs, until_agreed
from reservoir.solvers.dp.program import (
    GridLayout,
    build_program,
    contexts,
    curve_tables,
    layout_for,
)
from reservoir.solvers.dp.settings import DeviceGridSettings, Grids, first_grids, reservoir_years
from reservoir.solvers.dp.start_search import best_starts
from reservoir.solvers.exchanges.polish import polished

FloatArray = NDArray[np.float64]

#: Places of years, and what was run of them.
Round = tuple[NDArray[np.intp], Runs]
#: Runs of long horizons take at most this part of a device's memory, twice: states of groups, and choices.
_PART_OF_MEMORY = 8


class DpEngine(DeviceEngine[DeviceGridSettings]):
    """Dynamic programming, a work group for each year, or for each start of a cyclic one."""

    name = "dp-opencl"
    settings_class = DeviceGridSettings
    #: Years of one launch from one start each, by the kind of device.
    launch_years: ClassVar[dict[str, int]] = {"GPU": 4096, "accelerator": 256, "CPU": 256}

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse what is no reservoir year."""
        reservoir_years(problems)

    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """At least one for each compute unit; fewer of many steps, or from many starts (cyclic years)."""
        (year,) = reservoir_years([problem])
        starts = self.settings.start_states if year.limits.cyclic else 1
        years = -(-year.limits.steps // MOST_STEPS_OF_YEAR)
        return max(device.compute_units, self.launch_years[device.kind] // (starts * years))

    def launch(self, device: DeviceInfo, problems: Sequence[Problem]) -> LaunchResult:
        """Solve years from their start, or first search that of cyclic ones, in rounds."""
        clock = HostClock()
        years: ReservoirYears = as_batch(problems)
        limits = years.limits
        grids = self.settings.grids(limits.steps)
        further = {"conditions": limits.conditions is not None, "terms": limits.terms is not None}
        layout = layout_for(device, self.settings, limits.steps, **further)
        with clock("build"):
            program = build_program(device, years, grids, layout)
        with clock("prepare"):
            rows, tables = contexts(years, layout), curve_tables(years.model.reservoir, layout)
        ready = _Years(years, grids, device, clock, layout, program, rows, tables)
        bounds = years.limits.start_bounds_hm3
        starts, rounds = _starts(ready, bounds, grids) if years.limits.cyclic else (bounds[:, 0], [])
        every = np.arange(len(years))
        rounds.append((every, ready.solved(every, starts[:, np.newaxis])))
        found = np.column_stack([rounds[-1][1].position[:, 0], starts])[:, : years.dimension].astype(np.float64)
        with clock("polish"):
            positions = polished(years, found, processors()).positions
        refined, transitions = np.zeros(len(years), np.int64), np.zeros(len(years), np.int64)
        for places, each in rounds:
            refined[places] += each.grids.sum(axis=1)
            transitions[places] += each.transitions.sum(axis=1)
        used = {**asdict(grids), **choices(layout, "lanes", "items", "double")}
        return LaunchResult(
            found=engine_results(
                position=positions, generations=refined, evaluations=transitions, of_all={"settings": used}
            ),
            device_seconds=sum(ready.device_seconds),
            host_seconds_by_phase=clock.seconds,
        )


ENGINE = DpEngine


@dataclass(frozen=True, eq=False)
class _Years:
    """Years of one program key as a device takes them."""

    years: ReservoirYears
    grids: Grids
    device: DeviceInfo
    clock: HostClock
    layout: GridLayout
    program: BuiltProgram
    contexts: NDArray[np.floating]
    tables: NDArray[np.floating]
    device_seconds: list[float] = field(default_factory=list)

    def solved(self, places: NDArray[np.intp], starts_hm3: FloatArray) -> Runs:
        """Solve the years at some places from each of their starts; all have shape (places, starts)."""
        grids = self.grids
        years = np.repeat(places.astype(np.int32), starts_hm3.shape[1])
        starts = starts_hm3.ravel().astype(self.layout.dtype)
        if self.layout.long:
            runs = until_agreed(
                first_grids(grids),
                grids.agreement,
                len(starts),
                lambda which, states: self._runs(years[which], starts[which], states),
                self.device.compute_units,
            )
        else:
            steps, room = self.years.limits.steps, self.layout.room
            runs = self._launched(
                "dynamic_programming",
                years=years,
                starts=starts,
                tables=self.tables,
                most_states=np.int32(grids.most_states),
                choices=((len(starts), steps, room), np.uint16),
            )
        return runs.reshaped(starts_hm3.shape)

    def _runs(self, years: NDArray[np.int32], starts: NDArray[np.floating], states: NDArray[np.int32]) -> Runs:
        """A run of each year from a first grid, a group each, as many at once as memory has room for."""
        steps, room = self.years.limits.steps, max(int(states.max()), self.grids.fine_states)
        numbers, itemsize = self.layout.group_numbers(steps), np.dtype(self.layout.dtype).itemsize
        largest = max(numbers * itemsize, steps * room * np.dtype(np.uint16).itemsize)
        memory = min(self.device.max_allocation_bytes, self.device.global_memory_bytes // _PART_OF_MEMORY)
        at_once = max(memory // largest, 1)
        return Runs.joined(
            [
                self._launched(
                    "dynamic_programming_run",
                    years=years[first : first + at_once],
                    starts=starts[first : first + at_once],
                    first_states=states[first : first + at_once],
                    tables=self.tables,
                    room=np.int32(room),
                    most_restarts=np.int32(self.grids.most_restarts),
                    groups=((min(at_once, len(years) - first), numbers), self.layout.dtype),
                    choices=((min(at_once, len(years) - first), steps, room), np.uint16),
                )
                for first in range(0, len(years), at_once)
            ]
        )

    def _launched(self, kernel: str, *, years: NDArray[np.int32], **table: Any) -> Runs:
        """Run a kernel with a group for each of some years."""
        groups, dtype = len(years), self.layout.dtype
        with Session(self.device, self.clock) as session:
            launch = Launch(self.years, self.layout, self.program, session, self.clock, seed=0)
            arguments = launch.arguments(
                contexts=self.contexts,
                years=years,
                **table,
                position=((groups, self.years.limits.steps), dtype),
                fitness=(groups, dtype),
                grids=(groups, np.int32),
                transitions=((groups, self.layout.items), np.int64),
            )
            launch.run(kernel, groups, *arguments)
            position, fitness, grids, tried = launch.download("position", "fitness", "grids", "transitions")
            self.device_seconds.append(sum(session.device_seconds.values()))
        return Runs(position, fitness, grids.astype(np.int64), tried.sum(axis=1, dtype=np.int64))


def _starts(ready: _Years, bounds_hm3: FloatArray, grids: Grids) -> tuple[FloatArray, list[Round]]:
    """The best start of each cyclic year, and the rounds it took to find.

    Each start is tried from one first grid: its neighbours confirm it, not a finer grid.
    """
    rounds: list[Round] = []
    once = replace(ready, grids=replace(grids, most_states=grids.states, most_restarts=0))

    def fitness_of(places: NDArray[np.intp], starts_hm3: FloatArray) -> FloatArray:
        runs = once.solved(places, starts_hm3)
        rounds.append((places, runs))
        return runs.fitness.astype(np.float64)

    lowest, highest = bounds_hm3.T
    return best_starts(lowest, highest, grids.start_states, grids.agreement, fitness_of), rounds
