"""Years in the layout of ``kernels/problems/reservoir/reservoir_year.cl``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.hydro.attributes import POWER_DEMAND
from reservoir.hydro.limits import Limits, always_repairable
from reservoir.hydro.rows import (
    ATTRIBUTE_FIELDS,
    FIELDS,
    NUMBERS,
    PER_SHORTAGE,
    PLAIN_FIELDS,
    PLAIN_NUMBERS,
    POWER_UPPER,
    TERMS,
    YearRows,
    without_negative_prices,
)
from reservoir.hydro.step import violation_scale
from reservoir.problems.base import ContextLayout
from reservoir.problems.reservoir.plant_source import PLANT_NUMBERS

FloatArray = NDArray[np.float64]

#: Rows of a number a step, as `hydro.rows` has them: of all years, and of years with conditions, of which kernels
#: read what a shortage costs (``SHORTAGE_COST``) in place of ``PER_SHORTAGE``.
_ROWS = tuple(name.upper() for name in FIELDS[:PLAIN_FIELDS])
_CONDITIONS = tuple(name.upper() for name in FIELDS[PLAIN_FIELDS:PER_SHORTAGE])
_CONDITION_ROWS = (*_CONDITIONS, *(name.upper() for name in FIELDS[PER_SHORTAGE + 1 : POWER_UPPER]))
#: Rows of the terms of an objective that is not energy, by their names in `hydro.rows`.
TERM_ROWS = {name: f"TERM_{name.upper()}" for name in TERMS}
#: Rows and numbers that are worked out of them; ``REPAIRABLE`` is not 0 if repair always leaves storages and releases
#: within their bounds, ``PER_RAMP_UP`` is 1 over ``RAMP_UP``.
_MORE_ROWS = ("FLOW_PER_VOLUME", "PENALTY_BELOW", "PENALTY_ABOVE")
_MORE_CONDITION_ROWS = ("SHORTAGE_COST", "POWER_COST")
_OF_YEAR = ("START", "START_LOWER", "START_UPPER", "MAX_STORAGE", "DEAD", "MISSING_COST", "PENALTY", "REPAIRABLE")
_NUMBERS = (*_OF_YEAR, *PLANT_NUMBERS)
_CONDITION_NUMBERS = tuple(name.upper() for name in NUMBERS[PLAIN_NUMBERS:])
_MORE_CONDITION_NUMBERS = ("PER_RAMP_UP", "PER_RAMP_DOWN")
#: What tables of curves make of power, and by which a lowest power is raised.
_TABLES = 1e-6
#: What a kernel's step holds of its conditions: of the rows, and of the numbers.
CONDITIONS_OF_STEP = (*_CONDITIONS, *_MORE_CONDITION_ROWS, "OPERATING_STORAGE")
#: The power that is demanded, as a field.
_POWER_DEMAND = ATTRIBUTE_FIELDS[POWER_DEMAND]


def year_layout(limits: Limits) -> ContextLayout:
    """The context of a year, or of each of many."""
    entries = dict.fromkeys((*_ROWS, *_MORE_ROWS), limits.steps)
    if limits.lake:
        entries |= dict.fromkeys((*_CONDITION_ROWS, *_MORE_CONDITION_ROWS), limits.steps)
        entries |= dict.fromkeys((*_CONDITION_NUMBERS, *_MORE_CONDITION_NUMBERS), 1)
    if limits.priced:
        entries |= dict.fromkeys(TERM_ROWS.values(), limits.steps)
    entries |= dict.fromkeys(_NUMBERS, 1)
    return ContextLayout("CONTEXT", entries)


def kernel_rows(
    limits: Limits, margin: float, penalty: float, plant: Mapping[str, float], dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Contexts of years of one reservoir.

    Parameters
    ----------
    limits : Limits
        The years, or one.
    margin : float
        By what part of the largest storage the reachable bounds are drawn in.
    penalty : float
        Penalty factor (eq. 21).
    plant : mapping
        From `plant_numbers`.
    dtype : dtype
        Of the contexts.

    Returns
    -------
    ndarray, shape (years, CONTEXT), or (CONTEXT,)
    """
    years = limits.arrays(margin)
    capacity = years.capacity[..., np.newaxis]
    below, above = (penalty / violation_scale(bound, capacity) for bound in (years.storage_lower, years.storage_upper))
    start_lower, start_upper = np.moveaxis(limits.start_bounds_hm3, -1, 0)
    values = {name: getattr(years, name.lower()) for name in (*_ROWS, "START", "DEAD")}
    values |= {
        "FLOW_PER_VOLUME": 1 / years.hm3_per_m3s,
        "PENALTY_BELOW": below,
        "PENALTY_ABOVE": above,
        "START_LOWER": start_lower,
        "START_UPPER": start_upper,
        "MAX_STORAGE": years.capacity,
        "MISSING_COST": penalty * years.per_missing,
        "PENALTY": np.full_like(years.capacity, penalty),
        "REPAIRABLE": always_repairable(limits, years),
        **{name: np.full_like(years.capacity, number) for name, number in plant.items()},
    }
    if years.lake:
        values |= {name: getattr(years, name.lower()) for name in (*_CONDITION_ROWS, *_CONDITION_NUMBERS)}
        values |= {"PER_RAMP_UP": 1 / years.ramp_up, "PER_RAMP_DOWN": 1 / years.ramp_down, **_demands(years, penalty)}
    if years.priced:
        values |= terms_of_steps(years)
    return year_layout(limits).pack(values, np.shape(years.capacity), dtype)


def _demands(years: YearRows, penalty: float) -> dict[str, FloatArray]:
    """The lowest power, and what a m3/s of shortage and a MW below it cost."""
    lowest = getattr(years, _POWER_DEMAND) * (1 + _TABLES)
    return {
        _POWER_DEMAND.upper(): lowest,
        "POWER_COST": np.where(lowest > 0, penalty / np.where(lowest > 0, lowest, 1.0), 0.0),
        "SHORTAGE_COST": penalty * years.per_shortage,
    }


def terms_of_steps(year: YearRows) -> dict[str, FloatArray]:
    """The terms of a kernel's steps (`TERM_ROWS`), in which water is spilled where it would cost to turbine it."""
    lowest = getattr(year, _POWER_DEMAND) if year.lake else 0.0
    terms = without_negative_prices({name: getattr(year, name) for name in TERM_ROWS}, lowest)
    return {row: terms[name] for name, row in TERM_ROWS.items()}


def conditions_of_steps(year: YearRows, penalty: float) -> dict[str, FloatArray]:
    """What a kernel's steps hold of their conditions (`CONDITIONS_OF_STEP`), each of shape (steps,)."""
    by_step = {name: getattr(year, name.lower()) for name in _CONDITIONS}
    operating = np.full_like(year.evaporation, year.operating_storage)
    return {**by_step, **_demands(year, penalty), "OPERATING_STORAGE": operating}
