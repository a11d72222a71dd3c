"""Rules of two reservoirs: what they are fitted to, the joint decision of a step, and what they make of a record."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.planning.simulation import simulate_system
from reservoir.planning.system_plan import optimise_system
from reservoir.rules import Forecast
from reservoir.rules.base.physics import interpolate_values
from reservoir.rules.base.system_training import SystemTraining, operated_years
from reservoir.rules.evaluation import Sample
from reservoir.rules.families.ann import Scales
from reservoir.rules.families.ann_training import samples
from reservoir.rules.families.separable import Separable, arriving_late
from reservoir.rules.families.separable_operation import fit, joint_releases, of_classes, prices_of_classes
from reservoir.rules.system_advice import SystemSituation, advise_system, futures_of, outlook_of_system
from reservoir.rules.system_evaluation import SYSTEM_FAMILIES, evaluate_system

YEARS = 6
LINK = Link("upper", "lower", travel_steps=0.25, lost_share=0.02, lost_m3s=0.5)


def two(small) -> System:
    lower = replace(small, name="lower", initial_storage_hm3=95.0)
    return System((replace(small, name="upper", initial_storage_hm3=95.0), lower), (LINK,), name="pair")


def record(small_inflow) -> SiteInflows:
    """Wet and dry years, those of the lower reservoir not quite those of the upper one."""
    calendar, random = Calendar(1955, YEARS, first_month=6), np.random.default_rng(3)
    year = np.exp(0.35 * random.standard_normal((YEARS, 1)))
    parts = {"upper": 0.6, "lower": 0.3}
    noise = {name: np.exp(0.2 * random.standard_normal((YEARS, 12))) for name in parts}
    months = small_inflow.flow_m3s[1]
    return SiteInflows({name: Inflow(part * months * year * noise[name], calendar) for name, part in parts.items()})


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return optimise_system(two(small), record(small_inflow), solver="slp")


@pytest.fixture(scope="module")
def training(plan):
    return SystemTraining.of(plan)


@pytest.fixture(scope="module", params=list(Forecast))
def rule(request, training):
    return fit(training, request.param)


@pytest.fixture(scope="module")
def evaluation(plan):
    return evaluate_system(plan, folds=3, families=("separable", "linear"))


def test_a_reservoir_is_fitted_to_all_that_flows_in(plan, training):
    lower = training.sites[1]
    brought = plan.operation.arriving_m3s[1]
    np.testing.assert_allclose(lower.inflow_m3s, plan.inflows["lower"].flow_m3s + brought)
    np.testing.assert_allclose(lower.loss_m3s, 0, atol=1e-9)  # these lakes lose nothing


def test_water_is_worth_more_where_more_plants_are_below(training):
    upper, lower = training.worth.mean(axis=(0, 2))
    assert upper > 1.2 * lower > 0


def test_a_flow_in_classes_is_a_line_that_does_not_fall():
    river = np.array([[10.0], [20.0], [30.0]])
    classes = np.array([[0.0, 15.0, 40.0]])
    np.testing.assert_allclose(of_classes(2 + 0.5 * river, river, classes), [[2.0, 9.5, 22.0]])
    np.testing.assert_allclose(of_classes(50 - river, river, classes), [[30.0] * 3])
    np.testing.assert_allclose(of_classes(river - 5, river, classes)[0, 0], 0.0)


def test_a_price_by_class_may_fall_and_is_within_those_of_the_years(rule, training):
    river, worth = np.array([[10.0], [20.0], [30.0]]), np.array([[3.0], [2.0], [1.0]])
    np.testing.assert_allclose(prices_of_classes(worth, river, np.array([[0.0, 15.0, 40.0]])), [[3.0, 2.5, 1.0]])
    # What the upper reservoir is paid in the class of the mean inflow is the mean worth below, less what links lose.
    upper, volume = rule.sites[0], np.array(rule.sites[0].months.volume_per_flow)
    means, worth = training.river.inflow_m3s.mean(axis=0), training.worth[:, 1].mean(axis=0)
    for step in range(12):
        paid = np.interp(means[step], rule.classes_m3s[step], upper.per_released[step])
        after = (step + 1) % 12
        arriving = 0.75 * worth[step] + 0.25 * volume[step] / volume[after] * worth[after]
        assert paid == pytest.approx((1 - LINK.lost_share) * arriving, rel=0.1)


def test_what_all_bring_in_a_class_is_the_class(rule):
    np.testing.assert_allclose(np.sum(rule.local_m3s, axis=0), rule.classes_m3s)


def test_a_rule_is_the_same_read_back(rule):
    again = Separable.from_dict(json.loads(json.dumps(rule.to_dict())))
    assert again == rule
    content = rule.to_dict()
    content["local_m3s"][1][3] = content["local_m3s"][1][3][1:]
    content["per_arrival"] = content["per_arrival"][:1]
    with pytest.raises(InputError) as refused:
        Separable.from_dict(content)
    assert "local_m3s[1][3]: has the wrong number of values" in str(refused.value)
    assert "per_arrival: has the wrong number of values" in str(refused.value)


@pytest.mark.parametrize("travel", [0.0, 0.4, 1.3, 2.0])
def test_water_under_way_arrives_as_links_bring_it(travel):
    random, link = np.random.default_rng(1), replace(LINK, travel_steps=travel, before_m3s=7.0)
    flow, volume = random.uniform(20, 90, 24), random.uniform(2.4, 2.7, 24)
    at_once = (1 - link.lost_share) * sum(part for steps, part in link.parts if steps == 0)
    before = link.of_release(7.0, 7.0)

    def late(at):
        return arriving_late(link, lambda steps: flow[at - steps] if steps <= at else before, volume, at)

    step_by_step = [late(at) + at_once * flow[at] - link.lost_m3s for at in range(24)]
    np.testing.assert_allclose(step_by_step, link.arriving_m3s(flow[None], volume[None])[0])


@pytest.mark.parametrize("step", [1, 5, 9])
def test_no_pair_of_releases_is_worth_more_than_the_decision(rule, training, step):
    storage, upper = np.array([70.0, 45.0]), np.array([each.storage_upper_hm3[step] for each in rule.sites])
    local, late = np.array([25.0, 9.0]), np.array([[6.0]])
    known = local if rule.forecast is Forecast.MONTH else None
    classes, chain = np.array(rule.classes_m3s), np.array(rule.transitions)
    after = (step + 1) % 12
    if known is None:
        share = np.interp(np.arange(len(classes[0])), [0, 1], [1.0, 0.0])  # all that came before is of the first class
        inflows, probability = np.array(rule.local_m3s)[:, step], share @ chain[step]
        before, share = classes[step - 1][0], np.eye(len(classes[0]))
    else:
        inflows, probability, before = local[:, None], np.ones(1), 30.0
        place = np.interp(local.sum(), classes[step], np.arange(len(classes[0])))
        share = np.maximum(0.0, 1.0 - np.abs(place - np.arange(len(classes[0]))))[None]
    volume = rule.sites[0].months.volume_per_flow

    def worth(releases):
        total, brought = 0.0, 0.0
        for place, site in enumerate(rule.sites):
            inflow = inflows[place][None] + brought
            asked = releases[place][:, None]
            end, kept, made = site.outcome(step, storage[place], asked, inflow, upper[place])
            values = site._smooth[1][after] @ share.T
            total = total + made + interpolate_values(site._smooth[0], values[None], end[None])[0]
            if place == 0:
                brought = np.maximum(6.0 + 0.98 * 0.75 * kept - 0.5, 0.0)
                later = 0.98 * 0.25 * volume[step] / volume[after] * rule.per_arrival[1][after]
                total = total + later * kept
        return total @ probability

    chosen = rule.releases(training.system, step, storage, known, before, late, upper)
    tried = np.stack([each.ravel() for each in np.meshgrid(np.linspace(4, 120, 117), np.linspace(4, 120, 117))])
    best = worth(tried).max()
    assert worth(chosen[:, None])[0] >= best - 2e-4 * abs(best)


def test_rules_are_operated_as_their_releases_are(rule, training, plan):
    asked = joint_releases([rule] * YEARS, training.years, training.starts_hm3)
    run = operated_years(training.years, training.starts_hm3, lambda place, limits: asked[:, place])
    given = {name: asked[:, place] for place, name in enumerate(plan.system.names)}
    again = simulate_system(plan.system, plan.inflows, given).operation
    np.testing.assert_allclose(run.in_years(12).stacked("storage_hm3"), again.stacked("storage_hm3"))
    np.testing.assert_allclose(run.in_years(12).benefit, again.benefit)


def situation_of(rule, training, step=5):
    local, probability = rule.expected(step, 40.0)
    storages = np.array([70.0, 60.0])
    return SystemSituation(
        step, storages, local, probability, np.array([25.0, 12.0]), np.array([30.0, 50.0]), np.zeros(2, bool)
    )


def test_advice_is_the_joint_decision_and_hands_water_on(rule, training):
    situation = situation_of(rule, training)
    advice = advise_system(rule, training.system, situation)
    volume = np.array(rule.sites[0].months.volume_per_flow)
    step, share = situation.step, 1 - LINK.lost_share
    late = share * 0.25 * 30.0 * volume[step - 1] / volume[step]
    upper = np.array([site.storage_upper_hm3[step] for site in rule.sites])
    known = situation.local_m3s, situation.probability
    asked = rule.best_releases(training.system, step, situation.storage_hm3, *known, np.array([[late]]), upper)
    np.testing.assert_allclose([each.advice.asked_m3s for each in advice.values()], asked)
    lower = advice["lower"]
    at_once = share * 0.75 * advice["upper"].advice.release_m3s
    assert lower.arriving_m3s == pytest.approx(late + at_once - LINK.lost_m3s)
    earlier = 0.75 + 0.25 * volume[step - 2] / volume[step - 1]
    assert lower.situation.inflow_before_m3s == pytest.approx(12 + share * 30 * earlier - LINK.lost_m3s)
    for name, each in advice.items():
        volume_in = each.situation.inflow_m3s * volume[step]
        end = each.situation.storage_hm3 + volume_in - each.advice.release_m3s * volume[step]
        assert each.advice.end_storage_hm3 == pytest.approx(end), name


def test_water_released_is_worth_below_what_it_is_kept_for_there(rule, training):
    situation = situation_of(rule, training)
    advice, volume = advise_system(rule, training.system, situation), rule.sites[0].months.volume_per_flow
    later = 0.25 * rule.per_arrival[1][(situation.step + 1) % 12] / volume[(situation.step + 1) % 12]
    below = (1 - LINK.lost_share) * (0.75 * advice["lower"].worth.kept + later)
    # A higher lake below makes a little more in the month itself.
    assert 1.0 <= advice["upper"].worth.below / below < 1.05
    assert advice["lower"].worth.below == 0


def test_futures_follow_what_is_known_and_begin_as_decided(rule, training):
    situation, months = situation_of(rule, training), 5
    advice, futures = advise_system(rule, training.system, situation), futures_of(rule.inflow, situation, months)
    assert futures.shape == (100, months, 2)
    assert np.array_equal(futures_of(rule.inflow, situation, 7, members=120)[:100, :months], futures)
    # Wet months before make wet months; and what is told of a month is what comes.
    wetter = futures_of(rule.inflow, replace(situation, before_m3s=4 * situation.before_m3s), months)
    assert (wetter[:, 0].mean(axis=0) > futures[:, 0].mean(axis=0)).all()
    told = replace(situation, is_given=np.array([True, False]))
    known = futures_of(rule.inflow, told, months)
    assert (known[:, 0, 0] == situation.expected_m3s[0]).all()
    assert np.array_equal(known[:, 0, 1], futures[:, 0, 1])
    forecast = futures[:3, :2]
    of_forecast = futures_of(rule.inflow, situation, months, forecast)
    assert np.array_equal(of_forecast[:, :2], forecast)
    assert of_forecast.shape == (3, months, 2)
    assert np.array_equal(futures_of(None, situation, months, forecast), forecast)
    assert futures_of(None, situation, months) is None
    expected = np.repeat(situation.expected_m3s[None, None], 3, axis=0)
    ahead = outlook_of_system(rule, training.system, situation, advice, expected)
    for name, each in ahead.items():
        np.testing.assert_allclose(each.storage_hm3[:, 1], advice[name].advice.end_storage_hm3)
        np.testing.assert_allclose(each.release_m3s[:, 0], advice[name].advice.release_m3s)


def test_an_outlook_operates_as_the_links_bring_water(rule, training):
    """Storages of one future follow from its releases and what the link brings of them."""
    situation = situation_of(rule, training)
    futures = futures_of(rule.inflow, situation, 4)[:1]
    ahead = outlook_of_system(
        rule, training.system, situation, advise_system(rule, training.system, situation), futures
    )
    volume = np.roll(rule.sites[0].months.volume_per_flow, -situation.step)
    link, released = replace(LINK, before_m3s=30.0), ahead["upper"].release_m3s
    months = np.append(volume[-1], volume[:4])[None]
    arriving = link.arriving_m3s(np.append(30.0, released)[None], months)[:, 1:]
    inflow = {"upper": futures[..., 0], "lower": futures[..., 1] + arriving}
    for name, each in ahead.items():
        change = np.diff(each.storage_hm3, axis=1) - (inflow[name] - each.release_m3s) * volume[:4]
        np.testing.assert_allclose(change, 0, atol=1e-9)
        assert not each.missed.any()


def test_an_outlook_misses_the_lowest_power_where_months_make_less(rule, training):
    situation = situation_of(rule, training)
    futures = futures_of(rule.inflow, situation, 4)
    system, advice = training.system, advise_system(rule, training.system, situation)
    before = outlook_of_system(rule, system, situation, advice, futures)
    most = float(np.quantile(before["upper"].power_mw, 0.5))
    asks = replace(system.reservoirs[0], power_lower_mw=np.full(12, most))
    asking = replace(system, reservoirs=(asks, *system.reservoirs[1:]))
    ahead = outlook_of_system(rule, asking, situation, advice, futures)
    np.testing.assert_array_equal(ahead["upper"].missed, ahead["upper"].power_mw < most * (1 - 1e-6))
    assert 0 < ahead["upper"].missed.mean() < 1
    assert not (ahead["lower"].missed | before["upper"].missed).any()


def test_nothing_is_above_perfect_foresight_with_the_same_ends(evaluation):
    for run in evaluation.runs:
        np.testing.assert_allclose(
            run.foresight.stacked("storage_hm3")[..., -1], run.operation.stacked("storage_hm3")[..., -1], rtol=1e-6
        )
        assert run.foresight.violation_sum[0] <= 1e-9
        assert run.above_foresight <= 1e-12
    assert all(check.passed for check in evaluation.checks())


def test_joint_decisions_are_better_than_rules_for_each(evaluation):
    assert [run.family for run in evaluation.ranked] == ["separable", "linear"]
    fitted = evaluation.runs[0]
    assert (fitted.family, fitted.sample) == ("separable", Sample.TRAINING)
    assert fitted.charged > 0.97 * fitted.best


def test_a_run_that_is_better_than_the_foresight_known_betters_it(evaluation, monkeypatch):
    foresight, run = evaluation.foresight, evaluation.held_out("separable").operation
    better = foresight.ending_with(run)
    poor = operated_years(
        evaluation.training.years,
        evaluation.training.starts_hm3,
        lambda place, limits: np.full_like(limits.inflow_m3s, 80.0),
    )
    found = replace(foresight, operation=poor).ending_with(run)
    assert found.benefit[0] >= run.benefit[0]
    np.testing.assert_allclose(found.benefit, better.benefit, rtol=1e-2)


def test_the_table_has_a_row_for_all_and_for_each(evaluation):
    table = evaluation.table()
    runs = [("foresight", "all")] + [(family, str(sample)) for family in ("separable", "linear") for sample in Sample]
    rows = [(*run, name) for run in runs for name in ("system", "upper", "lower")]
    assert list(table[["family", "sample", "reservoir"]].itertuples(index=False, name=None)) == rows
    whole = table[table.reservoir == "system"]
    assert whole.percent_of_foresight.iloc[0] == pytest.approx(100)
    parts = table[table.reservoir != "system"].groupby(["family", "sample"]).mean_gwh.sum()
    made = whole.set_index(["family", "sample"])
    np.testing.assert_allclose(parts[made.index], made.mean_gwh - made.end_storage_value_gwh)


@pytest.mark.parametrize("family", ["sdp", "linear-search", "cleverest"])
def test_families_that_take_no_systems_are_refused(plan, family):
    with pytest.raises(InputError, match=r"whatever that costs below|no such family"):
        evaluate_system(plan, folds=2, families=(family,))
    assert family not in SYSTEM_FAMILIES


def test_what_a_plant_that_stores_nothing_decides_counts_for_a_network_all_alike(small, small_inflow):
    fixed = {name: np.full(12, 60.0) for name in ("storage_lower_hm3", "storage_upper_hm3")}
    river = replace(small, name="lower", initial_storage_hm3=60.0, final_storage_hm3=60.0, **fixed)
    system = System((replace(small, name="upper", initial_storage_hm3=95.0), river), (LINK,), name="pair")
    sites = SystemTraining.of(optimise_system(system, record(small_inflow), solver="slp")).sites
    counted = [samples(each, Forecast.MONTH, Scales.of(each))[2] for each in sites]
    assert (counted[1] == 1).all()
    assert not (counted[0] == 0).all()


def test_what_rules_do_not_know_is_refused(plan):
    for changed, said in (
        ({"objective": Objective({Goal.FIRM_POWER: 1.0})}, "do not know firm-power of all plants together yet"),
        ({"objective": Objective(firm_power_mw=3.0)}, "a firm power that is promised"),
    ):
        with pytest.raises(InputError, match=said):
            SystemTraining.of(replace(plan, system=replace(plan.system, **changed)))
    with pytest.raises(InputError, match="begins in a month"):
        SystemTraining.of(replace(plan, starts={"upper": None}))
