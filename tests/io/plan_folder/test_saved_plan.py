"""A plan read back from its folder is the plan that was written, and a folder that was changed is refused."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import reservoir as package
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import US
from reservoir.io.plan_folder.files import file_hashes, write_provenance
from reservoir.io.plan_folder.saved_plan import read_plan, require_follows
from reservoir.io.plan_folder.tables import read_schedule
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.planning.checks import plan_checks
from reservoir.planning.planned_record import Proofs
from reservoir.report.folder import write_plan
from tests.year_ends import cyclic, free

KINDS = (
    "csv",
    pytest.param("netcdf", marks=pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray")),
    pytest.param("zarr", marks=pytest.mark.skipif(find_spec("zarr") is None, reason="needs zarr")),
)


@pytest.fixture
def folder(planned, tmp_path) -> Path:
    """A copy of a plan's folder that may be spoilt."""
    return shutil.copytree(planned, tmp_path / "plan")


def told(folder):
    return json.loads((folder / "plan.json").read_text())


def refused(folder):
    with pytest.raises(InputError) as refusal:
        read_plan(folder)
    return refusal.value.mistakes


@pytest.fixture(scope="module")
def ensemble(small_inflow) -> Inflow:
    """Three members of two years."""
    flows = np.concatenate([small_inflow.flow_m3s, 1.1 * small_inflow.flow_m3s])
    return Inflow(flows, Calendar(2001, 6, 6, years_each=2), members=["dry", "wet", "mean"])


@pytest.fixture(scope="module")
def plans(small, small_inflow, ensemble):
    """Records and ensembles, years and longer horizons, every kind of year end, and a search's own schedules."""
    dry = Inflow(0.2 * small_inflow.flow_m3s, small_inflow.calendar)
    proved = package.optimise(small, small_inflow, solver="dp")
    bound = proved.solutions.fitness * (1 + 1e-5)
    return {
        "record": package.optimise(small, small_inflow, solver="dp"),
        "one horizon": package.optimise(small, small_inflow, solver="dp", horizon="record"),
        "windows": package.optimise(small, small_inflow, solver="dp", horizon=2),
        "ensemble": package.optimise(small, ensemble, solver="dp"),
        "horizons of members": package.optimise(small, ensemble, solver="dp", horizon="record"),
        "part of a member": package.optimise(small, ensemble.span(0, 1), solver="dp"),
        "cyclic": package.optimise(cyclic(small), small_inflow, solver="clpso-sequential", generations=60),
        "cyclic windows": package.optimise(cyclic(small), small_inflow, solver="dp", horizon=2),
        "free": package.optimise(free(small), small_inflow, solver="dp"),
        "without a reference": package.optimise(
            small, small_inflow, solver="clpso-sequential", generations=60, reference=False
        ),
        "from a month": package.optimise(small, small_inflow, solver="dp", start="1955-09", start_hm3=100.0),
        "too little water": package.optimise(small, dry, solver="dp"),
        "proved": replace(proved, proofs=Proofs(bound, np.full(len(bound), 1e-5), 1e-5, {"1956/57": "1956-08-01"})),
    }


