"""The acceptance checks pass on a good plan, and each fails on a plan that is bad in its way."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import Check, all_pass, largest, part_of, plan_checks, proof_lines
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.planned_record import Proofs, feasible_years
from reservoir.planning.sentences import proof_sentences, shortfall_months
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import Solutions


@pytest.fixture(scope="module")
def plan(small: Reservoir, small_inflow: Inflow) -> Plan:
    """A plan good enough for every check."""
    return optimise(small, small_inflow, solver="clpso-sequential", generations=4000)


def failed(plan: Plan) -> list[str]:
    """The checks that a plan fails."""
    return [check.check for check in plan_checks(plan) if check.passed is False]


def with_operation(plan: Plan, **changes: np.ndarray) -> Plan:
    """The plan with the second year's operation changed."""
    arrays = {name: getattr(plan.operation, name).copy() for name in changes}
    for name, changed in changes.items():
        arrays[name][1] = changed
    return replace(plan, operation=replace(plan.operation, **arrays))


def nudged(values: np.ndarray, amount: float) -> np.ndarray:
    """The values with the sixth changed."""
    changed = values.copy()
    changed[5] += amount
    return changed


def test_a_good_plan_passes_every_check(plan: Plan) -> None:
    assert failed(plan) == []
    assert all_pass(plan_checks(plan))


def test_a_plan_that_loses_water_fails(plan: Plan) -> None:
    storage = plan.operation[1].storage_hm3
    assert any("water balance" in check for check in failed(with_operation(plan, storage_hm3=nudged(storage, 1e-6))))
    assert failed(with_operation(plan, storage_hm3=nudged(storage, 1e-9))) == []


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_release_outside_its_bounds_fails(plan: Plan, bound: str) -> None:
    lower, upper = plan.problems.each[1].limits.release_lower_m3s, plan.problems.each[1].limits.release_upper_m3s
    release = plan.operation[1].release_m3s.copy()
    release[5] = lower[5] - 1e-9 if bound == "lower" else upper[5] + 1e-9
    assert any("release outside its limits" in check for check in failed(with_operation(plan, release_m3s=release)))


def test_a_storage_outside_its_bounds_fails(plan: Plan) -> None:
    violation = nudged(plan.operation[1].violation, 1e-12)
    assert any("storage outside its limits" in check for check in failed(with_operation(plan, violation=violation)))


def test_curves_that_change_power_too_much_fail(plan: Plan) -> None:
    model = plan.problems.model
    coarse = replace(model)
    vars(coarse)["approximation"] = replace(model.approximation, power_error=2.1e-4)
    (years,) = plan.problems.batches
    spoilt = replace(plan, problems=replace(plan.problems, batches=(replace(years, model=coarse),)))
    assert any("power of the solvers' curves" in check for check in failed(spoilt))


def with_references(plan: Plan, change: Callable[[int, float], float]) -> Plan:
    """The plan with other reference optima."""
    fitness = np.array([change(index, each.fitness) for index, each in enumerate(plan.references)])
    return replace(plan, references=replace(plan.references, fitness=fitness))


def test_one_year_too_far_from_the_optimum_fails(plan: Plan) -> None:
    spoilt = with_references(plan, lambda index, fitness: fitness * (1 + 4e-4 * (index == 1)))
    assert any("worst year" in check for check in failed(spoilt))


def test_a_sum_too_far_from_the_optimum_fails_although_no_year_is(plan: Plan) -> None:
    spoilt = with_references(plan, lambda index, fitness: fitness * (1 + 1.5e-4))
    assert [check for check in failed(spoilt) if "gap" in check] == [
        check.check for check in plan_checks(spoilt) if "sum of all years" in check.check
    ]


def test_an_optimum_that_is_no_number_fails(plan: Plan) -> None:
    assert len(failed(with_references(plan, lambda index, fitness: math.nan))) == 2


@pytest.mark.parametrize("name", ["violation", "release_m3s", "storage_hm3"])
def test_an_operation_that_is_no_number_fails_and_is_counted(plan: Plan, name: str) -> None:
    spoilt = with_operation(plan, **{name: nudged(getattr(plan.operation[1], name), math.nan)})
    assert failed(spoilt)
    if name == "violation":
        assert shortfall_months(spoilt) == 1
        assert not spoilt.keeps_limits[1]


def test_a_violation_that_is_no_number_proves_no_schedule(small: Reservoir, small_inflow: Inflow) -> None:
    dry = Inflow(flow_m3s=small_inflow.flow_m3s * 0.05, calendar=small_inflow.calendar)
    limits = record_problems(small, dry, Horizon()).batches[0].limits
    assert not feasible_years(limits, np.full(len(limits), math.nan)).any()


def test_the_largest_is_no_number_where_one_of_them_is_none() -> None:
    assert largest([1.0, 3.0, 2.0]) == 3.0
    assert math.isnan(largest([1.0, math.nan, 2.0]))
    assert math.isnan(largest(pd.Series([1.0, math.nan])))
    assert math.isnan(largest([]))
    assert largest((), 0.0) == 0.0


