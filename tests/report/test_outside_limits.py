"""Years and months that leave their limits are marked in every figure, and no mean, median or band holds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import reservoir as package
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import Plan
from reservoir.report.figures import annual_energy, convergence, rule_charts, typical_years
from reservoir.report.figures import record_runs as runs_drawn
from reservoir.report.figures.axes import BANDS, percentiles, storage_bounds
from reservoir.report.figures.figures import plan_captions, plan_figures
from reservoir.report.figures.record_runs import draw_spill_map, record_runs
from reservoir.report.figures.rule_scores import draw_rule_energy
from reservoir.report.figures.rules_figures import rules_captions, rules_figures
from reservoir.report.figures.storages import draw_storage_fan
from reservoir.report.figures.style import VIOLATION, figure_style
from reservoir.rules.evaluation import Evaluation, evaluate
from tests.report.layout import (
    axes_and_legends_lie_apart_within_the_figure,
    nothing_overlaps_the_foot,
    tick_labels_lie_apart,
)

#: Of five years, the third is too dry and the fourth far too wet for any schedule.
KEPT = np.array([True, True, False, False, True])


def hard(plan: Plan, dry: float = 100.0, wet: float = 9_000.0) -> Inflow:
    flow = plan.inflow.flow_m3s.copy()
    flow[2], flow[3] = dry, wet
    return replace(plan.inflow, flow_m3s=flow)


@pytest.fixture(scope="module")
def torn(plan: Plan) -> Plan:
    return package.optimise(plan.reservoir, hard(plan), solver="clpso-sequential", generations=50, particles=8)


@pytest.fixture(scope="module")
def hopeless(plan: Plan) -> Plan:
    flood = replace(plan.inflow, flow_m3s=np.full_like(plan.inflow.flow_m3s, 9_000.0))
    return package.optimise(plan.reservoir, flood, solver="clpso-sequential", generations=50, particles=8)


@pytest.fixture(scope="module")
def evaluation(torn: Plan) -> Evaluation:
    return evaluate(torn, folds=2, families=("guide-curve", "linear", "standard"))


@pytest.fixture(autouse=True)
def style() -> Iterator[None]:
    """Measure texts in the fonts that they are drawn in."""
    with figure_style():
        yield


def crosses(ax) -> list[tuple[float, float]]:
    drawn = [line for line in ax.get_lines() if line.get_marker() == "x" and line.get_color() == VIOLATION]
    return [(float(x), float(y)) for line in drawn for x, y in line.get_xydata()]


def test_annual_energies_outside_the_limits_are_marked_paler_and_not_in_the_mean(torn: Plan, texts):
    ax = annual_energy.draw_annual_energy(Figure().add_subplot(), torn)
    assert crosses(ax) == [(1955, torn.energy_gwh[2]), (1956, torn.energy_gwh[3])]
    faces = {tuple(bar.get_facecolor()) for bar in ax.patches}
    assert len(faces) == 2
    assert f"mean\n{torn.energy_gwh[KEPT].mean():,.0f} GWh" in texts(ax)


def test_the_bands_of_the_fan_are_of_the_other_years_and_these_are_lines(torn: Plan):
    storages = torn.operation.storage_hm3
    ax = draw_storage_fan(Figure().add_subplot(), torn)
    median = next(line for line in ax.get_lines() if line.get_label() == "median")
    assert median.get_ydata() == pytest.approx(np.median(storages[KEPT], axis=0))
    lower, upper = percentiles(storages[KEPT], BANDS[0])
    assert lower.min() >= 0
    assert upper.max() < 15_000
    outside = [line for line in ax.get_lines() if line.get_color() == VIOLATION]
    assert [line.get_ydata().tolist() for line in outside] == storages[~KEPT].tolist()
    assert outside[0].get_label() == "2 years outside their limits"


def test_a_lake_that_no_dam_holds_does_not_flatten_the_fan(torn: Plan):
    lower, upper = storage_bounds(torn)
    assert torn.operation.storage_hm3.max() > 10 * upper.max()
    bottom, top = draw_storage_fan(Figure().add_subplot(), torn).get_ylim()
    assert top - bottom < 2 * (upper.max() - lower.min())


def test_of_many_years_outside_the_fan_shows_the_lowest_and_the_highest(torn: Plan, monkeypatch):
    monkeypatch.setattr("reservoir.report.figures.axes.MANY_LINES", 1)
    ax = draw_storage_fan(Figure().add_subplot(), torn)
    outside = [line for line in ax.get_lines() if line.get_color() == VIOLATION]
    storages = torn.operation.storage_hm3[~KEPT]
    assert [line.get_ydata().tolist() for line in outside] == [
        storages.min(axis=0).tolist(),
        storages.max(axis=0).tolist(),
    ]
    assert "minimum and maximum" in outside[0].get_label()


def test_a_typical_year_outside_its_limits_says_so_and_its_months_are_marked(torn: Plan):
    chosen = typical_years.typical_years(torn.inflow)
    ax = typical_years.draw_level(Figure().add_subplot(), torn, chosen)
    labels = [line.get_label() for line in ax.get_lines()]
    assert [label for label in labels if "1955" in label and label.endswith("violates its limits")]
    months = [int((torn.operation.violation[year.row] > 0).sum()) for year in chosen]
    assert len(crosses(ax)) == sum(months) > 0


def test_the_search_is_measured_in_years_that_have_an_optimum(torn: Plan):
    _, gaps = convergence.convergence(torn)
    assert len(gaps) == KEPT.sum()
    assert np.isfinite(gaps).all()
    assert (
        "2 years (1955, 1956) cannot satisfy their storage limits and are left out"
        in convergence.convergence_caption(torn)
    )


def test_every_caption_of_means_and_bands_names_the_years(torn: Plan):
    captions = plan_captions(torn)
    for name in ("storage-fan", "annual-energy", "convergence"):
        assert "2 years (1955, 1956)" in captions[name], name
    assert "violates its limits" in captions["typical-years"]


def test_a_plan_of_which_no_year_keeps_its_limits_has_its_figures(hopeless: Plan, texts):
    figures = plan_figures(hopeless)
    assert tuple(figures) == tuple(plan_captions(hopeless)) == ("storage-fan", "typical-years", "annual-energy")
    assert not [text for text in texts(figures["annual-energy"]) if text.startswith("mean")]
    assert "median" not in texts(figures["storage-fan"])


def test_plans_that_keep_their_limits_show_none_of_it(plan: Plan, texts):
    for figure in plan_figures(plan).values():
        assert not [text for text in texts(figure) if "limits" in text and text != "outside the limits"]
        assert not [mark for ax in figure.get_axes() for mark in crosses(ax)]


def test_all_figures_of_such_a_plan_are_laid_out_well(torn: Plan, hopeless: Plan, evaluation: Evaluation):
    for figures in (plan_figures(torn), plan_figures(hopeless), rules_figures(evaluation)):
        for name, figure in figures.items():
            nothing_overlaps_the_foot(name, figure)
            axes_and_legends_lie_apart_within_the_figure(name, figure)
            tick_labels_lie_apart(name, figure)


def test_legends_leave_the_panels_their_room(evaluation: Evaluation):
    for ax in rules_figures(evaluation)["duration-curves"].get_axes():
        assert ax.get_position().height > 0.6


def test_months_of_rules_outside_the_limits_are_marked_in_trace_and_map(evaluation: Evaluation):
    for run in record_runs(evaluation):
        count = int(run.outside.sum())
        assert count > 0
        trace = runs_drawn.draw_level_trace(Figure().add_subplot(), evaluation, run)
        assert len(crosses(trace)) == count
        assert len(crosses(draw_spill_map(Figure().add_subplot(), evaluation, run))) == count


def test_years_of_rules_outside_the_limits_are_marked_at_their_energy(evaluation: Evaluation):
    ax = draw_rule_energy(Figure().add_subplot(), evaluation)
    assert len(crosses(ax)) == sum(run.outside.any(axis=1).sum() for run in record_runs(evaluation)) > 0


def test_captions_of_rules_count_the_months_of_each_run(evaluation: Evaluation):
    captions = rules_captions(evaluation)
    counted = f"standard {record_runs(evaluation)[-1].outside.sum()} months"
    for name in ("level-trace", "spill-map", "duration-curves", "rule-energy"):
        assert counted in captions[name], name
    assert "2 years (1955, 1956)" in captions["rule-curves"]
    ax = rule_charts.draw_rule_curves(Figure().add_subplot(), evaluation)
    (first, _) = [line for line in ax.get_lines() if line.get_color() == VIOLATION]
    assert first.get_label() == "2 years outside their limits"
