"""Storages that no repair keeps within their bounds: counted, scored, penalised in searches, and never the best."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.planning.plan import Plan, optimise
from reservoir.rules import Training, fit
from reservoir.rules.base.record_operation import violation_costs
from reservoir.rules.base.simulation import Violations, beyond_bounds, simulate
from reservoir.rules.evaluation import Evaluation, Sample, evaluate
from reservoir.rules.findings import best_fitted, findings, rules_checks, shortfalls
from reservoir.rules.scores import SimulationMode, evaluate_record

HELD_OUT = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


@pytest.fixture(scope="module")
def lake() -> Reservoir:
    """The template's reservoir: 120 hm3, some 40 m3/s, and floods that its outlets cannot pass at once."""
    return read_reservoir(Path(package.__file__).resolve().parent.parent / "data/template.toml")


@pytest.fixture(scope="module")
def flood_plan(lake: Reservoir) -> Plan:
    """Twenty synthetic years, each of which a plan that knows it keeps within the bounds."""
    random = np.random.default_rng(6)
    months = np.array([14, 16, 24, 48, 75, 80, 75, 60, 40, 30, 25, 18], float)
    flows = 40 * months / months.mean() * random.lognormal(0, 0.25, (20, 1)) * random.lognormal(0, 0.3, (20, 12))
    plan = optimise(lake, Inflow(flows, Calendar(1990, 20)), solver="dp", reference=False)
    assert plan.violation.sum() == 0
    return plan


@pytest.fixture(scope="module")
def evaluation(flood_plan: Plan) -> Evaluation:
    return evaluate(flood_plan, folds=5, families=("linear", "linear-search", "zones", "standard"))


def family(evaluation, name):
    return next(result for result in evaluation.families if result.family == name)


def only(evaluation, *names):
    return replace(evaluation, families=tuple(family(evaluation, name) for name in names))


def test_violations_by_hand(small):
    small = replace(small, storage_lower_hm3=small.storage_lower_hm3 + np.repeat([0.0, 10.0], 6))
    lower, upper = small.by_step(small.storage_lower_hm3), small.by_step(small.storage_upper_hm3)
    place = int(np.argmax(lower > lower.min()))
    ends = np.stack([(lower + upper) / 2] * 2)
    ends[0, 3], ends[1, place], ends[1, 6] = upper[3] + 10, lower[place] - 4, upper[6] * (1 + 1e-12)
    ends[0, place - 1] = lower.min() - 4  # below dead storage only losses go
    beyond = beyond_bounds(small, ends)
    assert beyond[0, 3] == pytest.approx(10)
    assert beyond[1, place] == pytest.approx(-4)
    assert np.count_nonzero(beyond) == 2
    found = Violations.of(small, ends)
    assert (found.months, found.largest_hm3) == (2, pytest.approx(10))
    assert found.relative == pytest.approx(10 / upper[3] + 4 / lower[place])


def test_below_dead_storage_only_losses_go_which_is_no_violation(small):
    dead = float(small.storage_lower_hm3.min())
    level = replace(small, storage_lower_hm3=np.full(12, dead))
    assert Violations.of(level, np.full((2, 12), dead - 12.0)) == Violations(0, 0.0, 0.0)


def test_a_storage_that_is_no_number_is_no_storage_within_bounds(small):
    assert Violations.of(small, np.full((1, 12), np.nan)).months == 12


def test_scores_count_what_the_simulation_leaves_outside(evaluation, lake):
    violated = 0
    for result in evaluation.families:
        for run in result.runs.values():
            ends, score = run.operation.storage_hm3[:, 1:], run.score
            outside = (ends > 120 * (1 + 1e-9)) | (ends < 20 * (1 - 1e-9))
            assert score.months_violated == outside.sum()
            assert score.largest_violation_hm3 == pytest.approx(np.maximum(ends - 120, 20 - ends).clip(min=0).max())
            assert score.violation == pytest.approx(run.operation.violation.sum(), abs=1e-6)
            violated += score.months_violated
    assert violated > 0


def test_the_rule_of_most_energy_is_not_the_best_where_it_leaves_the_bounds(evaluation):
    linear, zones = family(evaluation, "linear"), family(evaluation, "zones")
    assert zones.runs[HELD_OUT].at_equal_storage.sum() > linear.runs[HELD_OUT].at_equal_storage.sum()
    assert zones.runs[HELD_OUT].score.months_violated > 0 == linear.runs[HELD_OUT].score.months_violated
    assert best_fitted(only(evaluation, "linear", "zones")).family == "linear"


