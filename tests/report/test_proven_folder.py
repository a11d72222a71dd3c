"""A proof that is added to a plan's folder: as if it had been made with the plan, and whole at every moment."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.planned_record import Proofs
from reservoir.report.folder import claimed_for_proof, write_plan, write_proof

needs_xarray = pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray")


@pytest.fixture(scope="module")
def plan(small, small_inflow) -> Plan:
    return optimise(small, small_inflow, solver="dp")


def proofs(plan: Plan, part: float = 1e-4) -> Proofs:
    """Bounds above the schedules by a part of their fitness; of the last, nothing is proved."""
    fitness = plan.solutions.fitness
    bound, gap = fitness * (1 + part), np.full(len(fitness), part / (1 + part))
    bound[-1] = gap[-1] = np.inf
    return Proofs(bound, gap, 1e-5)


def proved(folder: Path, part: float = 1e-4) -> Plan:
    with claimed_for_proof(folder) as claim:
        saved = read_plan(folder)
        found = replace(saved.plan, proofs=proofs(saved.plan, part))
        assert write_proof(saved, found, claim) == folder
    return found


def content(folder: Path) -> dict[str, bytes]:
    return {str(each.relative_to(folder)): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()}


@pytest.mark.parametrize("kind", ["csv", pytest.param("netcdf", marks=needs_xarray)])
def test_a_folder_has_the_proof_as_if_it_had_been_made_with_the_plan(plan, tmp_path, kind):
    (known := replace(plan, proofs=proofs(plan))).save(tmp_path / "at-once", format=kind)
    plan.save(tmp_path / "later", format=kind)
    proved(tmp_path / "later")
    at_once, later = (read_plan(tmp_path / name) for name in ("at-once", "later"))
    for found in (at_once.plan.proofs, later.plan.proofs):
        np.testing.assert_array_equal(found.bound, known.proofs.bound)
        np.testing.assert_array_equal(found.gap, known.proofs.gap)
        assert found.worst_gap == np.inf
        assert found.infeasible == {}
    assert list(at_once.origin) == list(later.origin)
    assert at_once.origin["proof"] == later.origin["proof"]
    assert [each["check"] for each in at_once.origin["checks"]] == [each["check"] for each in later.origin["checks"]]
    assert at_once.origin["files"].keys() == later.origin["files"].keys()
    names = [sorted(content(tmp_path / name)) for name in ("at-once", "later")]
    assert names[0] == names[1]
    if kind == "csv":
        rows = [(tmp_path / name / "summary.csv").read_text().splitlines() for name in ("at-once", "later")]
        assert rows[0] == rows[1]
    pages = [(tmp_path / name / "report.html").read_text() for name in ("at-once", "later")]
    assert all("schedule above its proven bound" in page for page in pages)
    assert pages[0].count("<section") == pages[1].count("<section")
    assert pages[0].count("<svg") == pages[1].count("<svg") > 0


@needs_xarray
@pytest.mark.skipif(find_spec("zarr") is None, reason="needs zarr")
def test_a_folder_with_zarr_has_the_proof(plan, tmp_path):
    plan.save(tmp_path / "plan", format="zarr", figures=False)
    proved(tmp_path / "plan")
    known = proved(tmp_path / "plan", 1e-3).proofs
    assert known.gap.tolist() == read_plan(tmp_path / "plan").plan.proofs.gap.tolist()


def test_a_later_proof_takes_the_place_of_an_earlier_one(plan, tmp_path):
    plan.save(tmp_path / "plan", figures=False)
    proved(tmp_path / "plan")
    proved(tmp_path / "plan", 1e-3)
    (tmp_path / "plan" / "report.html").unlink()
    proved(tmp_path / "plan", 1e-5)
    heading = (tmp_path / "plan" / "summary.csv").read_text().splitlines()[0].split(",")
    assert heading.count("proven_bound") == heading.count("proven_gap") == 1
    saved = read_plan(tmp_path / "plan")
    assert saved.plan.proofs.gap[0] == pytest.approx(1e-5, rel=1e-2)
    assert sum("proven bound" in check.check for check in saved.checks) == 1
    assert (tmp_path / "plan" / "report.html").is_file()


def test_what_else_the_folder_holds_stays(plan, tmp_path):
    folder = write_plan(plan, tmp_path / "plan", plan_checks(plan), figures=False)
    before = content(folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "rules.json").write_text('{"checks": [{"check": "a", "pass": true}, {"check": "b", "pass": false}]}')
    (folder / "rules.html").write_text("rules")
    proved(folder)
    after = content(folder)
    changed = {name for name in after if after[name] != before.get(name)}
    mine = {"notes.txt", "rules.json", "rules.html"}
    arrays = {"arrays/proven_bound.npy", "arrays/proven_gap.npy"}
    assert changed == mine | arrays | {"report.html", "plan.json", "summary.csv"}
    assert (folder / "rules.html").read_text() == "rules"
    told = (folder / "report.html").read_text()
    assert '<a href="rules.html">Operation rules</a>' in told
    claims = [check.passed for check in read_plan(folder).checks if check.passed is not None]
    assert f"<dd>{sum(claims)} of {len(claims)}</dd>" in told
    assert "schedule above its proven bound" in told


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are copies")
def test_a_folder_is_whole_wherever_a_run_is_killed(plan, tmp_path, monkeypatch):
    plan.save(tmp_path / "plan", figures=False)
    before, ends = content(tmp_path / "plan"), set()
    for kill_at in range(100):
        folder = tmp_path / f"at-{kill_at}"
        shutil.copytree(tmp_path / "plan", folder)
        status = killed_at(kill_at, folder, monkeypatch)
        saved = read_plan(folder)
        ends.add(saved.plan.proofs is None)
        if saved.plan.proofs is None:
            assert content(folder) == before
        assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []
        shutil.rmtree(folder)
        if status == 0:
            break
    assert kill_at >= 6
    assert ends == {True, False}


def killed_at(number: int, folder: Path, monkeypatch) -> int:
    """Write a proof in a process of its own that is killed before it moves or removes a file for this time."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    calls = iter(range(number))

    def then(call):
        def killing(*given, **named):
            if next(calls, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)

        return killing

    try:
        for name in ("rename", "unlink"):
            monkeypatch.setattr(os, name, then(getattr(os, name)))
        proved(folder)
    finally:
        os._exit(0)


def test_nothing_is_written_where_another_run_writes_or_no_plan_is(plan, tmp_path):
    plan.save(tmp_path / "plan", figures=False)
    before = content(tmp_path / "plan")
    with claimed_for_proof(tmp_path / "plan"), pytest.raises(InputError, match="being written by another run"):
        proved(tmp_path / "plan")
    assert content(tmp_path / "plan") == before
    with pytest.raises(InputError, match="does not exist"), claimed_for_proof(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()


def test_hashes_are_those_of_the_files(plan, tmp_path):
    plan.save(tmp_path / "plan")
    proved(tmp_path / "plan")
    text = (tmp_path / "plan" / "summary.csv").read_text()
    assert json.loads((tmp_path / "plan" / "plan.json").read_text())["proof"]["worst_gap"] is None
    (tmp_path / "plan" / "summary.csv").write_text(text.replace("dp", "dp", 1) + "\n")
    with pytest.raises(InputError, match="was changed after the plan was made"):
        read_plan(tmp_path / "plan")
