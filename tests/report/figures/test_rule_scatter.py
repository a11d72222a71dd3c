"""Every optimised year is a dot, and the rule is asked in its place."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.record_runs import result_of
from reservoir.report.figures.rule_charts import (
    decisions_m3s,
    draw_rule_scatter,
    rule_scatter_figure,
    water_available_hm3,
)
from reservoir.rules import Forecast
from reservoir.rules.evaluation import Evaluation


def test_dots_are_the_releases_of_the_plan_and_marks_those_of_the_rule(evaluation: Evaluation):
    dots, marks = draw_rule_scatter(Figure().add_subplot(), evaluation, 4).get_lines()
    rule, training = result_of(evaluation, "linear").rule, evaluation.training
    assert dots.get_ydata() == pytest.approx(training.release_m3s[:, 4])
    assert marks.get_ydata() == pytest.approx(decisions_m3s(rule, training, 4))
    assert dots.get_xdata().tolist() == marks.get_xdata().tolist()


def test_the_water_available_is_what_is_released_and_left(evaluation: Evaluation):
    training = evaluation.training
    used = training.storage_end_hm3 + training.release_m3s * training.hm3_per_m3s
    assert water_available_hm3(training) == pytest.approx(used)


def test_a_rule_without_a_forecast_is_not_told_the_inflow(october_evaluation: Evaluation):
    class Listening:
        forecast = Forecast.NONE

        def release(self, step, storage_hm3, inflow_now_m3s, inflow_before_m3s):
            assert inflow_now_m3s is None
            return 7.0

    assert decisions_m3s(Listening(), october_evaluation.training, 2).tolist() == [7.0] * 3


def test_there_is_a_panel_for_every_month_of_the_water_year(october_evaluation: Evaluation):
    panels = rule_scatter_figure(october_evaluation, "standard").get_axes()
    assert [ax.get_title(loc="left") for ax in panels][:4] == ["Oct", "Nov", "Dec", "Jan"]
    assert len(panels) == 12
