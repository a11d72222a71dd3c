import csv
import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from click import Choice

from reservoir import optimise, read_reservoir, write_reservoir
from reservoir.cases import bundled_case
from reservoir.cli.plan import command
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.unit_system import SYSTEMS
from reservoir.io.plan_folder.formats import PlanFormat
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.records.reader import read_inflow
from reservoir.io.records.record import NEGATIVES, WATER_YEARS
from reservoir.report.figures.style import undrawn_sentence

SCHEDULE_COLUMNS = ["year", "month", "inflow_m3s", "release_m3s", "turbined_m3s", "spill_m3s", "storage_start_hm3"]
SCHEDULE_COLUMNS += ["storage_end_hm3", "level_m", "tailrace_m", "head_m", "power_mw", "energy_gwh", "violation"]
SCHEDULE_COLUMNS += ["source"]
QUICK = ("--no-figures",)
#: What a planner looks for first, in its order on the screen.
KEY_LINES = ["Energy", "Power", "Spill", "Gap", "Checks", "Written"]


def table(path):
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_plan_writes_schedule_summary_and_provenance(call, short_record, tmp_path):
    printed = call("plan", short_record, *QUICK, "--out", "out").out
    assert "Checks    all 6 pass: the water balance closes" in printed
    assert "Acceptance" not in printed  # the table is in the files
    heads = [line.split()[0] for line in printed.splitlines() if line[:1].strip()]
    assert [head for head in heads if head in KEY_LINES] == KEY_LINES
    assert "Written to out" in printed
    schedule, summary = table(tmp_path / "out/schedule.csv"), table(tmp_path / "out/summary.csv")
    assert list(schedule[0]) == SCHEDULE_COLUMNS
    assert len(schedule) == 36
    assert [row["year"] for row in summary] == ["1953", "1954", "1955"]
    provenance = json.loads((tmp_path / "out/plan.json").read_text())
    assert provenance["settings"]["seed"] == 1
    assert provenance["inflow"]["sha256"]
    assert provenance["reservoir"]["sha256"]
    assert all(check["pass"] for check in provenance["checks"])


def test_a_check_that_fails_is_shown_with_its_table_and_what_it_means(call, short_record):
    poor = ("--engine-only", "--generations", "5", "--particles", "4")
    printed = call("plan", short_record, *QUICK, *poor, "--out", "out", status=1).out
    words = " ".join(printed.split())
    assert "Acceptance" in words
    assert "Checks all" not in words
    assert "Failed gap to dp, worst year (absolute value): a year could be better" in words


def test_the_key_figures_are_in_the_json(call, short_record, strict):
    shown = strict(call("plan", short_record, *QUICK, "--out", "out", "--json").out)
    assert shown["key_figures"]["energy_gwh"] == pytest.approx(shown["energy_gwh"] / 3)
    assert shown["key_figures"]["worst_year"] == "1953"
    assert 0 < shown["key_figures"]["capacity_factor"] < 1


def test_the_water_balance_of_the_written_schedule_closes(call, short_record, tmp_path):
    call("plan", short_record, *QUICK, "--out", "out")
    days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    for row in table(tmp_path / "out/schedule.csv"):
        flow = float(row["inflow_m3s"]) - float(row["release_m3s"])
        end = float(row["storage_start_hm3"]) + flow * days[int(row["month"]) - 1] * 0.0864
        assert end == pytest.approx(float(row["storage_end_hm3"]), abs=1e-5)
        released = float(row["turbined_m3s"]) + float(row["spill_m3s"])
        assert released == pytest.approx(float(row["release_m3s"]), abs=2e-6)


@pytest.mark.device
def test_a_profile_explains_every_second_and_is_written_down(run, short_record, tmp_path):
    printed = run("plan", short_record, "--profile", "--out", "out", "--json").stdout
    profile = json.loads(printed)["profile"]
    assert json.loads((tmp_path / "out/profile.json").read_text()) == profile
    seconds = {row["stage"]: row["seconds"] for row in profile["stages"]}
    # A copy of the process draws every other one, which are waited for at the end.
    figures = [f"figure {name}" for name in ("storage-fan", "convergence", "typical-years", "annual-energy")]
    solver = ["clpso: programs", "clpso: device", "clpso: host"]
    assert set(seconds) >= {"start", "import", "read", "prepare", *solver, "certify", "write", "report", "rest"}
    assert [stage for stage in seconds if stage.startswith("figure")] == figures
    assert all(passed >= 0 for passed in seconds.values())
    assert sum(seconds.values()) == pytest.approx(profile["total_seconds"], abs=1e-4)
    assert sum(row["part"] for row in profile["stages"]) == pytest.approx(1, abs=1e-4)


