"""A rule answers for the reservoir and the plan that it was fitted to, and for no other of the same name."""

from dataclasses import replace

import pytest

from reservoir.errors import InputError
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.rule_file import belongings, read_rule_file, require_same_plan, require_same_reservoir


@pytest.fixture
def file(ruled):
    return read_rule_file(ruled / "rules/linear.json")


@pytest.fixture
def plant(ruled):
    return read_reservoir(ruled / "reservoir.toml")


def refusal(check, *arguments):
    with pytest.raises(InputError) as refused:
        check(*arguments)
    (mistake,) = refused.value.mistakes
    return mistake


def test_a_rule_belongs_to_the_reservoir_and_plan_it_was_fitted_to(ruled, file, plant):
    require_same_reservoir(file, plant)
    require_same_plan(file, ruled)
    assert belongings(plant, ruled).items() <= dict(file.fitted_to).items()


def test_a_reservoir_of_the_same_name_is_refused_with_what_differs(file, plant):
    halved = replace(plant, storage_upper_hm3=plant.storage_upper_hm3 / 2, installed_mw=4000.0)
    mistake = refusal(require_same_reservoir, file, halved)
    assert mistake.file == file.source
    assert mistake.problem.endswith("different: installed capacity, storage bounds")
    assert "reservoir rules" in mistake.mend


def test_a_reservoir_file_with_other_remarks_is_the_same(file, plant):
    require_same_reservoir(file, replace(plant, caveat="other", sha256="other", source="elsewhere.toml"))


def test_a_rule_by_an_earlier_version_is_refused_with_what_to_do(file, plant):
    """It names the hash of the reservoir's file, and none of its parts."""
    told = {"plan": {"reservoir": {"name": plant.name, "sha256": plant.sha256}}}
    mistake = refusal(require_same_reservoir, replace(file, fitted_to=told), plant)
    assert "does not say which reservoir it was fitted to" in mistake.problem
    assert "fit the rule again: `reservoir plan`, then `reservoir rules`" in mistake.mend


@pytest.mark.parametrize("told", [{}, {"plan": 3}, {"plan": {"reservoir": None}}, {"plan": {"reservoir": {}}}])
def test_a_rule_that_does_not_say_what_it_was_fitted_to_is_refused(file, plant, told):
    assert "does not say" in refusal(require_same_reservoir, replace(file, fitted_to=told), plant).problem
    made = replace(plant, sha256="")
    assert "does not say" in refusal(require_same_reservoir, replace(file, fitted_to=told), made).problem


def test_another_name_is_refused_before_what_differs(file, plant):
    assert "another reservoir" in refusal(require_same_reservoir, file, replace(plant, name="other")).problem


@pytest.mark.parametrize("parts", [{"level curve": 5}, {"level curve": ["x"]}])
def test_spoilt_digests_are_a_difference(file, plant, parts):
    spoilt = replace(file, fitted_to={"reservoir_parts": parts})
    assert "different: level curve" in refusal(require_same_reservoir, spoilt, plant).problem
