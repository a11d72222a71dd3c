"""`reservoir synth` as a user types it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import reservoir
from reservoir.io.records.reader import read_inflow
from reservoir.synthetic import METHODS
from tests.io.two_dams import TWO, write_two


@pytest.fixture
def record(tmp_path, inflow):
    """Thirty years of the bundled record, with a caveat."""
    rows = [f"{1953 + year}," + ",".join(f"{flow:g}" for flow in inflow.flow_m3s[year]) for year in range(30)]
    header = "# caveat: not observed\nyear," + ",".join(f"m{month:02d}" for month in range(1, 13))
    path = tmp_path / "record.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("method", METHODS)
def test_members_are_written_with_their_table_and_figure(call, record, tmp_path, method):
    printed = call("synth", "record.csv", "--years", "100", "--method", method, "--seed", "4").out
    assert "4 members of 30 years" in printed
    assert "Not checked: optimised energy and firm power: no reservoir is given" in printed
    stem = f"inflow-{method}"
    assert f"Written to {stem}.csv, {stem}-checks.csv, {stem}-checks.svg" in printed
    assert names(tmp_path) == [f"{stem}-checks.csv", f"{stem}-checks.svg", f"{stem}.csv", "record.csv"]
    made = read_inflow(tmp_path / f"{stem}.csv")
    assert made.labels[-1] == "4: 1982"
    caveat = f"synthetic inflow by {method}, seed 4, from record.csv (1953 to 1982); that record: not observed"
    assert made.caveat == caveat
    table = pd.read_csv(tmp_path / f"{stem}-checks.csv")
    assert (table["pass"] == "yes").all()
    assert (table["statistic"] == "mean of the month").sum() == 12
    assert np.allclose(table["record"][:12], read_inflow(record).flow_m3s.mean(axis=0), atol=1e-6)
    assert (tmp_path / f"{stem}-checks.svg").read_text().startswith("<?xml")


def test_the_first_members_do_not_depend_on_how_many_there_are(call, record, tmp_path):
    for years, out in ((60, "few.csv"), (3000, "many.csv")):
        call("synth", "record.csv", "--years", str(years), "--method", "knn", "--no-check", "--out", out)
    few, many = ((tmp_path / name).read_bytes() for name in ("few.csv", "many.csv"))
    assert many.startswith(few)
    assert len(many) > 40 * len(few)


def test_netcdf_is_written_where_the_name_asks_for_it(call, record, tmp_path):
    call("synth", "record.csv", "--years", "20", "--member-years", "5", "--no-check", "--out", "made.nc")
    made = read_inflow(tmp_path / "made.nc")
    assert made.flow_m3s.shape == (20, 12)
    assert made.labels[5] == "2: 1953"
    assert names(tmp_path) == ["made.nc", "record.csv"]


#: A command in a process whose files may not grow large.
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from reservoir.cli import main
main()
"""


@pytest.mark.parametrize("name", ["made.nc", "made.csv"])
def test_on_a_full_disk_it_says_so_and_leaves_nothing(record, tmp_path, name):
    pytest.importorskip("resource")
    command = [sys.executable, "-c", LIMITED, "synth", "record.csv", "--years", "3000", "--no-check", "--out", name]
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert refused.returncode == 2, refused.stderr
    assert f"{name}: cannot be written (File too large). Fix: choose another --out." in " ".join(refused.stderr.split())
    assert names(tmp_path) == ["record.csv"]


def test_a_climate_is_told_in_the_caveat_and_in_the_flows(call, record, tmp_path):
    adjusted = ("--mean", "-10%", "--cv", "+15%", "--shift-season", "15d")
    printed = call("synth", "record.csv", *adjusted, "--json", "--out", "dry.csv").out
    assert "mean -10 %, coefficient of variation +15 %, season shifted by +15 days" in printed
    made, kept = read_inflow(tmp_path / "dry.csv"), read_inflow(record)
    assert made.mean_m3s == pytest.approx(0.9 * kept.mean_m3s, rel=0.02)
    assert made.flow_m3s[:, 5].mean() < 0.8 * kept.flow_m3s[:, 5].mean()  # June is half a May


def test_a_check_that_fails_makes_the_status_1_and_everything_is_written(call, record, tmp_path, monkeypatch, strict):
    from reservoir.synthetic.methods import KirschModel

    fit = KirschModel.fit

    class Biased:
        def __init__(self, flow):
            self.model, self.lead_years = fit(flow), 1

        def flows(self, uniform):
            flow = self.model.flows(uniform)
            flow[..., 3] *= 1.1
            return flow

    monkeypatch.setattr(KirschModel, "fit", Biased)
    printed = strict(call("synth", "record.csv", "--years", "1000", "--json", status=1).out)
    assert printed["pass"] is False
    failed = [check["check"] for check in printed["checks"] if check["pass"] is False]
    assert "mean of the month (Apr), in standard errors" in failed
    assert len(names(tmp_path)) == 4
    # What it says to try works.
    words = printed["try"].partition(":")[0].split()
    assert words[0] == "--method"
    monkeypatch.undo()
    assert "Try " not in call("synth", "record.csv", "--years", "1000", *words[:2], "--force").out