NAMES = (
    *("record", "one horizon", "windows", "ensemble", "horizons of members", "part of a member", "cyclic"),
    *("cyclic windows", "free", "without a reference", "from a month", "too little water", "proved"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_comes_back_to_the_last_digit(plans, name, tmp_path):
    plan = plans[name]
    saved = read_plan(plan.save(tmp_path / "plan", figures=False))
    again = saved.plan
    assert again.schedule().equals(plan.schedule())
    assert again.summary().equals(plan.summary())
    assert tuple(again.inflow.labels) == tuple(plan.inflow.labels)
    assert again.inflow.calendar == plan.inflow.calendar
    assert np.array_equal(again.inflow.flow_m3s, plan.inflow.flow_m3s)
    assert np.array_equal(again.solutions.fitness, plan.solutions.fitness)
    assert again.horizon == plan.horizon
    assert repr(again) == repr(plan)
    assert (again.caveats, again.notes, again.source_counts) == (plan.caveats, plan.notes, plan.source_counts)
    assert [*map(US.text, again.notes)] == [*map(US.text, plan.notes)]
    assert np.array_equal(again.gap, plan.gap, equal_nan=True)
    assert np.array_equal(again.engine_gap, plan.engine_gap, equal_nan=True)
    assert saved.checks == [replace(check, value=check.value) for check in plan_checks(plan)]
    if plan.water_values is not None:
        assert again.water_values.table.equals(plan.water_values.table)
    if plan.proofs is not None:
        assert np.array_equal(again.proofs.bound, plan.proofs.bound)
        assert again.proofs.infeasible == plan.proofs.infeasible


def test_notes_of_a_plan_that_is_read_can_be_said_in_other_units(plans, tmp_path):
    for name in ("from a month", "free"):
        again = read_plan(plans[name].save(tmp_path / name, figures=False)).plan
        (note,) = (note for note in again.notes if " hm³" in note)
        assert " acre-ft" in US.text(note)
        assert " hm³" not in US.text(note)


@pytest.mark.parametrize("kind", KINDS)
def test_the_format_of_the_tables_changes_nothing_of_what_is_read(plans, kind, tmp_path):
    plan = plans["ensemble"]
    saved = read_plan(plan.save(tmp_path / kind, figures=False, format=kind))
    assert saved.plan.schedule().equals(plan.schedule())
    again, csv = (each.save(tmp_path / name, figures=False) for each, name in ((saved.plan, "again"), (plan, "tables")))
    for name in ("schedule.csv", "summary.csv", "members.csv"):
        assert (again / name).read_bytes() == (csv / name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_advice_finds_the_months_of_a_plan_in_any_format(plans, kind, tmp_path):
    plain = plans["ensemble"].schedule()
    schedule = read_schedule(plans["ensemble"].save(tmp_path / "plan", figures=False, format=kind))
    for name in ("member", "year", "month"):
        assert schedule[name].astype(str).str.removesuffix(".0").tolist() == plain[name].astype(str).tolist()
    for name in ("storage_start_hm3", "inflow_m3s", "release_m3s"):
        assert schedule[name].to_numpy(float) == pytest.approx(plain[name].to_numpy(), abs=1e-6)


@pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray")
def test_months_of_arrays_that_were_changed_are_refused(plans, tmp_path):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format="netcdf")
    path = folder / "arrays/release_m3s.npy"
    np.save(path, 2 * np.load(path))
    with pytest.raises(InputError, match=r"arrays/release_m3s\.npy: was changed after the plan was made"):
        read_schedule(folder)


def test_the_plan_of_a_command_comes_back_as_it_was_made(six_year_plan, planned):
    again = read_plan(planned).plan
    assert np.array_equal(again.energy_gwh, six_year_plan.energy_gwh)
    assert np.array_equal(again.operation.storage_hm3, six_year_plan.operation.storage_hm3)
    assert again.solutions[0].solver == "dp"
    unit = told(planned)["inflow"]
    assert unit["mean_m3s"] == pytest.approx(again.inflow.mean_m3s)
    assert (again.inflow.unit, again.inflow.unit_from) == (unit["unit"], unit["unit_from"])
    assert again.inflow.sha256 == six_year_plan.inflow.sha256


def test_arrays_have_all_digits_and_the_same_plan_gives_the_same_bytes(plans, tmp_path):
    for name in ("one", "other"):
        plans["record"].save(tmp_path / name, figures=False)
    stored = sorted(path.name for path in (tmp_path / "one/arrays").iterdir())
    assert all(
        (tmp_path / "one/arrays" / name).read_bytes() == (tmp_path / "other/arrays" / name).read_bytes()
        for name in stored
    )
    assert np.array_equal(np.load(tmp_path / "one/arrays/release_m3s.npy"), plans["record"].operation.release_m3s)
    assert {f"arrays/{name}" for name in stored} < set(told(tmp_path / "one")["files"])


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
        "lower_m3s = 4 ": "lower_m3s = 0.004 ",
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
    assert np.array_equal(read_plan(tmp_path / "plan").plan.energy_gwh, plan.energy_gwh)


@pytest.mark.parametrize("part", [slice(0, 2), slice(1, 2)])
@pytest.mark.parametrize("factor", [1, 2])
def test_the_record_read_back_has_all_digits_whatever_became_of_it_in_python(planned, xiaowan, tmp_path, part, factor):
    """In hm3, flows have more digits than any table."""
    header, *rows = [line for line in (planned / "inflow.csv").read_text().splitlines() if not line.startswith("#")]
    (tmp_path / "volumes.csv").write_text("\n".join([header, *rows[:2]]) + "\n")
    read = read_inflow(tmp_path / "volumes.csv", unit="hm3").span(part.start, part.stop)
    plan = package.optimise(xiaowan, replace(read, flow_m3s=factor * read.flow_m3s), solver="dp")
    write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    assert np.array_equal(read_plan(tmp_path / "plan").plan.inflow.flow_m3s, plan.inflow.flow_m3s)


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


def test_a_plan_by_an_earlier_version_is_refused_with_what_to_do():
    (mistake,) = refused(Path(__file__).parents[2] / "earlier")
    assert "was written by an earlier version of this program" in mistake.problem
    assert mistake.mend == "run `reservoir plan` again"
    assert mistake.file.endswith("earlier/plan.json")


def test_whatever_was_changed_in_the_provenance_is_refused_and_how_it_is_laid_out_is_free(folder):
    content = told(folder)
    (folder / "plan.json").write_text(json.dumps(content))
    assert read_plan(folder).origin == content
    for change in ({"years": 7}, {"caveats": []}, {"further": 1}, {"files": {}}):
        (folder / "plan.json").write_text(json.dumps(content | change))
        (mistake,) = refused(folder)
        assert (mistake.file, mistake.problem) == (str(folder / "plan.json"), "was changed after the plan was made")


FILES = ("reservoir.toml", "inflow.csv", "schedule.csv", "summary.csv", "water_values.csv", "arrays/release_m3s.npy")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    (mistake,) = refused(folder)
    assert (mistake.file, mistake.problem) == (str(folder / name), "is missing")
    assert "restore the file" in mistake.mend


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_which_a_byte_was_changed_is_named(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[-2] ^= 1
    (folder / name).write_bytes(content)
    (mistake,) = refused(folder)
    assert (mistake.file, mistake.problem) == (str(folder / name), "was changed after the plan was made")


def test_every_file_that_was_changed_is_named_at_once(folder):
    for name in FILES:
        with (folder / name).open("ab") as file:
            file.write(b"\n")
    (folder / "arrays/inflow_m3s.npy").unlink()
    assert {mistake.file for mistake in refused(folder)} == {
        str(folder / name) for name in (*FILES, "arrays/inflow_m3s.npy")
    }


def test_a_figure_that_is_missing_or_was_changed_is_refused(folder):
    content = told(folder)
    (folder / "figures").mkdir()
    (folder / "figures/storage-fan.svg").write_text("<svg/>")
    files = content["files"] | {"figures/storage-fan.svg": sha256(b"<svg/>").hexdigest()}
    write_provenance(folder, content | {"figures": {"storage-fan": "How to read it"}, "files": files})
    assert read_plan(folder).origin["files"] == files
    (folder / "figures/storage-fan.svg").write_text("<svg><script/></svg>")
    (mistake,) = refused(folder)
    assert "was changed after the plan was made" in mistake.problem
    (folder / "figures/storage-fan.svg").unlink()
    (mistake,) = refused(folder)
    assert mistake.file.endswith("storage-fan.svg")


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_dataset_that_was_changed_is_refused(plans, kind, tmp_path):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format=kind)
    path = next(folder.glob("plan.[nz]*"))
    if path.is_dir():
        (path / "release_m3s" / ".zarray").write_text("{")
    else:
        path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"plan\.(nc|zarr): was changed after the plan was made"):
        read_plan(folder)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(InputError, match=r"plan\.(nc|zarr): is missing. Fix: run `reservoir plan` again"):
        read_plan(folder)


@pytest.mark.parametrize("name", ["/etc/passwd", "../other", "figures/../../other"])
def test_a_provenance_that_names_files_outside_the_folder_is_refused(folder, name):
    (folder.parent / "other").write_text("x")
    write_provenance(folder, told(folder) | {"files": {name: sha256(b"x").hexdigest()}})
    (mistake, *_) = refused(folder)
    assert "outside the folder" in mistake.problem


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("caveats", ["\x1b[31m"], "U+001B"),
        ("notes", ["\ud800"], "U+D800"),
        ("seconds", {"dp": 1e308}, "a number that is not finite"),
        ("years", int("6" + 40 * "0"), "a number that is not finite"),
        ("inflow", {}, "does not describe the files of this folder"),
        ("calendar", {"first_year": 1953}, "does not describe the files of this folder"),
        ("horizon", "century", "the horizon is not known"),
        ("units", {"system": "imperial"}, "imperial"),
    ],
)
def test_a_value_that_later_steps_could_not_show_or_reckon_with_is_refused(folder, key, value, words):
    """Even where somebody has made a hash of it."""
    write_provenance(folder, told(folder) | {key: value})
    (mistake,) = refused(folder)
    assert words in str(mistake)
    assert mistake.file == str(folder / "plan.json")


