"""Plans from a month and the present level, and horizons whose end is valued by what the record implies."""

import datetime
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.inflow import traces_of
from reservoir.hydro.objectives import Horizon
from reservoir.io.plan_folder.files import write_provenance
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning import start as start_module
from reservoir.planning.checks import all_pass, plan_checks
from reservoir.planning.comparison import compare
from reservoir.planning.plan import optimise
from reservoir.planning.start import implied_end_value
from reservoir.problems.reservoir.record import record_problems
from reservoir.rules import Training
from tests.io.small_reservoir import SMALL
from tests.year_ends import cyclic, free


@pytest.fixture(scope="module")
def years(small_inflow):
    """Six years from June; in each, flows that no other has."""
    flow = np.vstack([small_inflow.flow_m3s, 0.97 * small_inflow.flow_m3s])
    return replace(small_inflow, flow_m3s=flow, calendar=replace(small_inflow.calendar, years=6))


@pytest.mark.parametrize(
    ("month", "horizon", "labels", "first", "steps"),
    [
        (6, "year", ("1955/56", "1960/61"), "1955-06", 12),
        (11, "year", ("1955/56", "1960/61"), "1955-11", 7),
        (2, "year", ("1956", "1961"), "1956-02", 4),
        (5, "year", ("1956", "1961"), "1956-05", 1),
        (11, 2, ("1955 to 1957", "1959 to 1961"), "1955-11", 19),
        (11, "record", ("1955 to 1961", "1955 to 1961"), "1955-11", 67),
        (11, 99, ("1955 to 1961", "1955 to 1961"), "1955-11", 67),
    ],
)
def test_a_trace_has_the_months_of_the_record_from_its_first(years, month, horizon, labels, first, steps):
    series = years.to_series()
    traces = traces_of(years, month, Horizon.of(horizon))
    assert (traces.labels[0], traces.labels[-1]) == labels
    assert traces.steps == steps
    starts = pd.period_range(first, periods=traces.years, freq="12M")
    for flows, days, start in zip(traces.flow_m3s, traces.calendar.days, starts, strict=True):
        months = pd.period_range(start.asfreq("M", "start") if start.freqstr != "M" else start, periods=steps, freq="M")
        assert flows.tolist() == series[months].tolist()
        assert days.tolist() == months.days_in_month.tolist()
    ends = traces.calendar.starts[:, -1].astype("datetime64[M]").astype(int) % 12 + 1
    assert (ends == 5).all()  # the last month of a water year from June


@pytest.mark.parametrize("end", [lambda same: same, free], ids=["fixed", "free"])
@pytest.mark.parametrize("month", [6, 9, 2, 5])
def test_from_a_state_of_the_best_plan_on_the_best_plan_goes_on(end, month, small, years):
    """Bellman's principle of optimality, scenario by scenario; not a line of the code under test says it."""
    lake = end(small)
    whole = reservoir.optimise(lake, years, solver="dp")
    skipped = (month - 6) % 12
    for year in range(0, 6, 2):
        storage = float(whole.operation.storage_hm3[year, skipped])
        later = reservoir.optimise(lake, years, solver="dp", start=f"2026-{month:02}", start_hm3=storage)
        assert later.operation.storage_hm3.shape == (6, 13 - skipped)
        assert (later.operation.storage_hm3[:, 0] == storage).all()
        tail = whole.operation.energy_gwh[year, skipped:].sum()
        assert later.energy_gwh[year] == pytest.approx(tail, rel=2e-5)
        assert all_pass([check for check in plan_checks(later) if "storage outside" not in check.check])
    if lake is small:
        kept = later.keeps_limits
        assert later.operation.storage_hm3[kept, -1] == pytest.approx(small.final_storage_hm3)


def test_a_record_from_a_month_on_goes_on_as_the_plan_of_the_record(small, years):
    whole = reservoir.optimise(small, years, solver="dp", horizon="record")
    storage = float(whole.operation.storage_hm3[0, 5])
    later = reservoir.optimise(small, years, solver="dp", horizon="record", start="2026-11", start_hm3=storage)
    assert later.operation.storage_hm3.shape == (1, 12 * 6 - 5 + 1)
    assert later.energy_gwh.sum() == pytest.approx(whole.operation.energy_gwh.ravel()[5:].sum(), rel=2e-5)
    assert later.start.horizon == Horizon(None)


def test_windows_begin_in_every_year_and_overlap(small, years):
    plan = reservoir.optimise(small, years, horizon=2, solver="dp", start="2026-11", start_hm3=70.0)
    assert plan.operation.storage_hm3.shape == (5, 24 - 5 + 1)
    assert "5 scenarios of 19 months (Nov to May), one from each year of the record; they overlap" in plan.notes[-1]
    one = reservoir.optimise(small, years.span(2, 4), horizon="record", solver="dp", start="2026-11", start_hm3=70.0)
    assert plan.energy_gwh[2] == pytest.approx(one.energy_gwh[0], rel=1e-9)


