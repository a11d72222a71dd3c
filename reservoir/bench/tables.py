"""Tables of runs: rows chosen, statistics of them, whether two samples are alike; and as they are shown to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reservoir.solvers import Solutions

#: Numbers and words by the columns of a table; JSON's where a journal keeps it.
Row = dict[str, Any]
#: A DataFrame whose parts are taken by the values of its index, which the stubs of pandas know no types of.
Frame = Any
#: What stands where there is no number.
MISSING = "–"


def seconds_of(solution: Solutions) -> dict[str, float]:
    """Seconds of a call, and those of its device; NaN where it has none."""
    device = solution.device_seconds
    return {"seconds": solution.wall_seconds, "device_seconds": np.nan if device is None else device}


def select(frame: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Rows whose columns have these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame


def by(frame: pd.DataFrame, *keys: str, value: str = "seconds", statistic: Any = "median") -> Frame:
    """A statistic of a column by the values of others, of which the last gives the columns; all in their order."""
    values = frame.groupby(list(keys), sort=False)[value].agg(statistic)
    rows, columns = values.index.droplevel(-1).unique(), values.index.get_level_values(-1).unique()
    return values.unstack().reindex(index=rows, columns=columns)  # noqa: PD010 - no statistic of it


STATISTICS = {"mean": "mean", "standard deviation": "std", "maximum": "max", "minimum": "min"}


class Known(NamedTuple):
    """A sample of which no more is known."""

    mean: float
    deviation: float
    runs: int


def summary(values: pd.Series[float], form: str, of: str = "") -> dict[str, str]:
    """Mean, standard deviation, maximum and minimum, written down; a dash for what a sample has not.

    Their names begin with what they are of.
    """
    numbers = {f"{of}{name}": values.agg(statistic) for name, statistic in STATISTICS.items()}
    return {name: MISSING if np.isnan(value) else format(value, form) for name, value in numbers.items()}


def p_value(one: Any, other: Any) -> float:
    """Two-tailed t-test with equal variances between two samples, p; NaN for a single run or numbers all alike.

    The second may be one of which the statistics are known.
    """
    from scipy.stats import ttest_ind, ttest_ind_from_stats

    if isinstance(other, Known) and len(one) > 1:
        return float(ttest_ind_from_stats(np.mean(one), np.std(one, ddof=1), len(one), *other).pvalue)
    if len(one) < 2 or len(other) < 2 or (np.ptp(one) == 0 and np.ptp(other) == 0):
        return np.nan
    return float(ttest_ind(one, other).pvalue)


@dataclass(frozen=True, eq=False)
class ResultTable:
    """A table for people.

    Parameters
    ----------
    title : str
    frame : DataFrame
        Text is shown as it stands; numbers by `formats`, or to four figures.
    notes : tuple of str
        What a reader must know, in whole sentences.
    formats : mapping of str to str
        Format specification of a column's numbers, such as ``",.1f"``.
    """

    title: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()
    formats: Mapping[str, str] = field(default_factory=dict)


def result_table(
    title: str,
    rows: pd.DataFrame | Sequence[Mapping[str, Any]],
    *notes: str,
    form: str | None = None,
    **formats: str,
) -> ResultTable:
    """Make a table of rows, whose columns are named by their keys, or of a frame, an index with names first.

    Parameters
    ----------
    form : str, optional
        Format of all columns that have none of their own.
    formats : str
        Of single columns; one with a star, such as ``"* x"``, is of all whose names end so.
    """
    frame = pd.DataFrame(rows)
    if any(frame.index.names):
        frame = frame.reset_index()
    if form is not None:
        formats = dict.fromkeys(frame.columns, form) | formats
    for pattern in [name for name in formats if name.startswith("*")]:
        formats |= {name: formats[pattern] for name in frame.columns if str(name).endswith(pattern[1:])}
    return ResultTable(title, frame, notes, formats)
