"""Bellman's recursion over a grid of storages, and the trajectory that it chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import step_value, value_of_little_water, violation_at
from reservoir.hydro.conditions import end_value, released, unmet
from reservoir.hydro.elementwise import clip
from reservoir.hydro.jit import compiled, compiled_part, inlined, let_compiled_code_call
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import DEAD, HM3_PER_M3S, INFLOW, RELEASE_LOWER, RELEASE_UPPER, YearRows
from reservoir.hydro.step import release_to_reach, storage_after
from reservoir.solvers.dp import beyond as _beyond
from reservoir.solvers.dp.beyond import worth_beyond
from reservoir.solvers.dp.free_flow import best_flow, net_bounds

FloatArray = NDArray[np.float64]
let_compiled_code_call(_beyond)


@compiled
def bellman(
    plant: Plant,
    year: YearRows,
    grid: FloatArray,
    penalty: float,
    values: FloatArray,
    choices: NDArray[np.integer],
    violations: FloatArray,
    beyond: Any,
) -> int:
    """Backward recursion: best value from every storage of the grid, and the next storage that gives it.

    Rows of `grid` rise. From a storage with too little water for the least draft, or for losses, a step ends where that
    leaves it, with the value between two states. From another with no next one on the grid within the bounds of the
    release, the nearest is taken at a penalty. `violations` has room for a number a state. ``beyond`` is
    what steps are worth to other reservoirs (`beyond.Beyond`), or nothing.
    """
    steps, states = choices.shape
    tried, empty = 0, year.numbers[DEAD] - 1e-9 * (abs(year.numbers[DEAD]) + 1.0)
    for state in range(states):
        values[steps, state] = end_value(year, grid[0, 0], grid[steps, state])
    for step in range(steps - 1, -1, -1):
        per_flow, inflow = year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
        least = year.rows[RELEASE_LOWER, step]
        rounding = 1e-12 * (abs(grid[step, states - 1]) + 1.0) / per_flow
        for state in range(states):
            violations[state] = violation_at(year, step, grid[step + 1, state], grid[step + 1, state])
        first = 0
        while first < states and grid[step + 1, first] < empty:  # only losses lead below dead storage
            first += 1
        for state in range(states):
            storage = grid[step, state]
            best, choice = -np.inf, 0
            # What is too low to follow this storage is too low for all higher ones.
            while first < states and draft_above(year, step, storage, grid[step + 1, first]) > rounding:
                first += 1
            for following in range(first, states):
                end = grid[step + 1, following]
                draft = release_to_reach(storage, end, inflow, per_flow, year, step)
                if least - draft > rounding:
                    break
                tried += 1
                energy, unmet_here = step_value(plant, year, step, storage, end, draft)
                value = energy - penalty * (violations[following] + unmet_here) + values[step + 1, following]
                value += worth_beyond(beyond, plant, year, step, storage, end, draft)
                if value > best:
                    best, choice = value, following
            if best == -np.inf:
                row, later = grid[step + 1], values[step + 1]
                little, end, energy, unmet_here = _with_little_water(plant, year, step, storage)
                if little:
                    violation = violation_at(year, step, end, end) + unmet_here
                    best, choice = energy - penalty * violation + value_between(row, later, end), nearest_to(row, end)
                elif row[0] < empty:
                    # Between a state below dead storage, to which no release leads, and one that is too high.
                    ends = reachable_ends(year, step, storage, rounding, ())
                    for end in (max(ends[0], year.numbers[DEAD]), ends[1]):
                        value = _value_with(plant, year, step, storage, end, penalty, ()) + value_between(
                            row, later, end
                        )
                        if value > best:
                            best, choice = value, nearest_to(row, end)
                else:
                    choice, violation = nearest_state(year, step, storage, row)
                    best = later[choice] - penalty * violation
            values[step, state] = best
            choices[step, state] = choice
    return tried


@compiled_part
def _with_little_water(plant: Plant, year: YearRows, step: int, storage: float) -> tuple[bool, float, float, float]:
    """As `value_of_little_water`, which few states need."""
    return value_of_little_water(plant, year, step, storage)


@inlined
def nearest_to(row: FloatArray, storage: float) -> int:
    """State nearest to a storage."""
    choice = 0
    for state in range(1, len(row)):
        if abs(row[state] - storage) < abs(row[choice] - storage):
            choice = state
    return choice


@inlined
def cell_of(row: FloatArray, storage: float) -> int:
    """Last state but one, or an earlier one, that is not above a storage."""
    low, high = 0, len(row) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if row[middle] <= storage:
            low = middle
        else:
            high = middle
    return low


@inlined
def value_between(row: FloatArray, values: FloatArray, storage: float) -> float:
    """Value on the line between two states; beyond the row, that of its end."""
    left = cell_of(row, storage)
    width = row[left + 1] - row[left]
    part = min(max((storage - row[left]) / width, 0.0), 1.0) if width > 0 else 0.0
    value: float = values[left] + part * (values[left + 1] - values[left])
    return value


@inlined
def reachable_ends(year: YearRows, step: int, storage: float, rounding_m3s: float, free: Any) -> tuple[float, float]:
    """Lowest and highest storage that a step can end at, its release beyond its bounds by no more than rounding."""
    per_flow, inflow = year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
    least, most = net_bounds(free, year, step)
    lowest = storage_after(storage, inflow, most + rounding_m3s, per_flow, year, step)
    highest = storage_after(storage, inflow, least - rounding_m3s, per_flow, year, step)
    return lowest, highest


@inlined
def draft_above(year: YearRows, step: int, storage: float, end: float) -> float:
    """By how much the draft between two storages is more than the most, m3/s."""
    draft: float = release_to_reach(storage, end, year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], year, step)
    most: float = year.rows[RELEASE_UPPER, step]
    return draft - most


@inlined
def nearest_state(year: YearRows, step: int, storage: float, row: FloatArray) -> tuple[int, float]:
    """State whose draft is nearest to its bounds, where none is within them, and the violation of a step to it."""
    per_flow, inflow = year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
    least, most = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
    choice, nearest = 0, np.inf
    for following in range(len(row)):
        draft = release_to_reach(storage, row[following], inflow, per_flow, year, step)
        beyond = max(draft - most, least - draft)
        if beyond < nearest:
            nearest, choice = beyond, following
    draft = clip(release_to_reach(storage, row[choice], inflow, per_flow, year, step), least, most)
    release = released(year, step, draft, least)
    return choice, nearest * per_flow / max(abs(storage), 1.0) + unmet(year, step, draft, release, release)


@compiled
def trace(
    year: YearRows,
    grid: FloatArray,
    values: FloatArray,
    choices: NDArray[np.integer],
    storages: FloatArray,
    releases: FloatArray,
) -> None:
    """Follow the choices from the best start."""
    state = 0
    for other in range(1, grid.shape[1]):
        if values[0, other] > values[0, state]:
            state = other
    storages[0] = grid[0, state]
    for step in range(len(releases)):
        state = choices[step, state]
        storages[step + 1] = grid[step + 1, state]
        per_flow = year.rows[HM3_PER_M3S, step]
        release = release_to_reach(storages[step], storages[step + 1], year.rows[INFLOW, step], per_flow, year, step)
        releases[step] = clip(release, year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step])


#: Of the states that a step can end at, every third is tried; golden section then searches between the two tried on
#: either side of the best.
STRIDE = 3
#: Shorter part of a golden section, and how often an interval is divided: to less than a thousandth of it.
SHORTER, DIVISIONS = 0.3819660112501051, 17


@compiled
def value_function(
    plant: Plant, year: YearRows, grid: FloatArray, penalty: float, first_step: int, values: FloatArray
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
        rounding = 1e-12 * (abs(grid[place, states - 1]) + 1.0) / year.rows[HM3_PER_M3S, step]
        for state in range(states):
            storage = grid[place, state]
            lowest, highest = reachable_ends(year, step, storage, rounding, ())
            lowest, highest = (
                max(lowest, row[0], min(year.numbers[DEAD], row[states - 1])),
                min(highest, row[states - 1]),
            )
            if lowest <= highest:
                of_best = best_value(plant, year, step, storage, lowest, highest, penalty, row, later, ())
                values[place, state] = of_best[0]
                continue
            little, end, energy, unmet_here = _with_little_water(plant, year, step, storage)
            if little:
                violation = violation_at(year, step, end, end) + unmet_here
                values[place, state] = energy - penalty * violation + value_between(row, later, end)
            else:
                choice, violation = nearest_state(year, step, storage, row)
                values[place, state] = later[choice] - penalty * violation


@inlined
def best_value(
    plant: Plant,
    year: YearRows,
    step: int,
    storage: float,
    lowest: float,
    highest: float,
    penalty: float,
    row: FloatArray,
    later: FloatArray,
    free: Any,
) -> tuple[float, float]:
    """Value of a storage with the best end of the step between two, and that end."""
    low, high, chosen = lowest, highest, lowest
    best = _value_with(plant, year, step, storage, lowest, penalty, free) + value_between(row, later, lowest)
    of_highest = _value_with(plant, year, step, storage, highest, penalty, free) + value_between(row, later, highest)
    last = len(row) - 1
    first_inside = cell_of(row, lowest) + 1
    high = min(row[min(first_inside + STRIDE, last)], highest)
    for following in range(first_inside, last + 1, STRIDE):
        end = row[following]
        if end >= highest:
            break
        value = _value_with(plant, year, step, storage, end, penalty, free) + later[following]
        if value > best:
            best, chosen = value, end
            low, high = max(row[max(following - STRIDE, 0)], lowest), min(row[min(following + STRIDE, last)], highest)
    if of_highest > best:
        best, chosen = of_highest, highest
        low, high = max(row[max(cell_of(row, highest) - STRIDE, 0)], lowest), highest
    left, right = low + SHORTER * (high - low), high - SHORTER * (high - low)
    of_left = _value_with(plant, year, step, storage, left, penalty, free) + value_between(row, later, left)
    of_right = _value_with(plant, year, step, storage, right, penalty, free) + value_between(row, later, right)
    for _ in range(DIVISIONS):
        if of_left > of_right:
            high, right, of_right = right, left, of_left
            left = low + SHORTER * (high - low)
            of_left = _value_with(plant, year, step, storage, left, penalty, free) + value_between(row, later, left)
        else:
            low, left, of_left = left, right, of_right
            right = high - SHORTER * (high - low)
            of_right = _value_with(plant, year, step, storage, right, penalty, free) + value_between(row, later, right)
    if max(of_left, of_right) > best:
        chosen = left if of_left > of_right else right
    return max(best, of_left, of_right), chosen


@compiled_part  # a step with losses, within code in eight places, would take the compiler six times as long
def _value_with(
    plant: Plant, year: YearRows, step: int, storage: float, end: float, penalty: float, free: Any
) -> float:
    """Energy of a step that ends at a storage, less the cost of violations, at its best free flow if there is one."""
    draft = release_to_reach(storage, end, year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], year, step)
    if len(free) > 0:
        return best_flow(plant, year, step, storage, end, draft, penalty, free)[1]
    energy, unmet_here = step_value(plant, year, step, storage, end, draft)
    value: float = energy - penalty * (violation_at(year, step, end, end) + unmet_here)
    return value
