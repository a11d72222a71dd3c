"""Low-head plants that floods drown: no power without head, in engines, proofs and files; what is unclear is told."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.power import generation
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.checks import all_pass, plan_checks
from reservoir.planning.plan import optimise
from reservoir.planning.proof import prove_plan
from reservoir.rules.base.physics import PlantTable

STORAGE, LEVEL = [250, 300, 400, 500, 600, 650], [117, 118, 120, 121.6, 123, 123.6]
RELEASE, TAIL = [0, 200, 500, 1000, 2000, 4000, 8000, 15000], [106, 107.2, 108.3, 109.9, 112.2, 115.5, 119.5, 125]
RIVER = f"""\
name = "low"

[plant]
installed_capacity_mw = 150
efficiency = 0.88

[storage]
dead_hm3 = 300
full_hm3 = 600
initial_hm3 = 500

[release]
lower_m3s = 50
upper_m3s = 15000

[curves.level]
kind = "table"
storage_hm3 = {STORAGE}
level_m = {LEVEL}

[curves.tailrace]
kind = "table"
release_m3s = {RELEASE}
level_m = {TAIL}
"""


def with_capacity(heads: list[float], flows: list[float]) -> str:
    return RIVER + f'\n[curves.capacity]\nkind = "table"\nhead_m = {heads}\ncapacity_m3s = {flows}\n'


STANDS = with_capacity([3, 4, 8, 12, 17], [0, 0, 1100, 1500, 1450])
KINDS = {
    "stands still below 4 m": STANDS,
    "steep": with_capacity([3.99, 4, 8, 12, 17], [0, 600, 1100, 1500, 1450]),
    "any head": RIVER.replace("efficiency", "hydraulic_capacity_m3s = 1400\nefficiency"),
    "coefficient": RIVER.replace("efficiency = 0.88", "hydraulic_capacity_m3s = 1400\noutput_coefficient = 8.5"),
    "rate": STANDS.replace("efficiency = 0.88\n", "")
    + '\n[curves.conversion_rate]\nkind = "table"\nhead_m = [4, 8, 12, 17]\nrate_m3_per_kwh = [110, 53, 34, 24]\n',
    "turbines": RIVER.replace("efficiency = 0.88\n", "")
    + "\n[curves.turbine]\nhead_m = [3, 4, 8, 12, 17]\nflow_m3s = [0, 400, 1100, 1500, 1450]\n"
    "power_mw = [0, 12, 75, 155, 215]\n",
}


@pytest.fixture(scope="module")
def flood() -> Inflow:
    years = [
        [300, 250, 200, 300, 600, 1500, 4000, 9000, 6000, 2000, 700, 400],
        [280, 250, 220, 350, 800, 1800, 5000, 14000, 4000, 1500, 600, 380],
    ]
    return Inflow(np.array(years, float), Calendar(2001, 2))


def plant(text: str):
    return reservoir_of(text.encode(), "r.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_a_drowned_plant_is_planned_and_the_plan_is_proved(kind, flood):
    plan = optimise(plant(KINDS[kind]), flood, solver="dp")
    assert all_pass(plan_checks(plan))
    drowned = plan.operation.head_m <= 0
    assert drowned.any()
    assert not plan.operation.power_mw[drowned].any()
    assert not plan.operation.turbined_m3s[drowned].any()
    proofs = prove_plan(plan, 1e-5).proofs
    assert (proofs.bound >= plan.solutions.fitness).all()
    assert kind == "steep" or proofs.worst_gap <= 1e-5
    assert any("Floods drown the plant" in note for note in plan.notes)


@pytest.mark.parametrize("solver", ["lshade-sequential", pytest.param("dp-opencl", marks=pytest.mark.device)])
@pytest.mark.parametrize("kind", ["steep", "any head", "turbines"])
def test_solvers_in_float32_know_that_there_is_no_power_without_head(kind, flood, solver):
    reservoir = plant(KINDS[kind])
    best = optimise(reservoir, flood, solver="dp").energy_gwh
    plan = optimise(reservoir, flood, solver=solver, engine_only=True)
    np.testing.assert_allclose(plan.energy_gwh, best, rtol=2e-5)


def test_power_is_that_of_the_tables_of_the_file(flood):
    """By a few lines that know the tables alone."""
    operation = optimise(plant(STANDS), flood, solver="dp").operation
    middle, release = (operation.storage_hm3[:, 1:] + operation.storage_hm3[:, :-1]) / 2, operation.release_m3s
    head = PchipInterpolator(STORAGE, LEVEL)(middle) - PchipInterpolator(RELEASE, TAIL)(release)
    capacity = PchipInterpolator([3, 4, 8, 12, 17], [0, 0, 1100, 1500, 1450])(head.clip(3, 17))
    flow = np.where(head > 0, np.minimum(release, capacity), 0)
    power = np.minimum(0.88 * 9.80665e-3 * flow * head, 150)
    np.testing.assert_allclose(operation.head_m, head, rtol=1e-9)
    np.testing.assert_allclose(operation.power_mw, power, rtol=1e-9)
    assert (power[head < 4] == 0).any()


def test_rules_know_it_too():
    reservoir = plant(KINDS["any head"])
    made = generation(reservoir, np.full(3, 300.0), np.array([500.0, 8000.0, 15000.0]))
    assert (made.power_mw > 0).tolist() == [True, False, False]
    curves = PlantTable.of(reservoir).curves
    assert curves.conversion(np.array([-4.0, -0.1, 0.0])) == pytest.approx(0, abs=2e-3)


def test_what_a_table_does_not_say_is_asked_for_and_the_mend_works(flood):
    with pytest.raises(InputError, match=r"capacity: covers only 4 m to 17 m.*0 at the lowest head at which the plant"):
        plant(with_capacity([4, 8, 12, 17], [600, 1100, 1500, 1450]))
    assert plant(KINDS["steep"]).name == "low"
    rate = KINDS["rate"].replace("[3, 4, 8, 12, 17]", "[4, 12, 17]").replace("[0, 0, 1100, 1500, 1450]", "[9, 9, 9]")
    with pytest.raises(InputError, match=r"curves.capacity.*without head.*curves.capacity that is 0"):
        plant(rate)


@pytest.mark.parametrize(("datum", "told"), [(10.0, False), (12.5, True)])
def test_a_tailrace_that_leaves_no_head_at_all_is_a_mistake(datum, told):
    text = STANDS.replace(str(TAIL), str([level + datum for level in TAIL]))
    if told:
        with pytest.raises(InputError, match=r"not above the tailrace at the smallest release.*same datum"):
            plant(text)
    else:
        assert "Floods drown the plant: from about" in " ".join(map(str, plant(text).notes))
