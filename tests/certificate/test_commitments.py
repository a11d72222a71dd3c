"""Bounds of systems know commitments: no schedule that keeps them exceeds a bound, and it is close to the best."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.system import SystemProblem
from reservoir.hydro.attributes import Counted
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import zoo_system
from tests.planning.test_commitments import BOTH, two_lakes
from tests.problems.test_systems_by_hand import GWH, VOLUME


def planned(system):
    plan = optimise_system(system, BOTH, solver="slp", horizon="record")
    (batch,) = plan.problems.batches
    return batch, batch.operate(plan.solutions.position)


@pytest.fixture(scope="module")
def committed():
    return planned(two_lakes(400))


#: Of two lakes: what they are committed to, what is released in the years, and the years whose price it is.
COMMITTED = {
    "at least": ({"low": {"annual_release_hm3": 400 * VOLUME}}, [400, 1060], [1.0, 0.0]),
    "at most": ({"low": {"most_annual_release_hm3": 900 * VOLUME}}, [550, 910], [0.0, 1.0]),
    "turbined": ({"up": {"annual_release_hm3": 400 * VOLUME, "counts": Counted.TURBINED}}, [400, 1060], [1.0, 0.0]),
}


@pytest.mark.parametrize("kind", COMMITTED)
def test_a_bound_is_less_by_what_a_commitment_costs(kind):
    changes, years, priced = COMMITTED[kind]
    free = two_lakes(None)
    lakes = tuple(replace(each, **changes.get(each.name, {})) for each in free.reservoirs)
    batch, schedule = planned(replace(free, reservoirs=lakes))
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    assert len(prices) == 3
    of_years = np.multiply(priced, GWH / 1000)
    np.testing.assert_allclose(prices[2, ::12] * batch.hm3_per_m3s[0, ::12], of_years, rtol=1e-2, atol=1e-6)
    bound = problem.proven(prices, 1e-3, 60.0).bound
    earned = (years[0] + 2 * years[1]) * GWH / 1000
    assert problem.fitness == pytest.approx(earned, rel=1e-2)  # and next to nothing below
    assert problem.fitness <= bound <= 1.01 * problem.fitness
    free = problem.proven(prices * [[1.0], [1.0], [0.0]], 1e-3, 60.0).bound
    assert free >= 1.04 * problem.fitness  # 260 at a price of 1 and 1,200 at 2


#: Mistakes in what is owed: part of the volume that is taken.
OWED = {"none": 1.0, "more is owed": 1.05, "a little more is owed": 1.0 + 1e-5}


@pytest.mark.parametrize("mistake", OWED)
def test_no_schedule_that_keeps_it_is_charged_more_than_it_is_paid(committed, monkeypatch, mistake):
    batch, schedule = committed
    owed = SystemProblem._owed_hm3
    monkeypatch.setattr(SystemProblem, "_owed_hm3", lambda *of: OWED[mistake] * owed(*of))
    random, problem, least, kept = np.random.default_rng(1), SystemProblem(batch, schedule), np.inf, 0
    near = batch.positions_of(schedule)
    for share in (0.0, *(0.3 * random.random(40))):
        made = batch.operate(near + share * (random.random(near.shape) - near))
        if made.violation_sum[0] > 0:
            continue
        kept += 1
        prices = np.zeros((3, batch.steps))
        prices[2, :12] = random.normal(1.0, 2.0, 12)  # of the year that has nothing to spare
        frees, paid = problem.frees(prices)
        paid += sum(float(free.paid @ own.release_m3s[0]) for free, own in zip(frees, made.of_reservoirs, strict=True))
        least = min(least, paid)
    assert kept > 5
    assert (least >= 0.0) == (mistake == "none")


#: Random rivers whose commitments bind; the smaller of two tiers is what a bound knows.
RIVERS, MOST_OVER = ("4", "13"), 2e-3


def river(of):
    """Two years, as one problem, of a random river of two reservoirs that is committed to annual releases.

    A licensed one is to release less than the most that it does otherwise.
    """
    number, *licensed = of.split()
    system, inflows = zoo_system(int(number), 2, reservoirs=2, committed=True)
    if licensed:
        made = optimise_system(system, inflows, solver="slp", horizon="record").operation.of_reservoirs[-1]
        most = 0.95 * (made.release_m3s * inflows.first.calendar.hm3_per_m3s).sum(axis=1).max()
        *above, last = system.reservoirs
        system = replace(system, reservoirs=(*above, replace(last, most_annual_release_hm3=float(most))))
    plan = optimise_system(system, inflows, solver="slp", horizon="record")
    (batch,) = plan.problems.batches
    return batch, batch.operate(plan.solutions.position)


def keeping(batch, schedule, count, seed):
    """Random schedules near one that keep all limits and commitments."""
    random, near = np.random.default_rng(seed), batch.positions_of(schedule)
    for share in (0.0, *random.random(count) ** 4):
        anywhere, some = random.random(near.shape), random.random(near.shape) < random.random()
        made = batch.operate(near + share * some * (anywhere ** random.choice([0.2, 1.0, 3.0]) - near))
        if made.violation_sum[0] == 0:
            yield made


@pytest.mark.parametrize("of", RIVERS)
def test_no_schedule_that_keeps_commitments_exceeds_a_bound_at_any_prices(of):
    batch, schedule = river(of)
    problem, best, random = SystemProblem(batch, schedule), multipliers(batch, schedule), np.random.default_rng(3)
    assert best[2:].max() > 0  # some commitment binds
    below, uneven, other = best.copy(), best.copy(), best * random.uniform(0.5, 1.5, best.shape)
    below[2:] = np.where(best[2:] > 0, best[2:], -best[2:].max())
    for row, (place, _) in enumerate(problem.committed, 2):  # all of a year in the step that releases least
        release, price = (each.reshape(-1, 12) for each in (schedule.of_reservoirs[place].release_m3s, best[row]))
        least = release == release.min(axis=1, keepdims=True)
        uneven[row] = (price.sum(axis=1, keepdims=True) * least / least.sum(axis=1, keepdims=True)).ravel()
    fitness = [float(batch.fitness_of(each)[0]) for each in keeping(batch, schedule, 200, 4)]
    bounds = [problem.proven(prices, 1e-3, 600.0).bound for prices in (best, below, uneven, other)]
    assert len(fitness) > 10
    assert max(fitness) <= min(bounds)
    assert bounds[0] <= problem.fitness + MOST_OVER * problem.size


@pytest.mark.parametrize("of", ["13", "7 licensed"])
def test_slopes_of_prices_are_those_of_the_sum(of):
    batch, schedule = river(of)
    problem, prices, random = SystemProblem(batch, schedule), multipliers(batch, schedule), np.random.default_rng(5)
    for _ in range(5):
        at = prices + np.pad(random.uniform(0.0, 2.0, prices[2:].shape) * prices[2:].max(), ((2, 0), (0, 0)))
        (here, *_, paths), ahead = problem.valued(at), np.pad(random.random(prices[2:].shape), ((2, 0), (0, 0)))
        there = problem.valued(at + 1e-3 * ahead * prices.max())[0] - here
        promised = 1e-3 * prices.max() * float((problem.slopes(at, paths).sum(axis=0) * ahead).sum())
        assert there >= promised - 1e-9 * problem.size  # convex, and above its tangents
        assert there == pytest.approx(promised, rel=0.05, abs=1e-6 * problem.size)