def test_a_calendar_of_an_earlier_edition_is_read_where_it_means_the_same(folder):
    before = read_plan(folder).plan.inflow.calendar
    write_provenance(folder, told(folder) | {"calendar": told(folder)["calendar"] | {"leap_days_left_out": False}})
    assert read_plan(folder).plan.inflow.calendar == before
    write_provenance(folder, told(folder) | {"calendar": told(folder)["calendar"] | {"leap_days_left_out": True}})
    (mistake,) = refused(folder)
    assert "leap_days_left_out, which this edition does not know" in mistake.problem


def test_an_array_that_is_none_is_refused_with_its_name(folder):
    path = folder / "arrays/release_m3s.npy"
    for content in (b"", b"PK\x03\x04", path.read_bytes()[:90], b"\x93NUMPY\x01\x00\xff\xff{"):
        path.write_bytes(content)
        write_provenance(folder, told(folder) | {"files": file_hashes(folder, list(told(folder)["files"]))})
        (mistake,) = refused(folder)
        assert mistake.file == str(path)
        assert mistake.problem.startswith("is not an array (")


def test_an_array_of_objects_is_not_unpickled(folder):
    path = folder / "arrays/release_m3s.npy"
    np.save(path, np.array([{"a": 1}], object), allow_pickle=True)
    write_provenance(folder, told(folder) | {"files": file_hashes(folder, list(told(folder)["files"]))})
    (mistake,) = refused(folder)
    assert mistake.problem.startswith("is not an array (")


