"""Operate linear rules over the training years, and move one for the energy that it makes there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.rules.base.monthly import Months
from reservoir.rules.base.record_operation import RecordArrays, record_of, stored_value_per_hm3
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.linear.operation import operate_linear
from reservoir.rules.families.linear.rule import LEAST_VARIATION

#: First moves, as a part of the range of storages; a move that gains is longer next time, one that does not is shorter.
FIRST_MOVE, LONGER, SHORTER = 0.1, 1.5, 0.5
#: The search ends with moves shorter than this part of the range, or after so many sweeps.
SHORTEST_MOVE, MOST_SWEEPS = 1e-4, 60
#: A start storage that varies less in the plan than this part of the range will vary more in operation.
LEAST_SPREAD = 0.05


@dataclass(frozen=True, eq=False)
class LinearTrial:
    """The training years, operated by linear rules, and the scale on which a rule is moved.

    Parameters
    ----------
    training : Training
    record : RecordArrays
    end_value_per_hm3 : float
        What a hm3 left at the end counts, in the unit of the objective.
    mean, spread : ndarray, shape (steps, 3)
        Of start storage, inflow before and inflow now: a rule is moved at their mean and by their spread, so that all
        its numbers are hm3.
    range_hm3 : float
        Between the extreme storages.
    """

    training: Training
    record: RecordArrays
    end_value_per_hm3: float
    mean: FloatArray
    spread: FloatArray
    range_hm3: float

    @classmethod
    def of(cls, training: Training, months: Months, forecast: Forecast) -> LinearTrial:
        """Prepare the training years for rules that are told a forecast."""
        record = record_of(training, months, forecast)
        known = np.stack([training.storage_start_hm3, training.inflow_before_m3s, training.inflow_m3s])
        mean, spread = known.mean(axis=1).T, known.std(axis=1).T
        span = max(float(record.storage_upper.max() - record.storage_lower.min()), 1e-9)
        spread[spread <= LEAST_VARIATION * np.abs(known).max(axis=1).T] = 0.0
        spread[:, 0] = np.maximum(spread[:, 0], LEAST_SPREAD * span)
        if forecast is Forecast.NONE:
            spread[:, 2] = 0.0  # what is not known stays out of the rule
        return cls(training, record, stored_value_per_hm3(training), mean, spread, span)

    def improved(self, rule: FloatArray) -> FloatArray:
        """Constants and factors, shape (steps, 4), of the highest value that the search finds."""
        moved = np.column_stack([rule[:, 0] + (rule[:, 1:] * self.mean).sum(axis=1), rule[:, 1:] * self.spread])
        moves = np.full(moved.shape, FIRST_MOVE * self.range_hm3)
        moves[:, 1:][self.spread == 0] = 0.0
        value = float(self.values(moved[None])[0])
        for _ in range(MOST_SWEEPS):
            for place in np.argwhere(moves > 0):
                at = tuple(place)
                tried = np.repeat(moved[None], 2, axis=0)
                tried[(0, *at)] += moves[at]
                tried[(1, *at)] -= moves[at]
                reached = self.values(tried)
                best = int(reached.argmax())
                if reached[best] > value:
                    value, moved = float(reached[best]), tried[best]
                    moves[at] *= LONGER
                else:
                    moves[at] *= SHORTER
            if moves.max() <= SHORTEST_MOVE * self.range_hm3:
                break
        return np.asarray(self.rules(moved[None])[0])

    def rules(self, moved: FloatArray) -> FloatArray:
        """Constants and factors of rules on the scale of the search."""
        factors = np.divide(moved[..., 1:], self.spread, out=np.zeros_like(moved[..., 1:]), where=self.spread > 0)
        constant = moved[..., :1] - (factors * self.mean).sum(axis=-1, keepdims=True)
        return np.concatenate([constant, factors], axis=-1)

    def values(self, moved: FloatArray) -> FloatArray:
        """What rules make in the training years, with the water left at the end, see `operate_linear`; (rules,)."""
        found = np.empty(len(moved))
        plant = self.training.model.exact
        operate_linear(plant, self.record, self.rules(moved), self.end_value_per_hm3, found)
        return found
