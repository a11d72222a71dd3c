"""A plan read back from its folder is the plan that was written, and a folder that was changed is refused."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reservoir as package
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.planning.checks import plan_checks
from reservoir.report.folder import write_plan


@pytest.fixture
def folder(planned, tmp_path) -> Path:
    """A copy of a plan's folder that may be spoilt."""
    return shutil.copytree(planned, tmp_path / "plan")


def edit(folder, name, change):
    """Change a table, whose cells are text, in place."""
    table = pd.read_csv(folder / name, dtype=str, keep_default_na=False)
    changed = change(table)
    (table if changed is None else changed).to_csv(folder / name, index=False)


def refused(folder):
    with pytest.raises(InputError) as refusal:
        read_plan(folder)
    return refusal.value.mistakes


def test_the_plan_read_back_is_the_plan(six_year_plan, planned):
    again = read_plan(planned).plan
    assert again.inflow.labels == six_year_plan.inflow.labels
    assert again.energy_gwh == pytest.approx(six_year_plan.energy_gwh, abs=1e-5)
    assert again.gap == pytest.approx(six_year_plan.gap, abs=1e-9)
    assert again.operation.storage_hm3 == pytest.approx(six_year_plan.operation.storage_hm3, abs=1e-4)
    assert np.array_equal(again.inflow.flow_m3s, six_year_plan.inflow.flow_m3s)
    assert again.caveats == six_year_plan.caveats
    assert again.notes == six_year_plan.notes
    assert again.solutions[0].solver == "dp"


def test_the_unit_of_the_record_is_read_back_and_may_be_missing_from_older_plans(planned):
    path = planned / "plan.json"
    content = json.loads(path.read_text())
    assert content["inflow"]["mean_m3s"] == pytest.approx(read_plan(planned).plan.inflow.mean_m3s)
    content["inflow"] |= {"unit": "hm3", "unit_from": "from the unit argument"}
    path.write_text(json.dumps(content))
    again = read_plan(planned).plan.inflow
    assert (again.unit, again.unit_from) == ("hm3", "from the unit argument")
    for key in ("unit", "unit_from", "mean_m3s"):
        del content["inflow"][key]
    path.write_text(json.dumps(content))
    assert read_plan(planned).plan.inflow.unit == ""


def test_the_checks_read_back_are_those_that_were_written(six_year_plan, planned):
    assert read_plan(planned).checks == plan_checks(six_year_plan)


