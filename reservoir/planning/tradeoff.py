"""The front between two goals: what more of one costs of the other.

Firm power against another goal is stepped through: at each power the other goal is best. Other pairs are weighted, from
one goal alone to the other: such points lie on the convex side of the front. All points of all problems are solved in
one call, a problem a point and horizon, by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.benefit import NO_TERMS, StepTerms, stage_benefit
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation, joined
from reservoir.hydro.objectives import COSTS, Goal, Objective
from reservoir.hydro.record_terms import RecordTerms, terms_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.end_value import end_value_used, with_end_value
from reservoir.planning.firm_power import largest_firm_power
from reservoir.planning.given_power import firm_power_mw
from reservoir.planning.goals import with_goal
from reservoir.planning.solver_choice import DEVICE_REFERENCE
from reservoir.planning.stages import StageProgress, references_of, silent_stage
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.promised_power import promising
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions

FloatArray = NDArray[np.float64]

#: Weight of the goal that does not count at either end: of equally good schedules, the one that is better for it.
_LEAST_WEIGHT = 1e-4
#: Digits of the weights, so that a reservoir file states them as they were.
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class TradeoffPoint:
    """One point of a front: its name, its objective, and what that gives of each goal, as tables show it."""

    name: str
    reservoir: Reservoir
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
    reservoir : Reservoir
    inflow : Inflow
    horizon : Horizon
    goals : tuple of Goal
    points : tuple of TradeoffPoint
        From the best for the first goal to the best for the second.
    solver, device : str
    seconds : float
        Of solving all points.
    """

    reservoir: Reservoir
    inflow: Inflow
    horizon: Horizon
    goals: tuple[Goal, Goal]
    points: tuple[TradeoffPoint, ...]
    solver: str
    device: str
    seconds: float

    @property
    def goal_values(self) -> FloatArray:
        """What each point gives of each goal, shape (points, 2)."""
        return np.array([point.values for point in self.points])

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result."""
        return tuple(caveat for caveat in (self.inflow.caveat, self.reservoir.caveat) if caveat)


def tradeoff(
    reservoir: Reservoir,
    inflow: Inflow,
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
    reservoir : Reservoir
        With the prices and targets that the goals need.
    inflow : Inflow
    goals : sequence of two str
        Names of `Goal`.
    points : int
        3 or more.
    horizon, device, progress
        As of `reservoir.optimise`.

    Raises
    ------
    InputError
        If the goals are not two different ones, lack targets, or the release may change by so much only.
    """
    pair = _pair(_plain(reservoir), goals)
    span = Horizon.of(reservoir.horizon if horizon is None else horizon)
    reservoir = replace(with_end_value(reservoir, end_value_used(reservoir, inflow)), horizon=span)
    problems = record_problems(reservoir, inflow, span)
    if problems.ramps:
        problem = "dynamic programming, which finds the front, cannot limit the change of the release"
        raise InputError(Mistake(problem, mend="remove ramp_up and ramp_down", file=reservoir.source))
    watch = Stopwatch()
    run = _Run(problems, device, progress, watch)
    stated = run.with_firm_power(pair, points) if Goal.FIRM_POWER in pair else run.weighted(pair, points)
    found = run.solved(stated)
    of_goals = [run.value(goal, found) for goal in pair]
    width = len(str(points))
    told = tuple(
        TradeoffPoint(
            f"p{number + 1:0{width}}",
            each,
            (float(of_goals[0][number]), float(of_goals[1][number])),
            float(found.operations[number].energy_gwh.sum()),
            float(found.operations[number].violation.sum()),
        )
        for number, each in enumerate(stated)
    )
    return Tradeoff(
        reservoir, problems.inflow, span, pair, told, found.solver, found.device, sum(watch.seconds.values())
    )


def _pair(reservoir: Reservoir, goals: Sequence[str]) -> tuple[Goal, Goal]:
    names = [str(goal) for goal in goals]
    if len(names) != 2 or len(set(names)) < 2:
        problem, expected = "are not two different goals", f"two of {', '.join(Goal)}"
        raise InputError(Mistake(problem, expected, "give two names", column="between", value=", ".join(names)))
    first, second = (with_goal(reservoir, name).objective for name in names)
    return next(iter(first.weights)), next(iter(second.weights))


@dataclass(frozen=True, eq=False)
class _Found:
    """Operations of the points, each with a row a year, and who found them."""

    operations: list[Operation]
    solver: str
    device: str


