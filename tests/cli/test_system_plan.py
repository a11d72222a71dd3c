"""``reservoir plan`` of several reservoirs as a user types it: every option that it takes, and what it refuses."""

import csv
import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from reservoir.cases import bundled_case
from reservoir.planning import parts
from tests.io.two_dams import wide, write_two

#: Little work of a solver that needs no device.
QUICK = ("--solver", "lshade-sequential", "--evaluations", "300", "--no-figures")


@pytest.fixture
def two(tmp_path):
    """Two dams and a record of both in the current folder."""
    (tmp_path / "flows.csv").write_text(wide())
    return "plan", "flows.csv", "--reservoir", write_two(tmp_path).name


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_folder_has_a_row_for_each_reservoir_and_sums(call, two, tmp_path, strict):
    shown = call(*two, *QUICK, "--out", "p").out
    assert "System    two-dams: upper, lower; links: upper to lower (two.toml)" in shown
    assert re.search(r"\n +values in m³/s \(.+\); mean flow: upper [\d.]+ m³/s, lower [\d.]+ m³/s\n", shown)
    assert "GWh a year" in shown
    assert "Checks    all 3 pass" in shown
    steps, years = rows_of(tmp_path / "p/schedule.csv"), rows_of(tmp_path / "p/summary.csv")
    sums = rows_of(tmp_path / "p/system.csv")
    assert [row["reservoir"] for row in steps[:3]] == ["upper", "lower", "upper"]
    assert (len(steps), len(years), len(sums)) == (4 * 12 * 2, 8, 4)
    for total in sums:
        of_year = [float(row["energy_gwh"]) for row in years if row["year"] == total["year"]]
        assert sum(of_year) == pytest.approx(float(total["energy_gwh"]), abs=1e-3)
    origin = strict((tmp_path / "p/plan.json").read_text())
    assert origin["system"]["reservoirs"] == ["upper", "lower"]
    assert origin["energy_gwh"] == pytest.approx(sum(origin["energy_gwh_by_reservoir"].values()))


def test_energy_is_of_years_that_keep_their_limits(call, two, tmp_path):
    rows = (tmp_path / "flows.csv").read_text().splitlines()
    head, last = rows[:-12], [row.split(",") for row in rows[-12:]]
    flooded = [",".join([label, *(str(1e4 * float(flow)) for flow in flows)]) for label, *flows in last]
    (tmp_path / "flows.csv").write_text("\n".join([*head, *flooded]))
    shown = call(*two, *QUICK, "--out", "some").out
    assert re.search(r"GWh in 3 years that satisfy their limits\n", shown)
    (tmp_path / "flows.csv").write_text("\n".join([rows[0], *flooded]))
    shown = call(*two, *QUICK, "--out", "none").out
    assert "Energy    none: no year satisfies its limits (1 year)" in shown
    assert "GWh a year" not in shown
    assert "none: no year satisfies its limits" in (tmp_path / "none/report.html").read_text()


def test_firm_power_is_that_of_all_plants_together(call, two, tmp_path, strict):
    shown = call(*two, "--solver", "slp", "--objective", "firm-power", "--out", "firm").out
    assert re.search(r"Objective energy at firm power: every step gives [\d.]+ to [\d.]+ MW, by year", shown)
    energy = strict(call(*two, "--solver", "slp", "--no-figures", "--out", "energy", "--json").out)
    sums, before = rows_of(tmp_path / "firm/system.csv"), rows_of(tmp_path / "energy/system.csv")
    for firm, other in zip(sums, before, strict=True):
        assert firm["firm_power_mw"] == firm["lowest_power_mw"]
        assert float(firm["firm_power_mw"]) > float(other["lowest_power_mw"])
    origin = strict((tmp_path / "firm/plan.json").read_text())
    assert origin["firm_power"]["kept_mw"] == pytest.approx([float(row["firm_power_mw"]) for row in sums], abs=1e-6)
    assert (origin["objective"]["title"], origin["objective"]["unit"]) == ("energy at firm power", "GWh")
    assert origin["energy_gwh"] < energy["energy_gwh"]
    assert "firm power planned" in (tmp_path / "firm/report.html").read_text()


