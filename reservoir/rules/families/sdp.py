"""Explicit stochastic dynamic programming: the strong baseline.

Stedinger, Sule and Loucks 1984, Water Resour. Res. 20:1499; Loucks and van Beek 2017, Water Resource Systems Planning
and Management, ch. 8. The inflow of each month falls into classes, and the class of a month depends on that of the
month before (a lag-1 Markov chain that repeats every year). The value of a storage and a class is the energy still to
come, beyond the yearly mean, found by going backwards through the year until it repeats. A decision looks one month
ahead with the inflow that is known, rather than reading a table of decisions made for whole classes.

Straight lines between the values have a kink at every storage of the grid, and decisions would end at one of these. The
marginal values of every third storage, joined by straight lines, sum up to values without kinks: these decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.rules.base.fields import Known, Numbers, Refusal, Rising, check, count, falls, length
from reservoir.rules.base.physics import Physics, ValueRule, interpolate_values
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray, Training, made_once

#: Storages of the grid between the bounds.
STORAGES = 61
#: A list a step, each of a list a row.
Tables = tuple[tuple[Numbers, ...], ...]

_A_STEP = count(MONTHS_PER_YEAR, "one list per month")
_A_CLASS = "one for each inflow class"
_A_CLASS_BEFORE = "one list for each inflow class of the month before"
#: Probabilities that sum to 1 but for this were rounded.
_ROUNDED = 1e-6


def _evenly_apart(grid: Numbers, known: Known) -> Iterator[Refusal]:
    apart = np.diff(grid)
    if not np.allclose(apart, apart[0], rtol=1e-6):
        yield Refusal("is not evenly spaced", f"storages {apart.mean():.10g} hm3 apart")


def _alike_and_rising(classes: Sequence[Numbers], known: Known) -> Iterator[Refusal]:
    if not classes[0]:
        yield Refusal("has no values", "one or more inflow classes", (0,))
    for step, means in enumerate(classes):
        yield from length(means, len(classes[0]), "as many inflow classes as in the first month", step)
        yield from falls(means, step)


def _sizes(tables: Tables, rows: int, a_row: str, columns: int) -> Iterator[Refusal]:
    """Refuse tables of another size, row by row."""
    for step, table in enumerate(tables):
        yield from length(table, rows, a_row, step)
        for place, row in enumerate(table):
            yield from length(row, columns, _A_CLASS, step, place)


def _probabilities(tables: Tables, known: Known) -> Iterator[Refusal]:
    if "classes_m3s" in known:
        classes = len(known["classes_m3s"][0])
        yield from _sizes(tables, classes, _A_CLASS_BEFORE, classes)
    for step, table in enumerate(tables):
        for place, row in enumerate(table):
            yield from (
                Refusal("is negative", "a probability", (step, place, at), value)
                for at, value in enumerate(row)
                if value < 0
            )
            if abs(sum(row) - 1) > _ROUNDED:
                yield Refusal("does not sum to 1", "probabilities", (step, place), sum(row))


def class_tables(grid: str, classes: str) -> Any:
    """The type of tables by step, storage of a grid and inflow class: as large as those fields."""

    def claim(tables: Tables, known: Known) -> Iterator[Refusal]:
        if grid in known and classes in known:
            rows, columns = len(known[grid]), len(known[classes][0])
            yield from _sizes(tables, rows, f"one list for each value of {grid}", columns)

    return Annotated[Tables, _A_STEP, check(claim)]


Grid = Annotated[Rising, check(_evenly_apart)]
Classes = Annotated[tuple[Numbers, ...], _A_STEP, check(_alike_and_rising)]
Chain = Annotated[Tables, _A_STEP, check(_probabilities)]


class Sdp(ValueRule):
    """A rule that takes the release of most energy, this month's and the value of what it leaves behind.

    Parameters
    ----------
    plant, storage_lower_hm3, storage_upper_hm3, penalty_gwh, lake, objective
        See `Physics`.
    grid_hm3 : tuple of float
        Storages that values are known at, evenly apart.
    classes_m3s : tuple of tuple of float
        Mean inflow of each class, by step; they rise.
    transitions : tuple of tuple of tuple of float
        Probability of a class, by step, class of the step before and class.
    values_gwh : tuple of tuple of tuple of float
        Energy, or what else is optimised, still to come beyond the yearly mean, by step, storage at its start and class
        of the step before.
    """

    family: Literal["sdp"]
    grid_hm3: Grid
    classes_m3s: Classes
    transitions: Chain
    values_gwh: class_tables("grid_hm3", "classes_m3s")  # type: ignore[valid-type]

    @cached_property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Grid, classes, transitions and values as arrays."""
        nested = (self.grid_hm3, self.classes_m3s, self.transitions, self.values_gwh)
        grid, classes, transitions, values = (np.array(each, float) for each in nested)
        return grid, classes, transitions, values

    @cached_property
    def _marginal(self) -> tuple[FloatArray, FloatArray]:
        """Storages, and what a hm3 more is worth at the start of each step, by storage and class."""
        return marginal_values(self.arrays[0], self.arrays[3])

    @cached_property
    def _smooth(self) -> tuple[FloatArray, FloatArray]:
        """Storages and values that decisions are made by: as `values_gwh`, without its kinks."""
        return summed_up(*self._marginal)

    def value_of_a_year(self) -> float:
        """Mean of a year that the best rule would make if inflow were as the classes have it, less costs of violations.

        In the unit of the objective; on the grid, so an estimate and no bound.
        """
        grid, classes, transitions, values = self.arrays
        months = [outcomes(self, self.forecast, step, grid, classes[step]) for step in range(len(classes))]
        cycle = np.concatenate([np.empty_like(values), values[:1]])
        _go_back_a_year(months, self.forecast, grid, transitions, cycle)
        return float((cycle[0] - values[0]).mean())  # what a year more adds

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases of the highest expected value.

        Without a forecast the expectation runs over the classes that may follow the inflow before.
        """
        grid, values = self._smooth
        inflow, probability, left = self._outcomes(step, inflow_now_m3s, inflow_before_m3s, values)
        return self.best_releases(step, storage_hm3, inflow, probability, grid, left)

    def water_value(
        self, step: int, end_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float
    ) -> float | None:
        """Expected worth of a hm3 at the end, by straight lines between those of storages."""
        storages, slopes = self._marginal
        now = None if inflow_now_m3s is None else np.array([inflow_now_m3s])
        _, probability, worth = self._outcomes(step, now, np.array([inflow_before_m3s]), slopes)
        return float(np.interp(end_hm3, storages, worth[0] @ probability[0]))

    def _outcomes(
        self, step: int, now: FloatArray | None, before: FloatArray, table: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inflows that may come, their probabilities, and what a table has after each, as of `best_releases`."""
        _, classes, transitions, _ = self.arrays
        following = table[(step + 1) % len(classes)]
        if self.forecast is Forecast.NONE or now is None:
            return classes[step : step + 1], shares(classes[step - 1], before) @ transitions[step], following[None]
        return now[:, None], np.ones((1, 1)), following @ shares(classes[step], now)[..., None]


