"""Fit on some years, to decide in the others: blocks of consecutive years, or one year at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.rules import Fitter, Forecast, Rule, Training, fit
from reservoir.solvers.engine import Progress, silent


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


def parts_of(training: Training, folds: int) -> list[range]:
    """Cut training years into blocks of consecutive ones; an ensemble of enough members into blocks of whole members.

    Raises
    ------
    InputError
        If there are not between 2 and as many folds as years.
    """
    first = training.first_years
    if len(first) < max(folds, 2):
        return blocks(training.years, folds)
    edges = [*first.tolist(), training.years]
    return [range(edges[part.start], edges[part.stop]) for part in blocks(len(first), folds)]


def outside(years: int, block: range) -> list[int]:
    """The years that are not in a block."""
    return [year for year in range(years) if year not in block]


def held_out_rules(
    family: str,
    training: Training,
    forecast: Forecast,
    folds: int,
    progress: Progress = silent,
    fitter: Fitter | None = None,
) -> list[Rule]:
    """Fit a rule for every year that has never seen it, nor another year of its member: on those outside its block.

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
    fitter : callable, optional
        In place of `reservoir.rules.fit`.

    Returns
    -------
    list of Rule
        One a year; the years of a block share theirs.
    """
    rules: list[Rule] = []
    members = len(training.first_years)
    if 1 < members < folds:
        raise InputError(
            Mistake("is not a valid number of folds", f"2 to {members}, the number of members", value=folds)
        )
    parts = parts_of(training, folds)
    for done, block in enumerate(parts, start=1):
        rules += [(fitter or fit)(family, training.select(outside(training.years, block)), forecast)] * len(block)
        progress(done, len(parts))
    return rules
