"""Values of storage under futures: compiled, on a device, and by a plain recursion in float64."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.curves.curve import constant
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.plan import optimise
from reservoir.rules.base.physics import Physics
from reservoir.rules.base.training import Training
from reservoir.rules.families.replan import step_tables, withdrawals
from reservoir.solvers.ensemble_dp.engine import FEW_MONTHS, ensemble_values
from reservoir.solvers.ensemble_dp.recursion import compiled_values
from reservoir.solvers.ensemble_dp.step import StepTables
from tests.planning.test_little_water import DRY, EVAPORATION_MM, HILL, WET, record

STEPS, STATES = 12, 21


@pytest.fixture(params=[False, True], ids=["lossless", "losses"])
def tables(request):
    """A lake whose power rises with its level up to a capacity, in no unit in particular."""
    mean, draft = np.linspace(100, 900, 17)[:, None], np.linspace(0, 400, 81)[None, :]
    benefit = np.array(
        [(1 + 0.05 * step) * (10 + mean / 100) * np.minimum(draft, 150 + 5 * step) for step in range(12)]
    )
    losses = np.array([np.linspace(1, 9, 17) * step / 3 for step in range(12)]) * request.param
    scalars = np.array(
        [
            (2.6, 1 / 2.6, 10.0, 380.0, 120.0, 900.0 - 20 * (step % 3), 500.0, 700.0, 0.0, 10.0, 0.0, 0.0, 0.0)
            for step in range(12)
        ]
    )
    return StepTables((100.0, 900.0), STATES, scalars, losses, benefit, 400.0)


@pytest.fixture
def futures():
    random = np.random.default_rng(3)
    inflow = random.gamma(2.0, 60.0, (37, 9))
    ends = np.sort(random.uniform(0, 200_000, (37, STATES)), axis=1).astype(np.float32)
    return inflow, np.arange(37, dtype=np.int32) % STEPS, ends


def plain(tables, inflow, first, end):
    """The best of 2,001 drafts in every step, in float64."""
    grid, values = tables.grid_hm3, end.astype(float)
    means, drafts = np.linspace(100, 900, 17), np.linspace(0, 400, 81)
    for month in range(len(inflow) - 1, -1, -1):
        step = (first + month) % STEPS
        volume, _, least, most, lower, upper, below, above = tables.scalars[step, :8]
        losses = tables.losses_hm3[step]
        bounds = []
        for bound in (upper, lower):
            lost = np.interp((grid + bound) / 2, means, losses)
            bounds.append(np.clip(inflow[month] + (grid - bound - lost) / volume, least, most))
        tried = np.linspace(*bounds, 2001)
        lossless = grid + (inflow[month] - tried) * volume
        finish = lossless
        for _ in range(20):
            finish = lossless - np.interp((grid + finish) / 2, means, losses)
        by_draft = np.array([np.interp(tried, drafts, row) for row in tables.benefit[step]])
        place = np.clip(((grid + finish) / 2 - 100) / 50, 0, 16)
        left = np.minimum(place.astype(int), 15)
        rows, columns = np.indices(tried.shape)
        low, high = by_draft[left, rows, columns], by_draft[left + 1, rows, columns]
        made = low + (place - left) * (high - low)
        cost = np.maximum(lower - finish, 0) * below + np.maximum(finish - upper, 0) * above
        values = (made - cost + np.interp(finish, grid, values)).max(axis=0)
    return values


def test_values_are_those_of_a_plain_recursion(tables, futures):
    inflow, first, ends = futures
    found = compiled_values(tables, inflow.astype(np.float32), first, ends)
    for place in range(0, 37, 5):
        expected = plain(tables, inflow[place], first[place], ends[place])
        assert found[place] == pytest.approx(expected, rel=2e-3, abs=2e-3 * np.ptp(expected))


def test_a_few_with_numpy_are_those_of_compiled_code(tables, futures):
    inflow, first, ends = futures
    compiled = compiled_values(tables, inflow.astype(np.float32), first, ends)
    found = ensemble_values(tables, inflow, first, ends)
    assert inflow.size <= FEW_MONTHS
    assert found.dtype == np.float32
    apart = np.abs(found - compiled) / np.abs(compiled).max()
    assert np.quantile(apart, 0.99) < 2e-6
    assert apart.max() < 1e-3


def test_a_device_finds_what_compiled_code_finds(tables, futures, device):
    inflow, first, ends = futures
    compiled = compiled_values(tables, inflow.astype(np.float32), first, ends)
    found = ensemble_values(tables, inflow, first, ends, "auto")
    apart = np.abs(found - compiled) / np.abs(compiled).max()
    # Where two drafts are equally good but for rounding, the search may go on from the other.
    assert np.quantile(apart, 0.99) < 2e-6
    assert apart.max() < 1e-3


@pytest.mark.parametrize("where", ["compiled", "device"])
def test_a_future_does_not_depend_on_the_others(tables, futures, device, where):
    inflow, first, ends = futures

    def solved(part):
        given = tables, inflow[part], first[part], ends[part]
        if where == "device":
            return ensemble_values(*given, "auto")
        return compiled_values(given[0], given[1].astype(np.float32), *given[2:])

    together = solved(slice(None))
    places = (slice(0, 5), slice(5, 6), slice(6, 37))
    assert np.array_equal(together, np.concatenate([solved(part) for part in places]))


def test_without_opencl_or_on_a_cpu_values_are_compiled(tables, futures, monkeypatch):
    inflow, first, ends = (np.repeat(each, 20, axis=0) for each in futures)
    assert inflow.size > FEW_MONTHS
    monkeypatch.setattr("reservoir.solvers.ensemble_dp.engine.opencl_available", lambda: False)
    found = ensemble_values(tables, inflow, first, ends)
    assert np.array_equal(found, compiled_values(tables, inflow.astype(np.float32), first, ends))


@pytest.fixture(scope="module", params=["minimum", "losses", "withdrawal"])
def hill_physics(request):
    """Months of a lake that a drought leaves too little water for its minimum release of 6 m3/s."""
    lake = reservoir_of(HILL, "")
    if request.param == "losses":
        lake = replace(lake, evaporation_mm=EVAPORATION_MM, seepage_m3s=constant(2.0, (15.0, 98.0)))
    if request.param == "withdrawal":
        lake = replace(lake, withdrawal_m3s=np.full(12, 9.0))
    return Physics.of(Training.of(optimise(lake, record(WET, WET), solver="dp", reference=False)))


def by_simulation(physics, grid, first, inflow, end):
    """The best of many releases in every step, each followed as the simulation follows it, in float64."""
    values = end.astype(float)
    for month in range(len(inflow) - 1, -1, -1):
        step = (first + month) % STEPS
        bounds = physics.months.release_lower_m3s[step], physics.months.release_upper_m3s[step]
        releases = np.append(np.linspace(bounds[0], 60, 1201), np.geomspace(60, bounds[1], 400))[:, None]
        ends, made = physics.after(step, grid[None, :], releases, np.array(inflow[month]))
        values = (made + np.interp(ends, grid, values)).max(axis=0)
    return values


@pytest.mark.parametrize("where", ["few", "compiled", "device"])
def test_near_empty_a_step_costs_what_the_simulation_charges(hill_physics, device, where):
    """The minimum release that is missing, and no storage that losses take below dead storage."""
    tables = step_tables(hill_physics)
    grid, first = tables.grid_hm3, np.array([5, 8, 10], np.int32)
    # The simulation cuts a withdrawal in the month that lacks water alone, not before: of it one month is compared.
    months = 1 if withdrawals(hill_physics).any() else 4
    inflow = np.array([DRY[5:9], DRY[8:12], (1.0, 0.5, 40.0, 3.0)])[:, :months]
    ends = np.tile(np.interp(grid, [15.0, 98.0], [0.0, 20.0]), (3, 1)).astype(np.float32)
    flows = inflow - withdrawals(hill_physics)[(first[:, None] + np.arange(months)) % STEPS]
    if where == "compiled":
        found = compiled_values(tables, flows.astype(np.float32), first, ends)
    else:
        found = ensemble_values(tables, flows, first, ends, "auto" if where == "device" else None)
    for place in range(3):
        expected = by_simulation(hill_physics, grid, first[place], inflow[place], ends[place])
        np.testing.assert_allclose(found[place], expected, rtol=0, atol=5e-3 * np.ptp(expected))
