"""Plans, simulations and folders by ten-day periods, weeks and days."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from reservoir import Calendar, Inflow, InputError, Reservoir, TimeStep, optimise, save_plan, simulate
from reservoir.hydro.calendar import CalendarKind
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.planning.plan import Plan

SHORTER = [TimeStep.TEN_DAYS, TimeStep.WEEK, TimeStep.DAY]


def record(plant: Reservoir, step: TimeStep, years: int = 2) -> Inflow:
    calendar = Calendar(1991, years, plant.first_month, step=step)
    days = (calendar.starts - calendar.starts[0, 0]).astype(int)
    return Inflow(35 + 25 * np.sin(2 * np.pi * days / 365.25) + 5 * np.sin(days / 9), calendar)


@pytest.fixture(params=SHORTER, ids=str)
def plan(request, small: Reservoir) -> Plan:
    plant = replace(small, step=request.param)
    return optimise(plant, record(plant, request.param), solver="dp")


def test_the_schedule_names_the_first_day_of_each_step(plan: Plan) -> None:
    table = plan.schedule()
    assert table["first_day"].tolist() == table.index.strftime("%Y-%m-%d").tolist()
    volume = table["storage_end_hm3"] - table["storage_start_hm3"]
    days = np.diff(plan.inflow.calendar.edges, axis=1).ravel()
    balance = (table["inflow_m3s"] - table["release_m3s"]) * days.astype(int) * 0.0864
    np.testing.assert_allclose(volume, balance, atol=1e-9)


def test_a_plan_is_read_back_from_its_folder(plan: Plan, tmp_path) -> None:
    again = read_plan(save_plan(plan, tmp_path / "plan", figures=False)).plan
    assert again.reservoir.step is plan.reservoir.step
    assert again.inflow.calendar.step is plan.reservoir.step
    np.testing.assert_array_equal(again.energy_gwh, plan.energy_gwh)
    assert again.schedule().equals(plan.schedule())


def test_given_releases_are_those_of_their_days(plan: Plan) -> None:
    table = plan.schedule()
    run = simulate(plan.reservoir, plan.inflow, table["release_m3s"].sample(frac=1, random_state=1), horizon="year")
    np.testing.assert_allclose(run.operation.release_m3s, plan.operation.release_m3s, rtol=1e-9)
    with pytest.raises(InputError, match="has no flow of 0 m3/s or more for 1"):
        simulate(plan.reservoir, plan.inflow, table["release_m3s"].drop(table.index[7]), horizon="year")


def test_every_step_of_the_dataset_has_its_day(plan: Plan) -> None:
    pytest.importorskip("xarray")
    days = np.ravel(plan.to_xarray()["date"])
    assert (pd.DatetimeIndex(days) == plan.schedule().index).all()


def test_water_values_are_those_at_the_start_of_months(plan: Plan) -> None:
    table = plan.water_values.table
    assert sorted(set(table["month"])) == list(range(1, 13))
    assert plan.water_values.month_end_gwh_per_hm3.shape == plan.inflow.flow_m3s.shape


def test_engines_of_twelve_storages_are_refused_by_name(small: Reservoir) -> None:
    plant = replace(small, step=TimeStep.TEN_DAYS)
    with pytest.raises(InputError, match="the solver island-ga cannot plan 36 ten-day periods as one problem"):
        optimise(plant, record(plant, TimeStep.TEN_DAYS), solver="island-ga")


@pytest.mark.device
def test_swarms_plan_them_in_windows(small: Reservoir) -> None:
    plant = replace(small, step=TimeStep.TEN_DAYS)
    plan = optimise(plant, record(plant, TimeStep.TEN_DAYS), solver="lshade", engine_only=True)
    assert np.abs(plan.gap).max() < 1e-3


def test_scenarios_begin_on_the_first_day_of_a_month(small: Reservoir) -> None:
    plant = replace(small, step=TimeStep.TEN_DAYS)
    plan = optimise(plant, record(plant, TimeStep.TEN_DAYS), solver="dp", start="2026-05", start_hm3=90.0)
    first = plan.schedule().iloc[0]
    assert first["first_day"] == "1992-05-01"
    assert plan.inflow.steps == 3 * ((plant.first_month - 5) % 12)


def test_weeks_begin_with_the_water_year_alone(small: Reservoir) -> None:
    plant = replace(small, step=TimeStep.WEEK)
    with pytest.raises(InputError, match="within a year of weeks"):
        optimise(plant, record(plant, TimeStep.WEEK), solver="dp", start="2026-05", start_hm3=90.0)


def test_record_and_reservoir_need_the_same_step(small: Reservoir) -> None:
    with pytest.raises(InputError, match="the record has days, the reservoir's step is the month"):
        optimise(small, record(small, TimeStep.DAY))


@pytest.mark.parametrize("step", SHORTER)
def test_lists_by_step_stand_in_a_reservoir_file(small: Reservoir, step: TimeStep, tmp_path) -> None:
    listed = replace(small, step=step, withdrawal_m3s=np.arange(step.per_year) / 1000)
    path = tmp_path / "small.toml"
    write_reservoir(listed, path)
    assert f'step = "{step}"' in path.read_text()


def test_lists_of_another_length_and_equal_months_are_refused(small: Reservoir) -> None:
    with pytest.raises(InputError, match='withdrawal_m3s: has 36 ten-day periods, but step is "week"'):
        replace(small, step=TimeStep.WEEK, withdrawal_m3s=np.ones(36))
    with pytest.raises(InputError, match="only months can be equal"):
        replace(small, step=TimeStep.DAY, calendar=CalendarKind.EQUAL_MONTHS)
