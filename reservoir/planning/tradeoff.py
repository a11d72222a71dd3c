"""The front between two goals: what more of one costs of the other (`front_search`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective, goal_label
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.end_value import end_value_used, with_end_value
from reservoir.planning.front_levels import without_firm_power
from reservoir.planning.front_search import FrontSearch
from reservoir.planning.goals import with_goal
from reservoir.planning.stages import StageProgress, silent_stage
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import record_problems

FloatArray = NDArray[np.float64]


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
    units : UnitSystem
        In which it is shown.
    """

    reservoir: Reservoir
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
    pair = _pair(without_firm_power(reservoir), goals)
    span = Horizon.of(reservoir.horizon if horizon is None else horizon)
    reservoir = replace(with_end_value(reservoir, end_value_used(reservoir, inflow)), horizon=span)
    problems = record_problems(reservoir, inflow, span)
    if problems.ramps:
        problem = "dynamic programming, which finds the front, cannot limit the change of the release"
        raise InputError(Mistake(problem, mend="remove ramp_up and ramp_down", file=reservoir.source))
    watch = Stopwatch()
    search = FrontSearch(problems, device, progress, watch)
    stated, found = search.with_firm_power(pair, points) if Goal.FIRM_POWER in pair else search.weighted(pair, points)
    of_goals = [search.value(goal, found) for goal in pair]
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
