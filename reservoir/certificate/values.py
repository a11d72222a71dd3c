"""Value tables of the cells' ends, by dynamic programming: a hint, any other table would do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step_value import value_of_little_water
from reservoir.solvers.dp.recursion import reachable_ends
from reservoir.solvers.dp.value_function import best_value

FloatArray = NDArray[np.float64]


@compiled
def fill_values(
    plant: Plant,
    year: YearArrays,
    grid: FloatArray,
    penalty: float,
    short: bool,
    values: FloatArray,
    feasible: NDArray[np.bool_],
) -> None:
    """As `value_function`, but where no limits can be kept on the grid, values go on in a line.

    A cliff there would be steeper than any cell is narrow.

    Parameters
    ----------
    grid : ndarray, shape (steps + 1, states)
        Storages at the start of each step and at the end of the last; rows never fall.
    penalty : float
        Of a violation of demands; limits to release and storage are kept.
    short : bool
        Whether the least release may be missed as well, at this penalty, where there is no more water.
    values : ndarray, shape (steps + 1, states)
        At the end of the last step they are given, all others are filled in.
    feasible : ndarray, shape (states,)
        Room for whether a state has an end.
    """
    states = grid.shape[1]
    for step in range(len(grid) - 2, -1, -1):
        row, later = grid[step + 1], values[step + 1]
        low, high = 0, states - 1  # of the states that the next step can begin with
        if step + 1 < len(grid) - 1:
            while low < states - 1 and not feasible[low]:
                low += 1
            while high > low and not feasible[high]:
                high -= 1
        rounding = 1e-8 * (abs(grid[step, states - 1]) + 1.0) / year.hm3_per_m3s[step]
        for state in range(states):
            storage = grid[step, state]
            if short:
                little, end, benefit, unmet = value_of_little_water(plant, year, step, storage)
                if little:
                    values[step, state] = benefit - penalty * unmet + _on_line(row, later, end)
                    continue
            lowest, highest = reachable_ends(year, step, storage, rounding)
            lowest, highest = max(lowest, row[low], min(year.dead, highest)), min(highest, row[high])
            if lowest <= highest:
                values[step, state] = best_value(plant, year, step, storage, lowest, highest, penalty, row, later)
            else:
                values[step, state] = -np.inf
        for state in range(states):
            feasible[state] = values[step, state] > -np.inf
        _extend(grid[step], values[step], feasible, later)


@inlined
def _on_line(row: FloatArray, values: FloatArray, storage: float) -> float:
    """Value on the line between two states; that of the first or the last beyond them."""
    after = 0
    while after < len(row) and row[after] <= storage:
        after += 1
    if after == 0 or after == len(row):
        beyond: float = values[min(after, len(row) - 1)]
        return beyond
    part = (storage - row[after - 1]) / (row[after] - row[after - 1])
    between: float = values[after - 1] + part * (values[after] - values[after - 1])
    return between


@inlined
def _extend(row: FloatArray, values: FloatArray, feasible: NDArray[np.bool_], later: FloatArray) -> None:
    """Continue the values of states in a line, at both ends; all as those of the next row if there are none."""
    states = len(row)
    first, last = 0, states - 1
    while first < states and not feasible[first]:
        first += 1
    if first == states:
        for state in range(states):
            values[state] = later[state]
        return
    while not feasible[last]:
        last -= 1
    beyond_first, before_last = first + 1, last - 1
    while beyond_first < last and not row[beyond_first] > row[first]:
        beyond_first += 1
    while before_last > first and not row[before_last] < row[last]:
        before_last -= 1
    low = _slope(row, values, first, min(beyond_first, last))
    high = _slope(row, values, max(before_last, first), last)
    for state in range(first):
        values[state] = values[first] + low * (row[state] - row[first])
    for state in range(last + 1, states):
        values[state] = values[last] + high * (row[state] - row[last])


@inlined
def _slope(row: FloatArray, values: FloatArray, low: int, high: int) -> float:
    width = row[high] - row[low]
    slope: float = (values[high] - values[low]) / width if width > 0.0 else 0.0
    return slope
