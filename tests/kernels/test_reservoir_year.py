"""The device's fitness of a year is that of the physics in float64, at every width of vectors."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.curves.curve import Table
from reservoir.hydro.curves.forms import UniformTable
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from tests.hydro import paper
from tests.hydro.stand_in import with_forms
from tests.hydro.trials import Case
from tests.kernels.device import WIDTHS, Run
from tests.year_ends import cyclic

POSITIONS = 240
#: What float32 sums of a year make of float64 ones.
ROUNDING = 5e-6

KERNEL = """
__kernel void test(__global float *out, __global const float *contexts, __global const float *positions) {
    const int vectors = POSITIONS / LANES;
    const int problem = get_global_id(0) / vectors, first = get_global_id(0) % vectors * LANES;
    reals position[DIM];
    __global const float *mine = positions + problem * DIM * POSITIONS + first;
    for (int d = 0; d < DIM; ++d) position[d] = LOAD_LANES(__global, mine + d * POSITIONS);
    STORE_LANES(fitness(position, contexts + problem * CONTEXT), __global, out + problem * POSITIONS + first);
}
"""

BOUNDS = """
__kernel void test(__global float *out, __global const float *context) {
    const int d = get_global_id(0);
    out[d] = lower(d, context);
    out[DIM + d] = upper(d, context);
}
"""


def positions_in(years: list[ReservoirYears]) -> np.ndarray:
    """Random positions within the bounds of each year, shape (years, dimension, positions), float32."""
    draw = np.random.default_rng(11)
    part = draw.random((len(years), years[0].dimension, POSITIONS)).astype(np.float32)
    lower, upper = (np.stack([getattr(year, name) for year in years])[..., None] for name in ("lower", "upper"))
    return np.clip(lower + part * (upper - lower), lower, upper).astype(np.float32)


def on_device(run: Run, years: list[ReservoirYears], positions: np.ndarray, lanes: int) -> np.ndarray:
    """Fitness of each position by the kernel, shape (years, positions)."""
    kernel = years[0].kernel()
    constants = {**kernel.constants, "LANES": lanes, "CONTEXT_SPACE": "__global", "POSITIONS": POSITIONS}
    contexts = np.stack([year.kernel_context() for year in years])
    out = np.zeros((len(years), POSITIONS), np.float32)
    files = ["common/vector/lanes.cl", *kernel.files]
    return run(files, KERNEL, constants, out, out.size // lanes, contexts, positions, between=kernel.source)


def in_float64(years: list[ReservoirYears], positions: np.ndarray) -> np.ndarray:
    """Fitness of each position by the physics, shape (years, positions)."""
    return np.array(
        [
            [year.certify(position.astype(float)).fitness for position in each.T]
            for year, each in zip(years, positions, strict=True)
        ]
    )


def with_the_solvers_curves(years: list[ReservoirYears], record: Inflow, positions: np.ndarray) -> np.ndarray:
    """The same, but with energy from the curves' forms, which are held where a storage leaves all bounds."""
    fitness = np.empty((len(years), POSITIONS))
    for index, year in enumerate(years):
        stand_in, reservoir = with_forms(year.model), year.model.reservoir
        for place, position in enumerate(positions[index].T.astype(float)):
            found = year.operate(position)
            told = paper.year_of(reservoir, record, index, float(found.storage_hm3[0]))
            energy = paper.energy_gwh(stand_in, told, found.release_m3s.tolist(), found.storage_hm3.tolist())
            fitness[index, place] = energy - year.penalty * found.violation.sum()
    return fitness


def scaled(case: Case, factor: float) -> tuple[list[ReservoirYears], Inflow]:
    """The first three years of a case with another amount of water, and their record."""
    reservoir, record = case
    less = Inflow(flow_m3s=record.flow_m3s[:3] * factor, calendar=replace(record.calendar, years=3))
    return reservoir_problems(reservoir, less), less


@pytest.fixture(scope="module")
def jagged(xiaowan: Reservoir) -> Reservoir:
    """The bundled reservoir with a conversion curve that no polynomial follows."""
    head = np.linspace(*xiaowan.conversion.domain, 30)
    rate = xiaowan.conversion(head) * (1 + 2e-3 * (-1.0) ** np.arange(30))
    return replace(xiaowan, conversion=Table(tuple(head.tolist()), tuple(rate.tolist())))


