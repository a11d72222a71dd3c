"""The value of stored water by month: dynamic programming backwards through a year that repeats."""

from __future__ import annotations

import numpy as np

from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.sdp.month_physics import Physics

#: Releases compared for each value: so many that a kink between two of them costs next to nothing.
RELEASES = 201
#: The values have converged when a year more changes their differences by less than this part of its energy.
TOLERANCE = 1e-6
MOST_CYCLES = 60


def repeating_values(
    physics: Physics, forecast: Forecast, grid: FloatArray, classes: FloatArray, transitions: FloatArray
) -> FloatArray:
    """Relative value iteration: go back through the year until a year more adds the same to all values."""
    months = [outcomes(physics, forecast, step, grid, classes[step]) for step in range(len(classes))]
    values = np.zeros((len(classes) + 1, len(grid), classes.shape[1]))
    for _ in range(MOST_CYCLES):
        _go_back_a_year(months, forecast, grid, transitions, values)
        gain = values[0] - values[-1]
        values[-1] = values[0] - values[0, -1, 0]
        if np.ptp(gain) <= TOLERANCE * np.abs(gain).max():
            break
    return values[:-1]


def value_of_a_year(
    physics: Physics,
    forecast: Forecast,
    grid: FloatArray,
    classes: FloatArray,
    transitions: FloatArray,
    values: FloatArray,
) -> float:
    """What a year more adds to values that repeat: the mean of the best rule on the chain's inflow."""
    months = [outcomes(physics, forecast, step, grid, classes[step]) for step in range(len(classes))]
    cycle = np.concatenate([np.empty_like(values), values[:1]])
    _go_back_a_year(months, forecast, grid, transitions, cycle)
    return float((cycle[0] - values[0]).mean())


def _go_back_a_year(
    months: list[tuple[FloatArray, FloatArray]],
    forecast: Forecast,
    grid: FloatArray,
    transitions: FloatArray,
    values: FloatArray,
) -> None:
    """Fill in the values at the start of each step from those at the end of the last."""
    for step in range(len(months) - 1, -1, -1):
        end, gained = months[step]
        value = gained + interpolate_values(grid, values[step + 1], end)
        # What is known when the release is chosen: the month's class, or only that of the month before.
        if forecast is Forecast.MONTH:
            values[step] = value.max(axis=0) @ transitions[step].T
        else:
            values[step] = (value @ transitions[step].T).max(axis=0)


def outcomes(
    physics: Physics, forecast: Forecast, step: int, grid: FloatArray, classes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """End storage and gain of a step, by release tried, storage of the grid and class of the inflow."""
    storage = grid[:, None]
    if forecast is Forecast.MONTH:
        tried = physics.releases(step, storage, classes, classes, RELEASES)
    else:
        tried = physics.releases(step, storage, classes[:1], classes[-1:], RELEASES)
    return physics.after(step, storage, tried, classes)


def interpolate_values(grid: FloatArray, values: FloatArray, storage: FloatArray) -> FloatArray:
    """Values by storage and class at storages (..., classes), by straight lines between an even grid's."""
    last = len(grid) - 1
    place = np.clip((storage - grid[0]) * (last / (grid[-1] - grid[0])), 0, last)
    left = np.minimum(place.astype(np.int64), last - 1)
    classes = np.arange(values.shape[1])
    low = values[left, classes]
    return np.asarray(low + (place - left) * (values[left + 1, classes] - low))
