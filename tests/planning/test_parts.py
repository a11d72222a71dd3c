"""Years that are searched in parts are planned as years that are searched at once."""

import numpy as np
import pytest

import reservoir
from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.planning import parts
from reservoir.planning.checks import plan_checks
from reservoir.planning.search import search
from tests.year_ends import cyclic, free

pytestmark = pytest.mark.usefixtures("device")
SEARCH = {"solver": "lshade", "evaluations": 600}


def both(plant, many_years, monkeypatch, **options):
    """The plan at once, and the plan in parts."""
    monkeypatch.setattr(parts, "PART_YEARS", many_years.years)
    whole = reservoir.optimise(plant, many_years, **options)
    monkeypatch.setattr(parts, "PART_YEARS", 5)
    return whole, reservoir.optimise(plant, many_years, **options)


@pytest.mark.parametrize("end", [lambda plant: plant, cyclic, free])
@pytest.mark.parametrize("solver", ["lshade", "dp-opencl", "lshade-sequential"])
def test_every_year_has_the_same_schedule(small, many_years, monkeypatch, solver, end):
    options = {"solver": solver} | ({} if solver == "dp-opencl" else {"evaluations": 600, "reference": False})
    whole, parts = both(end(small), many_years, monkeypatch, **options)
    assert whole.schedule().equals(parts.schedule())
    assert whole.summary().equals(parts.summary())
    assert plan_checks(whole) == plan_checks(parts)


def test_schedules_of_a_second_run_and_of_the_reference_are_told_as_such(small, many_years, monkeypatch):
    monkeypatch.setattr(parts, "PART_YEARS", 5)
    plan = reservoir.optimise(small, many_years, solver="clpso", particles=8, generations=60)
    assert len(plan.source_counts) == 3
    assert np.nanmax(plan.gap) < np.nanmax(plan.engine_gap)
    assert set(plan.summary()["source"]) == {name for name, count in plan.source_counts.items() if count}
    assert plan.sources.second_settings["generations"] == 240


def test_progress_adds_up_over_parts(small, many_years, small_parts):
    told = []
    reservoir.optimise(small, many_years, **SEARCH, progress=lambda *each: told.append(each))
    of_solver = [(done, total) for stage, done, total in told if stage == "lshade"]
    assert {total for _, total in of_solver} == {many_years.years}
    assert [done for done, _ in of_solver] == sorted(done for done, _ in of_solver)
    assert of_solver[-1] == (many_years.years, many_years.years)


def failing(monkeypatch, name, error):
    """Searches on a device of that name fail."""

    def fails(problems, method, *others):
        if method.device == name:
            raise error
        return search(problems, method, *others)

    monkeypatch.setattr(parts, "search", fails)


def planned_on(monkeypatch, devices, plant, many_years):
    monkeypatch.setattr(parts, "devices_of", lambda *_: dict.fromkeys(devices, "pretended"))
    return reservoir.optimise(plant, many_years, **SEARCH)


def test_a_device_that_fails_is_left_out_with_a_warning_and_nothing_is_lost(
    small, many_years, small_parts, monkeypatch
):
    alone = reservoir.optimise(small, many_years, **SEARCH)
    failing(monkeypatch, "broken", DeviceError(Mistake("out of resources")))
    plan = planned_on(monkeypatch, ["broken", "auto"], small, many_years)
    assert np.array_equal(plan.operation.release_m3s, alone.operation.release_m3s)
    (note,) = [note for note in plan.notes if "broken" in note]
    assert "out of resources" in note
    assert "the others solved its years" in note


def test_the_failure_of_the_last_device_is_told(small, many_years, small_parts, monkeypatch):
    failing(monkeypatch, "broken", DeviceError(Mistake("out of resources")))
    with pytest.raises(DeviceError, match="out of resources"):
        planned_on(monkeypatch, ["broken"], small, many_years)


def test_a_mistake_of_the_user_is_no_failure_of_a_device(small, many_years, small_parts, monkeypatch):
    failing(monkeypatch, "first", InputError(Mistake("is out of range")))
    with pytest.raises(InputError, match="is out of range"):
        planned_on(monkeypatch, ["first", "auto"], small, many_years)


def test_an_end_of_the_run_ends_parts_at_work(small, many_years, small_parts):
    def ends(stage, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reservoir.optimise(small, many_years, **SEARCH, progress=ends)
