"""Bellman's recursion over the futures of an ensemble, as ``kernels/solvers/ensemble_dp/ensemble_values.cl`` has it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.processors import processors
from reservoir.solvers.ensemble_dp.tables import StepTables, TableArrays

Float32Array = NDArray[np.float32]

#: Drafts that are compared: at even distances over the whole range, then between the neighbours of the best.
INTERVALS, ROUNDS = 8, 3
#: Iterations for the storage at the end of a step with losses.
LOSS_ROUNDS = 3
_ZERO: Any = np.float32(0)


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
                work[1 - row, state] = best_value(tables, step, storage, inflow[future, month], work[row])
            row = 1 - row
        for state in range(states):
            values[future, state] = work[row, state]


@inlined
def best_value(tables: TableArrays, step: int, storage: Any, inflow: Any, later: Float32Array) -> Any:
    """Value of a storage at the start of a step: the best of the drafts between what fills and what empties."""
    low = draft_to_reach(tables, step, storage, tables.scalars[step, 5], inflow)
    high = draft_to_reach(tables, step, storage, tables.scalars[step, 4], inflow)
    chosen: Any = low
    most: Any = value_of_draft(tables, step, storage, low, inflow, later)
    for searching in range(ROUNDS):
        width = (high - low) / np.float32(INTERVALS)
        begin = low
        for interval in range(1, INTERVALS + (1 if searching == 0 else 0)):
            draft = begin + np.float32(interval) * width
            value = value_of_draft(tables, step, storage, draft, inflow, later)
            if value > most:
                chosen, most = draft, value
        low, high = max(chosen - width, low), min(chosen + width, high)
    return most


@inlined
def draft_to_reach(tables: TableArrays, step: int, storage: Any, end: Any, inflow: Any) -> Any:
    """Draft that a step ends at a storage with, within its bounds."""
    lost: Any = loss_at(tables, step, mean(storage, end)) if tables.lossy else _ZERO
    wanted = inflow + (storage - end - lost) * tables.scalars[step, 1]
    found: Any = clip(wanted, tables.scalars[step, 2], tables.scalars[step, 3])
    return found


@inlined
def value_of_draft(tables: TableArrays, step: int, storage: Any, draft: Any, inflow: Any, later: Float32Array) -> Any:
    """What a draft makes in a step, and the value of the storage that it leaves."""
    lossless = storage + (inflow - draft) * tables.scalars[step, 0]
    end = lossless
    if tables.lossy:
        for _ in range(LOSS_ROUNDS):
            end = lossless - loss_at(tables, step, mean(storage, end))
    made = benefit_at(tables, step, mean(storage, end), draft)
    below = tables.scalars[step, 4] - tables.rounding - end
    above = end - tables.scalars[step, 5] - tables.rounding
    cost = max(below, _ZERO) * tables.scalars[step, 6] + max(above, _ZERO) * tables.scalars[step, 7]
    left: Any = between(later, (end - tables.lowest) * tables.states_per_hm3)
    return made - cost + left


@inlined
def loss_at(tables: TableArrays, step: int, mean_storage: Any) -> Any:
    """Evaporation and seepage, hm3."""
    found: Any = between(tables.losses[step], (mean_storage - tables.lowest) * tables.means_per_hm3)
    return found


@inlined
def benefit_at(tables: TableArrays, step: int, mean_storage: Any, draft: Any) -> Any:
    """Benefit of a draft at a mean storage."""
    means, drafts = tables.benefit.shape[1], tables.benefit.shape[2]
    row: Any = clip((mean_storage - tables.lowest) * tables.means_per_hm3, _ZERO, np.float32(means - 1))
    column: Any = clip(draft * tables.drafts_per_m3s, _ZERO, np.float32(drafts - 1))
    above, left = min(int(row), means - 2), min(int(column), drafts - 2)
    down, right = row - np.float32(above), column - np.float32(left)
    upper: Any = tables.benefit[step, above, left]
    upper += right * (tables.benefit[step, above, left + 1] - upper)
    lower: Any = tables.benefit[step, above + 1, left]
    lower += right * (tables.benefit[step, above + 1, left + 1] - lower)
    found: Any = upper + down * (lower - upper)
    return found


@inlined
def between(values: Float32Array, place: Any) -> Any:
    """Value at a place between even points, held at the ends."""
    last = len(values) - 1
    held: Any = clip(place, _ZERO, np.float32(last))
    left = min(int(held), last - 1)
    found: Any = values[left] + (held - np.float32(left)) * (values[left + 1] - values[left])
    return found
