"""Dynamic programming over storage in OpenCL: the reference optimum of all years at once.

A work group makes one run, from a first grid to its last refinement, and the host compares them. On a GPU the
transitions of a grid are valued first, by a group for each step of each run, so that a single record fills it too.
The method is that of `sequential` (Heidari et al. 1971, Water Resour. Res. 7:273); the kernels are in
``kernels/solvers/dp/dynamic_programming.cl``. They reckon in float64 where the device can. Last, the host exchanges
water of the best trajectories between steps (`reservoir.solvers.exchanges`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, NamedTuple

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
    Argument,
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
#: The kernel files that read them.
TABLE_FILES = ("problems/reservoir/even_tables", "problems/reservoir/given_curves")
#: A curve's table: where it begins, its points per unit, and its points.
_TABLE = ContextLayout("TABLE_SIZE", {"TABLE_LOWEST": 1, "TABLE_PER_UNIT": 1, "TABLE_VALUES": TABLE_POINTS})
#: The tables in the order of the curves of a `Plant`, then those of the lake.
_PLANT_TABLES = ("level_table", "tailrace_table", "specific_power_table", "capacity_table")
_LAKE_TABLES = ("area_table", "seepage_table")
#: Work items of a group on a GPU, of a year and of more steps.
GPU_ITEMS, GPU_ITEMS_OF_LONG = 256, 512
#: Items at most that share what can follow a state.
_MOST_MEMBERS = 4
#: Numbers of a group for each step beside the values of all states: grids, trajectories and curves near them; and
#: those that do not depend on steps.
_PER_STEP, _BESIDE_STEPS = 42, 48
#: Further numbers of a step with conditions.
_PER_STEP_OF_CONDITIONS = 20
#: Further numbers of a step where the objective is not energy.
_PER_STEP_OF_TERMS = len(TERM_ROWS)
#: Smallest change of a float32 fitness that is more than rounding.
_FLOAT32_TOLERANCE = 2e-7


@dataclass(frozen=True)
class GridLayout:
    """How a run is spread over a work group.

    Parameters
    ----------
    lanes, items : int
        States in a vector, and work items of a group; of more than one, transitions are valued by a launch of its own.
    room : int
        States of the finest first grid, padded: those that memory has room for.
    double : bool
        The device reckons in float64.
    local : bool
        Local memory has room for the values of two steps' states.
    conditions : bool
        Steps have losses of the lake or demands on the plant.
    terms : bool
        The objective is not energy.
    """

    lanes: int
    items: int
    room: int
    double: bool
    local: bool = False
    conditions: bool = False
    terms: bool = False

    @property
    def dtype(self) -> DTypeLike:
        """The numbers of all buffers."""
        return np.float64 if self.double else np.float32

    def group_numbers(self, steps: int) -> int:
        """Numbers that a group works on, in global memory."""
        more = _PER_STEP_OF_CONDITIONS * self.conditions + _PER_STEP_OF_TERMS * self.terms
        return 2 * self.room + (_PER_STEP + more) * (steps + 1) + _BESIDE_STEPS

    def table_width(self, states: int) -> int:
        """States of a step in a table of transitions between so many."""
        return -(-states // self.lanes) * self.lanes

    def table_bytes(self, states: int) -> int:
        """Of a step's table of transitions, and of what can follow each state."""
        itemsize = np.dtype(self.dtype).itemsize
        each = states * (1 + self.conditions) * itemsize + itemsize + 2 * np.dtype(np.int32).itemsize
        return self.table_width(states) * each if self.items > 1 else 0


def reckons_in_double(device: DeviceInfo, asked: bool | None) -> bool:
    """Whether a device reckons in float64: as asked, or where it can; DeviceError if it cannot what is asked."""
    able = "cl_khr_fp64" in device.device.extensions
    if asked and not able:
        problem = f"{device.name} does not support double precision"
        raise DeviceError(problem, mend="remove `double` to compute in float32")
    return able if asked is None else asked


