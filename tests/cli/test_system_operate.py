"""``reservoir operate`` of a system as a user types it."""

import json
import shutil

import pytest

from tests.cli.test_system_rules import FAMILIES
from tests.io.two_dams import wide, write_two

LEVELS = ("--level", "upper=440", "--storage", "lower=90")
FLOWS = ("--inflow", "upper=30", "--inflow", "lower=12")
BEFORE = ("--inflow-before", "upper=10", "--inflow-before", "lower=5", "--released", "upper=12")
RULE = "p/rules/separable.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with two dams, their record, their joint plan and its rules."""

    folder = tmp_path_factory.mktemp("river")
    (folder / "flows.csv").write_text(wide())
    write_two(folder)
    return folder


@pytest.fixture
def river(call, made, tmp_path):
    if not (made / "p/rules").exists():
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
        call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures", "--out", "p")
        call("rules", "p", *FAMILIES, "--folds", "2")
        shutil.copytree(tmp_path / "p", made / "p")
    else:
        shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def advice(call, river, strict):
    """What a call advises, as JSON: by reservoir, and all of it."""

    def ask(*words, rule=RULE):
        told = strict(call("operate", rule, "--month", "5", *words, "--json").out)
        return {each["reservoir"]: each for each in told["reservoirs"]}, told

    return ask


def test_all_reservoirs_are_advised_with_reasons_and_chances(call, river):
    shown = call("operate", RULE, "--month", "5", *LEVELS, *FLOWS, *BEFORE).out
    assert "two-dams, May, rule separable" in shown
    for name in ("upper", "lower"):
        assert f"{name}: kept here, water is worth" in shown
        assert f"{name}: spill " in shown
    assert "Chances in 100 futures of 12 months" in shown
    assert "Assumed" not in shown


def test_what_is_above_arrives_below(advice):
    sites, told = advice(*LEVELS, *FLOWS, *BEFORE)
    upper, lower = sites["upper"], sites["lower"]
    # Half a day of May is under way: of what April released, and of what May does.
    part = 12 / 24 / 31
    volumes = 30 * 86400 * 12 * part / (31 * 86400), (1 - part) * upper["advice"]["release_m3s"]
    assert lower["situation"]["arriving_m3s"] == pytest.approx(sum(volumes), rel=2e-3)
    assert lower["situation"]["inflow_m3s"] == pytest.approx(12 + lower["situation"]["arriving_m3s"])
    stored = 90 + (lower["situation"]["inflow_m3s"] - lower["advice"]["release_m3s"]) * 31 * 0.0864
    assert lower["advice"]["end_storage_hm3"] == pytest.approx(stored)
    assert told["power_mw"] == pytest.approx(upper["advice"]["power_mw"] + lower["advice"]["power_mw"])
    assert told["assumed"] == []


def test_water_is_worth_more_above_and_a_decision_lies_between_its_worths(advice):
    sites, _ = advice(*LEVELS, *FLOWS, *BEFORE)
    upper, lower = (sites[name]["water_value"] for name in ("upper", "lower"))
    assert upper["kept_gwh_per_hm3"] > lower["kept_gwh_per_hm3"] > 0
    assert upper["below_gwh_per_hm3"] > lower["below_gwh_per_hm3"] == 0
    for name in ("upper", "lower"):
        worth, end = sites[name]["water_value"], sites[name]["advice"]["end_storage_hm3"]
        if 20.1 < end < 119.9:
            released = worth["below_gwh_per_hm3"] + worth["last_gwh_per_hm3"]
            assert worth["kept_gwh_per_hm3"] == pytest.approx(released, rel=0.1)


def test_what_is_not_given_is_assumed_and_said(advice):
    sites, told = advice(*LEVELS)
    assert [words.split(":")[0] for words in told["assumed"]] == [
        "inflow of the previous month of upper, lower", "water under way from upper", "inflow of upper, lower",
    ]  # fmt: skip
    assert "a release of 28.32" in told["assumed"][1]  # before_cfs = 1000 of the system file
    one, told = advice(*LEVELS, "--inflow", "lower=12", *BEFORE)
    assert told["assumed"] == ["inflow of upper: the classes that follow the previous month in the rule's model"]
    local = one["lower"]["situation"]["inflow_m3s"] - one["lower"]["situation"]["arriving_m3s"]
    assert local == pytest.approx(12)
    assert sites["upper"]["chances"].keys() == {"spill", "missed_limit", "full"}


