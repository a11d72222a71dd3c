"""Rule files with anything in them are read or refused, and what is read answers every situation with numbers."""

import copy
import json
import math
import random
from collections import Counter
from dataclasses import asdict

import pytest

from reservoir.errors import InputError
from reservoir.io.rule_file import read_rule, write_rule
from reservoir.rules import fit, rule_from_dict
from reservoir.rules.advice import Situation, advise
from tests.spoilt_json import somewhere

ODD = (None, True, 0, -1, 1.5, 1e308, 1e29, -1e29, 1e-320, 10**400, "x", "\x00", "\ud800", [], {}, [None])
FACTORS = (1e30, 1e-30, 1e10, -1, 0, 1e25)
QUICK = ("guide-curve", "linear", "standard", "zones", "ann-regression", "water-value", "replan")


@pytest.fixture(scope="module")
def contents(training, tmp_path_factory):
    """What the file of each family holds."""
    folder = tmp_path_factory.mktemp("rules")
    for family in QUICK:
        rule = fit(family, training)
        few = rule.changed(members=3) if family == "replan" else rule
        write_rule(few, folder / f"{family}.json", {})
    return {family: json.loads((folder / f"{family}.json").read_text()) for family in QUICK}


@pytest.mark.parametrize("family", QUICK)
def test_any_rule_file_is_read_or_refused(xiaowan, contents, family, tmp_path):
    chance = random.Random(18)
    told = contents[family]
    found = Counter()
    for _ in range(250):
        spoilt, holder, last = somewhere(told, chance)
        number = isinstance(holder[last], float)
        holder[last] = holder[last] * chance.choice(FACTORS) if number and chance.random() < 0.6 else chance.choice(ODD)
        (tmp_path / "rule.json").write_text(json.dumps(spoilt))
        try:
            rule = read_rule(tmp_path / "rule.json")
        except InputError as refused:
            assert str(refused).encode()
            found["refused"] += 1
            continue
        found["read"] += 1
        for storage, inflow, before in ((1373.0, 0.0, 1e9), (15528.0, 1e9, 0.0), (9000.0, 800.0, 600.0)):
            advice = advise(rule, xiaowan, Situation(chance.randrange(12), storage, inflow, before))
            assert all(math.isfinite(value) for value in asdict(advice).values())
    assert min(found["read"], found["refused"]) > 20


@pytest.mark.parametrize("family", QUICK)
@pytest.mark.parametrize("volume", [1e-320, 2.39, 2.71, 1e308])
def test_a_month_in_which_a_flow_carries_another_volume_is_refused(contents, family, volume):
    content = copy.deepcopy(contents[family]["rule"])
    content["months"]["volume_per_flow"][4] = volume
    with pytest.raises(InputError) as refused:
        rule_from_dict(content)
    assert [mistake.column for mistake in refused.value.mistakes] == ["months.volume_per_flow[4]"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("output_bias", 1e31, "is out of range"),
        ("inflow_low_m3s", 1e-320, "is too small"),
        ("storage_high_hm3", None, "is not above storage_low_hm3"),
    ],
)
def test_numbers_with_which_a_network_could_not_reckon_are_refused(contents, key, value, said):
    content = copy.deepcopy(contents["ann-regression"]["rule"])
    content[key] = content["storage_low_hm3"] + 1e-13 if value is None else value
    with pytest.raises(InputError) as refused:
        rule_from_dict(content)
    assert any(mistake.column == key and said in mistake.problem for mistake in refused.value.mistakes)


@pytest.mark.parametrize("value", [None, 1.0])
def test_a_slip_made_everywhere_is_told_a_few_times(contents, tmp_path, value):
    content = copy.deepcopy(contents["standard"])
    content["rule"]["storage_hm3"] = [value] * 5000
    (tmp_path / "rule.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as refused:
        read_rule(tmp_path / "rule.json")
    assert len(refused.value.mistakes) < 30
    assert "more mistakes not shown" in str(refused.value)


def test_a_rule_file_without_end_is_given_up(tmp_path):
    (tmp_path / "rule.json").symlink_to("/dev/zero")
    with pytest.raises(InputError) as refused:
        read_rule(tmp_path / "rule.json")
    assert "is too large" in str(refused.value)
