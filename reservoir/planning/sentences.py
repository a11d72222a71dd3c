"""Messages about a plan's years and months that violate their storage limits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.plan import Plan


def horizon_text(plan: Plan) -> str:
    """What is planned as one problem, in words."""
    if plan.start:
        return plan.start.note(plan.inflow.calendar).removesuffix(".")
    if plan.horizon.is_year:
        return "each year as one problem"
    if len(plan.problems) == 1:
        return "the whole record as one problem"
    return f"{len(plan.problems)} windows of {plan.horizon} years"


def outside_sentences(plan: Plan) -> list[str]:
    """Which years of a plan violate their limits: no schedule satisfies them, or the solver did not find one."""
    lost = chosen(plan.inflow.labels, ~plan.feasible)
    missed = chosen(plan.inflow.labels, plan.feasible & ~plan.keeps_limits)
    sentences = [
        (lost, f"{counted(len(lost))} cannot satisfy {_their(lost)} storage limits with any permitted release"),
        (
            missed,
            f"{counted(len(missed))} can satisfy {_their(missed)} storage limits, but the solver found no schedule",
        ),
    ]
    return [f"{sentence}: {listed(names)}" for names, sentence in sentences if names]


def left_out_sentence(plan: Plan, marks: str = "") -> str:
    """Name the years excluded from means, sums and bands, and how a figure `marks` them; empty if there are none."""
    names = chosen(plan.inflow.labels, ~plan.keeps_limits)
    if not names:
        return ""
    one = len(names) == 1
    subject, violate = ("it is", "violates its") if one else ("they are", "violate their")
    left_out = f"{subject} {f'{marks} and ' if marks else ''}excluded from means and sums"
    return f"{counted(len(names))} ({listed(names)}) {violate} storage limits: {left_out}."


def _their(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"


def shortfalls(plan: Plan) -> list[str]:
    """A sentence for every end-of-month storage outside its limits: year, month, quantity and amount."""
    return [
        f"{_shortfall(plan, int(year), int(step))}; {_blame(plan.feasible[year])}"
        for year, step in np.argwhere(plan.operation.violation > 0)
    ]


def _blame(feasible: bool) -> str:
    if feasible:
        return "a feasible schedule exists, but the solver did not find it: increase --generations or --evaluations"
    return "no permitted release keeps this year's storage within its limits"


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
        f"{amount:,.4g} hm3 {'above its upper' if above else 'below its lower'} limit of {bound:,.6g} hm3"
    )
