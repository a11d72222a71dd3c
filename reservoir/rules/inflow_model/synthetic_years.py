"""Years as they might have been, for searches: on the few years of a record alone, a rule learns them by heart."""

from __future__ import annotations

import numpy as np

from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.inflow_model.model import FEWEST_YEARS_OF_CORRELATION, InflowModel
from reservoir.rules.inflow_model.random_numbers import uniform_numbers


def synthetic_inflow(training: Training, years: int, seed: int) -> FloatArray:
    """So many consecutive years of inflow, m3/s, shape (years, steps); none where there are too few to learn from."""
    if training.years < FEWEST_YEARS_OF_CORRELATION or not years:
        return np.empty((0, training.steps))
    uniform = uniform_numbers(seed, 0, 1, years + 1, training.steps)[0]
    return InflowModel.of(training).years(float(training.inflow_m3s[-1, -1]), uniform)
