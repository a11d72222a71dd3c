"""The device's tables are the curves as given, and its parabolas become them as a corridor narrows."""

import numpy as np
import pytest

from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.solvers.dp.engine import GridLayout, curve_tables, table_constants
from tests.kernels.device import WIDTHS, Run
from tests.year_ends import free

POINTS = 240
#: What straight lines between the points of a table make of power.
TABLES = 3e-7

BY_TABLES = """
__kernel void test(__global double *out, __global const double *tables, __global const double *states) {
    const int place = get_global_id(0);
    const Step step = {.installed = states[2 * POINTS]};
    out[place] = power_in(tables, states[place], states[POINTS + place], step);
}
"""

BY_PARABOLAS = """
__kernel void test(__global double *out, __global const double *tables, __global const double *states) {
    const int first = get_global_id(0) * LANES;
    __local NearCurves near;
    near = near_curves(tables, states[0], states[POINTS - 1], states[POINTS], states[2 * POINTS - 1]);
    reals storage, release;
    for (int lane = 0; lane < LANES; ++lane) {
        REAL_OF(storage, lane) = states[first + lane];
        REAL_OF(release, lane) = states[POINTS + first + lane];
    }
    const Step step = {.installed = states[2 * POINTS]};
    const reals power = power_near(&near, storage, release, step);
    for (int lane = 0; lane < LANES; ++lane) out[first + lane] = REAL_OF(power, lane);
}
"""


@pytest.fixture(params=["xiaowan", "small"])
def plant(request: pytest.FixtureRequest) -> Reservoir:
    """Tables and a rate; polynomials, power laws and an efficiency."""
    return free(request.getfixturevalue(request.param))


def difference(
    run: Run, kernel: str, plant: Reservoir, storages: np.ndarray, releases: np.ndarray, lanes: int
) -> float:
    """The largest relative difference to the physics."""
    constants = {
        "LANES": lanes,
        "DOUBLE": 1,
        "POINTS": POINTS,
        "GROUP_SPACE": "__local",
        **table_constants(),
    }
    tables = curve_tables(plant, GridLayout(lanes, 1, 0, True))
    names = ("reservoir_step", "even_tables", "given_curves", "near_curves")
    files = ["common/vector/lanes.cl", *(f"problems/reservoir/{name}.cl" for name in names)]
    out, states = np.zeros(POINTS), np.concatenate([storages, releases, [plant.installed_mw]])
    items = POINTS // lanes if kernel == BY_PARABOLAS else POINTS
    found = run(files, kernel, constants, out, items, tables, states)
    return float(np.abs(found / generation(plant, storages, releases).power_mw - 1).max())


def states_of(plant: Reservoir, part: float) -> tuple[np.ndarray, np.ndarray]:
    """Storages and releases over a part of what the bounds allow, each rising."""
    lowest, highest = plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max()
    least, most = plant.release_lower_m3s.min(), plant.release_upper_m3s.min()
    middle = np.linspace(0.45 - part / 2, 0.45 + part / 2, POINTS)
    return lowest + middle * (highest - lowest), least + middle * (most - least)


def test_power_by_the_tables_is_that_of_the_physics(run: Run, plant: Reservoir) -> None:
    assert difference(run, BY_TABLES, plant, *states_of(plant, 0.9), 1) < TABLES


@pytest.mark.parametrize("lanes", WIDTHS)
def test_power_by_parabolas_is_that_of_the_physics_in_a_narrow_corridor(run: Run, plant: Reservoir, lanes: int) -> None:
    assert difference(run, BY_PARABOLAS, plant, *states_of(plant, 1e-3), lanes) < TABLES


def test_parabolas_become_the_curves_as_a_corridor_narrows(run: Run, plant: Reservoir) -> None:
    wide, narrow, still = (difference(run, BY_PARABOLAS, plant, *states_of(plant, part), 1) for part in (0.2, 0.02, 0))
    assert TABLES < wide < 1e-2
    assert narrow < wide / 10
    assert still < TABLES
