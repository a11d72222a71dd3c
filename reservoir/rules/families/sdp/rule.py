"""Explicit stochastic dynamic programming: the strong baseline.

Stedinger, Sule and Loucks 1984, Water Resour. Res. 20:1499; Loucks and van Beek 2017, Water Resource Systems Planning
and Management, ch. 8. The inflow of each month falls into classes, and the class of a month depends on that of the
month before (a lag-1 Markov chain that repeats every year). The value of a storage and a class is the energy still to
come, beyond the yearly mean, found by going backwards through the year until it repeats. A decision looks one month
ahead with the inflow that is known, rather than reading a table of decisions made for whole classes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from reservoir.rules.base.fields import Monthly, Number, not_below
from reservoir.rules.base.month_conditions import LakeMonths, ObjectiveMonths
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.sdp.marginal_values import marginal_values, summed_up
from reservoir.rules.families.sdp.month_physics import RELEASES, Physics
from reservoir.rules.families.sdp.plant_table import PlantTable
from reservoir.rules.families.sdp.tables import Chain, Classes, Grid, Values
from reservoir.rules.families.sdp.value_iteration import interpolate_values, repeating_values, value_of_a_year
from reservoir.rules.inflow_model.inflow_chain import inflow_chain
from reservoir.rules.inflow_model.inflow_classes import shares

#: Storages of the grid between the bounds.
STORAGES = 61
#: Releases whose values differ by less than this part are equally good.
EQUAL = 1e-12


class Sdp(Rule):
    """A rule that takes the release of most energy, this month's and the value of what it leaves behind.

    Parameters
    ----------
    plant : PlantTable
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    penalty_gwh : float
        Cost of a relative violation of 1, in the unit of the objective (eq. 21).
    lake : LakeMonths or None
        Losses of the lake and demands on the plant, if there are any.
    objective : ObjectiveMonths or None
        What is optimised, unless it is energy.
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
    plant: PlantTable
    storage_lower_hm3: Monthly
    storage_upper_hm3: Annotated[Monthly, not_below("storage_lower_hm3")]
    penalty_gwh: Number
    lake: LakeMonths | None = None
    objective: ObjectiveMonths | None = None
    grid_hm3: Grid
    classes_m3s: Classes
    transitions: Chain
    values_gwh: Values

    @cached_property
    def physics(self) -> Physics:
        """What a release comes to."""
        bounds = self.storage_lower_hm3, self.storage_upper_hm3
        return Physics(self.months, self.plant, *bounds, self.penalty_gwh, self.lake, self.objective)

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
        return value_of_a_year(self.physics, self.forecast, *self.arrays)

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release of the highest expected value: tried over the whole range, then between the best one's neighbours.

        Without a forecast the expectation runs over the classes that may follow the inflow before.
        """
        grid, values = self._smooth
        inflow, probability, left = self._outcomes(step, inflow_now_m3s, inflow_before_m3s, values)
        return best_release(self.physics, step, storage_hm3, inflow, probability, grid, left)

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """`release` in many situations."""
        _, classes, transitions, _ = self.arrays
        grid, smooth = self._smooth
        following = smooth[(step + 1) % len(classes)]
        if self.forecast is Forecast.NONE or inflow_now_m3s is None:
            inflow, probability = classes[step], shares(classes[step - 1], inflow_before_m3s) @ transitions[step]
            of_situation = None
        else:
            inflow, probability = inflow_now_m3s[:, None], np.ones((1, 1))
            of_situation = following @ shares(classes[step], inflow_now_m3s).T
        values = following if of_situation is None else of_situation
        return best_releases(self.physics, step, storage_hm3, inflow, probability, grid, values)

    def water_value(
        self, step: int, end_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float
    ) -> float | None:
        """Expected worth of a hm3 at the end, by straight lines between those of storages."""
        storages, slopes = self._marginal
        _, probability, worth = self._outcomes(step, inflow_now_m3s, inflow_before_m3s, slopes)
        return float(np.interp(end_hm3, storages, worth @ probability))

    def _outcomes(
        self, step: int, now: float | None, before: float, table: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Inflows that may come, their probabilities, and what a table has after each (storages, inflows)."""
        _, classes, transitions, _ = self.arrays
        following = table[(step + 1) % len(classes)]
        if self.forecast is Forecast.NONE or now is None:
            return classes[step], shares(classes[step - 1], before) @ transitions[step], following
        return np.array([now]), np.ones(1), following @ shares(classes[step], now)[:, None]


