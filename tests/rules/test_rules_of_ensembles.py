"""Rules over ensembles: each member is operated as a record by itself, and no rule has seen its test member."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import optimise
from reservoir.problems.mlp import Perceptron
from reservoir.rules import FAMILIES, Forecast, Training, fit
from reservoir.rules.base import training as training_module
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.record_operation import record_of, stored_value_per_hm3
from reservoir.rules.base.simulation import decisions, simulate
from reservoir.rules.evaluation import Sample, evaluate
from reservoir.rules.families import linear
from reservoir.rules.families.ann import AnnRule, Scales, input_names
from reservoir.rules.families.ann_operation import NetworkOperation
from reservoir.rules.families.linear_operation import operate_linear
from reservoir.rules.families.zones_operation import Charts, Trial
from reservoir.rules.scores import SimulationMode, evaluate_record, service

FULL, MEMBERS, EACH = 14557.0, 4, 5
HEADLINE = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


@pytest.fixture(scope="module")
def ensemble(inflow) -> Inflow:
    """Twenty years of the bundled record as members of five."""
    calendar = Calendar(2001, MEMBERS * EACH, years_each=EACH)
    return Inflow(inflow.flow_m3s[:20], calendar, members=["a", "b", "c", "d"])


@pytest.fixture(scope="module")
def plan(xiaowan, ensemble):
    return optimise(xiaowan, ensemble, solver="dp")


@pytest.fixture(scope="module")
def training(plan) -> Training:
    return Training.of(plan)


@pytest.fixture(scope="module")
def few(training) -> Training:
    """Two years, which families of networks are fitted to in no time."""
    return training.select([0, 5])


def record_of_member(ensemble, member) -> Inflow:
    return Inflow(ensemble.flow_m3s[EACH * member : EACH * (member + 1)], Calendar(2001, EACH))


def spoken(rule, training, storages):
    """Releases asked one by one, and all at once."""
    month = rule.forecast is Forecast.MONTH
    for step in range(12):
        now, before = training.inflow_m3s[:, step], training.inflow_before_m3s[:, step]
        asked = [
            rule.release(step, *situation)
            for situation in zip(
                storages.tolist(), now.tolist() if month else [None] * 20, before.tolist(), strict=True
            )
        ]
        yield np.array(asked), rule.releases(step, storages, now if month else None, before)


@pytest.mark.parametrize("family", FAMILIES)
def test_many_situations_are_decided_as_each_of_them(training, few, family, forecast):
    rule = fit(family, few if family.startswith("ann") else training, forecast)
    storages = np.random.default_rng(3).uniform(4662.0, FULL, training.years)
    for one_by_one, at_once in spoken(rule, training, storages):
        assert at_once == pytest.approx(one_by_one, rel=1e-9)


@pytest.mark.parametrize("family", ["guide-curve", "linear", "zones", "sdp", "standard"])
@pytest.mark.parametrize("continuous", [True, False])
def test_every_member_is_operated_as_a_record_by_itself(training, ensemble, family, continuous):
    rule = fit(family, training)
    together = simulate(rule, training.model, ensemble, FULL, continuous=continuous, inflow_before_m3s=500.0)
    for member in range(MEMBERS):
        own = slice(EACH * member, EACH * (member + 1))
        record = record_of_member(ensemble, member)
        alone = simulate(rule, training.model, record, FULL, continuous=continuous, inflow_before_m3s=500.0)
        assert together.asked_m3s[own] == pytest.approx(alone.asked_m3s, rel=1e-9)
        assert together.operation.storage_hm3[own] == pytest.approx(alone.operation.storage_hm3, rel=1e-9)
        assert np.array_equal(together.repaired[own], alone.repaired)


def test_each_year_may_have_a_rule_of_its_own(training, ensemble):
    rules = [fit("linear", training), fit("standard", training)]
    of_years = [rules[year // EACH % 2] for year in range(20)]
    mixed = simulate(of_years, training.model, ensemble, FULL).asked_m3s
    for rule, members in zip(rules, ([0, 2], [1, 3]), strict=True):
        alone = simulate(rule, training.model, ensemble, FULL).asked_m3s
        own = np.isin(np.arange(20) // EACH, members)
        assert np.array_equal(mixed[own], alone[own])
    assert decisions(of_years, training).shape == (20, 12)


def test_the_first_month_of_a_member_knows_nothing_of_the_member_before(training, ensemble):
    mean = ensemble.flow_m3s[:, -1].mean()
    assert training.inflow_before_m3s[::EACH, 0].tolist() == [mean] * MEMBERS
    assert np.array_equal(training.inflow_before_m3s[1:EACH, 0], ensemble.flow_m3s[: EACH - 1, -1])


def simulated_value(rule, training, ensemble):
    """Energy of all years, GWh, with that of the water that each member leaves."""
    run = simulate(rule, training.model, ensemble, training.start_hm3)
    left = run.end_storage_hm3[EACH - 1 :: EACH] - training.start_hm3
    return run.energy_gwh.sum() + stored_value_per_hm3(training) * left.sum()


def test_the_search_of_linear_rules_counts_members_as_they_are_simulated(training, ensemble, forecast):
    rule = linear.fit(training, forecast)
    lower, upper = training.model.reservoir.storage_bounds_hm3.tolist()
    rule = linear.LinearRule.from_dict(rule.to_dict() | {"lowest_hm3": lower, "highest_hm3": upper})
    numbers, values = np.column_stack([rule.constant_hm3, rule.factors]), np.empty(1)
    record = record_of(training, rule.months, forecast)
    operate_linear(training.model.exact, record, numbers[None], values)
    assert values[0] == pytest.approx(simulated_value(rule, training, ensemble), rel=1e-9)


def test_the_search_of_charts_counts_members_as_they_are_simulated(training, ensemble, forecast):
    rule, trial = fit("zones", training, forecast), Trial.of(training, forecast)
    levels = [int(np.abs(trial.outputs_mw - output).argmin()) for output in rule.outputs_mw]
    other = np.roll(np.array(rule.curves_hm3), 1, axis=1)
    charts = Charts(np.stack([other, np.array(rule.curves_hm3)]), np.array([levels, levels]))
    counted = replace(trial, guaranteed_gwh=0.0).operate(charts)[0]
    assert counted[1] == pytest.approx(simulated_value(rule, training, ensemble), rel=1e-9)


def test_the_search_of_networks_counts_members_as_they_are_simulated(training, ensemble, forecast):
    network, scales = Perceptron(len(input_names(forecast)), 6, 1, bias=True), Scales.of(training)
    operation = NetworkOperation.of(training, network, forecast, scales)
    position = np.random.default_rng(5).normal(0, 2, operation.dimension)
    rule = AnnRule.of(training, forecast, scales, network, position)
    counted = float(operation.mean_benefits(position[None])[0])
    assert counted == pytest.approx(simulated_value(rule, training, ensemble) / 20, rel=1e-9)


def test_perfect_foresight_is_of_each_member(training, ensemble):
    whole = Foresight.of(training.model, ensemble, FULL).operation
    assert whole.storage_hm3.shape == (MEMBERS, 12 * EACH + 1)
    for member in range(MEMBERS):
        alone = Foresight.of(training.model, record_of_member(ensemble, member), FULL).operation[0]
        assert np.array_equal(whole.release_m3s[member], alone.release_m3s)


def test_no_rule_has_seen_a_year_of_the_member_that_it_is_tested_on(plan, monkeypatch):
    seen = []

    def listening(family, training, forecast):
        seen.append({label.split(":")[0] for label in training.labels})
        return fit(family, training, forecast)

    monkeypatch.setattr("reservoir.rules.evaluation.fit", listening)
    result = evaluate(plan, folds=2, families=("guide-curve",))
    assert seen == [{"a", "b", "c", "d"}, {"c", "d"}, {"a", "b"}]
    assert result.cross_validation == "2 blocks of members"
    assert evaluate(plan, folds=4, families=("guide-curve",)).cross_validation == "leave one member out"


def test_more_folds_than_members_are_refused(plan):
    with pytest.raises(
        InputError, match=r"is not a valid number of folds \(found 5\); expected 2 to 4, the number of mem"
    ):
        evaluate(plan, folds=5, families=("guide-curve",))


def test_scores_of_an_ensemble_are_those_of_all_its_members(plan, ensemble):
    result = evaluate(plan, folds=2, families=("linear",)).families[0]
    rule, score = result.rule, result.runs[SimulationMode.CONTINUOUS, Sample.TRAINING].score
    alone = evaluate_record(rule, plan.reservoir, ensemble, start_hm3=FULL).score
    assert score.mean == alone.mean
    assert score.percent_of_foresight == alone.percent_of_foresight < 100


def test_a_member_that_fails_at_its_end_is_not_followed_by_the_next():
    rows = np.array([[2.0, 0.0], [2.0, 2.0]])
    assert service(rows, 1.0).resilience == 1.0  # nothing follows
    assert service(rows.ravel(), 1.0).resilience == 1.0  # as a record, the next year reaches it
    assert service(np.array([[0.0, 0.0], [2.0, 2.0]]), 1.0).resilience == 0.0
    assert service(np.array([0.0, 0.0, 2.0, 2.0]), 1.0).resilience == 0.5


def test_searches_of_large_ensembles_operate_whole_members_spread_over_all(training, monkeypatch):
    assert training.searched() is training
    monkeypatch.setattr(training_module, "MOST_SEARCHED_YEARS", 10)
    sample = training.searched()
    assert [label for label in sample.labels if label.endswith("2001")] == ["a: 2001", "d: 2001"]
    assert sample.years == 10
    monkeypatch.setattr(training_module, "MOST_SEARCHED_YEARS", 1)
    assert training.searched().years == EACH


def test_blocks_for_searches_are_of_whole_members_if_there_are_enough(training):
    assert training_module.parts_of(training, 4) == [range(0, 5), range(5, 10), range(10, 15), range(15, 20)]
    assert training_module.parts_of(training, 5) == training_module.blocks(20, 5)


def test_a_part_of_an_ensemble_that_begins_within_a_member_is_refused(plan, xiaowan, training, ensemble):
    part = ensemble.span(1, 10)
    words = "needs whole members: this part of an ensemble begins or ends within one of 5 years"
    with pytest.raises(InputError, match=f"the fit of rules {words}"):
        Training.of(optimise(xiaowan, part, solver="dp"))
    with pytest.raises(InputError, match=f"the simulation of a rule {words}"):
        simulate(fit("standard", training), training.model, part, FULL)


def test_tables_of_a_simulation_name_the_member_before_the_year(training, ensemble, xiaowan):
    run = evaluate_record(fit("standard", training), xiaowan, ensemble, foresight=False)
    assert list(run.schedule().columns[:2]) == list(run.summary().columns[:2]) == ["member", "year"]
    assert run.summary()["member"].tolist() == [name for name in "abcd" for _ in range(EACH)]
    assert run.schedule()["year"].tolist() == [str(2001 + month // 12 % EACH) for month in range(240)]
