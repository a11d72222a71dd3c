"""A run-of-river plant: a fixed storage or a constant level, no variable, its release is its inflow."""

from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import differing_parts, reservoir_digests
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.problems.system import Variables, system_problems
from tests.io.small_reservoir import LEVEL, SMALL

AREA = '\n[curves.area]\nkind = "table"\nstorage_hm3 = [0.5, 2]\narea_km2 = [3, 3]\n'
STORAGE = SMALL[SMALL.index("[storage]") : SMALL.index("[release]")]


def river(storage: str, level: str = "") -> str:
    """The small reservoir with other keys of its storage, and another level curve or none."""
    return SMALL.replace(STORAGE, f"[storage]\n{storage}\n\n").replace(LEVEL, level)


@pytest.mark.parametrize(
    ("text", "fixed", "level"),
    [
        (river("level_m = 440"), 1.0, 440.0),
        (river("level_ft = 1450\nfixed_hm3 = 3"), 3.0, 441.96),
        (river("fixed_mcm = 40", LEVEL), 40.0, 422.0),
    ],
)
def test_it_is_given_by_its_storage_or_its_level_and_written_so(text, fixed, level):
    plant = reservoir_of(text.encode(), "river.toml")
    assert plant.is_run_of_river
    assert (plant.initial_storage_hm3, plant.final_storage_hm3) == (fixed, fixed)
    assert plant.storage_bounds_hm3.tolist() == [[fixed] * 12] * 2
    assert float(plant.level(fixed)) == pytest.approx(level)
    written = plant.to_toml()
    assert f"fixed_hm3 = {fixed}" in written
    assert ("level_m = [" in written) == (level == 422)
    assert not differing_parts(reservoir_of(written.encode(), ""), reservoir_digests(plant))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            river("level_m = 440\ninitial_hm3 = 2"),
            "storage.initial_hm3: contradicts storage.level_m: a run-of-river plant",
        ),
        (river("level_m = 440", LEVEL), "storage.level_m: contradicts curves.level (found 440)"),
        (river("fixed_hm3 = 40"), "curves.level: is missing"),
        (river("fixed_hm3 = 0", LEVEL), "storage.fixed_hm3: is out of range (found 0)"),
        (
            river("level_m = 440") + "\n[losses]\nevaporation_mm = 9\n",
            "losses.evaporation_mm: has no area to evaporate",
        ),
        (SMALL.replace("dead_hm3 = 20", "dead_hm3 = 120"), "a run-of-river plant has fixed_hm3 in their place"),
    ],
)
def test_what_contradicts_it_is_told(text, said):
    with pytest.raises(InputError) as caught:
        reservoir_of(text.encode(), "river.toml")
    assert any(f"river.toml, {said}" in str(each) or said in str(each) for each in caught.value.mistakes)


def test_a_lake_of_one_level_evaporates_by_its_area():
    plant = reservoir_of(f"{river('level_m = 440')}\n[losses]\nevaporation_mm = 9\n{AREA}".encode(), "river.toml")
    assert plant.evaporation_mm.tolist() == [9.0] * 12


@pytest.mark.parametrize(("area", "km2"), [(AREA, 3.0), ("", 0.0)], ids=["area", "no area"])
def test_evaporation_of_a_record_is_that_of_its_area(area, km2):
    plant = reservoir_of(f"{river('level_m = 440')}{area}".encode(), "river.toml")
    inflow = Inflow(np.full((1, 12), 9.0), Calendar(2001, 1), evaporation_mm=np.full((1, 12), 90.0))
    operation = reservoir.optimise(plant, inflow, solver="dp").operation
    np.testing.assert_allclose(operation.evaporation_hm3, 90e-3 * km2, rtol=1e-9)
    lost_m3s = operation.evaporation_hm3 / inflow.calendar.hm3_per_m3s
    np.testing.assert_allclose(operation.release_m3s, 9.0 - lost_m3s, rtol=1e-6)


def test_in_a_system_it_has_no_variable_and_releases_what_flows_in():
    plant = replace(reservoir_of(river("level_m = 440").encode(), ""), name="river")
    lake = reservoir_of(SMALL.encode(), "")
    links = Link("small", "river"), Link("river", "low")
    system = System((lake, plant, replace(lake, name="low")), links)
    inflows = SiteInflows(
        {name: Inflow(np.full((2, 12), 9.0 + at), Calendar(2001, 2)) for at, name in enumerate(system.names)}
    )
    years = system_problems(system, inflows, Horizon()).batches[0]
    assert years.variables == (Variables(0, 11, False), Variables(11, 11, False), Variables(11, 22, False))
    operation = years.operate(np.random.default_rng(1).uniform(0, 1, (2, 22)))
    above, own, _ = operation.of_reservoirs
    np.testing.assert_allclose(own.release_m3s, above.release_m3s + inflows["river"].flow_m3s, rtol=1e-12)
    assert not own.violation_sum.any()
    assert (own.storage_hm3 == 1.0).all()


def test_by_itself_it_is_planned_too():
    plant = reservoir_of(river("level_m = 440").encode(), "")
    inflow = Inflow(np.full((1, 12), 9.0), Calendar(2001, 1))
    plan = reservoir.optimise(plant, inflow, solver="dp")
    np.testing.assert_allclose(plan.operation.release_m3s, 9.0, rtol=1e-9)
