"""Horizons of several kinds of reservoir, random schedules of them, and what their stages are bounded by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reservoir.certificate.bound import bound_pairs
from reservoir.certificate.cells import Cells
from reservoir.certificate.stages import stages_of
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Objective
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.zoo import zoo_case
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import free

YEARS = 3
MONTHS = np.array([14, 12, 16, 26, 48, 70, 66, 52, 36, 26, 20, 16], float)


def problems_of(reservoir) -> ReservoirYears:
    random, flow = np.random.default_rng(7), float(np.mean(reservoir.release_upper_m3s)) * 0.45
    flows = flow * MONTHS / MONTHS.mean() * random.lognormal(0, 0.3, (YEARS, 12))
    return reservoir_problems(reservoir, Inflow(flows, Calendar(1990, YEARS)))


def with_losses(reservoir):
    """Evaporation, seepage, withdrawals, a plant factor, a lowest power and a lowest operating level."""
    middle = float(reservoir.level(np.mean(reservoir.storage_lower_hm3) * 1.3))
    least = float(reservoir.release_lower_m3s.max())
    return replace(
        reservoir,
        evaporation_mm=np.linspace(20, 200, 12),
        withdrawal_m3s=np.linspace(0, 0.5 * least, 12),
        plant_factor=np.linspace(0.8, 1.0, 12),
        power_lower_mw=np.full(12, 0.02 * reservoir.installed_mw),
        operating_level_m=middle,
    )


def with_objective(reservoir, goal):
    """Another goal than energy, in part weighted with it."""
    weights = {goal: 1.0} if goal in (Goal.REVENUE, Goal.UNUSED_CAPACITY) else {goal: 2.0, Goal.ENERGY: 1e-3}
    objective = Objective(
        weights,
        price_per_mwh=np.linspace(20, 90, 12),
        power_target_mw=np.full(12, 0.5 * reservoir.installed_mw),
        supply_target_m3s=np.full(12, 0.4 * float(reservoir.release_upper_m3s.mean())),
    )
    return replace(reservoir, objective=objective)


def every_case() -> dict[str, ReservoirYears]:
    """Problems by what is special about them."""
    found = {f"random {seed}": problems_of(random_reservoir(seed)) for seed in range(6)}
    found["losses"] = problems_of(with_losses(free(random_reservoir(1))))
    for goal in (Goal.REVENUE, Goal.POWER_SHORTAGE, Goal.SUPPLY_SHORTAGE, Goal.UNUSED_CAPACITY):
        found[str(goal)] = problems_of(with_objective(random_reservoir(4), goal))
    prices = with_objective(random_reservoir(1), Goal.REVENUE).objective
    prices = replace(prices, price_per_mwh=np.linspace(-10, 60, 12))
    negative = replace(random_reservoir(1), objective=prices)
    found["negative prices"] = problems_of(negative)
    found["negative prices, losses"] = problems_of(with_losses(free(negative)))
    short = replace(prices, weights={Goal.REVENUE: 1.0, Goal.POWER_SHORTAGE: 2.0})
    found["negative prices, shortage"] = problems_of(replace(negative, objective=short))
    promised = replace(Objective(), firm_power_mw=0.3 * random_reservoir(4).installed_mw)
    found["firm power"] = problems_of(replace(random_reservoir(4), objective=promised))
    for number in range(4):
        case = zoo_case(number, YEARS)
        found[f"zoo {number}"] = reservoir_problems(case.reservoir, case.inflow)
    return found


def random_schedules(problems: ReservoirYears, count: int, random):
    """Releases and starts anywhere within their bounds, operated."""
    lower, upper = problems.lower, problems.upper
    for _ in range(count):
        share = random.random(lower.shape) ** random.choice([0.3, 1.0, 3.0])
        yield problems.certify(lower + share * (upper - lower))


def one_cell_a_time(times):
    """Places of one cell at each time: of the first of a time, of the first end, and of the first pair."""
    return np.arange(times + 1), np.arange(1, times), np.arange(times)


def brackets_around(year, storages, widths, slopes, random):
    """Bounds of the brackets of all steps on boxes that contain a schedule, and the values at its storages."""
    share = random.random(len(storages))
    low = storages - share * widths
    high = low + widths
    low, high = np.minimum(low, storages), np.maximum(high, storages)
    middle, value = 0.5 * (low + high), random.normal(size=len(storages))
    cells = Cells(*one_cell_a_time(len(low)), low, high, value, slopes)
    brackets = np.zeros(len(low) - 1)
    bound_pairs(year.model.exact, stages_of(year.limits), cells, brackets, 0, len(brackets))
    return brackets, value + slopes * (storages - middle)
