"""A session of changes plans what the reader makes of them, and builds and fits nothing on the way."""

from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import reservoir
from reservoir import Inflow, Reservoir, SiteInflows, System
from reservoir.errors import InputError
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.curves import approximation
from reservoir.opencl import program
from reservoir.page.session import PlanningSession
from reservoir.planning.checks import all_pass, plan_checks, system_checks
from reservoir.zoo import zoo_case
from tests.golden.lake import LAKES, write_files

pytestmark = pytest.mark.device
CHANGES = 200
LANCANG = Path(reservoir.__file__).parents[1] / "data/lancang"


@pytest.fixture
def work(monkeypatch) -> Counter[str]:
    """How often a kernel is built and a form is fitted."""
    counts = Counter[str]()

    def counted(name, called, *given):
        counts[name] += 1
        return called(*given)

    for module, name in ((program, "file_of_program"), (approximation, "_fit")):
        monkeypatch.setattr(module, name, partial(counted, name, getattr(module, name)))
    return counts


def lake_changes(number: int, kind: int | None = None) -> dict[str, object]:
    """Keys of the small lake, others each time: of kinds that need no other kernels, or of the one asked for."""
    part = ((number * 0.618) % 1 + 1) / 2
    upper = [120.0] * 12
    upper[number % 11] *= part
    return (
        {"storage.upper_hm3": upper, "storage.initial_hm3": 60},
        {"storage.dead_hm3": 15 + 10 * part},
        {"storage.initial_hm3": 110 * part, "storage.final_hm3": 100 * part},
        {"release.lower_m3s": 6 * part - 2.9},
        {"plant.installed_capacity_mw": 30 * part},
        {"plant.hydraulic_capacity_m3s": 45 * part},
        {"plant.power_lower_mw": 6 * part},
        {"objective.goal": "revenue", "objective.price_per_mwh": [50 * part] * 6 + [30] * 6},
    )[number % 6 if kind is None else kind]


@pytest.mark.parametrize(
    ("step", "horizon", "solver"),
    [("month", None, "lshade"), ("month", "record", "dp-opencl"), ("ten-days", None, "dp-opencl")],
)
def test_what_has_more_steps_than_a_year_of_months_is_planned_by_dynamic_programming(step, horizon, solver):
    case = reservoir.bundled_case()
    base = replace(case.reservoir(), step=TimeStep(step))
    assert PlanningSession(base, case.inflow(), horizon=horizon).solver == solver


def test_two_hundred_changes_build_no_kernel_and_fit_no_curve(tmp_path, device, work):
    write_files(tmp_path)
    (tmp_path / "lake.toml").write_text(LAKES["plain"])
    base, inflow = reservoir.read_reservoir(tmp_path / "lake.toml"), reservoir.read_inflow(tmp_path / "record-6.csv")
    session = PlanningSession(base, inflow, device=str(device.index), evaluations=300)
    session.prepare()
    assert work["file_of_program"] > 0
    work.clear()
    contexts = set()
    for number in range(CHANGES):
        plan = (session.preview if number % 25 else session.plan)(lake_changes(number))
        contexts.add(plan.problems.batches[0].kernel_contexts().tobytes())
    assert not work
    assert len(contexts) > CHANGES / 2, "the changes reach the kernels"


def test_prepared_are_kernels_for_the_kinds_of_examples(tmp_path, device, work):
    write_files(tmp_path)
    (tmp_path / "lake.toml").write_text(LAKES["plain"])
    base, inflow = reservoir.read_reservoir(tmp_path / "lake.toml"), reservoir.read_inflow(tmp_path / "record-6.csv")
    session = PlanningSession(base, inflow, device=str(device.index), evaluations=300, reference=False)
    session.prepare(lake_changes(1, kind=6), lake_changes(1, kind=7))
    work.clear()
    for kind in (6, 7):
        session.plan({**lake_changes(2, kind), "release.lower_m3s": 1.0})
    assert not work


def bundled() -> tuple[Reservoir, Inflow]:
    case = reservoir.bundled_case()
    return case.reservoir(), case.inflow().span(0, 6)


def zoo() -> tuple[Reservoir, Inflow]:
    case = zoo_case(3, 6)
    return case.reservoir, case.inflow


@pytest.mark.parametrize("case", [bundled, zoo])
def test_a_preview_has_the_energy_of_the_full_plan(case, device):
    base, inflow = case()
    session = PlanningSession(base, inflow, device=str(device.index))
    upper = base.storage_upper_hm3 * np.linspace(0.97, 1, 12)
    for changes in ({"storage.upper_hm3": upper.tolist()}, {"plant.installed_capacity_mw": 0.8 * base.installed_mw}):
        preview, full = session.preview(changes), session.plan(changes)
        assert session.latest is full
        assert all_pass(plan_checks(full))
        kept = full.keeps_limits
        assert preview.energy_gwh[kept].sum() == pytest.approx(full.energy_gwh[kept].sum(), rel=1e-6)


SHORT = {"objective.goal": "supply-shortage", "objective.supply_target_m3s": 700, "objective.penalty_gwh": None}
GOALS = [{"objective.goal": "energy"}, {"plant.power_lower_mw": 300}, {"objective.goal": "firm-power"}, SHORT]


