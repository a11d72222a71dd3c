"""Years without water for the least release: no schedule that lacks that water alone exceeds what is proved of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.certificate.bound import Effort, Known, bound_pairs, prove_bound
from reservoir.certificate.cells import Cells, pairs_of
from reservoir.certificate.reachable import reachable, stages_to_prove
from reservoir.certificate.stages import stages_of
from reservoir.certificate.together import prove_together
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import reaching_down
from reservoir.hydro.objectives import Goal
from reservoir.hydro.step import unmet_minimum
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.zoo import zoo_case
from tests.certificate.cases import MONTHS, one_cell_a_time, random_schedules, with_objective
from tests.certificate.device_cases import of_device
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import free, valued

YEARS, SHORT = 3, 3


def dry(reservoir, wetness, start=0.3, seed=7):
    """Years in which the inflow is a part of the least release, and the start a part of what is missing all year.

    A storage limit above dead storage would be violated first.
    """
    dead, full = float(reservoir.storage_lower_hm3.min()), float(reservoir.storage_upper_hm3[-1])
    least = 0.25 * float(np.mean(reservoir.release_upper_m3s))
    missing = least * (1 - wetness) * 12 * 2.63
    limits = {"storage_lower_hm3": np.full(12, dead), "release_lower_m3s": np.full(12, least)}
    limits["initial_storage_hm3"] = min(dead + start * missing, full)
    random = np.random.default_rng(seed)
    flows = least * wetness * MONTHS / MONTHS.mean() * random.lognormal(0, 0.3, (YEARS, 12))
    return reservoir_problems(replace(reservoir, **limits), Inflow(flows, Calendar(1990, YEARS, reservoir.first_month)))


def evaporating(reservoir):
    return replace(reservoir, evaporation_mm=np.linspace(20, 300, 12))


def undemanding(reservoir):
    """Without withdrawals and a lowest power, which a dry year would miss as well."""
    of_year = {"year_end": YearEnd.FREE, "initial_storage_hm3": float(reservoir.storage_upper_hm3[-1])}
    demands = {"withdrawal_m3s": np.zeros(12), "power_lower_mw": np.zeros(12)}
    return replace(reservoir, **of_year, **demands, final_storage_hm3=None)


CASES = {
    **{f"random {seed}": dry(free(random_reservoir(seed)), 0.6) for seed in range(6)},
    "no inflow": dry(free(random_reservoir(2)), 0.0),
    "almost enough": dry(free(random_reservoir(4)), 0.85, 0.7),
    "empty from the start": dry(free(random_reservoir(3)), 0.5, 0.0),
    "below dead storage": dry(evaporating(free(random_reservoir(3))), 0.02, 0.1),
    "losses": dry(evaporating(free(random_reservoir(1))), 0.6),
    "valued": dry(valued(random_reservoir(4), 0.2), 0.5),
    "revenue": dry(with_objective(free(random_reservoir(4)), Goal.REVENUE), 0.6),
    "supply": dry(with_objective(free(random_reservoir(4)), Goal.SUPPLY_SHORTAGE), 0.6),
    "power": dry(with_objective(free(random_reservoir(4)), Goal.POWER_SHORTAGE), 0.6),
    **{f"zoo {number}": dry(undemanding(zoo_case(number, YEARS).reservoir), 0.6) for number in range(4)},
}


def lacking_alone(years, made):
    """Whether schedules violate nothing but the least release, shape (schedules,)."""
    arrays = years.exact_year
    per_missing = np.asarray(arrays.per_missing)[..., np.newaxis] * arrays.hm3_per_m3s
    missed = unmet_minimum(made.operation.draft_m3s, arrays.release_lower, per_missing)
    return np.all(np.abs(made.operation.violation - missed) < 1e-12, axis=-1)


def short_stages(year):
    """The stages of a year without enough water, which it must be."""
    stages = stages_to_prove(year.limits, year.penalty)
    assert (stages.missing_price > 0).all()
    return stages


def solved(problems):
    """The first year, its best schedule by dynamic programming, which lacks nothing but water, and its fitness."""
    (found,) = solve([problems[0]], solver="dp")
    made = problems[:1].certify(found.position[np.newaxis])
    assert made.violation[0] > 0
    assert lacking_alone(problems[:1], made).all()
    return Known(problems[0], made.operation.storage_hm3[0], float(made.fitness[0]))


@pytest.mark.parametrize("name", CASES)
def test_the_best_schedule_of_a_year_without_enough_water_is_proved_and_none_exceeds_it(name):
    problems = CASES[name]
    known = solved(problems)
    found = prove_bound(*known, Effort(gap=1e-5, seconds=20.0))
    assert found.infeasible
    assert found.infeasible_step == reachable(known.year.limits, stages_of(known.year.limits)).empty_step
    assert 0 <= found.bound - known.fitness <= 2e-5 * abs(known.fitness)
    for made in random_schedules(problems, 200, np.random.default_rng(5)):
        if lacking_alone(problems, made)[0]:
            assert made.fitness[0] <= found.bound


def last_months(problems, share):
    """The last months of the first year as a year, from a part of the water above dead storage that they would need."""
    limits = problems.limits[:1].from_step(12 - SHORT)
    missing = (limits.release_lower_m3s - limits.inflow_m3s)[0] @ limits.hm3_per_m3s[0]
    limits = limits.begun_at(limits.dead_hm3 + share * missing)
    return replace(problems, limits=reaching_down(limits), labels=["1"], rng_stream_ids=np.zeros(1, np.int64))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("name", CASES)
def test_an_exhaustive_search_of_schedules_that_lack_water_never_exceeds_the_bound(name, share):
    problems = last_months(CASES[name], share)
    year = problems[0]
    stages = stages_to_prove(year.limits, year.penalty)
    if not (stages.missing_price > 0).any():
        pytest.skip("there is enough water")
    axes = [np.linspace(low, high, 41) for low, high in zip(year.lower, year.upper, strict=True)]
    given = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, SHORT)
    many = replace(problems, limits=problems.limits[np.zeros(len(given), np.intp)], labels=["1"] * len(given))
    many = replace(many, rng_stream_ids=np.zeros(len(given), np.int64))
    made = many.certify(given)
    assert (made.violation > 0).all()
    alone = np.flatnonzero(lacking_alone(many, made))
    best = alone[made.fitness[alone].argmax()]
    most = float(made.fitness[best])
    found = prove_bound(year, made.operation.storage_hm3[best], most, Effort(gap=1e-6, seconds=5.0))
    assert most <= found.bound <= most + 0.02 * abs(most)


def boxes_about(name, count, width, seed=1):
    """Stages of a year, cells about schedules that lack water alone, and their brackets: benefit less cost, and values.

    Widths are powers of ten of parts of the range of storages.
    """
    problems, random = CASES[name][:1], np.random.default_rng(seed)
    year, horizons, cells, exact, scales = problems[0], [], [], [], []
    arrays = year.exact_year
    for made in random_schedules(problems, count, random):
        if not lacking_alone(problems, made)[0]:
            continue
        operation = made.operation[0]
        missed = unmet_minimum(operation.draft_m3s, arrays.release_lower, arrays.per_missing * arrays.hm3_per_m3s)
        worth, storages = operation.stage_benefit - year.penalty * missed, operation.storage_hm3
        times, range_hm3 = len(storages), np.ptp(storages) + 1e-9
        widths, share = range_hm3 * 10.0 ** random.uniform(*width, times), random.random(times)
        low, high = storages - share * widths, storages + (1 - share) * widths
        scale = np.abs(worth).max() + 1e-9
        value, slope = random.normal(size=times), random.normal(size=times) * scale / range_hm3
        cells.append(Cells(*one_cell_a_time(times), low, high, value, slope))
        exact.append(worth + np.diff(value + slope * (storages - 0.5 * (low + high))))
        horizons.append(short_stages(year))
        scales.append(np.full(times - 1, scale + np.abs(value).max()))
    return year.model.exact, horizons, cells, np.concatenate(exact), np.concatenate(scales)


@pytest.mark.parametrize("name", CASES)
def test_no_step_with_too_little_water_exceeds_the_bound_of_its_box(name, device):
    plant, horizons, cells, exact, scales = boxes_about(name, 150, (-7, -0.3))
    assert len(horizons) > 50
    found = []
    for stages, each in zip(horizons, cells, strict=True):
        found.append(np.zeros(len(each.lower) - 1))
        bound_pairs(plant, stages, each, found[-1], 0, len(found[-1]))
    assert np.max((exact - np.concatenate(found)) / scales) <= 1e-12
    single = of_device(device, plant, horizons, pairs_of(cells), single=True)
    assert np.max((exact - single) / scales) <= 0


@pytest.mark.parametrize("name", ["random 2", "below dead storage", "supply"])
def test_a_device_proves_them_as_threads_do(name, device):
    known, effort = solved(CASES[name]), Effort(gap=1e-4, seconds=30.0)
    expected = prove_bound(*known, effort)
    (found,) = prove_together(device, [known], effort)
    assert found.bound == pytest.approx(expected.bound, rel=1e-12)
    assert found.infeasible_step == expected.infeasible_step
    (single,) = prove_together(device, [known], effort, single=True)
    assert known.fitness <= single.bound <= known.fitness + 1e-3 * abs(known.fitness)


def test_what_is_missing_costs_as_much_as_in_the_fitness():
    """At dead storage, with no inflow, nothing can be released: all is missing, and nothing else can be proved."""
    year = dry(free(random_reservoir(2)), 0.0, 0.0)[0]
    storages = np.full(13, float(year.limits.dead_hm3))
    found = prove_bound(year, storages, None)
    arrays = year.exact_year
    missing = year.penalty * arrays.per_missing * (arrays.release_lower @ arrays.hm3_per_m3s)
    assert year.certify(year.lower).fitness == pytest.approx(-missing, rel=1e-9)
    assert -missing <= found.bound <= -missing * (1 - 1e-4)


def test_what_counts_as_nothing_missing_costs_nothing():
    """All months at dead storage miss less than a millionth, which is kept, but for the last, which misses all."""
    year = dry(free(random_reservoir(2)), 0.0, 0.0)[0]
    inflow = year.limits.release_lower_m3s * (1 - 9e-7)
    inflow[-1] = 0.0
    year = replace(year, limits=year.limits.changed(inflow_m3s=inflow))
    made = year.certify(year.lower)
    assert 0.9 < made.violation <= 1
    found = prove_bound(year, np.full(13, float(year.limits.dead_hm3)), made.fitness, Effort(gap=1e-7))
    assert made.fitness <= found.bound <= made.fitness + 3e-6 * abs(made.fitness)


def test_the_release_falls_short_only_where_it_must_and_never_beside_withdrawals():
    wet = dry(free(random_reservoir(2)), 3.0, 0.0)[0]
    assert not stages_to_prove(wet.limits, wet.penalty).missing_price.any()
    thirsty = replace(free(random_reservoir(2)), withdrawal_m3s=np.full(12, 1.0))
    year = dry(thirsty, 0.5)[0]
    assert not stages_to_prove(year.limits, year.penalty).missing_price.any()
    found = prove_bound(year, np.full(13, float(year.limits.initial_storage_hm3)), None)
    assert found.bound == -np.inf
    assert found.infeasible
