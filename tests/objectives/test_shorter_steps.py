"""Plans by ten-day periods, weeks and days are what an independent program finds from the dates alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pytest

from reservoir import Calendar, Inflow, TimeStep, optimise
from reservoir.hydro.objectives import Goal, Objective
from tests.objectives import independent as alone

PRICE = np.array([60, 55, 45, 35, 25, 20, 22, 30, 40, 48, 55, 62], float)
SOLVERS = ["dp", pytest.param("dp-opencl", marks=pytest.mark.device)]
#: First year and number of years of each step; all hold a leap day.
YEARS = {TimeStep.TEN_DAYS: (1990, 3), TimeStep.WEEK: (1991, 2), TimeStep.DAY: (1991, 2)}


def first_days(step: TimeStep, first: int, years: int) -> list[date]:
    """First days of the steps, and the day after the last, written from what the steps are."""
    days = [date(first, 1, 1) + timedelta(each) for each in range((date(first + years, 1, 1) - date(first, 1, 1)).days)]
    begins = {
        TimeStep.TEN_DAYS: lambda day: day.day in (1, 11, 21),
        TimeStep.WEEK: lambda day: day.timetuple().tm_yday % 7 == 1 and day.timetuple().tm_yday < 365,
        TimeStep.DAY: lambda day: (day.month, day.day) != (2, 29),
    }[step]
    return [*filter(begins, days), date(first + years, 1, 1)]


def flow_of(day: date) -> float:
    """An invented river, day by day."""
    at = (day - date(1990, 1, 1)).days
    return 45 + 28 * np.sin(2 * np.pi * (at - 110) / 365.25) + 8 * np.sin(at / 5.7) + 5 * np.sin(at / 1.9)


@pytest.fixture(scope="module", params=list(YEARS), ids=str)
def case(request):
    """The step, its record, and both for the independent program, with the month of each step."""
    step, (first, years) = request.param, YEARS[request.param]
    edges = first_days(step, first, years)
    lengths = [(after - before).days for before, after in pairwise(edges)]
    flows = [
        np.mean([flow_of(day + timedelta(each)) for each in range(length)])
        for day, length in zip(edges, lengths, strict=False)
    ]
    middles = [day + timedelta((length - 1) // 2) for day, length in zip(edges, lengths, strict=False)]
    months = np.resize(
        [day.month for day in middles if day.year == first], len(middles)
    )  # of a year without a leap day
    river = Inflow(np.reshape(flows, (years, -1)), Calendar(first, years, step=step))
    return step, river, alone.Lake(np.array(flows), np.array(lengths) * 86_400.0), months


def test_steps_begin_on_their_days(case):
    step, river, lake, _ = case
    first, years = YEARS[step]
    assert river.calendar.starts.ravel().tolist() == first_days(step, first, years)[:-1]
    assert (river.calendar.days.ravel() * 86_400.0 == lake.seconds).all()
    assert river.calendar.days.sum() == (date(first + years, 1, 1) - date(first, 1, 1)).days


@pytest.fixture(scope="module")
def expected(case):
    *_, lake, months = case

    def energy(step, power, release, seconds):
        return power * seconds / 3.6e6

    def revenue(step, power, release, seconds):
        return power * seconds / 3.6e9 * PRICE[months[step] - 1]

    return {"energy": lake.best(energy)[0], "revenue": lake.best(revenue)[0]}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("goal", ["energy", "revenue"])
def test_the_best_is_that_of_an_independent_program(lake, case, expected, goal, solver):
    step, river, *_ = case
    objective = Objective({Goal(goal): 1}, price_per_mwh=PRICE, currency="EUR")
    plan = optimise(replace(lake, step=step, objective=objective), river, solver=solver, horizon="record")
    assert plan.operation.benefit.sum() == pytest.approx(expected[goal], rel=1e-5)
    assert not plan.violation.any()


def test_values_by_step_are_those_of_their_months(lake, case):
    """Twelve values, and the list by step that they mean, are one reservoir to a solver."""
    step, river, _, months = case
    by_month = np.linspace(2.0, 7.5, 12)
    order = months[: step.per_year]
    monthly = replace(lake, step=step, release_lower_m3s=by_month, withdrawal_m3s=by_month / 10)
    listed = replace(monthly, release_lower_m3s=by_month[order - 1], withdrawal_m3s=by_month[order - 1] / 10)
    plans = [optimise(each, river, solver="dp", horizon="record") for each in (monthly, listed)]
    assert (plans[0].operation.release_m3s == plans[1].operation.release_m3s).all()


def test_the_evaporation_of_a_month_is_shared_by_the_days_of_its_steps(lake, case):
    step, river, *_ = case
    if step is TimeStep.WEEK:
        pytest.skip("a week may lie in two months")
    depth = np.linspace(30, 140, 12)
    plan = optimise(replace(lake, step=step, evaporation_mm=depth), river, solver="dp")
    shares = plan.problems.batches[0].limits.evaporation_mm
    of_months = [shares[0][river.calendar.months == month].sum() for month in range(1, 13)]
    assert of_months == pytest.approx(depth)
