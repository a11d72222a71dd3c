"""CLPSO's models on the functions: tables, findings and claims, from runs as small as can be and from made-up ones."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from reservoir.bench.experiment import QUICK_WARNING, RunBudget
from reservoir.bench.host_time import PHASES
from reservoir.bench.journal import Journal
from reservoir.bench.models import experiment, runs
from reservoir.bench.models.experiment import KNOWN, ModelFindings, findings, model_checks, table_3
from reservoir.bench.models.runs import SEQUENTIAL, ModelSetup, engines
from reservoir.errors import InputError
from reservoir.planning.checks import all_pass
from reservoir.problems.functions import FUNCTIONS

ENGINES = [each.name for each in engines(None)]


@pytest.fixture
def brief(monkeypatch):
    """Few generations and swarms."""
    monkeypatch.setattr(runs, "QUICK_GENERATIONS", 40)
    monkeypatch.setattr(runs, "CASE_SWARMS", 2)
    monkeypatch.setattr(runs, "MANY_SWARMS", 3)


@pytest.fixture
def budget(device) -> RunBudget:
    return RunBudget(runs=2, quick=True)


def test_every_engine_runs_in_turn_with_seeds_of_its_own(brief, budget, device):
    record = experiment.run(budget=budget, journal=Journal(), functions="f3,f5,f8")
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
    record = experiment.run(budget=budget, journal=Journal(), functions="f1", models="final")
    assert set(record.data["runs"]["engine"]) == {name for name in ENGINES if "sequential" in name} | {"final"}
    assert set(record.data) == {"runs", "convergence"}
    with pytest.raises(InputError, match=r"no such model.*basic"):
        engines("basic,quick")


def test_an_interrupted_experiment_makes_only_the_runs_that_are_missing(brief, budget, tmp_path, monkeypatch):
    whole = experiment.run(budget=budget, journal=Journal(), functions="f1", models="lanes")
    made, solved = [], ModelSetup.solved

    def interrupted(self: ModelSetup, place: int, function: Any, run: int) -> Any:
        made.append((place, run))
        if len(made) == 6:
            raise KeyboardInterrupt
        return solved(self, place, function, run)

    monkeypatch.setattr(ModelSetup, "solved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(budget=budget, journal=Journal.beside(tmp_path / "x"), functions="f1", models="lanes")
    again = experiment.run(budget=budget, journal=Journal.beside(tmp_path / "x"), functions="f1", models="lanes")
    assert len(made) == 12 + 1  # the one that was interrupted was begun twice
    pd.testing.assert_series_equal(whole.data["runs"]["best"], again.data["runs"]["best"])
    pd.testing.assert_frame_equal(whole.data["convergence"], again.data["convergence"])


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


def found_of(table: pd.DataFrame, setup: ModelSetup | None = None, speeds: pd.DataFrame | None = None) -> ModelFindings:
    return ModelFindings(setup, table, pd.DataFrame(), pd.DataFrame() if speeds is None else speeds)


def test_findings_say_what_holds_and_what_does_not():
    slow_host = made_up({"basic": 200.0, "intermediate": 400.0, "final": 390.0, SEQUENTIAL: 50.0})
    found = {each.finding: each for each in findings(found_of(slow_host))}
    host = found["random numbers from the kernel are slower than from the host"]
    assert host.here == "0.50 times (0.25 by device time alone)"
    assert host.holds == "no: the opposite"
    assert found["private arrays, clamp and step save time"].holds == "no difference"
    assert found["a single swarm on the device takes longer than the sequential model"].holds == "yes"
    assert found["a relaxed choice of exemplars does not reduce quality"].holds == "yes"


def test_engines_that_differ_are_told():
    apart = made_up({}, {"lanes": 40.0, "sequential, strict": 40.0})
    tests = found_of(apart).t_tests().set_index("function")
    assert tests.loc["f5", "lanes"] < 1e-6
    assert tests.loc["f5", "final"] == pytest.approx(1)
    assert np.isnan(tests.loc["f1", "lanes"])  # all found
    held = {each.finding: each.holds for each in findings(found_of(apart))}
    assert held["a relaxed choice of exemplars does not reduce quality"] == "no"


def test_claims_fail_where_quality_or_speed_do(two_cores):
    asked = {"device": two_cores, "functions": [FUNCTIONS["f1"], FUNCTIONS["f5"]], "engines": engines(None)}
    setup, quick = (ModelSetup(budget=RunBudget(runs=5, quick=each), **asked) for each in (False, True))
    rows = [(SEQUENTIAL, 10.0, 1e6), ("lanes", 1.0, 30e6)]
    speeds = pd.DataFrame(
        {"engine": name, "swarms": runs.CASE_SWARMS, "seconds": seconds, "evaluations_per_second": speed}
        for name, seconds, speed in rows
    )
    assert all_pass(model_checks(found_of(made_up({}), setup, speeds)))
    slow = model_checks(found_of(made_up({}, {"lanes": 40.0}), setup, speeds))
    failed = [each.check for each in slow if not each.passed]
    assert failed == ["f5: lanes against sequential, t-test, p"]
    assert list(model_checks(found_of(made_up({}), quick, speeds))) == []


def test_table_3_has_a_row_for_each_engine_and_function():
    frame = table_3(found_of(made_up({}))).frame
    assert len(frame) == 2 * len(ENGINES)
    assert frame["time, ms: mean"][0] == "100.00"
