"""``reservoir rules`` of a system as a user types it: every option that it takes, and what it refuses."""

import csv
import json
from importlib.util import find_spec

import pytest

from reservoir.planning.columns import meanings
from reservoir.rules.system_bound import bound_of_rules
from tests.io.two_dams import wide, write_three, write_two

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
    figures = {"rule-storages", "lost-by-reservoir", "rule-water-values"}
    assert set(origin["figures"]) == figures
    assert {path.stem for path in (plan / "figures").glob("*.svg")} == figures
    page = (plan / "rules.html").read_text()
    for said in ("Operation rules of two-dams", "Rules of upper", "Findings", *origin["findings"].values()):
        assert said in page
    assert set(origin["findings"]) == {"separable", "guide-curve"}
    assert "less than perfect foresight; most of it at lower" in origin["findings"]["separable"]
    assert all(each in page for each in figures)


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
        assert not (plan / "figures").exists()


def test_a_bound_of_all_rules_is_told_as_what_it_is(call, plan, strict, monkeypatch):
    monkeypatch.setitem(bound_of_rules.__kwdefaults__, "seconds", 0.3)  # looser, and a bound all the same
    shown = call("rules", "p", "--family", "separable", "--folds", "2", "--bound", "2", "--no-figures").out
    told = strict((plan / "rules.json").read_text())["bound"]
    assert (told["members"], told["unbounded"]) == (2, 0)
    assert told["gap"] >= 0
    assert told["standard_error"] >= 0
    assert f"Bound: {told['words']}" in shown
    assert told["words"] in (plan / "rules.html").read_text().replace("&#39;", "'").replace("&#x27;", "'")
    for said in ("mean of bounds by information relaxation, each proven, of 2 drawn years", "no bound of the record"):
        assert said in told["words"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--family", "sdp"], "family: rules of the family sdp make the most of one reservoir"),
        (["--family", "oracle"], "family: there is no such family of rules"),
        (["--horizon", "record"], "--horizon: does not take systems yet"),
        (["--reliability", "0.9"], "--reliability: does not take systems yet"),
        (["--test", "flows.csv"], "--test: does not take systems yet"),
        (["--family", "linear", "--folds", "2", "--bound", "2"], "--bound: a bound of all rules begins at separable"),
        (["--folds", "5"], "more blocks than years in the plan"),
    ],
)
def test_what_systems_do_not_take_is_refused(call, plan, given, said):
    assert said in call("rules", "p", *given, status=2).err
    assert not (plan / "rules").exists()


@pytest.fixture
def ruled(call, plan):
    """The folder of a joint plan with rules."""
    call("rules", "p", *FAMILIES, "--folds", "2")
    return plan