def test_a_program_is_told_of_progress_in_lines_of_standard_error(call, short_record, monkeypatch):
    monkeypatch.setenv("RESERVOIR_PROGRESS", "lines")
    told = call("plan", short_record, *QUICK, "--out", "out").err.splitlines()
    stages = [json.loads(line) for line in told if line.startswith("{")]
    assert any(each["done"] == each["total"] for each in stages if not each["stage"].startswith("compiling"))
    assert all(set(each) == {"stage", "done", "total"} for each in stages)


def test_a_profile_is_shown_as_a_table_and_a_plan_with_one_can_be_replaced(call, short_record, tmp_path):
    printed = call("plan", short_record, *QUICK, "--profile", "--out", "out").out
    assert all(word in printed for word in ("Profile", "read", "report", "rest", "total"))
    call("plan", short_record, *QUICK, "--out", "out", "--force")
    assert not (tmp_path / "out/profile.json").exists()


def test_the_same_seed_gives_the_same_tables_byte_for_byte_in_any_process(run, call, short_record, tmp_path):
    for begin, folder in ((run, "one"), (call, "two")):
        begin("plan", short_record, *QUICK, "--seed", "7", "--out", folder)
    for name in ("schedule.csv", "summary.csv", "inflow.csv", "reservoir.toml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    call("plan", short_record, *QUICK, "--seed", "8", "--out", "three")
    assert (tmp_path / "one/schedule.csv").read_bytes() != (tmp_path / "three/schedule.csv").read_bytes()


@pytest.mark.parametrize(
    ("comment", "unit_from"),
    [
        ("# mean 900 m3/s", "assumed: the file gives no unit"),
        ("# all values in m³/s", "from the comment in row 1"),
    ],
)
def test_the_unit_and_the_mean_flow_are_told_everywhere(call, short_record, tmp_path, comment, unit_from):
    mean = read_inflow(short_record).mean_m3s
    short_record.write_text(f"{comment}\n{short_record.read_text()}")
    printed = call("plan", short_record, *QUICK, "--out", "out").out
    assert f"values in m³/s ({unit_from}); mean flow {mean:,.0f} m³/s" in printed
    told = json.loads((tmp_path / "out/plan.json").read_text())["inflow"]
    assert (told["unit"], told["unit_from"]) == ("m3/s", unit_from)
    assert told["mean_m3s"] == pytest.approx(mean)
    assert f"m³/s ({unit_from})" in (tmp_path / "out/report.html").read_text()


def test_a_record_from_a_pipe_is_copied_into_the_plan(call, short_record, tmp_path):
    pipe, content = tmp_path / "pipe", short_record.read_bytes()
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    call("plan", pipe, *QUICK, "--out", "out")
    writer.join()
    assert (tmp_path / "out/inflow.csv").read_bytes() == content


def test_an_unknown_unit_is_refused_before_anything_is_computed(call, short_record, tmp_path):
    refused = call("plan", short_record, "--unit", "tcf", "--out", "out", status=2).err
    assert all(word in refused for word in ("tcf", "cfs, kcfs", "acre-ft"))
    assert not (tmp_path / "out").exists()


def test_without_out_a_new_folder_appears_under_reports(call, short_record, tmp_path):
    for _ in range(2):
        call("plan", short_record, *QUICK)
    assert len(list((tmp_path / "reports").iterdir())) == 2


def test_a_chinese_name_is_in_the_folder_the_title_and_the_files(call, short_record, tmp_path):
    call("new", "丹江口水库")
    made = call("plan", short_record, "--reservoir", "丹江口水库.toml")
    (folder,) = (tmp_path / "reports").iterdir()
    assert folder.name.startswith("plan-丹江口水库-")
    assert "Reservoir 丹江口水库" in made.out
    assert f"Written to reports/{folder.name}" in made.out.replace("\n", "")
    assert "<h1>Operation plan of 丹江口水库" in (folder / "report.html").read_text(encoding="utf-8")
    assert json.loads((folder / "plan.json").read_text(encoding="utf-8"))["reservoir"]["name"] == "丹江口水库"
    assert made.err.count("No font of this machine") == bool(undrawn_sentence("丹江口水库"))


def test_an_earlier_plan_is_kept_unless_forced(call, short_record, tmp_path):
    call("plan", short_record, *QUICK, "--out", "out")
    before = (tmp_path / "out/plan.json").read_bytes()
    refused = call("plan", short_record, *QUICK, "--out", "out", status=2)
    assert "--force" in refused.err
    assert (tmp_path / "out/plan.json").read_bytes() == before
    call("plan", short_record, *QUICK, "--out", "out", "--force", "--seed", "2")
    assert json.loads((tmp_path / "out/plan.json").read_text())["settings"]["seed"] == 2


def test_a_folder_that_is_no_plan_is_never_replaced(call, short_record, tmp_path):
    precious = tmp_path / "home"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    refused = call("plan", short_record, *QUICK, "--out", "home", "--force", status=2)
    assert "is not a plan folder" in refused.err
    assert (precious / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("target", ["inflow.csv", "inflow.csv/out"])
def test_a_file_in_the_way_of_the_output_is_named(call, short_record, tmp_path, target):
    before = sorted(tmp_path.iterdir())
    refused = call("plan", short_record, *QUICK, "--out", target, status=2)
    assert "inflow.csv" in refused.err
    assert sorted(tmp_path.iterdir()) == before


def test_every_mistake_of_both_files_is_told_at_once_and_nothing_is_written(call, short_record, tmp_path):
    lines = short_record.read_text().splitlines()
    lines[1] = lines[1].replace(",400,", ",-400,")
    lines[2] = lines[2].replace(",400,", ",,")
    short_record.write_text("\n".join(lines))
    (tmp_path / "broken.toml").write_text('name = "x"\nspeed = 3\n')
    refused = call("plan", short_record, "--reservoir", "broken.toml", "--out", "out", status=2)
    assert "row 2, column m01" in refused.err
    assert "-400" in refused.err
    assert "broken.toml" in refused.err
    assert "speed" in refused.err
    assert all(line.startswith("Error: ") for line in refused.err.splitlines())
    assert not (tmp_path / "out").exists()


def test_a_year_that_cannot_satisfy_its_bounds_is_named_and_the_others_come_out(call, short_record, tmp_path):
    lines = short_record.read_text().splitlines()
    lines[2] = "1954," + ",".join(["40"] * 12)
    short_record.write_text("\n".join(lines))
    finished = call("plan", short_record, *QUICK, "--out", "out")  # that nothing can satisfy a year is found
    assert "1954 Dec: the storage at the end of the month is" in finished.out
    assert "below its lower limit of 14,557 hm³" in finished.out
    assert "1953 Dec" not in finished.out
    summary = table(tmp_path / "out/summary.csv")
    assert [float(row["violation"]) > 0 for row in summary] == [False, True, False]
    assert "1954 Dec" in json.loads((tmp_path / "out/plan.json").read_text())["shortfalls"][0]


def test_json_goes_to_standard_output_alone(run, short_record):
    printed = json.loads(run("plan", short_record, *QUICK, "--out", "out", "--json").stdout)
    assert printed["folder"] == "out"
    assert {"check", "value", "threshold", "pass"} == set(printed["checks"][0])
    assert printed["caveats"] == ["Conversion rate calibrated to a published total (K = 9.425), not measured"]
    assert printed["notes"][0].startswith("no reservoir was given: the bundled xiaowan was used")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--solver", "magic"), "clpso-sequential"),
        (("--particles", "1"), "particles"),
        pytest.param(("--device", "no such device"), "no OpenCL device matches", marks=pytest.mark.device),
        (("--unit", "buckets"), "m3/s"),
        (("--case", "atlantis"), "xiaowan"),
    ],
)
def test_a_wrong_option_says_what_would_be_right(call, short_record, tmp_path, arguments, words):
    refused = call("plan", short_record, *QUICK, *arguments, "--out", "out", status=2)
    assert words in refused.err
    assert not (tmp_path / "out").exists()


