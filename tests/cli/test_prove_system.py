"""`reservoir prove` of systems as a user types it: a plan's folder, and anyone's releases, wide or long."""

import csv
import json
import re
import shutil

import numpy as np
import pytest

from reservoir.io.plan_folder import files
from tests.io.two_dams import TWO, flows, wide, write_two

#: A proof that takes a second.
GAP = ("--gap", "1e-2", "--prove-seconds", "20")
OF_FILES = ("--reservoir", "two.toml", "--inflow", "flows.csv")


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """Two dams, two years, and their joint plan by sequential linear programming."""
    import reservoir

    folder = tmp_path_factory.mktemp("planned")
    write_two(folder)
    (folder / "flows.csv").write_text("\n".join(wide().splitlines()[:25]) + "\n")
    system = reservoir.read_system(folder / "two.toml")
    plan = reservoir.optimise(system, reservoir.read_system_inflow(system, folder / "flows.csv"), solver="slp")
    plan.save(folder / "p", figures=False)
    return folder


@pytest.fixture
def two(planned, tmp_path):
    """The same in the current folder, with the schedule as a table of texts."""
    shutil.copytree(planned, tmp_path, dirs_exist_ok=True)
    return rows_of(tmp_path / "p/schedule.csv")


@pytest.fixture
def proven(call, tmp_path):
    """Prove a table of a schedule; what `--json` says."""

    def prove(rows, *words, status=0):
        with (tmp_path / "mine.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        said = call("prove", "mine.csv", *OF_FILES, *GAP, *words, "--json", status=status)
        return json.loads(said.out) if status != 2 else said.err

    return prove


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def of_dates(rows):
    """A row for each month, with a column of releases of three decimals for each reservoir."""
    months: dict[str, dict[str, str]] = {}
    for row in rows:
        date = f"{row['year']}-{int(row['month']):02d}"
        months.setdefault(date, {"date": date})[f"{row['reservoir']}_m3s"] = f"{float(row['release_m3s']):.3f}"
    return list(months.values())


def test_a_folder_gets_what_a_plan_with_a_proof_has(call, two, tmp_path, strict):
    told = call("prove", "p", *GAP).out
    assert "Proven: no schedule that keeps the limits is better by more than" in told
    again = call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures",
                 "--prove", "1e-2", "--prove-seconds", "20", "--out", "q").out  # fmt: skip
    assert "(2 of 2 years within 1.0e-02)" in told
    assert "(2 of 2 years within 1.0e-02)" in again
    for name in ("system.csv", "prices.csv"):
        assert (tmp_path / "p" / name).read_bytes() == (tmp_path / "q" / name).read_bytes()
    one, other = (strict((tmp_path / name / "plan.json").read_text()) for name in "pq")
    assert one["proof"] == other["proof"]
    assert one["checks"] == other["checks"]
    assert set(one["files"]) == set(other["files"])
    assert "no schedule is better by more" in (tmp_path / "p/report.html").read_text()
    before = (tmp_path / "p/system.csv").read_bytes()
    shown = strict(call("prove", "p", *GAP, "--json").out)  # of a folder with a proof
    assert [year["year"] for year in shown["years"]] == ["1990", "1991"]
    assert (tmp_path / "p/system.csv").read_bytes() == before


def test_a_proof_of_a_folder_with_figures_draws_the_prices(call, two, tmp_path):
    call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--set", "most_programs=1", "--out", "q")
    drawn = {path.name: path.read_bytes() for path in (tmp_path / "q/figures").iterdir()}
    assert "water-prices.png" not in drawn
    call("prove", "q", *GAP, status=None)
    assert {*drawn, "water-prices.png", "water-prices.svg"} == {
        path.name for path in (tmp_path / "q/figures").iterdir()
    }
    assert all((tmp_path / "q/figures" / name).read_bytes() == content for name, content in drawn.items())
    assert "Price of water" in (tmp_path / "q/report.html").read_text()


def test_numbers_of_a_folder_that_do_not_follow_from_its_releases_are_refused(call, two, tmp_path):
    array = tmp_path / "p/arrays/power_mw.npy"
    power = np.load(array)
    power[1, 0, 4] *= 1.01
    np.save(array, power)
    assert "power_mw.npy: was changed after the plan was made" in call("prove", "p", status=2).err
    origin = json.loads((tmp_path / "p/plan.json").read_text())
    origin["files"] |= files.file_hashes(tmp_path / "p", ["arrays/power_mw.npy"])
    files.write_provenance(tmp_path / "p", origin)
    assert "does not match the releases and system.toml in 1991, step 5" in call("prove", "p", status=2).err


@pytest.mark.parametrize("words", [[], ["--horizon", "record"]])
def test_the_schedule_of_a_plan_is_verified_with_all_its_claims(proven, two, call, tmp_path, words):
    if words:  # what is under way goes on from year to year
        call("plan", "flows.csv", "--reservoir", "two.toml", "--solver", "slp", "--no-figures", *words, "--out", "q")
        two = rows_of(tmp_path / "q/schedule.csv")
        assert "(1 of 1 horizon within 1.0e-02)" in call("prove", "q", *GAP).out
    found = proven(two, *words)
    assert found["differences"] == found["columns_not_read"] == []
    assert found["limits_not_kept"] == []
    assert 0 <= found["proof"]["worst_gap"] <= 1.1e-2
    assert found["proof"]["problems"] == (1 if words else 2)


