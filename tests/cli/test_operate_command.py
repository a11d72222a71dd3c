import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from reservoir.io.rule_file import belongings, read_rule, write_rule
from reservoir.rules import fit
from reservoir.rules.base.rule import Months
from reservoir.rules.families.zones import ZonesRule
from tests.io.case_book import saved

MAY = ("--month", "5", "--storage", "9000", "--inflow", "800")


def dispatch_chart(evaluation) -> ZonesRule:
    """A chart of the reservoir of an evaluation, made by hand."""
    plant = evaluation.plan.reservoir
    lower, upper = (plant.by_step(each).tolist() for each in (plant.storage_lower_hm3, plant.storage_upper_hm3))
    return ZonesRule(
        family="zones",
        reservoir=plant.name,
        forecast=evaluation.forecast,
        months=Months.of(evaluation.training),
        storage_lower_hm3=lower,
        storage_upper_hm3=upper,
        curves_hm3=[[volume] * 12 for volume in (6000.0, 8000.0, 11000.0)],
        outputs_mw=[1000.0, 2000.0, 3000.0, 4000.0],
        storage_hm3=[4662.0, 14557.0],
        release_m3s=[[300.0, 300.0], [900.0, 900.0], [1500.0, 1500.0], [2000.0, 2000.0]],
    )


def test_the_release_is_that_of_the_rule(call, plan, strict):
    rule = read_rule(plan / "rules/linear.json")
    told = strict(call("operate", "plan/rules/linear.json", *MAY, "--inflow-before", "600", "--json").out)
    assert told["advice"]["asked_m3s"] == rule.release(4, 9000.0, 800.0, 600.0)
    assert told["advice"]["release_m3s"] == pytest.approx(told["advice"]["asked_m3s"])
    assert not told["advice"]["repaired"]


def test_inflows_that_are_not_given_are_the_means_and_that_is_said(call, plan, strict):
    rule = read_rule(plan / "rules/linear.json")
    printed = call("operate", "plan/rules/linear.json", *MAY).out
    assert "Not given, mean of the fitted years used: previous inflow" in printed
    situation = strict(call("operate", "plan/rules/linear.json", *MAY, "--json").out)["situation"]
    assert situation["inflow_before_m3s"] == rule.months.inflow_m3s[3]
    assert situation["inflow_m3s"] == 800


def test_a_level_stands_for_its_storage(call, plan, xiaowan, strict):
    options = ("--month", "5", "--inflow", "800", "--json")
    told = strict(call("operate", "plan/rules/linear.json", "--level", "1200", *options).out)
    assert float(xiaowan.level(told["situation"]["storage_hm3"])) == pytest.approx(1200)


def test_it_says_what_the_optimised_years_did(call, plan):
    near = ("--month", "5", "--storage", "11500", "--inflow", "790")
    assert "most similar years: 195" in call("operate", "plan/rules/linear.json", *near).out
    far = call("operate", "plan/rules/linear.json", *MAY).out
    assert "none began the month like this: the nearest, 195" in far
    assert "like it: up to 1" in far


def test_the_zone_is_that_of_the_dispatch_chart_beside_the_rule(call, plan, six_year_rules, strict):
    assert strict(call("operate", "plan/rules/linear.json", *MAY, "--json").out)["zone"] is None
    plant = six_year_rules[0].plan.reservoir
    chart = dispatch_chart(six_year_rules[0])
    write_rule(chart, plan / "rules/zones.json", belongings(plant, plan))
    for family in ("linear", "zones"):
        printed = call("operate", f"plan/rules/{family}.json", *MAY).out
        assert f"{chart.zone(4, 9000.0)} output (dispatch chart)" in printed


