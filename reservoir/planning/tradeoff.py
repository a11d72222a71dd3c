"""The front between two goals: what more of one costs of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.attributes import POWER_MW
from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.commitments import require_uncommitted
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import COSTS, NEEDED, Goal, Horizon, Objective, goal_label
from reservoir.hydro.operation import Operation, joined
from reservoir.hydro.record_rows import terms_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import filled_years
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import InflowSource, System
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.firm_power import better_of, firm_power_mw, keeping_promise, largest_firm_power, no_worse_than
from reservoir.planning.search import references_of
from reservoir.planning.solving import DEVICE_REFERENCE, StageProgress, both_of_system, silent_stage
from reservoir.planning.start import with_implied_end_value
from reservoir.planning.stopwatch import Stopwatch
from reservoir.planning.system_plan import SystemPlan, optimise_system
from reservoir.problems.reservoir.record import SLACK, RecordProblems, promising, record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import system_problems
from reservoir.solvers import Solutions

#: A reservoir or a system: what has an objective.
Operated = TypeVar("Operated", Reservoir, System)
#: Digits of powers and weights, so that a reservoir file states them as they were.
_DIGITS = 6


def with_goal(reservoir: Operated, goal: str) -> Operated:
    """A reservoir, or a system, that is operated for one goal, with the prices and targets of its file.

    The penalty is what it is by default, unless the goal or the unit of the objective stays the same.

    Raises
    ------
    InputError
        If the goal is not known, or the reservoir has no targets for it.
    """
    if goal not in list(Goal):
        raise InputError("is no goal", f"one of {', '.join(Goal)}", column="objective", value=goal)
    wanted, given = Goal(goal), reservoir.objective
    if wanted is given.single:
        return reservoir
    needed = NEEDED.get(wanted)
    if needed and getattr(given, needed) is None:
        mend = f"add {needed} to [objective] in the reservoir file"
        raise InputError(f"needs {needed}", mend=mend, file=reservoir.source, column="objective", value=goal)
    objective = replace(given, weights={wanted: 1.0})
    same = objective.unit == given.unit and wanted not in COSTS
    penalty = reservoir.penalty if same else objective.largest_per_year(reservoir.installed_mw, reservoir.step.per_year)
    return replace(reservoir, objective=objective, penalty=penalty)


def levels_between(lowest: float, largest: float, points: int) -> list[float]:
    """Powers from the lowest to the largest, MW, at equal distances; none is rounded to more than can be given."""
    digits = Context(_DIGITS, ROUND_DOWN)
    levels = np.linspace(lowest, max(largest, lowest), points)
    return [float(digits.create_decimal_from_float(level)) for level in levels.tolist()]


def weighing(
    reservoir: Operated, pair: tuple[Goal, Goal], ranges: tuple[float, float], shares: Sequence[float]
) -> list[Operated]:
    """Reservoirs that weigh two goals, the second by a share, with one penalty; one weight is 1 over the other."""
    objectives = []
    for share in shares:
        ratio = float(f"{np.sqrt((1 - share) / ranges[0] * ranges[1] / share):.{_DIGITS}g}")
        rounded = {pair[0]: ratio, pair[1]: float(f"{1 / ratio:.{_DIGITS}g}")}
        objectives.append(replace(reservoir.objective, weights=rounded, firm_power_mw=None))
    penalty = max(each.largest_per_year(reservoir.installed_mw, reservoir.step.per_year) for each in objectives)
    return [replace(reservoir, objective=each, penalty=penalty) for each in objectives]


def without_firm_power(reservoir: Operated) -> Operated:
    """Without a firm power of its own."""
    return replace(reservoir, objective=replace(reservoir.objective, firm_power_mw=None))


def with_objectives(
    batch: ReservoirYears, terms: Sequence[dict[str, FloatArray]], stated: Sequence[Reservoir]
) -> ReservoirYears:
    """Problems with the terms of each objective, one objective behind another."""
    several = batch[np.tile(np.arange(len(batch)), len(stated))]
    if all(terms):
        joined = {name: np.concatenate([each[name] for each in terms]) for name in terms[0]}
        several = replace(several, limits=several.limits.with_terms(joined))
    promised = [each.objective.firm_power_mw for each in stated]
    if promised[0] is None:
        return several
    power = np.repeat(np.array(promised, np.float64), len(batch))
    promised_power: ReservoirYears = promising(several, power, stated[0].objective.firm_share)
    return promised_power


FloatArray = NDArray[np.float64]

#: Weight of the goal that does not count at either end: of equally good schedules, the one that is better for it.
_LEAST_WEIGHT = 1e-4
#: Stages of a front of a system: the best plans for each goal alone, then the points between.
FRONT_STAGES = ("ends of the front", "points of the front")
#: Points are solved from one first grid. To compare it with finer ones, as plans do, takes thrice as long and changes
#: them by less than a part of 1e-6, since both end with exchanges of water; only at the largest power, which few
#: storages give, it changes more, and is done.
_GRIDS = {"states": 101, "most_states": 101}


class _Front:
    """The points of a front, whoever solves their problems."""

    #: What is operated, and who solved the last problems, and where.
    reservoir: Any
    solver, device = "", ""

    def weighted(self, pair: tuple[Goal, Goal], points: int) -> tuple[list[Any], list[Any]]:
        """Points whose objectives go from one goal to the other; each goal in parts of what it can change by."""
        stated, plant = self.reservoir.objective, (self.reservoir.installed_mw, self.reservoir.step.per_year)
        largest = [replace(stated, weights={goal: 1.0}).largest_per_year(*plant) for goal in pair]
        ends = [_LEAST_WEIGHT, 1 - _LEAST_WEIGHT]
        of_ends, _ = self._solved(weighing(self.reservoir, pair, (largest[0], largest[1]), ends))
        ranges = [float(np.ptp(self.value(goal, of_ends))) or 1.0 for goal in pair]
        shares = np.clip(np.linspace(0, 1, points), _LEAST_WEIGHT, 1 - _LEAST_WEIGHT)
        reservoirs = weighing(self.reservoir, pair, (ranges[0], ranges[1]), shares.tolist())
        return reservoirs, self._solved(reservoirs)[0]

    def with_firm_power(self, pair: tuple[Goal, Goal], points: int) -> tuple[list[Any], list[Any]]:
        """Points with a firm power, from what the best schedule for the other goal gives to the largest."""
        other = next(goal for goal in pair if goal is not Goal.FIRM_POWER)
        alone = with_goal(without_firm_power(self.reservoir), other)
        lowest, largest, known = self._firm_powers(alone)
        levels = levels_between(max(lowest, POWER_MW.least), largest, points)
        if pair[0] is Goal.FIRM_POWER:
            levels = levels[::-1]
        stated = [replace(alone, objective=replace(alone.objective, firm_power_mw=level)) for level in levels]
        return stated, self._solved(stated, known)[0]

    def value(self, goal: Goal, operations: Sequence[Any]) -> FloatArray:
        """What each point gives of a goal, as tables show it."""
        raise NotImplementedError

    def _firm_powers(self, alone: Any) -> tuple[float, float, Sequence[Any]]:
        """Firm power of the best schedule for the other goal, and the largest, MW; what points are found from."""
        raise NotImplementedError

    def _solved(self, stated: Sequence[Any], known: Sequence[Any] = ()) -> tuple[list[Any], Any]:
        """The operation of each point, and positions."""
        raise NotImplementedError


class FrontSearch(_Front):
    """Solves all problems of a front, by dynamic programming on a device if one can.

    Parameters
    ----------
    problems : RecordProblems
    device : str or None
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told the stage, and how many problems are done.
    """

    def __init__(self, problems: RecordProblems, device: str | None, progress: StageProgress) -> None:
        self.problems, self.reservoir, self.inflow = problems, problems.model.reservoir, problems.inflow
        self.progress, self.watch = progress, Stopwatch()
        self._asked_device = device
        #: Of the steps that must give a firm power.
        self._share = self.reservoir.objective.firm_share

    def _firm_powers(self, alone: Reservoir) -> tuple[float, float, Sequence[Any]]:
        """Of all years; with the positions that give them, of each batch."""
        operations, best = self._solved([alone])
        firmest = [
            largest_firm_power(batch, self._share, self._solve, self.progress, smallest=True)
            for batch in self.problems.batches
        ]
        # None at all, where it is spilled rather than paid for, is no power that can be promised.
        largest = min(float(each.power_mw.min()) for each in firmest)
        known = [(one, np.array(each.positions)) for one, each in zip(best, firmest, strict=True)]
        return float(self.value(Goal.FIRM_POWER, operations)[0]), largest, known

    def value(self, goal: Goal, operations: Sequence[Operation]) -> FloatArray:
        """What each point gives of a goal, as tables show it, from its operation: a row a year."""
        if goal is Goal.FIRM_POWER:
            ends = np.flatnonzero(np.diff(self.problems.of_year)) + 1
            powers = np.split(np.array([one.power_mw for one in operations]), ends, axis=1)
            firm = [firm_power_mw(each.reshape(len(operations), -1), self._share) for each in powers]
            return np.asarray(np.min(firm, axis=0))
        if goal is Goal.ENERGY:
            return np.array([each.energy_gwh.sum() for each in operations])
        terms = terms_of(System.of(with_goal(without_firm_power(self.reservoir), goal)), self.inflow)
        year, every, volume = filled_years(terms).by_field, (slice(None), slice(None)), self.inflow.calendar.hm3_per_m3s
        benefits = [stage_benefit(year, every, each.power_mw, each.release_m3s, volume).sum() for each in operations]
        return np.array(benefits) * (-1.0 if goal in COSTS else 1.0)

    def _solved(
        self, stated: Sequence[Reservoir], known: Sequence[tuple[FloatArray, FloatArray]] = ()
    ) -> tuple[list[Operation], list[FloatArray]]:
        """Solve all points, in a call for each length of problem; they have one penalty.

        Where points are to give a power, `known` has positions of each batch, shape (problems, dimension): the best for
        the goal alone, and those of most power.

        Returns
        -------
        operations : list of Operation
            Of each point a row a year.
        positions : list of ndarray, shape (points x problems, dimension)
            Of each batch.
        """
        model = replace(self.problems.model, system=System.of(stated[0]))
        terms = [terms_of(System.of(each), self.inflow) for each in stated]
        spans = self.problems.horizon.equal_spans(self.inflow.years)
        operations: list[list[Operation]] = [[] for _ in stated]
        positions = []
        for number, (batch, (first, stop, _)) in enumerate(zip(self.problems.batches, spans, strict=True)):
            shape = len(batch), batch.limits.steps
            of_batch = [{name: row[first:stop].reshape(shape) for name, row in each.items()} for each in terms]
            several = with_objectives(replace(batch, model=model), of_batch, stated)
            if known:
                position = self._promised(several, *known[number], stated)
            else:
                position = np.array(self._solve(several, **_GRIDS).position)
            operation = several.operate(position).in_years(self.inflow.steps)
            rows = len(operation) // len(stated)
            for place, parts in enumerate(operations):
                parts.append(operation[place * rows : (place + 1) * rows])
            positions.append(position)
        return [joined(parts) for parts in operations], positions

    def _promised(
        self, several: ReservoirYears, best: FloatArray, firmest: FloatArray, stated: Sequence[Reservoir]
    ) -> FloatArray:
        """Solve problems that are to give a power, but for those whose best schedule gives it by itself.

        Those that miss it go on from the schedules of most power.
        """
        count = len(several) // len(stated)
        promised = np.repeat([each.objective.firm_power_mw or 0.0 for each in stated], count) * (1 - SLACK)
        positions = np.tile(best, (len(stated), 1))
        open_ = np.tile(self._given(several[:count], best), len(stated)) < promised
        at_most = promised == promised.max()
        grids: Mapping[str, int]
        for which, grids in ((open_ & ~at_most, _GRIDS), (open_ & at_most, {})):
            places = np.flatnonzero(which)
            if not places.size:
                continue
            some, of_most = several[places], firmest[places % len(firmest)]
            solutions = self._solve(some, **grids)
            short = np.flatnonzero(self._given(some, np.array(solutions.position)) < promised[places])
            if short.size:
                within = keeping_promise(some[short], of_most[short])
                solutions = better_of(short, some[short], solutions, self._solve(within, **grids))
                solutions = no_worse_than(some, solutions, [*of_most])
            positions[places] = np.array(solutions.position)
        return positions

    def _given(self, batch: ReservoirYears, positions: FloatArray) -> FloatArray:
        """The power that positions give in so many steps as must, shape (problems,)."""
        return firm_power_mw(batch.operate(positions).power_mw, self._share)

    def _solve(self, batch: ReservoirYears, **grids: Any) -> Solutions:
        asked = self._asked_device, self.progress
        solutions = references_of(batch, DEVICE_REFERENCE, *asked, None, self.watch, **grids)
        self.solver, self.device = solutions.solver, solutions.device
        return solutions


class SystemFront(_Front):
    """Plans each point of a front of a system, from the best plan so far for the point's own objective.

    Parameters
    ----------
    system, inflows, horizon
        What is planned.
    device, progress
        As of `optimise_system`.
    """

    def __init__(
        self, system: System, inflows: SiteInflows, horizon: Horizon, device: str | None, progress: StageProgress
    ) -> None:
        self.reservoir, self.inflows, self.horizon = system, inflows, horizon
        self._how: dict[str, Any] = {"horizon": horizon, "device": device, "progress": progress}
        self.plans, self.watch = list[SystemPlan](), Stopwatch()

    def value(self, goal: Goal, operations: Sequence[SystemPlan]) -> FloatArray:
        """What each plan gives of a goal, as tables show it."""
        if goal is Goal.FIRM_POWER:
            return np.array([plan.firm_power_mw.min() for plan in operations])
        alone = self._problems(with_goal(self.reservoir, goal))
        benefits = [alone.operate(plan.solutions.position).benefit.sum() for plan in operations]
        return np.array(benefits) * (-1.0 if goal in COSTS else 1.0)

    def _problems(self, system: System) -> RecordProblems:
        return system_problems(system, self.inflows, self.horizon)

    def _firm_powers(self, alone: System) -> tuple[float, float, Sequence[Any]]:
        """Of all years; the plans are kept to begin with."""
        plans, _ = self._solved([alone, with_goal(alone, Goal.FIRM_POWER)])
        lowest, largest = self.value(Goal.FIRM_POWER, plans).tolist()
        return lowest, largest, ()

    def _solved(self, stated: Sequence[System], known: Sequence[Any] = ()) -> tuple[list[SystemPlan], None]:
        """Plan all points, one after another."""
        plans, stage = [], FRONT_STAGES[bool(self.plans)]
        for number, system in enumerate(stated):
            self._how["progress"](stage, number, len(stated))
            problems = self._problems(system)
            worth = [problems.operate(plan.solutions.position).fitness(system.penalty).sum() for plan in self.plans]
            initial = self.plans[int(np.argmax(worth))].operation if worth else None
            plans.append(optimise_system(system, self.inflows, initial=initial, **self._how))
            self.plans.append(plans[-1])
            self.watch.add(plans[-1].seconds)
        self._how["progress"](stage, len(stated), len(stated))
        self.solver, self.device = ", ".join(dict.fromkeys(plans[-1].sources)), plans[-1].solutions.device
        return plans, None


@dataclass(frozen=True, eq=False)
class TradeoffPoint:
    """One point of a front: its name, its objective, and what that gives of each goal, as tables show it."""

    name: str
    reservoir: Reservoir | System
    values: tuple[float, float]
    energy_gwh: float
    violation: float

    @property
    def objective(self) -> Objective:
        """What is optimised there."""
        return self.reservoir.objective


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """A front between two goals.

    Parameters
    ----------
    reservoir : Reservoir or System
    inflow : Inflow
        Of a system the sum of what joins the river at all reservoirs.
    horizon : Horizon
    goals : tuple of Goal
    points : tuple of TradeoffPoint
        From the best for the first goal to the best for the second.
    solver, device : str
    seconds : float
        Of solving all points.
    units : UnitSystem
        In which it is shown.
    """

    reservoir: Reservoir | System
    inflow: Inflow
    horizon: Horizon
    goals: tuple[Goal, Goal]
    points: tuple[TradeoffPoint, ...]
    solver: str
    device: str
    seconds: float
    units: UnitSystem = SI

    @property
    def goal_values(self) -> FloatArray:
        """What each point gives of each goal, shape (points, 2)."""
        return np.array([point.values for point in self.points])

    @property
    def labels(self) -> tuple[str, ...]:
        """Names and units of the goals, and of how many years they are sums."""
        return tuple(goal_label(goal, self.reservoir.objective.currency, self.inflow.years) for goal in self.goals)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result."""
        return tuple(caveat for caveat in (self.inflow.caveat, self.reservoir.caveat) if caveat)


