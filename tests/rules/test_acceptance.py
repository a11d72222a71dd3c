"""Every check of the rules' acceptance table fails where its claim does not hold."""

import re
from dataclasses import replace

import numpy as np
import pytest

from reservoir.rules.evaluation import Sample, evaluate
from reservoir.rules.families.sdp import Sdp
from reservoir.rules.findings import (
    FORESIGHT_TOLERANCE,
    best_fitted,
    best_names,
    findings,
    rules_checks,
)
from reservoir.rules.scores import SimulationMode

HELD_OUT = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)
BALANCE, RELEASE, READ_BACK, FORESIGHT = range(4)


@pytest.fixture(scope="module")
def evaluation(plan):
    return evaluate(plan, folds=2, families=("guide-curve", "linear", "sdp", "standard"))


def family(evaluation, name):
    return next(result for result in evaluation.families if result.family == name)


def with_family(evaluation, name, **changes):
    families = [replace(each, **changes) if each.family == name else each for each in evaluation.families]
    return replace(evaluation, families=tuple(families))


def with_energy(evaluation, name, energy_gwh, at=HELD_OUT):
    """What is evaluated, had a family made these energies in its years."""
    result = family(evaluation, name)
    run = replace(result.runs[at], made=energy_gwh, end_value=np.zeros_like(energy_gwh))
    return with_family(evaluation, name, runs={**result.runs, at: run})


def with_operation(evaluation, name, **changes):
    """What is evaluated, with another first year in one simulation."""
    result = family(evaluation, name)
    run = result.runs[HELD_OUT]
    arrays = {key: getattr(run.operation, key).copy() for key in changes}
    for key, change in changes.items():
        arrays[key][0] = change(run.operation[0])
    changed = replace(run, operation=replace(run.operation, **arrays))
    return with_family(evaluation, name, runs={**result.runs, HELD_OUT: changed})


def failed(evaluation):
    return {place for place, check in enumerate(rules_checks(evaluation)) if not check.passed}


def test_sound_rules_pass(evaluation):
    assert not failed(evaluation)
    assert len(rules_checks(evaluation)) == 4


def test_water_that_comes_from_nowhere_fails(evaluation):
    made = with_operation(evaluation, "linear", storage_hm3=lambda year: year.storage_hm3 + np.eye(13)[5])
    assert BALANCE in failed(made)


@pytest.mark.parametrize("beyond", [-1.0, 1.0])
def test_a_release_beyond_its_bounds_fails(evaluation, beyond):
    plant = evaluation.plan.reservoir
    bound = plant.release_upper_m3s.max() if beyond > 0 else plant.release_lower_m3s.min()
    changed = with_operation(evaluation, "linear", release_m3s=lambda year: np.full(12, bound + beyond))
    assert RELEASE in failed(changed)
    assert rules_checks(changed)[RELEASE].value >= 1.0


@pytest.mark.parametrize("name", ["guide-curve", "linear", "standard"])
def test_a_number_that_is_none_fails_in_whichever_simulation(evaluation, name):
    nothing = with_operation(
        evaluation,
        name,
        storage_hm3=lambda year: np.full(13, np.nan),
        release_m3s=lambda year: np.full(12, np.nan),
    )
    assert {BALANCE, RELEASE} <= failed(nothing)
    assert FORESIGHT in failed(with_energy(evaluation, name, np.full(10, np.nan)))


def test_a_rule_that_decides_differently_once_read_back_fails(evaluation, monkeypatch):
    other = family(evaluation, "guide-curve").rule

    def forgetful(content):
        return other

    monkeypatch.setattr("reservoir.rules.findings.rule_from_dict", forgetful)
    assert READ_BACK in failed(evaluation)
    assert rules_checks(evaluation)[READ_BACK].value == 3  # all but the guide curve itself


@pytest.mark.parametrize("mode", SimulationMode)
@pytest.mark.parametrize("sample", Sample)
def test_a_rule_that_beats_perfect_foresight_fails(evaluation, mode, sample):
    better = evaluation.foresight_benefit(mode) * (1 + 2 * FORESIGHT_TOLERANCE)
    assert FORESIGHT in failed(with_energy(evaluation, "linear", better, (mode, sample)))


def test_a_family_worse_than_a_baseline_is_a_finding_and_fails_nothing(evaluation):
    energy = family(evaluation, "standard").runs[HELD_OUT].at_equal_storage
    poor = with_energy(with_energy(evaluation, "guide-curve", energy * 0.8), "linear", energy * 0.9)
    assert not failed(poor)
    said = {each.compared: each.found for each in findings(poor)}
    assert "linear against standard, the weak baseline" in said
    assert "linear against sdp, the strong baseline" in said


