"""Dynamic programming over storage in OpenCL: the reference optimum of all years at once, a work group each.

Of a long horizon a work group makes one run, from a first grid to its last refinement, and the host compares them.
The method is that of `sequential` (Heidari et al. 1971, Water Resour. Res. 7:273); the kernel is
``kernels/solvers/dp/dynamic_programming.cl``. It reckons in float64 where the device can. Last, the host exchanges
water of the best trajectories between steps (`reservoir.solvers.exchanges`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.errors import DeviceError
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.limits import EXACT_MARGIN
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.hydro.plant import plant_of
from reservoir.hydro.record_rows import lake_area, lake_seepage
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, require_local
from reservoir.problems.base import ContextLayout, Problem, as_batch
from reservoir.problems.reservoir.rows import TERM_ROWS
from reservoir.problems.reservoir.year import FLOAT32_MARGIN, ReservoirYears
from reservoir.runtime import processors
from reservoir.solvers.device_engine import (
    LOCAL_RESERVE_BYTES,
    VECTOR_WIDTHS,
    DeviceEngine,
    Launch,
    build_around,
    items_for,
    lanes_for,
    require_countable,
)
from reservoir.solvers.dp import DeviceGridSettings, Grids, best_starts, first_grids, reservoir_years
from reservoir.solvers.engine import meanwhile
from reservoir.solvers.exchanges import compile_exchanges, polished
from reservoir.solvers.solution import EngineResults, engine_results

#: Smallest fitness that differences are relative to, and the type that kernels write both numbers in.
_LEAST, _WRITTEN = 1e-12, np.float32


class Runs(NamedTuple):
    """What runs of several problems found, arrays with one leading axis: positions have an axis of steps more."""

    position: NDArray[np.floating]
    fitness: NDArray[np.floating]
    grids: NDArray[np.int64]
    transitions: NDArray[np.int64]

    @classmethod
    def joined(cls, runs: Sequence[Runs]) -> Runs:
        """Runs of several launches behind each other."""
        return cls(*map(np.concatenate, zip(*runs, strict=True)))

    def some(self, which: slice | NDArray[np.bool_]) -> Runs:
        """A copy of some of them."""
        return Runs._make(array[which].copy() for array in self)

    def reshaped(self, shape: tuple[int, ...]) -> Runs:
        """The same with another leading shape."""
        return Runs._make(array.reshape(*shape, *array.shape[1:]) for array in self)


def until_agreed(
    grids: list[int],
    agreement: float,
    problems: int,
    runs_of: Callable[[NDArray[np.intp], NDArray[np.int32]], Runs],
    at_once: int = 1,
) -> Runs:
    """Solve problems from one first grid after another, each until two runs agree, or from all grids.

    The first two are solved at once, since one alone agrees with nothing, and more if the device would be idle. The
    result is that of one run after another.

    Parameters
    ----------
    grids : list of int
        States of the first grids, in their order.
    agreement : float
        Two runs agree whose fitness differs by no more than this part of it.
    problems : int
        How many there are.
    runs_of : callable
        Makes a run of each of some problems, by number, from a first grid of so many states each.
    at_once : int
        Runs that take no longer than one.

    Returns
    -------
    Runs
        The best of each problem, with the work of the runs until two agreed.
    """
    best: Runs | None = None
    undecided, done = np.arange(problems), 0
    while done < len(grids) and len(undecided):
        states = grids[done : done + max(at_once // len(undecided), 1 if done else 2)]
        found = runs_of(np.tile(undecided, len(states)), np.repeat(np.array(states, np.int32), len(undecided)))
        agreed = np.zeros(len(undecided), bool)
        for number in range(len(states)):
            latest = found.some(slice(number * len(undecided), (number + 1) * len(undecided)))
            if best is None:
                best = latest
            else:
                agreed[~agreed] = _keep_better(best, latest.some(~agreed), undecided[~agreed], agreement)
        undecided, done = undecided[~agreed], done + len(states)
    assert best is not None
    return best


def _keep_better(best: Runs, latest: Runs, which: NDArray[np.intp], agreement: float) -> NDArray[np.bool_]:
    """Put what is better in the latest runs of some problems into the best; whether each two agree (`close_to`)."""
    before, now = best.fitness[which], latest.fitness
    part, least = (np.asarray(_WRITTEN(each), now.dtype) for each in (agreement, _LEAST))
    agreed = np.abs(before - now) <= part * np.maximum(np.abs(now), least)
    better = now > before
    best.position[which[better]] = latest.position[better]
    best.fitness[which[better]] = now[better]
    best.grids[which] += latest.grids
    best.transitions[which] += latest.transitions
    return np.asarray(agreed)


#: Points of a curve's table: power by the tables differs from the curves' own by some 1e-7 of it at most.
TABLE_POINTS = 4096
#: A curve's table: where it begins, its points per unit, and its points.
_TABLE = ContextLayout("TABLE_SIZE", {"TABLE_LOWEST": 1, "TABLE_PER_UNIT": 1, "TABLE_VALUES": TABLE_POINTS})
#: The tables in the order of the curves of a `Plant`, then those of the lake.
_PLANT_TABLES = ("level_table", "tailrace_table", "specific_power_table", "capacity_table")
_LAKE_TABLES = ("area_table", "seepage_table")
#: Work items of a group on a GPU.
GPU_ITEMS = 256
#: Work items of a group on a GPU that solve a long horizon: several share what can follow a state of a finer grid.
GPU_ITEMS_OF_LONG = 512
#: Items at most that share what can follow a state.
_MOST_MEMBERS = 16
#: Numbers of a group for each step beside the values of all states: grids, trajectories and curves near them.
_PER_STEP = 40
#: The same of a long horizon, and those that do not depend on steps.
_PER_STEP_OF_LONG, _BESIDE_STEPS = 42, 32
#: Further numbers of a step with conditions.
_PER_STEP_OF_CONDITIONS = 20
#: Further numbers of a step where the objective is not energy.
_PER_STEP_OF_TERMS = len(TERM_ROWS)
#: Smallest change of a float32 fitness that is more than rounding.
_FLOAT32_TOLERANCE = 2e-7


@dataclass(frozen=True)
class GridLayout:
    """How a year is spread over a work group.

    Parameters
    ----------
    lanes, items : int
        States in a vector, and work items of a group.
    room : int
        States of the finest first grid, padded: those that memory has room for.
    double : bool
        The device reckons in float64.
    long : bool
        For long horizons, and for devices whose local memory is too small for a year: a group makes one run and keeps
        it in global memory (``kernels/solvers/dp/long_horizon.cl``).
    conditions : bool
        Steps have losses of the lake or demands on the plant.
    terms : bool
        The objective is not energy.
    """

    lanes: int
    items: int
    room: int
    double: bool
    long: bool = False
    conditions: bool = False
    terms: bool = False

    @property
    def dtype(self) -> DTypeLike:
        """The numbers of all buffers."""
        return np.float64 if self.double else np.float32

    def group_numbers(self, steps: int) -> int:
        """Numbers that a group works on: in global memory for long horizons, else in local memory."""
        more = _PER_STEP_OF_CONDITIONS * self.conditions + _PER_STEP_OF_TERMS * self.terms
        if self.long:
            return 2 * self.room + (_PER_STEP_OF_LONG + more) * (steps + 1) + _BESIDE_STEPS
        return 2 * self.room + (_PER_STEP + more) * (steps + 1)


def layout_for(
    device: DeviceInfo, settings: DeviceGridSettings, steps: int, *, conditions: bool = False, terms: bool = False
) -> GridLayout:
    """Choose a layout for years of so many steps: on a CPU one work item in vectors of its width, on a GPU many items.

    Raises
    ------
    InputError
        If no device has such vectors or groups, or if this one (DeviceError) lacks the double precision asked for.
    """
    cpu = device.kind == "CPU"
    lanes, items, double = settings.lanes, settings.items, settings.double
    able = "cl_khr_fp64" in device.device.extensions
    if double and not able:
        problem = f"{device.name} does not support double precision"
        raise DeviceError(problem, mend="remove `double` to compute in float32")
    if double is None:
        double = able
    if lanes is None:
        widest = device.native_float_width // (2 if double else 1)
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(widest, 1)) if cpu else 1
    grids = settings.grids(steps)
    room = max(grids.fine_states, *first_grids(grids))
    lanes = lanes_for(device, room, lanes)

    def layout(*, long: bool) -> GridLayout:
        usual = 1 if cpu else min(GPU_ITEMS_OF_LONG if long else GPU_ITEMS, device.max_work_group_size)
        of_group = items_for(device, room, usual if items is None else items)
        return GridLayout(lanes, of_group, -(-room // lanes) * lanes, double, long, conditions, terms)

    year = layout(long=False)
    fits = year.group_numbers(steps) * np.dtype(year.dtype).itemsize <= device.local_memory_bytes
    return year if fits and steps <= MOST_STEPS_OF_YEAR else layout(long=True)


def build_program(device: DeviceInfo, years: ReservoirYears, grids: Grids, layout: GridLayout) -> BuiltProgram:
    """Assemble and build dynamic programming for a year's program key.

    Raises
    ------
    DeviceError
        If the items of a work group need more local memory than the device has.
    InputError
        If a kernel cannot count a horizon's numbers.
    """
    kernel, steps = years.kernel(), years.limits.steps
    if layout.long:
        require_local(device, layout.items * layout.lanes * (np.dtype(layout.dtype).itemsize + 4) + LOCAL_RESERVE_BYTES)
    require_countable(int(kernel.constants["CONTEXT"]), "one horizon", "plan fewer steps at once")
    constants: dict[str, int | float | str] = {
        "STATES": grids.states,
        "FINE_STATES": grids.fine_states,
        "HALF_WIDTH": grids.reach,
        "TOLERANCE": max(grids.tolerance, 0.0 if layout.double else _FLOAT32_TOLERANCE),
        "AGREEMENT": grids.agreement,
        "MOST_REFINEMENTS": grids.most_refinements,
        "ROUNDING": EXACT_MARGIN if layout.double else FLOAT32_MARGIN,
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "ROOM": layout.room,
        "DOUBLE": int(layout.double),
        **table_constants(conditions=layout.conditions),
        "CONTEXT_SPACE": "__global" if layout.long else "__local",
        "GROUP_SPACE": "__global" if layout.long else "__local",
        "LONG_HORIZON": int(layout.long),
    }
    if layout.long:
        constants |= {"GROUP_NUMBERS": layout.group_numbers(steps), "MOST_MEMBERS": _MOST_MEMBERS, "NO_FITNESS": 1}
        constants |= {"RESTART_WIDTH": grids.restart_width, "RESTART_GAIN": grids.restart_gain}
    own = "solvers/dp/long_horizon" if layout.long else "solvers/dp/dynamic_programming"
    files = ["problems/reservoir/given_curves", "solvers/dp/storage_grids", "solvers/dp/transitions", own]
    return build_around(kernel, device, constants, common=["sync/group_barrier"], after=files)


def curve_tables(reservoir: Reservoir, layout: GridLayout) -> NDArray[np.floating]:
    """The curves as ``kernels/problems/reservoir/given_curves.cl`` reads them, a row each."""
    lake: list[Curve] = [lake_area(reservoir), lake_seepage(reservoir)] if layout.conditions else []
    given = [reservoir.level, reservoir.tailrace, reservoir.conversion, reservoir.capacity_m3s, *lake]
    lows, highs = np.transpose([curve.domain for curve in given])
    points = [
        curve(np.linspace(low, high, TABLE_POINTS))
        for curve, low, high in zip([*plant_of(reservoir)[: len(_PLANT_TABLES)], *lake], lows, highs, strict=True)
    ]
    values = {"TABLE_LOWEST": lows, "TABLE_PER_UNIT": (TABLE_POINTS - 1) / (highs - lows), "TABLE_VALUES": points}
    return _TABLE.pack(values, lows.shape).astype(layout.dtype)


def table_constants(*, conditions: bool = False) -> dict[str, int]:
    """Where the tables stand, behind each other, and what stands in one of them."""
    names = _PLANT_TABLES + _LAKE_TABLES * conditions
    tables = ContextLayout("TABLES", dict.fromkeys(names, _TABLE.size))
    return {**tables.constants(), **_TABLE.constants(), "TABLE_POINTS": TABLE_POINTS}


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

    def launch(
        self, device: DeviceInfo, problems: Sequence[Problem], places: Sequence[int], clock: HostClock
    ) -> tuple[EngineResults, float]:
        """Solve years from their start, or first search that of cyclic ones, in rounds."""
        years: ReservoirYears = as_batch(problems)
        limits = years.limits
        grids = self.settings.grids(limits.steps)
        further = {"conditions": bool(limits.lake), "terms": limits.priced}
        layout = layout_for(device, self.settings, limits.steps, **further)
        with clock("build"), meanwhile(lambda: compile_exchanges(years[:2])):
            program = build_program(device, years, grids, layout)
        with clock("prepare"):
            rows = years.kernel_rows(EXACT_MARGIN) if layout.double else years.kernel_contexts()
            tables = curve_tables(years.model.reservoir, layout)
        ready = _Years(years, grids, device, clock, layout, program, rows, tables)
        bounds = years.limits.start_bounds_hm3
        starts, rounds = _starts(ready, bounds, grids) if years.limits.cyclic else (bounds[:, 0], [])
        every = np.arange(len(years))
        rounds.append((every, ready.solved(every, starts[:, np.newaxis])))
        found = np.column_stack([rounds[-1][1].position[:, 0], starts])[:, : years.dimension].astype(np.float64)
        with clock("polish"):
            positions = polished(years, found, processors()).positions
        refined, transitions = np.zeros(len(years), np.int64), np.zeros(len(years), np.int64)
        for of_round, runs in rounds:
            refined[of_round] += runs.grids.sum(axis=1)
            transitions[of_round] += runs.transitions.sum(axis=1)
        used = {**asdict(grids), **{name: getattr(layout, name) for name in ("lanes", "items", "double")}}
        results = engine_results(
            position=positions, generations=refined, evaluations=transitions, of_all={"settings": used}
        )
        return results, sum(ready.device_seconds)


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
            names = ("position", "fitness", "grids", "transitions")
            position, fitness, grids, tried = map(session.download, names)
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
