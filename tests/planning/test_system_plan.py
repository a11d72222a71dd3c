"""The joint plan of two reservoirs: tables, arrays, what it begins with, and what it refuses."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.errors import DeviceError, InputError
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.hydro.unit_system import US
from reservoir.io.plan_parts import PartsFolder
from reservoir.planning import parts, system_search
from reservoir.planning.checks import all_pass, system_checks
from reservoir.planning.parts import searched
from reservoir.planning.search import Method
from reservoir.planning.simulation import simulate_system
from reservoir.planning.solving import silent_stage
from reservoir.planning.stopwatch import Stopwatch
from reservoir.planning.system_plan import optimise_system
from reservoir.planning.system_search import search_system, stages_here
from reservoir.problems.system import system_problems
from reservoir.report.figures.system import spill_figure
from reservoir.report.system_folder import system_provenance
from reservoir.zoo import zoo_system

QUICK = {"solver": "lshade-sequential", "evaluations": 2000}
#: Part of an invented record that each reservoir's is.
PARTS = {"upper": 0.6, "lower": 0.3}


@pytest.fixture(scope="module")
def system(small):
    two = (replace(small, name="upper"), replace(small, name="lower"))
    return System(two, (Link("upper", "lower", travel_steps=0.25),), name="pair")


@pytest.fixture(scope="module")
def inflows(small_inflow):
    return SiteInflows(
        {name: replace(small_inflow, flow_m3s=part * small_inflow.flow_m3s) for name, part in PARTS.items()}
    )


@pytest.fixture(scope="module")
def plan(system, inflows):
    return optimise_system(system, inflows, **QUICK)


@pytest.mark.device
def test_sweeps_of_auto_are_on_a_gpu_alone(device, monkeypatch):
    monkeypatch.setattr("reservoir.opencl.devices.list_devices", lambda: [device])
    assert stages_here(None)["dpsa"] == {"CPU": "dpsa-sequential", "GPU": "dpsa"}[device.kind]
    monkeypatch.setattr("reservoir.opencl.devices.list_devices", lambda: [replace(device, kind="GPU")])
    assert stages_here("gpu") == {"slp": "slp", "dpsa": "dpsa", "lshade": "lshade"}
    monkeypatch.setattr("reservoir.opencl.why_unavailable", lambda: "no OpenCL platform is installed")
    assert stages_here(None) == {"slp": "slp", "dpsa": "dpsa-sequential", "lshade": "lshade-sequential"}


def test_a_solver_that_needs_a_device_is_replaced_where_there_is_none(monkeypatch, system, inflows):
    monkeypatch.setattr("reservoir.opencl.why_unavailable", lambda: "no OpenCL platform is installed")
    near = replace(system, links=(Link("upper", "lower"),))
    plan = optimise_system(near, inflows, solver="dp-joint", states=7, most_corridors=0)
    assert set(plan.sources) == {"dp-joint-sequential"}
    said = "no OpenCL platform is installed. dp-joint-sequential ran on all CPU cores instead of dp-joint."
    assert any(said in note for note in plan.notes)
    with pytest.raises(DeviceError):
        optimise_system(near, inflows, solver="dp-joint", device="no-such-device")


def test_no_stage_begins_behind_a_stop(monkeypatch, system, inflows):
    monkeypatch.setattr(system_search, "STAGES", ("slp", "dpsa", "slp"))
    asked = []

    def stop(state):
        asked.append(state.solver)
        return state.solver != "slp"

    plan = optimise_system(system, inflows, stop=stop)
    assert set(asked[:-1]) == {"slp"}
    assert asked[-1].startswith("dpsa")
    assert plan.inflow.years == inflows.first.years
    assert "the plan has the schedules found by then" in plan.stopped


def test_no_solver_begins_behind_a_stop_while_commitments_are_kept(system, inflows):
    committed = replace(system, reservoirs=tuple(replace(each, annual_release_hm3=1.0) for each in system.reservoirs))
    asked = []
    plan = optimise_system(
        committed, inflows, solver="dpsa-sequential", stop=lambda state: asked.append(state.solver) or True
    )
    assert asked == ["slp"]
    assert set(plan.sources) == {"slp"}


def test_the_schedule_has_a_row_for_each_step_and_reservoir(plan):
    table = plan.schedule()
    assert list(table.columns[:4]) == ["year", "month", "reservoir", "inflow_m3s"]
    assert len(table) == plan.inflow.years * 12 * 2
    lower = table[table.reservoir == "lower"]
    local = plan.inflows["lower"].flow_m3s.ravel()
    np.testing.assert_allclose(lower.inflow_m3s - lower.arriving_m3s, local, atol=1e-9)
    change = lower.storage_end_hm3 - lower.storage_start_hm3
    volume = plan.operation.hm3_per_m3s.ravel()
    np.testing.assert_allclose(change, (lower.inflow_m3s - lower.release_m3s) * volume, atol=1e-6)


def test_sums_are_those_of_the_reservoirs(plan):
    by_reservoir = plan.schedule().groupby(["year", "reservoir"]).energy_gwh.sum().unstack()
    np.testing.assert_allclose(plan.summary().energy_gwh, by_reservoir.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(plan.summary().under_way_hm3, plan.operation.under_way_hm3(plan.system.links[0]))
    assert all_pass(system_checks(plan))


def test_a_dataset_has_the_dimension_reservoir(plan):
    pytest.importorskip("xarray")
    dataset = plan.to_xarray()
    assert dataset.release_m3s.dims == ("reservoir", "year", "step")
    assert list(dataset.reservoir.values) == ["upper", "lower"]
    np.testing.assert_array_equal(dataset.system_energy_gwh, plan.energy_gwh)


def test_what_is_under_way_at_the_start_is_said(plan):
    (note,) = [plan.units.text(note) for note in plan.notes if "before the first month" in plan.units.text(note)]
    assert "The release of upper" in note
    assert f"{plan.system.links[0].before_m3s:,g}".split(".")[0] in note.replace(",", "")


def test_a_plan_is_no_worse_than_what_it_begins_with(system, inflows, plan):
    again = optimise_system(system, inflows, **QUICK, initial=plan.operation)
    assert (again.operation.benefit >= plan.operation.benefit * (1 - 1e-9)).all()


def test_a_plan_may_begin_in_a_month_with_a_storage_each(system, inflows):
    month = f"2026-{system.first_month + 3:02}"
    given = {"upper": 60.0, "lower": 70.0}
    plan = optimise_system(system, inflows, **QUICK, start=month, start_storages_hm3=given)
    for name, site in plan.sites.items():
        np.testing.assert_array_equal(site.operation.storage_hm3[:, 0], given[name])
    assert plan.inflow.steps == 9
    with pytest.raises(InputError, match="nothing is given of lower"):
        optimise_system(system, inflows, start=month, start_storages_hm3={"upper": 60.0})
    with pytest.raises(InputError, match="no reservoir of the system"):
        optimise_system(system, inflows, start=month, start_storages_hm3={"middle": 60.0})


def test_a_solver_of_one_reservoir_says_which_take_several(system, inflows):
    with pytest.raises(InputError, match=r"dp plans one reservoir.*auto.*lshade"):
        optimise_system(system, inflows, solver="dp")
    with pytest.raises(InputError, match=r"no such solver.*auto.*lshade"):
        optimise_system(system, inflows, solver="magic")
    with pytest.raises(InputError, match="no solver that auto runs has this setting"):
        optimise_system(system, inflows, particles=3)


def test_the_functions_of_one_reservoir_take_systems(system, inflows, plan):
    again = reservoir.optimise(system, inflows, **QUICK)
    assert isinstance(again, reservoir.SystemPlan)
    np.testing.assert_array_equal(again.energy_gwh, plan.energy_gwh)
    month = f"2026-{system.first_month + 3:02}"
    begun = reservoir.optimise(system, inflows, **QUICK, start=month, start_hm3={"upper": 60.0, "lower": 70.0})
    assert begun.starts["lower"].storage_hm3 == 70.0
    given = {name: site.operation.release_m3s for name, site in plan.sites.items()}
    starts = {name: float(site.operation.storage_hm3[0, 0]) for name, site in plan.sites.items()}
    simulated = reservoir.simulate(system, inflows, given, horizon="year", start_hm3=starts)
    np.testing.assert_allclose(simulated.energy_gwh, plan.energy_gwh, rtol=1e-9)
    with pytest.raises(InputError, match="engine_only"):
        reservoir.optimise(system, inflows, engine_only=True)
    with pytest.raises(InputError, match="a system and the inflow of its sites"):
        reservoir.optimise(system, inflows["upper"])


def test_a_system_of_one_has_what_it_states_itself(small):
    of_revenue = replace(small.objective, weights={"revenue": 1.0}, price_per_mwh=np.arange(12.0) + 10)
    (single,) = System((small,), objective=of_revenue, horizon=Horizon(None)).reservoirs
    assert (single.objective, single.horizon, single.first_month) == (of_revenue, Horizon(None), small.first_month)
    assert single.penalty == of_revenue.largest_per_year(small.installed_mw, 12)
    assert System.of(small).reservoir is small


def test_horizons_of_several_years_carry_storage_over(system, inflows):
    plan = optimise_system(system, inflows, **QUICK, horizon="record")
    storage = plan.operation.stacked("storage_hm3")
    np.testing.assert_array_equal(storage[1:, :, 0], storage[:-1, :, -1])
    assert plan.keeps_limits.all()


class _Sent:
    """Searches parts as workers far away do, each from bytes."""

    place = "far away"

    def search(self, problems, parts, method, progress):
        for part in parts:
            sent = pickle.loads(pickle.dumps((problems.span(part.first, part.stop), part, method)))
            yield searched(*sent, progress)


class _Idle:
    """Workers that find nothing left to search."""

    place = "far away"

    def search(self, problems, parts, method, progress):
        assert not parts
        return iter(())


@pytest.mark.parametrize("horizon", [Horizon(), Horizon(2)])
@pytest.mark.parametrize("goal", ["energy", "firm-power"])
def test_parts_come_to_what_is_searched_at_once(system, many_years, monkeypatch, tmp_path, horizon, goal):
    monkeypatch.setattr(parts, "PART_YEARS", 2)
    asked = replace(system, objective=replace(system.objective, weights={goal: 1.0}), penalty=None)
    flows = {name: replace(many_years, flow_m3s=part * many_years.flow_m3s) for name, part in PARTS.items()}
    problems = system_problems(asked, SiteInflows(flows).span(0, 7), horizon)
    method = Method("slp", 1, None, reference=False, engine_only=False, options={"most_programs": 3})
    alone = search_system(problems, method, silent_stage, Stopwatch())
    for workers in (_Sent(), _Idle()):
        with PartsFolder(tmp_path / "kept") as kept:
            found = parts.search_in_parts(problems, method, silent_stage, kept, workers)
    assert len(kept.reports) == (4 if horizon.is_year else 2)
    assert (found.sources, found.notes) == (alone.sources, alone.notes)
    for name in ("fitness", "benefit", "violation", "generations"):
        np.testing.assert_array_equal(getattr(found.solutions, name), getattr(alone.solutions, name))
    both = [each.problems.operate(each.solutions.position) for each in (alone, found)]
    np.testing.assert_array_equal(*(each.stacked("release_m3s") for each in both))
    np.testing.assert_array_equal(*(each.benefit for each in both))


def test_given_releases_are_simulated_from_upstream_to_downstream(system, inflows, plan):
    given = {name: site.operation.release_m3s for name, site in plan.sites.items()}
    starts = {name: float(site.operation.storage_hm3[0, 0]) for name, site in plan.sites.items()}
    simulated = simulate_system(system, inflows, given, horizon="year", starts_hm3=starts)
    np.testing.assert_allclose(simulated.energy_gwh, plan.energy_gwh, rtol=1e-9)
    np.testing.assert_allclose(simulated.operation.arriving_m3s[1], plan.operation.arriving_m3s[1], atol=1e-9)
    with pytest.raises(InputError, match="has no releases of lower"):
        simulate_system(system, inflows, {"upper": given["upper"]})


def test_releases_that_cannot_be_are_repaired_and_counted(system, inflows):
    most = {name: np.full((inflows.years, 12), 1e4) for name in system.names}
    simulated = simulate_system(system, inflows, most, starts_hm3=dict.fromkeys(system.names, 60.0))
    assert any("upper: the physical limits changed the given release" in note for note in simulated.notes)
    assert simulated.summary().violation.notna().all()


@pytest.mark.device
def test_auto_finishes_what_a_population_leaves_a_rounding_beside_a_limit():
    system, inflows = zoo_system(71, 1)  # the best schedule releases the least that a lake below must let out
    plan = optimise_system(system, inflows)
    assert plan.solutions.violation[0] == 0
    assert plan.solutions.fitness[0] > 20_881  # 20,866 where populations' schedules are dropped


@pytest.mark.device
def test_the_objective_decides_where_limits_cannot_be_kept():
    plan = optimise_system(*zoo_system(23, 1))
    assert plan.solutions.violation[0] > 0.1
    assert plan.solutions.fitness[0] > 15_690  # 15,011 of the schedule that violates least


@pytest.mark.parametrize("horizon", [Horizon(), Horizon(2), Horizon(None)])
def test_each_horizon_has_a_firm_power_of_its_own(system, inflows, horizon):
    firm = replace(system, objective=replace(system.objective, weights={"firm-power": 1.0}), penalty=None)
    plan = optimise_system(firm, inflows, solver="slp", horizon=horizon)
    assert len(plan.firm_power_mw) == len(plan.problems)
    power = plan.operation.power_mw.min(axis=1)
    of_problems = [power[plan.problems.of_year == place].min() for place in range(len(plan.problems))]
    np.testing.assert_allclose(plan.firm_power_mw, of_problems)
    np.testing.assert_array_equal(plan.summary().firm_power_mw, plan.firm_power_mw[plan.problems.of_year])
    energetic = optimise_system(system, inflows, solver="slp", horizon=horizon)
    assert (plan.firm_power_mw > energetic.firm_power_mw).all()
    targets = np.concatenate([batch.power_target_mw[:, 0] for batch in plan.problems.batches])
    np.testing.assert_allclose(plan.firm_power_mw, targets, rtol=1e-4)
    assert plan.violation.max() == 0


def test_a_figure_that_fails_is_told_and_left_out_of_a_saved_joint_plan(plan, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ValueError("nothing to draw")

    monkeypatch.setenv("RESERVOIR_THREADS", "2")
    monkeypatch.setattr("reservoir.report.figures.system.energy_figure", fail)
    with pytest.warns(UserWarning, match="figure energy-by-month is left out, for it could not be drawn"):
        folder = plan.save(tmp_path / "plan")
    drawn = {path.stem for path in (folder / "figures").iterdir()}
    assert {"system", "storage-fans"} <= drawn
    assert "energy-by-month" not in drawn


def test_traces_of_spill_that_rounding_leaves_are_not_drawn(plan, monkeypatch):
    spill = {"upper": 7.0, "lower": 4e-11}
    monkeypatch.setattr(
        "reservoir.report.figures.system._monthly", lambda site, _: np.full(12, spill[site.reservoir.name])
    )
    upper, lower = spill_figure(plan).axes[:2]
    assert upper.patches[0].get_height() == 7.0
    assert lower.patches[0].get_height() == 0.0
    assert lower.get_ylim() == (0.0, 1.0)


def test_a_year_that_cannot_keep_its_limits_is_a_finding_and_no_failed_check(system, inflows):
    thirsty = replace(system.reservoirs[1], release_lower_m3s=np.full(12, 40.0))
    wetter = np.array([[0.0], [15.0], [15.0]])
    flows = {name: replace(each, flow_m3s=each.flow_m3s + wetter) for name, each in inflows.items()}
    system = replace(system, reservoirs=(system.reservoirs[0], thirsty))
    plan = optimise_system(system, SiteInflows(flows), solver="slp")
    label = str(plan.inflow.labels[0])
    assert list(plan.infeasible) == [label]
    assert plan.impossible_problems.tolist() == [True, False, False]
    told = [note for note in map(US.text, plan.notes) if "missed" in note or "Fix: lower" in note]
    assert told[0].startswith(f"Proven: no schedule keeps the limits of 1 year: {label}; at least ")
    assert "acre-ft are missed, all steps together, for example so:" in told[0]
    assert any("lower lacks" in note and "Fix: lower release.lower_m3s of lower, or check" in note for note in told)
    checks = system_checks(plan)
    assert all_pass(checks)
    assert (checks[-2].check, checks[-2].value) == (
        "storage outside its limits: sum of relative violations in 2 years that can keep them",
        0.0,
    )
    assert (checks[-1].check, checks[-1].value) == ("years with limits that no schedule can keep", 1)
    provenance = system_provenance(plan, checks)["infeasible"][label]
    assert sum(each["missed_hm3"] for each in provenance["misses"]) == pytest.approx(provenance["least_missed_hm3"])
    assert {"reservoir": "lower", "limit": "minimum release"}.items() <= provenance["misses"][0].items()


def test_years_that_keep_their_limits_have_no_finding(plan):
    assert plan.keeps_limits.all()
    assert plan.infeasible == {}
    assert not plan.impossible_problems.any()
