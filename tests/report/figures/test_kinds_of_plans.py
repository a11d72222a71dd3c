"""Figures of plans of every kind: units, prices, starts within a year, flood space, few years and many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from reservoir import optimise, read_inflow
from reservoir.hydro.attributes import ReferenceLevels
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.unit_system import US
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.plan import Plan
from reservoir.report.figures import annual_energy, axes
from reservoir.report.figures.figures import plan_captions, plan_figures
from reservoir.report.figures.storages import draw_record_storage, draw_storage_fan
from tests.io.small_reservoir import SMALL
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    nothing_overlaps_the_foot,
    ticks_are_few_and_plain,
    words_lie_apart_within_the_figure,
    words_of,
)

pytestmark = pytest.mark.usefixtures("drawn_style")

PRICES = np.array([60, 60, 50, 20, -15, -10, 30, 40, 50, 60, 60, 60], float)
FLOOD = """
[flood_space]
column = "snow"
values = [0, 300]
dates = ["01-01", "04-30", "07-01"]
upper_hm3 = [[120, 120, 120], [110, 70, 120]]
"""


@pytest.fixture(scope="module")
def flood_plan(tmp_path_factory) -> Plan:
    """Four years with more and more snow, as one problem, beneath a limit that falls with it."""
    path = tmp_path_factory.mktemp("snow") / "record.csv"
    rows = [f"{1990 + at // 12}-{at % 12 + 1:02},{30 + 20 * np.sin(at / 2):.3f},{100 * (at // 12)}" for at in range(48)]
    path.write_text("date,inflow_m3s,snow\n" + "\n".join(rows) + "\n", encoding="utf-8")
    lake = reservoir_of((SMALL + FLOOD).encode(), "r.toml")
    return optimise(lake, read_inflow(path, flood_column="snow"), solver="dp", horizon="record")


@pytest.fixture(scope="module")
def priced_plan(small, small_inflow) -> Plan:
    """Revenue, with months of negative prices."""
    objective = Objective({Goal.REVENUE: 1}, price_per_mwh=PRICES, currency="EUR")
    return optimise(replace(small, objective=objective), small_inflow, solver="dp")


@pytest.fixture(scope="module")
def begun_plan(small, many_years) -> Plan:
    """From a month within the water year, with the flood months behind it."""
    marks = ReferenceLevels(normal_m=448.0, flood_m=440.0, dead_m=410.0, flood_months=(6, 7, 8))
    return optimise(replace(small, marks=marks), many_years, solver="dp", start="2026-11", start_hm3=60.0)


def large(plan: Plan) -> Plan:
    """The same with flows of a very large river, in US units."""
    operation = replace(plan.operation, release_m3s=200 * plan.operation.release_m3s)
    inflow = replace(plan.inflow, flow_m3s=200 * plan.inflow.flow_m3s)
    return replace(plan, operation=operation, inflow=inflow, units=US)


@pytest.fixture(scope="module")
def kinds(small, small_inflow, flood_plan, priced_plan, begun_plan, plan) -> dict[str, Callable[[], Plan]]:
    return {
        "US units": lambda: replace(optimise(small, small_inflow, solver="dp"), units=US),
        "large river": lambda: large(plan),
        "one year": lambda: optimise(small, small_inflow.span(0, 1), solver="dp"),
        "record": lambda: optimise(small, small_inflow, solver="dp", horizon="record"),
        "negative prices": lambda: priced_plan,
        "from a month": lambda: begun_plan,
        "from a month, US": lambda: replace(begun_plan, units=US),
        "flood space": lambda: flood_plan,
    }


NAMES = (
    *("US units", "large river", "one year", "record", "negative prices", "from a month", "from a month, US"),
    "flood space",
)


@pytest.mark.parametrize("kind", NAMES)
def test_no_words_overlap_or_leave_the_figure_and_ticks_are_few(kind, kinds):
    for name, figure in plan_figures(kinds[kind]()).items():
        words_lie_apart_within_the_figure(name, figure)
        ticks_are_few_and_plain(name, figure)
        axes_and_legends_lie_apart_within_the_figure(name, figure)
        nothing_overlaps_the_foot(name, figure)


def test_words_that_do_overlap_would_be_noticed():
    figure = Figure()
    figure.add_subplot().text(0.5, 0.5, "one")
    figure.axes[0].text(0.5, 0.5, "other")
    with pytest.raises(AssertionError, match="other"):
        words_lie_apart_within_the_figure("any", figure)


def test_the_limit_of_each_year_is_drawn_where_a_flood_space_lowers_it(flood_plan):
    lowest, highest = axes.storage_limits(flood_plan)
    assert highest.shape == (4, 12)
    assert highest[:, 3].tolist() == pytest.approx([120, 120 - 50 / 3, 120 - 100 / 3, 70])  # 30 April
    fan = draw_storage_fan(Figure().add_subplot(), flood_plan)
    (line,) = [line for line in fan.get_lines() if line.get_label() == "lowest upper limit of a year"]
    assert line.get_ydata().tolist() == pytest.approx([highest[3, -1], *highest[3]])
    trace = draw_record_storage(Figure().add_subplot(), flood_plan)
    above = trace.collections[0].get_paths()[0].vertices
    assert set(highest.ravel().round(6)) <= set(above[:, 1].round(6))
    assert (flood_plan.operation.storage_hm3[:, 1:] <= highest + 1e-6).all()
    assert lowest.max() < highest.min()


def test_without_flood_space_there_is_no_such_line(plan):
    fan = draw_storage_fan(Figure().add_subplot(), plan)
    assert "lowest upper limit of a year" not in fan.get_legend_handles_labels()[1]


def test_what_is_optimised_has_a_panel_where_it_is_no_energy(priced_plan, plan):
    panels = annual_energy.annual_energy_figure(priced_plan).subfigs[0].axes
    (panel,) = [ax for ax in panels if ax.get_ylabel().startswith("Revenue")]
    assert [bar.get_height() for bar in panel.patches] == pytest.approx(priced_plan.benefit)
    assert "(million EUR)" in " ".join(panel.get_ylabel().split())
    assert not [ax for ax in annual_energy.annual_energy_figure(plan).axes if ax.get_ylabel().startswith("Revenue")]
    assert "passes the turbines by" in plan_captions(priced_plan)["typical-years"]


def test_what_storage_is_worth_is_in_the_units_of_the_plan(priced_plan):
    words = [text.get_text() for text in words_of(plan_figures(replace(priced_plan, units=US))["water-values"])]
    assert "Water value (million EUR per acre-ft)" in words
    assert "Water value (million EUR per hm³)" in [
        text.get_text() for text in words_of(plan_figures(priced_plan)["water-values"])
    ]


def test_one_year_has_one_panel_of_water_values(small, small_inflow):
    one = optimise(small, small_inflow.span(0, 1), solver="dp")
    words = [text.get_text() for text in words_of(plan_figures(one)["water-values"])]
    assert "Inflow of 1955/56" in words
    assert not [text for text in words if "quantile" in text]


def test_a_reservoir_whose_water_is_worth_nothing_has_no_map_of_it(small, small_inflow):
    objective = Objective({Goal.REVENUE: 1}, price_per_mwh=np.full(12, -20.0))
    assert "water-values" not in plan_figures(optimise(replace(small, objective=objective), small_inflow, solver="dp"))


def test_scenarios_are_named_as_in_the_tables_and_the_foot_says_where_they_begin(begun_plan):
    figures = plan_figures(begun_plan)
    words = [text.get_text() for text in words_of(figures["annual-energy"])]
    assert {"1905/06", "Inflow of the year"} <= set(words)
    assert begun_plan.inflow.labels[4] == "1905/06"
    assert any(text.startswith("small, from 2026-11, inflow of 1901/02") for text in words)
    assert not [text for text in words_of(figures["storage-fan"]) if text.get_text().startswith("flood level")]


def test_what_leaves_the_storage_of_many_years_is_drawn_too(small, small_inflow, monkeypatch):
    record = optimise(small, small_inflow, solver="dp", horizon="record")
    monkeypatch.setattr(annual_energy, "MANY_YEARS", 1)
    ax = annual_energy.draw_storage_change(Figure().add_subplot(), record)
    (shape,) = [artist for artist in ax.get_children() if isinstance(artist, StepPatch)]
    change = annual_energy.storage_change_hm3(record)
    assert shape.get_data().values.tolist() == pytest.approx(change)
    assert change.min() < 0
    assert ax.get_ylim()[0] <= change.min()


@pytest.mark.parametrize(("years", "bands"), [(2, 1), (3, 1), (4, 2), (19, 2), (20, 3)])
def test_percentiles_are_drawn_of_as_many_years_as_have_them(years, bands):
    ax = axes.fill_bands(Figure().add_subplot(), [0, 1], np.random.default_rng(1).random((years, 2)), axes.LIMITS)
    assert len(ax.collections) == bands


def test_names_of_months_are_letters_where_they_have_no_room(plan):
    def names(figure: Figure) -> list[str]:
        return [label.get_text() for label in figure.axes[2].get_xticklabels(minor=True)]

    assert names(plan_figures(plan)["typical-years"])[:2] == ["Jan", "Feb"]
    assert names(plan_figures(large(plan))["typical-years"])[:2] == ["J", "F"]
