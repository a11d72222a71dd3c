"""The guide curve is drawn where the rule has it."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.rule_charts import draw_rule_curves
from reservoir.rules.evaluation import Evaluation


def test_the_three_curves_are_those_of_the_rule(evaluation: Evaluation):
    ax = draw_rule_curves(Figure().add_subplot(), evaluation)
    rule = evaluation.result_of("guide-curve").rule
    drawn = [line.get_ydata()[1:] for line in ax.get_lines() if line.get_gid() is None]
    for line, curve in zip(drawn, (rule.lower_hm3, rule.upper_hm3, rule.guide_hm3), strict=True):
        assert line == pytest.approx(curve)


def test_a_year_starts_where_the_one_before_has_ended(october_evaluation: Evaluation):
    ax = draw_rule_curves(Figure().add_subplot(), october_evaluation)
    for line in ax.get_lines():
        assert line.get_ydata()[0] == line.get_ydata()[-1]