@pytest.mark.parametrize("name", ["separable", "guide-curve-upper", "guide-curve-lower"])
def test_the_last_rows_of_a_schedule_say_how_the_river_is(call, river, advice, name):
    lines = (river / "p/schedule.csv").read_text().splitlines()
    (river / "april.csv").write_text("\n".join(lines[: 1 + 2 * 4]))
    month = dict(zip(lines[0].split(","), lines[1 + 2 * 3 + 1].split(","), strict=True))
    assert (month["month"], month["reservoir"]) == ("4", "lower")
    sites, told = advice("--state", "april.csv", *FLOWS, rule=f"p/rules/{name}.json")
    assert told["assumed"] == []
    assert sites["lower"]["situation"]["storage_hm3"] == pytest.approx(float(month["storage_end_hm3"]), rel=1e-5)
    assert sites["lower"]["situation"]["inflow_before_m3s"] == pytest.approx(float(month["inflow_m3s"]), rel=0.02)
    assert sites["lower"]["water_value"] is not None  # by the values beside
    other, _ = advice("--state", "april.csv", *FLOWS, "--storage", "lower=50", rule=f"p/rules/{name}.json")
    assert other["lower"]["situation"]["storage_hm3"] == 50


def test_the_rule_of_each_reservoir_decides_with_all_that_flows_in(advice, river):
    from reservoir.io.rule_file import read_rule

    sites, _ = advice(*LEVELS, *FLOWS, *BEFORE, rule="p/rules/guide-curve-lower.json")
    rule, lower = read_rule(river / "p/rules/guide-curve-lower.json"), sites["lower"]
    known = (lower["situation"][each] for each in ("storage_hm3", "inflow_m3s", "inflow_before_m3s"))
    assert lower["advice"]["asked_m3s"] == pytest.approx(rule.release(4, *known))
    assert lower["chances"].keys() == {"spill", "missed_limit", "full"}  # of the inflow that the values beside know


def test_a_forecast_of_all_sites_takes_the_place_of_inflows(call, river, advice):
    rows = [f"1994-{month:02d},{name},{20 + place},{8 + place}" for place, name in enumerate("abc") for month in (5, 6)]
    (river / "ahead.csv").write_text("\n".join(["date,member,upper,lower_m3s", *rows]))
    sites, told = advice(*LEVELS, *BEFORE, "--ensemble", "ahead.csv", "--months-ahead", "3")
    assert told["outlook"] == {"futures": 3, "months": 3}
    assert sites["upper"]["situation"]["inflow_m3s"] == pytest.approx(21)
    assert told["assumed"] == []
    (river / "short.csv").write_text("\n".join(["date,member,upper", *(row.rpartition(",")[0] for row in rows)]))
    told = call("operate", RULE, "--month", "5", *LEVELS, "--ensemble", "short.csv", status=2).err
    assert "inflow of lower: there is no column lower in short.csv" in told
    told = call("operate", RULE, "--month", "6", *LEVELS, "--ensemble", "ahead.csv", status=2).err
    assert "the forecast begins in 1994-05" in told
    sites, told = advice(*LEVELS, *BEFORE, "--ensemble", "ahead.csv", rule="p/rules/guide-curve-upper.json")
    assert told["outlook"] == {"futures": 3, "months": 12}


def test_more_futures_are_drawn_and_the_outlook_is_drawn(call, river, advice):
    sites, told = advice(*LEVELS, *FLOWS, *BEFORE, "--members", "40", "--months-ahead", "6", "--figure", "ahead.svg")
    assert told["outlook"] == {"futures": 40, "months": 6}
    text = (river / "ahead.svg").read_text()
    assert "Storage in the months to come, 40 futures" in text
    assert all(f"<!-- {name} -->" in text for name in sites)
    assert advice(*LEVELS, *FLOWS, *BEFORE, "--members", "40", "--months-ahead", "6")[0] == sites
    refused = call("operate", RULE, "--month", "5", *LEVELS, "--figure", "ahead.jpg", status=2).err
    assert "--figure: is not a kind of figure" in refused
    refused = call("operate", RULE, "--month", "5", *LEVELS, "--ensemble", "a.csv", "--members", "9", status=2).err
    assert "--members: is given together with --ensemble" in refused


