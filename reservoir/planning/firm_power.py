"""Firm power: the largest that every step of a problem, or a share of its steps, can give; then energy at it.

For a power P the schedule of least shortage is found, by dynamic programming: the sum of squares of what the power of
each step falls short of P, relative to P. P is firm if there is none. Its root rises almost evenly with P above the
firm power, so that lines through two tries of all problems at once lead there (regula falsi). The schedule of least
shortage often gives the firm power long before lines end there: what is just above the best so far is then tried next.
Where a share of the steps may fail, a step that falls short costs 1 at most, and the failures are counted.

What a schedule gives is stated (`given_power`): nothing rests on the search but how high it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.record_terms import shortage_terms
from reservoir.planning.given_power import firm_power_mw
from reservoir.planning.stages import StageProgress, silent_stage
from reservoir.problems.reservoir.promised_power import SLACK, allowed_failures, promising
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions

FloatArray = NDArray[np.float64]
#: Solves problems by dynamic programming.
Solve = Callable[[ReservoirYears], Solutions]

#: How the search is called where progress and time are told.
FIRM_POWER_STAGE = "firm power"
_MOST_TRIES = 60
#: A try closer than this part of the bracket to one of its ends is moved there.
_DISTANCE = 1e-3
#: Where a line ends below what a schedule gives, a power above that by this part of it is tried: less than the bracket
#: may be wide.
_JUST_ABOVE = 0.9 * SLACK
#: Where some steps may fail: a step that is short by this part of the power fails.
_FAILED = 1e-3


class FirmPower(NamedTuple):
    """The power of each problem, MW, shape (problems,), and a schedule that gives it: a position of each."""

    power_mw: FloatArray
    positions: list[FloatArray]


def firm_power_of(problems: RecordProblems, solve: Solve, progress: StageProgress = silent_stage) -> FirmPower:
    """Search the firm power of each problem of a record.

    Parameters
    ----------
    problems : RecordProblems
        Whose objective asks for firm power.
    solve : callable
        Solves problems whose objective is a shortage of power.
    progress : callable
        Told the stage, and how many problems are done.
    """
    share = problems.model.reservoir.objective.firm_share
    found = [largest_firm_power(batch, share, solve, progress) for batch in problems.batches]
    power, positions = (list(each) for each in zip(*found, strict=True))
    return FirmPower(np.concatenate(power), [row for batch in positions for row in batch])


def promising_all(problems: RecordProblems, power_mw: FloatArray) -> RecordProblems:
    """Problems that must give a power, shape (problems,), in the share of their steps that the objective says."""
    share = problems.model.reservoir.objective.firm_share
    parts = np.split(power_mw, np.cumsum([len(batch) for batch in problems.batches])[:-1])
    batches = [promising(batch, power, share) for batch, power in zip(problems.batches, parts, strict=True)]
    return replace(problems, batches=tuple(batches))


def largest_firm_power(
    batch: ReservoirYears,
    share: float,
    solve: Solve,
    progress: StageProgress = silent_stage,
    *,
    smallest: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Search the firm power of each problem, MW, shape (problems,), and positions that give it.

    Where the smallest of all is asked for, problems that surely give more are left with what a schedule gave.
    """
    failures = allowed_failures(batch.limits.steps, share)
    high = np.full(len(batch), batch.model.reservoir.installed_mw)
    low, short, positions = _tried(batch, high, failures, solve)
    firm = short <= 0
    above, of_above = high * (1 + 1 / np.maximum(short, 1e-12)), 1 + short  # no more than a first guess of the slope
    progress(FIRM_POWER_STAGE, 0, len(batch))
    for number in range(_MOST_TRIES):
        wide = (high - low > SLACK * high) & ~firm
        open_ = np.flatnonzero(wide & (low < high.min()) if smallest else wide)
        if not open_.size:
            break
        rows = low[open_], high[open_], short[open_], above[open_], of_above[open_]
        tried = _next_try(*rows, number, counted=failures > 0)
        reached, missed, found = _tried(batch[open_], tried, failures, solve)
        given = missed <= 0
        better = np.maximum(np.where(given, tried, 0.0), reached) > low[open_]
        positions[open_[better]] = found[better]
        low[open_] = np.maximum(np.where(given, tried, low[open_]), reached)  # which a schedule gives
        missing = open_[~given]
        above[missing], of_above[missing] = high[missing], short[missing]
        high[missing], short[missing] = tried[~given], missed[~given]
        high = np.maximum(high, low)
        progress(FIRM_POWER_STAGE, len(batch) - len(open_), len(batch))
    return np.where(firm, high, low), positions


def _next_try(
    low: FloatArray,
    high: FloatArray,
    of_high: FloatArray,
    above: FloatArray,
    of_above: FloatArray,
    number: int,
    *,
    counted: bool,
) -> FloatArray:
    """Where a line through two powers above the firm one ends; or just above what is given; or the bracket's middle."""
    middle = (low + high) / 2
    if counted or number % 6 == 5:
        return middle
    below = np.where(low > 0, low * (1 + _JUST_ABOVE), middle) if number % 2 == 0 else middle
    slope = (of_above - of_high) / np.maximum(above - high, 1e-12)
    width = high - low
    ends = high - of_high / np.maximum(slope, 1e-12)
    inside = np.clip(ends, low + _DISTANCE * width, high - _DISTANCE * width)
    return np.asarray(np.where(ends < low, below, inside))


def _tried(
    batch: ReservoirYears, power_mw: FloatArray, failures: int, solve: Solve
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Power that the schedule of least shortage gives but for the failures, how far it is from firm, and it."""
    target = _each_step(batch, power_mw)
    terms = shortage_terms(target, _FAILED * target, 1.0) if failures else shortage_terms(target, target)
    found = solve(replace(batch, limits=replace(batch.limits, terms=terms)))
    positions = np.array(found.position)
    reached = firm_power_mw(batch.operate(positions).power_mw, 1 - failures / batch.limits.steps)
    cost = -np.asarray(found.benefit)
    short = (cost - failures).clip(min=0) if failures else np.sqrt(cost.clip(min=0))
    return reached, np.where(reached >= power_mw * (1 - SLACK / 4), 0.0, np.maximum(short, 1e-12)), positions


def _each_step(batch: ReservoirYears, power_mw: FloatArray) -> FloatArray:
    return np.repeat(power_mw[:, np.newaxis], batch.limits.steps, axis=1)