def layout_for(
    device: DeviceInfo, settings: DeviceGridSettings, steps: int, *, conditions: bool = False, terms: bool = False
) -> GridLayout:
    """Choose a layout for so many steps: on a CPU one work item in vectors of its width, on a GPU many items.

    Raises
    ------
    InputError
        If no device has such vectors or groups, or if this one (DeviceError) lacks the double precision asked for, or
        local memory for the items of a group.
    """
    cpu = device.kind == "CPU"
    lanes, items, double = settings.lanes, settings.items, reckons_in_double(device, settings.double)
    if lanes is None:
        widest = device.native_float_width // (2 if double else 1)
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(widest, 1)) if cpu else 1
    grids = settings.grids(steps)
    room = max(grids.fine_states, *first_grids(grids))
    lanes = lanes_for(device, room, lanes)

    most = GPU_ITEMS if steps <= MOST_STEPS_OF_YEAR else GPU_ITEMS_OF_LONG
    usual = 1 if cpu else min(most, device.max_work_group_size)
    items = items_for(device, room, usual if items is None else items)
    room = -(-room // lanes) * lanes
    itemsize = 8 if double else 4
    group = items * lanes * (itemsize + 4) * (items > 1) + LOCAL_RESERVE_BYTES
    require_local(device, group)
    local = group + 2 * room * itemsize <= device.local_memory_bytes
    return GridLayout(lanes, items, room, double, local, conditions, terms)


def build_program(device: DeviceInfo, years: ReservoirYears, grids: Grids, layout: GridLayout) -> BuiltProgram:
    """Assemble and build dynamic programming for a year's program key.

    Raises
    ------
    InputError
        If a kernel cannot count a horizon's numbers.
    """
    kernel, steps = years.kernel(), years.limits.steps
    require_countable(int(kernel.constants["CONTEXT"]), "one horizon", "plan fewer steps at once")
    constants: dict[str, int | float | str] = {
        "FINE_STATES": grids.fine_states,
        "HALF_WIDTH": grids.reach,
        "TOLERANCE": max(grids.tolerance, 0.0 if layout.double else _FLOAT32_TOLERANCE),
        "MOST_REFINEMENTS": grids.most_refinements,
        "RESTART_WIDTH": grids.restart_width,
        "RESTART_GAIN": grids.restart_gain,
        "ROUNDING": EXACT_MARGIN if layout.double else FLOAT32_MARGIN,
        "LANES": layout.lanes,
        "ITEMS": layout.items,
        "ROOM": layout.room,
        "DOUBLE": int(layout.double),
        **table_constants(conditions=layout.conditions),
        "CONTEXT_SPACE": "__global",
        "GROUP_SPACE": "__global",
        "LOCAL_VALUES": int(layout.local),
        "VALUES_SPACE": "__local" if layout.local else "__global",
        "GROUP_NUMBERS": layout.group_numbers(steps),
        "MOST_MEMBERS": _MOST_MEMBERS,
        "NO_FITNESS": 1,
    }
    own = [f"solvers/dp/{name}" for name in ("storage_grids", "transitions", "dynamic_programming")]
    files = [*TABLE_FILES, "problems/reservoir/near_curves", *own]
    return build_around(kernel, device, constants, common=["sync/group_barrier"], after=files)


def curve_tables(reservoir: Reservoir, layout: GridLayout) -> NDArray[np.floating]:
    """The curves as ``kernels/problems/reservoir/even_tables.cl`` reads them, a row each."""
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
#: Runs take at most this part of a device's memory, three times: states of groups, choices, and transitions. These take
#: no more bytes than so many; steps that they have no room for are solved one block after another.
_PART_OF_MEMORY, _MOST_TABLE_BYTES = 8, 1 << 28
#: Groups that value transitions, for each of a device's compute units at least.
_GROUPS_OF_UNIT = 8


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
        with clock("build"), meanwhile(lambda: compile_exchanges(years[:2]), once=("exchange", years.program_key)):
            program = build_program(device, years, grids, layout)
        with clock("prepare"):
            rows = years.kernel_rows(EXACT_MARGIN) if layout.double else years.kernel_contexts()
            tables = curve_tables(years.model.reservoir, layout)
        bounds, every = years.limits.start_bounds_hm3, np.arange(len(years))
        with Session(device, clock) as session:
            launch = Launch(years, layout, program, session, clock, seed=0)
            ready = _Years(years, grids, layout, launch, rows, tables)
            starts, rounds = _starts(ready, bounds, grids) if years.limits.cyclic else (bounds[:, 0], [])
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
        return results, sum(session.device_seconds.values())


ENGINE = DpEngine


@dataclass(frozen=True, eq=False)
class _Years:
    """Years of one program key as a device takes them."""

    years: ReservoirYears
    grids: Grids
    layout: GridLayout
    launch: Launch
    contexts: NDArray[np.floating]
    tables: NDArray[np.floating]

    def solved(self, places: NDArray[np.intp], starts_hm3: FloatArray) -> Runs:
        """Solve the years at some places from each of their starts; all have shape (places, starts)."""
        layout, device = self.layout, self.launch.session.device
        years = np.repeat(places.astype(np.int32), starts_hm3.shape[1])
        starts = starts_hm3.ravel().astype(layout.dtype)

        def runs_of(which: NDArray[np.intp], states: NDArray[np.int32]) -> Runs:
            """As many at once as memory has room for."""
            at_once = max(self._memory // self._bytes_of_run(int(states.max())), 1)
            parts = [slice(first, first + at_once) for first in range(0, len(which), at_once)]
            return Runs.joined([self._solved(years[which[some]], starts[which[some]], states[some]) for some in parts])

        # Groups of several items fill a device with the transitions of one run.
        at_once = device.compute_units if layout.items == 1 else 1
        runs = until_agreed(first_grids(self.grids), self.grids.agreement, len(starts), runs_of, at_once)
        return runs.reshaped(starts_hm3.shape)

    @property
    def _memory(self) -> int:
        """Bytes of a buffer at most."""
        device = self.launch.session.device
        return min(device.max_allocation_bytes, device.global_memory_bytes // _PART_OF_MEMORY)

    def _bytes_of_run(self, states: int) -> int:
        """Of the largest of a run's buffers; the transitions are those of one step."""
        layout, steps, room = self.layout, self.years.limits.steps, max(states, self.grids.fine_states)
        group = layout.group_numbers(steps) * np.dtype(layout.dtype).itemsize
        return max(group, steps * room * np.dtype(np.uint16).itemsize, layout.table_bytes(room))

    def _block(self, runs: int, states: int) -> int:
        """Steps of so many runs whose transitions memory has room for at once."""
        memory, each = min(self._memory, _MOST_TABLE_BYTES), runs * self.layout.table_bytes(states)
        return min(max(memory // max(each, 1), 1), self.years.limits.steps)

    def _tables(self, runs: int, states: int) -> list[Argument]:
        """Room for the transitions of a block of steps, of the first grids and of finer ones; none where none stand."""
        layout, none = self.layout, self.layout.lanes
        both = (states, self.grids.fine_states) if layout.items > 1 else ()
        columns = [runs * self._block(runs, each) * layout.table_width(each) for each in both]
        numbers = max((width * each for width, each in zip(columns, both, strict=True)), default=none)
        return self.launch.arguments(
            worth=(numbers, layout.dtype),
            unmet=(numbers if layout.conditions else none, layout.dtype),
            cost=(max(columns, default=none), layout.dtype),
            ranges=(2 * max(columns, default=none), np.int32),
        )

    def _solved(self, years: NDArray[np.int32], starts: NDArray[np.floating], first_states: NDArray[np.int32]) -> Runs:
        """A run of each of some years from a first grid, a group each; all solve a grid, then the next one."""
        launch, session, layout = self.launch, self.launch.session, self.layout
        runs, steps, states = len(years), self.years.limits.steps, int(first_states.max())
        room, active = max(states, self.grids.fine_states), np.arange(runs, dtype=np.int32)
        begin = launch.arguments(contexts=self.contexts, years=years, starts=starts, first_states=first_states)
        shared = launch.arguments(tables=self.tables, groups=((runs, layout.group_numbers(steps)), layout.dtype))
        following = launch.arguments(next_states=(runs, np.int32))
        launch.run("begin_runs", runs, *begin, *shared, *following)
        shared += launch.arguments(active=active)
        tables = self._tables(runs, states)
        choices = launch.arguments(room=np.int32(room), choices=((runs, steps, room), np.uint16))
        counted = launch.arguments(transitions=((runs, layout.items), np.int64))
        position = ((runs, steps), layout.dtype)
        found = launch.arguments(position=position, fitness=(runs, layout.dtype), grids=(runs, np.int32))
        while states:
            for first in reversed(range(0, steps, self._block(runs, states))):
                block = min(self._block(runs, states), steps - first)
                sizes = map(np.int32, (first, block, states, layout.table_width(states)))
                grid, groups = (*shared, *sizes, *tables), active.size * block
                if layout.items > 1:
                    slices = min(max(_GROUPS_OF_UNIT * session.device.compute_units // groups, 1), states)
                    launch.run("value_transitions", groups * slices, *grid, np.int32(slices))
                launch.run("solve_grids", active.size, *grid, *choices, *counted)
            restarts = np.int32(self.grids.most_restarts)
            launch.run("judge_grids", active.size, *shared, *choices, restarts, *following, *found)
            of_next = session.download("next_states", at_once=True)
            states, left = int(of_next.max()), np.flatnonzero(of_next).astype(np.int32)
            if 0 < left.size < active.size:
                session.upload(active=np.resize(left, runs))
            active = left
        result = Runs(*map(session.download, ("position", "fitness", "grids", "transitions")))
        buffers = (*begin, *shared, *following, *tables, *choices, *counted, *found)
        session.free(*(each for each in buffers if isinstance(each, str)))
        return result._replace(grids=result.grids.astype(np.int64), transitions=result.transitions.sum(axis=1))


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
