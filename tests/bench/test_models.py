"""CLPSO's models on the functions: tables, findings and claims, from runs as small as can be and from made-up ones."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from reservoir.bench import models
from reservoir.bench.experiment import QUICK_WARNING, RunBudget
from reservoir.bench.models import KNOWN, PHASES, SEQUENTIAL, ModelStudy, engines
from reservoir.bench.runs import Journal
from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo
from reservoir.planning.checks import all_pass
from reservoir.problems.functions import FUNCTIONS

ENGINES = list(engines(None))


@pytest.fixture
def brief(monkeypatch):
    """Few generations and swarms."""
    monkeypatch.setattr(models, "QUICK_GENERATIONS", 40)
    monkeypatch.setattr(models, "CASE_SWARMS", 2)
    monkeypatch.setattr(models, "MANY_SWARMS", 3)


@pytest.fixture
def budget(device) -> RunBudget:
    return RunBudget(runs=2, quick=True)


def test_every_engine_runs_in_turn_with_seeds_of_its_own(brief, budget, device):
    record = models.run(budget=budget, functions="f3,f5,f8")
    found = record.data["runs"]
    assert list(found["engine"][: len(ENGINES)]) == ENGINES
    assert list(found["run"][:: len(ENGINES)]) == [0, 1, 2] * 3
    assert (found["counted"] == (found["run"] > 0)).all()
    assert not found.duplicated(["function", "seed"]).any()
    assert record.warnings == (QUICK_WARNING,)
    assert record.checks == ()
    assert record.data["rotation"].shape == (30, 30)
    assert list(record.data["many_swarms"]["swarms"]) == ([2, 2] if device.kind == "CPU" else [2, 2, 3])
    noisy = found[found["function"] == "f3"]
    assert (noisy["best"] > noisy["value"]).all()
    others = found[found["function"] != "f3"]
    assert (others["best"] == others["value"]).all()
    bands = record.data["convergence"]
    assert (bands["tenth"] <= bands["median"]).all()
    assert bands["generation"].max() == 40


def test_models_and_functions_can_be_chosen(brief, budget):
    record = models.run(budget=budget, functions="f1", models="final")
    assert set(record.data["runs"]["engine"]) == {name for name in ENGINES if "sequential" in name} | {"final"}
    assert set(record.data) == {"runs", "convergence"}
    with pytest.raises(InputError, match=r"no such model.*basic"):
        engines("basic,quick")


def test_an_interrupted_experiment_makes_only_the_runs_that_are_missing(brief, budget, tmp_path, monkeypatch):
    whole = models.run(budget=budget, functions="f1", models="lanes")
    made, solved = [], ModelStudy.solved

    def interrupted(self: ModelStudy, engine: str, function: Any, run: int) -> Any:
        made.append((engine, run))
        if len(made) == 6:
            raise KeyboardInterrupt
        return solved(self, engine, function, run)

    monkeypatch.setattr(ModelStudy, "solved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        models.run(budget=kept(budget, tmp_path), functions="f1", models="lanes")
    again = models.run(budget=kept(budget, tmp_path), functions="f1", models="lanes")
    assert len(made) == 12 + 1  # the one that was interrupted was begun twice
    pd.testing.assert_series_equal(whole.data["runs"]["best"], again.data["runs"]["best"])
    pd.testing.assert_frame_equal(whole.data["convergence"], again.data["convergence"])


def kept(budget: RunBudget, folder: Path) -> RunBudget:
    return replace(budget, journal=Journal.beside(folder / "x"))


def made_up(milliseconds: dict[str, float], shift: dict[str, float] | None = None) -> pd.DataFrame:
    """Five runs of every engine on f1 and f5 that last as long as told."""
    rows = []
    for function in ("f1", "f5"):
        for run in range(6):
            for engine in ENGINES:
                known = KNOWN[function]
                best = known.mean + known.deviation * ((run - 3) * 0.5 + (shift or {}).get(engine, 0.0))
                seconds = milliseconds.get(engine, 100.0) / 1e3
                rows.append(
                    {"function": function, "engine": engine, "run": run, "counted": run > 0, "best": max(best, 0.0)}
                    | {"seconds": seconds, "evaluations": 1}
                    | {
                        "device_seconds": np.nan
                        if "sequential" in engine
                        else (milliseconds.get(engine, 100.0) / 1e3) ** 2
                    }
                    | {f"{name}_seconds": np.nan for name in PHASES}
                )
    return pd.DataFrame(rows)


def study_of(table: pd.DataFrame, device: DeviceInfo, speeds: pd.DataFrame | None = None, **asked: Any) -> ModelStudy:
    asked = {"budget": RunBudget(runs=5), "functions": [FUNCTIONS["f1"], FUNCTIONS["f5"]]} | asked
    data = {"runs": table, "many_swarms": pd.DataFrame() if speeds is None else speeds}
    return ModelStudy(device=device, engines=engines(None), data=data, **asked)


def test_findings_say_what_holds_and_what_does_not(two_cores):
    slow_host = made_up({"basic": 200.0, "intermediate": 400.0, "final": 390.0, SEQUENTIAL: 50.0})
    found = {each["finding"]: each for each in study_of(slow_host, two_cores).findings()}
    host = found["random numbers from the kernel are slower than from the host"]
    assert host["here"] == "0.50 times (0.25 by device time alone)"
    assert host["holds"] == "no: the opposite"
    assert found["private arrays, clamp and step save time"]["holds"] == "no difference"
    assert found["a single swarm on the device takes longer than the sequential model"]["holds"] == "yes"
    assert found["a relaxed choice of exemplars does not reduce quality"]["holds"] == "yes"


def test_engines_that_differ_are_told(two_cores):
    apart = made_up({}, {"lanes": 40.0, "sequential, strict": 40.0})
    tests = study_of(apart, two_cores).t_tests().set_index("function")
    assert tests.loc["f5", "lanes"] < 1e-6
    assert tests.loc["f5", "final"] == pytest.approx(1)
    assert np.isnan(tests.loc["f1", "lanes"])  # all found
    holds = {each["finding"]: each["holds"] for each in study_of(apart, two_cores).findings()}
    assert holds["a relaxed choice of exemplars does not reduce quality"] == "no"


def test_claims_fail_where_quality_or_speed_do(two_cores):
    rows = [(SEQUENTIAL, 10.0, 1e6), ("lanes", 1.0, 30e6)]
    speeds = pd.DataFrame(
        {"engine": name, "swarms": models.CASE_SWARMS, "seconds": seconds, "evaluations_per_second": speed}
        for name, seconds, speed in rows
    )
    assert all_pass(study_of(made_up({}), two_cores, speeds).claims())
    slow = study_of(made_up({}, {"lanes": 40.0}), two_cores, speeds).claims()
    failed = [each.check for each in slow if not each.passed]
    assert failed == ["f5: lanes against sequential, t-test, p"]


def test_table_3_has_a_row_for_each_engine_and_function(two_cores):
    frame = study_of(made_up({}), two_cores).table_3().frame
    assert len(frame) == 2 * len(ENGINES)
    assert frame["time, ms: mean"][0] == "100.00"
