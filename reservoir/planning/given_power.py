"""The power that a schedule gives in all steps of a problem, or in a share of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.problems.reservoir.promised_power import allowed_failures
from reservoir.problems.reservoir.record import RecordProblems

FloatArray = NDArray[np.float64]


def firm_power_mw(power_mw: FloatArray, share: float) -> FloatArray:
    """The largest power that a share of the steps gives, shape (problems,).

    Parameters
    ----------
    power_mw : ndarray, shape (problems, steps)
    share : float
        From 0 to 1.
    """
    failures = allowed_failures(power_mw.shape[-1], share)
    return np.asarray(np.partition(power_mw, failures, axis=-1)[..., failures])


def firm_power_of_problems(problems: RecordProblems, operation: Operation) -> FloatArray:
    """The power that the steps of each problem give, or the share of them that the objective asks for."""
    share = problems.model.reservoir.objective.firm_share
    years = np.flatnonzero(np.diff(problems.of_year)) + 1
    return np.array([firm_power_mw(each.ravel(), share) for each in np.split(operation.power_mw, years)])
