"""A step of Bellman's recursion over the futures of an ensemble, as ``ensemble_values.cl`` has it.

Written in the operations of `hydro.elementwise`: on arrays of futures and storages in Python, on numbers in compiled
code (`recursion`). All in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import choose, clip, greater, lesser, mean, whole
from reservoir.solvers.ensemble_dp.tables import TableArrays

Float32Array = NDArray[np.float32]

#: Drafts that are compared: at even distances over the whole range, then between the neighbours of the best.
INTERVALS, ROUNDS = 8, 3
#: Iterations for the storage at the end of a step with losses.
LOSS_ROUNDS = 3
_ZERO: Any = np.float32(0)


def best_value(tables: TableArrays, step: Any, storage: Any, inflow: Any, later: Float32Array, first: Any) -> Any:
    """Value of a storage at the start of a step: the best of the drafts between what fills and what empties.

    Parameters
    ----------
    tables : TableArrays
    step : int
    storage, inflow : float
    later : ndarray, shape (values,)
        Values of the storages at the end of the step, one future behind the other.
    first : int
        Place of the future's first value.
    """
    low: Any = draft_to_reach(tables, step, storage, tables.scalars[step, 5], inflow)
    high: Any = draft_to_reach(tables, step, storage, tables.scalars[step, 4], inflow)
    chosen: Any = low
    most: Any = value_of_draft(tables, step, storage, low, inflow, later, first)
    for searching in range(ROUNDS):
        width = (high - low) / np.float32(INTERVALS)
        begin = low
        for interval in range(1, INTERVALS + (1 if searching == 0 else 0)):
            draft = begin + np.float32(interval) * width
            value: Any = value_of_draft(tables, step, storage, draft, inflow, later, first)
            better = value > most
            chosen, most = choose(better, draft, chosen), choose(better, value, most)
        low, high = greater(chosen - width, low), lesser(chosen + width, high)
    return most


def draft_to_reach(tables: TableArrays, step: Any, storage: Any, end: Any, inflow: Any) -> Any:
    """Draft that a step ends at a storage with, within its bounds."""
    lost: Any = loss_at(tables, step, mean(storage, end)) if tables.lossy else _ZERO
    wanted = inflow + (storage - end - lost) * tables.scalars[step, 1]
    return clip(wanted, tables.scalars[step, 2], tables.scalars[step, 3])


def value_of_draft(
    tables: TableArrays, step: Any, storage: Any, draft: Any, inflow: Any, later: Float32Array, first: Any
) -> Any:
    """What a draft makes in a step, and the value of the storage that it leaves."""
    lossless = storage + (inflow - draft) * tables.scalars[step, 0]
    end = lossless
    if tables.lossy:
        for _ in range(LOSS_ROUNDS):
            end = lossless - loss_at(tables, step, mean(storage, end))
    made = benefit_at(tables, step, mean(storage, end), draft)
    below = tables.scalars[step, 4] - tables.rounding - end
    above = end - tables.scalars[step, 5] - tables.rounding
    cost = greater(below, _ZERO) * tables.scalars[step, 6] + greater(above, _ZERO) * tables.scalars[step, 7]
    left: Any = between(later, first, tables.states, (end - tables.lowest) * tables.states_per_hm3)
    return made - cost + left


def loss_at(tables: TableArrays, step: Any, mean_storage: Any) -> Any:
    """Evaporation and seepage, hm3."""
    place = (mean_storage - tables.lowest) * tables.means_per_hm3
    return between(tables.losses, step * tables.means, tables.means, place)


def benefit_at(tables: TableArrays, step: Any, mean_storage: Any, draft: Any) -> Any:
    """Benefit of a draft at a mean storage."""
    means, drafts = tables.means, tables.drafts
    row: Any = clip((mean_storage - tables.lowest) * tables.means_per_hm3, _ZERO, np.float32(means - 1))
    column: Any = clip(draft * tables.drafts_per_m3s, _ZERO, np.float32(drafts - 1))
    above, left = lesser(whole(row), means - 2), lesser(whole(column), drafts - 2)
    down, right = row - np.float32(above), column - np.float32(left)
    place = (step * means + above) * drafts + left
    upper: Any = tables.benefit[place]
    upper = upper + right * (tables.benefit[place + 1] - upper)
    lower: Any = tables.benefit[place + drafts]
    lower = lower + right * (tables.benefit[place + drafts + 1] - lower)
    return upper + down * (lower - upper)


def between(values: Float32Array, first: Any, count: int, place: Any) -> Any:
    """Value at a place between even points, of which so many begin at `first`; held at the ends."""
    held: Any = clip(place, _ZERO, np.float32(count - 1))
    left = lesser(whole(held), count - 2)
    at: Any = first + left
    low: Any = values[at]
    return low + (held - np.float32(left)) * (values[at + 1] - low)
