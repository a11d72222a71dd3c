"""Where water is carried over years, and for other objectives than energy, nothing is above perfect foresight."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.objectives import Goal, Objective
from reservoir.planning.notes import CARRY_OVER, storage_ratio
from reservoir.planning.plan import optimise
from reservoir.rules.base.foresight import operated
from reservoir.rules.evaluation import Sample, evaluate
from reservoir.rules.findings import FORESIGHT_TOLERANCE, rules_checks
from reservoir.rules.scores import SimulationMode
from reservoir.zoo import Part, zoo_case

FAMILIES = ("guide-curve", "linear", "sdp", "water-value", "standard")
#: Of the test part: a free end with evaporation, a cyclic and a fixed one.
CARRYING = (2, 13, 14)
PRICES = np.array([90, 80, 60, 40, 30, 25, 25, 30, 45, 60, 75, 90.0])
#: Each with what it takes of the installed capacity and of the mean inflow.
OBJECTIVES = {
    "revenue": lambda installed, flow: Objective({Goal.REVENUE: 1.0}, price_per_mwh=PRICES),
    "supply-shortage": lambda installed, flow: Objective(
        {Goal.SUPPLY_SHORTAGE: 1.0}, supply_target_m3s=np.full(12, flow)
    ),
    "power-shortage": lambda installed, flow: Objective(
        {Goal.POWER_SHORTAGE: 1.0}, power_target_mw=np.full(12, 0.6 * installed)
    ),
}


@pytest.fixture(scope="module", params=CARRYING)
def carried(request):
    """An evaluation of a reservoir whose storage is about its mean annual inflow or more."""
    case = zoo_case(request.param, 12, part=Part.TEST)
    assert storage_ratio(case.reservoir, case.inflow) > CARRY_OVER
    plan = optimise(case.reservoir, case.inflow, solver="dp", horizon="record", reference=False)
    return evaluate(plan, folds=3, families=FAMILIES)


@pytest.fixture(scope="module", params=OBJECTIVES)
def of_objective(request):
    """An evaluation of another objective than energy, whose penalty is that of a plan by default."""
    case = zoo_case(14, 20, part=Part.TEST)
    lake = case.reservoir
    objective = OBJECTIVES[request.param](lake.installed_mw, float(case.inflow.flow_m3s.mean()))
    lake = replace(lake, objective=objective, penalty=objective.largest_per_year(lake.installed_mw))
    plan = optimise(lake, case.inflow, solver="dp", horizon="record", reference=False)
    return evaluate(plan, folds=3, families=FAMILIES)


def scores(evaluation):
    return [(run, run.score) for result in evaluation.families for run in result.runs.values()]


def test_nothing_is_above_foresight_where_storage_carries_over(carried):
    assert all(check.passed for check in rules_checks(carried))
    assert carried.modes == (SimulationMode.CONTINUOUS,)
    for run, score in scores(carried):
        assert score.regret >= -FORESIGHT_TOLERANCE * run.foresight_benefit.mean()
        assert score.percent_of_foresight <= 100 * (1 + FORESIGHT_TOLERANCE)


def test_the_last_years_tell_what_an_end_is_worth_as_the_whole_record_does(carried, monkeypatch):
    foresight = carried.foresights[SimulationMode.CONTINUOUS]
    lower, upper = carried.plan.reservoir.storage_bounds_hm3[:, -1]
    ends = np.linspace(lower, upper, 4)[:, np.newaxis]
    solved = []
    monkeypatch.setattr(
        "reservoir.rules.base.foresight.operated", lambda *given: solved.append(given[1].steps) or operated(*given)
    )
    monkeypatch.setattr("reservoir.rules.base.foresight.LAST_YEARS", 12)
    whole = foresight.values_of_ends(ends)
    assert solved == [144]
    monkeypatch.setattr("reservoir.rules.base.foresight.LAST_YEARS", 2)
    assert foresight.values_of_ends(ends) == pytest.approx(
        whole, abs=FORESIGHT_TOLERANCE * float(foresight.operation.benefit[0])
    )
    assert solved[1] == 24


def test_no_year_of_a_record_has_negative_energy_or_credit_for_water(carried):
    for run, score in scores(carried):
        assert run.by_year.min() >= 0
        assert score.worst >= 0
        assert np.count_nonzero(run.end_value) <= 1  # the last year alone has a value of the end, beside its energy


def test_the_standard_policy_gives_its_own_firm_power_in_nine_months_of_ten(carried):
    standard = carried.families[-1].runs[SimulationMode.CONTINUOUS, Sample.TRAINING].score
    assert standard.family == "standard"
    assert standard.firm_reliability >= 0.9


def test_rules_of_other_objectives_are_scored_in_their_own_unit(of_objective):
    assert all(check.passed for check in rules_checks(of_objective))
    table, objective = of_objective.table(), of_objective.plan.objective
    assert {"mean_objective", "regret_objective", "mean_energy_gwh"} <= set(table)
    assert "mean_gwh" not in table
    largest = objective.largest_per_year(of_objective.plan.reservoir.installed_mw)
    assert (table["regret_objective"] >= -FORESIGHT_TOLERANCE * largest).all()
    assert table["percent_of_foresight"].isna().all() == objective.is_cost
    if objective.is_cost:
        assert (table["mean_objective"] >= 0).all()  # what is to be small has no sign


def test_a_rule_that_looks_ahead_regrets_less_than_one_that_knows_energy_alone(of_objective):
    """`sdp` optimises what its plan does: `standard` knows the firm power, and nothing of prices or targets."""
    regret = {
        result.family: result.runs[SimulationMode.CONTINUOUS, Sample.TRAINING].score.regret
        for result in of_objective.families
    }
    assert regret["sdp"] <= regret["standard"]
    assert regret["water-value"] <= regret["standard"]


def test_values_of_water_follow_a_lake_that_a_drought_holds_below_its_bounds():
    """Values that end at the lowest bound forgive after a month that the lake is below it."""
    case = zoo_case(3, 30, part=Part.TUNING)
    plan = optimise(case.reservoir, case.inflow, solver="dp", horizon="record", reference=False)
    evaluation = evaluate(plan, folds=2, families=("sdp", "standard"))
    sdp, standard = (each.runs[SimulationMode.CONTINUOUS, Sample.HELD_OUT].score for each in evaluation.families)
    assert sdp.violation < standard.violation
    assert sdp.percent_of_foresight > standard.percent_of_foresight