def fit(training: Training, forecast: Forecast) -> Sdp:
    """Estimate the classes and their transitions from the training years, and the values that repeat every year."""
    physics = Physics.of(training)
    classes, transitions = inflow_chain(training)
    grid = physics.value_grid(STORAGES)
    values = repeating_values(physics, forecast, grid, classes, transitions)
    return Sdp.fitted(
        training,
        forecast,
        plant=physics.plant,
        storage_lower_hm3=physics.storage_lower_hm3,
        storage_upper_hm3=physics.storage_upper_hm3,
        penalty_gwh=physics.penalty_gwh,
        lake=physics.lake,
        objective=physics.objective,
        grid_hm3=grid,
        classes_m3s=classes,
        transitions=transitions,
        values_gwh=values,
    )


def best_release(
    physics: Physics,
    step: int,
    storage_hm3: float,
    inflow: FloatArray,
    probability: FloatArray,
    grid: FloatArray,
    values: FloatArray,
) -> float:
    """Release of the highest expected value: tried over the whole range, then between the best one's neighbours.

    Parameters
    ----------
    physics : Physics
    step : int
    storage_hm3 : float
        At the start of the step.
    inflow, probability : ndarray, shape (inflows,)
        Inflows that may come, m3/s, the lowest not necessarily first, and their probabilities.
    grid : ndarray, shape (storages,)
    values : ndarray, shape (storages, inflows)
        Value of a storage at the end of the step after each inflow.
    """
    storage = np.asarray(float(storage_hm3))
    tried = physics.releases(step, storage, inflow.min(), inflow.max())
    chosen = float(tried[-1])
    for _ in range(2):
        end, gained = physics.after(step, storage, tried[:, None], inflow)
        best = _best((gained + interpolate_values(grid, values, end)) @ probability)
        chosen = float(tried[best])
        tried = np.linspace(tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)], RELEASES)
    return chosen


def best_releases(
    physics: Physics,
    step: int,
    storage_hm3: FloatArray,
    inflow: FloatArray,
    probability: FloatArray,
    grid: FloatArray,
    values: FloatArray,
) -> FloatArray:
    """`best_release` in many situations.

    Parameters
    ----------
    inflow, probability : ndarray
        Shapes (inflows,), the same in all situations, rising; or (situations, 1) and (1, 1), where each is known.
    values : ndarray
        By storage and inflow; or by storage and situation.
    """
    each_its_own, every = inflow.ndim == 2, np.arange(len(storage_hm3))
    tried = physics.releases(step, storage_hm3, inflow[..., 0], inflow[..., -1])
    chosen = tried[-1]
    for _ in range(2):
        end, gained = physics.after(step, storage_hm3[:, None], tried[..., None], inflow)
        if each_its_own:
            left = interpolate_values(grid, values, end[..., 0])[..., None]
        else:
            left = interpolate_values(grid, values, end)
        best = _last_best(((gained + left) * probability).sum(axis=-1))
        chosen = tried[best, every]
        below, above = np.maximum(best - 1, 0), np.minimum(best + 1, len(tried) - 1)
        tried = np.linspace(tried[below, every], tried[above, every], RELEASES)
    return np.asarray(chosen)


def _last_best(values: FloatArray) -> NDArray[np.int64]:
    """`_best` of every column, shape (columns,)."""
    most = values.max(axis=0)
    good = values >= most - EQUAL * np.abs(most)
    return np.asarray(len(values) - 1 - np.argmax(good[::-1], axis=0))


def _best(values: FloatArray) -> int:
    """Place of the best; of equals the last, the greatest release: repair then has the least to add."""
    most = values.max()
    return int(np.flatnonzero(values >= most - EQUAL * abs(most))[-1])
