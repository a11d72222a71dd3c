"""Dynamic programming of systems, a reservoir at a time: never worse than where it begins, exact where it should be."""

import re
from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.elementwise import mean
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.system import Carried, Link
from reservoir.solvers import solve
from reservoir.solvers.dpsa.engine import DpsaSettings, sweep
from reservoir.solvers.dpsa.handed_on import Neighbours
from reservoir.solvers.dpsa.on_device import DeviceDpsaEngine, DeviceDpsaSettings
from reservoir.solvers.system_engine import Schedules
from tests.solvers.systems import best_of_random, problems_of_system, random_links, system_years

CHAIN = [Link("a", "b")]
ROUGH = {"states": 21, "most_sweeps": 12}


@pytest.mark.parametrize("end", list(YearEnd))
def test_every_year_end_comes_close_from_the_middle_and_gains_from_linear_programs(small, end):
    batch = system_years(small, CHAIN, "ab", end)
    linear, found = solve(batch, solver="slp").fitness, solve(batch, solver="dpsa-sequential", **ROUGH)
    assert (found.fitness >= linear).all()
    assert (found.violation == 0).all()
    alone = Schedules.begun(batch)
    sweep(alone, DpsaSettings(window=1.0, threads=1), lambda left: None)
    np.testing.assert_allclose(
        alone.fitness, found.fitness, rtol=3e-2
    )  # alone it stops where no reservoir gains by itself


