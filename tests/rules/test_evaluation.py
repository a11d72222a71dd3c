"""An evaluation: in its order, on its years, and against perfect foresight of the same kind."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.planning.plan import optimise
from reservoir.rules import Forecast
from reservoir.rules.evaluation import Sample, evaluate
from reservoir.rules.scores import SimulationMode, worst_decile

FAMILIES = ("linear", "guide-curve", "standard")
EVERY = [(mode, sample) for mode in SimulationMode for sample in Sample]


@pytest.fixture(scope="module")
def evaluation(plan):
    return evaluate(plan, folds=5, families=FAMILIES)


def small_years(reservoir, inflow):
    """Three years of a reservoir, evaluated with the cheapest family."""
    plan = optimise(reservoir, inflow, solver="clpso-sequential", generations=30, particles=8, reference=False)
    return evaluate(plan, folds=3, families=("guide-curve",), forecast=Forecast.NONE)


def test_the_table_goes_by_run_then_family_then_sample(evaluation):
    table = evaluation.table()
    expected = [(str(mode), family, str(sample)) for mode in SimulationMode for family in FAMILIES for sample in Sample]
    assert list(table[["run", "family", "sample"]].itertuples(index=False, name=None)) == expected
    assert table["run"].iloc[0] == "continuous"
    assert table.drop(columns="supply_reliability").notna().all(axis=None)
    assert table["supply_reliability"].isna().all()  # nothing is demanded of the water


def test_the_same_plan_gives_the_same_table(plan, evaluation):
    assert evaluate(plan, folds=5, families=FAMILIES).table().equals(evaluation.table())


def test_a_continuous_run_carries_the_storage_over_the_ends_of_blocks(evaluation):
    for result in evaluation.families:
        storage = result.runs[SimulationMode.CONTINUOUS, Sample.HELD_OUT].operation.storage_hm3
        assert np.array_equal(storage[1:, 0], storage[:-1, -1])
    standard = evaluation.families[-1].runs[SimulationMode.CONTINUOUS, Sample.HELD_OUT].operation.storage_hm3
    blocks = range(2, 10, 2)
    assert any(standard[first, 0] != standard[0, 0] for first in blocks)


def test_a_yearly_run_begins_every_year_where_the_plan_begins_it(evaluation, plan):
    for result in evaluation.families:
        storage = result.runs[SimulationMode.YEARLY, Sample.HELD_OUT].operation.storage_hm3
        assert np.array_equal(storage[:, 0], plan.operation.storage_hm3[:, 0])


def test_every_block_is_decided_by_its_own_rule_and_training_years_by_one(evaluation):
    linear = evaluation.families[0]
    asked = {sample: linear.runs[SimulationMode.YEARLY, sample].asked_m3s for sample in Sample}
    assert not np.allclose(asked[Sample.TRAINING], asked[Sample.HELD_OUT])
    rule, plan = linear.rule, evaluation.training
    first = [
        rule.release(0, plan.storage_start_hm3[0, 0], plan.inflow_m3s[year, 0], plan.inflow_before_m3s[year, 0])
        for year in range(10)
    ]
    assert asked[Sample.TRAINING][:, 0].tolist() == first


def test_foresight_of_years_one_by_one_is_the_plans_energy_where_they_end_as_they_began(evaluation, plan):
    np.testing.assert_allclose(evaluation.foresight_benefit(SimulationMode.YEARLY), plan.energy_gwh, rtol=1e-9)


def test_years_are_dropped_where_storage_carries_over_and_a_sentence_says_so(small, small_inflow):
    alone = small_years(small, small_inflow)
    assert alone.modes == tuple(SimulationMode)
    assert alone.without_years == ""
    record = evaluate(optimise(small, small_inflow, solver="dp", horizon="record"), folds=3, families=("guide-curve",))
    assert record.modes == (SimulationMode.CONTINUOUS,)
    assert "storage carries water from year to year" in record.without_years
    dry = replace(small_inflow, flow_m3s=small_inflow.flow_m3s / 8)
    assert "times the mean annual inflow" in small_years(small, dry).without_years
    none = replace(small_inflow, flow_m3s=np.zeros_like(small_inflow.flow_m3s))
    assert "the record has no inflow" in small_years(small, none).without_years


def test_foresight_over_the_record_comes_back_to_its_start(evaluation):
    foresight = evaluation.foresights[SimulationMode.CONTINUOUS].operation[0]
    storage = foresight.storage_hm3
    assert storage[-1] == pytest.approx(storage[0])
    assert evaluation.foresight_benefit(SimulationMode.CONTINUOUS).sum() == pytest.approx(foresight.annual_energy_gwh)
    assert len(evaluation.foresight_benefit(SimulationMode.CONTINUOUS)) == 10


@pytest.mark.parametrize("at", EVERY, ids=lambda at: "-".join(at))
def test_scores_are_those_of_the_energies_beside_them(evaluation, at):
    for result in evaluation.families:
        energy, score = result.runs[at].at_equal_storage, result.runs[at].score
        assert (score.family, score.run, score.sample) == (result.family, *at)
        assert score.mean == energy.mean()
        years = result.runs[at].by_year
        assert score.worst_decile == worst_decile(years) == years.min()  # one year of ten
        assert score.regret == pytest.approx(evaluation.foresight_benefit(at[0]).mean() - energy.mean())


def test_the_worst_decile_is_the_mean_of_the_poorest_tenth():
    assert worst_decile(np.arange(20.0)[::-1]) == 0.5
    assert worst_decile(np.array([3.0])) == 3.0


def test_how_years_were_held_out_is_said_in_words(evaluation):
    assert evaluation.cross_validation == "5 blocks of years"
    assert replace(evaluation, folds=10).cross_validation == "leave one year out"


@pytest.mark.parametrize("horizon", ["record", 2])
def test_rules_may_be_fitted_to_the_optimum_of_another_horizon(horizon, small, small_inflow):
    """As rules of a plan with that horizon are, whatever plan is given."""
    lake = replace(small, initial_storage_hm3=95.0)
    years, longer = (optimise(lake, small_inflow, solver="dp", horizon=each) for each in ("year", horizon))
    call = {"folds": 3, "families": ("guide-curve",)}
    found = evaluate(years, horizon=horizon, **call)
    assert found.table().equals(evaluate(longer, **call).table())
    assert not found.table().equals(evaluate(years, **call).table())
    what = "the whole record as one problem" if horizon == "record" else "2 windows of 2 years"
    assert found.fitted_to == f"the optimum of {what}, not the schedule of this plan"


def test_the_horizon_of_the_plan_is_the_plan_itself(small, small_inflow):
    plan = optimise(small, small_inflow, solver="dp")
    found = evaluate(plan, folds=3, families=("guide-curve",), horizon="year")
    assert found.plan is plan
    assert found.fitted_to == ""
    with pytest.raises(InputError, match="the horizon is not known"):
        evaluate(plan, folds=3, families=("guide-curve",), horizon="decade")
