"""A system of one: what reservoirs share comes from it."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import CalendarKind, TimeStep
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.record_rows import terms_of
from reservoir.hydro.system import Link, System
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirModel


def test_a_system_of_one_says_what_its_file_says(small):
    shared = {"penalty": 12.0, "horizon": Horizon(2), "objective": Objective({Goal.ENERGY: 2.0})}
    given = replace(small, **shared)
    system = System.of(given)
    assert (system.reservoirs, system.links, system.reservoir) == ((given,), (), given)
    assert {name: getattr(system, name) for name in shared} == shared
    assert (system.first_month, system.calendar, system.step) == (given.first_month, given.calendar, given.step)
    assert system.least_gap_scale == given.objective.least_scale(given.installed_mw)


def test_problems_read_what_is_shared_from_their_system(small, small_inflow):
    (batch,) = record_problems(small, small_inflow, Horizon()).batches
    model = replace(batch.model, system=replace(batch.model.system, penalty=7.0))
    assert (replace(batch, model=model).penalty, batch.penalty) == (7.0, small.penalty)
    assert batch.model is ReservoirModel.of(small)
    assert batch.model.reservoir is small


def test_terms_are_those_of_the_objective_of_the_system(small, small_inflow):
    system = System.of(small)
    assert terms_of(system, small_inflow) == {}
    target = Objective({Goal.SUPPLY_SHORTAGE: 1.0}, supply_target_m3s=np.arange(1.0, 13.0))
    terms = terms_of(replace(system, objective=target), small_inflow)
    np.testing.assert_array_equal(terms["supply_target"][0], small.by_step(np.arange(1.0, 13.0)))
    assert terms["supply_cost_squared"].shape == small_inflow.flow_m3s.shape


def test_the_horizon_is_that_of_the_system_unless_a_call_asks_for_another(small):
    system = System.of(replace(small, horizon=Horizon(3)))
    assert system.asked_horizon(None) == Horizon(3)
    assert system.asked_horizon("record") == Horizon(None)


def test_a_record_is_on_the_calendar_of_the_system(small, small_inflow):
    system = System.of(small)
    assert system.on_calendar(small_inflow) is small_inflow
    equal = replace(system, calendar=CalendarKind.EQUAL_MONTHS).on_calendar(small_inflow)
    assert (equal.calendar.days == 30).all()
    with pytest.raises(InputError, match="water years begin in"):
        replace(system, first_month=1).on_calendar(small_inflow)


@pytest.mark.parametrize(
    ("steps", "step", "words"),
    [
        (0.0, TimeStep.MONTH, ""),
        (12 / 730.5, TimeStep.MONTH, "12 h"),
        (1.0, TimeStep.MONTH, "30.4 days"),
        (0.5, TimeStep.DAY, "12 h"),
        (1.0, TimeStep.WEEK, "7 days"),
    ],
)
def test_a_time_of_travel_is_told_in_hours_or_days(steps, step, words):
    assert Link("high", "low", travel_steps=steps).travel_in_words(step) == words
