"""Runs that write to one place, and places that are hard to write to, as a user meets them."""

import json
import os
import subprocess
import sys

import pytest

from reservoir.io.output import claimed
from reservoir.io.plan_folder.files import file_hashes, write_provenance

DP = ("--solver", "dp", "--no-figures", "--no-reference")
#: What a run is told about a folder that another run has taken first: as it writes, and after it.
REFUSED = ("is being written by another run", "already exists and is not empty")


@pytest.fixture
def plan(call, short_record, tmp_path):
    """A plan's folder where commands run."""
    call("plan", short_record, *DP, "--out", "plan")
    return tmp_path / "plan"


@pytest.fixture
def at_once(tmp_path):
    """Start the same command several times at the same moment; statuses and outputs."""

    def execute(count, *arguments):
        command = [sys.executable, "-m", "reservoir", *map(str, arguments)]
        running = [
            subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for _ in range(count)
        ]
        outputs = [process.communicate(timeout=300)[0] for process in running]
        return [process.returncode for process in running], outputs

    return execute


def hidden(folder):
    return [entry for entry in folder.rglob("*") if entry.name.startswith(".reservoir-")]


def test_runs_at_once_without_out_write_a_folder_each(at_once, short_record, tmp_path):
    statuses, outputs = at_once(3, "plan", short_record, *DP)
    assert statuses == [0, 0, 0], outputs
    told = {output.splitlines()[-1].removeprefix("Written to ") for output in outputs}
    assert len(told) == 3
    assert all((tmp_path / folder / "plan.json").is_file() for folder in told)
    assert {f"reports/{entry.name}" for entry in (tmp_path / "reports").iterdir()} == told


def test_of_runs_at_once_into_one_folder_one_writes_and_the_others_are_refused(at_once, short_record, tmp_path):
    statuses, outputs = at_once(3, "plan", short_record, *DP, "--out", "out")
    assert sorted(statuses) == [0, 2, 2], outputs
    for status, output in zip(statuses, outputs, strict=True):
        refused = any(f"out: {reason}. Fix: " in output or f"out: {reason} (" in output for reason in REFUSED)
        assert refused if status else output.splitlines()[-1] == "Written to out", output
    assert sorted(os.listdir(tmp_path)) == ["inflow.csv", "out"], outputs
    assert (tmp_path / "out" / "plan.json").is_file()
    assert not hidden(tmp_path)


