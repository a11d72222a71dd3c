"""Fit on some years, to decide in the others: blocks of consecutive years, or one year at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.rules import Forecast, Rule, Training, fit
from reservoir.solvers.base.progress import Progress, silent


def blocks(years: int, folds: int) -> list[range]:
    """Cut years into blocks of consecutive years, as equal as can be; as many folds as years leave one out at a time.

    Raises
    ------
    InputError
        If there are not between 2 and `years` folds.
    """
    if not 2 <= folds <= years:
        raise InputError(Mistake("is not a valid number of folds", f"2 to {years}, the number of years", value=folds))
    edges = np.linspace(0, years, folds + 1).round().astype(int)
    return [range(int(first), int(last)) for first, last in pairwise(edges)]


def outside(years: int, block: range) -> list[int]:
    """The years that are not in a block."""
    return [year for year in range(years) if year not in block]


def held_out_rules(
    family: str, training: Training, forecast: Forecast, folds: int, progress: Progress = silent
) -> list[Rule]:
    """Fit a rule for every year that has never seen it: on the years outside the year's block.

    Parameters
    ----------
    family : str
    training : Training
        All optimised years.
    forecast : Forecast
    folds : int
        Number of blocks.
    progress : callable
        Told how many blocks are done.

    Returns
    -------
    list of Rule
        One a year; the years of a block share theirs.
    """
    rules: list[Rule] = []
    parts = blocks(training.years, folds)
    for done, block in enumerate(parts, start=1):
        rules += [fit(family, training.select(outside(training.years, block)), forecast)] * len(block)
        progress(done, len(parts))
    return rules
