"""A record operated by one rule: its tables add up, and what is not known is said to be unknown."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import optimise
from reservoir.rules import Training, fit
from reservoir.rules.base.targets import Targets
from reservoir.rules.evaluation import Sample
from reservoir.rules.scores import SimulationMode, evaluate_record
from reservoir.text.strict_json import strict_json
from tests.year_ends import cyclic

FULL = 14557.0


@pytest.fixture(scope="module")
def rule(training):
    return fit("linear", training)


@pytest.fixture(scope="module")
def ran(rule, xiaowan, ten_years):
    return evaluate_record(rule, xiaowan, ten_years)


def test_the_training_score_of_an_evaluation_is_found_again(six_year_rules, xiaowan):
    evaluation, _ = six_year_rules
    result = evaluation.families[1]
    again = evaluate_record(result.rule, xiaowan, evaluation.plan.inflow).score
    wanted = result.runs[SimulationMode.CONTINUOUS, Sample.TRAINING].score
    # Nothing is demanded of the water: a NaN, which equals nothing.
    assert np.isnan([again.supply_reliability, wanted.supply_reliability]).all()
    assert replace(again, sample=wanted.sample, supply_reliability=0.0) == replace(wanted, supply_reliability=0.0)


def test_reliability_without_targets_is_unknown_and_null_in_json(small, small_inflow):
    plan = optimise(small, small_inflow, solver="dp", reference=False)
    run = evaluate_record(fit("guide-curve", Training.of(plan)), small, small_inflow, foresight=False)
    assert run.targets is None
    score = json.loads(strict_json(run.score.as_dict()))
    names = ("reliability", "resilience", "vulnerability")
    assert {score[f"{part}{name}"] for part in ("", "firm_") for name in names} == {None}
    assert score["firm_95_reliability"] is None


def test_the_water_balance_of_the_schedule_closes(ran, ten_years):
    rows = ran.schedule()
    gained = (rows["inflow_m3s"] - rows["release_m3s"]) * ten_years.calendar.hm3_per_m3s.ravel()
    assert np.allclose(rows["storage_start_hm3"] + gained, rows["storage_end_hm3"], atol=1e-6)
    assert np.allclose(rows["release_m3s"], rows["turbined_m3s"] + rows["spill_m3s"])


def test_the_summary_is_the_schedule_added_up(ran):
    months, years = ran.schedule(), ran.summary()
    assert list(years["year"]) == list(months["year"].unique())
    for name in ("energy_gwh", "violation"):
        assert np.allclose(months.groupby("year")[name].sum(), years[name])
    assert list(months.groupby("year")["repaired"].sum()) == list(years["repairs"])
    assert years["energy_at_equal_storage_gwh"].mean() == pytest.approx(ran.score.mean)
    assert 100 * years["energy_at_equal_storage_gwh"].sum() / years["foresight_gwh"].sum() == pytest.approx(
        ran.score.percent_of_foresight
    )


def test_perfect_foresight_is_better_than_any_rule_over_the_record(ran):
    assert ran.score.percent_of_foresight <= 100.001
    assert ran.score.regret > 0


def test_a_record_of_one_year_is_that_year_at_equal_end_storage(rule, xiaowan, ten_years):
    alone = evaluate_record(rule, xiaowan, ten_years.span(0, 1), start_hm3=9000.0)
    assert alone.end_value[0] != 0
    assert alone.score.worst == alone.score.mean == pytest.approx(float(alone.made[0] + alone.end_value[0]))


def test_years_that_start_anew_all_start_at_the_same_storage(rule, xiaowan, ten_years):
    rows = evaluate_record(rule, xiaowan, ten_years, start_hm3=9000.0, continuous=False, foresight=False).schedule()
    assert (rows["storage_start_hm3"][::12] == 9000).all()


def test_without_foresight_what_needs_it_is_unknown(rule, xiaowan, ten_years, ran):
    done = evaluate_record(rule, xiaowan, ten_years, foresight=False)
    assert np.isnan(done.score.percent_of_foresight)
    assert np.isnan(done.score.regret)
    assert done.summary()["foresight_gwh"].isna().all()
    assert done.score.mean == pytest.approx(ran.score.mean - ran.score.end_storage_value)
    assert done.score.end_storage_value == 0


def test_a_reservoir_that_guarantees_nothing_has_no_targets_unless_they_are_given(rule, xiaowan, ten_years):
    plant = replace(xiaowan, guaranteed_energy_gwh=None)
    assert evaluate_record(rule, plant, ten_years, foresight=False).targets is None
    aims = Targets(1.0, 1.0, 1.0, False, "the test")
    assert evaluate_record(rule, plant, ten_years, targets=aims, foresight=False).score.reliability == 1


def test_months_that_no_release_keeps_within_bounds_are_named(rule, xiaowan):
    drought = Inflow(flow_m3s=np.full((1, 12), 50.0), calendar=Calendar(2001, 1))
    told = evaluate_record(rule, xiaowan, drought, start_hm3=5000.0, foresight=False).shortfalls()
    assert told[0].startswith("2001 ")
    assert told[0].endswith("m³/s are missing of the minimum release; there is no more water above dead storage")
    lower = np.where(np.arange(12) == 2, 6000.0, xiaowan.storage_lower_hm3)
    bounded = replace(xiaowan, storage_lower_hm3=lower)
    told = evaluate_record(rule, bounded, drought, start_hm3=5000.0, foresight=False).shortfalls()
    assert told[0] == (
        "2001 Mar: the storage at the end of the month is 1,338 hm³ below its lower limit of 6,000 hm³; "
        "no permitted release avoids this"
    )
    flood = Inflow(flow_m3s=np.full((1, 12), 9000.0), calendar=Calendar(2001, 1))
    told = evaluate_record(rule, xiaowan, flood, foresight=False).shortfalls()
    assert "above its upper limit of 14,557 hm³" in told[0]


def test_foresight_that_violates_the_limits_too_is_named(rule, xiaowan):
    flow = np.full((2, 12), 1000.0)
    flow[1] = 9000.0
    flood = Inflow(flow_m3s=flow, calendar=Calendar(2001, 2))
    for continuous in (True, False):
        run = evaluate_record(rule, xiaowan, flood, continuous=continuous)
        assert run.foresight_violations.months > 0
        told = run.shortfalls()[-1]
        assert told.startswith("Perfect foresight violates the storage limits too, in ")
        assert f"{run.foresight_violations.months} months by up to" in told
    without = evaluate_record(rule, xiaowan, flood, foresight=False)
    assert without.foresight_violations is None
    assert "Perfect foresight" not in " ".join(without.shortfalls())


def test_a_run_within_its_bounds_has_no_shortfalls(ran):
    assert ran.shortfalls() == []


def test_a_cyclic_reservoir_needs_a_start(rule, xiaowan, ten_years):
    with pytest.raises(InputError) as refusal:
        evaluate_record(rule, cyclic(xiaowan), ten_years)
    assert refusal.value.mistakes[0].column == "--level"
    assert evaluate_record(rule, cyclic(xiaowan), ten_years, start_hm3=FULL, foresight=False).start_hm3 == FULL


def test_a_record_of_other_water_years_is_refused(rule, xiaowan, ten_years):
    june = Inflow(flow_m3s=ten_years.flow_m3s, calendar=Calendar(1953, 10, first_month=6))
    with pytest.raises(InputError):
        evaluate_record(rule, xiaowan, june)
