"""``[commitments]`` of a reservoir file typed: planned and checked, of one reservoir and of two."""

import csv
import json
import re
from pathlib import Path

import pytest

from reservoir.planning import system_search, validation
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import wide, write_two

FLOWS = wide()
FREE = SMALL + "\n[commitments]\nannual_release_hm3 = {}\n"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def typed(tmp_path):
    """Writes a reservoir with a commitment, and returns how its record and file are typed."""
    (tmp_path / "flows.csv").write_text(FLOWS.replace("upper", "inflow_m3s"))

    def written(volume: float) -> tuple[str, ...]:
        (tmp_path / "lake.toml").write_text(FREE.format(volume), encoding="utf-8")
        return "flows.csv", "--column", "inflow_m3s", "--reservoir", "lake.toml"

    return written


def test_a_plan_of_the_record_keeps_it_and_says_so(call, typed, tmp_path):
    shown = call("plan", *typed(500), "--horizon", "record", "--solver", "dp", "--no-figures", "--out", "p").out
    assert "The annual release is kept in 4 of 4 years." in shown
    assert [row["missing_release_hm3"] for row in rows_of(tmp_path / "p/summary.csv")] == ["0.000000"] * 4
    assert "[commitments]" in (tmp_path / "p/reservoir.toml").read_text(encoding="utf-8")


def test_what_cannot_be_kept_is_a_finding_with_its_year(call, typed, tmp_path):
    shown = call("plan", *typed(900), "--horizon", "record", "--solver", "dp", "--no-figures", "--out", "p").out
    assert re.search(r"The annual release is kept in 0 of 4 years; most is missing in 199\d, \d+\.?\d* hm³", shown)
    assert "of the annual release of 900 hm³ are missing" in shown
    missing = [float(row["missing_release_hm3"]) for row in rows_of(tmp_path / "p/summary.csv")]
    assert min(missing) > 100
    call("check", *typed(900), status=1)


def test_check_tells_which_year_has_less(call, typed):
    assert "annual release" not in call("check", *typed(500)).out
    checked = call("check", *typed(900), status=1)
    assert re.search(r"the annual release of 900 hm³ is more than inflow and storage have in 4 of 4 years", checked.out)
    assert json.loads(call("check", *typed(900), "--json", status=1).out)["doubts"]


def test_two_reservoirs_keep_it_together(call, tmp_path):
    (tmp_path / "flows.csv").write_text(FLOWS)
    write_two(tmp_path, lower=FREE.format(700))
    two = ("flows.csv", "--reservoir", "two.toml")
    shown = call("plan", *two, "--horizon", "record", "--solver", "dpsa-sequential", "--no-figures", "--out", "p").out
    assert "lower: The annual release is kept in 4 of 4 years." in shown
    years = [row for row in rows_of(tmp_path / "p/summary.csv") if row["reservoir"] == "lower"]
    assert [row["missing_release_hm3"] for row in years] == ["0.000000"] * 4


def test_a_licence_of_what_is_turbined_is_planned(call, typed, tmp_path):
    record = typed(500)
    licence = 'annual_release_hm3 = 590\nmost_annual_release_hm3 = {}\ncounts = "{}"\n'
    (tmp_path / "lake.toml").write_text(SMALL + "\n[commitments]\n" + licence.format(640, "turbined"), encoding="utf-8")
    shown = call("plan", *record, "--horizon", "record", "--solver", "dp", "--no-figures", "--out", "p").out
    assert "The annual release is kept in 4 of 4 years." in shown
    assert "The largest annual release is kept in 4 of 4 years." in shown
    for row in rows_of(tmp_path / "p/summary.csv"):
        assert row["missing_release_hm3"] == row["excess_release_hm3"] == "0.000000"
    assert 'counts = "turbined"' in (tmp_path / "p/reservoir.toml").read_text(encoding="utf-8")
    for volume, counts, problem in ((400, "turbined", "is more than may be released"), (640, "spilled", "counts")):
        (tmp_path / "lake.toml").write_text(
            SMALL + "\n[commitments]\n" + licence.format(volume, counts), encoding="utf-8"
        )
        assert problem in call("check", *record, status=2).err


@pytest.mark.device
def test_engines_are_validated_where_it_is_kept(call, typed, monkeypatch):
    monkeypatch.setattr(validation, "able_solvers", lambda: ["dp", "lshade"])
    shown = call("validate", *typed(600), "--horizon", "record", "--no-zoo", status=0).out
    assert "lshade against dp, worst problem" in shown


def test_who_does_not_know_it_says_who_does(call, typed):
    refused = call("tradeoff", *typed(500), "--between", "energy,firm-power", status=2).err
    assert "tradeoff does not know the annual release" in refused
    assert "`reservoir plan`, `simulate`, `compare` and `validate` know it" in refused


@pytest.fixture
def two_committed(tmp_path, monkeypatch):
    """Two reservoirs of which the lower owes more than it would release; no population searches, which takes long."""
    monkeypatch.setattr(system_search, "STAGES", ("slp",))
    (tmp_path / "flows.csv").write_text(FLOWS)
    write_two(tmp_path, lower=FREE.format(860))
    return "flows.csv", "--reservoir", "two.toml", "--horizon", "record", "--no-figures"


def missing_below(plan: Path) -> list[str]:
    return [row["missing_release_hm3"] for row in rows_of(plan / "summary.csv") if row["reservoir"] == "lower"]


def test_firm_power_of_two_keeps_it(call, two_committed, tmp_path):
    call("plan", *two_committed, "--objective", "firm-power", "--out", "p")
    assert missing_below(tmp_path / "p") == ["0.000000"] * 4


def test_a_front_of_two_keeps_it_and_a_point_is_planned(call, two_committed, tmp_path):
    call("tradeoff", *two_committed, "--between", "energy,firm-power", "--points", "3", "--out", "front")
    assert [row["violation"] for row in rows_of(tmp_path / "front/front.csv")] == ["0.000000"] * 3
    call("plan", "--point", "front/p2", "--no-figures", "--out", "p")
    assert missing_below(tmp_path / "p") == ["0.000000"] * 4
