"""Annual energies are those of the plan, whether there is one year or five hundred."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from reservoir.hydro.calendar import Calendar
from reservoir.planning.plan import Plan
from reservoir.report.figures.annual_energy import (
    annual_energy_caption,
    annual_energy_figure,
    annual_spill_hm3,
    draw_annual_energy,
    draw_annual_spill,
)
from reservoir.report.figures.axes import year_axis


def bars(ax) -> list[float]:
    return [patch.get_height() for patch in ax.patches if isinstance(patch, Rectangle)]


def spilled(plan: Plan, share: float) -> Plan:
    """Take a share of every release past the turbines."""
    operation = replace(plan.operation, turbined_m3s=(1 - share) * plan.operation.release_m3s)
    return replace(plan, operation=operation)


def test_there_is_a_bar_a_year(plan: Plan):
    assert bars(draw_annual_energy(Figure().add_subplot(), plan)) == pytest.approx(plan.energy_gwh)


def test_mean_and_guaranteed_energy_are_drawn_and_named(plan: Plan, texts):
    ax = draw_annual_energy(Figure().add_subplot(), plan)
    assert {line.get_ydata()[0] for line in ax.get_lines()} == {plan.energy_gwh.mean(), 19000}
    assert f"mean\n{plan.energy_gwh.mean():,.0f} GWh" in texts(ax)
    assert "guaranteed\n19,000 GWh" in texts(ax)


def test_no_guaranteed_energy_means_no_line(plan: Plan):
    free = replace(plan, reservoir=replace(plan.reservoir, guaranteed_energy_gwh=None))
    assert len(draw_annual_energy(Figure().add_subplot(), free).get_lines()) == 1


def test_one_year_has_no_mean(one_year: Plan, texts):
    shown = texts(draw_annual_energy(Figure().add_subplot(), one_year))
    assert not [text for text in shown if text.startswith("mean")]


def test_bars_begin_at_nothing(plan: Plan):
    assert draw_annual_energy(Figure().add_subplot(), plan).get_ylim()[0] == 0


def test_spill_has_its_own_axis_only_where_there_is_some(plan: Plan):
    assert len(annual_energy_figure(spilled(plan, 0)).get_axes()) == 1
    assert len(annual_energy_figure(spilled(plan, 0.1)).get_axes()) == 2
    assert "No year spills" in annual_energy_caption(spilled(plan, 0))
    assert "5 of 5 years spill" in annual_energy_caption(spilled(plan, 0.1))


def test_spill_is_a_volume(plan: Plan):
    part = spilled(plan, 0.1)
    volume = (part.operation.release_m3s * part.inflow.calendar.days).sum(axis=1) * 86_400 / 1e6
    assert annual_spill_hm3(part) == pytest.approx(0.1 * volume)
    assert bars(draw_annual_spill(Figure().add_subplot(), part)) == pytest.approx(0.1 * volume)


@pytest.mark.parametrize("years", [1, 2, 7, 62, 200, 500])
@pytest.mark.parametrize("first_month", [1, 6])
def test_the_names_of_years_are_few_and_right(years, first_month):
    calendar = Calendar(1953, years, first_month)
    ax = year_axis(Figure().add_subplot(), calendar)
    places = ax.get_xticks()
    assert 1 <= len(places) <= 13
    names = [ax.xaxis.get_major_formatter()(place, index) for index, place in enumerate(places)]
    assert names == [calendar.labels[int(place) - 1953] for place in np.asarray(places)]


def test_years_with_the_schedule_of_the_reference_are_marked_and_named(make_plan, texts):
    plan = make_plan(3, generations=10, engine_only=None)
    assert plan.from_reference.all()
    (figure_ax,) = annual_energy_figure(plan).subfigs[0].axes[:1]
    (marks,) = [line for line in figure_ax.get_lines() if line.get_label() == "schedule of dp"]
    assert marks.get_xdata().tolist() == [1953, 1954, 1955]
    assert "schedule of dp" in texts(annual_energy_figure(plan))
    assert annual_energy_caption(plan).endswith("close enough: 3 years (1953, 1954, 1955), marked by a circle.")


def test_years_of_the_solver_have_no_such_mark(plan: Plan):
    lines = draw_annual_energy(Figure().add_subplot(), plan).get_lines()
    assert not [line for line in lines if str(line.get_label()).startswith("schedule")]
    assert "Schedule of" not in annual_energy_caption(plan)
