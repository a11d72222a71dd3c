"""Perfect foresight, which rules are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears
from reservoir.solvers import Progress, solve
from reservoir.solvers.base.progress import silent

FloatArray = NDArray[np.float64]


def foresight_over_record(
    model: ReservoirModel, inflow: Inflow, start_hm3: float, end_hm3: float, progress: Progress = silent
) -> Operation:
    """Operate a whole record, or each member of an ensemble, with perfect foresight: dynamic programming.

    Parameters
    ----------
    model : ReservoirModel
    inflow : Inflow
        Consecutive years.
    start_hm3, end_hm3 : float
        Storage at the start and at the end of the record, or of every member.

    Returns
    -------
    Operation
        With one step a month of the record; of an ensemble, a row for each member.
    """
    each = inflow.years // inflow.member_count
    records = open_limits(model.reservoir, inflow).joined(each)
    labels = tuple(f"{inflow.labels[at]} to {inflow.labels[at + each - 1]}" for at in range(0, inflow.years, each))
    found = _foresight(model, records, labels, start_hm3, end_hm3, progress)
    return found[0] if inflow.members is None else found


def foresight_in_years(
    model: ReservoirModel, inflow: Inflow, start_hm3: float, end_hm3: float, progress: Progress = silent
) -> Operation:
    """Operate every year of a record by itself with perfect foresight; as `foresight_over_record`, of many years."""
    return _foresight(model, open_limits(model.reservoir, inflow), inflow.labels, start_hm3, end_hm3, progress)


def _foresight(
    model: ReservoirModel, horizons: Limits, labels: Sequence[str], start: float, end: float, progress: Progress
) -> Operation:
    """Dynamic programming over every horizon, from one storage to another."""
    starts = np.full(len(horizons), start)
    fixed = replace(horizons, initial_storage_hm3=starts, start_bounds_hm3=np.stack([starts, starts], axis=-1))
    fixed.storage_lower_hm3[:, -1] = fixed.storage_upper_hm3[:, -1] = end
    problems = ReservoirYears(model, fixed, labels, np.arange(len(labels)))
    found = solve(problems, solver="dp", progress=progress)
    return problems.operate(np.array(list(found.position)))
