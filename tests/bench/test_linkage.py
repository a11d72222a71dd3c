"""The experiment on DSMGA-II: sweeps, tables, claims, and what a user may ask for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir.bench.experiment import RunBudget
from reservoir.bench.linkage import MODELS, LinkageStudy, run
from reservoir.bench.populations import SizeResult, SweepStudy, sweep
from reservoir.errors import InputError


@pytest.fixture(scope="module")
def budget(device):
    return RunBudget(runs=2, quick=True)


@pytest.fixture(scope="module")
def record(budget):
    return run(budget=budget, sizes="60")


def test_every_figure_of_the_paper_is_there(record):
    titles = " ".join(table.title for table in record.tables)
    assert "Figures 6 to 9" in titles
    assert "Figure 10" in titles
    assert set(record.figures) == set(record.captions) == {"model_building", "whole_runs", "evaluations"}


def test_every_problem_is_run_with_every_model(record):
    counted = record.data["runs"].groupby(["problem", "model"]).size()
    assert set(counted) == {2}
    assert {model for _, model in counted.index} == set(MODELS)
    assert {problem for problem, _ in counted.index} == {"MK 60", "FTRAP 60", "CYC 60", "SPIN own36_1"}


def test_exact_models_go_the_same_way(record):
    runs = record.data["runs"].set_index(["problem", "run"])
    told = ["evaluations", "mixing_evaluations", "generations", "found"]
    sequential = runs[runs["model"] == "sequential"][told]
    for model in ("lossless", "on-demand"):
        pd.testing.assert_frame_equal(runs[runs["model"] == model][told], sequential)


def test_seconds_of_stages_are_parts_of_the_whole(record):
    runs = record.data["runs"]
    assert (runs[["matrix_s", "linkage_s", "mixing_s"]] > 0).all(axis=None)
    assert (runs[["matrix_s", "linkage_s", "mixing_s"]].sum(axis=1) <= runs["total_s"]).all()


def test_a_quick_trial_claims_nothing_and_says_that_it_is_one(record):
    assert record.checks == ()
    assert "Quick trial" in record.warnings[0]


def test_a_sweep_tells_populations_beside_the_originals(budget):
    record = run(budget=replace(budget, runs=1), sweep=True, problems="mk,spin")
    assert record.data["sweeps"]["problem"].tolist() == ["MK 50", "SPIN own36_1"]
    assert (record.data["sweeps"]["population"] % 2 == 0).all()
    assert np.isfinite(record.data["sweeps"]["evaluations"]).all()
    assert record.tables[0].frame["original"].tolist() == [70, 10]


def trial(needed, cost=100.0):
    tried = []

    def runs(population):
        tried.append(population)
        evaluations = cost * population if population >= needed else np.inf
        return SizeResult(population, evaluations, evaluations, 3.0)

    return runs, tried


@pytest.mark.parametrize("needed", [10, 12, 41, 75, 200, 333, 1001])
def test_a_sweep_finds_the_least_population_that_succeeds(needed):
    runs, tried = trial(needed)
    found = sweep(runs)
    assert needed <= found.population <= needed + max(2, 0.1 * needed)
    assert len(tried) == len(set(tried))  # none is run twice


def test_a_sweep_finds_a_minimum_between():
    found = sweep(lambda size: SizeResult(size, (size - 150) ** 2 + 1e4, 0, 1))
    assert abs(found.population - 150) <= 12


def test_a_sweep_that_never_succeeds_ends():
    assert np.isinf(sweep(trial(10**9)[0]).evaluations)


def rows_of(model, seconds, evaluations=1000.0, bits=600, kind="ftrap"):
    """Ten runs."""
    return [
        {
            "kind": kind,
            "problem": f"{kind} {bits}",
            "bits": bits,
            "population": 100,
            "model": model,
            "run": number,
            "found": True,
            "false_optimum": False,
            "evaluations": evaluations,
            "mixing_evaluations": 10,
            "climbing_evaluations": 10,
            "generations": 5,
            "set_length": 3.0,
            "matrix_s": seconds[0],
            "linkage_s": seconds[1],
            "mixing_s": 0.1,
            "total_s": sum(seconds),
        }
        for number in range(10)
    ]


def runs_of(matrix=20.0, lossy_linkage=500.0, lossless_linkage=50.0, on_demand=1000.0):
    base = (1.0, 10.0)
    return pd.DataFrame(
        rows_of("sequential", base)
        + rows_of("lossless", (1 / matrix, 10 / lossless_linkage))
        + rows_of("lossy", (1 / matrix, 10 / lossy_linkage))
        + rows_of("on-demand", (1.0, 0.1), on_demand)
    )


def evaluated_of(lossy=1000.0, found=1.0):
    """Fifty runs with each model that is evaluated."""
    about = {"kind": "ftrap", "problem": "ftrap 600", "bits": 600, "generations": 5, "false_optimum": False}
    return pd.DataFrame(
        [
            about
            | {"model": model, "run": number, "found": number < 50 * part, "evaluations": each, "mixing_evaluations": 1}
            for model, each, part in (("on-demand", 1000.0, 1.0), ("lossy", lossy, found))
            for number in range(50)
        ]
    )


def failed(device, runs, evaluated=None):
    evaluated = evaluated_of() if evaluated is None else evaluated
    return [check.check for check in study_of(device, runs, evaluated).claims() if not check.passed]


def study_of(device, runs, evaluated):
    data = {"runs": runs, "evaluations": evaluated}
    return LinkageStudy(device=device, budget=RunBudget(), cases=(), data=data)


def test_claims_hold_for_what_they_say_and_fail_beyond(two_cores, large_gpu):
    assert failed(large_gpu, runs_of()) == []
    assert failed(two_cores, runs_of()) == []
    assert len(failed(large_gpu, runs_of(matrix=9))) == 2
    assert "sets, lossy" in failed(large_gpu, runs_of(lossy_linkage=390))[0]
    for evaluations in (860, 1140):
        assert "largest relative difference" in failed(large_gpu, runs_of(), evaluated_of(evaluations))[0]
    assert "lossless solves and lossy does not" in failed(large_gpu, runs_of(), evaluated_of(found=0.88))[0]
    assert len(failed(large_gpu, runs_of(), evaluated_of(found=0))) == 2
    assert "on-demand" in failed(large_gpu, runs_of(on_demand=1001))[0]
    assert "sets, smallest" in failed(two_cores, runs_of(lossless_linkage=0.9))[0]
    assert "matrix, smallest" in failed(two_cores, runs_of(matrix=0.9))[0]
    assert len(failed(two_cores, runs_of(matrix=0.9, lossless_linkage=0.9))) == 3
    false = runs_of()
    false.loc[3, "false_optimum"] = True
    assert failed(large_gpu, false) == ["false optima reported"]


def test_a_run_that_misses_the_optimum_does_not_count_in_speeds(two_cores):
    runs = runs_of()
    slow = (runs["model"] == "sequential") & (runs["run"] == 4)
    runs.loc[slow, ["linkage_s", "generations", "found"]] = [1e4, 200, False]
    row = study_of(two_cores, runs, runs).times.iloc[0]
    assert row["linkage_x:lossy"] == pytest.approx(500)
    assert row["linkage_ms:sequential"] == pytest.approx(2000)


def test_sweeps_are_held_to_the_original_programs_numbers():
    row = {"kind": "mk", "problem": "MK 50", "bits": 50, "generations": 2.0, "mixing_evaluations": 1.0}
    good = pd.DataFrame([row | {"population": 80, "evaluations": 5000.0, "false_optima": 0} for _ in range(3)])
    assert [check.passed for check in SweepStudy(budget=RunBudget(), cases=(), data={"sweeps": good}).claims()] == [
        True
    ] * 3
    glasses = good.assign(kind="spin", bits=36, population=900)
    assert [check.check for check in SweepStudy(budget=RunBudget(), cases=(), data={"sweeps": glasses}).claims()] == [
        "false optima reported"
    ]
    wrong = good.assign(population=90, evaluations=3000.0, false_optima=[0, 0, 1])
    assert [check.passed for check in SweepStudy(budget=RunBudget(), cases=(), data={"sweeps": wrong}).claims()] == [
        False
    ] * 3


def test_what_cannot_be_run_is_told(budget, tmp_path):
    with pytest.raises(InputError, match="no such kind"):
        run(budget=budget, problems="knapsack")
    with pytest.raises(InputError, match="invalid number of bits"):
        run(budget=budget, sizes="64", problems="mk")
    with pytest.raises(InputError, match=r"--spin.*spin is not among the problems"):
        run(budget=budget, problems="mk", spin=(tmp_path / "none",))
    with pytest.raises(InputError, match=r"--sizes.*applies only to traps"):
        run(budget=budget, problems="spin", sizes="60")
    with pytest.raises(InputError, match="cannot be read"):
        run(budget=budget, problems="spin", spin=(tmp_path / "none",))
