"""Test problems as they are published: 480 months of 30 days, a squared shortage or the unused capacity."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import Calendar, Inflow, InputError, read_inflow, read_reservoir, save_plan, write_reservoir
from reservoir.hydro.calendar import CalendarKind
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.system import System
from reservoir.io.plan_folder.saved_plan import read_plan
from tests.objectives import independent as alone
from tests.objectives.test_dp_against_independent import SOLVERS, SUPPLY, plan_for, squared_supply_shortage

YEARS, SECONDS = 40, 30 * 86_400


@pytest.fixture(scope="module")
def river():
    random = np.random.default_rng(11)
    season = np.array([14, 12, 16, 26, 48, 70, 66, 52, 36, 26, 20, 16], float)
    years = np.minimum(random.lognormal(0, 0.3, (YEARS, 1)) * random.lognormal(0, 0.2, (YEARS, 12)), 2.5)
    return Inflow(season * years, Calendar(1960, YEARS))


@pytest.fixture(scope="module")
def published(lake):
    return replace(lake, calendar=CalendarKind.EQUAL_MONTHS)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("goal", [Goal.SUPPLY_SHORTAGE, Goal.UNUSED_CAPACITY])
def test_480_months_are_solved_as_by_an_independent_program(published, river, expected, goal, solver):
    objective = Objective({goal: 1}, supply_target_m3s=SUPPLY if goal is Goal.SUPPLY_SHORTAGE else None)
    plan = plan_for(published, river, objective, solver)
    assert plan.benefit.sum() == pytest.approx(expected[goal], rel=1e-5)


@pytest.fixture(scope="module")
def expected(river):
    record = alone.Lake(river.flow_m3s.ravel(), np.full(12 * YEARS, SECONDS, float))
    unused = lambda step, power, release, seconds: power / alone.INSTALLED - 1  # noqa: E731
    benefits = {Goal.SUPPLY_SHORTAGE: squared_supply_shortage, Goal.UNUSED_CAPACITY: unused}
    return {goal: -record.best(benefit)[0] for goal, benefit in benefits.items()}


def test_a_month_has_thirty_days_in_every_table(published, river):
    plan = plan_for(published, river.span(0, 2), Objective({Goal.UNUSED_CAPACITY: 1}), "dp")
    table = plan.schedule()
    change = table["storage_end_hm3"] - table["storage_start_hm3"]
    np.testing.assert_allclose(change, (table["inflow_m3s"] - table["release_m3s"]) * SECONDS / 1e6, atol=1e-9)
    np.testing.assert_allclose(table["energy_gwh"], table["power_mw"] * 720 / 1000, rtol=1e-12)


def test_volumes_of_a_record_stay_what_they_are(published, tmp_path):
    rows = "\n".join(
        f"{year}," + ",".join(str(20 + year - 1960 + month) for month in range(12)) for year in (1960, 1961)
    )
    path = tmp_path / "volumes.csv"
    path.write_text("# unit: hm3\nyear," + ",".join(f"m{month:02}" for month in range(1, 13)) + f"\n{rows}\n")
    record = System.of(published).on_calendar(read_inflow(path))
    volumes = record.flow_m3s * record.calendar.hm3_per_m3s
    np.testing.assert_allclose(volumes[0], np.arange(20, 32), rtol=1e-12)
    assert System.of(published).on_calendar(record) is record


def test_a_plan_with_equal_months_is_read_back(published, river, tmp_path):
    plan = plan_for(published, river.span(0, 2), Objective({Goal.UNUSED_CAPACITY: 1}), "dp")
    again = read_plan(save_plan(plan, tmp_path / "plan", figures=False)).plan
    np.testing.assert_array_equal(again.benefit, plan.benefit)
    assert again.inflow.calendar.kind is CalendarKind.EQUAL_MONTHS


def test_a_reservoir_file_says_it(published, tmp_path):
    path = tmp_path / "lake.toml"
    path.write_text(write_reservoir(published))
    assert 'calendar = "equal-months"' in path.read_text()
    assert read_reservoir(path).calendar is CalendarKind.EQUAL_MONTHS


def test_a_record_of_equal_months_needs_such_a_reservoir(lake, published, river):
    with pytest.raises(InputError, match='set calendar = "equal-months"'):
        System.of(lake).on_calendar(System.of(published).on_calendar(river))