COMMANDS = {
    "plan": ("plan", "inflow.csv", *DP, "--out", "plan", "--force"),
    "a new plan": ("plan", "inflow.csv", *DP, "--out", "new"),
    "rules": ("rules", "plan", "--no-figures"),
    "simulate": ("simulate", "plan/rules/standard.json", "inflow.csv", "--out", "new"),
    "bench": ("bench", "functions", "--solver", "clpso-sequential", "--quick", "--out", "new"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_another_run_writes_is_refused_before_anything_is_computed(
    call, plan, tmp_path, monkeypatch, name
):
    if name == "simulate":
        call("rules", "plan", "--no-figures", "--family", "standard", "--folds", "2")
    for computing in (
        "planning.plan.optimise",
        "rules.evaluation.evaluate",
        "rules.scores.evaluate_record",
    ):
        monkeypatch.setattr(f"reservoir.{computing}", lambda *_, **__: pytest.fail("computed"))
    monkeypatch.setattr("reservoir.cli.bench._run", lambda *_: pytest.fail("computed"))
    target = tmp_path / ("new" if "new" in COMMANDS[name] else "plan")
    with claimed(target, lambda place: None):
        refused = call(*COMMANDS[name], status=2).err
    assert f"{target.name}: is being written by another run (process {os.getpid()} on " in refused
    assert not hidden(tmp_path)


def test_the_present_folder_can_be_planned_replaced_and_ruled(short_record, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    inode = here.stat().st_ino
    steps = [("plan", short_record, *DP, "--out", "."), ("plan", short_record, *DP, "--out", ".", "--force")]
    steps += [("rules", ".", "--no-figures", "--family", "standard", "--folds", "2")]
    for step in steps:
        command = [sys.executable, "-m", "reservoir", *map(str, step)]
        subprocess.run(command, cwd=here, check=True, capture_output=True)
        assert here.stat().st_ino == inode
    assert (here / "rules" / "standard.json").is_file()
    assert not hidden(tmp_path)


def test_a_file_put_into_the_plan_while_rules_are_written_stays(call, plan, monkeypatch):
    from reservoir.report.html import rules_page

    write = rules_page.rules_report

    def put(*arguments):
        (plan / "thesis.tex").write_text("precious")
        (plan / "rules").mkdir()
        (plan / "rules" / "notes.txt").write_text("mine")
        return write(*arguments)

    monkeypatch.setattr(rules_page, "rules_report", put)
    call("rules", "plan", "--no-figures", "--family", "standard", "--folds", "2")
    assert (plan / "thesis.tex").read_text() == "precious"
    assert sorted(os.listdir(plan / "rules")) == ["notes.txt", "standard.json"]
    assert "Operation rules" in (plan / "rules.html").read_text()


def test_a_forced_plan_keeps_the_figures_of_others(call, plan, short_record):
    (plan / "figures").mkdir()
    (plan / "figures" / "mine.svg").write_text("<svg/>")
    call("plan", short_record, *DP, "--out", "plan", "--force")
    assert os.listdir(plan / "figures") == ["mine.svg"]


@pytest.mark.parametrize("out", ["", " "])
def test_an_empty_name_is_no_folder(call, short_record, tmp_path, out):
    before = sorted(tmp_path.iterdir())
    assert "the path is empty" in call("plan", short_record, *DP, "--out", out, status=2).err
    assert sorted(tmp_path.iterdir()) == before


def test_the_home_folder_is_known_by_its_sign(call, short_record, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    call("plan", short_record, *DP, "--out=~/plan")
    assert (tmp_path / "home" / "plan" / "plan.json").is_file()
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    "out", ["/", "/proc/self", "plan/schedule.csv", "plan/schedule.csv/out", "x" * 300, "/dev/null"]
)
def test_an_impossible_folder_is_refused_before_anything_is_computed(call, plan, short_record, monkeypatch, out):
    monkeypatch.setattr("reservoir.planning.plan.optimise", lambda *_, **__: pytest.fail("computed"))
    assert call("plan", short_record, *DP, "--out", out, status=2).err.startswith("Error: ")


def test_a_profile_is_part_of_the_folder(call, short_record, tmp_path):
    call("plan", short_record, *DP, "--profile", "--out", "out")
    call("plan", short_record, *DP, "--profile", "--out", "out", "--force")
    assert json.loads((tmp_path / "out" / "profile.json").read_text())["stages"]
    assert not hidden(tmp_path)


RULES = ("rules", "plan", "--no-figures", "--family", "standard", "--folds", "2")


@pytest.mark.parametrize("command", [RULES, ("prove", "plan")])
@pytest.mark.parametrize("fate", ["another", "gone", "a folder"])
def test_a_plan_whose_figure_was_tampered_with_is_refused_before_anything_is_computed(
    call, plan, short_record, monkeypatch, command, fate
):
    """Whatever stands there, it enters no page."""
    monkeypatch.setattr("reservoir.rules.evaluation.evaluate", lambda *_, **__: pytest.fail("fitted"))
    monkeypatch.setattr("reservoir.planning.proof.prove_plan", lambda *_, **__: pytest.fail("proved"))
    figure = plan / "figures" / "storage-fan.svg"
    figure.parent.mkdir()
    figure.write_text("<svg/>")
    origin = json.loads((plan / "plan.json").read_text())
    files = origin["files"] | file_hashes(plan, ["figures/storage-fan.svg"])
    write_provenance(plan, origin | {"figures": {"storage-fan": "How to read it"}, "files": files})
    before = (plan / "report.html").read_bytes()
    figure.unlink()
    if fate == "another":
        figure.write_text("<svg><script/></svg>")
    elif fate == "a folder":
        figure.mkdir()
    assert "plan/figures/storage-fan.svg: " in call(*command, status=2).err
    assert (plan / "report.html").read_bytes() == before


def test_figures_that_lie_elsewhere_are_not_written_to(call, plan, tmp_path):
    (tmp_path / "moved").mkdir()
    (plan / "figures").symlink_to(tmp_path / "moved")
    assert "is a link, and links are not followed" in call(*RULES, status=2).err
    assert not (plan / "rules").exists()