@pytest.mark.parametrize("digits", [40, 5000])
def test_a_number_of_many_digits_is_refused(folder, digits):
    text = (folder / "plan.json").read_text()
    assert '"years": 6' in text
    (folder / "plan.json").write_text(text.replace('"years": 6', '"years": 6' + "0" * digits))
    (mistake,) = refused(folder)
    assert "cannot be read" in mistake.problem


@pytest.mark.parametrize("name", ["plan.json", "schedule.csv", "arrays/release_m3s.npy", "reservoir.toml"])
def test_a_file_without_end_is_given_up(folder, name):
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    (mistake,) = refused(folder)
    assert "is too large" in mistake.problem or "cannot be read (not a regular file)" in mistake.problem


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
    assert np.array_equal(read_plan(tmp_path / "plan").plan.energy_gwh, plan.energy_gwh)


def test_the_sources_of_a_plan_are_read_back(xiaowan, six_years_file, tmp_path):
    """Schedules of the solver, of its second run and of the reference."""
    plan = package.optimise(xiaowan, package.read_inflow(six_years_file), solver="clpso-sequential", generations=700)
    again = read_plan(write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False))
    assert len(plan.source_counts) == 3
    assert again.plan.source.tolist() == plan.source.tolist()
    assert again.plan.source_counts == plan.source_counts
    assert again.plan.from_reference.tolist() == plan.from_reference.tolist()
    assert np.array_equal(again.plan.engine_gap, plan.engine_gap)
    assert np.array_equal(again.plan.gap, plan.gap)
    assert again.plan.settings["generations"] == 700
    assert again.plan.sources.second_settings["generations"] == 2800
    assert [check.threshold for check in again.checks] == [check.threshold for check in plan_checks(plan)]
    assert [check.passed for check in again.checks].count(None) == 5


@pytest.mark.parametrize("name", NAMES)
def test_the_operation_of_a_plan_follows_from_its_releases(plans, name, tmp_path):
    require_follows(read_plan(plans[name].save(tmp_path / "plan", figures=False)))


@pytest.mark.parametrize(
    ("name", "value"), [("release_m3s", 190.0), ("energy_gwh", 0.0), ("head_m", 1.0), ("violation", 0.5)]
)
def test_an_operation_that_does_not_is_refused_with_its_step_even_with_a_hash_of_its_own(plans, tmp_path, name, value):
    folder = plans["record"].save(tmp_path / "plan", figures=False)
    path = folder / "arrays" / f"{name}.npy"
    array = np.load(path)
    array[1, 3] = value
    np.save(path, array)
    write_provenance(folder, told(folder) | {"files": file_hashes(folder, list(told(folder)["files"]))})
    with pytest.raises(InputError, match=r"\.npy: does not match the releases and reservoir\.toml in 1956/57, step 4"):
        require_follows(read_plan(folder))