@made_once
def fit(training: Training, forecast: Forecast) -> Sdp:
    """Estimate the classes and their transitions from the training years, and the values that repeat every year."""
    # The inflow model needs scipy, for which an operator with a rule does not wait.
    from reservoir.rules.inflow_model import inflow_chain

    physics = Physics.of(training)
    classes, transitions = inflow_chain(training)
    grid = physics.value_grid(STORAGES)
    values = repeating_values(physics, forecast, grid, classes, transitions)
    return Sdp.weighing(
        training, forecast, physics, grid_hm3=grid, classes_m3s=classes, transitions=transitions, values_gwh=values
    )


def shares(classes: FloatArray, inflow: ArrayLike) -> FloatArray:
    """How much inflows belong to each class, shape (..., classes).

    Each belongs to the two classes whose means it lies between, by nearness.
    """
    places = np.arange(len(classes))
    near = np.interp(np.asarray(inflow)[..., None], classes, places)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(near - places)))


#: Storages of the grid that one marginal value stands for, and parts of the distance between two when they are summed.
STORAGES_EACH, _PARTS = 3, 8


def marginal_values(grid_hm3: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slope of values over the storage.

    Parameters
    ----------
    grid_hm3 : ndarray, shape (storages,)
        Evenly apart.
    values : ndarray, shape (steps, storages, classes)

    Returns
    -------
    storages : ndarray, shape (marginal storages,)
        Evenly apart, between the same ends.
    slopes : ndarray, shape (steps, marginal storages, classes)
    """
    storages = np.linspace(grid_hm3[0], grid_hm3[-1], 1 + -(-(len(grid_hm3) - 1) // STORAGES_EACH))
    return storages, _between(grid_hm3, np.gradient(values, grid_hm3, axis=1), storages)


def summed_up(storages_hm3: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values whose slopes are straight lines between storages: parabolas, at points so near that lines stand for them.

    Parameters
    ----------
    storages_hm3 : ndarray, shape (storages,)
        Evenly apart.
    slopes : ndarray, shape (steps, storages, classes)

    Returns
    -------
    grid : ndarray, shape (points,)
    values : ndarray, shape (steps, points, classes)
        0 at the lowest storage.
    """
    grid = np.linspace(storages_hm3[0], storages_hm3[-1], _PARTS * (len(storages_hm3) - 1) + 1)
    slope = _between(storages_hm3, slopes, grid)
    rises = (slope[:, 1:] + slope[:, :-1]) / 2 * np.diff(grid)[:, np.newaxis]
    return grid, np.concatenate([np.zeros_like(slope[:, :1]), np.cumsum(rises, axis=1)], axis=1)


def _between(grid: FloatArray, table: FloatArray, storages: FloatArray) -> FloatArray:
    """A table by step, storage and class at other storages, by straight lines between an even grid's."""
    place = np.clip((storages - grid[0]) / (grid[-1] - grid[0]) * (len(grid) - 1), 0, len(grid) - 1)
    left = np.minimum(place.astype(np.int64), len(grid) - 2)
    part = (place - left)[:, np.newaxis]
    return np.asarray(table[:, left] * (1 - part) + table[:, left + 1] * part)


#: Releases compared for each value: so many that a kink between two of them costs next to nothing.
TRIED = 201
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
        value = gained + interpolate_values(grid, values[step + 1 : step + 2], end)
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
        tried = physics.tried_releases(step, storage, classes, classes, TRIED)
    else:
        tried = physics.tried_releases(step, storage, classes[:1], classes[-1:], TRIED)
    return physics.after(step, storage, tried, classes)


WATER_VALUE: Final = "water-value"


def _as_many_as_classes(rows: tuple[tuple[float, ...], ...], known: Known) -> Any:
    for step, row in enumerate(rows):
        wanted = len(known["inflow_classes_m3s"][0]) if "inflow_classes_m3s" in known else len(row)
        if len(row) != wanted:
            yield Refusal("has the wrong number of values", f"{wanted}, one for each inflow class", (step,), len(row))


class WaterValue(ValueRule):
    """Water values: release until the energy of one more hm3 now falls below what it is worth in store.

    Classical operation by marginal values (Stage and Larsson 1961, Trans. AIEE 80:361; Loucks and van Beek 2017, Water
    Resource Systems Planning and Management, ch. 4). The table says what a hm3 more at the end of a month is worth, by
    month, storage and inflow class; it comes from stochastic dynamic programming (`Sdp`). A dispatcher reads it without
    a computer: where one more hm3 through the turbines makes more than the table says, release it; else keep it.

    Parameters
    ----------
    plant, storage_lower_hm3, storage_upper_hm3, penalty_gwh, lake, objective
        See `Physics`.
    storages_hm3 : tuple of float
        Storages at the end of a step that the table has, evenly apart.
    inflow_classes_m3s : tuple of tuple of float
        Inflow of each class of the table, by step: of the step itself with a forecast of the month, else of the step
        before.
    expected_inflow_m3s : tuple of tuple of float
        Inflow of the step that is reckoned with in each class; with a forecast, the forecast itself is.
    water_value_gwh_per_hm3 : tuple of tuple of tuple of float
        What a hm3 more at the end of a step is worth, by step, storage and inflow class.
    """

    family: Literal["water-value"]
    storages_hm3: Grid
    inflow_classes_m3s: Classes
    expected_inflow_m3s: Annotated[Classes, check(_as_many_as_classes)]
    water_value_gwh_per_hm3: class_tables("storages_hm3", "inflow_classes_m3s")  # type: ignore[valid-type]

    @cached_property
    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Storages, inflow classes, expected inflow, and values of the storages: the table, summed up by storage."""
        grid, values = summed_up(np.array(self.storages_hm3), np.array(self.water_value_gwh_per_hm3))
        return grid, np.array(self.inflow_classes_m3s), np.array(self.expected_inflow_m3s), values

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases at which the energy of one more hm3 equals its value in store, or the best that limits allow."""
        grid, _, expected, values = self._arrays
        share = self._shares(step, inflow_now_m3s, inflow_before_m3s)
        blind = self.forecast is Forecast.NONE or inflow_now_m3s is None
        inflow: Any = share @ expected[step] if blind else inflow_now_m3s
        after = values[step] @ share[..., None]
        return self.best_releases(step, storage_hm3, inflow[:, None], np.ones((1, 1)), grid, after)

    def water_value(
        self, step: int, end_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float
    ) -> float | None:
        """What the table says of a storage, as a straight line between its storages and its inflow classes."""
        share = self._shares(step, inflow_now_m3s, inflow_before_m3s)
        return float(np.interp(end_hm3, self.storages_hm3, np.array(self.water_value_gwh_per_hm3[step]) @ share))

    def _shares(self, step: int, now: Any, before: Any) -> FloatArray:
        """How much situations belong to each inflow class of the table, shape (situations, classes)."""
        blind = self.forecast is Forecast.NONE or now is None
        return shares(self._arrays[1][step], before if blind else now)


def fit_water_values(training: Training, forecast: Forecast) -> WaterValue:
    """Take the slope of the values of stochastic dynamic programming."""
    rule = fit(training, forecast)
    grid, classes, transitions, values = rule.arrays
    steps = len(classes)
    later = values[(np.arange(steps) + 1) % steps]
    known, expected = classes, classes
    if forecast is Forecast.NONE:
        known = classes[np.arange(steps) - 1]
        expected = (transitions @ classes[:, :, None])[..., 0]
        later = later @ np.swapaxes(transitions, 1, 2)
    storages, table = marginal_values(grid, later)
    return WaterValue.weighing(
        training,
        forecast,
        rule,
        storages_hm3=storages,
        inflow_classes_m3s=known,
        expected_inflow_m3s=np.maximum.accumulate(expected, axis=1),
        water_value_gwh_per_hm3=table,
    )
