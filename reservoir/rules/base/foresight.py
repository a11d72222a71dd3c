"""The upper bounds that rules are held against: perfect foresight, and what stored water is worth."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, open_limits
from reservoir.hydro.objective import Operation
from reservoir.hydro.plant import plant_of
from reservoir.hydro.step import head_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears
from reservoir.solvers import Progress, solve
from reservoir.solvers.base.progress import silent

FloatArray = NDArray[np.float64]

_POINTS = 201


def foresight_over_record(
    model: ReservoirModel, inflow: Inflow, start_hm3: float, end_hm3: float, progress: Progress = silent
) -> Operation:
    """Operate a whole record with perfect foresight: dynamic programming over one long horizon.

    Parameters
    ----------
    model : ReservoirModel
    inflow : Inflow
        Consecutive years.
    start_hm3, end_hm3 : float
        Storage at the start and at the end of the record.

    Returns
    -------
    Operation
        With one step a month of the record.
    """
    years = open_limits(model.reservoir, inflow)
    per_step = (field.name for field in fields(years) if field.name not in ("initial_storage_hm3", "start_bounds_hm3"))
    record = replace(years, **{name: getattr(years, name).reshape(1, -1) for name in per_step})
    return _foresight(model, record, (f"{inflow.labels[0]} to {inflow.labels[-1]}",), start_hm3, end_hm3, progress)[0]


def foresight_in_years(
    model: ReservoirModel, inflow: Inflow, start_hm3: float, end_hm3: float, progress: Progress = silent
) -> Operation:
    """Operate every year of a record by itself with perfect foresight; as `foresight_over_record`, of many years."""
    return _foresight(model, open_limits(model.reservoir, inflow), inflow.labels, start_hm3, end_hm3, progress)


def water_value_gwh(
    model: ReservoirModel, from_hm3: ArrayLike, to_hm3: ArrayLike, release_m3s: ArrayLike
) -> FloatArray:
    """Energy (GWh) that the water between two storages would make, drawn down at a release; negative if `to` is higher.

    The integral over storage of the power of 1 m3/s at the head of that storage. The arguments are broadcast.
    """
    ends = np.asarray(from_hm3, np.float64), np.asarray(to_hm3, np.float64)
    storages = np.ascontiguousarray(np.linspace(*ends, _POINTS, axis=-1))
    plant = plant_of(model.reservoir)
    head = head_at(plant, storages, np.asarray(release_m3s)[..., np.newaxis])
    rate = plant.conversion(head)
    integral = (np.diff(storages) * (rate[..., 1:] + rate[..., :-1]) / 2).sum(axis=-1)  # numpy 1 has no `trapezoid`
    return np.asarray(-integral * GWH_PER_MW_VOLUME)


def _foresight(
    model: ReservoirModel, horizons: Limits, labels: tuple[str, ...], start: float, end: float, progress: Progress
) -> Operation:
    """Dynamic programming over every horizon, from one storage to another."""
    starts = np.full(len(horizons), start)
    fixed = replace(horizons, initial_storage_hm3=starts, start_bounds_hm3=np.stack([starts, starts], axis=-1))
    fixed.storage_lower_hm3[:, -1] = fixed.storage_upper_hm3[:, -1] = end
    problems = ReservoirYears(model, fixed, labels, np.arange(len(labels)))
    found = solve(problems, solver="dp", progress=progress)
    return problems.operate(np.array(list(found.position)))