def test_from_the_first_month_of_the_water_year_it_is_the_plan_with_that_storage(small, years):
    begun = reservoir.optimise(small, years, solver="dp", start="2026-06", start_hm3=60.0)
    usual = reservoir.optimise(replace(small, initial_storage_hm3=60.0), years, solver="dp")
    assert begun.operation.release_m3s.tobytes() == usual.operation.release_m3s.tobytes()


@pytest.mark.device
@pytest.mark.parametrize("solver", [None, "clpso", "lshade", "dp-opencl", "clpso-sequential"])
def test_every_engine_plans_a_part_of_a_year(solver, small, years):
    call = {"generations": 500} if solver in (None, "clpso", "clpso-sequential") else {}
    plan = reservoir.optimise(small, years, solver=solver, start="2026-11", start_hm3=90.0, engine_only=True, **call)
    assert plan.solutions.solver == (solver or "clpso")
    assert np.nanmax(np.abs(plan.gap)) < 2e-4


def test_engines_for_years_refuse_longer_scenarios(small, years):
    with pytest.raises(InputError, match="clpso-sequential cannot plan 19 months as one problem"):
        reservoir.optimise(small, years, solver="clpso-sequential", horizon=2, start="2026-11", start_hm3=70.0)


@pytest.mark.parametrize(
    "start", ["2026-11", "2026-11-01", datetime.date(2026, 11, 1), pd.Timestamp("2026-11-01"), pd.Period("2026-11")]
)
def test_a_level_is_the_storage_that_it_stands_for(start, small, years):
    level = float(small.level(70.0))
    plan = reservoir.optimise(small, years, solver="dp", start=start, start_level_m=level)
    assert str(plan.start) == "2026-11"
    assert plan.start.storage_hm3 == pytest.approx(70.0, abs=1e-6)
    assert plan.start.level_m == pytest.approx(level)
    assert f"The plan begins in 2026-11 with 70 hm³ ({level:,.2f} m): 6 scenarios of 7 months" in plan.notes[-1]
    assert repr(plan).startswith("<Plan of small from 2026-11: ")
    assert "mean of 6 scenarios" in repr(plan)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"start": "2026-13", "start_hm3": 70.0}, "start: is not a month"),
        ({"start": "2026-00", "start_hm3": 70.0}, "start: is not a month"),
        ({"start": "2026-11-15", "start_hm3": 70.0}, "start: is not a month"),
        ({"start": "November", "start_hm3": 70.0}, "start: is not a month"),
        ({"start": 11, "start_hm3": 70.0}, "start: is not a month"),
        ({"start": "2026-11"}, "start: needs the level or the storage at the start of the month"),
        ({"start": "2026-11", "start_hm3": 70.0, "start_level_m": 430.0}, "start: needs the level or the storage, not"),
        ({"start_hm3": 70.0}, "start_hm3: is given without the month"),
        ({"start_level_m": 430.0}, "start_level_m: is given without the month"),
        ({"start": "2026-11", "start_hm3": 9.0}, "start_hm3: is outside the level curve"),
        ({"start": "2026-11", "start_hm3": float("nan")}, "start_hm3: is outside the level curve"),
        ({"start": "2026-11", "start_level_m": 100.0}, "start_level_m: is outside the level curve"),
        ({"start": "2026-11", "start_level_m": float("inf")}, "start_level_m: is outside the level curve"),
    ],
)
def test_what_is_no_start_is_refused_with_the_fix(call, told, small, years):
    with pytest.raises(InputError) as caught:
        reservoir.optimise(small, years, solver="dp", **call)
    assert str(caught.value).startswith(told)
    assert all(mistake.mend for mistake in caught.value.mistakes)


def test_cyclic_years_prescribe_no_end_and_are_refused(small, years):
    with pytest.raises(InputError, match=r'year_end is "cyclic".*Fix: set year_end to "fixed"'):
        reservoir.optimise(cyclic(small), years, solver="dp", start="2026-11", start_hm3=70.0)


def test_a_free_end_is_told_with_what_it_takes_from_storage(small, years):
    plan = reservoir.optimise(free(small), years, solver="dp", start="2026-11", start_hm3=110.0)
    assert "of the energy comes from storage: the end is free, and the plan leaves " in plan.notes[-1]
    assert "from storage" not in " ".join(
        reservoir.optimise(small, years, solver="dp", start="2026-11", start_hm3=110.0).notes
    )


def test_a_storage_from_which_the_end_cannot_be_reached_is_named(small, years):
    plan = reservoir.optimise(small, years, solver="dp", start="2026-05", start_hm3=20.0)
    assert plan.feasible.tolist() == [False, True, True] * 2  # dry, normal and wet
    assert np.isnan(plan.gap).tolist() == [True, False, False] * 2
    assert plan.operation.storage_hm3[0, -1] < plan.reservoir.final_storage_hm3