@dataclass(frozen=True, eq=False)
class _Run:
    """How all problems of a front are solved."""

    problems: RecordProblems
    device: str | None
    progress: StageProgress
    watch: Stopwatch

    @property
    def reservoir(self) -> Reservoir:
        return self.problems.model.reservoir

    @property
    def inflow(self) -> Inflow:
        return self.problems.inflow

    def solved(self, stated: Sequence[Reservoir]) -> _Found:
        """Solve all points, in a call for each length of problem; they have one penalty."""
        model = replace(self.problems.model, reservoir=stated[0])
        terms = [terms_of(each, self.inflow) for each in stated]
        spans = self.problems.horizon.equal_spans(self.inflow.years)
        operations: list[list[Operation]] = [[] for _ in stated]
        solver = device = ""
        for batch, (first, stop, _) in zip(self.problems.batches, spans, strict=True):
            shape = len(batch), batch.limits.steps
            of_batch = [None if each is None else each[first:stop].reshaped(*shape) for each in terms]
            found, operation = self._together(replace(batch, model=model), of_batch, stated)
            rows = len(operation) // len(stated)
            for place, kept in enumerate(operations):
                kept.append(operation[place * rows : (place + 1) * rows])
            solver, device = found.solver, found.device
        return _Found([joined(parts) for parts in operations], solver, device)

    def _together(
        self, batch: ReservoirYears, terms: Sequence[RecordTerms | None], stated: Sequence[Reservoir]
    ) -> tuple[Solutions, Operation]:
        """Problems with the terms of each objective, one objective behind another."""
        several = batch[np.tile(np.arange(len(batch)), len(stated))]
        given = [each.of_steps for each in terms if each is not None]
        if len(given) == len(terms):
            steps = StepTerms._make(map(np.concatenate, zip(*given, strict=True)))
            several = replace(several, limits=replace(several.limits, terms=RecordTerms(steps)))
        promised = [each.objective.firm_power_mw for each in stated]
        if promised[0] is not None:
            power = np.repeat(np.array(promised, np.float64), len(batch))
            several = promising(several, power, stated[0].objective.firm_share)
        found = self.best(several)
        return found, several.operate(np.array(found.position)).in_years(self.inflow.steps)

    def best(self, batch: ReservoirYears) -> Solutions:
        """Dynamic programming, on a device if one can."""
        return references_of(batch, DEVICE_REFERENCE, self.device, self.progress, None, self.watch)

    def value(self, goal: Goal, found: _Found) -> FloatArray:
        """What each point gives of a goal, as tables show it."""
        if goal is Goal.FIRM_POWER:
            share, ends = self.reservoir.objective.firm_share, np.flatnonzero(np.diff(self.problems.of_year)) + 1
            powers = ([each.ravel() for each in np.split(one.power_mw, ends)] for one in found.operations)
            return np.array([min(float(firm_power_mw(each, share)) for each in power) for power in powers])
        if goal is Goal.ENERGY:
            return np.array([each.energy_gwh.sum() for each in found.operations])
        terms = terms_of(with_goal(_plain(self.reservoir), goal), self.inflow)
        steps, volume = terms.of_steps if terms else NO_TERMS, self.inflow.calendar.hm3_per_m3s
        benefits = [stage_benefit(steps, each.power_mw, each.release_m3s, volume).sum() for each in found.operations]
        return np.array(benefits) * (-1.0 if goal in COSTS else 1.0)

    def weighted(self, pair: tuple[Goal, Goal], points: int) -> list[Reservoir]:
        """Reservoirs whose objectives go from one goal to the other; each goal in parts of what it can change by."""
        stated, plant = self.reservoir.objective, (self.reservoir.installed_mw, self.reservoir.step.per_year)
        largest = [replace(stated, weights={goal: 1.0}).largest_per_year(*plant) for goal in pair]
        ends = [_LEAST_WEIGHT, 1 - _LEAST_WEIGHT]
        found = self.solved(_weighing(self.reservoir, pair, (largest[0], largest[1]), ends))
        ranges = [float(np.ptp(self.value(goal, found))) or 1.0 for goal in pair]
        shares = np.clip(np.linspace(0, 1, points), _LEAST_WEIGHT, 1 - _LEAST_WEIGHT)
        return _weighing(self.reservoir, pair, (ranges[0], ranges[1]), shares.tolist())

    def with_firm_power(self, pair: tuple[Goal, Goal], points: int) -> list[Reservoir]:
        """Reservoirs with a firm power, from what the best schedule for the other goal gives to the largest."""
        other = next(goal for goal in pair if goal is not Goal.FIRM_POWER)
        alone = with_goal(_plain(self.reservoir), other)
        lowest = float(self.value(Goal.FIRM_POWER, self.solved([alone]))[0])
        searched = [firm_power for batch in self.problems.batches for firm_power in self._largest(batch)]
        levels = np.linspace(lowest, max(min(searched), lowest), points)
        if pair[0] is Goal.FIRM_POWER:
            levels = levels[::-1]
        rounded = [float(f"{level:.{_DIGITS}g}") for level in levels]
        return [replace(alone, objective=replace(alone.objective, firm_power_mw=level)) for level in rounded]

    def _largest(self, batch: ReservoirYears) -> list[float]:
        share = self.reservoir.objective.firm_share
        found: list[float] = largest_firm_power(batch, share, self.best, self.progress)[0].tolist()
        return found


def _plain(reservoir: Reservoir) -> Reservoir:
    """Without a firm power of its own."""
    return replace(reservoir, objective=replace(reservoir.objective, firm_power_mw=None))


def _weighing(
    reservoir: Reservoir, pair: tuple[Goal, Goal], ranges: tuple[float, float], shares: Sequence[float]
) -> list[Reservoir]:
    """Reservoirs that weigh two goals, the second by a share, with one penalty; one weight is 1 over the other."""
    objectives = []
    for share in shares:
        ratio = float(f"{np.sqrt((1 - share) / ranges[0] * ranges[1] / share):.{_DIGITS}g}")
        rounded = {pair[0]: ratio, pair[1]: float(f"{1 / ratio:.{_DIGITS}g}")}
        objectives.append(replace(reservoir.objective, weights=rounded, firm_power_mw=None))
    penalty = max(each.largest_per_year(reservoir.installed_mw, reservoir.step.per_year) for each in objectives)
    return [replace(reservoir, objective=each, penalty=penalty) for each in objectives]