def test_a_firm_power_that_a_system_file_requires_is_given(call, two, tmp_path, strict):
    file = tmp_path / "two.toml"
    file.write_text(file.read_text() + "\n[objective]\nfirm_power_mw = 15\n")
    told = strict(call(*two, "--solver", "dpsa", "--no-figures", "--out", "p", "--json").out)
    assert told["objective"]["title"] == "energy at 15 MW of firm power"
    assert min(float(row["firm_power_mw"]) for row in rows_of(tmp_path / "p/system.csv")) > 15 * (1 - 1e-4)
    file.write_text(file.read_text().replace("= 15", "= 3000"))
    assert "at most the installed capacity (60)" in call(*two, "--out", "q", status=2).err


def test_a_proof_is_told_and_written_with_the_prices_of_the_water(call, two, tmp_path, strict):
    told = call(*two, "--solver", "slp", "--no-figures", "--prove", "1e-3", "--prove-seconds", "300", "--out", "p").out
    assert "Proof     Proven: no schedule that keeps the limits is better by more than" in told
    sums, prices = rows_of(tmp_path / "p/system.csv"), rows_of(tmp_path / "p/prices.csv")
    for year in sums:
        assert float(year["energy_gwh"]) <= float(year["proven_bound"]) <= 1.002 * float(year["energy_gwh"])
        assert 0 <= float(year["proven_gap"]) <= 2e-3
    assert [row["reservoir"] for row in prices] == ["lower"] * 48
    names = [f"{name}_gwh_per_hm3" for name in ("price", "least_price", "most_price")]
    assert list(prices[0]) == ["first_day", "reservoir", *names]
    price, least, most = np.array([[float(row[name]) for row in prices] for name in names])
    assert np.mean(price) > 0
    assert np.all(least <= most + 1e-6)
    proof = strict((tmp_path / "p/plan.json").read_text())["proof"]
    assert (proof["gap_asked"], proof["problems"], proof["infeasible"]) == (1e-3, 4, {})


def test_prices_of_water_are_in_the_unit_of_what_is_optimised(call, two, tmp_path, strict):
    file = tmp_path / two[-1]
    file.write_text(file.read_text() + '\n[objective]\ngoal = "revenue"\nprice_per_mwh = 50\ncurrency = "EUR"\n')
    proof = ("--solver", "slp", "--prove", "1e-2", "--prove-seconds", "20")
    columns = []
    for units, volume in (("si", "hm3"), ("us", "acre_ft")):
        call(*two, *proof, "--units", units, "--out", units, status=None)
        prices = rows_of(tmp_path / units / "prices.csv")
        columns.append([float(row[f"price_per_{volume}"]) for row in prices])
        assert strict((tmp_path / units / "plan.json").read_text())["objective"]["unit"] == "million EUR"
        assert f"most_price_per_{volume}" in prices[0]
    np.testing.assert_allclose(np.array(columns[0]) * 1.23348184e-3, columns[1], atol=1e-6)
    assert "Thin lines: ranges" in (tmp_path / "us/report.html").read_text()


@pytest.mark.parametrize(
    ("link", "words", "problems"),
    [
        ('carries = "turbined"', (), 4),
        ("backwater = true", ("--horizon", "2"), 2),
        ("", ("--objective", "firm-power"), 4),
        ("", ("--horizon", "record"), 1),
    ],
)
def test_whatever_links_and_goals_a_system_has_it_is_proved(call, two, tmp_path, strict, link, words, problems):
    file = tmp_path / two[-1]
    file.write_text(file.read_text().replace("[[links]]", f"[[links]]\n{link}", 1))
    call(*two, "--solver", "slp", "--no-figures", *words, "--prove", "5e-3", "--prove-seconds", "300", "--out", "p")
    proof = strict((tmp_path / "p/plan.json").read_text())["proof"]
    assert (proof["problems"], proof["infeasible"]) == (problems, {})
    assert 0 <= proof["worst_gap"] <= 2e-2


def test_a_folder_is_planned_again_to_the_same(call, two, tmp_path):
    call(*two, *QUICK, "--out", "p")
    call("plan", "p/inflow.csv", "--reservoir", "p/system.toml", *QUICK, "--out", "again")
    assert (tmp_path / "again/schedule.csv").read_bytes() == (tmp_path / "p/schedule.csv").read_bytes()