def energies(folder):
    with (folder / "system.csv").open(newline="") as file:
        return [float(row["energy_gwh"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("rule", ["separable", "guide-curve-upper", "guide-curve-lower"])
def test_a_rule_operates_a_record_as_it_was_scored(call, ruled, tmp_path, strict, rule):
    shown = call("simulate", f"p/rules/{rule}.json", "flows.csv", "--out", "s").out
    family = rule.rsplit("-", 1)[0] if "-" in rule else rule
    assert f"Rule      {family} ({rule}.json); horizon: record" in shown
    with (ruled / "scores.csv").open(newline="") as file:
        scores = {(row["family"], row["sample"], row["reservoir"]): row for row in csv.DictReader(file)}
    score = scores[family, "training", "system"]
    made = float(score["mean_gwh"]) - float(score["end_storage_value_gwh"])
    assert sum(energies(tmp_path / "s")) / 4 == pytest.approx(made, rel=1e-5)
    names = {"schedule.csv", "summary.csv", "system.csv", "simulation.json", "report.html", "system.toml", "inflow.csv"}
    assert {path.name for path in (tmp_path / "s").iterdir()} == names
    told = strict((tmp_path / "s/simulation.json").read_text())["rule"]
    assert (told["family"], told["forecast"]) == (family, "month")
    files = [f"{family}.json"] if family == "separable" else [f"{family}-{name}.json" for name in ("upper", "lower")]
    assert list(told["files"]) == files
    assert f"Rule {family} of two-dams" in (tmp_path / "s/report.html").read_text()


def test_a_river_is_replanned(call, tmp_path, strict):
    """By a rule that weighs decisions in futures: scores, file, what it makes of a record and what it advises."""
    (tmp_path / "flows.csv").write_text("".join(wide().splitlines(keepends=True)[: 1 + 2 * 12]))
    write_two(tmp_path)
    call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures", "--out", "p")
    plan = tmp_path / "p"
    shown = call("rules", "p", "--family", "separable", "--family", "replan", "--folds", "2", "--no-figures").out
    assert "Best in years that it has not seen: " in shown
    assert sorted(path.name for path in (plan / "rules").iterdir()) == ["replan.json", "separable.json"]
    with (plan / "scores.csv").open(newline="") as file:
        scores = {(row["family"], row["sample"], row["reservoir"]): row for row in csv.DictReader(file)}
    held_out = [float(scores[each, "held-out", "system"]["percent_of_foresight"]) for each in ("separable", "replan")]
    assert held_out[0] != held_out[1] <= 100 + 1e-7
    assert "make clearly more in futures of all sites" in (plan / "rules.html").read_text()
    call("simulate", "p/rules/replan.json", "flows.csv", "--out", "s")
    score = scores["replan", "training", "system"]
    made = float(score["mean_gwh"]) - float(score["end_storage_value_gwh"])
    assert sum(energies(tmp_path / "s")) / 2 == pytest.approx(made, rel=1e-5)
    asked = ("--month", "5", "--level", "upper=440", "--storage", "lower=90", "--json")
    advised = strict(call("operate", "p/rules/replan.json", *asked).out)
    assert [each["reservoir"] for each in advised["reservoirs"]] == ["upper", "lower"]
    assert all(each["water_value"] is not None for each in advised["reservoirs"])
    assert advised["family"] == "replan"
    assert strict(call("operate", "p/rules/separable.json", *asked, "--replan").out) == advised
    told = call("simulate", "p/rules/replan.json", "flows.csv", "--reservoir", "upper.toml", "--out", "t", status=2).err
    assert "rule.family: is a family of rules of several reservoirs" in told


def test_years_that_begin_anew_begin_at_the_level_given(call, ruled, tmp_path, strict):
    given = ("--level", "upper=440", "--yearly", "--units", "si", "--json", "--out", "s")
    shown = strict(call("simulate", "p/rules/separable.json", "flows.csv", *given).out)
    assert shown["energy_gwh"] == pytest.approx(sum(shown["energy_gwh_by_reservoir"].values()))
    with (tmp_path / "s/schedule.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["month"] == "1" and row["reservoir"] == "upper"]
    assert len({row["storage_start_hm3"] for row in rows}) == 1


def test_a_rule_of_another_system_is_refused(call, ruled, tmp_path):
    def told(*words, rule="separable"):
        return call("simulate", f"p/rules/{rule}.json", "flows.csv", *words, "--out", "s", status=2).err

    text = (tmp_path / "two.toml").read_text()
    (tmp_path / "other.toml").write_text(text.replace("travel_hours = 12", "travel_hours = 36"))
    for rule in ("separable", "guide-curve-upper"):
        assert "was fitted to a system with other links than those of other.toml" in told(
            "--reservoir", "other.toml", rule=rule
        )
    changed = text.replace('"lower"', '"below"').replace('file = "lower.toml"', 'file = "upper.toml"')
    (tmp_path / "renamed.toml").write_text(changed)
    assert "is a rule for other reservoirs: upper, lower" in told("--reservoir", "renamed.toml")
    assert "guide-curve-below.json: does not exist" in told("--reservoir", "renamed.toml", rule="guide-curve-upper")
    one = told("--reservoir", "upper.toml")
    assert "rule.family: is a family of rules of several reservoirs" in one
    (ruled / "rules/guide-curve-lower.json").unlink()
    assert "guide-curve-lower.json: does not exist" in told(rule="guide-curve-upper")
    content = json.loads((ruled / "rules/separable.json").read_text())
    content["fitted_to"]["reservoir_parts"]["lower"]["level curve"] = "another"
    (ruled / "rules/separable.json").write_text(json.dumps(content))
    assert "was fitted to another lower than that of" in told()
    content["rule"]["sites"][0]["per_released"] = []
    (ruled / "rules/separable.json").write_text(json.dumps(content))
    assert "rule.sites[0].per_released: has the wrong number of values" in told()
    (ruled / "rules/separable.json").write_text("{")
    assert "is not JSON" in told()


def test_a_plant_that_stores_nothing_passes_on_what_comes(call, tmp_path, strict):
    write_three(tmp_path)
    call("plan", "flows.csv", "--reservoir", "three.toml", "--solver", "slp", "--no-figures", "--out", "p")
    families = ("separable", "linear", "standard")
    asked = [word for family in families for word in ("--family", family)]
    shown = json.loads(call("rules", "p", *asked, "--folds", "2", "--json").out)
    of_system = [row for row in shown["scores"] if row["reservoir"] == "system"]
    held_out = {row["family"]: row for row in of_system if row["sample"] == "held-out"}
    assert set(held_out) == set(families)
    for row in held_out.values():
        assert 90 < row["percent_of_foresight"] <= 100 + 1e-7
        assert row["months_violated"] == 0
    given = ["--month", "5", "--level", "upper=440", "--storage", "lower=90"]
    given += [word for flow in ("upper=30", "mid=2", "lower=12") for word in ("--inflow", flow)]
    for rule in ("separable", "linear-mid"):
        told = strict(call("operate", f"p/rules/{rule}.json", *given, "--figure", "ahead.svg", "--json").out)
        upper, mid, lower = told["reservoirs"]
        assert mid["advice"]["release_m3s"] == pytest.approx(mid["situation"]["inflow_m3s"])
        assert mid["situation"]["arriving_m3s"] == pytest.approx(mid["situation"]["inflow_m3s"] - 2)
        assert lower["situation"]["arriving_m3s"] == pytest.approx(mid["advice"]["release_m3s"])
        assert mid["water_value"] is None
        assert upper["water_value"]["below_gwh_per_hm3"] > 0
        text = (tmp_path / "ahead.svg").read_text()
        assert "<!-- lower -->" in text
        assert "<!-- mid -->" not in text
    assert "mid: stores nothing, and releases what flows in" in call("operate", "p/rules/separable.json", *given).out
    told = strict(call("simulate", "p/rules/separable.json", "flows.csv", "--out", "s", "--json").out)
    assert told["violation"] == 0


def test_a_rule_operates_each_member_of_an_ensemble_anew(call, plan, tmp_path, strict):
    call("rules", "p", "--family", "separable", "--folds", "2", "--no-figures")
    header, *rows = wide().splitlines()
    members = [",".join((date, name, *flows)) for name in "ab" for date, *flows in (row.split(",") for row in rows)]
    (tmp_path / "ensemble.csv").write_text("\n".join((header.replace("date", "date,member"), *members, "")))
    rule = "p/rules/separable.json"
    alone = strict(call("simulate", rule, "flows.csv", "--out", "one", "--json").out)
    told = strict(call("simulate", rule, "ensemble.csv", "--out", "two", "--json").out)
    assert told["energy_gwh"] == pytest.approx(2 * alone["energy_gwh"])
    with (tmp_path / "two/schedule.csv").open(newline="") as file:
        ends = [row["storage_end_hm3"] for row in csv.DictReader(file)]
    assert ends[: len(ends) // 2] == ends[len(ends) // 2 :]
    call("plan", "ensemble.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures", "--out", "pe")
    assert "are not fitted to ensembles yet" in call("rules", "pe", status=2).err
