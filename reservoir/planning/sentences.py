"""What is said of a plan's years and months that leave their limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.plan import Plan


def horizon_text(plan: Plan) -> str:
    """What is planned as one problem, in words."""
    if plan.horizon.is_year:
        return "each year as one problem"
    if len(plan.problems) == 1:
        return "the whole record as one problem"
    return f"{len(plan.problems)} windows of {plan.horizon} years"


def outside_sentences(plan: Plan) -> list[str]:
    """Which years of a plan leave their limits, because no schedule keeps them or because the solver missed it."""
    lost = chosen(plan.inflow.labels, ~plan.feasible)
    missed = chosen(plan.inflow.labels, plan.feasible & ~plan.keeps_limits)
    told = [
        (lost, f"{counted(len(lost))} cannot keep {_their(lost)} limits of storage, whatever is released"),
        (missed, f"{counted(len(missed))} could keep {_their(missed)} limits of storage, but the solver missed how"),
    ]
    return [f"{sentence}: {listed(names)}" for names, sentence in told if names]


def left_out_sentence(plan: Plan, marks: str = "") -> str:
    """Say which years are not counted in means, sums and bands, and how a figure `marks` them; empty where all are."""
    names = chosen(plan.inflow.labels, ~plan.keeps_limits)
    if not names:
        return ""
    one = len(names) == 1
    subject, leaves = ("it is", "leaves its") if one else ("they are", "leave their")
    left_out = f"{subject} {f'{marks} and ' if marks else ''}not in means and sums"
    return f"{counted(len(names))} ({listed(names)}) {leaves} limits of storage: {left_out}."


def _their(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"


def shortfalls(plan: Plan) -> list[str]:
    """A sentence for every end-of-month storage outside its bounds: year, month, quantity and amount."""
    return [
        f"{_shortfall(plan, int(year), int(step))}; {_blame(plan.feasible[year])}"
        for year, step in np.argwhere(plan.operation.violation > 0)
    ]


def _blame(feasible: bool) -> str:
    if feasible:
        return "the solver missed a schedule that keeps the bounds: give it more generations"
    return "no release within its bounds keeps this year's storage within its bounds"


def _shortfall(plan: Plan, year: int, step: int) -> str:
    limits, storages = plan.problems.year_bounds, plan.operation.storage_hm3[year]
    storage = storages[step + 1]
    lower, upper = limits.storage_lower_hm3[year, step], limits.storage_upper_hm3[year, step]
    if plan.problems.cyclic and plan.problems.ends_with(year) and step == limits.steps - 1:
        lower = upper = plan.operation.storage_hm3[plan.problems.first_year(year), 0]
    above = storage > upper
    bound, amount = (upper, storage - upper) if above else (lower, lower - storage)
    month = MONTH_NAMES[int(plan.inflow.calendar.months[step]) - 1]
    return (
        f"{plan.inflow.labels[year]} {month}: the storage at the end of the month is {storage:,.6g} hm3, "
        f"{amount:,.4g} hm3 {'above its upper' if above else 'below its lower'} bound of {bound:,.6g} hm3"
    )
