"""Commitments: a volume that a reservoir is to release in each water year, fixed or by tiers of its level at a date.

It is a least volume, or the most, or there are both. What is released is all that leaves the dam, turbined or spilled,
unless what is turbined alone counts. Tiers are steps, as treaties write them: the volume is
that of the highest tier whose level the lake has reached at the start of a month.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.attributes import Counted
from reservoir.hydro.plant import storage_at_level
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System

if TYPE_CHECKING:
    from reservoir.hydro.operation import Operation

FloatArray = NDArray[np.float64]
#: What a reservoir has without commitments, by field.
NO_COMMITMENTS: dict[str, Any] = {
    "annual_release_hm3": None,
    "tier_level_m": (),
    "tier_release_hm3": (),
    "tier_month": None,
    "most_annual_release_hm3": None,
    "counts": Counted.RELEASED,
}
#: Sides of a volume: at least so much is to be released, or at most.
LEAST, MOST = SIDES = (1.0, -1.0)
#: Of a committed volume less than this part is missing by rounding; a level so little below a tier, m, is in it.
_ROUNDING, ROUNDING_M = 1e-9, 1e-6


def is_committed(reservoir: Reservoir) -> bool:
    """Whether it is to release a volume in each water year, at least or at most."""
    return bool(sides(reservoir))


def sides(reservoir: Reservoir) -> tuple[float, ...]:
    """Which of `SIDES` it is committed to."""
    least = reservoir.annual_release_hm3 is not None or bool(reservoir.tier_release_hm3)
    return (LEAST,) * least + (MOST,) * (reservoir.most_annual_release_hm3 is not None)


def counts_turbined(reservoir: Reservoir) -> bool:
    """Whether it has commitments for which what is turbined counts alone."""
    return is_committed(reservoir) and reservoir.counts is Counted.TURBINED


def require_uncommitted(reservoir: Reservoir | System, who: str) -> None:
    """Refuse commitments for `who`, who does not know them, in a sentence that names those that do."""
    every = reservoir.reservoirs if isinstance(reservoir, System) else (reservoir,)
    names = [each.name for each in every if is_committed(each)]
    if names:
        problem = f"{who} not know the annual release of {', '.join(names)}"
        mend = "leave out [commitments] here; `reservoir plan`, `simulate`, `compare` and `validate` know it"
        raise InputError(problem, "a reservoir without [commitments]", mend, column="commitments")


def surely_hm3(reservoir: Reservoir, side: float = LEAST) -> float:
    """The volume that a water year is committed to on a side, whatever the level is: of tiers the least."""
    if side == MOST:
        return np.inf if reservoir.most_annual_release_hm3 is None else reservoir.most_annual_release_hm3
    return float(min(reservoir.tier_release_hm3, default=reservoir.annual_release_hm3 or 0.0))


def tier_step(reservoir: Reservoir) -> int:
    """Step of the water year at whose start the level decides."""
    month = reservoir.tier_month or reservoir.first_month
    return int(np.argmax(reservoir.months == month))


def _tiers(reservoir: Reservoir, storage_hm3: FloatArray) -> NDArray[np.intp]:
    """Place of the tier of each storage; below the first level, that of the first."""
    levels = reservoir.level(storage_hm3) + ROUNDING_M
    return np.maximum(np.searchsorted(reservoir.tier_level_m, levels, side="right") - 1, 0)


def committed_hm3(reservoir: Reservoir, storage_hm3: FloatArray, side: float = LEAST) -> FloatArray:
    """Volumes that water years are committed to on a side, shape (horizons, years); 0 at least, any at most of none.

    Parameters
    ----------
    reservoir : Reservoir
    storage_hm3 : ndarray, shape (horizons, steps + 1)
        At the start and at the ends of steps.
    side : float
        One of `SIDES`.
    """
    decisive = storage_hm3[:, tier_step(reservoir) : -1 : reservoir.step.per_year]
    if side == MOST or not reservoir.tier_release_hm3:
        return np.full(decisive.shape, surely_hm3(reservoir, side))
    return np.asarray(reservoir.tier_release_hm3, np.float64)[_tiers(reservoir, decisive)]


def tier_bounds_hm3(reservoir: Reservoir, storage_hm3: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and largest storages of the tiers that storages are in, of the same shape; without tiers, any."""
    lowest, highest = (float(end) for end in reservoir.level.domain)
    dearest = float(reservoir.level(highest))

    def storage(level_m: float) -> float:
        return storage_at_level(reservoir, level_m) if float(reservoir.level(lowest)) < level_m <= dearest else lowest

    ends = np.array([lowest, *map(storage, reservoir.tier_level_m[1:]), highest])
    below = [storage(level - 2 * ROUNDING_M) if level <= dearest else highest for level in reservoir.tier_level_m[1:]]
    place = _tiers(reservoir, storage_hm3) if reservoir.tier_level_m else np.zeros(storage_hm3.shape, np.intp)
    return ends[place], np.array([*below, highest])[place]