@pytest.mark.parametrize("case", ["small", "small cyclic", "small free"], indirect=True)
def test_every_kind_of_year_end_is_read_back(case, tmp_path, monkeypatch):
    reservoir, inflow = case
    (tmp_path / "made up.toml").write_text("# as the test has it\n")
    given = replace(reservoir, source=str(tmp_path / "made up.toml"), sha256="")
    monkeypatch.setattr("reservoir.io.plan_folder.saved_plan.read_reservoir", lambda path: given)
    plan = package.optimise(given, inflow, solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    shutil.copy(given.source, tmp_path / "plan" / "reservoir.toml")
    told = json.loads((tmp_path / "plan/plan.json").read_text())
    told["reservoir"]["sha256"] = sha256((tmp_path / "plan/reservoir.toml").read_bytes()).hexdigest()
    (tmp_path / "plan/plan.json").write_text(json.dumps(told))
    again = read_plan(tmp_path / "plan").plan
    assert again.inflow.labels == ("1955/56", "1956/57", "1957/58")
    assert again.energy_gwh == pytest.approx(plan.energy_gwh, abs=1e-5)
    assert again.operation.storage_hm3[:, 0] == pytest.approx(plan.operation.storage_hm3[:, 0], abs=1e-4)


def test_the_plan_of_a_tiny_plant_is_read_back_though_its_tables_have_six_decimals(tmp_path):
    """A thousandth of the template's plant: its smallest numbers are near the tables' last decimals."""
    text = (Path(package.__file__).resolve().parent.parent / "data/template.toml").read_text()
    pairs = {
        'name = "NAME"': 'name = "tiny"',
        "installed_capacity_mw = 30": "installed_capacity_mw = 0.03",
        "hydraulic_capacity_m3s = 45": "hydraulic_capacity_m3s = 0.045",
        "dead_hm3 = 20 ": "dead_hm3 = 0.02 ",
        "full_hm3 = 120 ": "full_hm3 = 0.12 ",
        "initial_hm3 = 110": "initial_hm3 = 0.11",
        "final_hm3 = 110": "final_hm3 = 0.11",
        "lower_m3s = 4\n": "lower_m3s = 0.004\n",
        "upper_m3s = [80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80]": "upper_m3s = 0.2",
        "storage_hm3 = [10, 20, 40, 60, 80, 100, 120, 130]": "storage_hm3 = [.01,.02,.04,.06,.08,.1,.12,.13]",
    }
    for usual, tiny in pairs.items():
        assert usual in text
        text = text.replace(usual, tiny)
    (tmp_path / "tiny.toml").write_text(text.replace("[.0", "[0.0").replace(",.", ",0."))
    flows = np.outer([0.6, 1.0], [25, 18, 14, 12, 16, 24, 38, 55, 80, 75, 50, 35]) / 1000 + 1 / 3e5
    inflow = Inflow(flow_m3s=flows, calendar=Calendar(2001, 2))
    plan = package.optimise(read_reservoir(tmp_path / "tiny.toml"), inflow, solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    assert read_plan(tmp_path / "plan").plan.energy_gwh == pytest.approx(plan.energy_gwh, abs=1e-5)


def volumes_file(path: Path, planned: Path) -> Path:
    """A record in hm3, whose flows no number of decimals holds."""
    header, *rows = [line for line in (planned / "inflow.csv").read_text().splitlines() if not line.startswith("#")]
    path.write_text("\n".join([header, *rows[:2]]) + "\n")
    return path


def test_the_record_read_back_has_the_flows_of_its_file_not_the_decimals_of_the_schedule(planned, xiaowan, tmp_path):
    inflow = read_inflow(volumes_file(tmp_path / "volumes.csv", planned), unit="hm3")
    plan = package.optimise(xiaowan, inflow, solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    again = read_plan(tmp_path / "plan").plan
    stated = pd.read_csv(tmp_path / "plan/schedule.csv")["inflow_m3s"].to_numpy().reshape(2, 12)
    assert not np.array_equal(stated, inflow.flow_m3s)
    assert np.array_equal(again.inflow.flow_m3s, inflow.flow_m3s)


def test_the_flows_of_a_part_of_a_record_are_found_in_its_file(planned, xiaowan, tmp_path):
    inflow = read_inflow(volumes_file(tmp_path / "volumes.csv", planned), unit="hm3").span(1, 2)
    plan = package.optimise(xiaowan, inflow, solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    assert np.array_equal(read_plan(tmp_path / "plan").plan.inflow.flow_m3s, inflow.flow_m3s)


def test_of_a_record_that_was_changed_in_python_the_schedule_tells_the_flows(planned, xiaowan, tmp_path):
    read = read_inflow(volumes_file(tmp_path / "volumes.csv", planned), unit="hm3")
    plan = package.optimise(xiaowan, replace(read, flow_m3s=2 * read.flow_m3s), solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    again = read_plan(tmp_path / "plan").plan.inflow.flow_m3s
    assert again == pytest.approx(plan.inflow.flow_m3s, abs=1e-6)


def test_a_plan_without_a_reference_has_no_gap(folder):
    told = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(told | {"reference": None, "files": {}}))
    edit(folder, "summary.csv", lambda table: table.assign(reference_gwh=""))
    assert np.isnan(read_plan(folder).plan.gap).all()


def test_what_is_no_folder_of_a_plan_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("nothing", "does not exist"),
        ("file", "is a file"),
        ("empty", "is not a plan folder: plan.json is missing"),
    ):
        (mistake,) = refused(tmp_path / name)
        assert words in mistake.problem
        assert "reservoir plan" in mistake.expected


@pytest.mark.parametrize("content", [b'{"years": ', b"[1]", b"7", b"\xff\xfe", b""])
def test_a_provenance_that_is_none_is_refused(folder, content):
    (folder / "plan.json").write_bytes(content)
    (mistake,) = refused(folder)
    assert mistake.problem.startswith("is not a JSON object" if content in (b"[1]", b"7") else "cannot be read (")


def test_every_key_of_the_provenance_that_is_missing_or_of_another_kind_is_named(folder):
    told = json.loads((folder / "plan.json").read_text())
    wrong = {"notes": [3], "seconds": {"dp": "long"}, "checks": [{"check": "x"}], "figures": [], "reference": 5}
    wrong |= {"reservoir": {"name": "xiaowan"}, "inflow": None, "years": "six"}
    del told["created"]
    (folder / "plan.json").write_text(json.dumps(told | wrong))
    columns = {mistake.column for mistake in refused(folder)}
    assert columns == {"created", "reservoir.file", "reservoir.sha256", *wrong} - {"reservoir"}


@pytest.mark.parametrize(("name", "words"), [("reservoir.toml", "missing"), ("schedule.csv", "missing")])
def test_a_missing_file_is_named(folder, name, words):
    (folder / name).unlink()
    (mistake,) = refused(folder)
    assert mistake.file == str(folder / name)
    assert words in mistake.problem
    assert "restore the file" in mistake.mend


def test_a_reservoir_file_that_was_changed_is_refused(folder):
    with (folder / "reservoir.toml").open("a") as file:
        file.write("# a remark\n")
    (mistake,) = refused(folder)
    assert "was changed after the plan was made" in mistake.problem


def test_a_missing_drawing_of_the_report_is_refused_before_anything_is_computed(folder):
    told = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(told | {"figures": {"storage-fan": "How to read it"}}))
    (mistake,) = refused(folder)
    assert mistake.file.endswith("storage-fan.svg")


def put(row, column, value):
    """Put a value into the cell at a row of the file, the heading being row 1."""

    def change(table):
        table.loc[row - 2, column] = value

    return change


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("release_m3s", "abc", "is not a finite number"),
        ("release_m3s", "nan", "is not a finite number"),
        ("release_m3s", "-inf", "is not a finite number"),
        ("release_m3s", "", "is empty"),
        ("inflow_m3s", "-5", "is negative"),
        ("month", "5", "is out of sequence"),
        ("month", "4.5", "is out of sequence"),
        ("year", "1954", "is out of sequence"),
        ("year", "", "is out of sequence"),
        ("release_m3s", "500", "does not match the releases"),
        ("energy_gwh", "5", "does not match the releases"),
        ("storage_start_hm3", "9000", "does not match the releases"),
    ],
)
def test_one_spoilt_cell_is_one_mistake_with_its_row(folder, column, value, problem):
    edit(folder, "schedule.csv", put(5, column, value))
    (mistake,) = refused(folder)
    assert mistake.file == str(folder / "schedule.csv")
    assert mistake.row == 5
    assert problem in mistake.problem