def test_names_in_brackets_are_shown_as_they_are(call, short_record, tmp_path):
    short_record.rename(tmp_path / "[bold].csv")
    text = (tmp_path / "[bold].csv").read_text()
    (tmp_path / "[bold].csv").write_text("# caveat: measured [/] since 1953\n" + text)
    printed = call("plan", "[bold].csv", *QUICK, "--out", "out").out
    assert "[bold].csv" in printed
    assert "measured [/] since 1953" in printed


def test_a_forced_plan_keeps_away_from_what_it_did_not_write(call, short_record, tmp_path):
    call("plan", short_record, *QUICK, "--out", "out")
    (tmp_path / "out" / "my-notes.txt").write_text("precious")
    refused = call("plan", short_record, *QUICK, "--out", "out", "--force", status=2)
    assert "my-notes.txt" in refused.err
    assert (tmp_path / "out" / "my-notes.txt").read_text() == "precious"


def test_a_reader_that_leaves_early_does_not_cost_the_plan(short_record, tmp_path):
    command = f"{sys.executable} -m reservoir plan inflow.csv --no-figures --out out | head -n 1"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "out" / "plan.json").is_file()


@pytest.mark.device
@pytest.mark.parametrize(
    ("solver", "setting", "choice"),
    [("ring-pso", "mode", "async"), ("island-ga", "scheme", "lim-async")],
)
def test_forms_of_an_engine_can_be_chosen_and_are_written_down(call, short_record, tmp_path, solver, setting, choice):
    brief = ("--generations", "200") if solver == "ring-pso" else ("--evaluations", "20000")
    asked = ("--solver", solver, "--set", f"{setting}={choice}", "--no-reference", *brief)
    call("plan", short_record, *QUICK, *asked, "--out", "out")
    settings = json.loads((tmp_path / "out/plan.json").read_text())["settings"]
    assert settings[setting] == choice
    assert settings["resident"] in (True, False)


