"""Water values: release until the energy of one more hm3 now falls below what it is worth in store.

Classical operation by marginal values (Stage and Larsson 1961, Trans. AIEE 80:361; Loucks and van Beek 2017, Water
Resource Systems Planning and Management, ch. 4). The table says what a hm3 more at the end of a month is worth, by
month, storage and inflow class; it comes from stochastic dynamic programming (`Sdp`). A dispatcher reads it without a
computer: where one more hm3 through the turbines makes more than the table says, release it; else keep it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from reservoir.rules.base.fields import Known, Refusal, check
from reservoir.rules.base.physics import ValueRule
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families import sdp
from reservoir.rules.families.sdp import Classes, Grid, class_tables, marginal_values, shares, summed_up


def _as_many_as_classes(rows: tuple[tuple[float, ...], ...], known: Known) -> Any:
    for step, row in enumerate(rows):
        wanted = len(known["inflow_classes_m3s"][0]) if "inflow_classes_m3s" in known else len(row)
        if len(row) != wanted:
            yield Refusal("has the wrong number of values", f"{wanted}, one for each inflow class", (step,), len(row))


class WaterValue(ValueRule):
    """A rule that weighs the energy of a release against the value of the water in store.

    Parameters
    ----------
    plant, storage_lower_hm3, storage_upper_hm3, penalty_gwh, lake, objective
        See `ValueRule`.
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
        return self.physics.best_releases(step, storage_hm3, inflow[:, None], np.ones((1, 1)), grid, after)

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


def fit(training: Training, forecast: Forecast) -> WaterValue:
    """Take the slope of the values of stochastic dynamic programming."""
    rule = sdp.fit(training, forecast)
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
        rule.physics,
        storages_hm3=storages,
        inflow_classes_m3s=known,
        expected_inflow_m3s=np.maximum.accumulate(expected, axis=1),
        water_value_gwh_per_hm3=table,
    )
