"""Samples of runs: their statistics, as the papers' tables list them, and whether two are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reservoir.bench.markdown import MISSING

STATISTICS: dict[str, Callable[[pd.Series[float]], float]] = {
    "mean": lambda values: values.mean(),
    "standard deviation": lambda values: values.std(ddof=1),
    "maximum": lambda values: values.max(),
    "minimum": lambda values: values.min(),
}


class Known(NamedTuple):
    """A sample of which no more is known."""

    mean: float
    deviation: float
    runs: int


def summary(values: pd.Series[float], form: str) -> dict[str, str]:
    """Mean, standard deviation, maximum and minimum, written down; a dash for what a sample has not."""
    numbers = {name: statistic(values) for name, statistic in STATISTICS.items()}
    return {name: MISSING if np.isnan(value) else format(value, form) for name, value in numbers.items()}


def p_value(one: Any, other: Any) -> float:
    """Two-tailed t-test with equal variances between two samples, p; NaN for a single run or numbers all alike."""
    from scipy.stats import ttest_ind

    if len(one) < 2 or len(other) < 2 or (np.ptp(one) == 0 and np.ptp(other) == 0):
        return np.nan
    return float(ttest_ind(one, other).pvalue)


def p_value_of(sample: Any, known: Known) -> float:
    """The same between a sample and one that is known by its statistics."""
    from scipy.stats import ttest_ind_from_stats

    if len(sample) < 2:
        return np.nan
    mine = np.mean(sample), np.std(sample, ddof=1), len(sample)
    return float(ttest_ind_from_stats(*mine, *known).pvalue)