@pytest.mark.parametrize("lanes", WIDTHS)
def test_fitness_is_that_of_the_physics(run: Run, case: Case, lanes: int) -> None:
    years, _ = scaled(case, 1.0)
    positions = positions_in(years)
    found, expected = on_device(run, years, positions, lanes), in_float64(years, positions)
    allowed = ROUNDING + years[0].model.approximation.power_error
    assert np.abs(found / expected - 1).max() <= allowed


@pytest.mark.parametrize("factor", [0.05, 5.0])
@pytest.mark.parametrize("lanes", [1, 8])
def test_fitness_of_a_year_that_cannot_be_satisfied_is_that_of_the_physics(
    run: Run, case: Case, factor: float, lanes: int
) -> None:
    years, record = scaled(case, factor)
    positions = positions_in(years)
    found, expected = on_device(run, years, positions, lanes), with_the_solvers_curves(years, record, positions)
    assert (np.abs(found - expected) / np.abs(in_float64(years, positions))).max() <= ROUNDING


@pytest.mark.parametrize("lanes", WIDTHS)
def test_even_tables_are_read_as_well_as_polynomials(
    run: Run, jagged: Reservoir, five_years: Inflow, lanes: int
) -> None:
    years = reservoir_problems(jagged, five_years)
    assert isinstance(years[0].model.approximation.plant.conversion, UniformTable)
    positions = positions_in(years)
    found, expected = on_device(run, years, positions, lanes), in_float64(years, positions)
    assert np.abs(found / expected - 1).max() <= ROUNDING + years[0].model.approximation.power_error


@pytest.mark.parametrize("factor", [0.3, 1.0, 4.0])
def test_every_width_gives_the_same_but_for_rounding(run: Run, case: Case, factor: float) -> None:
    years, _ = scaled(case, factor)
    positions = positions_in(years)
    scalars = on_device(run, years, positions, 1)
    for lanes in WIDTHS[1:]:
        np.testing.assert_allclose(on_device(run, years, positions, lanes), scalars, rtol=1e-6)


def test_the_device_knows_the_bounds_of_every_variable(run: Run, case: Case) -> None:
    year = scaled(case, 1.0)[0][0]
    kernel = year.kernel()
    constants = {**kernel.constants, "LANES": 1, "CONTEXT_SPACE": "__global"}
    out = np.zeros((2, year.dimension), np.float32)
    files = ["common/vector/lanes.cl", *kernel.files]
    found = run(files, BOUNDS, constants, out, year.dimension, year.kernel_context(), between=kernel.source)
    np.testing.assert_array_equal(found, np.stack([year.lower, year.upper]).astype("f4"))


@pytest.mark.parametrize("lanes", [1, 16])
def test_one_violating_lane_does_not_touch_the_others(
    run: Run, small: Reservoir, small_inflow: Inflow, lanes: int
) -> None:
    """A cyclic year that can be satisfied from some starts and not from others, side by side in one vector."""
    flow = np.full((1, 12), 20.0)
    flow[0, :3] = 0.0  # a dry summer, which only a full reservoir survives
    record = Inflow(flow_m3s=flow, calendar=replace(small_inflow.calendar, years=1))
    year = reservoir_problems(cyclic(small), record)[0]
    years = [replace(year, limits=year.limits.changed(start_bounds_hm3=[30.0, 110.0]))]
    positions = positions_in(years)
    positions[:, -1] = np.linspace(30, 110, POSITIONS)
    violations = [years[0].certify(position.astype(float)).violation for position in positions[0].T]
    assert 0 < np.count_nonzero(violations) < POSITIONS
    found, expected = on_device(run, years, positions, lanes), in_float64(years, positions)
    allowed = ROUNDING + years[0].model.approximation.power_error
    kept = np.array(violations) == 0
    assert np.abs(found / expected - 1)[0, kept].max() <= allowed
    assert np.all(found[0, ~kept] < found[0, kept].min() + 1)
