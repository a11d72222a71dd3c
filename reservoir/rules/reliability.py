"""Rules that keep a promised power in a share of the months: a price on failing months, as high as it must be.

A month that falls short of the promised power costs a price, whatever else is optimised (Lagrangian relaxation of the
share; Askew 1974, Water Resour. Res. 10:51 and 10:1099). Every family that optimises weighs it as it weighs energy: one
that values water keeps a reserve for the months to come. The least price is searched at which the training years,
operated by the rule, keep the share.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.record_rows import energy_terms
from reservoir.hydro.rows import TERMS
from reservoir.rules import FAMILIES, Fitter, Forecast, Rule
from reservoir.rules.base.simulation import operated_training
from reservoir.rules.base.targets import TOLERANCE, Targets, firm_powers
from reservoir.rules.base.training import Promise, Training, made_once, part_of_fit

#: Prices that are tried first, in parts of what the promised power brings in a month, up to the one that is enough.
PRICES = (0.1, 0.4, 1.6, 6.4, 25.6)
#: Then so many between the last two; a share is near enough that is kept in no more than this part of the months more.
BETWEEN, NEAR = 3, 0.004
#: Part of the promised power of which a month that lacks it costs the whole price, and in proportion below: a search
#: sees by it whether it comes nearer.
WHOLE_PRICE = 0.05


def promising(training: Training, share: float) -> Training:
    """The training years with a promise: the guaranteed power, or what the standard policy gives so often.

    Raises
    ------
    InputError
        If the share is not above 0 and at most 1, or the objective has a target of power of its own.
    """
    if not 0 < share <= 1:
        problem, expected = "is not a share of the months", "a number above 0 and at most 1, such as 0.95"
        raise InputError(problem, expected, column="reliability", value=share)
    if training.limits.priced and training.limits.power_target.any():
        problem, mend = "the objective has a power target of its own", "plan for energy, revenue or firm power"
        raise InputError(problem, "an objective without one", mend, column="reliability")
    given = Targets.of_reservoir(training.model.reservoir)
    power = firm_powers(training, (share,))[0] if given is None else given.firm_mw
    origin = "the largest that the standard operating policy gives so often" if given is None else given.origin
    promise = Promise(power, share, f"{origin}, asked in {100 * share:g} % of the months")
    return replace(training, promise=promise)


def share_kept(rule: Rule, training: Training) -> float:
    """Part of the months of the training years in which a rule gives the promised power."""
    power_mw = operated_training(rule, training).power_mw
    return float((power_mw >= Targets.of(training).firm_mw * (1 - TOLERANCE)).mean())


def fit_promise(fitter: Fitter, family: str, training: Training, forecast: Forecast) -> Rule:
    """Fit a rule that keeps the promise of the training years, at the least price; the most reliable where none does.

    It is to keep it in as many months more as their number is uncertain by (the root of those that may fail), so that
    other years like them keep it, too.
    """
    return least_price(training, fitter, family, forecast)[1]


@made_once
def least_price(training: Training, fitter: Fitter, family: str, forecast: Forecast) -> tuple[float, Rule]:
    """The price of `fit_promise`, in parts of what the promised power brings in a month, and the rule.

    The search begins without a price, or at that of the family that the registry names.
    """
    assert training.promise is not None
    sample, share = training.searched(), training.promise.share
    wanted = share + min(sqrt((1 - share) / sample.inflow_m3s.size), (1 - share) / 2)
    tried: dict[float, tuple[float, Rule]] = {}
    known, most, first = FAMILIES.get(family), 2 + len(PRICES) + BETWEEN, 0.0
    if known and known.price_of:
        with part_of_fit(0, most):
            first = least_price(training, fitter, known.price_of, forecast)[0]

    def kept_at(price: float) -> bool:
        with part_of_fit(2 * len(tried) + 2, 2 * most):
            rule = fitter(family, priced(training, price), forecast)
        with part_of_fit(2 * len(tried) + 3, 2 * most):  # to operate some rules takes longer than to fit them
            tried[price] = share_kept(rule, sample), rule
        return tried[price][0] >= wanted

    low, high = 0.0, first
    kept = kept_at(high)
    follows_plan = known is not None and known.follows_plan
    for price in (each for each in PRICES if each > first):
        if kept or follows_plan or (high > first and tried[high][1] == tried[first][1]):
            break
        low, high = high, price
        kept = kept_at(high)
    if not kept:
        high = max(tried, key=lambda price: tried[price][0])
    for _ in range(BETWEEN if kept and not follows_plan else 0):
        if not high or tried[high][0] <= wanted + NEAR:
            break
        price = sqrt(low * high) if low else high / 4
        low, high = (low, price) if kept_at(price) else (price, high)
    return high, tried[high][1]


@made_once
def priced(training: Training, price: float) -> Training:
    """The training years with a price on months that lack the promised power, in parts of what it brings in a month."""
    limits, power = training.limits, Targets.of(training).firm_mw
    if not price * power:
        return training
    reservoir, every = training.model.reservoir, np.ones(training.inflow_m3s.shape)
    of_year = reservoir.objective.largest_per_year(reservoir.installed_mw) * power / reservoir.installed_mw
    cost = price * of_year / training.steps * every
    short = {"power_target": power * every, "power_cost": cost / (WHOLE_PRICE * power), "power_cost_most": cost}
    energy = energy_terms(limits.hm3_per_m3s * every, 0 * every, 0 * every)
    terms = {name: getattr(limits, name) for name in TERMS} if limits.priced else energy
    return replace(training, limits=limits.with_terms({**terms, **short}))
