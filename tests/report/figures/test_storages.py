"""The storage fan holds every year, its bands are nested, and levels stand where their storages are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.hydro.attributes import ReferenceLevels, YearEnd
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.flood_space import FloodSpace
from reservoir.planning.plan import Plan, optimise
from reservoir.report.figures.axes import BANDS, level_marks, month_runs, percentiles, storage_at, storage_bounds
from reservoir.report.figures.storages import (
    draw_record_storage,
    draw_storage_fan,
    storage_fan_caption,
    storage_fan_figure,
)

NEAR = (4_000.0, 15_000.0)


def line_of(ax, name):
    return [line for line in ax.get_lines() if line.get_gid() == name]


def with_marks(plan: Plan, **marks) -> Plan:
    return replace(plan, reservoir=replace(plan.reservoir, marks=ReferenceLevels(**marks)))


def test_the_fan_has_the_start_and_the_end_of_every_month(plan: Plan):
    ax = draw_storage_fan(Figure().add_subplot(), plan)
    (median,) = [line for line in ax.get_lines() if line.get_label() == "median"]
    assert median.get_xdata().tolist() == list(range(13))
    assert median.get_ydata() == pytest.approx(np.median(plan.operation.storage_hm3, axis=0))


def test_each_band_lies_within_the_wider_ones(plan: Plan):
    storages = plan.operation.storage_hm3
    outer = (np.full(13, -np.inf), np.full(13, np.inf))
    for band in BANDS:
        lower, upper = percentiles(storages, band)
        assert (outer[0] <= lower).all()
        assert (lower <= np.median(storages, axis=0)).all()
        assert (np.median(storages, axis=0) <= upper).all()
        assert (upper <= outer[1]).all()
        outer = (lower, upper)


def test_the_widest_band_holds_every_year(plan: Plan):
    lower, upper = percentiles(plan.operation.storage_hm3, BANDS[0])
    assert (lower <= plan.operation.storage_hm3).all()
    assert (plan.operation.storage_hm3 <= upper).all()


def test_levels_are_drawn_and_named(plan: Plan, texts):
    ax = draw_storage_fan(Figure().add_subplot(), plan)
    assert {"normal level 1,240 m", "flood level 1,236 m", "dead level 1,166 m"} <= set(texts(ax))
    (normal,), (dead,) = line_of(ax, "normal level"), line_of(ax, "dead level")
    assert plan.reservoir.level(normal.get_ydata()) == pytest.approx(1240, abs=1e-3)
    assert plan.reservoir.level(dead.get_ydata()) == pytest.approx(1166, abs=1e-3)


def test_the_flood_level_is_drawn_over_the_flood_months_only(plan: Plan, june_plan: Plan):
    for each, ends in ((plan, [5, 9]), (june_plan, [0, 4])):
        (flood,) = line_of(draw_storage_fan(Figure().add_subplot(), each), "flood level")
        assert list(flood.get_xdata()) == ends


def test_a_flood_season_over_the_turn_of_the_year_is_drawn_in_two_parts(plan: Plan):
    split = with_marks(plan, flood_m=1236.0, flood_months=(12, 1, 2))
    flood = line_of(draw_storage_fan(Figure().add_subplot(), split), "flood level")
    assert [list(line.get_xdata()) for line in flood] == [[0, 2], [11, 12]]
    assert month_runs(plan.inflow.calendar, ()) == []


def test_a_reservoir_without_marks_has_no_lines_but_the_median(plan: Plan):
    ax = draw_storage_fan(Figure().add_subplot(), with_marks(plan))
    assert len(ax.get_lines()) == 1


def test_a_level_that_the_curve_does_not_reach_is_left_out(plan: Plan):
    assert level_marks(with_marks(plan, normal_m=1_300.0), NEAR) == []


def test_storage_at_inverts_the_level_curve(plan: Plan):
    levels = np.linspace(1170, 1239, 40)
    assert plan.reservoir.level(storage_at(plan.reservoir, levels, NEAR)) == pytest.approx(levels, abs=1e-3)


@pytest.mark.parametrize("flat_hm3", [(), (2_000.0, 3_000.0)])
def test_the_level_at_which_a_curve_begins_is_that_of_dead_storage(plan: Plan, flat_hm3: tuple[float, ...]):
    dead, storages = 4_662.0, np.linspace(4_662.0, 14_557.0, 30)
    levels = [*np.full(len(flat_hm3), 1166.0), *np.interp(storages, [dead, 14_557.0], [1166.0, 1240.0])]
    level = Table((*flat_hm3, *storages), tuple(levels))
    ends = replace(plan, reservoir=replace(plan.reservoir, level=level))
    np.testing.assert_allclose(
        storage_at(ends.reservoir, np.array([1166.0, 1240.0]), NEAR), [dead, 14_557.0], rtol=1e-3
    )
    ax = draw_storage_fan(Figure().add_subplot(), with_marks(ends, dead_m=1166.0))
    (mark,) = line_of(ax, "dead level")
    np.testing.assert_allclose(mark.get_ydata(), dead, rtol=1e-3)
    assert ax.get_ylim()[0] > 0


def test_bounds_are_those_of_the_end_of_each_month(plan: Plan, june_plan: Plan):
    _, upper = storage_bounds(plan)
    assert upper.tolist() == [14557] * 6 + [13808] * 4 + [14557] * 3
    _, upper = storage_bounds(june_plan)
    assert upper.tolist() == [14557] + [13808] * 4 + [14557] * 8


def test_the_level_axis_agrees_with_the_storage_axis(plan: Plan):
    ax = draw_storage_fan(Figure().add_subplot(), plan)
    (right,) = [other for other in ax.figure.axes if other is not ax]
    assert right.get_ylim() == ax.get_ylim()
    shown = [float(label.get_text().replace(",", "")) for label in right.get_yticklabels()]
    assert plan.reservoir.level(right.get_yticks()) == pytest.approx(shown, abs=1e-3)


def test_one_year_is_a_line_with_its_name(one_year: Plan, texts):
    shown = texts(storage_fan_figure(one_year))
    assert "storage in 1953" in shown
    assert not {band.label for band in BANDS} & set(shown)


def test_months_follow_the_water_year(june_plan: Plan):
    ax = draw_storage_fan(Figure().add_subplot(), june_plan)
    names = [label.get_text() for label in ax.get_xticklabels(minor=True)]
    assert names == ["Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb", "Mar", "Apr", "May"]


def given_ends(plan: Plan, **changes) -> list[list[float]]:
    ax = draw_storage_fan(Figure().add_subplot(), replace(plan, reservoir=replace(plan.reservoir, **changes)))
    return [
        points for drawn in ax.collections if "fixed" in drawn.get_label() for points in drawn.get_offsets().tolist()
    ]


def test_a_given_start_and_end_are_marked_where_they_are(plan: Plan):
    assert given_ends(plan, final_storage_hm3=13_000.0) == [[0, 14_557], [12, 13_000]]
    assert "the storages at which every year starts and ends" in storage_fan_caption(plan)


def test_only_what_is_given_is_marked(plan: Plan):
    free = {"year_end": YearEnd.FREE, "final_storage_hm3": None}
    cyclic = {"year_end": YearEnd.CYCLIC, "initial_storage_hm3": None, "final_storage_hm3": None}
    assert given_ends(plan, **free) == [[0, 14_557]]
    assert given_ends(plan, **cyclic) == []
    assert "may end anywhere" in storage_fan_caption(replace(plan, reservoir=replace(plan.reservoir, **free)))
    assert "ends with the storage it starts with" in storage_fan_caption(
        replace(plan, reservoir=replace(plan.reservoir, **cyclic))
    )


def test_flood_space_of_each_year_is_drawn(small, small_inflow):
    """Little snow in all years but one: the fan has the limits of both, the record each year's own."""
    step, years = int(np.flatnonzero(small.months == 4)[0]), small_inflow.years
    april, full = float(small.storage_bounds_hm3[1, step]), float(small.storage_upper_hm3.max())
    much = np.full(12, full)
    much[3] = april - 20
    lake = replace(small, flood_space=FloodSpace("snow", (0.0, 100.0), [np.full(12, full), much]))
    index = np.zeros((years, 12))
    index[1] = 100.0
    plan = optimise(lake, replace(small_inflow, flood_index=index), solver="dp")

    record = draw_record_storage(Figure().add_subplot(), plan)
    (above,) = (each for each in record.collections if each.get_label() == "outside the limits")
    edges, first = above.get_paths()[0].vertices, plan.inflow.calendar.first_year - 0.5
    within = [edges[(edges[:, 0] > first + year) & (edges[:, 0] < first + year + 1), 1] for year in range(years)]
    assert [bool(np.isclose(heights, april - 20).any()) for heights in within] == [False, True, *[False] * (years - 2)]
    fan = draw_storage_fan(Figure().add_subplot(), plan)
    (least,) = [line for line in fan.get_lines() if line.get_label() == "lowest upper limit of a year"]
    assert least.get_ydata()[step + 1] == pytest.approx(april - 20)
    assert storage_bounds(plan)[1][step + 1] == april
    without = draw_storage_fan(Figure().add_subplot(), optimise(small, small_inflow, solver="dp"))
    assert "lowest upper limit of a year" not in [line.get_label() for line in without.get_lines()]
