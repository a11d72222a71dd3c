"""Consecutive years as compiled code operates them, month by month."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.benefit import in_objective_unit, stage_benefit
from reservoir.hydro.conditions import released, unmet, unmet_power
from reservoir.hydro.elementwise import mean
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.power import stored_energy_gwh
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import (
    DEAD,
    HM3_PER_M3S,
    INFLOW,
    PER_MISSING,
    RELEASE_LOWER,
    RELEASE_UPPER,
    STORAGE_LOWER,
    STORAGE_UPPER,
    YearRows,
)
from reservoir.hydro.step import enforce_limits, power_at, unmet_minimum, violation_scale
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import ROUNDING, Training


class RecordArrays(NamedTuple):
    """Consecutive years as compiled code reads them; arrays of shape (years * steps,).

    ``year`` is one year of all their steps. ``restarts`` is 1 at the first step of every member of an ensemble but the
    first: there the storage is that of the start again, and what was stored is counted. ``inflow_now`` and
    ``inflow_before`` are what a rule may be told, ``expected_inflow``, less the losses expected, and
    ``expected_hm3_per_m3s`` what it reckons with; ``release_lower`` is the least release, with the withdrawal that can
    be cut. ``cost_below`` and ``cost_above`` are what a hm3 outside the storage bounds costs, ``penalty`` what a
    relative violation of 1 does, in the unit of the objective (eq. 20-21); outside by less than ``rounding`` hm3 is
    within. ``start`` is the storage at the first step, ``water_value`` what a hm3 left at the end counts.
    """

    year: YearRows
    restarts: Any
    inflow_now: Any
    inflow_before: Any
    expected_inflow: Any
    expected_hm3_per_m3s: Any
    release_lower: Any
    cost_below: Any
    cost_above: Any
    start: Any
    water_value: Any
    penalty: Any
    rounding: Any


def record_of(training: Training, months: Months, forecast: Forecast) -> RecordArrays:
    """The training years one after the other, from where the plan begins the first; each member from there anew."""

    def every_year(by_step: ArrayLike) -> NDArray[np.float64]:
        return np.tile(np.asarray(by_step, np.float64), training.years)

    plant, inflow = training.model.reservoir, training.inflow_m3s.flatten()
    cost_below, cost_above = map(every_year, violation_costs(plant))
    restarts = np.zeros(inflow.size)
    restarts[training.first_years[1:] * training.steps] = 1.0
    return RecordArrays(
        training.limits.joined(training.years)[0].arrays(),  # nothing is said of reachable bounds
        restarts,
        inflow,
        training.inflow_before_m3s.flatten(),
        (inflow if forecast is Forecast.MONTH else every_year(months.inflow_m3s)) - every_year(months.loss_m3s),
        every_year(months.volume_per_flow),
        training.limits.release_lower_m3s.flatten(),
        cost_below,
        cost_above,
        training.start_hm3,
        stored_value_per_hm3(training),
        float(plant.penalty),
        ROUNDING * float(plant.storage_upper_hm3.max()),
    )


def violation_costs(plant: Reservoir) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a hm3 below and above the storage bounds costs at the end of each step, in the objective's unit (eq. 21)."""
    capacity = float(plant.storage_upper_hm3.max())
    below, above = (plant.penalty / violation_scale(bound, capacity) for bound in plant.storage_bounds_hm3)
    return below, above


def followed_by(
    record: RecordArrays, inflow_m3s: NDArray[np.float64], months: Months, forecast: Forecast
) -> RecordArrays:
    """A record with more years behind it, shape (years, steps), in months as a rule knows them.

    Losses, demands and the terms of the objective are the means of the record's years; the highest storages are those
    of the record's year whose mean inflow is nearest, since flood space may depend on the year.
    """
    year, (years, steps) = record.year, inflow_m3s.shape
    more, volume = inflow_m3s.ravel(), np.tile(months.volume_per_flow, years)
    known = more if forecast is Forecast.MONTH else np.tile(months.inflow_m3s, years)
    withdrawn = (record.inflow_now - year.inflow).reshape(-1, steps).mean(axis=0)
    rows = np.tile(year.rows.reshape(len(year.rows), -1, steps).mean(axis=1), years)
    bounds = [RELEASE_UPPER, STORAGE_LOWER]  # the same in all years
    rows[bounds] = np.tile(year.rows[bounds, :steps], years)
    apart = inflow_m3s.mean(axis=1)[:, np.newaxis] - record.inflow_now.reshape(-1, steps).mean(axis=1)
    rows[STORAGE_UPPER] = year.storage_upper.reshape(-1, steps)[np.abs(apart).argmin(axis=1)].ravel()
    rows[INFLOW], rows[HM3_PER_M3S] = more - np.tile(withdrawn, years), volume
    added = {
        "restarts": np.zeros(more.size),
        "inflow_now": more,
        "inflow_before": np.concatenate([record.inflow_now[-1:], more[:-1]]),
        "expected_inflow": known - np.tile(months.loss_m3s, years),
        "expected_hm3_per_m3s": volume,
    }
    added |= {name: np.tile(getattr(record, name)[:steps], years) for name in _OF_ANY_YEAR}
    return record._replace(
        year=year._replace(rows=np.concatenate([year.rows, rows], axis=1)),
        **{name: np.concatenate([getattr(record, name), values]) for name, values in added.items()},
    )


#: Arrays of a record that are the same in all years.
_OF_ANY_YEAR = ("release_lower", "cost_below", "cost_above")


def stored_value_per_hm3(training: Training) -> float:
    """What a hm3 left at the end counts, in the unit of the objective.

    The plan's water value at the end of its problems, where it has one; where a year is planned by itself for energy,
    what the hm3 would make between the extreme storages at the plan's mean release.
    """
    if training.end_value_per_hm3 is not None:
        return training.end_value_per_hm3
    plant = training.model.reservoir
    lowest, highest = float(plant.storage_lower_hm3.min()), float(plant.storage_upper_hm3.max())
    value = stored_energy_gwh(training.model.reservoir, highest, lowest, training.release_m3s.mean())
    return float(value) / max(highest - lowest, 1e-9)


@inlined
def generated(
    plant: Plant, record: RecordArrays, step: int, storage: float, asked: float
) -> tuple[float, float, float]:
    """Benefit of a step, storage at its end and cost of its violations, both in the unit of the objective.

    The release asked for is within its own bounds.
    """
    year, rows, dead = record.year, record.year.rows, record.year.numbers[DEAD]
    lower, upper = rows[STORAGE_LOWER, step], rows[STORAGE_UPPER, step]
    inflow, per_flow = rows[INFLOW, step], rows[HM3_PER_M3S, step]
    bounds = rows[RELEASE_LOWER, step], rows[RELEASE_UPPER, step]
    draft, end = enforce_limits(storage, asked, inflow, per_flow, (lower, upper), bounds, dead, year, step)
    release = released(year, step, draft, bounds[0])
    power = power_at(plant, mean(storage, end), release, year, step)
    missed = unmet(year, step, draft, release, release) + unmet_power(year, step, power)
    cost = record.penalty * (missed + unmet_minimum(draft, bounds[0], year.numbers[PER_MISSING] * per_flow))
    decided = max(end, dead)
    if decided < lower - record.rounding:
        cost += (lower - decided) * record.cost_below[step]
    elif end > upper + record.rounding:
        cost += (end - upper) * record.cost_above[step]
    return in_objective_unit(year, stage_benefit(year, step, power, release, per_flow)), end, cost
