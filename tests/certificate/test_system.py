"""No joint schedule exceeds the bound of its system, which is close to the best known of a real cascade."""

from __future__ import annotations

import itertools
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
from reservoir.certificate.shortages import Shortage
from reservoir.certificate.single import LinkFlow
from reservoir.certificate.system import SystemProblem, prove_system
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.system import Carried, Link
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import zoo_system

ONE = np.array([0])


def year_of(system, inflows, solver="slp"):
    """A year of a system, and a schedule of it."""
    plan = optimise_system(system, inflows, solver=solver)
    return plan.problems.batches[0][ONE], plan.operation


def whole(number):
    """A small random river none of whose links is split."""
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


@pytest.mark.parametrize(("number", "part"), [(1, 0.85), (2, 0.5)])
def test_prices_of_water_years_by_themselves_do_for_a_record(number, part):
    plan = optimise_system(*zoo_system(number, 3, reservoirs=3), solver="slp", horizon="record")
    (batch,) = plan.problems.batches
    problem = SystemProblem(batch, batch.operate(np.stack([plan.solutions[0].position])), threads=2)
    first = multipliers(batch, problem.schedule)
    joined = problem.joined_prices(first, 3e-4, np.inf)
    left, before = (problem.valued(prices)[0] - problem.fitness for prices in (joined, first))
    assert left < part * before
    now = problem.joined_prices(first, 3e-4, -np.inf)  # without time, as they were
    np.testing.assert_array_equal(now, first)


def test_paths_reach_an_end_that_is_only_just_in_reach():
    batch, schedule = year_of(*lancang("lancang-2", 1957))
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    random = np.random.default_rng(1)
    for _ in range(30):  # a tenth of these empty the lake as far as it may be
        paths = problem.valued(prices * random.uniform(0.5, 1.5, prices.shape))[-1]
        assert np.isfinite([path.worth for path in paths]).all()


def test_a_sum_of_convex_functions_is_made_small():
    def evaluated(at):
        return np.abs(at - [1.0, 3.0, 0.5]), np.diag(np.sign(at - [1.0, 3.0, 0.5]))

    found, least = least_sum(evaluated, np.array([4.0, -2.0, 0.3]), 1e-9, 60)
    assert least == pytest.approx(np.abs(found - [1.0, 3.0, 0.5]).sum())
    assert least < 1e-5
    at_once, _ = least_sum(evaluated, np.array([4.0, -2.0, 0.3]), 1e-9, 60, until=0.0)
    assert at_once.tolist() == [4.0, -2.0, 0.3]


def test_two_schedules_are_told_apart_and_neither_is_better_than_the_bound_of_its_part():
    batch, schedule = year_of(*whole(4))
    problem, prices, random = SystemProblem(batch, schedule), multipliers(batch, schedule), np.random.default_rng(4)
    near, most = batch.positions_of(schedule), problem.proven(prices, 1e-2, 600.0).bound
    for _ in range(4):
        other = batch.operate(near + 0.5 * (random.random(near.shape) ** random.choice([0.2, 3.0]) - near))
        if other.violation_sum[0] > 0:
            continue
        paths = [SimpleNamespace(storages_hm3=own.storage_hm3[0]) for own in other.of_reservoirs]
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(SystemProblem, "valued", lambda *_, of=paths: (0.0, 0.0, [], of))
            halves = problem.halves(prices)
        bounds = [half.proven(prices, 1e-2, 600.0).bound for half in halves]
        assert max(bounds) <= 1.01 * most
        found = []
        for made in (schedule, other):
            storages = [own.storage_hm3[0, :-1] for own in made.of_reservoirs]
            there = [_has(half.singles, storages) for half in halves]
            assert sum(there) == 1
            found.append(there.index(True))
            assert float(batch.fitness_of(made)[0]) <= bounds[found[-1]]
        assert sorted(found) == [0, 1]


def _has(singles, storages):
    """Whether storages at the starts of steps are within those of a part."""
    return all(
        np.all((of.known.lower[:-1] - 1e-3 <= each) & (each <= of.known.upper[:-1] + 1e-3))
        for of, each in zip(singles, storages, strict=True)
    )


def test_a_proof_ends_with_its_time(monkeypatch):
    clock, tried, valued = count(), [], SystemProblem.valued
    for module in (certificate, bundle):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(SystemProblem, "valued", lambda self, prices: tried.append(1) or valued(self, prices))
    batch, schedule = year_of(*lancang("lancang-2", 2001))
    assert prove_system(batch, schedule, 1e-9, seconds=12.0).bound >= float(batch.fitness_of(schedule)[0])
    assert len(tried) == 8  # prices take half of the time; at them are a bound, and where a better schedule may be


