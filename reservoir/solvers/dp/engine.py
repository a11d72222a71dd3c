"""Dynamic programming over storage in OpenCL: the reference optimum of all years at once, a work group each.

The method is that of `sequential` (Heidari et al. 1971, Water Resour. Res. 7:273); the kernel is
``kernels/solvers/dp/dynamic_programming.cl``. It reckons in float64 where the device can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session
from reservoir.problems.base import Problem, as_batch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.base.device_engine import DeviceEngine, Launch, choices
from reservoir.solvers.base.results import EngineResult, LaunchResult
from reservoir.solvers.dp.program import GridLayout, build_program, contexts, curve_tables, layout_for
from reservoir.solvers.dp.settings import DeviceGridSettings, reservoir_years
from reservoir.solvers.dp.start_search import best_starts

FloatArray = NDArray[np.float64]


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
        """At least one for each compute unit; fewer cyclic years, of which each is solved from many starts at once."""
        (year,) = reservoir_years([problem])
        starts = self.settings.start_states if year.limits.cyclic else 1
        return max(device.compute_units, self.launch_years[device.kind] // starts)

    def launch(self, device: DeviceInfo, problems: Sequence[Problem]) -> LaunchResult:
        """Solve years from their start, or first search that of cyclic ones, in rounds."""
        settings, clock = self.settings, HostClock()
        years: ReservoirYears = as_batch(problems)
        layout = layout_for(device, settings)
        with clock("build"):
            program = build_program(device, years, settings, layout)
        with clock("prepare"):
            rows, tables = contexts(years, layout), curve_tables(years.model.reservoir, layout)
        ready = _Years(years, device, clock, layout, program, rows, tables)
        bounds = years.limits.start_bounds_hm3
        starts, rounds = _starts(ready, bounds, settings) if years.limits.cyclic else (bounds[:, 0], [])
        rounds.append(ready.solved(starts[:, np.newaxis], settings.most_states))
        positions = np.column_stack([rounds[-1].position[:, 0], starts])[:, : years.dimension]
        grids = sum(each.grids.sum(axis=1) for each in rounds)
        transitions = sum(each.transitions.sum(axis=1) for each in rounds)
        used = choices(layout, "lanes", "items", "double")
        return LaunchResult(
            found=[
                EngineResult(position=position, generations=int(refined), evaluations=int(tried), settings=used)
                for position, refined, tried in zip(positions, grids, transitions, strict=True)
            ],
            device_seconds=sum(each.device_seconds for each in rounds),
            host_seconds_by_phase=clock.seconds,
        )


ENGINE = DpEngine


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
    """Years of one program key as a device takes them."""

    years: ReservoirYears
    device: DeviceInfo
    clock: HostClock
    layout: GridLayout
    program: BuiltProgram
    contexts: NDArray[np.floating]
    tables: NDArray[np.floating]

    def solved(self, starts_hm3: FloatArray, most_states: int) -> _Round:
        """Solve every year from each of its starts, shape (years, starts); a group for each."""
        groups, dtype, steps = starts_hm3.size, self.layout.dtype, self.years.limits.steps
        with Session(self.device, self.clock) as session:
            launch = Launch(self.years, self.layout, self.program, session, self.clock, seed=0)
            arguments = launch.arguments(
                contexts=self.contexts,
                years=np.repeat(np.arange(len(starts_hm3), dtype=np.int32), starts_hm3.shape[1]),
                starts=starts_hm3.ravel().astype(dtype),
                tables=self.tables,
                most_states=np.int32(most_states),
                choices=((groups, steps, self.layout.room), np.uint16),
                position=((groups, steps), dtype),
                fitness=(groups, dtype),
                grids=(groups, np.int32),
                transitions=((groups, self.layout.items), np.int64),
            )
            launch.run("dynamic_programming", groups, *arguments)
            position, fitness, grids, tried = (
                each.reshape(*starts_hm3.shape, -1)
                for each in launch.download("position", "fitness", "grids", "transitions")
            )
            device_seconds = sum(session.device_seconds.values())
        return _Round(
            position=position,
            fitness=fitness[..., 0],
            grids=grids[..., 0],
            transitions=tried.sum(axis=2, dtype=np.int64),
            device_seconds=device_seconds,
        )


def _starts(ready: _Years, bounds_hm3: FloatArray, settings: DeviceGridSettings) -> tuple[FloatArray, list[_Round]]:
    """The best start of each cyclic year, and the rounds it took to find.

    Each start is tried from one first grid: its neighbours confirm it, not a finer grid.
    """
    rounds: list[_Round] = []

    def fitness_of(starts_hm3: FloatArray) -> FloatArray:
        rounds.append(ready.solved(starts_hm3, settings.states))
        return rounds[-1].fitness.astype(np.float64)

    lowest, highest = bounds_hm3.T
    return best_starts(lowest, highest, settings.start_states, settings.agreement, fitness_of), rounds
