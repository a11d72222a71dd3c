"""``reservoir bench`` as a user calls it."""

import json

import pytest

from reservoir.bench.result import ExperimentResult, default_folder
from reservoir.cases import bundled_case, case_names
from reservoir.cli import INTERRUPTED
from reservoir.planning.checks import Check


def test_experiments_and_cases_are_listed_without_importing_anything_heavy(heavy_imports):
    imported, shown = heavy_imports("bench", "--help")
    assert not imported
    assert all(name in shown for name in ("case", *case_names()))


def test_a_bench_of_ones_own_record_writes_a_folder_and_says_where(brief, call, device, short_record, tmp_path):
    output = call("bench", "case", short_record, "--quick", "--runs", "2", "--json")
    printed = json.loads(output.out)
    folder = tmp_path / printed["folder"]
    assert printed["folder"] == str(default_folder("xiaowan", device))
    assert all(check["pass"] for check in printed["checks"])
    assert {"Speed-up", "Fastest"} == set(printed["headlines"])
    names = {
        "bench.json",
        "runs.csv",
        "scaling.csv",
        "scaling.png",
        "scaling.svg",
        "tables.md",
        "times.png",
        "times.svg",
    }
    assert {entry.name for entry in folder.iterdir()} == names
    assert "Quick trial" in (folder / "tables.md").read_text()


def test_a_full_folder_is_refused_before_anything_is_computed(brief, call, short_record, tmp_path, monkeypatch):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    monkeypatch.setattr("reservoir.bench.case.run", lambda *_, **__: pytest.fail("computed"))
    output = call("bench", "case", short_record, "--out", "full", status=2)
    assert "not empty" in output.err


def test_a_case_stands_for_its_files(call, monkeypatch, device, tmp_path):
    from reservoir.errors import InputError, Mistake

    asked = []

    def run(reservoir, inflow, **options):
        asked.append((reservoir.name, len(inflow.labels), options["budget"].runs, options["peers"]))
        raise InputError(Mistake("enough"))

    monkeypatch.setattr("reservoir.bench.case.run", run)
    for name in case_names():
        call("bench", name, "--peers", status=2)
    years = {name: bundled_case(name).inflow().years for name in case_names()}
    assert asked == [(name, years[name], 25, True) for name in years]
    assert case_names("system") == ["lancang", "lancang-2", "lancang-3", "lancang-5"]
    assert bundled_case("lancang-2").system().names == tuple(bundled_case("lancang-2").inflows())


def test_a_failed_check_makes_the_status_1(call, monkeypatch, device):
    failed = Check("speed-up", 7.0, 8.0, at_least=True)
    record = ExperimentResult("a bench", (), {"Speed-up": "7 times"}, (failed,), (), {}, {}, {}, {})
    monkeypatch.setattr("reservoir.bench.case.run", lambda *_, **__: record)
    output = call("bench", "case", "--out", "out", status=1)
    assert "NO" in output.out
    assert "7 times" in output.out


def test_an_unknown_experiment_is_refused(call):
    assert "No such command" in call("bench", "dance", status=2).err


def test_models_are_benched_and_an_interruption_loses_nothing(call, monkeypatch, device, tmp_path):
    from reservoir.bench import models

    monkeypatch.setattr(models, "QUICK_GENERATIONS", 20)
    monkeypatch.setattr(models, "CASE_SWARMS", 2)
    solved, made = models.ModelStudy.solved, []

    def interrupted(self, engine, function, run):
        made.append(run)
        if len(made) == 4:
            raise KeyboardInterrupt
        return solved(self, engine, function, run)

    monkeypatch.setattr(models.ModelStudy, "solved", interrupted)
    asked = ("bench", "clpso", "--functions", "f5", "--models", "lanes", "--quick", "--runs", "2")
    output = call(*asked, status=INTERRUPTED)
    assert "run the same command again to continue" in output.err
    folder = tmp_path / default_folder("clpso", device)
    assert list(folder.parent.iterdir()) == [folder.with_name(f"{folder.name}.unfinished.jsonl")]
    call(*asked)
    assert len(made) == 3 * 4 + 1
    assert list(folder.parent.iterdir()) == [folder]
    text = (folder / "tables.md").read_text()
    assert all(title in text for title in ("after Table 3", "after Table 4", "after Table 7", "Findings of the paper"))


def test_any_solver_can_be_tried_on_functions(call, tmp_path, monkeypatch):
    for place in ("bench.functions", "opencl"):  # the first is imported before the second is changed
        monkeypatch.setattr(f"reservoir.{place}.choose_devices", lambda *_: pytest.fail("needs no device"))
    asked = ("--solver", "clpso-sequential", "--dim", "4", "--functions", "f1", "--quick", "--generations", "50")
    call("bench", "functions", *asked)
    assert (tmp_path / "reports" / "bench" / "functions-clpso-sequential-cpu" / "runs.csv").exists()
    assert "does not solve functions" in call("bench", "functions", "--solver", "dp", status=2).err


def test_a_small_river_with_commitments_is_benched(call, monkeypatch, device, tmp_path):
    from reservoir.bench import proof
    from reservoir.zoo import zoo_system

    monkeypatch.setattr(proof, "zoo_system", lambda number, *years, **how: zoo_system(4, *years, reservoirs=2, **how))
    shared = ("--quick", "--part", "tuning", "--years", "1", "--solvers", "slp,dp-joint", "--gap", "1e-2")
    shown = call("bench", "proof", *shared, "--committed", "1", "--prove-seconds", "5", "--out", "b").out
    assert "dp-joint refused 1, the first: the solver dp-joint cannot plan this system" in " ".join(shown.split())
    refused = call("bench", "proof", *shared[:-3], "dp-opencl", "--systems", "1", "--out", "c", status=2).err
    assert "no solver that is named plans systems" in refused
    made = (tmp_path / "b" / "years.csv").read_text(encoding="utf-8")
    assert "tuning committed,0" in made