@pytest.mark.parametrize("label", ["abcd", "0000", "²²²²"])
def test_a_first_year_that_is_none_is_refused(folder, label):
    edit(folder, "schedule.csv", put(2, "year", label))
    (mistake,) = refused(folder)
    assert (mistake.row, mistake.column, mistake.value) == (2, "year", label)


def test_every_spoilt_year_is_told(folder):
    edit(folder, "schedule.csv", put(5, "energy_gwh", "5"))
    edit(folder, "schedule.csv", put(20, "energy_gwh", "5"))
    assert [mistake.row for mistake in refused(folder)] == [5, 20]


@pytest.mark.parametrize("gone", [range(4, 5), range(71, 72), range(12), range(12, 24), range(60, 72), range(72)])
def test_missing_rows_are_refused(folder, gone):
    edit(folder, "schedule.csv", lambda table: table.drop(index=list(gone)))
    (mistake,) = refused(folder)
    assert mistake.file == str(folder / "schedule.csv")


@pytest.mark.parametrize(
    ("content", "row", "problem"),
    [
        (b"", None, "is empty"),
        (b"year,month\n\xff\xff\xfe,\xe9\n", 2, "the line is not UTF-8: byte 0xff"),
        (b"year,month\n1953,1\n1953,2,3\n", 3, "has 3 cells"),
        (b'year\n"1953\n', 2, "has quotation marks that do not enclose a whole cell"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_with_its_row(folder, content, row, problem):
    (folder / "schedule.csv").write_bytes(content)
    (mistake,) = refused(folder)
    assert (mistake.row, mistake.problem) == (row, problem)
    assert mistake.mend == "run `reservoir plan` again, or restore the file"


def test_missing_columns_are_named(folder):
    edit(folder, "schedule.csv", lambda table: table.drop(columns=["month", "release_m3s"]))
    (mistake,) = refused(folder)
    assert "month, release_m3s" in mistake.problem


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (put(3, "year", "1999"), "has other years than schedule.csv"),
        (lambda table: table.drop(index=2), "has other years than schedule.csv"),
        (put(3, "reference_gwh", ""), "is empty"),
        (put(3, "reference_gwh", "x"), "is not a finite number"),
    ],
)
def test_a_summary_that_was_changed_is_refused(folder, change, problem):
    edit(folder, "summary.csv", change)
    (mistake,) = refused(folder)
    assert mistake.file == str(folder / "summary.csv")
    assert problem in mistake.problem


def test_a_table_whose_last_digit_was_changed_is_refused(folder):
    for name, column in (("schedule.csv", "inflow_m3s"), ("summary.csv", "evaluations")):
        shutil.copytree(folder, folder.with_name(name))
        spoilt = folder.with_name(name)
        table = pd.read_csv(spoilt / name, dtype=str, keep_default_na=False)
        more = {"inflow_m3s": "413.000001", "evaluations": "7"}[column]
        edit(spoilt, name, put(2, column, more))
        assert table.loc[0, column] != more
        (mistake,) = refused(spoilt)
        assert mistake.file == str(spoilt / name)
        assert "was changed after the plan was made" in mistake.problem


def test_an_inflow_that_was_changed_is_refused(folder):
    with (folder / "inflow.csv").open("a") as file:
        file.write("# a remark\n")
    (mistake,) = refused(folder)
    assert (mistake.file, mistake.problem) == (str(folder / "inflow.csv"), "was changed after the plan was made")


def test_a_figure_that_was_changed_is_refused(folder, six_year_plan, monkeypatch):
    told = json.loads((folder / "plan.json").read_text())
    (folder / "figures").mkdir()
    (folder / "figures/storage-fan.svg").write_text("<svg/>")
    digest = sha256(b"<svg/>").hexdigest()
    files = told["files"] | {"figures/storage-fan.svg": digest}
    told |= {"figures": {"storage-fan": "How to read it"}, "files": files}
    (folder / "plan.json").write_text(json.dumps(told))
    assert read_plan(folder).origin["files"] == files
    (folder / "figures/storage-fan.svg").write_text("<svg><script/></svg>")
    (mistake,) = refused(folder)
    assert "was changed after the plan was made" in mistake.problem


def test_a_plan_from_before_tables_had_hashes_is_read(folder):
    told = json.loads((folder / "plan.json").read_text())
    del told["files"]
    (folder / "plan.json").write_text(json.dumps(told))
    assert read_plan(folder).plan.inflow.labels[0] == "1953"


def test_the_plan_that_is_committed_is_read():
    read_plan(Path(package.__file__).resolve().parent.parent / "reports/xiaowan")


@pytest.mark.parametrize("name", ["/etc/passwd", "../other", "figures/../../other"])
def test_a_provenance_that_names_files_outside_the_folder_is_refused(folder, name):
    (folder.parent / "other").write_text("x")
    told = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(told | {"files": {name: sha256(b"x").hexdigest()}}))
    (mistake,) = refused(folder)
    assert "outside the folder" in mistake.problem


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("years", True, "is missing or has the wrong type"),
        ("caveats", ["\x1b[31m"], "U+001B"),
        ("notes", ["\ud800"], "U+D800"),
        ("seconds", {"dp": float("nan")}, "a number that is not finite"),
        ("seconds", {"dp": 1e308}, "a number that is not finite"),
        ("device_seconds", "long", "is missing or has the wrong type"),
        ("program", {"name": "reservoir", "version": "1"}, "is missing or has the wrong type"),
        ("files", {"schedule.csv": 5}, "is missing or has the wrong type"),
    ],
)
def test_a_value_that_later_steps_could_not_show_or_reckon_with_is_refused(folder, key, value, words):
    told = json.loads((folder / "plan.json").read_text()) | {key: value}
    (folder / "plan.json").write_text(json.dumps(told))
    (mistake,) = refused(folder)
    assert words in mistake.problem


