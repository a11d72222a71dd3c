"""Years as they might have been: inflow by a seasonal first-order autoregression of its logarithms.

Thomas and Fiering 1962 (in Maass et al., Design of Water-Resource Systems, ch. 12). A rule that is searched for on them
as well as on the few years on record cannot learn these by heart.
"""

from __future__ import annotations

import numpy as np

from reservoir.rules.base.training import FloatArray, Training

#: An inflow below this part of the mean is taken for it, since a logarithm has no zero.
LEAST_INFLOW = 1e-3
#: Fewer years tell no correlation of a month with the month before.
FEWEST_YEARS = 4


def synthetic_inflow(training: Training, years: int, seed: int) -> FloatArray:
    """So many consecutive years of inflow, m3/s, shape (years, steps); none where there are too few to learn from.

    Each month keeps the mean and the spread of its logarithm, and its correlation with the month before.
    """
    flow = training.inflow_m3s
    if training.years < FEWEST_YEARS or not years:
        return np.empty((0, training.steps))
    least = max(LEAST_INFLOW * float(flow.mean()), 1e-9)
    now, before = (np.log(np.maximum(each, least)) for each in (flow, training.inflow_before_m3s))
    mean, spread = now.mean(axis=0), now.std(axis=0, ddof=1)
    follows = _correlations(now, before)
    random = np.random.default_rng(seed).standard_normal((years, training.steps))
    made, state = np.empty_like(random), 0.0
    for year in range(years):
        for step in range(training.steps):
            state = follows[step] * state + np.sqrt(1 - follows[step] ** 2) * random[year, step]
            made[year, step] = state
    # No month exceeds what the record has shown by more than its own spread: a logarithm's tail is long.
    return np.asarray(np.exp(np.minimum(mean + spread * made, now.max(axis=0) + spread)))


def _correlations(now: FloatArray, before: FloatArray) -> FloatArray:
    """Correlation of each step with the step before, shape (steps,); 0 where one of them never changes."""
    centred = [each - each.mean(axis=0) for each in (now, before)]
    scale = np.sqrt((centred[0] ** 2).sum(axis=0) * (centred[1] ** 2).sum(axis=0))
    both = (centred[0] * centred[1]).sum(axis=0)
    return np.asarray(np.clip(np.divide(both, scale, out=np.zeros_like(both), where=scale > 0), -0.99, 0.99))