def test_where_every_fitted_family_leaves_the_bounds_none_is_best_which_is_a_finding(evaluation):
    broken = only(evaluation, "zones", "standard")
    assert best_fitted(broken) is None
    (finding,) = findings(broken)
    assert finding.found.startswith("none: every family violates limits that foresight satisfies, least zones")
    assert all(check.passed for check in rules_checks(broken))
    assert shortfalls(broken)[-1].endswith("none is recommended.")


def test_what_perfect_foresight_cannot_keep_is_held_against_no_rule(evaluation):
    zones = only(evaluation, "zones")
    found = zones.foresights[SimulationMode.CONTINUOUS]
    ends = found.operation.storage_hm3.copy()
    ends[0, 1:4] = 119 + np.array([30.0, 40.0, 50.0])
    spoilt = replace(found, operation=replace(found.operation, storage_hm3=ends))
    (result,) = zones.families
    result = replace(result, runs={**result.runs, HELD_OUT: replace(result.held_out, foresight=spoilt)})
    flooded = replace(zones, foresights={**zones.foresights, SimulationMode.CONTINUOUS: spoilt}, families=(result,))
    assert flooded.foresight_violations.months == 3
    assert best_fitted(flooded).family == "zones"
    assert shortfalls(flooded)[0].startswith("Perfect foresight violates the storage limits in 3 of 240 months")


def test_every_family_that_leaves_the_bounds_is_told(evaluation):
    said = shortfalls(evaluation)
    for result in evaluation.families:
        leaves = any(result.runs[SimulationMode.CONTINUOUS, sample].score.months_violated for sample in Sample)
        assert any(sentence.startswith(f"The rule {result.family} violates") for sentence in said) is leaves
    assert "the best family fitted to the plan is linear" in said[-1]
    assert shortfalls(only(evaluation, "linear")) == []


def test_no_rule_beats_foresight_by_leaving_the_bounds(evaluation):
    """The energy of water that no outlet passes is charged for, so that the bound holds for it too."""
    zones = family(evaluation, "zones")
    more = evaluation.foresight_benefit(SimulationMode.CONTINUOUS) * 1.0005
    for name, passes in (("zones", True), ("linear", False)):
        result = family(evaluation, name)
        run = replace(result.runs[HELD_OUT], made=more, end_value=np.zeros_like(more))
        raised = replace(result, runs={**result.runs, HELD_OUT: run})
        checks = rules_checks(replace(evaluation, families=(raised,)))
        (check,) = [each for each in checks if "above perfect foresight" in each.check]
        assert check.passed is passes
    assert zones.runs[HELD_OUT].score.months_violated > 0


def test_the_search_of_linear_rules_keeps_the_bounds_of_its_years(flood_plan):
    training = Training.of(flood_plan)
    run = simulate(fit("linear-search", training), training.model, flood_plan.inflow, 110.0)
    assert Violations.of(flood_plan.reservoir, run.operation.storage_hm3[:, 1:]).months == 0


def test_a_search_counts_a_violation_as_the_objective_does(lake):
    below, above = violation_costs(lake)
    assert below == pytest.approx(np.full(12, lake.penalty / 20))
    assert above == pytest.approx(np.full(12, lake.penalty / 120))


def test_a_record_that_a_rule_cannot_keep_is_scored_so(flood_plan, lake):
    training = Training.of(flood_plan)
    wet = Inflow(flood_plan.inflow.flow_m3s * 1.3, flood_plan.inflow.calendar)
    ran = evaluate_record(fit("standard", training), lake, wet, foresight=False)
    assert ran.score.months_violated == len(ran.shortfalls()) > 0
    assert ran.score.largest_violation_hm3 > 0


def test_foresight_that_cannot_come_back_is_charged_for_the_water_that_is_missing(flood_plan, lake):
    dry = Inflow(np.full((1, 12), 6.0), Calendar(1990, 1))
    rule = fit("standard", Training.of(flood_plan))
    low = evaluate_record(rule, lake, dry, start_hm3=119.0)
    start_higher = evaluate_record(rule, lake, dry, start_hm3=119.5)
    # As much water flows in; half a hm3 more that is used is half a hm3 more that is missing.
    assert start_higher.foresight_benefit.sum() == pytest.approx(low.foresight_benefit.sum(), rel=2e-2)