def spare_hm3(reservoir: Reservoir, operation: Operation, hm3_per_m3s: FloatArray, side: float = LEAST) -> FloatArray:
    """What each water year has to spare of a side, below 0 where that is not kept, shape (horizons, years)."""
    volumes = hm3_per_m3s * (operation.turbined_m3s if counts_turbined(reservoir) else operation.release_m3s)
    counted = volumes.reshape(len(volumes), -1, reservoir.step.per_year).sum(axis=-1)
    return np.asarray(side * (counted - committed_hm3(reservoir, operation.storage_hm3, side)))


def missing_hm3(reservoir: Reservoir, operation: Operation, hm3_per_m3s: FloatArray, side: float = LEAST) -> FloatArray:
    """What each water year releases less than the least, or more than the most; nothing by rounding.

    Returns
    -------
    ndarray, shape (horizons, years)
    """
    missing = -spare_hm3(reservoir, operation, hm3_per_m3s, side)
    return np.where(missing > _ROUNDING * committed_hm3(reservoir, operation.storage_hm3, side), missing, 0.0)


def with_misses(reservoir: Reservoir, operation: Operation, hm3_per_m3s: FloatArray) -> Operation:
    """An operation of horizons, or of one, with what is not kept as a violation of the last step of its water year.

    It is relative to the committed volume, as a shortage of a withdrawal is to the demand.
    """
    if not is_committed(reservoir):
        return operation
    if operation.release_m3s.ndim == 1:
        return with_misses(reservoir, operation._of(lambda array: array[np.newaxis]), hm3_per_m3s[np.newaxis])[0]
    violation = operation.violation.copy()
    for side in sides(reservoir):
        missing = missing_hm3(reservoir, operation, hm3_per_m3s, side)
        volume = committed_hm3(reservoir, operation.storage_hm3, side)
        part = np.divide(missing, volume, out=np.zeros_like(missing), where=missing > 0)
        violation[:, reservoir.step.per_year - 1 :: reservoir.step.per_year] += part
    return replace(operation, violation=violation)


def unkeepable(reservoir: Reservoir, annual_hm3: FloatArray, above_hm3: float = 0.0) -> FloatArray:
    """By how much the least annual release is more than inflow and storage have, shape (years,).

    Parameters
    ----------
    reservoir : Reservoir
    annual_hm3 : ndarray, shape (years,)
        All that flows there, if nothing is stored above.
    above_hm3 : float
        What reservoirs above can store.
    """
    if not is_committed(reservoir):
        return np.zeros_like(annual_hm3)
    lowest, highest = reservoir.storage_bounds_hm3
    start, end = reservoir.initial_storage_hm3, reservoir.final_storage_hm3
    stored = float(highest.max() - lowest.min())
    if reservoir.horizon.is_year:
        stored = 0.0 if start is None else start - float(lowest[-1] if end is None else end)
    return np.maximum(surely_hm3(reservoir) - annual_hm3 - stored - above_hm3, 0.0)
