"""Which months are interdependent: a cell for each pair of storages, named, and only where a solver learned it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.planning.plan import Plan, optimise
from reservoir.report.figures.convergence import draw_linkage, linkage_map_figure, mean_linkage, storage_names
from reservoir.report.figures.figures import plan_captions, plan_figures
from reservoir.report.figures.style import figure_style, rendered
from reservoir.solvers import Solutions
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    nothing_overlaps_the_foot,
    tick_labels_lie_apart,
)
from tests.year_ends import cyclic, free

LINKED = {"solver": "dsmga2", "generations": 12, "population": 60, "reference": False}


@pytest.fixture(scope="module", params=[1, 10])
def linked(make_plan, request) -> Plan:
    return make_plan(3, first_month=request.param, particles=None, **LINKED)


def test_only_solvers_that_learn_linkage_have_the_figure(plan: Plan, linked: Plan):
    assert "linkage" not in plan_figures(plan)
    assert "linkage" not in plan_captions(plan)
    assert "linkage" in plan_figures(linked)
    assert plan_captions(linked)["linkage"].endswith(".")


def test_cells_are_the_means_of_the_years(linked: Plan):
    linkage = mean_linkage(linked)
    assert linkage == pytest.approx(np.mean([each.linkage for each in linked.solutions], axis=0))
    drawn = draw_linkage(Figure().add_subplot(), linkage, storage_names(linked))
    assert len(drawn.get_paths()) == 11 * 10
    for path, value in zip(drawn.get_paths(), drawn.get_array(), strict=True):
        column, row = np.round(path.vertices[:4].mean(axis=0)).astype(int)
        assert value == linkage[row, column]


def test_storages_are_named_by_the_months_that_they_end(linked: Plan):
    names = storage_names(linked)
    assert len(names) == 11
    assert names[0] == {1: "Jan", 10: "Oct"}[linked.inflow.calendar.first_month]


def test_a_cyclic_year_has_its_start_and_a_free_one_its_end(linked: Plan):
    for end, first, last in ((cyclic, "Start", -2), (free, 0, -1)):
        plan = optimise(end(linked.reservoir), linked.inflow, **LINKED)
        months = [name[:3] for name in linked.inflow.calendar.step_names]
        names = storage_names(plan)
        assert len(names) == 12
        assert names[0] == ("Start" if first == "Start" else months[0])
        assert names[-1] == months[last]


def test_years_are_named_of_a_long_horizon_and_their_names_lie_apart(linked: Plan):
    calendar, count = replace(linked.inflow.calendar, years=62), 62 * 12

    class Record(list):
        cyclic = False

    solved = SimpleNamespace(linkage=[np.eye(count)])
    long = SimpleNamespace(inflow=SimpleNamespace(calendar=calendar), engine_solutions=solved, problems=Record([1]))
    names = storage_names(long)
    assert len(names) == count
    named = [name for name in names if name]
    assert named == list(calendar.labels[::9])
    with figure_style():
        figure = Figure(figsize=(7.2, 4.6), layout="constrained")
        draw_linkage(figure.add_subplot(), np.zeros((count, count)), names)
        figure.draw_without_rendering()
        tick_labels_lie_apart("linkage", figure)


def test_neighbouring_months_hang_together_more_than_others(linked: Plan):
    linkage = mean_linkage(linked)
    apart = np.abs(np.subtract.outer(np.arange(11), np.arange(11)))
    assert linkage[apart == 1].mean() > 1.2 * linkage[apart > 3].mean()


def test_years_that_do_not_fit_each_other_have_no_figure(linked: Plan):
    first, *others = linked.solutions
    mixed = replace(linked, solutions=Solutions.of([replace(first, linkage=np.zeros((0, 0))), *others]))
    assert linkage_map_figure(mixed) is None


def test_nothing_overlaps(linked: Plan):
    with figure_style():
        figure = linkage_map_figure(linked)
        figure.draw_without_rendering()
        nothing_overlaps_the_foot("linkage", figure)
        axes_and_legends_lie_apart_within_the_figure("linkage", figure)
        tick_labels_lie_apart("linkage", figure)


def test_the_colour_bar_is_drawn_and_no_picture(linked: Plan):
    assert b"<image" not in rendered(plan_figures(linked)["linkage"], "svg")
