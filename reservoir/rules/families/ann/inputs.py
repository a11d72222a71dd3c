"""What the network of an `ann` rule is told, scaled to about -1 to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray, Training

#: Inputs in the network's order; the month's own inflow is left out where it is not known.
START_STORAGE, INFLOW, INFLOW_BEFORE = "start_storage", "inflow", "inflow_before"
MONTH_SINE, MONTH_COSINE = "month_sine", "month_cosine"
#: An inflow below this part of the mean is taken for it, since a logarithm has no zero.
LEAST_INFLOW = 1e-3
#: The least ratio of the largest to the smallest inflow on the scale.
LEAST_RATIO = 1.01
#: No inflow is scaled by less (m3/s), and no range of storages (hm3) or inflows is narrower: quotients stay finite.
TINIEST_INFLOW, NARROWEST = 1e-9, 1e-12


def input_names(forecast: Forecast) -> tuple[str, ...]:
    """Names of the inputs of a rule that is told a forecast."""
    inflows = (INFLOW, INFLOW_BEFORE) if forecast is Forecast.MONTH else (INFLOW_BEFORE,)
    return (START_STORAGE, *inflows, MONTH_SINE, MONTH_COSINE)


@dataclass(frozen=True)
class Scales:
    """The range of storages, and that of inflows, whose logarithm is scaled."""

    storage_low_hm3: float
    storage_high_hm3: float
    inflow_low_m3s: float
    inflow_high_m3s: float

    @classmethod
    def of(cls, training: Training) -> Scales:
        """The bounds of the reservoir, and the inflows of the training years."""
        plant = training.model.reservoir
        flow = training.inflow_m3s
        low = max(float(flow.min()), LEAST_INFLOW * float(flow.mean()), TINIEST_INFLOW)
        lowest, highest = float(plant.storage_lower_hm3.min()), float(plant.storage_upper_hm3.max())
        return cls(lowest, max(highest, lowest + 1e-9), low, max(float(flow.max()), LEAST_RATIO * low))

    def storage(self, storage_hm3: ArrayLike) -> FloatArray:
        """-1 at the lowest storage, 1 at the highest."""
        place = np.asarray(storage_hm3, float) - self.storage_low_hm3
        return np.asarray(2 * place / (self.storage_high_hm3 - self.storage_low_hm3) - 1)

    def inflow(self, inflow_m3s: ArrayLike) -> FloatArray:
        """-1 at the lowest inflow and below, 1 at the highest, by its logarithm."""
        ratio = np.maximum(np.asarray(inflow_m3s, float), self.inflow_low_m3s) / self.inflow_low_m3s
        return np.asarray(2 * np.log(ratio) / math.log(self.inflow_high_m3s / self.inflow_low_m3s) - 1)


def month_inputs(steps: ArrayLike, months: int) -> FloatArray:
    """Sine and cosine of the time of year in the middle of steps, shape (..., 2)."""
    turns = 2 * np.pi * (np.asarray(steps, float) + 0.5) / months
    return np.stack([np.sin(turns), np.cos(turns)], axis=-1)


def known_inputs(
    scales: Scales, forecast: Forecast, inflow_m3s: ArrayLike, inflow_before_m3s: ArrayLike, months: int
) -> FloatArray:
    """All inputs but the start storage, for consecutive steps from the first of a year, shape (steps, inputs - 1)."""
    now = [scales.inflow(inflow_m3s)] if forecast is Forecast.MONTH else []
    before = scales.inflow(inflow_before_m3s)
    columns = np.stack([*now, before], axis=-1)
    return np.concatenate([columns, month_inputs(np.arange(len(columns)) % months, months)], axis=-1)