@pytest.mark.device
def test_with_a_reservoir_the_energy_is_checked(call, tmp_path, strict):
    printed = strict(call("synth", "--case", "xiaowan", "--years", "100", "--json").out)
    lines = {check["check"]: check for check in printed["checks"]}
    assert lines["optimised energy, mean of the years, in standard errors"]["pass"] is True
    assert lines["firm power of the record, in standard errors"]["pass"] is True
    assert printed["not_checked"] == ""
    assert (printed["members"], printed["member_years"]) == (2, 62)
    assert "that record: synthetic inflow, not the historical record" in printed["caveat"]


def test_files_that_are_there_are_refused_before_anything_is_computed(call, record, tmp_path, monkeypatch):
    monkeypatch.setattr("reservoir.synthetic.acceptance.assessed", lambda *_, **__: pytest.fail("computed"))
    for name in ("made.csv", "made-checks.csv", "made-checks.svg"):
        (tmp_path / name).write_text("mine")
        refused = call("synth", "record.csv", "--out", "made.csv", status=2).err
        assert f"{name}: already exists. Fix: choose another --out, or give --force to replace it." in refused
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()


def test_force_replaces_them(call, record, tmp_path):
    (tmp_path / "made.csv").write_text("mine")
    call("synth", "record.csv", "--years", "30", "--no-check", "--out", "made.csv", "--force")
    assert read_inflow(tmp_path / "made.csv").years == 30


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--method", "arma"], "unknown method of synthetic inflow"),
        (["--years", "-5"], "-5 is not in the range"),
        (["--member-years", "9000"], "--member-years: a member is too long (found 9000); expected at most 8046 years"),
        (["--mean", "10"], '--mean: is not understood (found "10"); expected a percentage'),
        (["--cv", "much"], '--cv: is not understood (found "much"); expected a percentage'),
        (["--shift-season", "2 weeks"], '--shift-season: is not understood (found "2 weeks"); expected days from'),
        (["--out", "made.zarr"], "made.zarr: Zarr is not written"),
        (["--out", "."], "already exists. Fix: choose another --out"),
        (["--out", "record.csv/made.csv"], "record.csv: is a file, not a folder. Fix: choose another path"),
        (["--out", "x" * 300 + ".csv"], ".csv: cannot be written (File name too long). Fix: choose another path"),
        (["--out", "record.csv/in/made.csv"], "record.csv: cannot be a folder: part of its path is a file"),
    ],
)
def test_what_is_wrong_is_said_in_words(call, record, tmp_path, arguments, told):
    assert told in call("synth", "record.csv", *arguments, status=2).err
    assert names(tmp_path) == ["record.csv"]


def test_a_folder_that_is_not_there_is_made(call, record, tmp_path):
    call("synth", "record.csv", "--years", "30", "--no-check", "--out", "new/below/made.csv")
    assert names(tmp_path / "new" / "below") == ["made.csv"]


def test_a_short_record_and_an_ensemble_are_refused(call, record, short_record, tmp_path):
    assert "too short to derive synthetic inflow from (found 3)" in call("synth", "inflow.csv", status=2).err
    call("synth", "record.csv", "--years", "60", "--no-check", "--out", "made.csv")
    assert "made.csv: the inflow has members" in call("synth", "made.csv", status=2).err


def test_losses_in_the_record_are_said_to_be_left_out(call, tmp_path, inflow):
    rows = [
        f"{1953 + year}-{month + 1:02d},{inflow.flow_m3s[year, month]:g},50"
        for year in range(16)
        for month in range(12)
    ]
    (tmp_path / "long.csv").write_text("\n".join(["date,inflow_m3s,evaporation_mm", *rows]) + "\n")
    printed = call("synth", "long.csv", "--no-check").out
    assert "The record's evaporation and withdrawals are left out" in printed


def test_a_workbook_has_the_ensemble_and_the_checks(call, record, tmp_path):
    """By its name or by the format; what is in it is what the files of CSV have."""
    asked = ["synth", "record.csv", "--years", "60", "--seed", "4", "--units", "us"]
    call(*asked, "--out", "made.csv")
    shown = call(*asked, "--format", "xlsx").out
    assert "Written to inflow-kirsch.xlsx, inflow-kirsch-checks.svg" in shown
    made, plain = (read_inflow(tmp_path / name) for name in ("inflow-kirsch.xlsx", "made.csv"))
    assert np.allclose(made.flow_m3s, plain.flow_m3s, rtol=1e-5)
    assert (made.labels, made.caveat, made.unit) == (plain.labels, plain.caveat, "cfs")
    of_sheet = pd.read_excel(tmp_path / "inflow-kirsch.xlsx", sheet_name="checks")
    pd.testing.assert_frame_equal(of_sheet, pd.read_csv(tmp_path / "made-checks.csv"), check_dtype=False, atol=1e-6)
    call(*asked, "--no-check", "--out", "Other.XLSX")
    assert read_inflow(tmp_path / "Other.XLSX").labels == made.labels


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "xlsx", "--out", "made.csv"], "--format: is not that of --out made.csv"),
        (["--format", "csv", "--out", "made.nc"], "a name that ends in .csv"),
        (["--format", "xlsx", "--years", "20000"], "at most 199,998 rows in a sheet. Fix: choose the --format csv"),
    ],
)
def test_a_workbook_that_cannot_be_is_refused(call, record, options, words):
    assert words in call("synth", "record.csv", "--no-check", *options, status=2).err


