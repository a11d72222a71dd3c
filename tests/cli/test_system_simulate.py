"""``reservoir simulate --releases`` of several reservoirs as a user types it."""

import csv
import json

import numpy as np
import pytest

import reservoir
from reservoir.hydro.inflow import COMPANIONS
from reservoir.io.plan_folder.differences import read_any_plan
from tests.cli.test_flood_space_command import SPACE
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import TWO, wide, write_two

QUICK = ("--solver", "slp", "--set", "most_programs=2", "--no-figures")


@pytest.fixture
def two(tmp_path):
    """Two dams and a record of both in the current folder."""
    (tmp_path / "flows.csv").write_text(wide())
    return "flows.csv", "--reservoir", write_two(tmp_path).name


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def energies(path):
    return [float(row["energy_gwh"]) for row in rows_of(path)]


@pytest.mark.parametrize("horizon", ["year", "record", "3"])
def test_the_schedule_of_a_plan_makes_its_energy(call, two, tmp_path, strict, horizon):
    call("plan", *two, *QUICK, "--horizon", horizon, "--out", "p")
    shown = call("simulate", *two, "--releases", "p/schedule.csv", "--out", "s").out
    assert "System    two-dams: upper, lower; links: upper to lower (two.toml)" in shown
    assert "Checks    all 2 pass" in shown
    assert "Violation" not in shown
    assert energies(tmp_path / "s/schedule.csv") == pytest.approx(energies(tmp_path / "p/schedule.csv"), rel=1e-6)
    assert energies(tmp_path / "s/system.csv") == pytest.approx(energies(tmp_path / "p/system.csv"), rel=1e-6)
    names = {"schedule.csv", "summary.csv", "system.csv", "simulation.json", "report.html", "system.toml", "inflow.csv"}
    assert {path.name for path in (tmp_path / "s").iterdir()} == names
    told = strict((tmp_path / "s/simulation.json").read_text())
    assert (told["system"]["reservoirs"], told["shortfalls"], told["violation"]) == (["upper", "lower"], [], 0)
    again = ("simulate", "s/inflow.csv", "--reservoir", "s/system.toml", "--releases", "s/schedule.csv")
    call(*again, *(("--yearly",) if horizon == "year" else ()), "--out", "t")
    if horizon != "3":  # what is under way between horizons of a plan is known to its folder alone
        assert energies(tmp_path / "t/system.csv") == pytest.approx(energies(tmp_path / "p/system.csv"), rel=1e-6)


#: What a record says beside the inflow, of one site or of both, and values of its steps.
BESIDE = {
    "upper_withdrawal_m3s,lower_bank_storage_hm3": [0.5, 0, 1],
    "upper_evaporation_hm3,lower_evaporation_mm": [0.5, 0.75, 0.25],
    "lower_price_per_mwh": [20, 60, -5],
    "lower snow (mm)": [300, 100],
}


@pytest.mark.parametrize("columns", BESIDE)
def test_a_folder_has_what_the_record_says_beside_the_inflow_of_any_site(call, two, tmp_path, strict, columns):
    header, *rows = wide().splitlines()[:25]
    values, several = BESIDE[columns], columns.count(",") + 1
    rows = [",".join([row, *[f"{values[step % len(values)]:g}"] * several]) for step, row in enumerate(rows)]
    (tmp_path / "flows.csv").write_text("\n".join((f"{header},{columns}", *rows, "")))
    priced = '\n[objective]\ngoal = "revenue"\nprice_per_mwh = 40\n' * ("price" in columns)
    write_two(tmp_path, TWO + priced, lower=SMALL + SPACE.replace("Snow", "lower snow") * ("snow" in columns))
    planned = strict(call("plan", *two, *QUICK, "--json", "--out", "p").out)
    of_folder = ("p/inflow.csv", "--reservoir", "p/system.toml")
    again = call("simulate", *of_folder, "--releases", "p/schedule.csv", "--json", "--out", "s")
    assert strict(again.out)["energy_gwh"] == pytest.approx(planned["energy_gwh"], rel=1e-6)
    system = reservoir.read_system(tmp_path / "two.toml")
    record = reservoir.read_system_inflow(system, tmp_path / "flows.csv")
    copied = (reservoir.read_system_inflow(system, tmp_path / name / "inflow.csv") for name in "ps")
    for found in (read_any_plan(tmp_path / "p").plan.inflows, *copied):
        for name, field in ((name, field) for name in record for field in COMPANIONS):
            given, kept = (getattr(each[name], field) for each in (record, found))
            assert (given is None) == (kept is None), (name, field)
            np.testing.assert_allclose(0 if kept is None else kept, 0 if given is None else given, atol=1e-6)
    call("plan", *of_folder, *QUICK, "--out", "q")
    assert strict(call("compare", "p", "q", "--no-figures", "--json", "--out", "c").out)["differences"] == []
    assert "no schedule exceeds its proven bound" in call("prove", "p", "--gap", "1").out


