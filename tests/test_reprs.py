"""A reservoir, a record and a plan are displayed as one line."""

from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.reservoir_toml.reader import reservoir_of
from tests.io.small_reservoir import SMALL

LAKE = reservoir_of(SMALL.encode(), "")


def record(years=3, first_month=1, flow_m3s=30.0):
    return Inflow(np.full((years, 12), flow_m3s), Calendar(1990, years, first_month))


def test_a_reservoir_is_named_with_its_storages_and_power():
    assert repr(LAKE) == "<Reservoir small: 20 to 120 hm3, 30 MW>"


@pytest.mark.parametrize(
    ("inflow", "shown"),
    [
        (record(), "<Inflow 1990 to 1992: 3 years, mean 30 m3/s>"),
        (record(1), "<Inflow 1990: 1 year, mean 30 m3/s>"),
        (record(2, 10, 1234.5), "<Inflow 1990/91 to 1991/92: 2 years, mean 1,234 m3/s>"),
    ],
)
def test_a_record_is_shown_with_its_years_and_mean_flow(inflow, shown):
    assert repr(inflow) == shown


@pytest.mark.parametrize(("horizon", "shown"), [("year", "year"), ("record", "record"), (2, "2")])
def test_a_plan_is_shown_with_its_energy_solver_and_horizon(horizon, shown):
    plan = reservoir.optimise(LAKE, record(), horizon=horizon, solver="dp")
    energy = f"{plan.energy_gwh.sum():.4g}"
    assert repr(plan) == f"<Plan of small: {energy} GWh in 3 years, by dp, horizon {shown}>"


def test_a_plan_says_how_many_years_keep_their_limits():
    dry = replace(record(), flow_m3s=np.array([[30.0], [0.0], [30.0]]).repeat(12, axis=1))
    plan = reservoir.optimise(LAKE, dry, solver="dp")
    assert "GWh in 3 years, 2 of which keep their limits, by dp" in repr(plan)