def test_the_best_fitted_family_is_no_baseline_and_told_by_held_out_years_alone(evaluation):
    energy = family(evaluation, "sdp").runs[HELD_OUT].at_equal_storage
    assert best_fitted(with_energy(evaluation, "guide-curve", energy * 1.1)).family == "guide-curve"
    assert best_fitted(with_energy(evaluation, "sdp", energy * 9)).family != "sdp"
    told = with_energy(evaluation, "linear", energy * 9, (SimulationMode.CONTINUOUS, Sample.TRAINING))
    assert best_fitted(told).family == best_fitted(evaluation).family


def test_what_the_best_rule_could_expect_stands_beside_the_best_family(evaluation):
    said = {each.compared: each.found for each in findings(evaluation)}["what the best possible rule could expect"]
    rule, score = family(evaluation, "sdp").rule, family(evaluation, "sdp").runs[HELD_OUT]
    assert f"{100 * rule.value_of_a_year() / score.foresight_benefit.mean():.2f} % of perfect foresight" in said
    assert "no bound" in said


@pytest.mark.parametrize("percent", [0.5, 0.95, 0.999, 1.0, 1.01])
def test_what_is_ignorance_of_the_future_is_never_more_than_what_a_family_lacks(evaluation, monkeypatch, percent):
    """Years may have been better than the classes that a model makes of them."""
    whole = family(evaluation, "sdp").runs[HELD_OUT].foresight_benefit.mean()
    monkeypatch.setattr(Sdp, "value_of_a_year", lambda _: percent * whole)
    said = {each.compared: each.found for each in findings(evaluation)}["what the best possible rule could expect"]
    parts = re.search(r"of the ([\d.]+) % that \S+ lacks, ([\d.]+) are ignorance", said)
    best = best_fitted(evaluation)
    lacks = 100 - best.runs[HELD_OUT].score.percent_of_foresight
    assert bool(parts) == (100 - 100 * percent <= lacks and percent < 1)
    if parts:
        assert float(parts[2]) <= float(parts[1])
    elif percent < 1:
        assert f"beside which what {best.family} lacks cannot be told apart" in said
    assert all(float(each) <= 100 for each in re.findall(r"([\d.]+) %", said))


def scored(evaluation, **percents):
    """What is evaluated, had families made these percentages of perfect foresight in held-out years."""
    for name, percent in percents.items():
        foresight = family(evaluation, name.replace("_", "-")).runs[HELD_OUT].foresight_benefit
        evaluation = with_energy(evaluation, name.replace("_", "-"), foresight * percent / 100)
    return evaluation


def test_the_best_family_is_named_with_those_that_are_as_good_and_with_what_is_better(evaluation):
    def said(**percents):
        return {each.compared: each.found for each in findings(scored(evaluation, sdp=90, standard=80, **percents))}

    best = "best family fitted to the plan"
    alone = said(linear=97.5, guide_curve=96)
    assert alone[best] == "linear: 97.50 % of perfect foresight"
    assert "less regret" in alone["linear against standard, the weak baseline"]
    assert said(linear=97.5, guide_curve=97.5)[best] == "guide-curve and linear (tied): 97.50 % of perfect foresight"
    better = {each.compared: each.found for each in findings(scored(evaluation, sdp=98, linear=97.5, standard=97.5))}
    assert better[best] == (
        "linear: 97.50 % of perfect foresight; better than that: sdp, which is not fitted to it, 98.00 % of perfect "
        "foresight"
    )
    assert better["linear against standard, the weak baseline"] == "as much regret (97.50 % of perfect foresight)"


def test_less_than_nothing_is_no_percentage(evaluation):
    lost = family(scored(evaluation, linear=-1323.7), "linear")
    assert not lost.runs[HELD_OUT].score.has_percent
    assert lost.held_out.score.beside_foresight.endswith(" GWh a year of regret")


def test_the_report_and_shortfalls_name_all_that_are_best(evaluation):
    names = best_names(scored(evaluation, linear=97.5, guide_curve=97.5))
    assert names == "guide-curve and linear (tied)"
    assert best_names(replace(evaluation, families=(family(evaluation, "sdp"),))) == ""
    from reservoir.report.html.rules_page import rules_sections

    sections = rules_sections(scored(evaluation, linear=97.5, guide_curve=97.5), [], [])
    words = " ".join(text for section in sections for text in section.text)
    assert f"The best family fitted to the plan is {names}: on held-out years 97.50 % of perfect foresight" in words


def test_claims_about_families_that_were_left_out_are_left_out(evaluation):
    def only(*names):
        return replace(evaluation, families=tuple(family(evaluation, name) for name in names))

    assert best_fitted(only("sdp", "standard")) is None
    assert findings(only("sdp", "standard")) == []
    assert [each.compared for each in findings(only("linear"))] == ["best family fitted to the plan"]
    (*_, last) = findings(only("linear", "standard"))
    assert "standard" in last.compared