@pytest.mark.parametrize(
    "links",
    [
        [Link("a", "b", lost_share=0.1)],
        [Link("a", "b", travel_steps=1.0)],
        [Link("a", "b", carries=Carried.TURBINED)],
        [Link("a", "b", carries=Carried.SPILLED)],
        [Link("a", "b", carries=0.5)],
        [Link("a", "b", backwater=True)],
    ],
    ids=["losses", "delay", "turbined", "spilled", "share", "backwater"],
)
def test_what_a_reservoir_does_to_others_is_what_operation_says(small, links):
    batch = system_years(small, links, "ab", years=1)
    schedule = batch.operate(np.full((1, batch.dimension), 0.5))
    around, storages = Neighbours.of(batch, schedule), schedule.stacked("storage_hm3").copy()
    worth = around.worth_of(0, np.array([0.5]), 41)
    storages[:, 0, 5] += 1.0
    moved = batch.operate_storages(storages)
    expected = (moved.of_reservoirs[1].benefit - schedule.of_reservoirs[1].benefit)[0]
    own, before = moved.of_reservoirs[0], schedule.of_reservoirs[0]
    if links[0].backwater:
        worth = around.worth_of(1, np.array([0.5]), 41)
        storages = schedule.stacked("storage_hm3").copy()
        storages[:, 1, 5] += 1.0
        moved = batch.operate_storages(storages)
        expected = (moved.of_reservoirs[0].benefit - before.benefit)[0]
        own = moved.of_reservoirs[1]
    told = 0.0
    of_kind = own.release_m3s, own.turbined_m3s, own.spill_m3s, mean(own.storage_hm3[:, :-1], own.storage_hm3[:, 1:])
    for kind in np.flatnonzero(worth.kinds):
        for step in (4, 5):
            points = worth.first[0, kind, step] + np.arange(41) / worth.per_unit[0, kind, step]
            told += np.interp(of_kind[kind][0, step], points, worth.worth[0, kind, step])
    assert told == pytest.approx(expected, rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_random_systems_are_no_worse_than_by_linear_programs(small, seed):
    rng = np.random.default_rng(seed + 10)
    names = "abcde"[: rng.integers(2, 6)]
    batch = system_years(small, random_links(names, rng), names)
    found = solve(batch, solver="dpsa-sequential", **ROUGH)
    assert (found.fitness >= solve(batch, solver="slp").fitness).all()
    assert (found.fitness > best_of_random(batch, seed, 40)).all()


def test_a_shortage_of_the_sum_counts_at_the_margin(small):
    shortage = Objective({Goal.POWER_SHORTAGE: 1.0}, power_target_mw=np.full(12, 45.0))
    batch = system_years(small, CHAIN, "ab", objective=shortage)
    begun = Schedules.begun(batch)
    before = begun.fitness.copy()
    sweep(begun, DpsaSettings(window=0.3, threads=1), lambda left: None)
    assert (begun.fitness > before).all()


def test_the_result_does_not_depend_on_threads(small):
    batch = system_years(small, CHAIN, "ab")
    one, other = (solve(batch, solver="dpsa-sequential", threads=threads, **ROUGH).position for threads in (1, 2))
    assert one.tobytes() == other.tobytes()


SYSTEMS = {
    **{end.value: (CHAIN, {"end": end}) for end in YearEnd},
    "turbined": ([Link("a", "b", carries=Carried.TURBINED)], {}),
    "spilled": ([Link("a", "b", carries=Carried.SPILLED)], {}),
    "share and delay": ([Link("a", "b", carries=0.5, travel_steps=1.0, lost_share=0.1)], {}),
    "backwater": ([Link("a", "b", backwater=True)], {}),
    "shortage": (CHAIN, {"objective": Objective({Goal.POWER_SHORTAGE: 1.0}, power_target_mw=np.full(12, 45.0))}),
}


def test_the_tables_of_a_plant_fit_into_constant_memory(small):
    batch = system_years(small, [Link("a", "b", backwater=True)], "ab")
    for kernel in (batch.kernel(), batch.years[0].kernel()):
        tables = re.findall(r"__constant float \w+\[\] = {([^}]*)}", kernel.source)
        assert 20_000 < 4 * sum(table.count(",") + 1 for table in tables) < 1 << 16  # as NVIDIA's devices have it


@pytest.mark.device
@pytest.mark.parametrize("name", SYSTEMS)
def test_sweeps_on_a_device_are_those_of_compiled_code(small, device, name):
    links, about = SYSTEMS[name]
    batch = system_years(small, links, "ab", **about)
    settings = {"states": 21, "window": 0.3, "most_sweeps": 4, "threads": 1}
    compiled = Schedules.begun(batch)
    begun = compiled.fitness.copy()
    sweep(compiled, DpsaSettings(**settings), lambda left: None)
    assert (compiled.fitness > begun).all()
    for double, within in ((True, 1e-9), (False, 1e-6)):
        engine, found = DeviceDpsaEngine(DeviceDpsaSettings(**settings, double=double)), Schedules.begun(batch)
        with engine.working(str(device.index)):
            sweep(found, engine.settings, lambda left: None, recursion=engine.best_storages)
        np.testing.assert_allclose(found.fitness, compiled.fitness, rtol=within)
        assert found.rounds.tolist() == compiled.rounds.tolist()


@pytest.mark.device
def test_a_device_with_little_memory_takes_one_year_after_another(small, device, monkeypatch):
    batch = system_years(small, CHAIN, "ab", years=3)
    settings = {"states": 51, "most_sweeps": 2}
    usual = solve(batch, solver="dpsa", **settings)
    assert usual.device_seconds > 0
    monkeypatch.setattr(
        "reservoir.opencl.devices.list_devices", lambda: [replace(device, max_allocation_bytes=300_000)]
    )
    assert solve(batch, solver="dpsa", **settings).position.tobytes() == usual.position.tobytes()


@pytest.mark.device
def test_horizons_of_several_lengths_have_programs_of_their_own(small, monkeypatch):
    built, steps_of = DeviceDpsaEngine._program, {}

    def checked(self, of, layout, margin):
        """Fails before the program of another length is run, which would write outside its buffers."""
        program, steps = built(self, of, layout, margin), of.storages_hm3.shape[1] - 1
        assert steps_of.setdefault(program, steps) == steps
        return program

    monkeypatch.setattr(DeviceDpsaEngine, "_program", checked)
    problems = problems_of_system(small, CHAIN, "ab", horizon=Horizon(2), years=3)
    settings = {"solver": "dpsa", "states": 11, "most_sweeps": 1, "threads": 1}
    first = [np.full((1, each.dimension), 0.5) for each in problems.each]
    both = solve(problems.each, first=first, **settings)
    assert sorted(set(steps_of.values())) == [12, 24]
    alone = solve(problems.each[1:], first=first[1:], **settings)
    assert both.position[1].tobytes() == alone.position[0].tobytes()
