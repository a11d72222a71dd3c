"""Years whose limits no schedule can keep: how they are found and named.

What their fitness says is less than an energy: the cost of the violation is taken off (eq. 21).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.kept_power import proved_impossible
from reservoir.hydro.calendar import some_labels
from reservoir.hydro.limits import Limits, satisfiable
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.text.quantities import counted as counted

#: Years that a sentence names; more are counted.
NAMED_YEARS = 8


def feasible_problems(problems: RecordProblems, violation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether some schedule keeps the limits of each problem, shape (problems,); see `feasible_years`."""
    ends = [0, *np.cumsum([len(batch) for batch in problems.batches])]
    parts = zip(problems.batches, pairwise(ends), strict=True)
    return np.concatenate([feasible_years(batch.limits, violation[slice(*span)]) for batch, span in parts])


def impossible_problems(problems: RecordProblems, feasible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether it is sure that no schedule keeps the limits of each problem, shape (problems,).

    Of some for which none was found it is not: those that miss a lowest power or a slow change of the release, where
    nothing proves that they must.

    Parameters
    ----------
    problems : RecordProblems
    feasible : ndarray of bool, shape (problems,)
        As of `feasible_problems`.
    """
    impossible, first = ~feasible, 0
    for batch in problems.batches:
        lost = np.flatnonzero(~feasible[first : first + len(batch)])
        if lost.size and (batch.limits.ramps or batch.limits.demands_power):
            able = satisfiable(batch.limits[lost])
            for place in lost[able].tolist():
                impossible[first + place] = proved_impossible(batch[place])
        first += len(batch)
    return impossible


def feasible_years(limits: Limits, violation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether some schedule keeps the limits of each year, shape (years,).

    Parameters
    ----------
    limits : Limits
    violation : ndarray, shape (years,)
        Of any schedule of each year: one without violation proves that there is one, and only the others are searched.
    """
    feasible = np.asarray(violation <= 0)
    lost = np.flatnonzero(~feasible)
    # Whether a lowest power or a slow change of release can be kept is not known: then, what was found counts.
    feasible[lost] = False if limits.ramps or limits.demands_power else satisfiable(limits[lost])
    return feasible


def chosen(labels: Sequence[str], which: NDArray[np.bool_]) -> Sequence[str]:
    """Labels of some of the years."""
    return some_labels(labels, np.flatnonzero(which))


def listed(labels: Sequence[str]) -> str:
    """Name years: all of them, or the first and how many more; ``1961, 1963 and 4 more``."""
    if len(labels) <= NAMED_YEARS:
        return ", ".join(labels)
    return f"{', '.join(labels[:NAMED_YEARS])} and {len(labels) - NAMED_YEARS:,} more"
