"""Problems whose steps must give a power: what they fall short of it by costs more than any energy is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.limits import Limits
from reservoir.hydro.record_rows import UNLIMITED
from reservoir.problems.base import FloatArray
from reservoir.problems.reservoir.year import ReservoirYears

#: What is promised is less than what is asked by this part: room for rounding.
SLACK = 2e-6
#: What a step costs that gives nothing, as a part of the penalty of each year.
_COST_OF_SHORTAGE = 10.0
#: What a failed step costs at most, where some may fail, as a part of the penalty.
_COST_OF_FAILURE = 0.05


def allowed_failures(steps: int, share: float) -> int:
    """How many of so many steps may fail where a share of them must not."""
    return int((1 - share) * steps + 1e-9)


def cost_of_shortage(target_mw: FloatArray, penalty: float, steps: int) -> FloatArray:
    """Of each MW that a step falls short of its target; nothing without one."""
    of_all = _COST_OF_SHORTAGE * penalty * steps / MONTHS_PER_YEAR
    return np.where(target_mw > 0, of_all / np.where(target_mw > 0, target_mw, 1.0), 0.0)


def promising(batch: ReservoirYears, power_mw: FloatArray, share: float = 1.0) -> ReservoirYears:
    """The problems with a power that each must give, shape (problems,), in a share of their steps.

    Their objective is not energy alone: it has terms.
    """
    limits = batch.limits
    target = np.repeat((power_mw * (1 - SLACK))[:, np.newaxis], limits.steps, axis=1)
    cost = cost_of_shortage(target, batch.penalty, limits.steps)
    most = UNLIMITED if allowed_failures(limits.steps, share) == 0 else _COST_OF_FAILURE * batch.penalty
    if not limits.priced:
        return batch
    return replace(batch, limits=limits.changed(power_target=target, power_cost=cost, power_cost_most=most))


def promised_in(limits: Limits, steps: NDArray[np.bool_]) -> Limits:
    """Limits with the same promise, but in some steps only, shape (years, steps), none of which may fail."""
    return limits.changed(power_target=np.where(steps, limits.power_target, 0.0), power_cost_most=UNLIMITED)