def test_years_of_which_nothing_is_proved_are_told(plan: Plan) -> None:
    found = Proofs(np.array([np.inf, -np.inf, 1.0]), np.array([np.inf, np.nan, 1e-6]), 1e-5, {"1": ""})
    assert found.worst_gap == np.inf
    assert found.reached == 1
    proven = replace(plan, proofs=found)
    assert proof_lines(proven)[0].check == "proven gap, worst of 2 years"
    assert proof_sentences(proven)[0] == "Nothing could be proved of the schedules of 1 of 2 years"


def test_a_hasty_plan_fails_by_its_gap_alone(small: Reservoir, small_inflow: Inflow) -> None:
    hasty = optimise(small, small_inflow, solver="clpso-sequential", generations=5, engine_only=True)
    assert all("gap" in check for check in failed(hasty))
    assert len(failed(hasty)) == 2


def test_years_that_no_schedule_can_keep_are_found_and_do_not_fail(small: Reservoir, small_inflow: Inflow) -> None:
    flow = small_inflow.flow_m3s.copy()
    flow[0] *= 0.05
    plan = optimise(small, Inflow(flow_m3s=flow, calendar=small_inflow.calendar), solver="dp")
    assert plan.impossible_problems.tolist() == [True, *[False] * (len(plan.problems) - 1)]
    assert plan.violation[0] > 0
    assert failed(plan) == []
    lines = {check.check: check for check in plan_checks(plan)}
    assert lines["years with limits that no schedule can keep"].value == 1
    assert lines["years with limits that no schedule can keep"].passed is None
    later = with_operation(plan, violation=nudged(plan.operation[1].violation, 1e-12))
    assert any("limits and demands not kept" in check for check in failed(later))


def test_a_lowest_power_that_is_missed_fails_unless_it_is_proved_that_it_must_be(
    small: Reservoir, small_inflow: Inflow
) -> None:
    power = optimise(small, small_inflow, solver="dp").operation.power_mw
    asked = replace(small, power_lower_mw=np.full(12, 0.5 * float(power.min())))
    kept = optimise(asked, small_inflow, solver="dp")
    missed = kept.solutions.violation.copy()
    missed[1] = 0.1
    lazy = replace(kept, solutions=replace(kept.solutions, violation=missed))
    lazy = with_operation(lazy, violation=nudged(kept.operation[1].violation, 0.1))
    assert not lazy.feasible[1]
    assert not lazy.impossible_problems[1]
    assert any("limits and demands not kept" in check for check in failed(lazy))
    most = replace(small, power_lower_mw=np.full(12, 0.99 * small.installed_mw))
    hopeless = optimise(most, small_inflow, solver="dp")
    assert hopeless.impossible_problems.all()
    assert failed(hopeless) == []


def test_a_plan_by_dynamic_programming_has_no_gap_to_itself(small: Reservoir, small_inflow: Inflow) -> None:
    assert not any("gap" in check.check for check in plan_checks(optimise(small, small_inflow, solver="dp")))


def test_a_plan_that_is_to_be_the_best_known_holds_every_reference_that_is_better(
    small: Reservoir, small_inflow: Inflow
) -> None:
    options = {"solver": "clpso-sequential", "generations": 4000}
    own, best = (optimise(small, small_inflow, best=each, **options) for each in (False, True))
    better = own.references.fitness > own.solutions.fitness
    assert better.any()
    assert best.from_reference.tolist() == better.tolist()
    np.testing.assert_array_equal(best.solutions.fitness, np.maximum(own.solutions.fitness, own.references.fitness))
    assert best.source_counts["dp"] == better.sum()
    np.testing.assert_array_equal(best.engine_solutions.fitness, own.solutions.fitness)
    assert failed(best) == []


def test_a_plan_without_a_reference_is_not_checked_against_one(plan: Plan) -> None:
    assert not any("gap" in check.check for check in plan_checks(replace(plan, references=Solutions.of([]))))


@pytest.mark.parametrize(
    ("value", "threshold", "at_least", "passes"),
    [
        (0.0, 0.0, False, True),
        (1.0, 0.5, False, False),
        (math.nan, 0.5, False, False),
        (math.inf, 0.5, False, False),
        (0.06, 0.05, True, True),
        (0.04, 0.05, True, False),
        (math.nan, 0.05, True, False),
    ],
)
def test_a_check_passes_only_on_its_own_side_of_the_threshold(
    value: float, threshold: float, at_least: bool, passes: bool
) -> None:
    check = Check("claim", value, threshold, at_least)
    assert check.passed is passes
    assert check.as_dict()["pass"] is passes


def test_one_failed_check_fails_all() -> None:
    good, bad = Check("good", 0.0, 1.0), Check("bad", 2.0, 1.0)
    assert all_pass([good, good])
    assert not all_pass([good, bad])


def test_a_difference_is_told_as_a_part_also_of_nothing() -> None:
    assert part_of(-2.0, 8.0) == 0.25
    assert part_of(3.0, -6.0) == 0.5
    assert part_of(0.0, 0.0) == 0.0
    assert part_of(1e-9, 0.0) == 1e-9