def test_a_rule_of_each_alone_has_no_futures(call, river):
    (river / RULE).unlink()
    given = ("p/rules/guide-curve-upper.json", "--month", "5", *LEVELS, *FLOWS)
    assert "Chances" not in call("operate", *given).out
    for option in (("--members", "9"), ("--figure", "ahead.svg")):
        assert f"{option[0]}: needs futures, and this rule knows none" in call("operate", *given, *option, status=2).err


def test_units_of_the_call(call, river):
    given = ("--level", "upper=1443", "--storage", "lower=73000", "--inflow", "upper=1000", "--inflow", "lower=400")
    shown = call("operate", RULE, "--month", "May", *given, *BEFORE, "--units", "us").out
    assert "level, ft" in shown
    assert "MWh/acre-ft later; released" in shown
    told = json.loads(call("operate", RULE, "--month", "5", *given, *BEFORE, "--units", "us", "--json").out)
    assert told["reservoirs"][0]["situation"]["inflow_cfs"] == pytest.approx(1000)


STATE = "reservoir,storage_hm3,month\nupper,100,4\nlower,90,4\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--level", "upper=440"], "--level: is missing of lower; expected either --level lower=LEVEL in m"),
        (["--level", "440"], "--level: is of no reservoir; expected one of upper, lower"),
        ([*LEVELS, "--storage", "upper=90"], "--level: is given together with --storage of upper"),
        ([*LEVELS, "--level", "upper=441"], '--level: is given twice (found "upper")'),
        ([*LEVELS, "--inflow", "mid=4"], '--inflow: is no reservoir of the system (found "mid")'),
        (["--level", "upper=440", "--storage", "lower=900"], "--storage: is outside the level curve (found 900)"),
        (["--level", "upper=900", "--storage", "lower=90"], "--level: is outside the level curve"),
        ([*LEVELS, "--replan"], "--replan: needs the rule of the family replan beside this one"),
        ([*LEVELS, "--flood-index", "3"], "--flood-index: does not take systems yet"),
        ([*LEVELS, "--unit", "m3/s"], "--unit: is given, but no inflow is read"),
        ([*LEVELS, *FLOWS, "--ensemble", "a.csv"], "--inflow: is given together with --ensemble"),
        (["--state", "none.csv"], "none.csv"),
        (["--state", "flows.csv"], "flows.csv, row 1: has no state of a river"),
        (["--state", "late.csv"], 'late.csv, row 3, column month: is not the month before (found "7"); expected 4'),
        (["--state", "mid.csv"], 'mid.csv, row 3, column reservoir: is no reservoir of the system (found "mid")'),
        (["--state", "word.csv"], 'word.csv, row 3, column storage_hm3: is not a number (found "much")'),
        (["--state", "empty.csv"], "empty.csv, row 3, column storage_hm3: is missing"),
    ],
)
def test_a_wrong_situation_is_refused(call, river, given, said):
    changes = {"late": (",90,4", ",90,7"), "mid": ("lower", "mid"), "word": (",90,", ",much,"), "empty": (",90,", ",,")}
    for name, change in changes.items():
        (river / f"{name}.csv").write_text(STATE.replace(*change))
    refused = call("operate", RULE, "--month", "5", *given, status=2)
    assert said in refused.err
    assert refused.out == ""


def test_a_rule_of_each_that_knows_its_month_needs_the_inflow(call, river):
    told = call("operate", "p/rules/guide-curve-upper.json", "--month", "5", *LEVELS, "--inflow", "upper=3", status=2)
    assert "--inflow: is missing of lower: this rule uses the month's inflow" in told.err


def test_options_of_systems_are_refused_for_one_reservoir(call, river):
    given = ("--reservoir", "upper.toml", "--month", "5", "--level", "440", "--released", "upper=3")
    told = call("operate", "p/rules/guide-curve-upper.json", *given, status=2).err
    assert "--released: is of a system of several reservoirs" in told