@pytest.fixture
def river(tmp_path):
    """Two dams, and forty years of what joins the river at both, which rises and falls together."""
    random = np.random.default_rng(2)
    both = np.exp(0.3 * random.standard_normal((480, 1)) + 0.1 * random.standard_normal((480, 2))) * (20, 8)
    months = [f"{1970 + month // 12}-{month % 12 + 1:02d}" for month in range(480)]
    rows = [f"{month},{upper:.3f},{lower:.3f}" for month, (upper, lower) in zip(months, both, strict=True)]
    (tmp_path / "flows.csv").write_text("\n".join(["date,upper,lower", *rows]) + "\n")
    return write_two(tmp_path).name


def correlation(inflows):
    return np.corrcoef([each.flow_m3s.ravel() for each in inflows.values()])[0, 1]


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (("--format", "netcdf"), "inflow-thomas-fiering.nc"),
        (("--out", "made.xlsx"), "made.xlsx"),
        (("--units", "us"), "inflow-thomas-fiering.csv"),
    ],
)
def test_sites_of_a_system_are_made_together_and_read_by_it(call, river, tmp_path, options, out):
    asked = ("--reservoir", river, "--years", "120", "--method", "thomas-fiering")
    printed = call("synth", "flows.csv", *asked, *options).out
    assert "Synthetic lower: 3 members of 40 years, mean flow" in printed
    assert "cross-correlation (upper and lower, " in printed
    assert "Not checked: optimised energy and firm power: of several sites, flows alone are compared" in printed
    stem = out.partition(".")[0]
    assert {f"{stem}-checks-upper.svg", f"{stem}-checks-lower.svg"} < {*names(tmp_path)}
    system = reservoir.read_system(tmp_path / river)
    read, record = (reservoir.read_system_inflow(system, tmp_path / name) for name in (out, "flows.csv"))
    assert (read.member_count, read.years) == (3, 120)
    assert correlation(read) == pytest.approx(correlation(record), abs=0.05)
    assert read["upper"].mean_m3s == pytest.approx(record["upper"].mean_m3s, rel=0.05)
    assert "from flows.csv (1970 to 2009)" in read.caveat
    plan = ("--solver", "slp", "--no-figures", "--json", "--out", "plan")
    if out.endswith(".csv"):
        planned = call("plan", out, "--reservoir", river, *plan, status=None).out
        assert "synthetic inflow by thomas-fiering" in planned


def test_sites_are_made_as_the_system_file_asks_for_them(call, river, tmp_path):
    text = TWO.replace('"upper.toml"\n', '"upper.toml"\ninflow = "Q at the head"\n')
    text = text.replace('"lower.toml"\n', '"lower.toml"\ninflow_is = "total"\n')
    (tmp_path / "total.toml").write_text(text)
    rows = [line.split(",") for line in (tmp_path / "flows.csv").read_text().splitlines()[1:]]
    totals = [f"{month},{upper},{float(upper) + float(lower):.3f}" for month, upper, lower in rows]
    (tmp_path / "totals.csv").write_text("\n".join(["date,Q at the head,lower", *totals]) + "\n")
    call("synth", "totals.csv", "--reservoir", "total.toml", "--no-check", "--negative", "zero", "--unit", "m3/s")
    header = (tmp_path / "inflow-kirsch.csv").read_text().splitlines()[1]
    assert header == "member,date,Q at the head_inflow_m3s,lower_inflow_m3s"
    read = reservoir.read_system_inflow(reservoir.read_system(tmp_path / "total.toml"), tmp_path / "inflow-kirsch.csv")
    assert read["lower"].mean_m3s == pytest.approx(8.0, rel=0.1)
    assert read["lower"].flow_m3s.min() >= 0


def test_what_the_system_file_must_not_say_then_is_told(call, river, tmp_path, strict):
    rows = [line.split(",") for line in (tmp_path / "flows.csv").read_text().splitlines()]
    (tmp_path / "own.csv").write_text("\n".join(f"{row[0]},{row[2]}" for row in rows) + "\n")
    (tmp_path / "own.toml").write_text(TWO.replace('"lower.toml"\n', '"lower.toml"\ninflow_file = "own.csv"\n'))
    asked = ("synth", "flows.csv", "--reservoir", "own.toml", "--no-check", "--years", "20")
    printed = strict(call(*asked, "--json").out)
    told = "To plan with the ensemble, leave inflow and inflow_file out for lower in own.toml"
    assert (printed["sites"], printed["notes"]) == (["upper", "lower"], [told])
    assert told in " ".join(call(*asked, "--force").out.split())
    refused = call("synth", "flows.csv", "--reservoir", river, "--method", "knn", status=2).err
    assert "--method: does not draw several sites together" in refused
