"""No joint schedule exceeds the bound of its system, which is close to the best known of a real cascade."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest

from reservoir.bench.cascade_systems import lancang
from reservoir.certificate import bundle
from reservoir.certificate import system as certificate
from reservoir.certificate.bundle import least_sum
from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.system import LinkFlow, SystemProblem, prove_system
from reservoir.hydro.system import Carried, Link
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import zoo_system

ONE = np.array([0])


def year_of(system, inflows, solver="slp"):
    """A year of a system, and a schedule of it."""
    plan = optimise_system(system, inflows, solver=solver)
    return plan.problems.batches[0][ONE], plan.operation


def whole(number):
    """A small random river without what is not priced yet."""
    system, inflows = zoo_system(number, 1, reservoirs=3)
    links = tuple(
        replace(
            link, carries=0.4 if isinstance(link.carries, Carried) and link.carries is not Carried.ALL else link.carries
        )
        for link in system.links
    )
    return replace(system, links=links), inflows


@pytest.mark.parametrize(
    ("case", "year", "best", "within"),
    [
        ("lancang-2", 1976, 47258.771, 1e-5),
        ("lancang-2", 1987, 55960.607, 1e-5),  # by corridors
        ("lancang-3", 1976, 54885.726, 1e-5),
    ],
)
def test_a_cascade_is_proved_close_to_the_best_that_is_known(case, year, best, within):
    batch, schedule = year_of(*lancang(case, year))
    proved = prove_system(batch, schedule, within)
    assert best - 1e-3 <= proved.bound <= best * (1 + 1.5 * within)


@pytest.mark.parametrize("narrower", [0.0, -0.7])
def test_better_schedules_are_within_the_corridors(monkeypatch, narrower):
    batch, best = year_of(*lancang("lancang-2", 1987))
    worse = batch.operate(0.98 * batch.positions_of(best) + 0.01)
    assert worse.violation_sum[0] == 0
    problem, prices = SystemProblem(batch, worse), multipliers(batch, best)
    monkeypatch.setattr(certificate, "_SPARE", certificate._SPARE + narrower)  # that they are too narrow is found out
    told = 0
    for corridor, known, made in zip(problem.corridors(prices), problem.singles, best.of_reservoirs, strict=True):
        if corridor is not None:
            lower, upper = corridor
            assert np.all((lower - 1e-3 <= made.storage_hm3[0, :-1]) & (made.storage_hm3[0, :-1] <= upper + 1e-3))
            assert (upper - lower).sum() < 0.8 * (known.known.upper - known.known.lower).sum()
            told += 1
    assert told == (2 if narrower == 0.0 else 0)


def test_a_sum_of_convex_functions_is_made_small():
    def evaluated(at):
        return np.abs(at - [1.0, 3.0, 0.5]), np.diag(np.sign(at - [1.0, 3.0, 0.5]))

    found, least = least_sum(evaluated, np.array([4.0, -2.0, 0.3]), 1e-9, 60)
    assert least == pytest.approx(np.abs(found - [1.0, 3.0, 0.5]).sum())
    assert least < 1e-5
    at_once, _ = least_sum(evaluated, np.array([4.0, -2.0, 0.3]), 1e-9, 60, until=0.0)
    assert at_once.tolist() == [4.0, -2.0, 0.3]


def test_a_proof_ends_with_its_time(monkeypatch):
    clock, tried, valued = count(), [], SystemProblem.valued
    for module in (certificate, bundle):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(SystemProblem, "valued", lambda self, prices: tried.append(1) or valued(self, prices))
    batch, schedule = year_of(*lancang("lancang-2", 2001))
    assert prove_system(batch, schedule, 1e-9, seconds=12.0).bound >= float(batch.fitness_of(schedule)[0])
    assert len(tried) == 7  # prices take half of the time, and then there is a bound at them


@pytest.mark.parametrize("number", [2, 3, 4])
def test_no_schedule_of_a_random_river_exceeds_its_bound_at_any_prices(number):
    batch, schedule = year_of(*whole(number))
    random, problem = np.random.default_rng(number), SystemProblem(batch, schedule)
    prices = multipliers(batch, schedule)
    worse = prices * random.uniform(0.5, 1.5, prices.shape)
    bounds = [problem.proven(each, 1e-3, 600.0).bound for each in (prices, worse)]
    assert schedule.violation_sum[0] == 0
    for _ in range(200):
        made = batch.operate(random.random((1, batch.dimension)) ** random.choice([0.2, 1.0, 3.0]))
        if made.violation_sum[0] == 0:
            assert float(batch.fitness_of(made)[0]) <= min(bounds)
    assert problem.fitness <= min(bounds)
    assert bounds[0] <= problem.fitness * 1.02


def test_nothing_is_proved_where_a_lake_may_run_dry():
    batch, schedule = year_of(*whole(2))
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    first = problem.singles[0]
    problem.singles[0] = replace(first, known=replace(first.known, may_run_dry=True))
    assert problem.proven(prices, 1e-3, 600.0).bound == np.inf


#: Mistakes in what a link brings.
LINKS = {
    "none": lambda carried: carried,
    "a share is left out": lambda carried: carried._replace(brings=0.5 * carried.brings),
    "a step later": lambda carried: carried._replace(brings=np.roll(carried.brings, 1, axis=0)),
    "nothing is under way": lambda carried: carried._replace(fixed=0.0 * carried.fixed),
    "a loss is left out": lambda carried: carried._replace(lost_m3s=0.0),
    "more is lost": lambda carried: carried._replace(lost_m3s=carried.lost_m3s + 5.0),
}


@pytest.mark.parametrize("mistake", LINKS)
def test_no_schedule_is_charged_more_for_its_water_than_it_is_paid_at_any_prices(mistake):
    system, inflows = whole(7)
    links = tuple(replace(each, travel_steps=1.4, lost_m3s=3.0, before_m3s=30.0) for each in system.links)
    batch, schedule = year_of(replace(system, links=links), inflows)
    random, problem = np.random.default_rng(1), SystemProblem(batch, schedule)
    problem.links, kept, least = [LINKS[mistake](each) for each in problem.links], 0, np.inf
    positions = random.random((40, 1, batch.dimension)) ** random.choice([0.2, 1.0, 3.0], (40, 1, 1))
    near = batch.positions_of(schedule)
    for share, position in zip(random.random(40), positions, strict=True):
        made = batch.operate(near + 0.2 * share * (position - near))
        prices = random.normal(size=(len(system.reservoirs), batch.steps))
        frees, paid = problem.frees(prices)
        for free, own, arriving in zip(frees, made.of_reservoirs, made.arriving_m3s, strict=True):
            paid += float(free.paid @ own.release_m3s[0])
            paid -= 0.0 if arriving is None else float(free.price @ arriving[0])
        if made.violation_sum[0] == 0:
            kept, least = kept + 1, min(least, paid)
    assert kept > 10
    assert (least >= -1e-6) == (mistake == "none")


def test_a_river_without_the_water_for_its_limits_is_proved_to_have_no_schedule():
    batch, schedule = year_of(*whole(0))
    assert schedule.violation_sum[0] > 0
    proved = prove_system(batch, schedule, 1e-3)
    assert proved.bound == -np.inf
    assert proved.of_reservoirs[-1].infeasible_step is not None


@pytest.mark.parametrize("price", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("lost", [0.0, 40.0, 70.0, 200.0])
def test_the_line_of_a_link_is_above_what_arrives(lost, price):
    system, inflows = whole(1)
    batch, _ = year_of(system, inflows)
    source, target = system.names[0], system.names[-1]
    link = Link(source, target, 0.7, travel_steps=1.4, lost_share=0.1, lost_m3s=lost, before_m3s=80.0)
    carried, random = LinkFlow.of(batch, link), np.random.default_rng(2)
    low, high = np.full(12, 20.0), np.full(12, 180.0)
    slope, level = carried.line(np.full(12, price), (low, high))
    for _ in range(200):
        release = random.uniform(low, high)
        arriving = link.arriving_m3s(0.7 * release[None], batch.hm3_per_m3s)[0]
        np.testing.assert_allclose(carried.arriving(release), arriving, atol=1e-9)
        assert np.all(price * arriving <= price * (slope * (carried.brings @ release) + level) + 1e-9)
