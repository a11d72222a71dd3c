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
from reservoir.hydro.rows import YearRows
from reservoir.hydro.step import enforce_limits, power_at, unmet_minimum, violation_scale
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import ROUNDING, Training


class RecordArrays(NamedTuple):
    """Consecutive years as compiled code reads them; arrays of shape (years * steps,).

    ``restarts`` is 1 at the first step of every member of an ensemble but the first: there the storage is that of
    the start again, and what was stored is counted. ``inflow`` is less the withdrawal demanded; ``inflow_now`` and
    ``inflow_before`` are what a rule may be told, ``expected_inflow``, less the losses expected, and
    ``expected_hm3_per_m3s`` what it reckons with. ``least_draft`` is the least release, less the withdrawal that can be
    cut. Storage bounds are those at the end of each step, ``start`` is the storage at the first. ``cost_below`` and
    ``cost_above`` are what a hm3 outside the storage bounds costs, ``penalty`` what a relative violation of 1 does, in
    the unit of the objective (eq. 20-21); outside by less than ``rounding`` hm3 is within. ``dead`` and ``per_missing``
    are those of a year, ``conditions`` and ``terms`` one year of all these steps (`YearRows`), or nothing.
    """

    restarts: Any
    inflow: Any
    inflow_now: Any
    inflow_before: Any
    hm3_per_m3s: Any
    expected_inflow: Any
    expected_hm3_per_m3s: Any
    least_draft: Any
    release_lower: Any
    release_upper: Any
    storage_lower: Any
    storage_upper: Any
    start: Any
    cost_below: Any
    cost_above: Any
    penalty: Any
    rounding: Any
    dead: Any
    per_missing: Any
    conditions: Any
    terms: Any


def record_of(training: Training, months: Months, forecast: Forecast) -> RecordArrays:
    """The training years one after the other, from where the plan begins the first; each member from there anew."""

    def every_year(by_step: ArrayLike) -> NDArray[np.float64]:
        return np.tile(np.asarray(by_step, np.float64), training.years)

    plant, inflow = training.model.reservoir, training.inflow_m3s.flatten()
    year = training.limits.joined(training.years)[0].arrays()  # one of all steps: nothing is said of reachable bounds
    cost_below, cost_above = map(every_year, violation_costs(plant))
    restarts = np.zeros(inflow.size)
    restarts[training.first_years[1:] * training.steps] = 1.0
    return RecordArrays(
        restarts,
        year.inflow,
        inflow,
        training.inflow_before_m3s.flatten(),
        year.hm3_per_m3s,
        (inflow if forecast is Forecast.MONTH else every_year(months.inflow_m3s)) - every_year(months.loss_m3s),
        every_year(months.volume_per_flow),
        year.release_lower,
        training.limits.release_lower_m3s.flatten(),
        year.release_upper,
        year.storage_lower,
        year.storage_upper,
        training.start_hm3,
        cost_below,
        cost_above,
        float(plant.penalty),
        ROUNDING * float(plant.storage_upper_hm3.max()),
        year.dead,
        year.per_missing,
        year.conditions,
        year.terms,
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

    Losses, demands and the terms of the objective are the means of the record's years.
    """
    years, steps = inflow_m3s.shape
    more, volume = inflow_m3s.ravel(), np.tile(months.volume_per_flow, years)
    known = more if forecast is Forecast.MONTH else np.tile(months.inflow_m3s, years)

    def mean_year(by_step: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tile(by_step.reshape(-1, steps).mean(axis=0), years)

    added = {
        "restarts": np.zeros(more.size),
        "inflow": more - mean_year(record.inflow_now - record.inflow),
        "inflow_now": more,
        "inflow_before": np.concatenate([record.inflow_now[-1:], more[:-1]]),
        "hm3_per_m3s": volume,
        "expected_inflow": known - np.tile(months.loss_m3s, years),
        "expected_hm3_per_m3s": volume,
        "least_draft": mean_year(record.least_draft),
    }
    bounds = ("release_lower", "release_upper", "storage_lower", "storage_upper", "cost_below", "cost_above")
    added |= {name: np.tile(getattr(record, name)[:steps], years) for name in bounds}

    def with_means(year: YearRows) -> YearRows:
        """One year of all steps, and behind it more years, which are its mean."""
        means = year.rows.reshape(len(year.rows), -1, steps).mean(axis=1)
        return year._replace(rows=np.concatenate([year.rows, np.tile(means, years)], axis=1))

    further = {name: getattr(record, name) and with_means(getattr(record, name)) for name in ("conditions", "terms")}
    return record._replace(
        **{name: np.concatenate([getattr(record, name), values]) for name, values in added.items()}, **further
    )


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
    conditions, terms = record.conditions, record.terms
    lower, upper = record.storage_lower[step], record.storage_upper[step]
    per_flow, bounds = record.hm3_per_m3s[step], (record.least_draft[step], record.release_upper[step])
    inflow, dead = record.inflow[step], record.dead
    draft, end = enforce_limits(storage, asked, inflow, per_flow, (lower, upper), bounds, dead, conditions, step)
    release = released(conditions, step, draft, record.least_draft[step])
    power = power_at(plant, mean(storage, end), release, conditions, step)
    missed = unmet(conditions, step, draft, release, release) + unmet_power(conditions, step, power)
    cost = record.penalty * (missed + unmet_minimum(draft, bounds[0], record.per_missing * per_flow))
    decided = max(end, dead)
    if decided < lower - record.rounding:
        cost += (lower - decided) * record.cost_below[step]
    elif end > upper + record.rounding:
        cost += (end - upper) * record.cost_above[step]
    return in_objective_unit(terms, stage_benefit(terms, step, power, release, per_flow)), end, cost