@pytest.mark.parametrize("digits", [40, 5000])
def test_a_number_of_many_digits_is_refused(folder, digits):
    text = (folder / "plan.json").read_text()
    assert '"years": 6' in text
    (folder / "plan.json").write_text(text.replace('"years": 6', '"years": 6' + "0" * digits))
    (mistake,) = refused(folder)
    assert "cannot be read" in mistake.problem


@pytest.mark.parametrize("name", ["plan.json", "schedule.csv", "summary.csv", "reservoir.toml"])
def test_a_file_without_end_is_given_up(folder, name):
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    (mistake,) = refused(folder)
    assert "is too large" in mistake.problem or "is missing" in mistake.problem


@pytest.mark.parametrize("value", ["1e308", "1e-300", "-1e16"])
def test_a_number_that_no_table_holds_is_refused(folder, value):
    edit(folder, "schedule.csv", put(5, "release_m3s", value))
    (mistake,) = refused(folder)
    assert "is out of range" in mistake.problem


@pytest.mark.parametrize("fate", ["deleted", "changed"])
def test_a_plan_keeps_the_reservoir_file_as_it_was_read(fate, five_years, tmp_path):
    mine = tmp_path / "mine.toml"
    shutil.copy(package.bundled_case().reservoir_file, mine)
    content = mine.read_bytes()
    plan = package.optimise(read_reservoir(mine), five_years, solver="dp")
    mine.unlink()
    if fate == "changed":
        mine.write_text("# another one by now\n")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    assert (tmp_path / "plan/reservoir.toml").read_bytes() == content
    assert read_plan(tmp_path / "plan").plan.energy_gwh == pytest.approx(plan.energy_gwh, abs=1e-5)


