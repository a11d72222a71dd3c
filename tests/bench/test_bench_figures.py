"""Figures of an experiment: everything that was measured is on them, and nothing overlaps."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.bench.case import draw_times, times_figure
from reservoir.bench.figures import short
from reservoir.bench.scaling import apart, draw_sweep, scaling_figure
from reservoir.report.figures.style import foot_texts
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    nothing_overlaps_the_foot,
    tick_labels_lie_apart,
)


@pytest.fixture(params=["scaling", "times"])
def figure(request, six_year_plan, case_study, points) -> tuple[str, Figure]:
    lines = foot_texts(six_year_plan, "a device")
    drawn = {
        "scaling": lambda: scaling_figure(points, 1e10, lines),
        "times": lambda: times_figure(case_study.counted, lines),
    }
    return request.param, drawn[request.param]()


def test_nothing_overlaps(figure):
    nothing_overlaps_the_foot(*figure)
    axes_and_legends_lie_apart_within_the_figure(*figure)
    tick_labels_lie_apart(*figure)


def test_a_panel_for_every_sweep_with_points(points):
    drawn = scaling_figure(points, 1e10, [""])
    assert [ax.get_xlabel() for ax in drawn.get_axes()] == ["Years", "Years per work group"]


def test_no_points_no_panels(points):
    assert not scaling_figure(points.iloc[:0], 1e10, [""]).get_axes()


def test_the_limit_grows_with_the_devices(points):
    shared = points.iloc[:2].assign(sweep="devices", value=[1, 2], devices=[1, 2])
    limit = draw_sweep(Figure().add_subplot(), shared, "devices", 1e10).lines[-1]
    assert set(limit.get_ydata()) == {1e10, 2e10}


def test_every_counted_run_is_a_dot_and_the_median_a_number(case_study):
    ax = draw_times(Figure().add_subplot(), case_study.counted)
    dots = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata()) == 4]
    assert len(dots) == 3
    assert [text.get_text() for text in ax.texts] == ["1,150 ms", "115 ms", "57.5 ms"]


def test_ticks_that_lie_close_are_left_out():
    assert apart(np.array([16, 32, 40, 64, 128, 256, 512])) == [16, 40, 64, 128, 256, 512]
    assert apart(np.array([5])) == [5]


@pytest.mark.parametrize(("value", "written"), [(62, "62"), (1000, "1k"), (100_000, "100k"), (2e6, "2M")])
def test_large_numbers_are_short(value, written):
    assert short(value) == written
