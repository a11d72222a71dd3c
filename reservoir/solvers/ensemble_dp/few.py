"""Bellman's recursion over the futures of a few ensembles, with numpy: all futures and storages at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.ensemble_dp.step import Float32Array, best_value
from reservoir.solvers.ensemble_dp.tables import StepTables


def values_of_few(
    tables: StepTables, inflow: Float32Array, first_step: NDArray[np.int32], ends: Float32Array
) -> Float32Array:
    """See `reservoir.solvers.ensemble_dp.engine.ensemble_values`."""
    arrays, states = tables.in_float32(), tables.states
    storage = (arrays.lowest + np.arange(states, dtype=np.float32) * arrays.spacing)[None]
    first = np.arange(len(inflow))[:, None] * states
    values = np.ascontiguousarray(ends, np.float32)
    for month in range(inflow.shape[1] - 1, -1, -1):
        step = ((first_step + month) % tables.steps)[:, None]
        values = best_value(arrays, step, storage, inflow[:, month, None], values.reshape(-1), first)
    return values
