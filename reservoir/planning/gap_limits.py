"""How far a plan may be from the reference optimum, and which problems are further away."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.planning.solver_choice import is_swept
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions

#: Largest gap to the reference optimum of any year, and of the sum of all years.
YEAR_GAP = 2e-4
TOTAL_GAP = 5e-5
#: Largest gap, of a horizon and of their sum, of solvers that sweep long horizons.
SWEPT_GAP = 1e-3


def gap_limits(solver: str, problems: RecordProblems) -> tuple[float, float]:
    """Largest gap of a problem, and of the sum of all, that is accepted from a solver."""
    return (SWEPT_GAP, SWEPT_GAP) if is_swept(solver, problems) else (YEAR_GAP, TOTAL_GAP)


def violates_more(found: Solutions, references: Solutions, limit: float) -> NDArray[np.bool_]:
    """Whether a solution violates its limits and its reference does not, or violates less, shape (problems,).

    `limit` is the part of the reference's violation by which it may be exceeded.
    """
    return ~np.asarray(found.violation <= (1 + limit) * references.violation)  # NaN keeps no limit


def beyond_limits(
    found: Solutions, references: Solutions, limits: tuple[float, float], least_scale: float = 0.0
) -> NDArray[np.bool_]:
    """Which solutions are not accepted, shape (problems,).

    Those that violate more than their reference; those whose fitness falls short of the reference's by more than the
    first limit; and, if the sum of the others falls short by more than the second, the worst of them.

    Parameters
    ----------
    found, references : Solutions
        Of the same problems.
    limits : (float, float)
        As of `gap_limits`, parts of the reference's fitness. Where the reference violates limits its fitness is less
        than its energy: then of the smaller of both.
    least_scale : float
        See `RecordProblems.least_gap_scale`.
    """
    most, most_of_sum = limits
    short = references.fitness - found.fitness
    kept, scale = references.violation == 0, np.abs(references.fitness)
    scale = np.where(kept, scale, np.minimum(scale, np.abs(references.benefit)))
    scale = np.maximum(scale, least_scale)
    beyond = violates_more(found, references, most) | ~(short <= most * np.where(scale == 0, 1.0, scale))
    beyond &= np.isfinite(references.fitness)  # one that came to no number is worse than any schedule
    rest = np.where(kept & ~beyond, short, 0.0)
    order = np.argsort(-rest, kind="stable")
    left = rest.sum() - np.concatenate([[0.0], np.cumsum(rest[order])])
    whole = max(abs(float(references.fitness[kept].sum())), least_scale) or 1.0
    beyond[order[: np.argmax(left <= most_of_sum * whole)]] = True
    return np.asarray(beyond)