@pytest.mark.device
def test_a_plan_of_dsmga2_shows_which_months_hang_together(call, short_record, tmp_path):
    asked = ("--solver", "dsmga2", "--set", "model=lossless", "--set", "bits=6", "--no-reference")
    call("plan", short_record, *asked, "--out", "out")
    origin = json.loads((tmp_path / "out/plan.json").read_text())
    assert (origin["settings"]["model"], origin["settings"]["bits"]) == ("lossless", 6)
    assert "mean of at most its first 10 generations" in origin["figures"]["linkage"]
    assert (tmp_path / "out/figures/linkage.png").is_file()
    assert "Interdependence of months" in (tmp_path / "out/report.html").read_text()


def test_the_choices_are_those_of_the_engines_and_of_reading():
    """They are typed again in the command, which imports nothing else before it runs."""
    choices = {option.name: set(option.type.choices) for option in command.params if isinstance(option.type, Choice)}
    assert choices == {
        "table_format": set(PlanFormat),
        "unit_system": set(SYSTEMS),
        "water_year": set(WATER_YEARS),
        "negative": set(NEGATIVES),
        "step": set(TimeStep),
        "dates": {"month-first", "day-first"},
    }


@pytest.mark.device
def test_a_choice_that_an_engine_does_not_have_is_refused(call, short_record):
    refused = call("plan", short_record, *QUICK, "--set", "mode=async", "--out", "out", status=2)
    assert "the solver clpso has no setting mode" in refused.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--scheme", "tim"], "No such option: --scheme. It is a setting of island-ga: write --set scheme=VALUE"),
        (["--mode=async"], 'It is a setting of ring-pso: write --set mode=VALUE (see "reservoir solvers ring-pso")'),
        (["--no-polish"], "It is a setting of lshade and lshade-sequential: write --set polish=false"),
        (["--window-steps", "12"], "It is a setting of clpso and lshade: write --set window_steps=VALUE"),
        (["--partikles", "12"], "No such option '--partikles'"),
        (["--set", "mode"], '--set: is no setting (found "mode"); expected NAME=VALUE'),
        (["--set", "=3"], "--set: is no setting"),
        (["--set", "lanes=4", "--set", "lanes=8"], "--set: lanes is given twice"),
        (["--particles", "4", "--set", "particles=8"], "--particles and --set particles are both given"),
        (["--set", "temperature=3"], "has no setting temperature"),
        (["--set", "first=3"], "first cannot be given in words"),
        (["--set", "lanes=many"], "lanes is no whole number"),
        (["--set", "acceleration=nan"], "acceleration is out of range (found nan); expected 0.0 to 1000000000.0"),
        (["--set", "random=dice"], "there is no such random"),
        (["--solver", "lshade", "--set", "polish=maybe"], "polish is neither True nor False"),
    ],
)
def test_a_setting_that_is_wrong_is_told_how_to_give(call, short_record, words, message):
    assert message in " ".join(call("plan", short_record, *words, "--out", "out", status=2).err.split())


@pytest.fixture
def hard_record(short_record):
    """The short record with a second year that no schedule can keep."""
    head, first, _, third = short_record.read_text().splitlines()
    short_record.write_text("\n".join([head, first, "1954" + ",100" * 12, third]) + "\n")
    return short_record


