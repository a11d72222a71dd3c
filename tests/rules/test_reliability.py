"""Rules that keep a promised power in a share of the months."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.calendar import HOURS_PER_YEAR
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.record_rows import UNLIMITED
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.planning.plan import optimise
from reservoir.rules import FAMILIES, Family, Forecast, Training, fit, rule_from_dict
from reservoir.rules.base.simulation import operated_training, simulate
from reservoir.rules.base.targets import GUARANTEED_ENERGY, Targets
from reservoir.rules.evaluation import evaluate
from reservoir.rules.findings import best_fitted, findings
from reservoir.rules.reliability import PRICES, WHOLE_PRICE, fit_promise, priced, promising, share_kept

SHARE = 0.9


@pytest.fixture(scope="module")
def promised(training):
    return promising(training, SHARE)


@pytest.fixture(scope="module")
def evaluation(plan):
    return evaluate(plan, folds=2, families=("water-value", "guide-curve", "standard"), reliability=SHARE)


def test_the_power_is_that_of_the_reservoir_file_and_the_share_the_one_asked_for(promised, training):
    targets = Targets.of(promised)
    assert targets.firm_mw == Targets.of(training).firm_mw
    assert targets.share == SHARE
    assert targets.origin == f"{GUARANTEED_ENERGY}, asked in 90 % of the months"
    assert Targets.of(promised.select(range(3))) == targets  # one promise for all blocks of years


def test_without_a_guarantee_it_is_what_the_standard_policy_gives_so_often(xiaowan, ten_years):
    plain = replace(xiaowan, guaranteed_energy_gwh=None)
    training = promising(Training.of(optimise(plain, ten_years, solver="dp")), SHARE)
    assert share_kept(fit("standard", training), training) == pytest.approx(SHARE, abs=0.02)
    stricter = promising(training, 0.99)
    assert Targets.of(stricter).firm_mw < Targets.of(training).firm_mw


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01, 95.0, np.nan])
def test_what_is_no_share_is_refused(training, share):
    with pytest.raises(InputError, match=r"reliability: is not a share of the months .* such as 0\.95"):
        promising(training, share)


def test_an_objective_with_a_power_target_of_its_own_is_refused(xiaowan, ten_years):
    objective = Objective({Goal.POWER_SHORTAGE: 1.0}, power_target_mw=2000.0)
    plan = optimise(replace(xiaowan, objective=objective), ten_years.span(0, 3), solver="dp")
    with pytest.raises(InputError, match="reliability: the objective has a power target of its own"):
        promising(Training.of(plan), SHARE)


def test_a_month_that_falls_short_costs_the_price_and_no_more(promised):
    power, years = Targets.of(promised).firm_mw, priced(promised, 0.4).limits.arrays().by_field
    price = 0.4 * power * HOURS_PER_YEAR / 12_000
    of_step, volume = (0, 3), float(promised.hm3_per_m3s[0, 3])

    def cost(power_mw):
        return power_mw * volume * GWH_PER_MW_VOLUME - float(stage_benefit(years, of_step, power_mw, 0.0, volume))

    assert cost(power) == pytest.approx(0, abs=1e-9)
    assert cost(power * (1 - WHOLE_PRICE / 2)) == pytest.approx(price / 2)
    assert cost(power * (1 - WHOLE_PRICE)) == pytest.approx(price)
    assert cost(0.0) == pytest.approx(price)


def test_no_price_is_the_training_itself(promised):
    assert priced(promised, 0.0) is promised
    assert priced(promised, 0.1) is priced(promised, 0.1)


@pytest.mark.parametrize("family", ["standard", "water-value"])
def test_the_training_years_are_operated_as_the_record_is(plan, training, family):
    rule = fit(family, training)
    simulated = simulate(rule, training.model, plan.inflow, training.start_hm3).operation
    assert np.array_equal(operated_training(rule, training).power_mw, simulated.power_mw)


class PricedRule:
    """Stands for a rule fitted at a price."""

    def __init__(self, price):
        self.price = price

    def __eq__(self, other):
        return self.price == other.price

    __hash__ = None


@pytest.fixture
def at_prices(promised, monkeypatch):
    """What `fit_promise` tries of a family that keeps a share of the months by the price, and the price it takes."""

    def tried(share_at, follows_the_plan=False):
        prices = []

        def fitter(family, training, forecast):
            cost = 0.0 if training is promised else float(training.limits.power_cost_most[0, 0])
            prices.append(cost / (Targets.of(promised).firm_mw * HOURS_PER_YEAR / 12_000))
            return PricedRule(0.0 if follows_the_plan else prices[-1])

        monkeypatch.setattr("reservoir.rules.reliability.share_kept", lambda rule, _: share_at(rule.price))
        return fit_promise(fitter, "any", promised, Forecast.MONTH).price, prices

    return tried


#: Of ten years: 12 months may fail, and their number is uncertain by its root, or half of it at most.
WANTED = SHARE + min(np.sqrt(0.1 / 120), 0.05)


def test_the_least_price_is_taken_that_keeps_the_share(at_prices):
    price, prices = at_prices(lambda price: 0.5 + 0.5 * price / (price + 0.3))
    needed = 0.3 * (WANTED - 0.5) / (1 - WANTED)
    assert prices[:4] == pytest.approx([0.0, *PRICES[:3]])
    assert price >= needed
    assert price == pytest.approx(min(each for each in prices if each >= needed))
    assert PRICES[2] < price < PRICES[3]


def test_a_rule_that_keeps_it_anyway_has_no_price(at_prices):
    assert at_prices(lambda price: WANTED) == (0.0, [0.0])


def test_where_no_price_is_enough_the_most_reliable_rule_is_taken(at_prices):
    price, prices = at_prices(lambda price: 0.8 - abs(price - PRICES[2]) / 100)
    assert price == pytest.approx(PRICES[2])
    assert len(prices) == 1 + len(PRICES)


def test_a_family_that_follows_the_plan_is_fitted_twice_at_most(at_prices):
    assert at_prices(lambda price: 0.5, follows_the_plan=True)[1] == pytest.approx([0.0, PRICES[0]])


def registered(monkeypatch, name, **further):
    monkeypatch.setitem(FAMILIES, name, Family(name, "", "", "", **further))


def test_a_family_begins_at_the_price_of_the_one_that_the_registry_names(at_prices, monkeypatch):
    registered(monkeypatch, "any", price_of="other")
    price, prices = at_prices(lambda price: min(0.5 + 0.5 * price, WANTED + 0.001))
    needed = 2 * (WANTED + 0.001 - 0.5)
    of_other = len(prices) - 1
    assert prices[:3] == pytest.approx([0.0, *PRICES[:2]])  # of the other one
    assert price == prices[of_other] == pytest.approx(min(each for each in prices if each >= needed))


def test_from_there_it_goes_up_where_that_is_too_little_and_down_where_it_is_too_much(promised, monkeypatch):
    registered(monkeypatch, "any", price_of="other")

    def tried(needed):
        prices = []

        def fitter(family, training, forecast):
            cost = 0.0 if training is promised else float(training.limits.power_cost_most[0, 0])
            rule = PricedRule(cost / (Targets.of(promised).firm_mw * HOURS_PER_YEAR / 12_000))
            rule.needed = needed if family == "any" else 0.4
            prices.extend([rule.price] if family == "any" else [])
            return rule

        kept = lambda rule, _: WANTED + 0.001 if rule.price >= rule.needed * (1 - 1e-9) else 0.5  # noqa: E731
        monkeypatch.setattr("reservoir.rules.reliability.share_kept", kept)
        assert fit_promise(fitter, "any", promised, Forecast.MONTH).price >= needed * (1 - 1e-9)
        return prices

    assert tried(0.4) == pytest.approx([0.4])
    assert tried(6.4) == pytest.approx([0.4, 1.6, 6.4])


def test_no_price_is_searched_for_a_family_that_knows_the_plan_alone(at_prices, monkeypatch):
    registered(monkeypatch, "any", follows_plan=True)
    assert at_prices(lambda price: 0.5)[1] == [0.0]
    assert FAMILIES["guide-curve"].follows_plan
    assert not FAMILIES["ann"].follows_plan
    assert FAMILIES["ann"].price_of == FAMILIES["replan"].price_of == "sdp"


def test_the_best_rule_keeps_the_promise_in_years_it_has_not_seen(evaluation, plan):
    best = best_fitted(evaluation)
    assert best.family == "water-value"
    assert best.held_out.score.firm_reliability >= SHARE
    free = best_fitted(evaluate(plan, folds=2, families=("water-value",)))
    assert free.held_out.score.firm_reliability < 0.8
    assert 0.95 < best.held_out.score.mean / free.held_out.score.mean < 1
    assert rule_from_dict(best.rule.to_dict()) == best.rule
    said = next(each.found for each in findings(evaluation) if each.compared.endswith("MW in 90 % of the months"))
    reached = f"{best.held_out.score.firm_reliability:.1%}"
    assert said.startswith(f"given in held-out months by water-value ({reached}); less often by ")
    assert "what the best possible rule could expect" not in [each.compared for each in findings(evaluation)]


def test_a_family_that_misses_it_is_never_the_best_though_it_brings_more(evaluation):
    """The guide curve follows the plan, which knows no promise."""
    guide = next(each for each in evaluation.families if each.family == "guide-curve")
    assert guide.held_out.score.firm_reliability < SHARE
    alone = replace(evaluation, families=(guide,))
    assert best_fitted(alone) is None
    said = {each.compared: each.found for each in findings(alone)}
    assert said["best family fitted to the plan"].startswith(
        "none: every family fitted to the plan gives 2,167 MW in less than 90 % of"
    )
    assert said["2,167 MW in 90 % of the months"].startswith("by no family; the most by guide-curve (")


def test_a_promise_of_the_reservoir_file_is_told_where_no_share_is_asked_for(xiaowan, ten_years):
    plan = optimise(replace(xiaowan, guaranteed_power_mw=2200.0), ten_years, solver="dp")
    evaluation = evaluate(plan, folds=2, families=("guide-curve",))
    often = evaluation.families[0].held_out.score.firm_reliability
    said = {each.compared: each.found for each in findings(evaluation)}
    expected = (
        f"guide-curve gives it in {often:.1%} of the held-out months; --reliability SHARE fits rules that keep it"
    )
    assert said["2,200 MW, the guaranteed power of the reservoir"] == expected


def test_rules_for_revenue_keep_a_promise_too_and_have_no_limit_of_costs_without_one(xiaowan, ten_years):
    prices = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.linspace(30.0, 60.0, 12))
    plain = replace(xiaowan, objective=prices, guaranteed_energy_gwh=None, guaranteed_power_mw=2000.0)
    training = Training.of(optimise(plain, ten_years, solver="dp"))
    free = fit("water-value", training)
    assert free.objective.power_cost_most == (UNLIMITED,) * 12
    promised = promising(training, 0.95)
    # The mean of three times that number is a rounding more than it.
    assert fit("water-value", promised.select(range(3))).objective.power_cost_most == (UNLIMITED,) * 12
    rule = fit_promise(fit, "water-value", promised, Forecast.MONTH)
    assert 0 < max(rule.objective.power_cost_most) < UNLIMITED
    assert share_kept(free, promised) < 0.95 <= share_kept(rule, promised)
    assert rule_from_dict(rule.to_dict()) == rule


def test_a_rule_file_without_the_terms_of_a_promise_is_read(xiaowan, ten_years):
    prices = Objective({Goal.REVENUE: 1.0}, price_per_mwh=50.0)
    plan = optimise(replace(xiaowan, objective=prices), ten_years.span(0, 4), solver="dp")
    rule = fit("water-value", Training.of(plan))
    content = rule.to_dict()
    del content["objective"]["power_cost"], content["objective"]["power_cost_most"]
    assert rule_from_dict(content) == rule
