"""Years in the layout of ``kernels/problems/reservoir/reservoir_year.cl``."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.conditions import YearConditions
from reservoir.hydro.limits import Limits
from reservoir.hydro.repairable import always_repairable
from reservoir.hydro.step import violation_scale
from reservoir.problems.context_layout import ContextLayout

FloatArray = NDArray[np.float64]

#: Rows of a number a step, and numbers; ``REPAIRABLE`` is not 0 if repair always leaves storages and releases within
#: their bounds.
_ROWS = (
    "INFLOW",
    "HM3_PER_M3S",
    "FLOW_PER_VOLUME",
    "RELEASE_LOWER",
    "RELEASE_UPPER",
    "STORAGE_LOWER",
    "STORAGE_UPPER",
    "REACH_LOWER",
    "REACH_UPPER",
    "PENALTY_BELOW",
    "PENALTY_ABOVE",
    "DRIFT_LOWER",
    "DRIFT_UPPER",
)
#: What tables of curves make of power, and by which a lowest power is raised.
_TABLES = 1e-6
#: Further rows and numbers of years with conditions; ``PER_RAMP_UP`` is 1 over ``RAMP_UP``.
_CONDITION_ROWS = (
    "EVAPORATION",
    "WITHDRAWAL",
    "SHORTAGE_COST",
    "PLANT_FACTOR",
    "POWER_LOWER",
    "POWER_COST",
    "TILT_LOWER",
    "TILT_UPPER",
)
_CONDITION_NUMBERS = (
    "MIDDLE_START",
    "OPERATING_STORAGE",
    "RAMP_UP",
    "RAMP_DOWN",
    "PER_RAMP_UP",
    "PER_RAMP_DOWN",
    "END_VALUE",
)
#: What a kernel's step holds of its conditions: of the rows, and of the numbers.
CONDITIONS_OF_STEP = (
    "EVAPORATION",
    "WITHDRAWAL",
    "PLANT_FACTOR",
    "OPERATING_STORAGE",
    "SHORTAGE_COST",
    "POWER_LOWER",
    "POWER_COST",
)
#: Rows of the terms of an objective that is not energy, by their names in `StepTerms`.
TERM_ROWS = {name: f"TERM_{name.upper()}" for name in StepTerms._fields}
_NUMBERS = ("START", "START_LOWER", "START_UPPER", "MAX_STORAGE", "DEAD", "MISSING_COST", "PENALTY", "REPAIRABLE")


def year_layout(steps: int, *, conditions: bool = False, terms: bool = False) -> ContextLayout:
    """A year's context."""
    entries = {**dict.fromkeys(_ROWS, steps), **dict.fromkeys(_NUMBERS, 1)}
    if conditions:
        entries |= {**dict.fromkeys(_CONDITION_ROWS, steps), **dict.fromkeys(_CONDITION_NUMBERS, 1)}
    if terms:
        entries |= dict.fromkeys(TERM_ROWS.values(), steps)
    return ContextLayout("CONTEXT", entries)


def kernel_rows(limits: Limits, margin: float, penalty: float, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """Contexts of years of one reservoir.

    Parameters
    ----------
    limits : Limits
        The years, or one.
    margin : float
        By what part of the largest storage the reachable bounds are drawn in.
    penalty : float
        Penalty factor (eq. 21).
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
    values = {name.upper(): getattr(years, name) for name in years._fields if name.upper() in _ROWS + _NUMBERS}
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
    }
    if years.conditions:
        values |= _condition_values(years, penalty)
    if years.terms:
        values |= {row: getattr(years.terms, name) for name, row in TERM_ROWS.items()}
    layout = year_layout(limits.steps, conditions=bool(years.conditions), terms=bool(years.terms))
    return layout.pack(values, np.shape(years.capacity), dtype)


def _condition_values(years: YearArrays, penalty: float) -> dict[str, FloatArray]:
    """The further rows and numbers."""
    of_all = years.conditions

    def every_year(value: float) -> FloatArray:
        return np.full_like(years.capacity, value)

    return {
        **{name: getattr(of_all, name.lower()) for name in _CONDITION_ROWS if not name.endswith("_COST")},
        **_demands(of_all, penalty),
        "MIDDLE_START": of_all.middle_start,
        "OPERATING_STORAGE": every_year(of_all.operating_storage),
        "RAMP_UP": every_year(of_all.ramp_up),
        "RAMP_DOWN": every_year(of_all.ramp_down),
        "PER_RAMP_UP": every_year(1 / of_all.ramp_up),
        "PER_RAMP_DOWN": every_year(1 / of_all.ramp_down),
        "END_VALUE": every_year(of_all.end_value),
    }


def _demands(conditions: YearConditions, penalty: float) -> dict[str, FloatArray]:
    """The lowest power, and what a m3/s of shortage and a MW below it cost."""
    lowest = conditions.power_lower * (1 + _TABLES)
    return {
        "POWER_LOWER": lowest,
        "POWER_COST": np.where(lowest > 0, penalty / np.where(lowest > 0, lowest, 1.0), 0.0),
        "SHORTAGE_COST": penalty * conditions.per_shortage,
    }


def conditions_of_steps(conditions: YearConditions, penalty: float) -> dict[str, FloatArray]:
    """What a kernel's steps hold of their conditions (`CONDITIONS_OF_STEP`), each of shape (steps,)."""
    by_step = {name: getattr(conditions, name.lower()) for name in ("EVAPORATION", "WITHDRAWAL", "PLANT_FACTOR")}
    operating = np.full_like(conditions.evaporation, conditions.operating_storage)
    return {**by_step, **_demands(conditions, penalty), "OPERATING_STORAGE": operating}