def test_dates_and_releases_of_three_decimals_are_enough(proven, two, call):
    found = proven(of_dates(two))
    assert found["limits_not_kept"] == found["differences"] == found["columns_not_read"] == []
    assert 0 <= found["proof"]["worst_gap"] <= 1.1e-2
    assert "Recomputed from the releases:" in call("prove", "mine.csv", *OF_FILES, *GAP, "--device", "host").out


@pytest.mark.device
def test_a_device_proves_what_threads_prove(call, two, tmp_path):
    rows = {}
    for device in ("host", "pocl"):
        assert "(2 of 2 years within 1.0e-02)" in call("prove", "p", *GAP, "--device", device).out
        rows[device] = rows_of(tmp_path / "p/system.csv")
    for one, other in zip(rows["host"], rows["pocl"], strict=True):
        assert float(one["proven_bound"]) == pytest.approx(float(other["proven_bound"]), rel=1e-9)
    words = ("--solver", "slp", "--no-figures", "--prove", "1e-2", "--prove-seconds", "20", "--device", "pocl")
    planned = call("plan", "flows.csv", "--reservoir", "two.toml", *words, "--out", "q").out
    assert "(2 of 2 years within 1.0e-02)" in planned
    assert rows_of(tmp_path / "q/system.csv") == rows["pocl"]


def test_how_a_record_is_read_is_said_as_for_a_plan(two, call, tmp_path):
    months = [row["date"].split("-") for row in of_dates(two)]
    record = (f"{month}/1/{year}," + ",".join(f"{flow / 0.028316846592:.9f}" for flow in flows(int(year), int(month)))
              for year, month in months)  # fmt: skip
    (tmp_path / "cfs.csv").write_text("\n".join(["date,upper,lower", *record]))
    lines = [",".join(of_dates(two)[0]), *(",".join(row.values()) for row in of_dates(two))]
    (tmp_path / "mine.csv").write_text("\n".join(lines))
    how = ("--unit", "cfs", "--dates", "month-first", "--step", "month", "--negative", "zero", "--horizon", "year")
    said = call("prove", "mine.csv", "--reservoir", "two.toml", "--inflow", "cfs.csv", *how, *GAP, "--json")
    found = json.loads(said.out)
    assert found["limits_not_kept"] == found["differences"] == []
    assert found["proof"]["reached"] == 2


def test_limits_that_are_not_kept_are_told_with_their_reservoir(proven, two):
    rows = of_dates(two)
    rows[4]["upper_m3s"] = "130"
    found = proven(rows, status=1)
    told = "\n".join(found["limits_not_kept"])
    assert "upper, 1990 May: the release is 130 m³/s, 10 m³/s above its upper limit of 120 m³/s" in told
    assert [year["proven_gap"] is None for year in found["years"]] == [True, False]
    assert found["years"][0]["proven_bound"] > 0


def test_claims_that_do_not_follow_are_told_with_their_row_and_reservoir(proven, two):
    two[9]["energy_gwh"] = "99"
    found = proven(two, status=1)
    (told,) = found["differences"]
    where = "mine.csv, row 11, column energy_gwh: does not follow from the releases (reservoir lower)"
    assert told.startswith(f"{where} (found 99.0); expected ")


def test_a_year_that_no_schedule_can_keep_the_limits_of_is_told(proven, two, tmp_path):
    lower = tmp_path / "lower.toml"
    lower.write_text(lower.read_text().replace("lower_m3s = 4", "lower_m3s = 75"))
    found = proven(of_dates(two), status=1)
    assert set(found["proof"]["infeasible"]) == {"1990", "1991"}
    assert all(place.endswith(", lower") for place in found["proof"]["infeasible"].values())
    note = found["notes"][0]
    assert note.startswith("Proven: no schedule keeps the limits of 2 years: 1990, 1991; at least ")
    assert re.match(r"199\d \w{3}: (upper|lower) (ends|lacks) .* Fix: lower ", found["notes"][1])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["p", "--device", "no-such-device"], "no-such-device"),
        (["p/schedule.csv", *OF_FILES, "--device", "no-such-device"], "no-such-device"),
        (["p", "--horizon", "year"], "a plan's folder has its own reservoir and inflow"),
        (["p", "--reservoir", "two.toml"], "a plan's folder has its own reservoir and inflow"),
        (["none.csv", *OF_FILES], "there is no such folder or file"),
        (["flows.csv", *OF_FILES], "flows.csv, row 1: has no releases of any reservoir"),
        (["upper.csv", *OF_FILES], "upper.csv: has no releases of lower"),
    ],
)
def test_what_cannot_be_proved_is_refused(call, two, tmp_path, words, told):
    rows = of_dates(two)
    (tmp_path / "upper.csv").write_text("\n".join(["date,upper_m3s", *(f"{r['date']},{r['upper_m3s']}" for r in rows)]))
    assert told in call("prove", *words, status=2).err


def test_a_schedule_is_proved_where_a_lake_takes_some_of_the_head(proven, two, tmp_path):
    alone = proven(of_dates(two))
    (tmp_path / "two.toml").write_text(TWO.replace("travel_hours", "backwater = true\ntravel_hours"))
    found = proven(of_dates(two), status=None)
    assert found["limits_not_kept"] == []
    assert found["proof"]["worst_gap"] >= 0
    for mine, without in zip(found["years"], alone["years"], strict=True):
        assert mine["proven_bound"] <= without["proven_bound"] * (1.0 + without["proven_gap"])