def test_zones_of_about_the_same_output_are_told_as_one(call, plan, six_year_rules):
    """Guaranteed and increased output are half a percent apart."""
    chart = dispatch_chart(six_year_rules[0]).model_copy(update={"outputs_mw": (1000.0, 2000.0, 2010.0, 4000.0)})
    write_rule(chart, plan / "rules/zones.json", belongings(six_year_rules[0].plan.reservoir, plan))
    printed = call("operate", "plan/rules/zones.json", *MAY).out
    assert "guaranteed and increased output (dispatch chart)" in printed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--month", "5", "--inflow", "800"), "--level: is missing"),
        ((*MAY, "--level", "1200"), "--level: is given together with --storage"),
        (("--month", "5", "--storage", "9000"), "--inflow: is missing: this rule uses the month's inflow"),
        ((*MAY, "--storage", "100"), "expected 1,373 to 15,528 hm³"),
        ((*MAY, "--storage", "nan"), "'nan' is not between 0 and"),
        ((*MAY, "--inflow", "nan"), "'nan' is not between 0 and"),
        ((*MAY, "--inflow", "inf"), "'inf' is not between 0 and"),
        ((*MAY, "--inflow", "1e308"), "'1e308' is not between 0 and"),
        ((*MAY, "--inflow-before", "-3"), "'-3' is not between 0 and"),
        ((*MAY, "--inflow", "abc"), "'abc' is not a number"),
        ((*MAY, "--month", "13"), "1<=x<=12"),
        ((*MAY, "--month", "-1"), "1<=x<=12"),
        ((*MAY, "--month", "Mai?"), "'Mai?' is not a month; give 1 to 12, or a name such as May"),
        ((*MAY, "--month", "5.5"), "'5.5' is not a month; give 1 to 12, or a name such as May"),
        (("--level", "1250", "--month", "5", "--inflow", "800"), "expected 1100.00 to 1245.00 m"),
        (("--level", "nan", "--month", "5", "--inflow", "800"), "'nan' is not a finite number"),
    ],
)
def test_a_wrong_situation_is_refused(call, plan, options, words):
    refused = call("operate", "plan/rules/linear.json", *options, status=2)
    assert words in refused.err
    assert refused.out == ""


def test_a_storage_below_the_dead_one_is_answered_and_said_to_be_beyond_help(call, plan):
    printed = call("operate", "plan/rules/linear.json", "--month", "7", "--level", "1110", "--inflow", "500").out
    assert "No permitted release satisfies the storage limits of this month" in printed
    assert (
        "The storage at the start, 1,699 hm³, is below dead storage, 4,662 hm³: nothing is released before the lake is"
        in printed
    )


@pytest.mark.parametrize("family", ["guide-curve", "linear", "standard"])
@pytest.mark.parametrize("storage", ["1373", "15528"])
@pytest.mark.parametrize("flow", ["0", "1e9"])
def test_whatever_the_situation_the_answer_is_valid_json(call, plan, family, storage, flow, strict):
    options = ("--month", "7", "--storage", storage, "--inflow", flow, "--json")
    advice = strict(call("operate", f"plan/rules/{family}.json", *options).out)["advice"]
    assert advice["release_m3s"] + advice["missing_m3s"] >= 300  # the minimum, or why not
    assert advice["starts_below_dead"] == (storage == "1373")
    assert (advice["release_m3s"] == 0) == (storage == "1373" and flow == "0")


def test_a_rule_alone_is_answered_without_the_optimised_years(call, plan, tmp_path, strict):
    shutil.copy(plan / "rules/linear.json", tmp_path / "lone.json")
    told = strict(call("operate", "lone.json", *MAY, "--reservoir", "plan/reservoir.toml", "--json").out)
    assert told["optimised_years"] is None
    assert told["zone"] is None


@pytest.mark.parametrize("content", ["", "year,month\n", "1\n"])
def test_a_broken_schedule_beside_the_rule_is_told(call, plan, content):
    (plan / "schedule.csv").write_text(content)
    assert "schedule.csv: " in call("operate", "plan/rules/linear.json", *MAY, status=2).err


def test_a_schedule_without_rows_is_told(call, plan):
    heading = (plan / "schedule.csv").read_text().splitlines()[0]
    (plan / "schedule.csv").write_text(heading + "\n")
    assert "has no rows" in call("operate", "plan/rules/linear.json", *MAY, status=2).err