@pytest.mark.parametrize("horizon", ["year", 2, "record"])
def test_its_folder_is_read_back(horizon, years, tmp_path):
    lake = reservoir_of(SMALL.encode(), "small.toml")
    record = replace(years, calendar=replace(years.calendar, first_month=lake.first_month))
    plan = reservoir.optimise(lake, record, solver="dp", horizon=horizon, start="2026-09", start_hm3=70.0)
    folder = plan.save(tmp_path / "plan")
    told = json.loads((folder / "plan.json").read_text())
    assert told["start"] == {"month": "2026-09", "storage_hm3": 70.0, "level_m": plan.start.level_m}
    assert told["horizon"] == str(horizon)
    assert (folder / "reservoir.toml").read_text() == SMALL
    back = read_plan(folder).plan
    assert back.energy_gwh.tolist() == plan.energy_gwh.tolist()
    assert (str(back.start), back.start.horizon) == ("2026-09", plan.start.horizon)
    assert "2026-09" in (folder / "report.html").read_text()
    with pytest.raises(InputError, match=r"begins in 2026-09, and has no whole water years.*Fix: plan without --from"):
        Training.of(back)


def test_a_start_that_was_changed_in_the_folder_is_refused(small, years, tmp_path):
    folder = reservoir.optimise(small, years, solver="dp", start="2026-09", start_hm3=70.0).save(tmp_path / "plan")
    told = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(told | {"start": {"month": "2026-10", "storage_hm3": 70.0}}))
    with pytest.raises(InputError, match=r"plan\.json: was changed after the plan was made"):
        read_plan(folder)
    for wrong, message in (
        ({"month": "soon", "storage_hm3": 70.0}, "start: is not a month"),
        ("2026-09", "plan.json: does not describe the files of this folder"),
        ({"month": 9, "storage_hm3": 70.0}, "plan.json: does not describe the files of this folder"),
    ):  # even with a hash of its own
        write_provenance(folder, told | {"start": wrong})
        with pytest.raises(InputError) as caught:
            read_plan(folder)
        assert message in str(caught.value)


def test_a_run_from_today_may_be_stopped(small, years):
    plan = reservoir.optimise(
        small, years, solver="dp", start="2026-09", start_hm3=70.0, stop=lambda state: state.done >= 2
    )
    assert plan.operation.storage_hm3.shape == (2, 10)
    assert plan.inflow.labels == ("1955/56", "1956/57")


def test_a_search_from_today_may_begin_with_releases(small, years):
    call = {"start": "2026-09", "start_hm3": 70.0}
    best = reservoir.optimise(small, years, solver="dp", **call)
    warm = {"solver": "clpso-sequential", "particles": 5, "generations": 1, "engine_only": True, **call}
    for initial in (best, best.operation.release_m3s, best.schedule()["release_m3s"].iloc[:]):
        if isinstance(initial, pd.Series):  # of months that are not all there
            initial = initial.reset_index(drop=True)
        assert np.nanmax(reservoir.optimise(small, years, initial=initial, **warm).gap) < 1e-5


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
    told = f"1 hm³ left at the end of May is worth {plan.end_value_gwh_per_hm3:g} GWh"
    assert sum(told in note for note in plan.notes) == 1
    assert sum(told in note for note in begun.notes) == 1
    given = optimise(replace(valued, end_value_gwh_per_hm3=0.1), river, solver="dp")
    assert given.end_value_gwh_per_hm3 == 0.1
    assert not any("is worth" in note for note in given.notes)


def test_other_ends_have_no_value_and_none_is_sought(small, river, monkeypatch):
    monkeypatch.setattr(start_module, "implied_end_value", None)
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
    monkeypatch.setattr(start_module, "cycle_end_value", lambda cycle: -0.01)
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


TURBINES = """
[curves.turbine]
head_m = [46.15, 60, 82.64]
flow_m3s = [40, 45, 42]
power_mw = [15, 22, 28]
"""


@pytest.mark.parametrize("solver", ["dp", "lshade-sequential"])
@pytest.mark.parametrize(
    ("start", "word"), [({"start_hm3": 12.0}, "below dead"), ({"start_level_m": 446.5}, "above full")]
)
def test_a_plan_may_begin_beyond_the_bounds_and_says_so(years, start, word, solver):
    """Curves of the turbines reach from dead to full storage only: they are held at their ends."""
    text = SMALL.replace("output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n", "") + TURBINES
    lake = reservoir_of(text.encode(), "r.toml")
    inflow = replace(years, calendar=replace(years.calendar, first_month=1, first_year=1956))
    plan = optimise(lake, inflow, start="2026-06", solver=solver, **start)
    assert all_pass(plan_checks(plan))
    assert any(f"That is {word} storage, " in note for note in plan.notes)
    storage, releases = plan.operation.storage_hm3, plan.operation.release_m3s
    assert ((storage[:, 1:] >= 20 - 1e-9) & (storage[:, 1:] <= 120 + 1e-9)).all()
    assert (releases[:, 0] >= 4).all()


def test_a_value_that_is_missing_is_mended_by_what_the_message_names(years, small):
    valued = replace(small, year_end=YearEnd.VALUED, final_storage_hm3=None)
    with pytest.raises(InputError, match=r"end_value_gwh_per_hm3 of a plan by reservoir\.optimise"):
        record_problems(valued, years, Horizon())
    value = reservoir.optimise(valued, years, solver="dp").end_value_gwh_per_hm3
    assert len(record_problems(replace(valued, end_value_gwh_per_hm3=value), years, Horizon())) == years.years
