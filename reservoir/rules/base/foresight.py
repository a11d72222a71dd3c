"""The upper bounds that rules are held against: perfect foresight, and what stored water is worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, open_limits
from reservoir.hydro.objective import Operation
from reservoir.hydro.plant import plant_of
from reservoir.hydro.step import head_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYear
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
    horizon = _whole_record(model, inflow, start_hm3, end_hm3)
    label = f"{inflow.labels[0]} to {inflow.labels[-1]}"
    problem = ReservoirYear(model, horizon, label, inflow.calendar.first_year)
    (found,) = solve([problem], solver="dp", progress=progress)
    return problem.operate(found.position)


def water_value_gwh(model: ReservoirModel, from_hm3: float, to_hm3: float, release_m3s: float) -> float:
    """Energy (GWh) that the water between two storages would make, drawn down at a release; negative if `to` is higher.

    The integral over storage of the power of 1 m3/s at the head of that storage.
    """
    storages = np.linspace(from_hm3, to_hm3, _POINTS)
    plant = plant_of(model.reservoir)
    head = head_at(plant, storages, release_m3s)
    return -float(np.trapezoid(plant.conversion(head), storages)) * GWH_PER_MW_VOLUME


def _whole_record(model: ReservoirModel, inflow: Inflow, start: float, end: float) -> Limits:
    """The years of a record one after the other, as one year from `start` to `end`."""
    years = open_limits(model.reservoir, inflow)
    per_step = {
        name: array.reshape(-1)
        for name, array in vars(years).items()
        if name not in ("initial_storage_hm3", "start_bounds_hm3")
    }
    per_step["storage_lower_hm3"][-1] = per_step["storage_upper_hm3"][-1] = end
    return Limits(**per_step, initial_storage_hm3=np.array(start), start_bounds_hm3=np.array([start, start]))