def test_years_that_end_as_they_begin_start_where_the_file_says(call, two, tmp_path):
    cyclic = SMALL.replace('year_end = "fixed"\ninitial_hm3 = 110', 'year_end = "cyclic"')
    write_two(tmp_path, upper=cyclic, lower=cyclic)
    call("plan", *two, *QUICK, "--out", "p")
    call("simulate", *two, "--releases", "p/schedule.csv", "--out", "s")
    assert energies(tmp_path / "s/schedule.csv") == pytest.approx(energies(tmp_path / "p/schedule.csv"), rel=1e-6)


def wide_releases(upper, lower, years=(1990, 1991)):
    lines = [f"{year}-{month:02d},{upper:g},{lower:g}" for year in years for month in range(1, 13)]
    return "\n".join(["date,upper_m3s,lower_cfs", *lines, ""])


def test_a_schedule_is_read_as_the_call_says_and_what_was_not_read_is_told(call, two, tmp_path, strict):
    """Dates of the first of months may have the month first or last: a daily record would show it, months do not."""
    days = [f"01/{month:02d}/{year},4,20,{month}" for year in ("90", "91") for month in range(1, 13)]
    header = "date,upper_m3s,lower_m3s,upper_gates"
    (tmp_path / "mine.csv").write_text("\n".join((header, *days, "")))
    asked = ("--releases", "mine.csv", "--dates", "day-first", "--first-year", "1990")
    told = strict(call("simulate", *two, *asked, "--json", "--out", "s").out)["notes"]
    assert any(note.startswith("mine.csv: dates are read day first") for note in told)
    assert "mine.csv: not read: upper_gates" in told
    assert [note for note in told if note.startswith("mine.csv")] == [
        note for note in strict((tmp_path / "s/simulation.json").read_text())["notes"] if note.startswith("mine.csv")
    ]
    shown = call("simulate", *two, *asked, "--out", "t").out
    assert "mine.csv: not read: upper_gates" in shown
    refused = ("--releases", "mine.csv", "--dates", "month-first", "--first-year", "1990", "--out", "u")
    assert "mine.csv, row 3, column date: is out of sequence" in call("simulate", *two, *refused, status=2).err
    later = ("--releases", "mine.csv", "--dates", "day-first", "--first-year", "1890", "--out", "u")
    assert "mine.csv, row 2, column date: no year begins with it" in call("simulate", *two, *later, status=2).err


def test_columns_of_reservoirs_are_taken_and_violations_told_by_kind(call, two, tmp_path, strict):
    (tmp_path / "wide.csv").write_text(wide_releases(4, 20 / 0.3048**3))
    shown = call("simulate", *two, "--releases", "wide.csv", "--out", "s").out
    assert "1990 to 1991, 2 years" in shown
    assert "Releases  wide.csv; horizon: record" in shown
    assert "the physical limits changed the given release in" in shown
    us = ("--units", "us", "--level", f"lower={430 / 0.3048}", "--json", "--out", "us")
    told = strict(call("simulate", *two, "--releases", "wide.csv", *us).out)
    assert list(told["energy_gwh_by_reservoir"]) == ["upper", "lower"]
    first = rows_of(tmp_path / "us/schedule.csv")[1]
    assert float(first["storage_start_acre_ft"]) == pytest.approx(63.33 / 0.00123348, rel=0.01)
    # The lower lake's turbines and gates do not let the wettest months through where they may release little.
    little = SMALL.replace("upper_m3s = [80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80]", "upper_m3s = 20")
    write_two(tmp_path, lower=little)
    (tmp_path / "most.csv").write_text(wide_releases(60, 20 / 0.3048**3))
    shown = call("simulate", *two, "--releases", "most.csv", "--yearly", "--out", "m").out
    assert "the worst" in shown
    assert "lower: storage above its upper limit by" in shown
    page = (tmp_path / "m/report.html").read_text()
    assert "Given releases of two-dams, 1990 to 1991" in page
    assert "Limits or demands violated" in page
    assert page.index("lower: storage above its upper limit by") < page.index("Where releases go")


