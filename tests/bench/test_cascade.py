"""Joint plans against known answers: instances as they are stated elsewhere, a tiny run, and claims that can fail."""

from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text

from reservoir.bench import cascade
from reservoir.bench.cascade import CascadeStudy, _gaps, _refused
from reservoir.bench.cascade_systems import lancang, linear_optimum, linear_system
from reservoir.bench.experiment import RunBudget, bundled
from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon
from reservoir.planning.checks import all_pass
from reservoir.planning.system_plan import optimise_system
from reservoir.problems.system import system_problems
from reservoir.report.figures.style import sheet_figure
from reservoir.zoo import Part

OPTIMA = {"larson": 401.3, "chow": 308.2915, "ten": 1200.23078}


@pytest.mark.parametrize("name", OPTIMA)
def test_linear_programs_have_the_published_optima(name):
    assert linear_optimum(name) == pytest.approx(OPTIMA[name], rel=1e-9)
    assert bundled("cascade")["linear"][name]["data"]["optimum"] == OPTIMA[name]


@pytest.mark.parametrize("name", OPTIMA)
def test_the_program_finds_the_same_optima_of_its_systems(name):
    plan = optimise_system(*linear_system(name), solver="slp")
    assert plan.solutions.violation[0] == 0
    assert plan.solutions.fitness[0] == pytest.approx(OPTIMA[name], rel=1e-10)


def test_all_states_of_larsons_reservoirs_give_its_optimum():
    settings = bundled("cascade")["linear"]["larson"]["settings"]["dp-joint"]
    plan = optimise_system(*linear_system("larson"), solver="dp-joint", **settings)
    assert plan.solutions.fitness[0] == pytest.approx(401.3, rel=1e-10)


def test_pypsa_finds_them_too():
    pytest.importorskip("pypsa")
    from reservoir.bench.cascade_systems import pypsa_optimum

    for name, optimum in OPTIMA.items():
        assert pypsa_optimum(name) == pytest.approx(optimum, rel=1e-9)


def test_the_dams_of_the_lancang_are_the_bundled_ones_in_a_year():
    system, inflows = lancang("lancang-3", 1976, backwater=True)
    assert system.names == ("xiaowan", "manwan", "nuozhadu")
    assert all(link.backwater for link in system.links)
    assert [str(label) for label in inflows.labels] == ["1976"]
    assert not any(link.backwater for link in lancang("lancang-3")[0].links)
    assert system_problems(system, inflows, Horizon()).batches[0].dimension == 33


ASKED: dict[str, Any] = {
    "part": "tuning",
    "solvers": "auto,slp,dp-joint",
    "systems": 1,
    "sets": "linear,lancang,random",
}
STRONGEST = "lshade-sequential x1"


@pytest.fixture(scope="module")
def record(device):
    return cascade.run(budget=RunBudget(runs=1, quick=True), peers=True, **ASKED)


@pytest.mark.device
def test_a_tiny_run_has_a_row_for_each_call(record):
    calls = record.data["calls"]
    whole = calls[calls["status"] == ""]
    assert set(whole[whole["set"] == "linear"]["solver"]) >= {"linear program", "auto", "slp"}
    assert set(whole[whole["set"] == "lancang"]["instance"]) == {"lancang-2 1954"}
    assert set(whole[whole["set"] == "random"]["solver"]) == {"auto", "slp", STRONGEST, f"{STRONGEST}, then slp"}
    assert "scipy differential_evolution" in set(whole[whole["set"] == "lancang"]["solver"])
    refused = calls[calls["status"] != ""].set_index("solver")["status"]
    assert "its grid grows" in refused["dp-joint"]
    assert "look at no other step" in refused["pywr"]
    assert all_pass(record.checks)
    assert [table.title for table in record.tables][:2] == ["Linear instances", "Dams of the Lancang, single years"]
    assert set(record.figures) == set(record.captions) == {"gaps"}
    assert set(record.headlines) == {"linear", "lancang", "random"}


def test_what_is_refused_is_told_once_of_many_instances():
    calls = pd.DataFrame(
        {
            "set": ["random"] * 4,
            "instance": ["tuning 0", "tuning 1", "tuning 1", "tuning 1"],
            "solver": ["dp-joint", "dp-joint", "slp", "dpsa"],
            "status": ["too large", "too large", "", "not here"],
        }
    )
    told = _refused(calls).to_dict("list")
    assert told["instance"] == ["2 instances", "tuning 1"]
    assert told["status"] == ["too large", "not here"]


