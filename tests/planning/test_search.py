"""A plan holds the best schedule that its run knows: the solver's, that of its second run, or the reference's."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import reservoir
from reservoir.errors import DeviceError, Mistake
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning import search
from reservoir.planning.checks import all_pass, plan_checks
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import reference_sentence, solved_by, source_sentence
from reservoir.planning.solving import SWEPT_GAP, TOTAL_GAP, YEAR_GAP, beyond_limits
from reservoir.solvers import RESERVOIR_SOLVERS, Solutions, more_effort, settings_of, solve
from reservoir.zoo import zoo_case

SOLVER = "clpso-sequential"
SECOND = "clpso-sequential (second run)"
#: Too short a search for any year.
POOR = {"solver": SOLVER, "particles": 8, "generations": 20}


@pytest.fixture(scope="module")
def poor(small, small_inflow) -> Plan:
    return reservoir.optimise(small, small_inflow, **POOR)


@pytest.fixture(scope="module")
def poor_alone(small, small_inflow) -> Plan:
    return reservoir.optimise(small, small_inflow, engine_only=True, **POOR)


@pytest.fixture(scope="module")
def best(small, small_inflow) -> Plan:
    return reservoir.optimise(small, small_inflow, solver="dp")


@pytest.fixture(scope="module")
def fair(xiaowan, five_years) -> Plan:
    """Of a search long enough for some years, and a second one for the others: how long depends on the processor."""
    for generations in range(1200, 4800, 300):
        plan = reservoir.optimise(xiaowan, five_years, solver=SOLVER, generations=generations)
        if set(plan.source) == {SOLVER, SECOND}:
            return plan
    raise AssertionError("no length of the search leaves some years, and no more than a second one can mend")


@pytest.fixture(scope="module")
def fair_settings(fair) -> dict[str, Any]:
    return {"solver": SOLVER, "generations": fair.settings["generations"]}


@pytest.fixture(scope="module")
def fair_alone(xiaowan, five_years, fair_settings) -> Plan:
    return reservoir.optimise(xiaowan, five_years, engine_only=True, **fair_settings)


def solutions(fitness: list[float], violation: Mapping[int, float] | None = None) -> Solutions:
    violations = [(violation or {}).get(place, 0.0) for place in range(len(fitness))]
    each = [
        Solutions(np.zeros(1), value, value + 1000 * outside, outside, 1, 1, 0.0, None, "", "", {})
        for value, outside in zip(fitness, violations, strict=True)
    ]
    return Solutions.of(each)


def beyond(found: Solutions, references: Solutions) -> list[bool]:
    return beyond_limits(found, references, (YEAR_GAP, TOTAL_GAP)).tolist()


def test_a_year_is_beyond_the_limit_by_its_gap():
    best = solutions([100.0] * 10)
    assert beyond(solutions([99.97, *[100.0] * 9]), best) == [True, *[False] * 9]
    assert beyond(solutions([99.99, *[100.0] * 9]), best) == [False] * 10
    assert beyond(solutions([103.0, *[100.0] * 9]), best) == [False] * 10


def test_a_year_is_beyond_the_limit_by_a_violation_that_its_reference_does_not_have():
    best = solutions([100.0, 100.0])
    assert beyond(solutions([100.5, 100.0], {0: 1e-9}), best) == [True, False]


def test_of_years_that_no_schedule_can_keep_those_that_violate_more_or_are_worse_are_beyond_the_limit():
    best = solutions([-50.0, -50.0, -50.0, -50.0], dict.fromkeys(range(4), 0.1))
    found = solutions([-50.0, -49.0, -50.02, -50.005], {0: 0.1, 1: 0.2, 2: 0.1, 3: 0.1})
    assert beyond(found, best) == [False, True, True, False]


def test_the_worst_years_are_beyond_the_limit_of_the_sum():
    best = solutions([100.0] * 4)
    assert beyond(solutions([99.985, 99.981, 99.999, 100.0]), best) == [False, True, False, False]
    assert beyond(solutions([99.981, 99.981, 99.999, 99.99]), best) == [True, True, False, False]


def test_what_comes_to_no_number_is_never_taken_for_good():
    best, none = solutions([100.0, 100.0]), float("nan")
    assert beyond(solutions([none, 100.0]), best) == [True, False]
    assert beyond(solutions([100.0, 100.0], {1: none}), best) == [False, True]
    assert beyond(solutions([100.0, 100.0]), solutions([none, 100.0])) == [False, False]
    for first, second, taken in (([none, 90.0], [80.0, none], [0]), ([80.0, 90.0], [none, 95.0], [1])):
        held, places = search._better(solutions(first), solutions(second), best, np.arange(2), YEAR_GAP)
        assert places.tolist() == taken
        assert np.isfinite(held.fitness).all()


def test_years_that_no_run_of_the_solver_reaches_hold_the_schedule_of_the_reference(poor, best):
    assert poor.source.tolist() == ["dp"] * 3
    assert poor.source_counts == {SOLVER: 0, "dp": 3}
    assert poor.from_reference.all()
    assert poor.operation.release_m3s.tobytes() == best.operation.release_m3s.tobytes()
    assert poor.gap.tolist() == [0.0] * 3
    assert poor.solutions.fitness.tolist() == poor.references.fitness.tolist()


def test_the_solvers_own_is_known_too(poor, poor_alone):
    assert (poor.engine_gap > YEAR_GAP).all()
    assert (poor.engine_gap <= poor_alone.gap).all(), "the better of both runs"
    assert (poor.engine_solutions.fitness >= poor_alone.solutions.fitness).all()


def test_generations_and_evaluations_are_of_both_runs(poor, poor_alone):
    assert poor.summary()["generations"].tolist() == [20 + 4 * 20] * 3
    assert (poor.summary()["evaluations"] > 4 * poor_alone.summary()["evaluations"]).all()


def test_a_second_run_is_enough_for_some_years(fair, fair_alone):
    first, again = fair.source == SOLVER, fair.source == SECOND
    own, held = fair_alone.operation.release_m3s, fair.operation.release_m3s
    assert held[first].tobytes() == own[first].tobytes(), "years that are close enough stay as they are"
    assert (fair.solutions.fitness[again] > fair_alone.solutions.fitness[again]).all()
    assert not fair.from_reference.any()
    assert fair.engine_gap.tolist() == fair.gap.tolist()
    assert fair_alone.sources is None
    assert set(fair_alone.source) == {SOLVER}


def test_the_second_run_is_one_call_with_more_work_and_another_seed(
    xiaowan, five_years, fair, fair_alone, fair_settings, monkeypatch
):
    calls = []

    def noted(problems, **call):
        calls.append((len(problems), call))
        return solve(problems, **call)

    monkeypatch.setattr("reservoir.planning.search.solve", noted)
    assert reservoir.optimise(xiaowan, five_years, **fair_settings).source.tolist() == fair.source.tolist()
    (years, first), (_, reference), (again, second), *of_year_ends = calls
    assert [call["solver"] for _, call in of_year_ends] == ["dp"]
    assert (first["solver"], reference["solver"], second["solver"]) == (SOLVER, "dp", SOLVER)
    assert years == 5
    assert again == (fair.source == SECOND).sum() == beyond(fair_alone.solutions, fair_alone.references).count(True)
    assert first["generations"] == fair_settings["generations"]
    assert second["generations"] == 4 * first["generations"]
    assert second["seed"] not in range(1000)
    assert second["seed"] == fair.sources.second_settings["seed"]
    assert set(second) == set(first), "nothing of the reference enters the second run"


def test_the_settings_of_the_plan_are_those_of_the_first_run(poor, fair):
    for plan in (poor, fair):
        assert plan.settings["seed"] == 1
        assert plan.sources.second_settings["generations"] == 4 * plan.settings["generations"]


def test_a_plan_that_holds_other_schedules_is_a_good_plan(poor, fair):
    for plan in (poor, fair):
        checks = plan_checks(plan)
        assert all_pass(checks)
        gaps = [check for check in checks if check.check.startswith("gap to dp")]
        assert [check.threshold for check in gaps] == [YEAR_GAP, TOTAL_GAP]
        assert all(check.passed for check in gaps)


def test_the_acceptance_table_states_what_the_solver_reached_by_itself(poor, fair):
    stated = {check.check: check for check in plan_checks(poor) if check.threshold is None}
    assert stated["years of 3 with the schedule of dp"].value == 3
    worst = stated[f"{SOLVER} by itself: gap to dp, worst year (absolute value)"]
    assert worst.value == poor.engine_gap.max() > YEAR_GAP
    assert worst.passed is None
    assert stated[f"{SOLVER} by itself: sum of relative violations"].value == poor.engine_solutions.violation.sum()
    stated = [check.check for check in plan_checks(fair) if check.threshold is None]
    assert stated == [f"years of 5 with the schedule of {SECOND}"]


def test_the_solvers_own_schedules_fail_their_checks(poor_alone):
    assert poor_alone.source.tolist() == [SOLVER] * 3
    assert not all_pass(plan_checks(poor_alone))
    assert all(check.threshold is not None for check in plan_checks(poor_alone))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (
            "poor",
            f"3 years from dp, where the first run of {SOLVER} was not close enough to the reference optimum (0.02 % "
            f"of a year, 0.005 % of the sum). For a plan by {SOLVER} alone: more than --generations 80, or another "
            "--solver (`reservoir compare` prints the gap of each).",
        ),
        ("best", ""),
        (
            "poor_alone",
            "3 years are not close enough to the reference optimum (0.02 % of a year, 0.005 % of the sum). Fix: omit "
            "--engine-only, or more than --generations 20, or another --solver (`reservoir compare` prints the gap of "
            "each).",
        ),
    ],
)
def test_a_sentence_counts_them_and_says_what_to_do(plan, sentence, request):
    assert source_sentence(request.getfixturevalue(plan)) == sentence


def test_a_second_run_that_is_enough_is_advised_by_its_setting(fair):
    count = int((fair.source == SECOND).sum())
    sentence = source_sentence(fair)
    assert sentence.startswith(f"{count} years from {SECOND}, where the first run of {SOLVER} was not close enough")
    assert sentence.endswith(f". To avoid the second run: --generations {4 * fair.settings['generations']}.")


def test_names_of_the_years_and_of_who_solved_them(poor, fair):
    assert solved_by(poor) == f"{SOLVER}, 3 years by dp"
    assert solved_by(fair) == SOLVER
    told = f"Schedule of dp, to which {SOLVER} did not come close enough: 3 years (1955/56, 1956/57, 1957/58), circled."
    assert reference_sentence(poor, "circled") == told
    assert reference_sentence(fair) == ""
    assert f"by {SOLVER}, 3 years by dp, horizon year" in repr(poor)


def test_tables_have_the_source_of_every_year(poor, poor_alone, best):
    for plan, source in ((poor, "dp"), (poor_alone, SOLVER), (best, "dp")):
        assert plan.summary()["source"].tolist() == [source] * 3
        assert plan.schedule()["source"].tolist() == [source] * 36
    assert poor.summary()["engine_gap"].tolist() == poor.engine_gap.tolist()
    assert "engine_gap" not in poor_alone.summary()
    assert "engine_gap" not in best.summary()


def test_the_dataset_has_the_source_of_every_year(poor, poor_alone):
    pytest.importorskip("xarray")
    data = poor.to_xarray()
    assert data["source"].values.tolist() == ["dp"] * 3
    assert data["engine_gap"].values.tolist() == poor.engine_gap.tolist()
    assert "engine_gap" not in poor_alone.to_xarray()


@pytest.mark.parametrize("left_out", [{"reference": False}, {"engine_only": True}])
def test_nothing_is_replaced_without_a_reference_or_if_it_is_not_wanted(left_out, small, small_inflow, poor_alone):
    plan = reservoir.optimise(small, small_inflow, **POOR, **left_out)
    assert plan.sources is None
    assert plan.operation.release_m3s.tobytes() == poor_alone.operation.release_m3s.tobytes()
    assert SECOND not in plan.seconds


def test_the_reference_itself_has_nothing_to_replace(best):
    assert best.sources is None
    assert best.source.tolist() == ["dp"] * 3


def test_the_second_run_is_a_stage_with_its_own_time(small, small_inflow):
    told = []
    plan = reservoir.optimise(small, small_inflow, progress=lambda *each: told.append(each), **POOR)
    assert list(plan.seconds)[-5:] == [SOLVER, "dp", SECOND, "certify", "year end"]
    assert [each for each in told if each[0] == SECOND] == [(SECOND, done, 3) for done in range(4)]


def test_given_releases_begin_the_second_run_too(small, small_inflow, poor_alone, best, monkeypatch):
    calls = []

    def noted(problems, **call):
        calls.append(call)
        return solve(problems, **call)

    monkeypatch.setattr("reservoir.planning.search.solve", noted)
    given = best.operation.release_m3s.copy()
    given[1] *= 0.9  # of the second year alone they are not the optimum
    plan = reservoir.optimise(small, small_inflow, initial=given, **POOR)
    assert plan.source.tolist() == [SOLVER, "dp", SOLVER]
    first, _, second = calls
    assert len(first["first"]) == 3
    assert [each.tolist() for each in second["first"]] == [first["first"][1].tolist()]


def test_a_callback_may_end_the_second_run(small, small_inflow):
    told = []

    def stop(state):
        told.append((state.solver, state.done, state.total))
        return len(told) > 4

    plan = reservoir.optimise(small, small_inflow, stop=stop, **POOR)
    assert told == [(SOLVER, 1, 3), (SOLVER, 2, 3), ("dp", 1, 3), ("dp", 2, 3), (SOLVER, 1, 3)]
    assert plan.stopped == (
        f"A callback ended the run in {SECOND} after 1 of 3 problems: the others have schedules of dp."
    )
    assert plan.stopped in plan.notes
    assert plan.inflow.years == 3
    assert plan.source.tolist() == ["dp"] * 3
    assert all_pass(plan_checks(plan))


def test_a_second_run_that_fails_is_told_and_the_reference_taken(small, small_inflow, monkeypatch):
    def failing_again(problems: Any, **call: Any) -> Solutions:
        if call["solver"] == SOLVER and call["seed"] != 1:
            raise DeviceError(Mistake("no room on this device", mend="choose fewer particles"))
        return solve(problems, **call)

    monkeypatch.setattr(search, "solve", failing_again)
    plan = reservoir.optimise(small, small_inflow, **POOR)
    assert plan.source.tolist() == ["dp"] * 3
    (note,) = [note for note in plan.notes if "second run" in note]
    assert note == f"The second run of {SOLVER} failed (no room on this device): the schedules of dp were taken."
    assert not plan.stopped
    assert "more than --generations 20" in source_sentence(plan)


@pytest.mark.parametrize("solver", RESERVOIR_SOLVERS)
def test_every_solver_can_work_more(solver):
    entry = RESERVOIR_SOLVERS[solver]
    more = more_effort(solver, {}, 4)
    assert set(more) <= set(settings_of(solver))
    assert bool(more) == entry.general, "dynamic programming has no budget"


def test_clpso_exchanges_in_a_second_run_unless_the_call_chose_how_it_works():
    assert more_effort("clpso", {"generations": 7}, 4) == {"generations": 28, "exchange_interval": 5}
    assert more_effort("clpso", {"random": "kernel"}, 4) == {"generations": 40_000, "random": "kernel"}
    assert more_effort("clpso", {"exchange_interval": 9}, 4) == {"generations": 40_000, "exchange_interval": 9}


def test_more_effort_multiplies_what_was_asked_for_as_far_as_there_is_room():
    assert more_effort("clpso-sequential", {"generations": 7, "particles": 9}, 4) == {"generations": 28, "particles": 9}
    assert more_effort("lshade", {}, 4)["evaluations"] == 120_000
    assert more_effort("clpso", {}, 2, swept=True)["generations"] == 4_000
    assert more_effort("island-ga", {"iterations": 5}, 4) == {"iterations": 20, "evaluations": 1_600_000}
    assert more_effort("dsmga2", {"bits": 5}, 4) == {"bits": 5, "population": 480}


@pytest.mark.device
def test_windows_of_a_long_horizon_are_solved_again_with_twice_the_work(small, small_inflow):
    poor = {"solver": "lshade", "horizon": 2, "evaluations": 40, "members_per_dimension": 1, "most_sweeps": 2}
    plan = reservoir.optimise(small, small_inflow, **poor)
    alone = reservoir.optimise(small, small_inflow, engine_only=True, **poor)
    assert alone.gap.max() > SWEPT_GAP
    assert plan.gap.max() <= SWEPT_GAP
    assert plan.source[0] == plan.source[1]
    assert all_pass(plan_checks(plan))
    assert plan.sources.second_settings["evaluations"] == 80


@pytest.mark.device
@pytest.mark.parametrize("solver", ["clpso", "lshade"])
def test_every_year_of_the_bundled_case_stays_the_solvers(solver, xiaowan, inflow):
    plan = reservoir.optimise(xiaowan, inflow, solver=solver)
    alone = reservoir.optimise(xiaowan, inflow, solver=solver, engine_only=True)
    assert plan.sources is None
    assert set(plan.source) == {solver}
    assert plan.operation.release_m3s.tobytes() == alone.operation.release_m3s.tobytes()
    assert plan.energy_gwh.tobytes() == alone.energy_gwh.tobytes()


@pytest.mark.device
def test_no_year_of_random_reservoirs_is_clearly_worse_than_its_reference():
    replaced = 0
    for case in (zoo_case(number, 2) for number in range(4)):
        plan = reservoir.optimise(case.reservoir, case.inflow, solver="lshade", evaluations=300, polish=False)
        replaced += int((plan.source != "lshade").sum())
        assert not plan.feasible.any() or np.nanmax(plan.gap) <= YEAR_GAP
        assert (plan.violation <= (1 + YEAR_GAP) * plan.references.violation).all()
        assert not [check.check for check in plan_checks(plan) if "dp" in check.check and check.passed is False]
    assert replaced > 0


@pytest.mark.parametrize("call", [{"start": "2026-11", "start_hm3": 90.0}, {"start": "2026-11", "start_level_m": 85.0}])
def test_scenarios_from_a_given_month_are_replaced_and_counted_too(call, small, small_inflow, tmp_path):
    if "start_level_m" in call:
        call = {**call, "start_level_m": float(small.level(80.0))}
    plan = reservoir.optimise(small, small_inflow, **POOR, **call)
    scenarios = plan.inflow.years
    assert plan.source_counts == {SOLVER: 0, "dp": scenarios}
    assert source_sentence(plan).startswith(f"{scenarios} scenarios from dp, where the first run")
    assert f"{scenarios} scenarios by dp" in repr(plan)
    assert read_plan(plan.save(tmp_path / "plan", figures=False)).plan.source.tolist() == ["dp"] * scenarios


@pytest.mark.device
def test_horizons_of_several_years_are_read_back_with_their_sources(small, small_inflow, tmp_path):
    poor = {"solver": "lshade", "horizon": 2, "evaluations": 40, "members_per_dimension": 1, "most_sweeps": 1}
    plan = reservoir.optimise(small, small_inflow, **poor)
    assert plan.from_reference.any()
    again = read_plan(plan.save(tmp_path / "plan", figures=False)).plan
    assert again.source.tolist() == plan.source.tolist()
    assert again.engine_gap.tolist() == plan.engine_gap.tolist()
    assert again.summary().equals(plan.summary())
    assert "of a horizon" in source_sentence(again)