def split(number):
    """The same, but what the first turbines take goes on, and the rest to the last."""
    system, inflows = whole(number)
    first, last = replace(system.links[0], carries=Carried.TURBINED), system.names[-1]
    others = [link for link in system.links if link.source != first.source]
    return replace(system, links=(first, replace(first, target=last, carries=Carried.SPILLED), *others)), inflows


def demanded(number, **terms):
    """A split river whose plants are to give a power together, and to let water go."""
    system, inflows = split(number)
    made = optimise_system(system, inflows, solver="slp").operation
    power, leaving = made.power_mw, made.leaving_m3s
    weights = {Goal.ENERGY: 1.0}
    if not terms:
        weights |= {Goal.POWER_SHORTAGE: 0.1 * system.penalty, Goal.SUPPLY_SHORTAGE: 0.1 * system.penalty}
        terms = {"power_target_mw": float(power.mean()), "supply_target_m3s": float(leaving.mean())}
    return replace(system, objective=Objective(weights, **terms), penalty=None), inflows


def promised(number):
    """A split river whose plants must give a power together."""
    made = optimise_system(*split(number), solver="slp").operation
    return demanded(number, firm_power_mw=float(np.quantile(made.power_mw, 0.2)))


@pytest.mark.parametrize(
    ("of", "number", "most_over"),
    [(whole, 2, 0.02), (whole, 3, 0.02), (whole, 4, 0.02), (split, 3, 1e-3), (demanded, 3, 0.03), (promised, 3, 2e-3)],
)
def test_no_schedule_of_a_random_river_exceeds_its_bound_at_any_prices(of, number, most_over):
    batch, schedule = year_of(*of(number))
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
    assert bounds[0] <= problem.fitness * (1.0 + most_over)


def test_nothing_is_proved_where_a_lake_may_run_dry():
    batch, schedule = year_of(*whole(2))
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    first = problem.singles[0]
    problem.singles[0] = replace(first, known=replace(first.known, may_run_dry=True))
    assert problem.proven(prices, 1e-3, 600.0).bound == np.inf


@pytest.mark.parametrize("higher", [0.0, 10.0])
def test_a_lake_below_takes_no_more_of_the_head_than_it_must(monkeypatch, higher):
    batch, schedule = year_of(*lancang("lancang-5", 1976, backwater=True))
    told, random = SystemProblem._tailwater, np.random.default_rng(3)

    def tailwater(self, place, years):
        between = told(self, place, years)
        return None if between is None else (between[0] + higher, between[1] + higher)

    monkeypatch.setattr(SystemProblem, "_tailwater", tailwater)  # that the lake is too high is found out
    problem, near = SystemProblem(batch, schedule), batch.positions_of(schedule)
    lowest, over = problem.singles[0].stages.tailwater, -np.inf
    for _ in range(20):
        made = batch.operate(near + 0.5 * (random.random(near.shape) ** 3.0 - near))
        level = made.of_reservoirs[1].mean_level_m[0]
        over = max(over, float((lowest - level).max()))
    assert (over <= 1e-6) == (higher == 0.0)
    prices = multipliers(batch, schedule)
    prices[-len(batch.system.backed_up) :] = 0.0  # the lake is as low as it may be
    bound = problem.proven(prices, 1e-2, 600.0).bound
    assert (problem.fitness <= bound) == (higher == 0.0)
    assert bound <= 1.02 * problem.fitness


def test_prices_of_levels_bring_a_bound_near_a_schedule_with_backwater():
    batch, schedule = year_of(*lancang("lancang-5", 1976, backwater=True))
    problem, prices = SystemProblem(batch, schedule), multipliers(batch, schedule)
    levels = slice(-len(batch.system.backed_up), None)
    assert prices[levels].max() > 0.0
    free = prices.copy()
    free[levels] = 0.0
    priced, unpriced = (problem.proven(each, 1e-3, 6000.0).bound / problem.fitness - 1.0 for each in (prices, free))
    assert 0.0 < priced < 0.75 * unpriced
    worth, *_, paths = problem.valued(prices)
    slopes, apart = problem.slopes(prices, paths).sum(axis=0), 0.1 * prices.max()
    for step, sign in itertools.product((1, 9), (1.0, -1.0)):  # a convex function is above its tangents
        moved = prices.copy()
        moved[-4, step] += sign * apart
        assert problem.valued(moved)[0] >= worth + sign * apart * slopes[-4, step] - 1e-7 * worth


