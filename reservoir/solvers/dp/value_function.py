"""The value function of dynamic programming: what the remaining steps are worth from each storage of a grid.

In `recursion.bellman` a step ends at a state of the grid: enough for a trajectory, which finer grids then improve. The
slope of the value needs more. Here a step ends at any storage, and between two states the value is a straight line.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import YearArrays, violation_at
from reservoir.hydro.conditions import conditions_at
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import release_to_reach
from reservoir.hydro.step_value import step_value, value_of_little_water
from reservoir.solvers.dp.recursion import cell_of, nearest_state, reachable_ends, value_between

FloatArray = NDArray[np.float64]

#: Of the states that a step can end at, every third is tried; golden section then searches between the two tried on
#: either side of the best.
_STRIDE = 3
#: Shorter part of a golden section, and how often an interval is divided: to less than a thousandth of it.
_SHORTER, _DIVISIONS = 0.3819660112501051, 17


@compiled
def value_function(
    plant: Plant, year: YearArrays, grid: FloatArray, penalty: float, first_step: int, values: FloatArray
) -> None:
    """Backward recursion over some steps of a year that is not cyclic.

    The best of some states, and of the lowest and highest storage that a step can end at, is found first, then the best
    storage near it by golden section. From a storage with no end within the bounds of the release, the nearest state is
    taken at a penalty, as in `bellman`.

    Parameters
    ----------
    grid : ndarray, shape (steps + 1, states)
        Storages at the start of each step and at the end of the last; rows never fall, and need not be even.
    first_step : int
        First of the steps.
    values : ndarray, shape (steps + 1, states)
        Value (GWh) at the start of each step, which is filled in, and at the end of the last, which is given.
    """
    states = grid.shape[1]
    for place in range(len(grid) - 2, -1, -1):
        step, row, later = first_step + place, grid[place + 1], values[place + 1]
        rounding = 1e-12 * (abs(grid[place, states - 1]) + 1.0) / year.hm3_per_m3s[step]
        for state in range(states):
            storage = grid[place, state]
            lowest, highest = reachable_ends(year, step, storage, rounding)
            lowest, highest = max(lowest, row[0], min(year.dead, row[states - 1])), min(highest, row[states - 1])
            if lowest <= highest:
                values[place, state] = best_value(plant, year, step, storage, lowest, highest, penalty, row, later)
                continue
            little, end, energy, unmet_here = value_of_little_water(plant, year, step, storage)
            if little:
                violation = violation_at(year, step, end, end) + unmet_here
                values[place, state] = energy - penalty * violation + value_between(row, later, end)
            else:
                choice, violation = nearest_state(year, step, storage, row)
                values[place, state] = later[choice] - penalty * violation


@inlined
def best_value(
    plant: Plant,
    year: YearArrays,
    step: int,
    storage: float,
    lowest: float,
    highest: float,
    penalty: float,
    row: FloatArray,
    later: FloatArray,
) -> float:
    """Value of a storage with the best end of the step between two."""
    low, high = lowest, highest
    best = _value_with(plant, year, step, storage, lowest, penalty) + value_between(row, later, lowest)
    of_highest = _value_with(plant, year, step, storage, highest, penalty) + value_between(row, later, highest)
    last = len(row) - 1
    first_inside = cell_of(row, lowest) + 1
    high = min(row[min(first_inside + _STRIDE, last)], highest)
    for following in range(first_inside, last + 1, _STRIDE):
        end = row[following]
        if end >= highest:
            break
        value = _value_with(plant, year, step, storage, end, penalty) + later[following]
        if value > best:
            best = value
            low, high = max(row[max(following - _STRIDE, 0)], lowest), min(row[min(following + _STRIDE, last)], highest)
    if of_highest > best:
        best = of_highest
        low, high = max(row[max(cell_of(row, highest) - _STRIDE, 0)], lowest), highest
    left, right = low + _SHORTER * (high - low), high - _SHORTER * (high - low)
    of_left = _value_with(plant, year, step, storage, left, penalty) + value_between(row, later, left)
    of_right = _value_with(plant, year, step, storage, right, penalty) + value_between(row, later, right)
    for _ in range(_DIVISIONS):
        if of_left > of_right:
            high, right, of_right = right, left, of_left
            left = low + _SHORTER * (high - low)
            of_left = _value_with(plant, year, step, storage, left, penalty) + value_between(row, later, left)
        else:
            low, left, of_left = left, right, of_right
            right = high - _SHORTER * (high - low)
            of_right = _value_with(plant, year, step, storage, right, penalty) + value_between(row, later, right)
    return max(best, of_left, of_right)


@inlined
def _value_with(plant: Plant, year: YearArrays, step: int, storage: float, end: float, penalty: float) -> float:
    """Energy of a step that ends at a storage, less the cost of violations."""
    conditions = conditions_at(year.conditions, step)
    draft = release_to_reach(storage, end, year.inflow[step], year.hm3_per_m3s[step], conditions)
    energy, unmet_here = step_value(plant, year, step, storage, end, draft)
    value: float = energy - penalty * (violation_at(year, step, end, end) + unmet_here)
    return value
