"""Every optimised year is a dot, and the rule is asked in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.hydro.unit_system import US
from reservoir.report.figures.rule_charts import draw_rule_scatter, rule_scatter_figure
from reservoir.report.figures.style import figure_style
from reservoir.rules import Forecast
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.families.linear import LinearRule
from tests.report.layout import tick_labels_lie_apart


def test_dots_are_the_releases_of_the_plan_and_marks_those_of_the_rule(evaluation: Evaluation):
    dots, marks = draw_rule_scatter(Figure().add_subplot(), evaluation, 4).get_lines()
    rule, training = evaluation.result_of("linear").rule, evaluation.training
    known = (training.storage_start_hm3, training.inflow_m3s, training.inflow_before_m3s)
    assert dots.get_ydata() == pytest.approx(training.release_m3s[:, 4])
    decided = [rule.release(4, *situation) for situation in zip(*(values[:, 4] for values in known), strict=True)]
    assert marks.get_ydata() == pytest.approx(decided)
    assert dots.get_xdata().tolist() == marks.get_xdata().tolist()


def test_the_water_available_is_what_is_released_and_left(evaluation: Evaluation):
    training = evaluation.training
    used = training.storage_end_hm3 + training.release_m3s * training.hm3_per_m3s
    dots, _ = draw_rule_scatter(Figure().add_subplot(), evaluation, 4).get_lines()
    assert dots.get_xdata() == pytest.approx(used[:, 4])


def test_a_rule_without_a_forecast_is_not_told_the_inflow(october_evaluation: Evaluation, monkeypatch):
    def listening(rule, step, storage_hm3, inflow_now_m3s, inflow_before_m3s):
        assert inflow_now_m3s is None
        return np.full(len(storage_hm3), 7.0)

    monkeypatch.setattr(LinearRule, "releases", listening)
    result = october_evaluation.result_of("linear")
    blind = replace(result, rule=result.rule.model_copy(update={"forecast": Forecast.NONE}))
    _, marks = draw_rule_scatter(Figure().add_subplot(), replace(october_evaluation, families=(blind,)), 2).get_lines()
    assert marks.get_ydata().tolist() == [7.0] * 3


def test_there_is_a_panel_for_every_month_of_the_water_year(october_evaluation: Evaluation):
    panels = rule_scatter_figure(october_evaluation, "standard").get_axes()
    assert [ax.get_title(loc="left") for ax in panels][:4] == ["Oct", "Nov", "Dec", "Jan"]
    assert len(panels) == 12


def test_numbers_of_millions_lie_apart_in_narrow_panels(evaluation: Evaluation):
    with figure_style():
        figure = rule_scatter_figure(replace(evaluation, plan=replace(evaluation.plan, units=US)))
        figure.draw_without_rendering()
        shown = [label.get_text() for label in figure.get_axes()[0].get_xticklabels() if label.get_text()]
        tick_labels_lie_apart("rule-scatter", figure)
    assert shown
    assert all(text.endswith("M") for text in shown)