def test_a_workbook_is_read_and_written(call, two, tmp_path):
    pytest.importorskip("openpyxl")
    call("plan", *two, *QUICK, "--format", "xlsx", "--out", "p")
    call("simulate", *two, "--releases", "p/plan.xlsx", "--sheet", "schedule", "--format", "xlsx", "--out", "s")
    energy = [json.loads((tmp_path / name).read_text())["energy_gwh"] for name in ("p/plan.json", "s/simulation.json")]
    assert energy[1] == pytest.approx(energy[0], rel=1e-6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--releases: is missing, and so is a rule; expected a rule, or releases of every step"),
        (["--releases", "none.csv"], "none.csv: is missing"),
        (["--releases", "flows.csv"], "has no releases of any reservoir; expected a column reservoir, or a column"),
        (["--releases", "one.csv"], "--releases: has no releases of lower; expected releases of upper, lower"),
        (
            ["--releases", "other.csv"],
            'other.csv, row 3, column reservoir: is no reservoir of the system (found "mid")',
        ),
        (["--releases", "bad.csv"], "bad.csv, row 5, column release_m3s: is not a number (reservoir lower)"),
        (["--releases", "wide.csv"], "wide.csv, row 7, column upper_m3s: is negative (reservoir upper)"),
        (["--releases", "late.csv"], "late.csv, row 8, column date: is out of sequence (reservoir upper)"),
        (["--releases", "odd.csv"], "row 1: has no column of releases with a known unit (reservoir upper)"),
        (["--releases", "odd.csv"], '(found "date, upper_gates"); expected upper_m3s, or upper_cfs, upper_ls, ...'),
        (
            ["--releases", "both.csv"],
            'row 1: are columns of one quantity (reservoir upper) (found "upper_m3s, upper_cfs"); expected one of them',
        ),
        (["--releases", "strange.csv"], 'row 5, column reservoir: is no reservoir of the system (found "mid")'),
        (["--releases", "good.csv", "--no-foresight"], "--no-foresight: does not take systems yet"),
        (["--releases", "good.csv", "--level", "430"], "--level: is of no reservoir; expected one of upper, lower"),
        (["--releases", "good.csv", "--level", "mid=430"], '--level: is no reservoir of the system (found "mid")'),
        (["--releases", "good.csv", "--level", "upper=1"], "--level: is outside the level curve"),
        (["--releases", "good.csv", "--step", "week"], 'step "week" needs a daily record'),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(call, two, tmp_path, options, said):
    months = [(1990, month, name) for month in range(1, 13) for name in ("upper", "lower")]
    good = ["year,month,reservoir,release_m3s", *(f"{year},{month},{name},10" for year, month, name in months)]
    (tmp_path / "good.csv").write_text("\n".join(good))
    (tmp_path / "one.csv").write_text("\n".join(["date,upper_m3s", *(f"1990-{month:02d},9" for month in range(1, 13))]))
    (tmp_path / "other.csv").write_text("\n".join(good).replace("1990,1,lower", "1990,1,mid"))
    (tmp_path / "bad.csv").write_text("\n".join([*good[:4], "1990,2,lower,much", *good[5:]]))
    wide = ["date,upper_m3s,lower_m3s", "", "", *(f"1990-{month:02d},{5},9" for month in range(1, 13))]
    (tmp_path / "wide.csv").write_text("\n".join(wide).replace("1990-04,5", "1990-04,-5"))
    (tmp_path / "late.csv").write_text("\n".join(wide).replace("1990-05", "1990-06"))
    (tmp_path / "odd.csv").write_text("date,upper_gates\n1990-01,5")
    (tmp_path / "both.csv").write_text("date,upper_m3s,upper_cfs\n1990-01,5,5")
    (tmp_path / "strange.csv").write_text("\n".join(["", *good[:2], "", good[2]]).replace("lower", "mid"))
    assert said in call("simulate", *two, *options, "--out", "s", status=2).err
    assert not (tmp_path / "s").exists()


def test_releases_are_of_systems_and_rules_of_one_reservoir(call, two):
    told = call("simulate", "flows.csv", "--reservoir", "upper.toml", "--releases", "flows.csv", status=2).err
    assert "--releases: is of a system of several reservoirs" in told
    assert "--releases: is missing, and so is a rule" in call("simulate", *two, status=2).err
    told = call("simulate", "r.json", *two, "--releases", "flows.csv", status=2).err
    assert "--releases: is given together with a rule" in told
    assert "Missing argument 'RULE.json'" in call("simulate", status=2).err
    assert "Missing argument 'INFLOW.csv'" in call("simulate", "r.json", status=2).err