@pytest.mark.device
def test_the_figure_names_solvers_of_its_panels_alone(record):
    calls = pd.concat([record.data["calls"].assign(gap=0.0), pd.DataFrame([{"set": "rules", "solver": "joint table"}])])
    figure = sheet_figure(3.4, (), lambda sheet: _gaps(sheet, calls, ["linear", "lancang"]))
    named = {text.get_text() for text in figure.findobj(Text)}
    assert {"auto", "slp", "linear program"} <= named
    assert not {STRONGEST, "joint table"} & named


@pytest.mark.device
def test_rules_are_held_to_the_joint_table_of_two_reservoirs(device):
    told = list[tuple[str, float, int]]()
    budget = RunBudget(runs=1, quick=True, progress=lambda *stage: told.append(stage))
    record = cascade.run(budget=budget, sets="rules", solvers="slp")
    calls = record.data["calls"].set_index(["instance", "solver"])
    assert list(calls.index.unique("solver")) == ["separable", "joint table", "each for itself"]
    assert (calls["seconds"] > 0.01).all()  # the joint table begins with values that are counted to the separable ones
    ends = {stage: (done, total) for stage, done, total in told}
    assert {"make joint table", "fit separable", "bound all rules"} < set(ends)
    assert all(done == total for done, total in ends.values())
    assert len([stage for stage, *_ in told if stage == "make joint table"]) > 3 * 12
    members = [f"lancang-2, 2 members, {said}" for said in ("bound of all rules", "foresight")]
    assert list(calls.index.unique("instance")) == ["lancang-2, training", "lancang-2, held-out", *members]
    assert (calls["value"] < calls["known"]).all()
    assert (calls["value"] > 0.9 * calls["known"]).all()
    assert record.headlines["rules"].startswith("separable ")
    (table,) = record.tables
    assert table.title == "Rules of two dams of the Lancang"


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [("sets", "rivers", "no such set"), ("solvers", "dp-opencl", "takes several reservoirs")],
)
def test_what_there_is_not_is_refused(device, option, value, problem):
    with pytest.raises(InputError, match=problem):
        cascade.run(budget=RunBudget(runs=1, quick=True), **{option: value})


def call(of_set: str, instance: str, solver: str, value: float, **more: Any) -> dict[str, Any]:
    row = {"set": of_set, "instance": instance, "reservoirs": 2, "solver": solver, "seed": 1, "value": value}
    return row | {"violation": 0.0, "seconds": 1.0, "known": None, "bound": None, "status": ""} | more


def claims(device, *calls: dict[str, Any]) -> dict[str, bool]:
    asked = {"sets": cascade.SETS, "parts": (Part.TUNING,), "systems": 1, "solvers": ("auto",)}
    data = {"calls": pd.DataFrame(calls)}
    study = CascadeStudy(budget=RunBudget(), device=device, data=data, **asked)
    return {check.check: bool(check.passed) for check in study.acceptance()}


GOOD = [
    call("linear", "chow", "lshade, then slp", 308.2915, known=308.2915),
    call("linear", "larson", "dp-joint", 401.3, known=401.3, seconds=0.9),
    call("lancang", "lancang-2 1954", "auto", 1000.0, known=1000.0, bound=1000.0005),
    call("horizons", "lancang-5, 62 years", "auto", 4473234.0, known=4473233.0, bound=4475140.0),
    call("random", "tuning 0", "auto", 100.0),
    call("random", "tuning 0", "slp", 99.0),
    call("rules", "lancang-2, held-out", "joint table", 98.2, known=100.0),
    call("rules", "lancang-2, held-out", "separable", 98.0, known=100.0),
]


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, {"value": 308.29}),
        (1, {"seconds": 1.1}),
        (2, {"value": 999.99}),
        (2, {"value": 1000.1}),
        (3, {"value": 4473000.0}),
        (3, {"seconds": 91.0}),
        (4, {"value": 98.0}),
        (4, {"violation": 0.1}),
        (7, {"value": 97.89}),
    ],
)
def test_what_falls_short_fails_a_claim(two_cores, place, change):
    assert all(claims(two_cores, *GOOD).values())
    worse = [each | change if number == place else each for number, each in enumerate(GOOD)]
    assert sum(not passed for passed in claims(two_cores, *worse).values()) == 1


def test_where_no_call_keeps_the_limits_the_objective_counts(two_cores):
    violations = {"auto": 0.2, "slp": 0.1}
    missed = [each | {"violation": violations[each["solver"]]} if each["set"] == "random" else each for each in GOOD]
    assert all(claims(two_cores, *missed).values())