@pytest.mark.parametrize("goal", GOALS)
def test_a_plan_is_that_without_the_preview_before_it_whose_search_it_has(goal, device):
    base, inflow = bundled()
    goal = {**goal, "storage.initial_hm3": 12000}
    how, told = {"device": str(device.index), "evaluations": 3000}, list[str]()
    session, fresh = PlanningSession(base, inflow, **how), PlanningSession(base, inflow, **how).plan(goal)
    session.preview(goal)
    plan = session.plan(goal, progress=lambda stage, *_: told.append(stage))
    assert ("lshade" in told) == (goal.get("objective.goal") in ("firm-power", "supply-shortage"))
    for name in ("position", "fitness", "violation", "generations", "evaluations"):
        both = (np.concatenate([*map(np.ravel, getattr(each.solutions, name))]) for each in (plan, fresh))
        assert next(both).tobytes() == next(both).tobytes()
    assert plan.references.fitness.tobytes() == fresh.references.fitness.tobytes()
    assert (plan.notes, [*plan.source]) == (fresh.notes, [*fresh.source])
    told.clear()
    for changes, more in (({**goal, "storage.final_hm3": 11000}, {}), (goal, {"seed": 2})):
        session.preview(goal)
        session.plan(changes, **more, progress=lambda stage, *_: told.append(stage))
        assert "lshade" in told


def test_kept_forms_give_the_energy_of_fresh_ones(device):
    base, inflow = bundled()
    session = PlanningSession(base, inflow, device=str(device.index))
    kept = session.preview({"release.lower_m3s": 120})
    fresh = reservoir.optimise(kept.reservoir, inflow, solver="lshade", reference=False, device=str(device.index))
    assert repr(kept.problems.model.fine) != repr(fresh.problems.model.fine)
    assert kept.energy_gwh.sum() == pytest.approx(fresh.energy_gwh.sum(), rel=1e-6)


def test_a_record_is_previewed_on_a_coarse_grid(device):
    case = reservoir.bundled_case()
    session = PlanningSession(case.reservoir(), case.inflow().span(0, 4), horizon="record", device=str(device.index))
    preview, full = session.preview({}), session.plan({})
    assert preview.settings["most_states"] == 101 != full.settings["most_states"]
    assert preview.energy_gwh.sum() == pytest.approx(full.energy_gwh.sum(), rel=1e-6)


def test_refused_changes_leave_the_last_plan(device):
    case = reservoir.bundled_case()
    session = PlanningSession(case.reservoir(), case.inflow().span(0, 2), device=str(device.index), evaluations=500)
    good = session.preview({"plant.installed_capacity_mw": 4000})
    for refused in ({"storage.dead_hm3": 20000}, {"plant.installed_capacity_mw": "many"}, {"pond": 1}):
        with pytest.raises(InputError, match=r"reservoir\.toml.*" + next(iter(refused))):
            session.preview(refused)
        assert session.latest is good


REVENUE = {"objective.goal": "revenue", "objective.price_per_mwh": [20] * 6 + [40] * 6}


def river(years: int = 3) -> tuple[System, SiteInflows]:
    system = reservoir.read_system(LANCANG / "system-2.toml")
    return system, reservoir.read_system_inflow(system, LANCANG / "inflow-2.csv").span(0, years)


def test_changes_of_a_system_plan_it_again_from_the_schedules_of_the_base(monkeypatch):
    (system, inflows), signatures, told = river(), [], []
    session, compiled = PlanningSession(system, inflows), Dispatcher.compile
    session.prepare(REVENUE)
    upper = {"xiaowan:storage.upper_hm3": [14557] * 5 + [13000] * 4 + [14557] * 3}
    every = (
        upper,
        {"xiaowan:plant.installed_capacity_mw": 3300, "nuozhadu:release.lower_m3s": 900},
        {**REVENUE, "objective.price_per_mwh": [25] * 6 + [50] * 6},
    )
    with monkeypatch.context() as watched:
        watched.setattr(Dispatcher, "compile", lambda own, given: signatures.append(own) or compiled(own, given))
        previews = [session.preview(changes) for changes in every]
        plans = [session.plan(changes, progress=lambda *each: told.append(each)) for changes in every]
        assert session.latest is plans[-1]
        again = session.plan(upper)
    assert not signatures, "all that a session of changes compiles is compiled before"
    assert again.energy_gwh.tobytes() == plans[0].energy_gwh.tobytes()
    assert told[0][1:] == (0, 3)
    for changes, preview, plan in zip(every, previews, plans, strict=True):
        assert all_pass(system_checks(plan))
        assert preview.solutions.generations.max() < plan.solutions.generations.max()
        best = reservoir.optimise_system(session.keys.changed(changes), inflows, solver="dpsa-sequential")
        for found, close in ((plan, 1e-6), (preview, 1e-4)):
            assert found.solutions.fitness.sum() == pytest.approx(best.solutions.fitness.sum(), rel=close)


def test_refused_changes_of_a_system_leave_the_last_plan():
    session = PlanningSession(*river(1))
    good = session.preview({})
    for key, value in {"xiaowan:storage.dead_hm3": 20000, "objective.goal": "fame", "pond:x": 1}.items():
        with pytest.raises(InputError) as refused:
            session.plan({key: value})
        assert key in {each.column for each in refused.value.mistakes}
        assert session.latest is good
