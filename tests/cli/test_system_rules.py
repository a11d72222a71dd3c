"""``reservoir rules`` of a system as a user types it: every option that it takes, and what it refuses."""

import csv
import json
from importlib.util import find_spec

import pytest

from reservoir.planning.columns import meanings
from tests.io.two_dams import wide, write_two

FAMILIES = ("--family", "separable", "--family", "guide-curve")


@pytest.fixture
def plan(call, tmp_path):
    """The folder of a joint plan of two dams."""
    (tmp_path / "flows.csv").write_text(wide())
    write_two(tmp_path)
    call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures", "--out", "p")
    return tmp_path / "p"


def test_rules_of_a_system_are_fitted_held_out_and_written(call, plan, strict):
    shown = call("rules", "p", *FAMILIES, "--folds", "2").out
    assert "simulated over 4 years; held out: 2 blocks of years" in shown
    assert "Best in years that it has not seen:" in shown
    assert "no bound of it is proved" in shown
    files = sorted(path.name for path in (plan / "rules").iterdir())
    assert files == ["guide-curve-lower.json", "guide-curve-upper.json", "separable.json"]
    with (plan / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == list(meanings("system_scores"))
    assert [row["reservoir"] for row in rows[:3]] == ["system", "upper", "lower"]
    assert len(rows) == 3 * 5
    assert all(float(row["percent_of_foresight"]) <= 100 + 1e-7 for row in rows if row["percent_of_foresight"])
    origin = strict((plan / "rules.json").read_text())
    assert (origin["forecast"], origin["folds"], origin["best"]) == ("month", 2, origin["best"])
    rule = strict((plan / "rules/separable.json").read_text())
    assert [site["reservoir"] for site in rule["rule"]["sites"]] == ["upper", "lower"]
    assert "already exists" in call("rules", "p", status=2).err


def test_other_ways_to_ask_for_them(call, plan):
    given = ("--family", "guide-curve", "--folds", "leave-one-out", "--forecast", "none", "--units", "us", "--json")
    shown = json.loads(call("rules", "p", *given).out)
    assert {"system", "upper", "lower"} == {row["reservoir"] for row in shown["scores"]}
    assert "spill_acre_ft" in shown["scores"][0]
    assert json.loads((plan / "rules.json").read_text())["cross_validation"] == "leave one year out"
    if find_spec("openpyxl"):
        call("rules", "p", "--family", "guide-curve", "--folds", "2", "--format", "xlsx", "--no-figures", "--force")
        assert (plan / "rules.xlsx").is_file()
        assert not (plan / "scores.csv").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--family", "sdp"], "family: rules of the family sdp make the most of one reservoir"),
        (["--family", "oracle"], "family: there is no such family of rules"),
        (["--horizon", "record"], "--horizon: does not take systems yet"),
        (["--reliability", "0.9"], "--reliability: does not take systems yet"),
        (["--test", "flows.csv"], "--test: does not take systems yet"),
        (["--folds", "5"], "more blocks than years in the plan"),
    ],
)
def test_what_systems_do_not_take_is_refused(call, plan, given, said):
    assert said in call("rules", "p", *given, status=2).err
    assert not (plan / "rules").exists()