def test_years_that_cannot_keep_their_limits_are_named_and_not_in_the_energy(call, hard_record, tmp_path):
    printed = call("plan", hard_record, *QUICK, "--out", "out").out
    assert "GWh in 2 years that satisfy their limits" in printed
    assert "1 year cannot satisfy its storage limits with any permitted release: 1954" in printed
    rows = {row["year"]: row for row in table(tmp_path / "out/summary.csv")}
    energy = float(rows["1953"]["energy_gwh"]) + float(rows["1955"]["energy_gwh"])
    told = json.loads((tmp_path / "out/plan.json").read_text())
    assert told["energy_gwh"] == pytest.approx(energy, abs=1e-5)
    assert f"{energy:,.0f} GWh in 2 years" in printed
    assert float(rows["1954"]["reference_violation"]) > 0
    assert float(rows["1954"]["reference_gwh"]) == pytest.approx(float(rows["1954"]["energy_gwh"]), rel=1e-3)


def test_a_comparison_names_the_years_that_it_leaves_out(call, hard_record):
    printed = call("compare", hard_record, "--solver", "dp").out
    assert "1 year cannot satisfy the storage limits (1954): excluded from energy and gap" in printed
    told = json.loads(call("compare", hard_record, "--solver", "dp", "--json").out)
    assert told["left_out"] == ["1954"]
    assert told["solvers"][0]["gap"] == 0


def test_a_comparison_of_years_that_all_violate_their_limits_has_no_energy(call, short_record):
    head, *_ = short_record.read_text().splitlines()
    short_record.write_text("\n".join([head, *(f"{year}" + ",9000" * 12 for year in (1953, 1954))]) + "\n")
    printed = call("compare", short_record, "--solver", "dp").out
    assert "nan" not in printed
    assert "–" in next(line for line in printed.splitlines() if "CPU" in line)
    assert "2 years cannot satisfy the storage limits (1953, 1954)" in printed


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a shell's <(...) needs /dev/fd")
def test_a_reservoir_that_was_piped_in_is_copied_into_the_plan(short_record, tmp_path):
    bundled = bundled_case().reservoir_file
    command = f"{sys.executable} -m reservoir plan {short_record} --reservoir <(cat {bundled}) --solver dp --no-figures"
    subprocess.run(["bash", "-c", f"{command} --out out"], check=True, cwd=tmp_path, capture_output=True)
    assert (tmp_path / "out/reservoir.toml").read_bytes() == bundled.read_bytes()
    assert read_plan(tmp_path / "out").plan.inflow.years == 3


def test_what_may_be_meant_otherwise_is_noted_on_the_screen_and_in_the_plan(call, short_record, tmp_path):
    text = bundled_case().reservoir_file.read_text(encoding="utf-8")
    (tmp_path / "mine.toml").write_text(text.replace("dead_m = 1166", "dead_m = 1160"), encoding="utf-8")
    printed = call("plan", short_record, "--reservoir", "mine.toml", "--solver", "dp", *QUICK, "--out", "out").out
    (note,) = json.loads((tmp_path / "out/plan.json").read_text())["notes"]
    assert note.startswith("The dead level (marks.dead_m) is 1160 m, but the level curve gives")
    assert printed.count(note) == 1
    assert note in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_a_plan_is_read_and_written_without_pandas(heavy_imports, tmp_path):
    imported, _ = heavy_imports("plan", "--no-figures", "--out", str(tmp_path / "plan"))
    assert {"numba", "numpy"} <= set(imported.split())
    assert not {"pandas", "matplotlib"} & set(imported.split())


@pytest.mark.device
def test_a_plan_of_the_bundled_record_is_saved_in_python_as_by_the_command(call, tmp_path, device):
    case = bundled_case()
    write_reservoir(replace(case.reservoir(), installed_mw=3900.0), tmp_path / "less.toml")
    how = {"solver": "lshade", "evaluations": 500, "device": str(device.index)}
    plan = optimise(read_reservoir(tmp_path / "less.toml"), case.inflow(), reference=False, **how)
    options = [text for name, value in how.items() for text in (f"--{name}", value)]
    call("plan", "--reservoir", "less.toml", "--no-reference", *options, "--out", "typed", status=None)
    folders = tmp_path / "typed", plan.save(tmp_path / "saved")
    typed, saved = (json.loads((folder / "plan.json").read_text())["files"] for folder in folders)
    assert "figures/typical-years.svg" in typed
    assert typed == saved
    assert all(b"1954" in (folder / "figures/typical-years.svg").read_bytes() for folder in folders)
