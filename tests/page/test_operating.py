"""The Operate screen: what it advises is what the command prints as JSON, and what is wrong is told at its field."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from reservoir.cli import operate, plan, rules
from reservoir.errors import InputError
from reservoir.io.rule_file import write_rule
from reservoir.page.desk import Desk
from reservoir.page.workspace import Workspace
from reservoir.report import advice
from reservoir.rules import fit
from reservoir.text.strict_json import strict_json
from tests.io.two_dams import wide, write_two
from tests.page.conftest import expect, narrow, quiet

pytestmark = pytest.mark.timeout(300)
MAY = {"level": "1,200", "inflow": 800}


def desk_in(folder) -> Desk:
    return Desk(Workspace(folder), lambda words: pytest.fail("nothing is opened"))


def command(of, *words):
    done = CliRunner().invoke(of.command, [*map(str, words)], catch_exceptions=False)
    assert done.exit_code in (0, 1), done.output
    return done.stdout


@pytest.fixture
def desk(ruled, six_year_rules, tmp_path):
    """A workspace with a plan, its quick rules and one that replans, and a forecast."""
    folder = shutil.copytree(ruled, tmp_path / "six")
    evaluation = six_year_rules[0]
    replan = fit("replan", evaluation.training, evaluation.forecast).changed(members=10)
    write_rule(
        replan, folder / "rules/replan.json", json.loads((folder / "rules/linear.json").read_text())["fitted_to"]
    )
    rows = [f"1960-{5 + month:02d}-01,{member},{600 + 5000 * member}" for member in range(4) for month in range(3)]
    (tmp_path / "forecast.csv").write_text("\n".join(["date,member,inflow", *rows]))
    return desk_in(tmp_path)


def advised(desk, values, **more):
    ask = {"kind": "advice", "plan": "six", "month": 5, "values": {"xiaowan": values}, **more}
    answer = json.loads(strict_json(desk.answer(ask, quiet)))
    return answer, {each["family"]: each for each in answer["rules"]}


def test_every_rule_advises_what_its_command_prints(desk, tmp_path):
    told = desk.answer({"kind": "operable", "plan": "six"}, quiet)
    assert told["fitted"] == ["guide-curve", "linear", "replan", "standard"]
    assert told["sites"][0]["levels"] == [1100, 1245]
    answer, by_family = advised(desk, MAY)
    assert [each["family"] for each in answer["rules"]] == told["fitted"]
    assert answer["assumed"] == ["Not given, mean of the fitted years used: previous inflow"]
    us, _ = advised(
        desk, {"storage": 8000000, "inflow": 28000, "inflow-before": 20000}, units="us", families=["linear"]
    )
    for family, each in by_family.items():
        words = ("--month", "May", "--level", 1200, "--inflow", 800, "--json")
        assert each["advice"] == json.loads(command(operate, tmp_path / f"six/rules/{family}.json", *words))
        assert each["outside"] is None
        assert each["cells"][1] == f"{each['advice']['advice']['end_level_m']:,.2f}"
    words = ("--month", 5, "--storage", 8000000, "--inflow", 28000, "--inflow-before", 20000, "--units", "us", "--json")
    assert us["rules"][0]["advice"] == json.loads(command(operate, tmp_path / "six/rules/linear.json", *words))
    assert us["assumed"] == []


def test_rules_of_a_plan_ask_it_once_for_years_like_this(desk, monkeypatch):
    asked, alike = [], advice.alike
    monkeypatch.setattr(advice, "alike", lambda *given: asked.append(given) or alike(*given))
    _, by_family = advised(desk, MAY)
    assert len(by_family) == 4
    assert len(asked) == 1
    for family, each in by_family.items():
        assert advised(desk, MAY, families=[family])[1] == {family: each}
    assert len(asked) == 5


def test_reasons_are_those_that_the_command_prints(desk, tmp_path):
    _, by_family = advised(desk, {"level": 1110, "inflow": 100})
    printed = command(operate, tmp_path / "six/rules/linear.json", "--month", 5, "--level", 1110, "--inflow", 100)
    for title, words in by_family["linear"]["rows"]:
        assert f"{title:<18}{words}\n" in printed
    assert by_family["linear"]["warnings"]
    assert all(words in printed for words in by_family["linear"]["warnings"])


def test_a_forecast_stands_for_the_inflow_and_tells_who_ends_outside(desk, tmp_path, xiaowan):
    answer, by_family = advised(desk, {"level": 1235}, ensemble="forecast.csv")
    assert answer["heads"][-1] == "Members outside limits"
    words = ("--month", 5, "--level", 1235, "--json")
    path = tmp_path / "six/rules"
    told = command(operate, path / "replan.json", *words, "--ensemble", tmp_path / "forecast.csv")
    assert by_family["replan"]["advice"] == json.loads(told)
    mean = 600 + 5000 * np.arange(4).mean()
    told = command(operate, path / "linear.json", *words, "--inflow", mean)
    assert by_family["linear"]["advice"] == json.loads(told)
    start, flows = by_family["linear"]["advice"]["situation"]["storage_hm3"], 600 + 5000 * np.arange(4)
    left = start + (flows - xiaowan.release_bounds_m3s[1, 4]) * 31 * 0.0864  # hm3 left in the lake
    assert by_family["linear"]["outside"] == (left > xiaowan.storage_bounds_hm3[1, 4]).mean() == 0.75
    with pytest.raises(InputError, match="together with") as refused:
        advised(desk, MAY, ensemble="forecast.csv")
    assert refused.value.mistakes[0].column == "inflow"


@pytest.mark.parametrize(
    ("values", "more", "field", "words"),
    [
        ({"level": "high", "inflow": 800}, {}, "level", "is not a number"),
        ({"level": "1,200", "inflow": "412,5"}, {}, "inflow", "use a decimal point"),
        ({"level": "1,200", "inflow": "0,412"}, {}, "inflow", "use a decimal point"),
        ({"level": "1200,5", "inflow": "1,412.5"}, {}, "level", "use a decimal point"),
        ({"level": 1250, "inflow": 800}, {}, "level", "expected 1100.00 to 1245.00 m"),
        ({"inflow": 800}, {}, "level", "is missing"),
        ({"storage": 5, "inflow": 800}, {}, "storage", "expected 1,373 to 15,528 hm³"),
        ({"level": 1200}, {}, "inflow", "is missing"),
        ({"level": 1200, "inflow": -1}, {}, "inflow", "a number of 0 or more"),
        ({"level": 1200, "inflow": 800, "inflow-before": "nan"}, {}, "inflow-before", "is not a number"),
        (MAY, {"month": 13}, "month", "1 to 12"),
        (MAY, {"flood-index": 1}, "flood-index", "has no flood space"),
        ({"level": 1200}, {"month": 6, "ensemble": "forecast.csv"}, "", "forecast.csv"),
        (MAY, {"families": ["zones"]}, "plan", "has no such rules"),
        (MAY, {"plan": "../six"}, "name", "is no name"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(desk, values, more, field, words):
    with pytest.raises(InputError, match=re.escape(words)) as refused:
        advised(desk, values, **more)
    assert refused.value.mistakes[0].column == field


def test_rules_are_fitted_by_the_command_in_place_of_others(desk, tmp_path):
    shutil.rmtree(tmp_path / "six/rules")
    assert desk.answer({"kind": "operable", "plan": "six"}, quiet)["fitted"] == []
    stages = []
    ask = {"kind": "fit-rules", "plan": "six", "families": ["standard"]}
    told = desk.answer(ask, lambda stage, done, total: stages.append(stage))
    assert told["fitted"] == ["standard"]
    assert told["command"] == "reservoir rules six --family standard"
    assert len(stages) > 1
    assert advised(desk, MAY)[1].keys() == {"standard"}


@pytest.fixture(scope="module")
def river(tmp_path_factory):
    """Two dams, their joint plan, and rules of both kinds."""
    folder = tmp_path_factory.mktemp("river")
    (folder / "flows.csv").write_text(wide())
    system = write_two(folder)
    files = ("--reservoir", system, "--solver", "slp", "--no-figures", "--out", folder / "p")
    command(plan, folder / "flows.csv", *files)
    families = ("--family", "separable", "--family", "guide-curve")
    command(rules, folder / "p", *families, "--folds", 2, "--no-figures")
    return folder


def test_a_system_is_advised_in_all_its_reservoirs(river):
    desk = desk_in(river)
    told = desk.answer({"kind": "operable", "plan": "p"}, quiet)
    assert (told["system"], told["fitted"]) == (True, ["separable", "guide-curve"])
    assert [(each["name"], each["delayed"]) for each in told["sites"]] == [("upper", True), ("lower", False)]
    values = {"upper": {"level": 440, "inflow": 30, "released": 12}, "lower": {"storage": 90, "inflow": 12}}
    ask = {"kind": "advice", "plan": "p", "month": 5, "values": values}
    answer = desk.answer(ask, quiet)
    words = ("--month", 5, "--level", "upper=440", "--storage", "lower=90", "--inflow", "upper=30")
    words += ("--inflow", "lower=12", "--released", "upper=12")
    for each, name in zip(answer["rules"], ("separable", "guide-curve-upper"), strict=True):
        path = river / f"p/rules/{name}.json"
        of_command = json.loads(command(operate, path, *words, "--json"))
        assert json.loads(strict_json(each["advice"])) | {"caveats": []} == of_command
        printed = command(operate, path, *words)
        assert each["reasons"]
        assert all(sentence in printed for sentence in (*each["reasons"], *each["warnings"]))
        assert [row[0] for row in each["table"]] == ["upper", "lower", "system"]
    assert answer["assumed"] == ["Assumed: inflow of the previous month of upper, lower: the mean of the fitted years"]
    for name, key, number, field in (
        ("lower", "storage", 1e6, "storage of lower"),
        ("upper", "inflow", -1, "inflow of upper"),
    ):
        with pytest.raises(InputError) as refused:
            desk.answer(ask | {"values": values | {name: values[name] | {key: number, "level": None}}}, quiet)
        assert refused.value.mistakes[0].column == field


def test_advice_follows_the_typing_in_a_browser(opened, served, ruled):
    opened.get_by_role("tab", name="Operate").click()  # nothing is saved yet
    opened.get_by_role("button", name="Save the plan, and go on").click()
    opened.get_by_text("This plan has no rules yet").wait_for()
    assert served.desk.workspace.saved() == ["my-plan"]
    folder = shutil.copytree(ruled, served.desk.workspace.folder / "advised")
    try:
        opened.reload()
        opened.get_by_role("tab", name="Operate").click()
        opened.get_by_role("combobox", name="Plan").select_option("advised")
        row = opened.get_by_role("row", name=re.compile("^linear"))
        row.wait_for()
        opened.get_by_role("combobox", name="Month").select_option("May")
        opened.get_by_label("Inflow of the month, m³/s").fill("800")
        level = opened.get_by_label("Level, m")
        level.fill("1200")
        shown = json.loads(
            command(operate, folder / "rules/linear.json", "--month", 5, "--level", 1200, "--inflow", 800, "--json")
        )["advice"]
        opened.get_by_role("cell", name=f"{shown['end_level_m']:,.2f}").first.wait_for()
        before = row.text_content()
        level.fill("5000")
        opened.locator("label .fault", has_text="1100.00 to 1245.00 m").wait_for()
        expect(level).to_have_attribute("aria-invalid", "true")
        expect(row).to_have_text(before)
        level.fill("1200")
        opened.locator("summary", has_text="Why linear").click()
        opened.get_by_role("row", name=re.compile("^Optimised years")).wait_for()
        opened.get_by_label("Units").select_option("us")
        opened.get_by_role("columnheader", name="End level, ft").wait_for()
        expect(opened.get_by_label("Level, ft")).to_have_value("3937.008")
        narrow(opened)
    finally:
        shutil.rmtree(folder)
