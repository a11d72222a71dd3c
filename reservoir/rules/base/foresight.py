"""The upper bounds that rules are held against: perfect foresight, and what stored water is worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import YearLimits, open_year
from reservoir.hydro.objective import Operation
from reservoir.hydro.power import specific_power_curve
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
    head = model.reservoir.level(storages) - model.reservoir.tailrace(release_m3s)
    return -float(np.trapezoid(specific_power_curve(model.reservoir)(head), storages)) * GWH_PER_MW_VOLUME


def _whole_record(model: ReservoirModel, inflow: Inflow, start: float, end: float) -> YearLimits:
    years = [
        open_year(model.reservoir, flow, volume)
        for flow, volume in zip(inflow.flow_m3s, inflow.calendar.hm3_per_m3s, strict=True)
    ]
    lower, upper = _joined(years, "storage_lower_hm3"), _joined(years, "storage_upper_hm3")
    lower[-1] = upper[-1] = end
    return YearLimits(
        _joined(years, "inflow_m3s"),
        _joined(years, "hm3_per_m3s"),
        _joined(years, "release_lower_m3s"),
        _joined(years, "release_upper_m3s"),
        lower,
        upper,
        start,
        (start, start),
    )


def _joined(years: list[YearLimits], name: str) -> FloatArray:
    return np.concatenate([getattr(year, name) for year in years])
