"""The level of every month stands in its year, under the levels that the reservoir marks."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.hydro.calendar import Calendar
from reservoir.report.figures.axes import month_end_years
from reservoir.report.figures.record_runs import draw_level_trace, record_runs
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.scores import SimulationMode


def marked(ax, name):
    return [line for line in ax.get_lines() if line.get_gid() == f"{name} level"]


def test_a_trace_is_the_level_at_the_end_of_every_month(evaluation: Evaluation):
    _, run, *_ = record_runs(evaluation)
    trace = draw_level_trace(Figure().add_subplot(), evaluation, run).get_lines()[0]
    levels = evaluation.result_of("guide-curve").held_out.operation.level_m
    assert trace.get_ydata() == pytest.approx(levels.ravel())


def test_the_trace_of_foresight_ends_where_it_must(evaluation: Evaluation):
    foresight = record_runs(evaluation)[0]
    record = evaluation.foresights[SimulationMode.CONTINUOUS].operation
    assert foresight.monthly("storage_hm3").shape == (5, 12)
    assert foresight.monthly("storage_hm3")[-1, -1] == record.storage_hm3[0, -1]


def test_a_year_reaches_half_to_either_side_of_its_name():
    ends = month_end_years(Calendar(1953, 2))
    assert ends[[0, 11, 12, 23]] == pytest.approx([1952.5 + 1 / 12, 1953.5, 1953.5 + 1 / 12, 1954.5])
    assert np.diff(ends) == pytest.approx(1 / 12)


def test_the_flood_level_is_drawn_in_the_flood_months_of_every_year(evaluation: Evaluation):
    ax = draw_level_trace(Figure().add_subplot(), evaluation, record_runs(evaluation)[0])
    assert len(marked(ax, "normal")) == len(marked(ax, "dead")) == 1
    flood = marked(ax, "flood")
    assert [line.get_xdata()[0] for line in flood] == pytest.approx([1952.5 + year + 5 / 12 for year in range(5)])
    assert [line.get_xdata()[1] for line in flood] == pytest.approx([1952.5 + year + 9 / 12 for year in range(5)])


def test_a_reservoir_without_marks_has_the_trace_alone(october_evaluation: Evaluation):
    ax = draw_level_trace(Figure().add_subplot(), october_evaluation, record_runs(october_evaluation)[0])
    assert len(ax.get_lines()) == 1
