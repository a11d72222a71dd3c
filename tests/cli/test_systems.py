"""Commands that take a system file where they take a reservoir file, as a user types them."""

import json
import re

import pytest

import reservoir
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import TWO, wide, write_two


@pytest.fixture
def two(tmp_path):
    """Two dams and a record of both in the current folder."""
    (tmp_path / "flows.csv").write_text(wide())
    return write_two(tmp_path).name


def test_check_tells_of_each_reservoir_and_of_the_system(call, two):
    shown = call("check", "flows.csv", "--reservoir", two).out
    assert "System    two-dams (two.toml)\n" in shown
    assert shown.count("4 years, 1990 to 1993; each Jan to Dec") == 1
    assert "Reservoir upper (upper.toml)\n" in shown
    assert re.search(r"lower: \d\.\d+ m³/s of its own, 2\d\.\d+ m³/s with what comes from above", shown)
    assert "write backwater = true if it reaches the plant" in shown


def test_check_as_json_has_the_same(call, two, strict):
    told = strict(call("check", "flows.csv", "--reservoir", two, "--units", "us", "--json").out)
    assert list(told["reservoirs"]) == ["upper", "lower"]
    assert told["reservoirs"]["lower"]["natural_mean_cfs"] > told["reservoirs"]["lower"]["mean_cfs"]
    assert told["reservoirs"]["upper"]["reservoir"]["active_storage_acre_ft"] > 0
    assert (told["system"], told["doubts"], told["notes"]) == ("two-dams", [], [])
    assert told["links"][0]["to"] == "lower"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--unit", "hm3"], "values in hm³ (from the unit argument)"),
        (["--step", "month"], "each Jan to Dec"),
        (["--negative", "keep"], "4 years"),
        (["--missing-days", "3"], "4 years"),
        (["--dates", "day-first"], "4 years"),
        (["--units", "us"], " cfs with what comes from above"),
    ],
)
def test_check_reads_records_as_asked(call, two, options, said):
    assert said in call("check", "flows.csv", "--reservoir", two, *options, status=None).out


def test_a_total_is_told_and_read_as_the_file_says_then(call, two, tmp_path):
    (tmp_path / "total.csv").write_text(wide(total=True))
    shown = call("check", "total.csv", "--reservoir", two, status=1).out
    assert "lower: its record follows what comes from above and is never less" in shown
    mended = TWO.replace('file = "lower.toml"\n', 'file = "lower.toml"\ninflow_is = "total"\n')
    (tmp_path / "mended.toml").write_text(mended)
    told = call("check", "total.csv", "--reservoir", "mended.toml", "--negative", "zero").out
    assert "local inflow of lower: its total flow without that from upper" in told
    assert "follows what comes from above" not in told


def test_rows_of_sites_are_asked_for_by_the_column_of_values(call, two, tmp_path):
    rows = [line.split(",") for line in wide().splitlines()[1:]]
    lines = [f"{row[0]},{name},{row[at]},1" for row in rows for at, name in ((1, "upper"), (2, "lower"))]
    (tmp_path / "long.csv").write_text("\n".join(["date,site,inflow_m3s,flow2_m3s", *lines]))
    shown = call("check", "long.csv", "--reservoir", two, "--column", "inflow_m3s").out
    assert "read the 48 of 96 rows in which site is lower" in shown


def test_records_may_be_named_by_the_system_file_alone(call, two, tmp_path):
    for at, name in ((1, "upper"), (2, "lower")):
        rows = ("".join(f"{row[0]},{row[at]}\n") for row in (line.split(",") for line in wide().splitlines()[1:]))
        (tmp_path / f"{name}.csv").write_text("".join(["date,inflow_m3s\n", *rows]))
    text = TWO
    for name in ("upper", "lower"):
        text = text.replace(f'file = "{name}.toml"\n', f'file = "{name}.toml"\ninflow_file = "{name}.csv"\n')
    (tmp_path / "own.toml").write_text(text)
    assert "with what comes from above" in call("check", "--reservoir", "own.toml").out
    assert "Missing argument 'INFLOW.csv'" in call("check", "--reservoir", "upper.toml", status=2).err
    assert "upper: has no record" in call("check", "--reservoir", two, status=2).err


def test_what_takes_no_systems_says_what_does(call, two):
    told = call("bench", "case", "flows.csv", "--reservoir", two, status=2).err
    assert "two.toml: is the file of a system; expected the file of one reservoir" in told
    which = "tradeoff, synth, validate, check, prove and new take systems"
    assert f"{which}; give this command the file of one reservoir" in told


