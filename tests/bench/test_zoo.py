"""All solvers on random reservoirs: tiny runs, and findings and claims of made-up ones."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from reservoir.bench import zoo
from reservoir.bench.experiment import RunBudget
from reservoir.bench.runs import Journal
from reservoir.bench.zoo import ZooStudy, classes_of, short_gap, violates
from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.solvers import RESERVOIR_SOLVERS
from reservoir.zoo import Part, zoo_case

FAST = "lshade,clpso-sequential,dp-opencl"
TINY: dict[str, Any] = {"solvers": FAST, "reservoirs": 2, "years": 2, "host_reservoirs": 1, "host_years": 1}


@pytest.fixture(scope="module")
def record():
    return zoo.run(budget=RunBudget(runs=1, quick=True), part="tuning", **TINY)


@pytest.mark.device
def test_each_solver_is_compared_with_dp_on_the_years_that_it_is_given(record):
    years = record.data["years"]
    assert dict(years.groupby("solver").size()) == {"lshade": 4, "clpso-sequential": 1, "dp-opencl": 4}
    assert years["feasible"].all()
    assert (years["violation"] == 0).all()
    assert years["gap"].abs().max() < 0.05
    assert years[years["solver"] == "dp-opencl"]["gap"].abs().max() < 1e-6
    assert years["plan_gap"].max() <= 2e-4
    own = years[years["source"] == "first run"]
    assert (own["plan_gap"] == own["gap"]).all()
    calls = record.data["calls"]
    assert list(calls["solver"][:2]) == ["dp", "lshade"]
    assert (calls["refused"] == "").all()
    assert calls["seconds"].gt(0).all()


@pytest.mark.device
def test_the_result_has_tables_figures_and_no_claim_of_a_quick_trial(record):
    assert [table.title for table in record.tables][:3] == ["By solver", "Plans", "By kind of reservoir"]
    assert set(record.figures) == set(record.captions) == {"gaps", "kinds"}
    assert record.checks == ()
    assert set(record.headlines) == set(FAST.split(","))
    assert record.origin["parts"] == ["tuning"]
    drawn = record.data["reservoirs"]
    assert list(drawn["storage_ratio"]) == [zoo_case(number, 1).traits.storage_ratio for number in range(2)]


def test_an_interrupted_experiment_solves_only_the_reservoirs_that_are_missing(device, tmp_path, monkeypatch):
    asked = {**TINY, "solvers": "lshade", "part": "tuning", "budget": RunBudget(runs=2, quick=True)}
    whole = zoo.run(**asked)

    def kept():
        return {"budget": RunBudget(runs=2, quick=True, journal=Journal.beside(tmp_path / "x"))}

    made, solved = [], ZooStudy._row

    def interrupted(study, place):
        made.append(place[1])
        if len(made) == 2:
            raise KeyboardInterrupt
        return solved(study, place)

    monkeypatch.setattr(ZooStudy, "_row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        zoo.run(**asked | kept())
    again = zoo.run(**asked | kept())
    assert made == [0, 1, 1]
    pd.testing.assert_frame_equal(whole.data["years"], again.data["years"])
    pd.testing.assert_frame_equal(whole.data["reservoirs"], again.data["reservoirs"])
    assert list(dict.fromkeys(whole.data["years"]["seed"])) == [1, 2]
    monkeypatch.undo()
    at_once = zoo.run(jobs=2, **asked)
    pd.testing.assert_frame_equal(whole.data["years"], at_once.data["years"])
    assert at_once.origin["jobs"] == 2
    assert any("2 reservoirs at a time" in each for each in at_once.warnings)


def test_a_refused_reservoir_is_listed_and_does_not_end_the_experiment(device, monkeypatch):
    solve = ZooStudy.solve

    def too_small(self, problems, solver, **asked):
        if solver == "lshade":
            raise DeviceError(Mistake("the device is too small"))
        return solve(self, problems, solver, **asked)

    monkeypatch.setattr(ZooStudy, "solve", too_small)
    asked = {**TINY, "solvers": "lshade,dp-opencl", "reservoirs": 1, "part": "tuning"}
    found = zoo.run(budget=RunBudget(1, quick=True), **asked)
    assert list(found.tables[-1].frame["solver"]) == ["lshade"]
    assert "too small" in found.tables[-1].frame["refused"].iloc[0]
    assert "lshade" not in set(found.data["years"]["solver"])


def test_all_usable_solvers_run_by_default_and_unknown_ones_are_refused():
    assert set(zoo.usable_solvers(None)) <= RESERVOIR_SOLVERS.keys() - {"dp"}
    assert zoo.usable_solvers("CLPSO, lshade") == ("clpso", "lshade")
    with pytest.raises(InputError, match=r"no such solver.*lshade"):
        zoo.usable_solvers("dance")


def made_up(gaps: dict[str, list[float]], **columns: Any) -> dict[str, pd.DataFrame]:
    """A reservoir of each part, with years of these gaps."""
    parts = [part.name.lower() for part in Part]
    traits = {"regime": "arid", "year_end": "free", "start": "near full", "storage_ratio": 0.1, "head_share": 0.35}
    traits |= {"capacity_ratio": 2.0, "least_release_share": 0.0, "flood_share": 0.1, "evaporation_mm": 0.0}
    traits |= {"persistence": 0.0}
    usual = {"feasible": True, "violation": 0.0, "reference_violation": 0.0, "source": "first run"} | columns
    usual = {"plan_violation": usual["violation"], "plan_gap": 0.0} | usual
    years = [
        {"part": part, "number": 0, "solver": solver, "gap": gap} | usual
        for part in parts
        for solver, each in gaps.items()
        for gap in each
    ]
    calls = [
        {"part": part, "number": 0, "solver": solver, "years": len(each), "refused": ""}
        | {"seconds": 3.0, "device_seconds": 1.0 if RESERVOIR_SOLVERS[solver].opencl else np.nan}
        for part in parts
        for solver, each in gaps.items()
    ]
    places = [{"part": part, "number": 0} | traits for part in parts]
    return {"reservoirs": pd.DataFrame(places), "calls": pd.DataFrame(calls), "years": pd.DataFrame(years)}


def findings(gaps: dict[str, list[float]], **columns: Any) -> ZooStudy:
    sizes = {"reservoirs": 1, "years": 4, "host_reservoirs": 1, "host_years": 4}
    asked: dict[str, Any] = {"parts": tuple(Part), "solvers": tuple(gaps), "device": None, **sizes}
    return ZooStudy(budget=RunBudget(1), data=made_up(gaps, **columns), **asked)


def test_shares_are_of_the_years_beyond_a_gap():
    found = findings({"lshade": [0.0, 2e-5, 2e-3, -1e-6], "dsmga2": [2e-2, 0.0, 0.0, 0.0]})
    rows = found.by_solver().set_index(["solver", "part"])
    mine = rows.loc["lshade", "test"]
    assert [mine[f"beyond {short_gap(gap)}"] for gap in (1e-5, 1e-4, 1e-3, 1e-2)] == [0.5, 0.25, 0.25, 0.0]
    assert mine["worst gap"] == 2e-3
    assert mine["better than dp"] == 1e-6
    assert (mine["seconds a year"], mine["seconds to compile"]) == (0.25, 2.0)
    assert rows.loc["dsmga2", "tuning"]["seconds a year"] == 0.75
    kinds = found.by_kind().set_index(["kind", "class"])
    assert kinds.loc["inflow", "arid"]["lshade"] == 0.25
    worst = found.worst()
    assert list(worst["solver"]) == ["lshade", "lshade", "dsmga2", "dsmga2"]
    assert list(worst["worst gap"]) == [2e-3, 2e-3, 2e-2, 2e-2]


def test_claims_fail_where_a_solver_is_too_far_from_dp_or_violates():
    good = {"lshade": [0.0, 5e-4, 0.0, 0.0], "dp-opencl": [0.0, 1e-7, 0.0, 0.0], "clpso": [0.5, 0.0, 0.0, 0.0]}

    def failed(found: ZooStudy) -> list[str]:
        return [check.check for check in found.claims() if not check.passed]

    assert failed(findings(good)) == []
    assert failed(findings(good | {"lshade": [2e-3, 0.0, 0.0, 0.0]})) == [
        "tuning part: lshade: share of years beyond 1e-3",
        "test part: lshade: share of years beyond 1e-3",
    ]
    assert len(failed(findings(good | {"lshade": [2e-2, 0.0, 0.0, 0.0]}))) == 4
    assert len(failed(findings(good | {"dp-opencl": [2e-6, 0.0, 0.0, 0.0]}))) == 2
    assert len(failed(findings(good | {"dp-opencl": [-2e-6, 0.0, 0.0, 0.0]}))) == 2
    assert len(failed(findings(good, violation=1e-3, plan_violation=0.0))) == 6
    assert failed(findings(good, plan_gap=3e-4)) == [
        "tuning part: plans by all solvers, worst gap to dp",
        "test part: plans by all solvers, worst gap to dp",
    ]
    assert len(failed(findings(good, plan_violation=1e-3))) == 2
    assert len(failed(findings(good | {"lshade": [0.0, np.nan, 0.0, 0.0]}))) == 4
    assert len(failed(findings(good | {"dp-opencl": [0.0, np.nan, 0.0, 0.0]}))) == 2
    assert len(failed(findings(good, violation=np.nan, plan_violation=0.0))) == 6
    assert len(failed(findings(good, plan_gap=np.nan))) == 2


def test_years_of_plans_are_counted_by_their_source():
    rows = findings({"clpso": [0.5, 0.0]}, source="reference", plan_gap=1e-5).plans().set_index("part")
    assert list(rows.loc["test", ["first run", "second run", "reference"]]) == [0, 0, 1]
    assert rows.loc["test", "worst gap"] == 1e-5


def test_infeasible_years_are_judged_by_their_violation():
    found = findings({"lshade": [9.0, 9.0]}, feasible=False, violation=1.0, reference_violation=1.0)
    assert not violates(found.data["years"]).any()
    row = found.by_solver().iloc[0]
    assert (row["years"], row["infeasible years"], row["of them worse"]) == (0, 2, 0)
    assert np.isnan(row["beyond 1e-3"])
    worse = findings({"lshade": [0.0]}, feasible=False, violation=1.01, reference_violation=1.0)
    assert worse.by_solver().iloc[0]["of them worse"] == 1


def test_every_reservoir_belongs_to_one_class_of_each_kind():
    drawn = [zoo_case(number, 1).traits for number in range(60)]
    frame = pd.DataFrame([{name: getattr(each, name) for name in each.__dataclass_fields__} for each in drawn])
    belongs = pd.DataFrame(
        [{"kind": kind, "class": name, "count": chosen.sum()} for kind, name, chosen in classes_of(frame)]
    )
    assert (belongs.groupby("kind")["count"].sum() == 60).all()
    assert len(set(belongs["kind"])) == 10
    assert not belongs.duplicated(["kind", "class"]).any()