#: Mistakes in what a link brings.
LINKS = {
    "none": lambda carried: carried,
    "a share is left out": lambda carried: carried._replace(brings=0.5 * carried.brings),
    "a step later": lambda carried: carried._replace(brings=np.roll(carried.brings, 1, axis=0)),
    "nothing is under way": lambda carried: carried._replace(fixed=0.0 * carried.fixed),
    "a loss is left out": lambda carried: carried._replace(lost_m3s=0.0),
    "more is lost": lambda carried: carried._replace(lost_m3s=carried.lost_m3s + 5.0),
    "all is taken by turbines": lambda carried: carried._replace(parts=(1.0, 0.0)),
    "what is spilled is not missed": lambda carried: carried._replace(parts=(carried.parts[0], -carried.parts[1])),
}

#: Mistakes in what a sum is worth.
SUMS = {
    "none": lambda shortage: shortage,
    "a higher target": lambda shortage: shortage._replace(target=1.2 * shortage.target),
    "a shortage costs twice as much": lambda shortage: shortage._replace(squared=2.0 * shortage.squared),
    "power for water": lambda shortage: shortage._replace(of_power=not shortage.of_power),
}


def operated_near(batch, schedule, count, random):
    """Schedules near one that keep the limits."""
    near = batch.positions_of(schedule)
    for share in random.random(count):
        position = random.random((1, batch.dimension)) ** random.choice([0.2, 1.0, 3.0])
        made = batch.operate(near + 0.2 * share * (position - near))
        if made.violation_sum[0] == 0:
            yield made


def paid_more(problem, prices, made):
    """What all are paid for their water and power at prices, less what it costs them and what the sums come to."""
    frees, paid = problem.frees(prices)
    paid -= float((made.stage_benefit - made.total("stage_benefit")).sum())
    for free, own, arriving in zip(frees, made.of_reservoirs, made.arriving_m3s, strict=True):
        paid += float(free.paid @ own.release_m3s[0] + free.turbined @ own.turbined_m3s[0])
        paid += float(free.power @ own.power_mw[0])
        paid -= 0.0 if arriving is None else float(free.price @ arriving[0])
    return paid


@pytest.mark.parametrize("mistake", LINKS)
def test_no_schedule_is_charged_more_for_its_water_than_it_is_paid_at_any_prices(mistake):
    system, inflows = split(7)
    links = tuple(replace(each, travel_steps=1.4, lost_m3s=3.0, before_m3s=30.0) for each in system.links)
    batch, schedule = year_of(replace(system, links=links), inflows)
    random, problem = np.random.default_rng(1), SystemProblem(batch, schedule)
    problem.links = [LINKS[mistake](each) for each in problem.links]
    found = [
        paid_more(problem, random.normal(size=(len(system.reservoirs), batch.steps)), made)
        for made in operated_near(batch, schedule, 40, random)
    ]
    assert len(found) > 10
    assert (min(found) >= -1e-6) == (mistake == "none")


@pytest.mark.parametrize("mistake", SUMS)
def test_no_schedule_is_charged_more_for_a_shortage_than_it_costs_at_any_prices(mistake):
    batch, schedule = year_of(*demanded(7))
    random, problem, found = np.random.default_rng(1), SystemProblem(batch, schedule), []
    told, problem.shortages = problem.shortages, [SUMS[mistake](each) for each in problem.shortages]
    for made in operated_near(batch, schedule, 40, random):
        sums = [(made.power_mw if each.of_power else made.leaving_m3s)[0] for each in told]
        best = [low + random.random() * (high - low) for low, high in map(Shortage.prices, told, sums)]
        for of_sums in (best, [each.steepest * random.random(batch.steps) for each in told]):
            prices = np.concatenate([np.zeros((len(batch.years), batch.steps)), of_sums])
            found.append((paid_more(problem, prices, made), of_sums is best))
    spare = np.array([worth for worth, _ in found])
    tight = np.array([worth for worth, at_best in found if at_best])
    assert len(tight) > 10
    assert (spare.min() >= -1e-6 and np.abs(tight).max() <= 1e-6 * problem.fitness) == (mistake == "none")


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
