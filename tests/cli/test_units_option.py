"""`--units us`: the same results in cfs, acre-feet and feet, in every table, figure, sentence and page."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from reservoir import runtime
from reservoir.hydro.unit_system import SI, US
from reservoir.io.plan_folder.saved_plan import read_plan

PLAN = ("plan", "inflow.csv", "--solver", "dp-opencl", "--device", "pocl")
#: Amounts and units of SI, as results would state them; "hm3" of a heading, "3.5 m3/s" of a sentence.
SI_AMOUNT = re.compile(r"\d (?:m3/s|m³/s|hm3|hm³|m)\b(?![³/])|\((?:m³/s|m3/s|hm³|hm3|m)\)|>(?:m³/s|hm³|m)<")


@pytest.fixture(scope="module")
def both(tmp_path_factory, call_in_module):
    """A folder with a plan in both units, and what the command printed in US units."""
    folder = tmp_path_factory.mktemp("units")
    flows = [400, 380, 430, 520, 800, 1500, 2600, 2500, 2400, 1500, 850, 600]
    rows = ["year," + ",".join(f"m{month:02d}" for month in range(1, 13))]
    rows += [f"{1953 + year}," + ",".join(str(flow + 20 * year) for flow in flows) for year in range(3)]
    (folder / "inflow.csv").write_text("\n".join(rows) + "\n")
    call_in_module(folder, *PLAN, "--out", "si")
    return folder, call_in_module(folder, *PLAN, "--units", "us", "--out", "us")


@pytest.fixture(scope="module")
def call_in_module(request):
    from click.testing import CliRunner

    from reservoir.cli import cli

    def execute(folder, *arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            result = CliRunner().invoke(cli, list(map(str, arguments)), standalone_mode=False)
        assert result.exception is None, result.output
        return result.output

    return execute


@pytest.mark.parametrize("table", ["schedule.csv", "summary.csv", "water_values.csv"])
def test_tables_say_the_same_in_other_units(both, table):
    folder, _ = both
    si, us = (pd.read_csv(folder / name / table) for name in ("si", "us"))
    assert list(us) == [US.column(name) for name in si]
    assert not any(name.endswith(("_m3s", "_hm3", "_m")) for name in us)
    for name in si.select_dtypes("number"):
        size = US.size(name)
        # Tables have six decimals, in both units.
        np.testing.assert_allclose(us[US.column(name)] * size, si[name], rtol=1e-9, atol=1e-6 * max(1, size))


def test_the_plan_says_its_units_and_is_read_back_in_si(both):
    folder, _ = both
    assert json.loads((folder / "us/plan.json").read_text())["units"] == {
        "system": "us",
        "flow": "cfs",
        "volume": "acre-ft",
        "level": "ft",
    }
    si, us = (read_plan(folder / name).plan for name in ("si", "us"))
    assert (si.units, us.units) == (SI, US)
    np.testing.assert_allclose(us.operation.storage_hm3, si.operation.storage_hm3, atol=1e-5)
    np.testing.assert_allclose(us.energy_gwh, si.energy_gwh, rtol=1e-8)


def test_screen_report_and_figures_have_no_amount_in_si(both):
    folder, printed = both
    report = (folder / "us/report.html").read_text()
    assert "mean flow" in printed
    assert "cfs" in printed
    words = re.sub(r"<svg.*?</svg>|Inflow unit.*?</d[dt]>", "", report, flags=re.DOTALL)
    for text in (printed, words):
        assert not SI_AMOUNT.findall(text)
    assert all(word in words for word in ("cfs", "acre-ft", ">ft<"))
    assert SI_AMOUNT.search((folder / "si/report.html").read_text())


def test_figures_label_their_axes_in_other_units(both):
    from reservoir.report.figures.figures import plan_figures

    for name, figure in plan_figures(read_plan(both[0] / "us").plan).items():
        labels = [label for ax in figure.axes for label in (ax.get_xlabel(), ax.get_ylabel())]
        texts = [text.get_text() for ax in figure.axes for text in ax.texts]
        assert not SI_AMOUNT.findall("\n".join([*labels, *texts])), name


def test_ticks_are_at_round_numbers_of_the_unit(both):
    from reservoir.report.figures.figures import plan_figures

    figure = plan_figures(read_plan(both[0] / "us").plan)["storage-fan"]
    axis = figure.axes[0].yaxis
    assert axis.get_label_text() == "Storage (acre-ft)"
    places = np.array(list(axis.get_majorticklocs())) / US.size("storage_hm3")
    assert len(places) > 2
    np.testing.assert_allclose(places / 100_000, np.round(places / 100_000), atol=1e-9)
    assert axis.get_major_formatter()(axis.get_majorticklocs()[0]) == f"{places[0]:,.0f}"


def test_rules_follow_the_units_of_the_plan(both, call_in_module):
    folder, _ = both
    printed = call_in_module(folder, "rules", "us", "--family", "standard", "--folds", "3", "--no-figures")
    assert "spill, acre-ft" in printed
    assert "spill_acre_ft" in pd.read_csv(folder / "us/scores.csv")
    said = ["operate", "us/rules/standard.json", "--month", "7", "--json"]
    si = json.loads(call_in_module(folder, *said, "--level", "1200", "--inflow", "2000", "--units", "si"))["advice"]
    feet, cfs = str(1200 / US.size("level_m")), str(2000 / US.size("inflow_m3s"))
    us = json.loads(call_in_module(folder, *said, "--level", feet, "--inflow", cfs))["advice"]
    assert us["release_cfs"] * US.size("release_m3s") == pytest.approx(si["release_m3s"])
    assert us["end_level_ft"] * US.size("level_m") == pytest.approx(si["end_level_m"])
    assert us["energy_gwh"] == pytest.approx(si["energy_gwh"])
    shown = call_in_module(folder, *said[:-1], "--level", feet, "--inflow", cfs, "--units", "us")
    assert not SI_AMOUNT.findall(shown)
    assert "--units si" not in shown


@pytest.fixture(scope="module")
def rule_in_feet(both, call_in_module):
    """The file of a rule of the plan in US units, and of the same rule away from its plan."""
    folder, _ = both
    call_in_module(
        folder, "rules", "us", "--family", "guide-curve", "--folds", "2", "--no-figures", "--force", "--units", "si"
    )
    (folder / "alone.json").write_bytes((folder / "us/rules/guide-curve.json").read_bytes())
    return "us/rules/guide-curve.json", "alone.json", "--reservoir", "us/reservoir.toml"


def test_rules_of_a_plan_in_feet_are_asked_in_feet_and_that_is_said(both, rule_in_feet, call_in_module):
    folder, _ = both
    beside, *alone = rule_in_feet
    for call in (["operate", beside], ["operate", *alone]):
        shown = call_in_module(folder, *call, "--month", "7", "--level", "3720", "--inflow", "1765.73")
        assert "Units: cfs, acre-ft and ft, as in the plan; for m³/s, hm³ and m give --units si" in shown
        assert "level 3,720.00 ft" in shown
        assert "Inflow            1,766 cfs" in shown
        in_m3s = call_in_module(
            folder, *call, "--month", "7", "--level", "1200", "--inflow", "900", "--units", "si", "--json"
        )
        assert json.loads(in_m3s)["situation"]["inflow_m3s"] == 900
    simulated = ("simulate", beside, "inflow.csv", "--level", "4000")
    shown = call_in_module(folder, *simulated, "--out", "run")
    assert "Units: cfs, acre-ft and ft, as in the plan" in shown
    assert "acre-ft a year" in shown
    assert json.loads((folder / "run/simulation.json").read_text())["units"]["system"] == "us"
    assert "storage_end_acre_ft" in pd.read_csv(folder / "run/summary.csv")
    told = json.loads(call_in_module(folder, *simulated, "--out", "again", "--json"))
    assert told["units"]["level"] == "ft"
    assert "Units" not in call_in_module(
        folder, *simulated[:3], "--level", "1200", "--units", "si", "--no-foresight", "--out", "third"
    )


def test_a_record_without_a_unit_is_read_as_that_of_the_plan(both, call_in_module):
    """The very file of a plan, whose unit the call named, would be 35 times the water otherwise."""
    folder, _ = both
    heads = "year," + ",".join(f"m{month:02d}" for month in range(1, 13))
    flows = [14000, 13000, 15000, 18000, 28000, 53000, 92000, 88000, 85000, 53000, 30000, 21000]
    (folder / "cfs.csv").write_text(
        "\n".join([heads, *(f"{year},{','.join(map(str, flows))}" for year in (1953, 1954))])
    )
    (folder / "ahead.csv").write_text(
        "date,member,inflow\n" + "\n".join(f"2027-0{month},{name},70000" for name in "ab" for month in (7, 8, 9))
    )
    call_in_module(folder, "plan", "cfs.csv", "--unit", "cfs", "--solver", "dp", "--no-figures", "--out", "of-cfs")
    fit = ("rules", "of-cfs", "--family", "replan", "--folds", "2", "--no-figures", "--force")
    assert "On the test (1953 to 1954)" in call_in_module(folder, *fit, "--test", "cfs.csv")
    test = json.loads((folder / "of-cfs/rules.json").read_text())["test"]
    assert (test["unit"], test["unit_from"]) == ("cfs", "as in the plan: the file gives no unit")
    means = []
    for name, given in (("as-plan", ()), ("as-said", ("--unit", "m3/s"))):
        asked = ("simulate", "of-cfs/rules/replan.json", "cfs.csv", *given, "--no-foresight", "--out", name)
        shown = call_in_module(folder, *asked)
        assert ("values in cfs (as in the plan: the file gives no unit)" in shown) == (not given)
        means.append(json.loads((folder / name / "simulation.json").read_text())["inflow"]["mean_m3s"])
    assert means[0] == pytest.approx(means[1] * US.size("inflow_m3s"))
    asked = ("operate", "of-cfs/rules/replan.json", "--month", "7", "--storage", "9000", "--json")
    situation = json.loads(call_in_module(folder, *asked, "--ensemble", "ahead.csv"))["situation"]
    assert situation["inflow_m3s"] == pytest.approx(70000 * US.size("inflow_m3s"))


@pytest.mark.parametrize(("option", "given"), [("--level", 1720.1), ("--storage", 99999999), ("--storage", 15000)])
def test_what_lies_beyond_the_curve_is_refused_as_it_was_given(both, rule_in_feet, call_in, option, given):
    asked = ("operate", rule_in_feet[0], "--month", "7", option, given, "--inflow", "900")
    refused = call_in(both[0], *asked, status=2).err
    assert f"(found {given})" in refused
    expected = {"--level": "3,608.92 to 4,084.65 ft", "--storage": "1,113,109 to 12,588,754 acre-ft"}
    assert f"expected {expected[option]}, the range of the level curve" in refused


def test_amounts_come_back_as_they_were_given(both, rule_in_feet, call_in_module):
    folder, _ = both
    numbers = np.random.default_rng(3)
    for flow, storage in zip(numbers.integers(500, 90_000, 5), numbers.integers(4_000_000, 11_000_000, 5), strict=True):
        asked = ("operate", rule_in_feet[0], "--month", "7", "--storage", storage, "--inflow", flow / 100)
        situation = json.loads(call_in_module(folder, *asked, "--json"))["situation"]
        assert (situation["storage_acre_ft"], situation["inflow_cfs"]) == (storage, flow / 100)
        shown = call_in_module(folder, *asked)
        assert f"storage {storage:,} acre-ft" in shown
        assert f"Inflow            {flow / 100:.4g} cfs" in shown


def test_the_words_of_the_user_are_not_rewritten(tmp_path, call_in_module):
    from reservoir.io.plan_folder.saved_plan import read_plan
    from reservoir.report.figures.figures import plan_figures
    from reservoir.report.figures.style import FOOT

    said, of_record = "the lake was lowered by 12 m in 1960, below 4 hm3", "flows above 50 m3/s are estimated"
    text = runtime.package_text("data", "xiaowan/reservoir.toml")
    (tmp_path / "own.toml").write_text(re.sub(r"(?m)^caveat = .*", f'caveat = "{said}"', text))
    flows = ",".join(map(str, [400, 380, 430, 520, 800, 1500, 2600, 2500, 2400, 1500, 850, 600]))
    heads = "year," + ",".join(f"m{month:02d}" for month in range(1, 13))
    (tmp_path / "inflow.csv").write_text(f"# caveat: {of_record}\n{heads}\n" + f"1953,{flows}\n1954,{flows}\n")
    inputs = ("inflow.csv", "--unit", "m3/s", "--reservoir", "own.toml")
    printed = call_in_module(tmp_path, "plan", *inputs, "--units", "us", "--solver", "dp", "--out", "plan")
    printed += call_in_module(tmp_path, "rules", "plan", "--family", "replan", "--folds", "2", "--no-figures")
    asked = ("operate", "plan/rules/replan.json", "--month", "7", "--storage", "9000000", "--inflow", "40000")
    printed += call_in_module(tmp_path, *asked, "--figure", "outlook.svg")
    assert not SI_AMOUNT.findall(re.sub(f"(?i){said}|{of_record}|values in m³/s", "", printed))
    report = (tmp_path / "plan/report.html").read_text()
    for words in (said, of_record):
        assert words[1:] in printed
        assert words[1:] in report
    for figure in plan_figures(read_plan(tmp_path / "plan").plan).values():
        (foot,) = figure.findobj(match=lambda artist: artist.get_gid() == FOOT)
        told = " ".join(foot.get_text().split())
        assert said[1:] in told
        assert of_record[1:] in told


def test_rules_may_be_in_other_units_than_the_plan(both, call_in_module):
    folder, _ = both
    asked = ("--family", "standard", "--folds", "3", "--no-figures", "--force")
    call_in_module(folder, "rules", "si", *asked)
    own = pd.read_csv(folder / "si/scores.csv")
    printed = call_in_module(folder, "rules", "si", *asked, "--units", "us")
    assert "spill, acre-ft" in printed
    scores = pd.read_csv(folder / "si/scores.csv")
    np.testing.assert_allclose(scores["spill_acre_ft"] * US.size("spill_hm3"), own["spill_hm3"], rtol=1e-9)
    page = (folder / "si/rules.html").read_text()
    assert "have flows in cfs (the plan: m³/s), volumes in acre-ft (the plan: hm³)" in page
    assert SI_AMOUNT.search((folder / "si/report.html").read_text())
    assert "acre-ft" in page.partition('id="rules-units"')[2].partition("</section>")[2]


def test_a_level_beyond_the_lake_is_refused_in_feet(both, call):
    folder, _ = both
    plan = ("plan", folder / "inflow.csv", "--from", "2026-09", "--units", "us", "--no-figures", "--out", "beyond")
    refused = call(*plan, "--level", "1200", status=2).err
    assert "found 1200" in refused
    assert "3,608.92 to 4,084.65 ft" in refused


def test_a_front_tells_the_record_in_other_units(both, call_in_module):
    folder, _ = both
    asked = ("tradeoff", "inflow.csv", "--points", "3", "--device", "pocl", "--no-figures")
    printed = call_in_module(folder, *asked, "--units", "us", "--out", "front")
    words = re.sub(r"values in m³/s", "", (folder / "front/report.html").read_text())
    for text in (printed.replace("values in m³/s", ""), words):
        assert not SI_AMOUNT.findall(text)
        assert "cfs" in text
    assert json.loads((folder / "front/tradeoff.json").read_text())["units"]["system"] == "us"
    assert "Firm power (MW)" in words
    assert "Firm power asked for" not in words  # the same numbers


def test_synthetic_inflow_is_written_in_cfs_and_read_back(both, call_in_module):
    from reservoir import read_inflow

    folder, _ = both
    flows = np.random.default_rng(4).lognormal(6, 0.4, (16, 12)).round(1)
    rows = ["year," + ",".join(f"m{month:02d}" for month in range(1, 13))]
    rows += [f"{1953 + year}," + ",".join(map(str, row)) for year, row in enumerate(flows.tolist())]
    (folder / "long.csv").write_text("\n".join(rows) + "\n")
    made = ("synth", "long.csv", "--unit", "m3/s", "--years", "32")
    texts = [call_in_module(folder, *made, "--units", units, "--out", f"{units}.csv") for units in ("si", "us")]
    si, us = (read_inflow(folder / f"{units}.csv") for units in ("si", "us"))
    np.testing.assert_allclose(us.flow_m3s, si.flow_m3s, rtol=2e-5)  # both have six digits
    assert (folder / "us.csv").read_text().splitlines()[1] == "member,date,inflow_cfs"
    assert not SI_AMOUNT.findall(texts[1].replace("values in m³/s", ""))
    si, us = (pd.read_csv(folder / f"{units}-checks.csv").set_index("statistic") for units in ("si", "us"))
    size = US.size("inflow_m3s")
    for name, power in {"mean of the month": 1, "annual variance": 2, "Hurst exponent": 0}.items():
        np.testing.assert_allclose(us.loc[name, "record"] * size**power, si.loc[name, "record"], rtol=1e-6)
    figures = [(folder / f"{units}-checks.svg").read_text() for units in ("si", "us")]
    assert [figure.count("Mean (cfs)") for figure in figures] == [0, 1]
