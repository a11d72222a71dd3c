"""Typical years are the ones they claim to be, and every panel shows the plan's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import Plan
from reservoir.report.figures.typical_years import (
    COLOURS,
    PANELS,
    typical_years,
    typical_years_caption,
    typical_years_figure,
)


def record(means) -> Inflow:
    return Inflow(np.repeat(np.array(means, float)[:, None], 12, axis=1), Calendar(2001, len(means)))


def test_the_wet_the_normal_and_the_dry_year_are_nearest_to_their_exceedance():
    means = np.random.default_rng(1).permutation(np.arange(100, 201))  # 10 % exceed 190, half 150, 90 % 110
    chosen = {year.kind: means[year.row] for year in typical_years(record(means))}
    assert chosen == {"wet": 190, "normal": 150, "dry": 110}


def test_years_can_be_named(plan: Plan):
    chosen = typical_years(plan.inflow, {"dry": "1953", "wet": "1957"})
    assert {year.kinds: plan.inflow.labels[year.row] for year in chosen} == {("wet",): "1957", ("dry",): "1953"}


def test_water_years_are_named_by_their_labels(june_plan: Plan):
    (only,) = typical_years(june_plan.inflow, {"normal": "1954/55"})
    assert only.row == 1


@pytest.mark.parametrize(
    ("years", "said"),
    [({"wet": "1999"}, "1999"), ({"soaked": "1953"}, "soaked"), ({}, "no typical year")],
    ids=["not in the record", "unknown kind", "none"],
)
def test_a_wrong_name_is_told(plan: Plan, years, said):
    with pytest.raises(InputError, match=said):
        typical_years(plan.inflow, years)


def test_one_year_is_all_kinds_at_once_and_one_line(one_year: Plan):
    (only,) = typical_years(one_year.inflow)
    assert only.kinds == ("wet", "normal", "dry")
    assert "wet" not in typical_years_caption(one_year)
    figure = typical_years_figure(one_year)
    assert [len(ax.get_lines()) for ax in figure.get_axes()] == [1, 1, 1, 2]  # power has its installed capacity


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_shows_the_numbers_of_its_years_in_their_colours(plan: Plan, name):
    years = typical_years(plan.inflow)
    ax = PANELS[name](Figure().add_subplot(), plan, years)
    values = {
        "inflow": plan.inflow.flow_m3s,
        "release": plan.operation.release_m3s,
        "level": plan.reservoir.level(plan.operation.storage_hm3),
        "power": plan.operation.power_mw,
    }[name]
    for line, year in zip(ax.get_lines(), years, strict=False):
        assert line.get_ydata() == pytest.approx(values[year.row])
        assert line.get_color() == COLOURS[year.kind]


def test_inflow_and_release_have_one_scale(plan: Plan):
    inflow, release, *_ = typical_years_figure(plan).get_axes()
    assert inflow.get_ylim() == release.get_ylim()


def test_power_stays_below_the_installed_capacity_that_is_drawn(plan: Plan, texts):
    ax = PANELS["power"](Figure().add_subplot(), plan, typical_years(plan.inflow))
    assert "installed 4,200 MW" in texts(ax)
    assert max(line.get_ydata().max() for line in ax.get_lines()[:3]) <= 4200


def test_the_caption_says_how_years_were_chosen(plan: Plan):
    assert "10, 50 and 90 %" in typical_years_caption(plan)
    assert "10, 50 and 90 %" not in typical_years_caption(plan, {"wet": "1953"})
