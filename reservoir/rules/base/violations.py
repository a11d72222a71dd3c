"""Storages outside their bounds and demands not met, which no repair of a release could keep: how often, how far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at, unmet, unmet_power
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import unmet_minimum, violation_scale

if TYPE_CHECKING:
    # Compiled code, for which an operator with a rule does not wait.
    from reservoir.hydro.limits import Limits
    from reservoir.hydro.objective import Operation

FloatArray = NDArray[np.float64]

#: A month beyond its storage bounds by less than this part of the largest storage is a rounding.
ROUNDING = 1e-9


def beyond_bounds(reservoir: Reservoir, ends_hm3: FloatArray) -> FloatArray:
    """How far each storage is above (+) or below (-) its bounds, hm3; 0 within them and for a rounding.

    Below dead storage only losses go, which no decision changes: that far down it is no violation.

    Parameters
    ----------
    reservoir : Reservoir
    ends_hm3 : ndarray, shape (years, steps)
        Storage at the end of each step.
    """
    lower, upper = reservoir.storage_bounds_hm3
    decided = np.maximum(ends_hm3, reservoir.storage_lower_hm3.min())
    beyond = np.maximum(ends_hm3 - upper, 0.0) - np.maximum(lower - decided, 0.0)
    # What is no number is no rounding either.
    return np.where(np.abs(beyond) <= ROUNDING * float(upper.max()), 0.0, beyond)


@dataclass(frozen=True)
class Violations:
    """Storages outside their bounds, and demands not met, over a record.

    ``months`` end outside, the worst of them by ``largest_hm3``; ``relative`` is the sum of the violations relative to
    the bounds (eq. 20), and to what is demanded. In ``unmet_months`` a withdrawal, the lowest power or the least
    release is not delivered.
    """

    months: int
    largest_hm3: float
    relative: float
    unmet_months: int = 0

    @classmethod
    def of_operation(cls, limits: Limits, reservoir: Reservoir, operation: Operation) -> Violations:
        """Those of years operated within limits, a row for each year."""
        found = cls.of(reservoir, operation.storage_hm3[:, 1:])
        missed = unmet_demands(limits, operation)
        return replace(found, relative=found.relative + float(missed.sum()), unmet_months=int((missed > 0).sum()))

    @classmethod
    def of(cls, reservoir: Reservoir, ends_hm3: FloatArray) -> Violations:
        """Those of storages at the end of each step, shape (years, steps)."""
        beyond = beyond_bounds(reservoir, ends_hm3)
        lower, upper = reservoir.storage_bounds_hm3
        bound = np.where(beyond > 0, upper, lower)
        relative = np.abs(beyond) / violation_scale(bound, float(upper.max()))
        return cls(int((beyond != 0).sum()), float(np.abs(beyond).max()), float(relative.sum()))


def unmet_demands(limits: Limits, operation: Operation) -> FloatArray:
    """Relative shortage of withdrawal, lowest power and least release, shape (years, steps); 0 without a demand."""
    years, release, draft = limits.arrays(), operation.release_m3s, operation.draft_m3s
    every = slice(None), slice(None)
    conditions, per_missing = conditions_at(years.by_field, every), years.per_missing[:, np.newaxis] * years.hm3_per_m3s
    missed = unmet(conditions, draft, release, release) + unmet_power(conditions, operation.power_mw)
    missed = missed + unmet_minimum(draft, years.release_lower, per_missing)
    return np.broadcast_to(np.asarray(missed, np.float64), release.shape)
