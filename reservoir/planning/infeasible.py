"""Years whose limits no schedule can keep: how they are found and named.

What their fitness says is less than an energy: the cost of the violation is taken off (eq. 21).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import satisfiable

if TYPE_CHECKING:
    from reservoir.planning.plan import Plan
    from reservoir.problems.reservoir.year import ReservoirYear

#: Years that a sentence names; more are counted.
NAMED_YEARS = 8


def feasible_years(years: Sequence[ReservoirYear], violation: Iterable[float]) -> NDArray[np.bool_]:
    """Whether some schedule keeps the limits of each year, shape (years,).

    Parameters
    ----------
    years : sequence of ReservoirYear
    violation : iterable of float
        Of any schedule of each year: one without violation proves that there is one, and only the others are searched.
    """
    return np.array(
        [not found > 0 or satisfiable(year.limits) for year, found in zip(years, violation, strict=True)], bool
    )


def chosen(labels: Sequence[str], which: NDArray[np.bool_]) -> tuple[str, ...]:
    """Labels of some of the years."""
    return tuple(label for label, taken in zip(labels, which, strict=True) if taken)


def listed(labels: Sequence[str]) -> str:
    """Name years: all of them, or the first and how many more; ``1961, 1963 and 4 more``."""
    if len(labels) <= NAMED_YEARS:
        return ", ".join(labels)
    return f"{', '.join(labels[:NAMED_YEARS])} and {len(labels) - NAMED_YEARS:,} more"


def counted(count: int, what: str = "year") -> str:
    """Write a number of things: ``1 year``, ``62 years``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


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