def test_a_folder_is_replaced_by_force_alone(call, two, strict):
    call(*two, *QUICK, "--out", "p")
    assert "replace it with --force" in call(*two, *QUICK, "--out", "p", status=2).err
    told = strict(call(*two, *QUICK, "--out", "p", "--force", "--json").out)
    assert (told["folder"], [check["pass"] for check in told["checks"]]) == ("p", [True] * 3)
    assert list(told["energy_gwh_by_reservoir"]) == ["upper", "lower"]
    assert told["sources"] == {"lshade-sequential": 4}


def test_years_scenarios_and_records_are_planned(call, two, tmp_path):
    call(*two, *QUICK, "--horizon", "record", "--out", "record")
    steps = rows_of(tmp_path / "record/schedule.csv")
    upper = [row for row in steps if row["reservoir"] == "upper"]
    assert upper[12]["storage_start_hm3"] == upper[11]["storage_end_hm3"]
    shown = call(
        *two, *QUICK, "--from", "2026-03", "--level", "upper=430", "--storage", "lower=40", "--out", "from"
    ).out
    assert "GWh a scenario" in shown
    start = json.loads((tmp_path / "from/plan.json").read_text())["start"]
    assert (start["upper"]["level_m"], start["lower"]["storage_hm3"]) == pytest.approx((430, 40))
    assert rows_of(tmp_path / "from/schedule.csv")[1]["storage_start_hm3"] == "40.000000"


def test_units_are_those_of_tables_and_of_options(call, two, tmp_path):
    call(*two, *QUICK, "--out", "si")
    call(*two, *QUICK, "--units", "us", "--out", "us")
    si, us = (rows_of(tmp_path / name / "schedule.csv")[0] for name in ("si", "us"))
    assert float(us["release_cfs"]) == pytest.approx(float(si["release_m3s"]) / 0.3048**3, rel=1e-3)
    level = 430 / 0.3048
    begin = ("--from", "2026-03", "--level", f"upper={level}", "--level", f"lower={level}", "--units", "us")
    call(*two, *QUICK, *begin, "--out", "from")
    start = json.loads((tmp_path / "from/plan.json").read_text())["start"]
    assert start["upper"]["level_m"] == pytest.approx(430)


def test_tables_are_written_in_other_formats(call, two, tmp_path):
    pytest.importorskip("openpyxl")
    call(*two, *QUICK, "--format", "xlsx", "--out", "book")
    assert (tmp_path / "book/plan.xlsx").exists()
    assert not (tmp_path / "book/schedule.csv").exists()
    xarray = pytest.importorskip("xarray")
    call(*two, *QUICK, "--format", "netcdf", "--out", "nc")
    with xarray.open_dataset(tmp_path / "nc/plan.nc") as dataset:
        assert list(dataset.reservoir.values) == ["upper", "lower"]


def test_figures_a_profile_and_a_report_are_written(call, two, tmp_path):
    shown = call(*two, *QUICK[:-1], "--profile", "--seed", "7", "--out", "p").out
    assert "figure storage-fans" in shown
    assert {path.stem for path in (tmp_path / "p/figures").glob("*.svg")} >= {
        "system",
        "storage-fans",
        "energy-by-month",
    }
    assert json.loads((tmp_path / "p/profile.json").read_text())["total_seconds"] > 0
    page = (tmp_path / "p/report.html").read_text()
    assert "Joint plan of two-dams" in page
    assert json.loads((tmp_path / "p/plan.json").read_text())["settings"]["seed"] == 7


def test_the_solver_auto_runs_stages_within_the_time(call, two, tmp_path):
    shown = call(*two, "--seconds", "0", "--no-figures", "--evaluations", "300", "--out", "p").out
    assert re.search(r"^Solver .*: slp [0-9.]+ s, certify", shown, re.MULTILINE)


def test_devices_and_settings_of_engines_are_taken(call, two):
    assert "Solver" in call(*two, "--solver", "slp", "--set", "most_programs=2", "--no-figures", "--out", "slp").out
    told = call(*two, "--solver", "lshade", "--device", "no-such-device", "--no-figures", status=2).err
    assert "no-such-device" in told


@pytest.mark.device
@pytest.mark.parametrize(("solver", "more"), [("dpsa", ["--set", "double=false"]), ("dpsa-sequential", [])])
def test_two_dams_are_swept(call, two, tmp_path, strict, solver, more):
    less = ("--set", "states=7", "--set", "most_sweeps=2", "--no-figures", "--out", "p")
    call(*two, "--solver", solver, "--device", "pocl", *more, *less)
    assert strict((tmp_path / "p/plan.json").read_text())["sources"] == {solver: 4}


