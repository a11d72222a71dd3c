"""Horizons whose end is valued by what the record implies."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Horizon
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning import start
from reservoir.planning.comparison import compare
from reservoir.planning.plan import optimise
from reservoir.planning.start import implied_end_value
from reservoir.problems.reservoir.record import record_problems
from tests.year_ends import cyclic


@pytest.fixture(scope="module")
def valued(small):
    """The small reservoir, with an end that the record is to value."""
    return replace(small, year_end=YearEnd.VALUED, initial_storage_hm3=100.0, final_storage_hm3=None)


@pytest.fixture(scope="module")
def river(small_inflow):
    return replace(small_inflow, flow_m3s=small_inflow.flow_m3s / 5)


@pytest.fixture(scope="module")
def plan(valued, river):
    return optimise(valued, river, solver="dp", horizon="record")


@pytest.fixture(scope="module")
def begun(valued, river):
    return optimise(valued, river, solver="dp", start="2026-10", start_hm3=60.0)


def test_the_value_of_the_record_is_the_same_for_every_horizon_engine_and_start(valued, river, plan, begun):
    value = implied_end_value(valued, river)
    assert 0 < value == plan.end_value_gwh_per_hm3
    assert plan.reservoir is valued
    years = optimise(valued, river, solver="lshade", evaluations=500, reference=False)
    assert years.end_value_gwh_per_hm3 == begun.end_value_gwh_per_hm3 == value
    given = optimise(replace(valued, end_value_gwh_per_hm3=value), river, solver="dp", horizon="record")
    assert np.array_equal(given.operation.release_m3s, plan.operation.release_m3s)


@pytest.mark.device
def test_a_device_gets_the_same_value(valued, river, plan):
    other = optimise(valued, river, solver="dp-opencl", horizon="record")
    assert other.end_value_gwh_per_hm3 == plan.end_value_gwh_per_hm3
    assert other.energy_gwh.sum() == pytest.approx(plan.energy_gwh.sum(), rel=1e-3)


def test_the_energy_of_the_record_is_about_that_of_the_cycle(small, river, plan):
    """The ends are about those of the cycle: neither emptied nor filled for nothing."""
    cycle = optimise(cyclic(small), river, solver="dp", horizon="record")
    ends = (each.operation.storage_hm3[-1, -1] for each in (plan, cycle))
    assert next(ends) == pytest.approx(next(ends), abs=2.0)
    started = 100 - cycle.operation.storage_hm3[0, 0]
    gained = plan.energy_gwh.sum() - cycle.energy_gwh.sum() - plan.end_value_gwh_per_hm3 * started
    assert abs(gained) < 0.01 * cycle.energy_gwh.sum()


def test_years_that_could_be_emptied_for_energy_leave_water(valued, river):
    free = replace(valued, year_end=YearEnd.FREE)
    left, emptied = (optimise(each, river, solver="dp").operation.storage_hm3[:, -1] for each in (valued, free))
    assert (left > emptied + 20).all()


def test_a_note_tells_the_value_and_the_month(plan, begun, valued, river):
    told = f"1 hm3 left at the end of May is worth {plan.end_value_gwh_per_hm3:g} GWh"
    assert sum(told in note for note in plan.notes) == 1
    assert sum(told in note for note in begun.notes) == 1
    given = optimise(replace(valued, end_value_gwh_per_hm3=0.1), river, solver="dp")
    assert given.end_value_gwh_per_hm3 == 0.1
    assert not any("is worth" in note for note in given.notes)


def test_other_ends_have_no_value_and_none_is_sought(small, river, monkeypatch):
    monkeypatch.setattr(start, "implied_end_value", None)
    assert optimise(small, river, solver="dp").end_value_gwh_per_hm3 is None


def test_solvers_are_compared_with_the_implied_value(valued, river, plan):
    (found,) = compare(valued, river, solvers=["dp"], horizon="record")
    assert found.benefit == pytest.approx(plan.energy_gwh.sum(), rel=1e-6)


def test_a_saved_plan_has_the_value_and_the_file_that_was_given(plan, river, valued, tmp_path):
    folder = reservoir.save_plan(plan, tmp_path / "plan", figures=False)
    origin = json.loads((folder / "plan.json").read_text())
    assert origin["end_value_gwh_per_hm3"] == plan.end_value_gwh_per_hm3
    assert "end_value_gwh_per_hm3" not in (folder / "reservoir.toml").read_text()
    assert f"is worth {plan.end_value_gwh_per_hm3:g} GWh" in (folder / "report.html").read_text()
    again = read_plan(folder).plan
    assert again.end_value_gwh_per_hm3 == plan.end_value_gwh_per_hm3
    assert again.solutions.fitness.tolist() == plan.solutions.fitness.tolist()
    shutil.rmtree(folder)


def test_a_plan_that_begins_in_a_month_is_read_back(begun, tmp_path):
    folder = reservoir.save_plan(begun, tmp_path / "plan", figures=False)
    assert read_plan(folder).plan.end_value_gwh_per_hm3 == begun.end_value_gwh_per_hm3


def test_more_water_is_never_worth_less_than_nothing(valued, river, monkeypatch):
    monkeypatch.setattr(start, "cycle_end_value", lambda cycle: -0.01)
    assert implied_end_value(valued, river) == 0


def test_a_record_that_implies_no_value_says_why(valued, river):
    dry = replace(river, flow_m3s=np.full((3, 12), 0.5))
    with pytest.raises(
        InputError, match=r"end_value_gwh_per_hm3: is missing.*cannot keep its limits.*Fix: set end_value"
    ):
        optimise(valued, dry, solver="dp")
    with pytest.raises(InputError, match=r"is missing: with a limit of the change of the release"):
        optimise(replace(valued, ramp_up_m3s=5.0), river)


def test_problems_are_not_made_without_the_value(valued, river):
    with pytest.raises(InputError, match="end_value_gwh_per_hm3: is missing"):
        record_problems(valued, river, Horizon())