def test_mistakes_of_all_files_end_with_2(call, two, tmp_path):
    (tmp_path / "lower.toml").write_text(SMALL.replace("dead_hm3", "dead_gallons"))
    (tmp_path / "bad.toml").write_text(TWO.replace('to = "lower"', 'to = "lowr"'))
    told = call("check", "flows.csv", "--reservoir", "bad.toml", status=2).err
    assert "bad.toml, line 15, links.to (upper to lowr): lowr is no reservoir of the system" in told
    assert "lower.toml, line 13 (reservoir lower), storage.dead_gallons" in told
    assert "does not draw systems yet" in call("check", "flows.csv", "--reservoir", two, "--out", "a.png", status=2).err
    assert json.loads(
        call("check", "flows.csv", "--reservoir", "upper.toml", "--column", "upper", "--unit", "m3/s", "--json").out
    )


def test_new_writes_a_system_of_names_and_files_in_their_order(call, tmp_path):
    (tmp_path / "lake.toml").write_text(SMALL.replace("first_month = 1", "first_month = 11"))
    shown = call("new", "river", "--system", "--reservoir", "lake.toml", "--reservoir", "mill", "--out", "r.toml").out
    assert "Written to mill.toml: 14 numbers of mill are guesses" in shown
    assert "Written to r.toml: small -> mill; the times of travel are guesses" in shown
    text = (tmp_path / "r.toml").read_text()
    assert 'from = "small"\nto = "mill"\ntravel_hours = 0 # invented (0): replace it' in text
    system = reservoir.read_system(tmp_path / "r.toml")
    assert (system.name, system.names, system.first_month) == ("river", ("small", "mill"), 11)
    (tmp_path / "flows.csv").write_text(wide("date,small,mill"))
    told = call("check", "flows.csv", "--reservoir", "r.toml").out
    assert '1 number is still one that "reservoir new" invented' in told
    assert "links.travel_hours = 0" in told


def test_new_takes_what_the_record_tells(call, tmp_path):
    rows = wide(total=True).splitlines()[4:-9]  # from April on
    (tmp_path / "flows.csv").write_text("\n".join(["date,top,low", *rows]))
    shown = call("new", "river", "--system", "--reservoir", "top", "--reservoir", "low", "--inflow", "flows.csv").out
    assert "  reservoir check flows.csv --reservoir river.toml\n  reservoir plan flows.csv --res" in shown
    most = max(float(row.split(",")[2]) for row in rows)
    assert f"the maximum release (the largest flow of the record is {most:g} m³/s)" in shown
    assert 'file = "low.toml"\ninflow_is = "total" # its column follows' in (tmp_path / "river.toml").read_text()
    system = reservoir.read_system(tmp_path / "river.toml")
    assert system.first_month == 4
    assert {each.first_month for each in system.reservoirs} == {4}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--system", "--reservoir", "a"], "--reservoir: a system has several reservoirs"),
        (["--reservoir", "a", "--reservoir", "b"], "--reservoir: is of a system"),
        (["--system", "--reservoir", "a", "--reservoir", "a"], "two reservoirs are called a"),
        (["--system", "--reservoir", "a b", "--reservoir", "c"], "is not a valid reservoir name"),
        (["--system", "--reservoir", "no.toml", "--reservoir", "c"], "no.toml: does not exist"),
        (["--system", "--reservoir", "a", "--reservoir", "b", "--from", "t.csv"], "gives the levels of one reservoir"),
        (
            ["--system", "--reservoir", "upper", "--reservoir", "b", "--inflow", "flows.csv"],
            "there is no column b in flows.csv; expected one of its columns: date, upper, lower. Fix: call each res",
        ),
        (["--system", "--reservoir", "x", "--reservoir", "upper"], "upper.toml: already exists"),
    ],
)
def test_new_refuses_what_is_no_system_and_writes_nothing(call, two, tmp_path, options, said):
    before = sorted(tmp_path.iterdir())
    assert said in call("new", "river", *options, status=2).err
    assert sorted(tmp_path.iterdir()) == before


def test_new_replaces_files_by_force(call, two, tmp_path):
    call("new", "two", "--system", "--reservoir", "upper", "--reservoir", "z", "--force")
    assert reservoir.read_system(tmp_path / "two.toml").names == ("upper", "z")