@pytest.mark.device
@pytest.mark.parametrize("solver", ["dp-joint", "dp-joint-sequential"])
def test_all_storages_of_two_dams_are_tried(call, two, tmp_path, strict, solver):
    system = tmp_path / "two.toml"
    system.write_text(system.read_text().replace("travel_hours = 12\n", ""))
    less = ("--set", "states=11", "--set", "most_corridors=2", "--no-figures")
    call(*two, "--solver", solver, "--device", "pocl", *less, "--out", "p")
    assert strict((tmp_path / "p/plan.json").read_text())["sources"] == {solver: 4}
    told = call(*two, "--solver", solver, "--set", "states=20001", "--no-figures", status=2).err
    assert "choose fewer states than 20001" in told


@pytest.mark.skipif(find_spec("distributed") is None, reason="needs Dask, which the extra dask installs")
def test_years_are_searched_on_a_cluster_to_the_same_bytes(call, tmp_path, monkeypatch, strict):
    record = bundled_case("lancang-2").inflow_file.read_text().splitlines()[: 1 + 5 * 12]
    (tmp_path / "years.csv").write_text("\n".join([*record, ""]))
    how = ("plan", "years.csv", "--case", "lancang-2", "--solver", "slp", "--no-figures")
    call(*how, "--out", "alone")
    monkeypatch.setattr(parts, "PART_YEARS", 2)
    call(*how, "--cluster", "local:2", "--out", "shared")
    for name in ("schedule.csv", "summary.csv", "system.csv", "inflow.csv"):
        assert (tmp_path / "shared" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    alone, shared = (strict((tmp_path / name / "plan.json").read_text()) for name in ("alone", "shared"))
    assert "search" in shared["seconds"]
    changed = {"created", "device", "seconds", "settings", "sha256"}
    assert {key for key in alone if alone[key] != shared[key]} <= changed
    assert not (tmp_path / "shared.parts").exists()


def test_days_and_weeks_need_a_daily_record(call, two):
    assert 'step "week" needs a daily record' in call(*two, *QUICK, "--step", "week", status=2).err


def test_days_are_planned_by_weeks(call, two, tmp_path):
    days = np.arange("1990-01-01", "1992-01-01", dtype="datetime64[D]")
    lines = [f"{day},{20 + place % 7},{8 + place % 5}" for place, day in enumerate(days.astype(str))]
    (tmp_path / "days.csv").write_text("\n".join(["date,upper,lower", *lines, ""]))
    call("plan", "days.csv", *two[2:], *QUICK, "--unit", "m3/s", "--step", "week", "--out", "p", status=None)
    steps = rows_of(tmp_path / "p/schedule.csv")
    assert len(steps) == 2 * 2 * 52
    assert float(steps[0]["inflow_m3s"]) == pytest.approx(23, abs=0.01)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--point", "a/b"], "--point: a point has a reservoir of its own"),
        (["--objective", "power-shortage"], "--objective: needs power_target_mw"),
        (["--objective", "magic"], "--objective: is no goal"),
        (["--objective", "firm-power", "--solver", "dp-joint"], "the solver dp-joint cannot plan this system"),
        (["--no-reference"], "--no-reference: does not take systems yet"),
        (["--engine-only"], "--engine-only: does not take systems yet"),
        (["--cluster", "nowhere"], '--cluster: is no cluster (found "nowhere"); expected tcp://HOST:PORT or local:N'),
        (["--cluster", "local:2", "--seconds", "9"], "--cluster: a cluster searches problems by themselves"),
        (["--from", "2026-03", "--level", "430"], "--level: is of no reservoir; expected one of upper, lower"),
        (["--from", "2026-03", "--level", "mid=430"], '--level: is no reservoir of the system (found "mid")'),
        (["--from", "2026-03", "--storage", "mid=43"], '--storage: is no reservoir of the system (found "mid")'),
        (["--from", "2026-03", "--level", "upper=430"], "nothing is given of lower"),
        (["--level", "upper=430", "--storage", "lower=4"], "is given without the month in which the plan begins"),
        (
            ["--from", "2026-03", "--level", "upper=430", "--storage", "upper=4", "--storage", "lower=4"],
            "--storage: is given beside the level of upper",
        ),
        (["--from", "2026-03", "--level", "upper=1", "--storage", "lower=4"], "the range of the level curve of upper"),
        (["--solver", "dp"], "--solver: the solver dp plans one reservoir"),
        (
            ["--solver", "magic"],
            '--solver: there is no such solver (found "magic"); expected one that plans several: auto',
        ),
        (["--set", "magic=3"], "magic: no solver that auto runs has this setting"),
        (["--generations", "30"], "generations: no solver that auto runs has this setting"),
        (["--step", "hour"], "hour"),
        (["--horizon", "0"], "the horizon is not known"),
        (["--seconds", "-1"], "--seconds"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(call, two, options, said, tmp_path):
    before = sorted(tmp_path.iterdir())
    told = call(*two, *options, "--no-figures", status=2).err
    assert said in told
    assert sorted(tmp_path.iterdir()) == before


def test_options_of_systems_are_refused_for_one_reservoir(call, two):
    one = ("plan", "flows.csv", "--reservoir", "upper.toml", "--column", "upper", "--unit", "m3/s")
    assert "--seconds: is of a system of several reservoirs" in call(*one, "--seconds", "3", status=2).err
    told = call(*one, "--from", "2026-03", "--level", "upper=430", status=2).err
    assert '--level: is of one reservoir of a system (found "upper=430")' in told


@pytest.mark.parametrize("inflow", ["", 'inflow = "upper"\n', 'inflow = "upper"\ninflow_file = "flows.csv"\n'])
def test_a_system_of_one_is_planned_as_its_reservoir(call, two, tmp_path, inflow):
    (tmp_path / "one.toml").write_text(
        f'kind = "system"\n[[reservoirs]]\nname = "small"\nfile = "upper.toml"\n{inflow}'
    )
    record = ("flows.csv",) * ("file" not in inflow)
    column = ("--column", "upper")
    call(
        "plan",
        "flows.csv",
        "--reservoir",
        "upper.toml",
        *column,
        "--unit",
        "m3/s",
        *QUICK[:-1],
        "--out",
        "a",
        status=None,
    )
    how = ("--unit", "m3/s", *(() if inflow else column), *QUICK[:-1])
    call("plan", *record, "--reservoir", "one.toml", *how, "--out", "b", status=None)
    names = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(tmp_path / "b") for path in (tmp_path / "b").rglob("*") if path.is_file())
    differing = [
        str(name) for name in names if (tmp_path / "a" / name).read_bytes() != (tmp_path / "b" / name).read_bytes()
    ]
    assert differing == ["plan.json", "report.html"]  # times
    one, other = (json.loads((tmp_path / name / "plan.json").read_text()) for name in "ab")
    assert {key for key in one if one[key] != other[key]} <= {"created", "seconds", "sha256", "device_seconds"}


def test_members_of_an_ensemble_are_planned_jointly(call, two, tmp_path):
    head, *rows = wide().splitlines()
    lines = [f"{member},{row}" for member in ("wet", "dry") for row in rows]
    (tmp_path / "members.csv").write_text("\n".join([f"member,{head}", *lines, ""]))
    call("plan", "members.csv", *two[2:], *QUICK, "--out", "p")
    steps = rows_of(tmp_path / "p/schedule.csv")
    assert {row["member"] for row in steps} == {"wet", "dry"}
    assert len(steps) == 2 * 4 * 12 * 2


@pytest.mark.parametrize("kind", ["csv", "netcdf"])
def test_the_folder_of_an_ensemble_is_planned_again_to_the_same(call, two, tmp_path, strict, kind):
    rows = wide().splitlines()[1:]
    members = "\n".join(["member,date,upper,lower", *(f"{member},{row}" for member in "ab" for row in rows)])
    (tmp_path / "flows.csv").write_text(members)
    first = strict(call(*two, *QUICK, "--format", kind, "--json", "--out", "p").out)
    again = call("plan", "p/inflow.csv", "--reservoir", "p/system.toml", *QUICK, "--json", "--out", "again").out
    assert strict(again)["energy_gwh"] == first["energy_gwh"]
    assert (tmp_path / "p/plan.nc").is_file() == (kind == "netcdf")