def tradeoff(
    reservoir: Reservoir | System,
    inflow: Inflow | SiteInflows,
    goals: Sequence[str],
    *,
    points: int = 21,
    horizon: Horizon | str | int | None = None,
    device: str | None = "auto",
    progress: StageProgress = silent_stage,
) -> Tradeoff:
    """Find the front between two goals.

    Parameters
    ----------
    reservoir : Reservoir or System
        With the prices and targets that the goals need.
    inflow : Inflow or SiteInflows
        Of a system, what joins the river at each reservoir.
    goals : sequence of two str
        Names of `Goal`.
    points : int
        3 or more.
    horizon, device, progress
        As of `reservoir.optimise`.

    Raises
    ------
    InputError
        If the goals are not two different ones, lack targets, or the release may change by so much only; if of
        reservoir and inflow one alone is a system's.
    """
    if isinstance(reservoir, System) or isinstance(inflow, SiteInflows):
        return _tradeoff_of_system(*both_of_system(reservoir, inflow), goals, points, horizon, device, progress)
    require_uncommitted(reservoir, "tradeoff does")
    pair = _pair(without_firm_power(reservoir), goals)
    span = System.of(reservoir).asked_horizon(horizon)
    reservoir = replace(with_implied_end_value(reservoir, inflow), horizon=span)
    problems = record_problems(reservoir, inflow, span)
    if problems.ramps:
        problem = "dynamic programming, which finds the front, cannot limit the change of the release"
        raise InputError(problem, mend="remove ramp_up and ramp_down", file=reservoir.source)
    search = FrontSearch(problems, device, progress)
    return _front(search, pair, points, span, problems.inflow)


