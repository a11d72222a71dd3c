"""Duration curves fall, hold every month, and are those of the held-out years."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.record_runs import (
    FORESIGHT_NAME,
    MOST_POINTS,
    draw_power,
    draw_release,
    drawn_places,
    duration_curve,
    duration_curves_caption,
    duration_curves_figure,
)
from reservoir.report.figures.style import figure_style
from reservoir.rules.evaluation import Evaluation


def test_of_many_months_so_many_are_drawn_evenly_spaced_from_the_first_to_the_last():
    assert drawn_places(np.arange(MOST_POINTS)).tolist() == list(range(MOST_POINTS))
    few = drawn_places(np.arange(100, 20 * MOST_POINTS))
    assert (len(few), few[0], few[-1]) == (MOST_POINTS, 100, 20 * MOST_POINTS - 1)
    assert set(np.diff(few)) <= {19, 20}


def test_a_duration_curve_falls_from_the_highest_to_the_lowest():
    exceeded, values = duration_curve(np.array([[3.0, 1.0], [4.0, 2.0]]))
    assert exceeded.tolist() == [12.5, 37.5, 62.5, 87.5]
    assert values.tolist() == [4, 3, 2, 1]


def test_there_is_a_line_for_perfect_foresight_and_every_family(evaluation: Evaluation):
    labels = [line.get_label() for line in draw_release(Figure().add_subplot(), evaluation).get_lines()]
    assert labels == [FORESIGHT_NAME, "guide-curve", "linear", "standard", "zones"]


def test_a_family_shows_its_held_out_months(evaluation: Evaluation):
    _, line, *_ = draw_release(Figure().add_subplot(), evaluation).get_lines()
    releases = evaluation.result_of("guide-curve").held_out.operation.release_m3s
    assert line.get_ydata() == pytest.approx(np.sort(releases.ravel())[::-1])


def test_the_firm_power_is_drawn_and_named(evaluation: Evaluation, texts):
    ax = draw_power(Figure().add_subplot(), evaluation)
    assert evaluation.targets.firm_mw in [line.get_ydata()[0] for line in ax.get_lines()]
    assert "firm\n2,167 MW" in texts(ax)


def test_firm_power_is_said_to_be_guaranteed_only_where_it_is(evaluation: Evaluation, october_evaluation: Evaluation):
    assert "guaranteed" in duration_curves_caption(evaluation)
    assert "guaranteed" not in duration_curves_caption(october_evaluation)


@pytest.mark.parametrize("firm_mw", [0.0, 0.1, 150.0, 700.0, 2_167.0, 4_200.0, 40_000.0])
def test_the_name_of_the_firm_power_lies_on_no_tick_and_within_its_panel(evaluation: Evaluation, firm_mw: float):
    given = replace(evaluation, targets=replace(evaluation.targets, firm_mw=firm_mw))
    with figure_style():
        figure = duration_curves_figure(given)
        panel = figure.get_axes()[1]
        (name,) = [text for text in panel.texts if text.get_text().startswith("firm")]
        box, inside = name.get_window_extent(), panel.get_window_extent()
        line = panel.transData.transform((0, firm_mw))[1]
        ticks = [label.get_window_extent() for label in (*panel.get_xticklabels(), *panel.get_yticklabels())]
    assert box.y0 >= inside.y0
    assert box.y1 <= inside.y1 + 1
    assert not box.y0 < line < box.y1
    assert not [tick for tick in ticks if box.overlaps(tick)]
