"""Exchanges of water between months: none is left that improves a schedule, and what cannot be improved stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.jit import compiling_told
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import solve
from reservoir.solvers.dp import GridSettings
from reservoir.solvers.dp.sequential import best_trajectory
from reservoir.solvers.exchanges import compile_exchanges, polished
from tests.year_ends import cyclic, free, valued

ENDS: dict[str, Callable[[Reservoir], Reservoir]] = {
    "fixed": lambda same: same,
    "free": free,
    "cyclic": cyclic,
    "valued": lambda same: valued(same, 0.05),
}


def lossy(reservoir: Reservoir) -> Reservoir:
    """The same reservoir with losses of the lake and demands on the plant."""
    return replace(
        reservoir,
        evaporation_mm=np.linspace(20.0, 130.0, 12),
        seepage_m3s=Table((20.0, 120.0), (0.1, 0.4)),
        withdrawal_m3s=np.full(12, 1.0),
    )


@pytest.fixture(params=[False, True], ids=["without losses", "with losses"])
def lake(request: pytest.FixtureRequest, small: Reservoir) -> Reservoir:
    """The small reservoir."""
    return lossy(small) if request.param else small


@pytest.fixture(params=list(ENDS))
def years(request: pytest.FixtureRequest, lake: Reservoir, small_inflow: Inflow) -> ReservoirYears:
    """Years with an end of each kind."""
    return reservoir_problems(ENDS[request.param](lake), small_inflow)


def schedules(years: ReservoirYears) -> np.ndarray:
    """A random position of each year, as its limits allow it."""
    random = np.random.default_rng(1)
    operation = years.operate(random.uniform(years.lower, years.upper))
    return np.column_stack([operation.draft_m3s, operation.storage_hm3[:, 0]])[:, : years.dimension]


def test_no_random_exchange_between_two_months_improves_a_polished_schedule(years: ReservoirYears) -> None:
    random, found = np.random.default_rng(2), polished(years, schedules(years)).positions
    best = years.certify(found)
    per_flow = years.limits.hm3_per_m3s
    everywhere = np.arange(len(years))
    for _ in range(2000):
        other = found.copy()
        giver, taker = random.integers(years.limits.steps, size=(2, len(years)))
        volume = random.choice([-1, 1], len(years)) * 10.0 ** random.uniform(-3, 2, len(years))
        other[everywhere, giver] += volume / per_flow[everywhere, giver]
        other[everywhere, taker] -= volume / per_flow[everywhere, taker]
        exchanged = years.certify(np.clip(other, years.lower, years.upper)).fitness
        assert (exchanged <= best.fitness + 1e-8 * np.abs(best.fitness)).all()


def test_random_schedules_come_close_to_the_optimum_and_none_gets_worse(device, years: ReservoirYears) -> None:
    before = schedules(years)
    first, last = years.certify(before).fitness, years.certify(polished(years, before).positions).fitness
    optimum = np.array([each.fitness for each in solve(years, solver="dp-opencl")])
    assert (last > first).all()
    assert (last <= optimum * (1 + 1e-8)).all()
    assert np.median((optimum - last) / (optimum - first)) < 0.05


@pytest.mark.parametrize("factor", [0.05, 0.3, 5.0])
def test_a_year_that_cannot_keep_its_limits_violates_them_no_more(
    lake: Reservoir, small_inflow: Inflow, factor: float
) -> None:
    years = reservoir_problems(lake, replace(small_inflow, flow_m3s=small_inflow.flow_m3s * factor))
    position = np.array([each.position for each in solve(years, solver="lshade", evaluations=2000)])
    before, after = years.certify(position), years.certify(polished(years, position).positions)
    assert (after.fitness >= before.fitness).all()
    assert (after.violation <= before.violation * (1 + 1e-9)).all()


def test_threads_and_the_years_beside_a_year_make_no_difference(years: ReservoirYears) -> None:
    positions = schedules(years)
    alone = [polished(years[place : place + 1], positions[place : place + 1]).positions for place in range(len(years))]
    for threads in (1, 2, 64):
        assert polished(years, positions, threads).positions.tobytes() == np.concatenate(alone).tobytes()


def test_a_polished_schedule_stays_as_it_is(years: ReservoirYears) -> None:
    once = polished(years, schedules(years)).positions
    again = years.certify(polished(years, once).positions).fitness
    assert again == pytest.approx(years.certify(once).fitness, rel=1e-9)


def test_a_record_is_improved_like_its_years(small: Reservoir, small_inflow: Inflow) -> None:
    record = record_problems(small, small_inflow, Horizon(None)).batches[0]
    best = best_trajectory(record[0], GridSettings()).fitness
    (found,) = record.certify(polished(record, schedules(record)).positions).fitness.tolist()
    assert found > best * (1 - 1e-3)


def test_nothing_is_compiled_behind_what_compiles_ahead(years: ReservoirYears) -> None:
    compile_exchanges(years[:2])
    told: list[str] = []
    with compiling_told(lambda name, parts, ready: told.append(name)):
        polished(years, schedules(years))
    assert not told


def test_a_lowest_power_is_kept_by_more_than_rounding(small: Reservoir, small_inflow: Inflow) -> None:
    """Exchanges take what a demand may be missed by; what just keeps it here must keep it by any other rounding."""
    years = reservoir_problems(lossy(small), small_inflow)
    free_of_demands = polished(years, schedules(years)).positions
    lowest = 1.1 * float(years.operate(free_of_demands).power_mw.min(axis=1).max())
    years = reservoir_problems(replace(lossy(small), power_lower_mw=np.full(12, lowest)), small_inflow)
    operation = years.operate(polished(years, free_of_demands).positions)
    missed = 1 - operation.power_mw[operation.violation_sum == 0].min(axis=1) / lowest
    assert missed.max() == pytest.approx(np.float32(1e-6), rel=0.01)  # power is what limits them
    assert missed.max() < np.float32(1e-6) - 5e-10
