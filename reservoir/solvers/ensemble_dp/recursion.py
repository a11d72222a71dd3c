"""Bellman's recursion over the futures of an ensemble: compiled, on CPU threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled, let_compiled_code_call
from reservoir.runtime import processors
from reservoir.solvers.ensemble_dp import step as step_of
from reservoir.solvers.ensemble_dp.step import Float32Array, StepTables, TableArrays

let_compiled_code_call(step_of)


def compiled_values(
    tables: StepTables, inflow: Float32Array, first_step: NDArray[np.int32], ends: Float32Array
) -> Float32Array:
    """See `reservoir.solvers.ensemble_dp.engine.ensemble_values`; futures are shared among threads."""
    arrays, futures = tables.in_float32(), len(inflow)
    values = np.empty((futures, tables.states), np.float32)
    threads = min(processors(), futures)
    edges = np.linspace(0, futures, threads + 1).astype(np.int64)

    def solved(thread: int) -> None:
        work = np.empty((2, tables.states), np.float32)
        part = slice(edges[thread], edges[thread + 1])
        backward(arrays, inflow[part], first_step[part], ends[part], work, values[part])

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(solved, range(threads)))
    return values


@compiled
def backward(
    tables: TableArrays,
    inflow: Float32Array,
    first_step: NDArray[np.int32],
    ends: Float32Array,
    work: Float32Array,
    values: Float32Array,
) -> None:
    """Value of each storage at the start of each future, shape (futures, states); `work` has shape (2, states)."""
    states, steps = values.shape[1], tables.scalars.shape[0]
    for future in range(values.shape[0]):
        for state in range(states):
            work[0, state] = ends[future, state]
        row = 0
        for month in range(inflow.shape[1] - 1, -1, -1):
            step = (first_step[future] + month) % steps
            for state in range(states):
                storage = tables.lowest + np.float32(state) * tables.spacing
                work[1 - row, state] = step_of.best_value(tables, step, storage, inflow[future, month], work[row], 0)
            row = 1 - row
        for state in range(states):
            values[future, state] = work[row, state]