@pytest.mark.parametrize("family", ["linear", "replan"])
def test_it_imports_nothing_that_takes_long(plan, replanned, tmp_path, family):
    code = (
        "import sys\nfrom reservoir.cli import cli\n"
        "cli.main(sys.argv[1:], standalone_mode=False)\n"
        "slow = {'numba', 'pyopencl', 'matplotlib', 'jinja2'}\n"
        "print('SLOW', sorted(slow & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, "operate", f"plan/rules/{family}.json", *MAY]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "SLOW []" in finished.stdout


def test_a_reader_that_leaves_sees_no_traceback(plan, tmp_path):
    command = [sys.executable, "-m", "reservoir", "operate", "plan/rules/linear.json", *MAY]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        writer.stdout.close()
        assert writer.stderr.read() == ""


def test_what_must_be_said_of_the_inflow_and_the_reservoir_is_said(call, plan, strict):
    provenance = plan / "plan.json"
    content = json.loads(provenance.read_text()) | {"caveats": ["a record of dreams", "a guessed curve"]}
    provenance.write_text(json.dumps(content))
    printed = call("operate", "plan/rules/linear.json", *MAY).out
    assert "A record of dreams" in printed
    assert "A guessed curve" in printed
    told = strict(call("operate", "plan/rules/linear.json", *MAY, "--json").out)
    assert told["caveats"] == ["a record of dreams", "a guessed curve"]


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_plan_whose_provenance_cannot_be_read_is_refused(call, plan, content):
    (plan / "plan.json").write_text(content)
    told = call("operate", "plan/rules/linear.json", *MAY, status=2).err
    assert "plan.json" in told
    assert "Traceback" not in told


def change(path, old, new):
    """Put other words into a file, which holds the old ones once."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_the_plans_own_reservoir_that_was_changed_since_is_refused_by_what_differs(call, plan):
    change(plan / "reservoir.toml", "installed_capacity_mw = 4200", "installed_capacity_mw = 4100")
    refused = call("operate", "plan/rules/linear.json", *MAY, status=2)
    assert "different: installed capacity" in refused.err
    assert "`reservoir rules`" in refused.err
    assert refused.out == ""


def test_another_file_of_the_same_reservoir_is_taken_and_another_reservoir_of_its_name_is_not(call, plan, tmp_path):
    text = (plan / "reservoir.toml").read_text()
    (tmp_path / "same.toml").write_text("# copied by hand\n" + text)
    (tmp_path / "other.toml").write_text(text.replace("lower_m3s = 300", "lower_m3s = 301"))
    call("operate", "plan/rules/linear.json", *MAY, "--reservoir", "same.toml")
    refused = call("operate", "plan/rules/linear.json", *MAY, "--reservoir", "other.toml", status=2)
    assert "than that of other.toml; different: release bounds" in refused.err


def test_a_schedule_that_was_changed_since_is_refused(call, plan):
    table = (plan / "schedule.csv").read_text().splitlines()
    row = table[5].split(",")
    table[5] = ",".join([*row[:2], f"{float(row[2]) + 1e-6:.6f}", *row[3:]])
    (plan / "schedule.csv").write_text("\n".join(table) + "\n")
    refused = call("operate", "plan/rules/linear.json", *MAY, status=2)
    assert "plan/schedule.csv was changed, or is that of another plan" in refused.err


def test_a_dispatch_chart_of_another_reservoir_beside_the_rule_is_refused(call, plan, xiaowan, six_year_rules):
    chart = dispatch_chart(six_year_rules[0])
    halved = replace(xiaowan, storage_upper_hm3=xiaowan.storage_upper_hm3 / 2)
    for fitted_to, words in (
        (belongings(halved, plan), "different: storage bounds"),
        (belongings(xiaowan, plan) | {"schedule_sha256": "0" * 64}, "was fitted to another plan"),
    ):
        write_rule(chart, plan / "rules/zones.json", fitted_to)
        refused = call("operate", "plan/rules/linear.json", *MAY, status=2).err
        assert "plan/rules/zones.json: " in refused
        assert words in refused


def test_rules_of_an_earlier_version_still_answer_beside_their_plan(call):
    """A rule and a dispatch chart of 0.2 in the folder of a plan of 0.1."""
    rule = Path(__file__).parents[1] / "earlier/rules/linear.json"
    answer = call("operate", rule, *MAY).out
    for line in ("Release", "Zone", "Optimised years"):
        assert f"\n{line} " in answer


@pytest.fixture(scope="module")
def replan_rule(six_year_rules):
    """A rule that re-plans, of few members."""
    evaluation = six_year_rules[0]
    return fit("replan", evaluation.training, evaluation.forecast).changed(members=30)


@pytest.fixture
def replanned(plan, replan_rule):
    """Its file beside the others."""
    write_rule(
        replan_rule, plan / "rules/replan.json", json.loads((plan / "rules/linear.json").read_text())["fitted_to"]
    )
    return "plan/rules/replan.json"


def test_a_rule_that_replans_tells_the_months_to_come(call, replanned, strict):
    printed = call("operate", replanned, *MAY, "--inflow-before", "600", "--months-ahead", "18").out
    assert "Next 18 months    of 30 futures: full in" in printed
    told = strict(call("operate", replanned, *MAY, "--inflow-before", "600", "--members", "20", "--json").out)[
        "outlook"
    ]
    assert told["members"] == 20
    assert [each["month"] for each in told["months"]] == [5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4]
    for each in told["months"]:
        quantiles = [each[f"storage_q{share}_hm3"] for share in ("05", "25", "50", "75", "95")]
        assert quantiles == sorted(quantiles)
    assert all(0 <= told[f"{name}_probability"] <= 1 for name in ("refill", "spill"))


def test_another_rule_is_replanned_with_the_rule_beside_it(call, replanned, strict):
    asked = strict(call("operate", replanned, *MAY, "--json").out)
    told = strict(call("operate", "plan/rules/linear.json", *MAY, "--replan", "--json").out)
    assert told == asked
    assert told["family"] == "replan"


def test_without_a_rule_that_replans_beside_it_the_flag_says_how_to_fit_one(call, plan):
    told = call("operate", "plan/rules/linear.json", *MAY, "--replan", status=2)
    assert "--replan: needs the rule of the family replan beside this one" in told.err
    assert "reservoir rules PLAN_DIR" in told.err


def test_water_is_weighed_by_the_rule_that_knows_its_value(call, replanned, replan_rule, strict):
    told = strict(call("operate", replanned, *MAY, "--inflow-before", "600", "--json").out)
    advice, worth = told["advice"], told["water_value"]
    kept = replan_rule.water_value(4, advice["end_storage_hm3"], 800.0, 600.0)
    assert worth["kept_gwh_per_hm3"] == pytest.approx(kept)
    assert worth["by_rule"] == "replan"
    # Between what the last hm3 makes and what one more would, but for the distance of the values' grid, 0.03 GWh.
    assert worth["one_more_released_gwh_per_hm3"] - 0.03 <= kept <= worth["last_released_gwh_per_hm3"] + 0.03


def test_a_rule_without_values_is_weighed_by_the_table_beside_it(call, plan, six_year_rules, strict):
    assert strict(call("operate", "plan/rules/linear.json", *MAY, "--json").out)["water_value"] is None
    evaluation = six_year_rules[0]
    table = fit("water-value", evaluation.training, evaluation.forecast)
    write_rule(table, plan / "rules/water-value.json", belongings(evaluation.plan.reservoir, plan))
    assert (
        strict(call("operate", "plan/rules/linear.json", *MAY, "--json").out)["water_value"]["by_rule"] == "water-value"
    )
    options = ("--month", "5", "--level", "3940", "--inflow", "28000", "--units", "us")
    printed = call("operate", "plan/rules/linear.json", *options).out
    assert "MWh/acre-ft later (by water-value); released now, the last of it makes" in printed


def forecast_file(path: Path, flows: np.ndarray, first: str = "2027-05") -> Path:
    """A forecast of some members, flows of shape (members, months)."""
    months = np.datetime64(first) + np.arange(flows.shape[1])
    rows = [
        f"{month},{member},{flow}"
        for member, each in enumerate(flows)
        for month, flow in zip(months, each, strict=True)
    ]
    path.write_text("\n".join(["date,member,inflow_m3s", *rows]) + "\n")
    return path


@pytest.fixture
def forecast(tmp_path):
    return forecast_file(tmp_path / "forecast.csv", np.random.default_rng(5).gamma(8.0, 100.0, (25, 7)))


MAY_WITHOUT_INFLOW = ("--month", "5", "--storage", "9000", "--inflow-before", "600")


def test_a_forecast_with_members_takes_the_place_of_drawn_futures(call, replanned, forecast, strict):
    told = strict(call("operate", replanned, *MAY_WITHOUT_INFLOW, "--ensemble", str(forecast), "--json").out)
    flows = np.loadtxt(forecast, delimiter=",", skiprows=1, usecols=2).reshape(25, 7)
    assert told["outlook"]["members"] == 25
    assert told["situation"]["inflow_m3s"] == pytest.approx(flows[:, 0].mean())
    assert len(told["outlook"]["months"]) == 12  # beyond the forecast every member goes on as the inflow model has it


def test_a_wetter_forecast_never_keeps_more_water_back(call, replanned, tmp_path, strict):
    flows = np.random.default_rng(5).gamma(8.0, 100.0, (25, 7))
    releases = []
    for factor in (0.5, 1.0, 2.0, 4.0):
        file = forecast_file(tmp_path / "forecast.csv", factor * flows)
        told = strict(call("operate", replanned, *MAY_WITHOUT_INFLOW, "--ensemble", str(file), "--json").out)
        releases.append(told["advice"]["release_m3s"])
    assert releases == sorted(releases)
    assert releases[0] < releases[-1]


def test_members_that_are_all_alike_are_a_perfect_forecast(call, replanned, tmp_path, strict):
    """Of the month and of those that the rule looks ahead: what is decided depends on nothing else."""
    file = forecast_file(tmp_path / "forecast.csv", np.tile([[800.0, 1200.0, 2000.0, 2600.0, 2400.0]], (3, 1)))
    one = forecast_file(tmp_path / "one.csv", np.array([[800.0, 1200.0, 2000.0, 2600.0, 2400.0]]))
    told = [
        strict(call("operate", replanned, *MAY_WITHOUT_INFLOW, "--ensemble", str(each), "--json").out)["advice"]
        for each in (file, one)
    ]
    assert told[0]["release_m3s"] == pytest.approx(told[1]["release_m3s"], rel=1e-5)


def test_a_netcdf_forecast_is_read_as_well(call, replanned, forecast, tmp_path, strict):
    xarray = pytest.importorskip("xarray")
    flows = np.loadtxt(forecast, delimiter=",", skiprows=1, usecols=2).reshape(25, 7)
    times = (np.datetime64("2027-05") + np.arange(7)).astype("datetime64[ns]")
    variable = xarray.DataArray(flows, dims=("member", "time"), coords={"time": times}, attrs={"units": "m3 s-1"})
    variable.to_dataset(name="inflow").to_netcdf(tmp_path / "forecast.nc")
    told = [
        strict(call("operate", replanned, *MAY_WITHOUT_INFLOW, "--ensemble", file, "--json").out)["advice"]
        for file in (str(forecast), "forecast.nc")
    ]
    assert told[0] == told[1]


def test_a_forecast_may_be_the_sheet_of_a_workbook(call, replanned, forecast, tmp_path, strict):
    lines = [line.split(",") for line in forecast.read_text().splitlines()]
    rows = [lines[0], *([date.fromisoformat(f"{month}-01"), name, float(flow)] for month, name, flow in lines[1:])]
    saved({"Forecast": rows, "Hindcast": rows, "Notes": [["not a forecast"]]}, tmp_path / "forecast.xlsx")
    asked = ["operate", replanned, *MAY_WITHOUT_INFLOW, "--json", "--ensemble"]
    both, sheet = call(*asked, "forecast.xlsx", status=2).err, ["--sheet", "Forecast"]
    assert "--sheet: 2 sheets may be the inflow: Forecast, Hindcast" in both
    of_sheet = strict(call(*asked, "forecast.xlsx", *sheet).out)
    of_file = strict(call(*asked, forecast).out)
    for part in ("advice", "situation"):
        assert of_sheet[part] == pytest.approx(of_file[part])
    saved({"Forecast": [["date", "member", "flow"], *rows[1:]]}, tmp_path / "feet.xlsx")
    in_feet = strict(call(*asked, "feet.xlsx", "--unit", "cfs").out)["situation"]["inflow_m3s"]
    assert in_feet == pytest.approx(of_sheet["situation"]["inflow_m3s"] * 0.3048**3)
    assert "no such sheet" in call(*asked, "forecast.xlsx", "--sheet", "Outlook", status=2).err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--month", "6", "--storage", "9000"), "the forecast begins in 2027-05; expected a first month"),
        ((*MAY,), "--inflow: is given together with --ensemble"),
        ((*MAY_WITHOUT_INFLOW, "--members", "5"), "--members: is given together with --ensemble"),
    ],
)
def test_a_forecast_that_does_not_go_with_the_call_is_refused(call, replanned, forecast, options, words):
    assert words in call("operate", replanned, *options, "--ensemble", str(forecast), status=2).err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("date,inflow_m3s\n2027-05,800\n", "forecast.csv: is no ensemble forecast"),
        ("date,member,inflow_m3s\n2027-05,1,800\n2027-05,2,much\n", "row 3, column inflow_m3s: not a number"),
        ("date,member,inflow_m3s\n2027-05,1,800\n2027-06,1,900\n2027-05,2,800\n", "forecast.csv"),
        ("date,member,inflow_m3s\n2027-05,1,1e9\n", "2027-05 of member 1: the flow is too large for a river"),
    ],
)
def test_a_wrong_forecast_is_told_by_its_file(call, replanned, tmp_path, content, words):
    (tmp_path / "forecast.csv").write_text(content)
    told = call("operate", replanned, *MAY_WITHOUT_INFLOW, "--ensemble", "forecast.csv", status=2).err
    assert words in told
    assert "forecast.csv" in told


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_months_to_come_are_drawn(call, replanned, tmp_path, kind):
    call("operate", replanned, *MAY, "--figure", f"ahead.{kind}")
    assert (tmp_path / f"ahead.{kind}").read_bytes()[:4] in (b"\x89PNG", b"<?xm")


@pytest.mark.parametrize(
    "option", [("--members", "50"), ("--months-ahead", "6"), ("--ensemble", "f.csv"), ("--figure", "ahead.png")]
)
def test_options_of_futures_need_a_rule_that_has_them(call, plan, option):
    told = call("operate", "plan/rules/linear.json", *MAY, *option, status=2)
    assert f"{option[0]}: needs futures, and a rule of the family linear has none" in told.err


def test_another_kind_of_figure_is_refused(call, replanned):
    told = call("operate", replanned, *MAY, "--figure", "ahead.jpg", status=2)
    assert "is not a kind of figure" in told.err


@pytest.mark.parametrize("name", ["May", "may", "MAY", " May ", "05"])
def test_a_month_may_be_told_by_its_name(call, ruled, strict, name):
    rule, state = ruled / "rules/standard.json", ("--storage", "9000", "--inflow", "800", "--json")
    by_number, by_name = (strict(call("operate", rule, "--month", month, *state).out) for month in ("5", name))
    assert by_name == by_number
