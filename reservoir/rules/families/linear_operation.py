"""Linear decision rule, improved by direct policy search: for the energy that the rule itself makes.

Least squares follow a plan that knows the future. From there every constant and factor is moved, one at a time, as long
as the training years, operated one after the other by the rule, make more energy (parameterisation, simulation,
optimisation: Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170). Where a search ends depends on single years:
the rule is the mean of several, each without a part of the years (bagging; Breiman 1996, Machine Learning 24:123).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.hydro.elementwise import FloatArray, clip
from reservoir.hydro.jit import compiled
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import RELEASE_UPPER, STORAGE_LOWER, STORAGE_UPPER
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.record_operation import RecordArrays, generated, record_of
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.training import Training, outside, parts_of, parts_of_fit, tell_part
from reservoir.rules.families import linear
from reservoir.rules.families.linear import LEAST_VARIATION, LinearSearchRule

#: Searches whose mean is the rule, and the fewest years that one may do without; of fewer, one search has them all.
SEARCHES, YEARS_A_PART = 5, 6
#: First moves, as a part of the range of storages; a move that gains is longer next time, one that does not is shorter.
FIRST_MOVE, LONGER, SHORTER = 0.1, 1.5, 0.5
#: The search ends with moves shorter than this part of the range, or after so many sweeps.
SHORTEST_MOVE, MOST_SWEEPS = 1e-4, 60
#: A start storage that varies less in the plan than this part of the range will vary more in operation.
LEAST_SPREAD = 0.05


def fit(training: Training, forecast: Forecast) -> LinearSearchRule:
    """Begin with the least squares of `linear.fit`, search from there, and take the mean of the searches."""
    begun = linear.fit(training, forecast)
    start = np.column_stack([begun.constant_hm3, begun.factors])
    sample = training.searched()
    trials = [LinearTrial.of(sample.select(years), begun.months, forecast) for years in _parts(sample)]
    numbers = np.mean([trial.improved(start) for trial in parts_of_fit(trials)], axis=0)
    lowest, highest = training.model.reservoir.storage_bounds_hm3
    return LinearSearchRule.fitted(
        training, forecast, constant_hm3=numbers[:, 0], factors=numbers[:, 1:], lowest_hm3=lowest, highest_hm3=highest
    )


def _parts(training: Training) -> list[list[int]]:
    """All years but one part of consecutive ones, for every part; all of them where there are too few to part."""
    years = training.years
    if years < YEARS_A_PART * SEARCHES:
        return [list(range(years))]
    return [outside(years, block) for block in parts_of(training, SEARCHES)]


@dataclass(frozen=True, eq=False)
class LinearTrial:
    """The training years, operated by linear rules, and the scale on which a rule is moved.

    Parameters
    ----------
    training : Training
    record : RecordArrays
    mean, spread : ndarray, shape (steps, 3)
        Of start storage, inflow before and inflow now: a rule is moved at their mean and by their spread, so that all
        its numbers are hm3.
    range_hm3 : float
        Between the extreme storages.
    """

    training: Training
    record: RecordArrays
    mean: FloatArray
    spread: FloatArray
    range_hm3: float

    @classmethod
    def of(cls, training: Training, months: Months, forecast: Forecast) -> LinearTrial:
        """Prepare the training years for rules that are told a forecast."""
        record = record_of(training, months, forecast)
        known = np.stack([training.storage_start_hm3, training.inflow_before_m3s, training.inflow_m3s])
        mean, spread = known.mean(axis=1).T, known.std(axis=1).T
        span = max(float(record.year.storage_upper.max() - record.year.storage_lower.min()), 1e-9)
        spread[spread <= LEAST_VARIATION * np.abs(known).max(axis=1).T] = 0.0
        spread[:, 0] = np.maximum(spread[:, 0], LEAST_SPREAD * span)
        if forecast is Forecast.NONE:
            spread[:, 2] = 0.0  # what is not known stays out of the rule
        return cls(training, record, mean, spread, span)

    def improved(self, rule: FloatArray) -> FloatArray:
        """Constants and factors, shape (steps, 4), of the highest value that the search finds."""
        moved = np.column_stack([rule[:, 0] + (rule[:, 1:] * self.mean).sum(axis=1), rule[:, 1:] * self.spread])
        moves = np.full(moved.shape, FIRST_MOVE * self.range_hm3)
        moves[:, 1:][self.spread == 0] = 0.0
        value = float(self.values(moved[None])[0])
        for sweep in range(MOST_SWEEPS):
            tell_part(sweep / MOST_SWEEPS)
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
        reached = np.empty(len(moved))
        operate_linear(self.training.model.exact, self.record, self.rules(moved), reached)
        return reached


@compiled
def operate_linear(plant: Plant, record: RecordArrays, rules: FloatArray, values: FloatArray) -> None:
    """Operate every rule from the start of each member; fills `values`.

    Value, in the unit of the objective: the benefit of a rule and of the water stored at the end, less the cost of
    violations.
    ``rules`` has shape (rules, steps, 4): constant, and factors of start storage, inflow before and inflow now. A
    target is kept within the storage bounds, as in `LinearRule.release`.
    """
    steps, rows = rules.shape[1], record.year.rows
    for rule in range(len(rules)):
        storage, benefit = record.start, 0.0
        for step in range(len(record.restarts)):
            month = step % steps
            if record.restarts[step] > 0:
                benefit += record.water_value * (storage - record.start)
                storage = record.start
            target = rules[rule, month, 0] + rules[rule, month, 1] * storage
            target += (
                rules[rule, month, 2] * record.inflow_before[step] + rules[rule, month, 3] * record.inflow_now[step]
            )
            target = clip(target, rows[STORAGE_LOWER, step], rows[STORAGE_UPPER, step])
            wanted = release_to_reach(storage, target, record.expected_inflow[step], record.expected_hm3_per_m3s[step])
            asked = clip(wanted, record.release_lower[step], rows[RELEASE_UPPER, step])
            made, storage, cost = generated(plant, record, step, storage, asked)
            benefit += made - cost
        values[rule] = benefit + record.water_value * (storage - record.start)
