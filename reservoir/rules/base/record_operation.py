"""Consecutive years as compiled code operates them, month by month."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.benefit import NO_TERMS, in_objective_unit, stage_benefit
from reservoir.hydro.elementwise import mean
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import enforce_limits, power_at, violation_scale
from reservoir.hydro.stored_energy import stored_energy_gwh
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import Training
from reservoir.rules.base.violations import ROUNDING


class RecordArrays(NamedTuple):
    """Consecutive years as compiled code reads them; arrays of shape (years * steps,).

    ``restarts`` is 1 at the first step of every member of an ensemble but the first: there the storage is that of
    the start again, and what was stored is counted. ``expected_inflow`` and ``expected_hm3_per_m3s`` are those that a
    rule reckons with. Storage bounds are those at the end of each step, ``start`` is the storage at the first.
    ``cost_below`` and ``cost_above`` are what a hm3 outside the storage bounds costs (GWh, eq. 20-21); outside by less
    than ``rounding`` hm3 is within.
    """

    restarts: Any
    inflow: Any
    inflow_before: Any
    hm3_per_m3s: Any
    expected_inflow: Any
    expected_hm3_per_m3s: Any
    release_lower: Any
    release_upper: Any
    storage_lower: Any
    storage_upper: Any
    start: Any
    cost_below: Any
    cost_above: Any
    rounding: Any


def record_of(training: Training, months: Months, forecast: Forecast) -> RecordArrays:
    """The training years one after the other, from where the plan begins the first; each member from there anew."""

    def every_year(by_step: ArrayLike) -> NDArray[np.float64]:
        return np.tile(np.asarray(by_step, np.float64), training.years)

    plant, inflow = training.model.reservoir, training.inflow_m3s.flatten()
    storage_lower, storage_upper = map(every_year, plant.storage_bounds_hm3)
    cost_below, cost_above = map(every_year, violation_costs(plant))
    restarts = np.zeros(inflow.size)
    restarts[training.first_years[1:] * training.steps] = 1.0
    return RecordArrays(
        restarts,
        inflow,
        training.inflow_before_m3s.flatten(),
        training.hm3_per_m3s.flatten(),
        inflow if forecast is Forecast.MONTH else every_year(months.inflow_m3s),
        every_year(months.volume_per_flow),
        every_year(months.release_lower_m3s),
        every_year(months.release_upper_m3s),
        storage_lower,
        storage_upper,
        training.start_hm3,
        cost_below,
        cost_above,
        ROUNDING * float(plant.storage_upper_hm3.max()),
    )


def violation_costs(plant: Reservoir) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a hm3 below and above the storage bounds costs at the end of each step, GWh (eq. 20-21)."""
    capacity = float(plant.storage_upper_hm3.max())
    below, above = (plant.penalty / violation_scale(bound, capacity) for bound in plant.storage_bounds_hm3)
    return below, above


def followed_by(
    record: RecordArrays, inflow_m3s: NDArray[np.float64], months: Months, forecast: Forecast
) -> RecordArrays:
    """A record with more years behind it, shape (years, steps), in months as a rule knows them."""
    steps, more = inflow_m3s.shape[1], inflow_m3s.ravel()
    volume = np.tile(months.volume_per_flow, len(inflow_m3s))
    added = {
        "restarts": np.zeros(more.size),
        "inflow": more,
        "inflow_before": np.concatenate([record.inflow[-1:], more[:-1]]),
        "hm3_per_m3s": volume,
        "expected_inflow": more if forecast is Forecast.MONTH else np.tile(months.inflow_m3s, len(inflow_m3s)),
        "expected_hm3_per_m3s": volume,
    }
    bounds = ("release_lower", "release_upper", "storage_lower", "storage_upper", "cost_below", "cost_above")
    added |= {name: np.tile(getattr(record, name)[:steps], len(inflow_m3s)) for name in bounds}
    return record._replace(**{name: np.concatenate([getattr(record, name), each]) for name, each in added.items()})


def stored_gwh_per_hm3(training: Training) -> float:
    """Energy that a hm3 in store would make, between the extreme storages at the plan's mean release."""
    plant = training.model.reservoir
    lowest, highest = float(plant.storage_lower_hm3.min()), float(plant.storage_upper_hm3.max())
    value = stored_energy_gwh(training.model.reservoir, highest, lowest, training.release_m3s.mean())
    return float(value) / max(highest - lowest, 1e-9)


@inlined
def generated(
    plant: Plant, record: RecordArrays, step: int, storage: float, asked: float
) -> tuple[float, float, float]:
    """Energy (GWh) of a step, storage at its end and cost of what that is outside its bounds.

    The release asked for is within its own bounds.
    """
    lower, upper = record.storage_lower[step], record.storage_upper[step]
    per_flow, bounds = record.hm3_per_m3s[step], (record.release_lower[step], record.release_upper[step])
    release, end = enforce_limits(storage, asked, record.inflow[step], per_flow, (lower, upper), bounds)
    power = power_at(plant, mean(storage, end), release)
    cost = 0.0
    if end < lower - record.rounding:
        cost = (lower - end) * record.cost_below[step]
    elif end > upper + record.rounding:
        cost = (end - upper) * record.cost_above[step]
    return in_objective_unit(NO_TERMS, stage_benefit(NO_TERMS, power, release, per_flow)), end, cost
