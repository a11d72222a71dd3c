"""Duration curves fall, hold every month, and are those of the held-out years."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.report.duration_curves import caption, draw_power, draw_release, duration_curve
from reservoir.report.record_runs import FORESIGHT_NAME, HELD_OUT, result_of
from reservoir.rules.evaluation import Evaluation


def test_a_duration_curve_falls_from_the_highest_to_the_lowest():
    exceeded, values = duration_curve(np.array([[3.0, 1.0], [4.0, 2.0]]))
    assert exceeded.tolist() == [12.5, 37.5, 62.5, 87.5]
    assert values.tolist() == [4, 3, 2, 1]


def test_there_is_a_line_for_perfect_foresight_and_every_family(evaluation: Evaluation):
    labels = [line.get_label() for line in draw_release(Figure().add_subplot(), evaluation).get_lines()]
    assert labels == [FORESIGHT_NAME, "guide-curve", "linear", "standard", "zones"]


def test_a_family_shows_its_held_out_months(evaluation: Evaluation):
    _, line, *_ = draw_release(Figure().add_subplot(), evaluation).get_lines()
    releases = result_of(evaluation, "guide-curve").simulations[HELD_OUT].stacked("release_m3s")
    assert line.get_ydata() == pytest.approx(np.sort(releases.ravel())[::-1])


def test_the_firm_power_is_drawn_and_named(evaluation: Evaluation, texts):
    ax = draw_power(Figure().add_subplot(), evaluation)
    assert evaluation.targets.firm_mw in [line.get_ydata()[0] for line in ax.get_lines()]
    assert "firm\n2,167 MW" in texts(ax)


def test_firm_power_is_said_to_be_guaranteed_only_where_it_is(evaluation: Evaluation, october_evaluation: Evaluation):
    assert "guaranteed" in caption(evaluation)
    assert "guaranteed" not in caption(october_evaluation)