def test_a_table_of_a_million_columns_is_refused(folder):
    (folder / "schedule.csv").write_text("year" + ",a" * 1_000_000)
    (mistake,) = refused(folder)
    assert "has a header of more than 2,000 bytes" in mistake.problem


@pytest.mark.parametrize("lines", [60_000, 100_000])
def test_a_table_of_wrong_cells_is_refused_in_a_few_lines(folder, lines):
    (folder / "schedule.csv").write_text((folder / "schedule.csv").read_text().split("\n")[0] + "\nx,,,,," * lines)
    mistakes = refused(folder)
    assert len(mistakes) < 60
    assert "more mistakes not shown" in str(mistakes[-1]) or "a plan has at most 96,001" in str(mistakes[-1])


@pytest.fixture(scope="module")
def mixed(xiaowan, six_years_file, tmp_path_factory):
    """A plan with schedules of the solver, of its second run and of the reference, and its folder."""
    record = package.read_inflow(six_years_file)
    plan = package.optimise(xiaowan, record, solver="clpso-sequential", generations=700)
    return plan, write_plan(plan, tmp_path_factory.mktemp("mixed") / "plan", plan_checks(plan), figures=False)


def test_the_sources_of_a_plan_are_read_back(mixed):
    plan, folder = mixed
    again = read_plan(folder)
    assert len(plan.source_counts) == 3
    assert again.plan.source.tolist() == plan.source.tolist()
    assert again.plan.source_counts == plan.source_counts
    assert again.plan.from_reference.tolist() == plan.from_reference.tolist()
    assert again.plan.engine_gap == pytest.approx(plan.engine_gap, abs=1e-6)
    assert again.plan.gap == pytest.approx(plan.gap, abs=1e-8)
    assert again.plan.settings["generations"] == 700
    assert again.plan.sources.second_settings["generations"] == 2800
    assert [check.threshold for check in again.checks] == [check.threshold for check in plan_checks(plan)]
    assert [check.passed for check in again.checks].count(None) == 5


def test_a_folder_of_an_older_program_has_no_sources(folder):
    for name in ("summary.csv", "schedule.csv"):
        edit(folder, name, lambda table: table.drop(columns="source"))
    without = json.loads((folder / "plan.json").read_text())
    for key in ("files", "sources", "second_run"):
        del without[key]
    (folder / "plan.json").write_text(json.dumps(without))
    again = read_plan(folder).plan
    assert again.sources is None
    assert set(again.source) == {"dp"}


@pytest.mark.parametrize("source", ["lshade", "", "clpso-sequential, second run", "dp-opencl"])
def test_a_source_that_is_none_of_the_plan_is_refused_by_its_row(mixed, source, tmp_path):
    folder = shutil.copytree(mixed[1], tmp_path / "plan")
    edit(folder, "summary.csv", lambda table: table.assign(source=[*table["source"][:2], source, *table["source"][3:]]))
    (mistake,) = refused(folder)
    assert (mistake.row, mistake.column) == (4, "source")
    assert "is not a source of this plan" in mistake.problem
    assert "clpso-sequential (second run); dp" in mistake.expected
