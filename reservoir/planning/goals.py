"""Plan a reservoir for another goal than the one of its file."""

from __future__ import annotations

from dataclasses import replace

from reservoir.errors import InputError, Mistake
from reservoir.hydro.objectives import COSTS, NEEDED, Goal
from reservoir.hydro.reservoir import Reservoir


def with_goal(reservoir: Reservoir, goal: str) -> Reservoir:
    """A reservoir that is operated for one goal, with the prices and targets of its file.

    The penalty is what it is by default, unless the goal or the unit of the objective stays the same.

    Raises
    ------
    InputError
        If the goal is not known, or the reservoir has no targets for it.
    """
    if goal not in list(Goal):
        raise InputError(Mistake("is no goal", f"one of {', '.join(Goal)}", column="objective", value=goal))
    wanted, given = Goal(goal), reservoir.objective
    if wanted is given.single:
        return reservoir
    needed = NEEDED.get(wanted)
    if needed and getattr(given, needed) is None:
        mend = f"add {needed} to [objective] in the reservoir file"
        raise InputError(Mistake(f"needs {needed}", mend=mend, file=reservoir.source, column="objective", value=goal))
    objective = replace(given, weights={wanted: 1.0})
    same = objective.unit == given.unit and wanted not in COSTS
    penalty = reservoir.penalty if same else objective.largest_per_year(reservoir.installed_mw, reservoir.step.per_year)
    return replace(reservoir, objective=objective, penalty=penalty)
