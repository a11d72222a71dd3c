"""Reservoirs of a system whose year is cyclic: prices are sought, and corridors told, whatever they start with."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.single import Single
from reservoir.certificate.system import SystemProblem
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import Part, zoo_system


@pytest.fixture(scope="module")
def river():
    """A year of three reservoirs that all end where they start, and a schedule of it."""
    plan = optimise_system(*zoo_system(262, 1, part=Part.TEST), solver="slp")
    assert plan.operation.violation_sum[0] == 0
    return plan.problems.batches[0], plan.operation


def test_no_path_from_a_start_that_is_given_comes_to_more(river):
    problem, prices = SystemProblem(*river), multipliers(*river)
    assert problem.cyclic == [0, 1, 2]
    assert len(prices) == 6
    less, frees = 0, problem.frees(prices)[0]
    for single, free in zip(problem.singles, frees, strict=True):
        for share in (0.1, 0.5, 0.9):
            start = single.known.lower[0] + share * (single.known.upper[0] - single.known.lower[0])
            year = replace(single.year, limits=single.year.limits.starting_at(start))
            held = Single.of(year, single.flows, np.full(13, start), released=single.released)
            worth = held.best(held.priced(free.price, [free.paid, free.turbined, free.power], ())).worth
            # Among the same storages: where a grid is wider, its best path is worth less.
            best = replace(single, grid=np.sort(np.append(single.grid, held.grid, axis=1))).best(free).worth
            assert worth <= best + 1e-6 * problem.size
            less += worth < best - 1e-3 * problem.size
    assert less > 0


def test_slopes_of_what_is_kept_are_those_of_the_sum(river):
    problem, prices = SystemProblem(*river), multipliers(*river)
    prices[3:] *= 1.2  # away from where the sum is least
    here, *_, paths = problem.valued(prices)
    slopes, gained = problem.slopes(prices, paths).sum(axis=0), 0
    for row in range(3, 6):
        for sign in (-1.0, 1.0):
            there = prices.copy()
            there[row] += sign * 0.1 * np.abs(prices[row]).mean()
            change = problem.valued(there)[0] - here
            promised = float((slopes * (there - prices)).sum())
            assert change >= promised - 1e-6 * problem.size
            gained += promised < -1e-5 * problem.size and change < 0.0
    assert gained > 0


def test_a_river_of_cyclic_years_is_proved(river):
    problem = SystemProblem(*river)
    prices, worth = problem.better_prices(
        multipliers(*river), problem.fitness + 1e-4 * problem.size, time.monotonic() + 60.0
    )
    assert worth <= problem.fitness + 2e-4 * problem.size
    bound = problem.proven(prices, 2e-4, 60.0).bound
    assert problem.fitness <= bound <= problem.fitness + 1e-3 * problem.size


def test_corridors_of_cyclic_years_hold_better_schedules_and_their_ends(river):
    batch, schedule = river
    problem, prices = (
        SystemProblem(batch, schedule, below=0.02 * abs(batch.fitness_of(schedule)[0])),
        multipliers(*river),
    )
    corridors = problem.corridors(prices)
    assert all(corridor is not None for corridor in corridors)
    within = SystemProblem(batch, schedule, corridors)
    for (lower, upper), made, single in zip(corridors, schedule.of_reservoirs, within.singles, strict=True):
        slack = 1e-6 * float(single.year.limits.capacity_hm3)
        stored = made.storage_hm3[0]
        assert np.all((lower - slack <= stored[:-1]) & (stored[:-1] <= upper + slack))
        assert lower[0] - slack <= single.known.lower[-1] <= single.known.upper[-1] <= upper[0] + slack
