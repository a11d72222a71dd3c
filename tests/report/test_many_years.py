"""Figures of a long record are quick to draw and small, and of a short one they show every month."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.operation import joined
from reservoir.planning.plan import Plan
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.report.figures import record_runs as runs_drawn
from reservoir.report.figures import rule_charts
from reservoir.report.figures.annual_energy import MANY_YEARS, annual_energy_figure, draw_annual_energy
from reservoir.report.figures.record_runs import record_runs
from reservoir.report.figures.style import rendered
from reservoir.rules.evaluation import Evaluation
from reservoir.solvers import Solutions


def repeated(plan: Plan, times: int) -> Plan:
    """The years of a plan again and again."""
    calendar = Calendar(1000, times * plan.inflow.years)
    inflow = replace(plan.inflow, flow_m3s=np.tile(plan.inflow.flow_m3s, (times, 1)), calendar=calendar)
    return replace(
        plan,
        inflow=inflow,
        problems=RecordProblems(plan.horizon, inflow, (ReservoirYears.batch([*plan.problems.each] * times),)),
        operation=joined([plan.operation] * times),
        solutions=Solutions.of([*plan.solutions] * times),
        references=Solutions.of([*plan.references] * times),
    )


def test_bars_of_thousands_of_years_are_one_shape_of_their_heights(plan: Plan):
    long = repeated(plan, 600)
    ax = draw_annual_energy(Figure().add_subplot(), long)
    (shape,) = ax.patches
    assert shape.get_data().values == pytest.approx(long.energy_gwh)
    assert shape.get_data().edges[[0, -1]].tolist() == [999.5, 3999.5]
    assert len(rendered(annual_energy_figure(long), "svg")) < 500_000


def test_bars_of_a_century_stand_alone(plan: Plan):
    long = repeated(plan, MANY_YEARS // 5)
    assert len(draw_annual_energy(Figure().add_subplot(), long).patches) == MANY_YEARS


def test_levels_of_many_years_are_a_band_of_each_year(evaluation: Evaluation, monkeypatch):
    monkeypatch.setattr("reservoir.report.figures.axes.MANY_YEARS", 3)
    run = record_runs(evaluation)[0]
    ax = runs_drawn.draw_level_trace(Figure().add_subplot(), evaluation, run)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    levels = run.monthly("level_m")
    assert heights.min() == pytest.approx(levels.min())
    assert heights.max() == pytest.approx(levels.max())
    assert len([line for line in ax.get_lines() if line.get_gid() == "flood level"]) == 1
    assert "Range of the month-end forebay level in each year" in runs_drawn.level_trace_caption(evaluation)


def test_a_dot_for_every_year_unless_there_are_too_many():
    assert rule_charts.shown_years(62) == list(range(62))
    most = rule_charts.MOST_YEARS
    shown = rule_charts.shown_years(3_000)
    assert (len(shown), shown[0], shown[-1]) == (most, 0, 2_999)
    assert max(np.diff(shown)) <= 3_000 / most + 1


def test_the_spill_map_has_a_row_a_year_unless_there_are_too_many(evaluation: Evaluation):
    assert runs_drawn.years_in_a_row(62) == 1
    assert runs_drawn.years_in_a_row(3_000) * runs_drawn.MOST_ROWS >= 3_000
    values = np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, np.nan]])
    assert runs_drawn.highest_of(values, 1) == pytest.approx(values, nan_ok=True)
    assert runs_drawn.highest_of(values, 2) == pytest.approx(np.array([[2.0, 1.0], [np.nan, np.nan]]), nan_ok=True)
    assert "is a year" in runs_drawn.spill_map_caption(evaluation)
