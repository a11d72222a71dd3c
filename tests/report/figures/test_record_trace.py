"""A plan of a long horizon shows level and storage through the record, and each year's change of storage."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.planning.plan import optimise
from reservoir.report.figures.annual_energy import annual_energy_figure, draw_storage_change
from reservoir.report.figures.figures import plan_captions, plan_figures
from reservoir.report.figures.storages import draw_record_level, draw_record_storage
from tests.year_ends import free


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return optimise(free(small), small_inflow, solver="dp", horizon="record")


def test_level_and_storage_of_every_month_are_drawn(plan):
    level, storage = (draw(Figure().add_subplot(), plan) for draw in (draw_record_level, draw_record_storage))
    start = plan.operation.storage_hm3[0, 0]
    assert level.lines[0].get_ydata().tolist() == [plan.reservoir.level(start), *plan.operation.level_m.ravel()]
    assert storage.lines[0].get_ydata().tolist() == [start, *plan.operation.storage_hm3[:, 1:].ravel()]
    first = plan.inflow.calendar.first_year
    assert storage.lines[0].get_xdata()[[0, 1, -1]] == pytest.approx([first - 0.5, first - 0.5 + 1 / 12, first + 2.5])


def test_the_change_of_storage_is_a_bar_a_year(plan):
    ax = draw_storage_change(Figure().add_subplot(), plan)
    storage = plan.operation.storage_hm3
    assert [bar.get_height() for bar in ax.patches] == pytest.approx(storage[:, -1] - storage[:, 0])


def test_each_window_has_its_start_marked(small, small_inflow):
    windows = optimise(small, small_inflow, solver="dp", horizon=2)
    (marks,) = draw_record_storage(Figure().add_subplot(), windows).collections[2:]
    assert marks.get_offsets().tolist() == [[1954.5, 105.0], [1956.5, 105.0]]


def test_a_plan_of_separate_years_has_neither(small, small_inflow):
    years = optimise(small, small_inflow, solver="dp")
    assert "record-trace" not in plan_figures(years)
    assert "record-trace" not in plan_captions(years)
    panels = annual_energy_figure(years).subfigs[0].axes
    assert not [ax for ax in panels if "Change" in ax.get_ylabel()]


def test_every_figure_of_a_long_horizon_has_a_caption_that_says_so(plan):
    captions = plan_captions(plan)
    assert list(plan_figures(plan)) == list(captions)
    for name in ("storage-fan", "record-trace", "annual-energy"):
        assert "the whole record as one problem" in captions[name]


def test_windows_with_the_schedule_of_the_reference_are_marked_along_the_axis(small, small_inflow, device):
    poor = {"solver": "lshade", "horizon": 2, "evaluations": 40, "members_per_dimension": 1, "most_sweeps": 1}
    windows = optimise(small, small_inflow, **poor)
    assert windows.from_reference.any()
    (line,) = [
        line for line in draw_record_storage(Figure().add_subplot(), windows).lines if "schedule" in line.get_label()
    ]
    assert np.isfinite(line.get_ydata()).tolist() == np.repeat(windows.from_reference, 12).tolist()
    assert "marked by a line along the axis" in plan_captions(windows)["record-trace"]