def _tradeoff_of_system(
    system: System,
    inflows: SiteInflows,
    goals: Sequence[str],
    points: int,
    horizon: Horizon | str | int | None,
    device: str | None,
    progress: StageProgress,
) -> Tradeoff:
    pair = _pair(without_firm_power(system), goals)
    system = replace(without_firm_power(system), horizon=system.asked_horizon(horizon))
    span = system.horizon.within(inflows.calendar)
    search = SystemFront(system, inflows, span, device, progress)
    of_all = [record for name, record in inflows.items() if not system.inflow_of.get(name, InflowSource()).file]
    one_file = len({record.sha256 for record in of_all}) == 1
    total = replace(
        inflows.first,
        flow_m3s=inflows.flow_m3s.sum(axis=1),
        content=of_all[0].content if one_file else b"",
        rows=None,
        caveat=inflows.caveat,
        notes=inflows.notes,
    )
    return _front(search, pair, points, span, total)


def _front(
    search: FrontSearch | SystemFront,
    pair: tuple[Goal, Goal],
    points: int,
    span: Horizon,
    inflow: Inflow,
) -> Tradeoff:
    """Find the points, and what each comes to."""
    solved = search.with_firm_power if Goal.FIRM_POWER in pair else search.weighted
    stated, operations = solved(pair, points)
    first, second = (search.value(goal, operations).tolist() for goal in pair)
    width, front = len(str(len(stated))), []
    for number, (of_point, *values, operation) in enumerate(zip(stated, first, second, operations, strict=True), 1):
        name, made = f"p{number:0{width}}", (float(operation.energy_gwh.sum()), float(operation.violation.sum()))
        front.append(TradeoffPoint(name, of_point, (values[0], values[1]), *made))
    seconds = sum(search.watch.seconds.values())
    return Tradeoff(search.reservoir, inflow, span, pair, tuple(front), search.solver, search.device, seconds)


def _pair(reservoir: Operated, goals: Sequence[str]) -> tuple[Goal, Goal]:
    names = [str(goal) for goal in goals]
    if len(names) != 2 or len(set(names)) < 2:
        problem, expected = "are not two different goals", f"two of {', '.join(Goal)}"
        raise InputError(problem, expected, "give two names", column="between", value=", ".join(names))
    first, second = (with_goal(reservoir, name).objective for name in names)
    return next(iter(first.weights)), next(iter(second.weights))
