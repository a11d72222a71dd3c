"""Checks of a reservoir's objective, one small function for each (`claims`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.objectives import NEEDED, Goal, Objective
from reservoir.hydro.ranges import FLOW_M3S, PRICE_PER_MWH, WEIGHT, Range
from reservoir.hydro.reservoir_checks.claims import Claim, list_in_range
from reservoir.hydro.wording import Words, plain


def weights_are_positive(objective: Objective, words: Words) -> Iterator[Mistake]:
    """Require something to optimise, each with a weight above zero."""
    if not objective.weights:
        yield words.mistake("objective", "has no goal", f"one of {', '.join(Goal)}")
    for goal, weight in objective.weights.items():
        if not WEIGHT.holds(weight):
            expected = f"a number from {plain(WEIGHT.least)} to {plain(WEIGHT.most)}"
            yield words.mistake(weight_key(goal), "is out of range", expected, "leave out goals that do not count")


def targets_are_given(objective: Objective, words: Words) -> Iterator[Mistake]:
    """Require targets for shortages; other goals may have them too, to be tried by `--objective`."""
    for goal, name in NEEDED.items():
        target, counts = getattr(objective, name), goal in objective.weights
        if counts and target is None:
            mend = "give one number, twelve (January to December), or one a step"
            yield words.mistake(f"objective.{name}", f'is missing: the goal "{goal}" needs it', mend=mend)
        if target is not None:
            yield from list_in_range(f"objective.{name}", target, _RANGES[name], words)
            if not np.any(target > 0):
                yield words.mistake(f"objective.{name}", "is zero throughout", "more than 0 in some month")


def price_in_range(objective: Objective, words: Words) -> Iterator[Mistake]:
    """Allow no price below zero; for revenue without prices, the record must have them."""
    if objective.price_per_mwh is not None:
        yield from list_in_range("objective.price_per_mwh", objective.price_per_mwh, PRICE_PER_MWH, words)


def firm_power_is_possible(objective: Objective, installed_mw: float, words: Words) -> Iterator[Mistake]:
    """Allow the goal of firm power by itself: what is maximised beside it is energy."""
    if objective.is_firm and len(objective.weights) > 1:
        problem = "cannot be weighted: firm power comes first, then energy at that firmness"
        mend = "give it alone; `reservoir tradeoff` shows firm power against another goal"
        yield words.mistake(weight_key(Goal.FIRM_POWER), problem, mend=mend)
    if objective.firm_power_mw is not None:
        name = "objective.firm_power_mw"
        if objective.is_firm:
            yield words.mistake(name, "is what the goal firm-power searches", mend="remove it, or choose another goal")
        if Goal.POWER_SHORTAGE in objective.weights:
            yield words.mistake(name, "contradicts the target of the power shortage", mend="keep one of the two")
        if not 0 < objective.firm_power_mw <= installed_mw:
            most = words.amount("installed_mw", installed_mw)
            yield words.mistake(name, "is out of range", f"more than 0, at most the installed capacity ({most})")
    if not 0.5 <= objective.firm_share <= 1:
        yield words.mistake("objective.firm_share", "is out of range", "0.5 to 1: the share of steps")


def weight_key(goal: Goal) -> str:
    """Where a reservoir file has the weight of a goal."""
    return f"objective.weights.{goal.replace('-', '_')}"


_RANGES = {"power_target_mw": Range(0.0, np.inf), "supply_target_m3s": FLOW_M3S}

OBJECTIVE_CLAIMS: tuple[Claim, ...] = (
    weights_are_positive,
    targets_are_given,
    price_in_range,
    firm_power_is_possible,
)
