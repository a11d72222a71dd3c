"""What the points of a front ask for: powers or weights with digits that a file states, and the problems with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Context

import numpy as np

from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.objectives import Goal
from reservoir.hydro.record_terms import RecordTerms
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.promised_power import promising
from reservoir.problems.reservoir.year import ReservoirYears

#: Digits of powers and weights, so that a reservoir file states them as they were.
_DIGITS = 6


def levels_between(lowest: float, largest: float, points: int) -> list[float]:
    """Powers from the lowest to the largest, MW, at equal distances; none is rounded to more than can be given."""
    digits = Context(_DIGITS, ROUND_DOWN)
    levels = np.linspace(lowest, max(largest, lowest), points)
    return [float(digits.create_decimal_from_float(level)) for level in levels.tolist()]


def weighing(
    reservoir: Reservoir, pair: tuple[Goal, Goal], ranges: tuple[float, float], shares: Sequence[float]
) -> list[Reservoir]:
    """Reservoirs that weigh two goals, the second by a share, with one penalty; one weight is 1 over the other."""
    objectives = []
    for share in shares:
        ratio = float(f"{np.sqrt((1 - share) / ranges[0] * ranges[1] / share):.{_DIGITS}g}")
        rounded = {pair[0]: ratio, pair[1]: float(f"{1 / ratio:.{_DIGITS}g}")}
        objectives.append(replace(reservoir.objective, weights=rounded, firm_power_mw=None))
    penalty = max(each.largest_per_year(reservoir.installed_mw, reservoir.step.per_year) for each in objectives)
    return [replace(reservoir, objective=each, penalty=penalty) for each in objectives]


def without_firm_power(reservoir: Reservoir) -> Reservoir:
    """Without a firm power of its own."""
    return replace(reservoir, objective=replace(reservoir.objective, firm_power_mw=None))


def with_objectives(
    batch: ReservoirYears, terms: Sequence[RecordTerms | None], stated: Sequence[Reservoir]
) -> ReservoirYears:
    """Problems with the terms of each objective, one objective behind another."""
    several = batch[np.tile(np.arange(len(batch)), len(stated))]
    given = [each.of_steps for each in terms if each is not None]
    if len(given) == len(terms):
        steps = StepTerms._make(map(np.concatenate, zip(*given, strict=True)))
        several = replace(several, limits=replace(several.limits, terms=RecordTerms(steps)))
    promised = [each.objective.firm_power_mw for each in stated]
    if promised[0] is None:
        return several
    power = np.repeat(np.array(promised, np.float64), len(batch))
    return promising(several, power, stated[0].objective.firm_share)
