"""Zones fill the storages between the bounds, and are named with their outputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.axes import storage_bounds
from reservoir.report.figures.rule_charts import dispatch_chart_caption, draw_dispatch_chart, zone_edges
from reservoir.report.figures.rules_figures import rules_figures
from reservoir.rules.evaluation import Evaluation


def edges_of(evaluation: Evaluation) -> np.ndarray:
    return zone_edges(evaluation.result_of("zones").rule, *storage_bounds(evaluation.plan))


def test_zones_lie_on_each_other_from_the_lower_to_the_upper_bound(october_evaluation: Evaluation):
    edges = edges_of(october_evaluation)
    lower, upper = storage_bounds(october_evaluation.plan)
    assert np.diff(edges, axis=0).min() >= 0
    assert edges[0].tolist() == lower.tolist()
    assert edges[-1].tolist() == upper.tolist()


def test_a_storage_between_two_edges_is_in_their_zone(evaluation: Evaluation):
    rule, edges = evaluation.result_of("zones").rule, edges_of(evaluation)
    for step in range(12):
        middles = (edges[1:, step] + edges[:-1, step]) / 2
        assert [rule.zone(step, each) for each in middles] == ["reduced", "guaranteed", "increased", "full"]


def test_curves_that_leave_the_bounds_are_drawn_on_them(evaluation: Evaluation):
    rule = evaluation.result_of("zones").rule
    outside = rule.model_copy(update={"curves_hm3": ((0.0,) * 12, (1e6,) * 12, (1e6,) * 12)})
    lower, upper = storage_bounds(evaluation.plan)
    edges = zone_edges(outside, lower, upper)
    assert edges[1].tolist() == lower.tolist()
    assert edges[3].tolist() == upper.tolist()


def test_zones_are_named_where_they_have_room_and_all_in_the_legend(evaluation: Evaluation, texts):
    ax = draw_dispatch_chart(Figure().add_subplot(), evaluation)
    shown = texts(ax)
    assert {"reduced\n840 MW", "increased\n2,940 MW", "full\n4,200 MW"} <= set(shown)
    assert "guaranteed\n1,680 MW" not in shown
    assert "guaranteed, 1,680 MW" in ax.get_legend_handles_labels()[1]


def with_outputs(evaluation: Evaluation, **changes) -> Evaluation:
    zones = evaluation.result_of("zones")
    changed = replace(zones, rule=zones.rule.model_copy(update=changes))
    return replace(evaluation, families=(*evaluation.families[:-1], changed))


def test_zones_of_about_the_same_output_are_one_with_both_names(evaluation: Evaluation, texts):
    alike = with_outputs(evaluation, outputs_mw=(840.0, 1_680.0, 4_175.0, 4_200.0))
    ax = draw_dispatch_chart(Figure().add_subplot(), alike)
    assert "increased and full\n4,175 to 4,200 MW" in texts(ax)
    assert len(ax.get_legend_handles_labels()[1]) == 4, "three zones, and what lies outside"
    edges = [line for line in ax.get_lines() if line.get_gid() is None]
    assert len(edges) == 2
    assert "1 % or less are drawn as one" in dispatch_chart_caption(alike)


def test_zones_whose_outputs_differ_stand_apart(evaluation: Evaluation):
    assert evaluation.result_of("zones").rule.together == ((0,), (1,), (2,), (3,))
    assert "drawn as one" not in dispatch_chart_caption(evaluation)


def test_a_zone_too_thin_to_be_seen_says_so_in_the_legend(evaluation: Evaluation):
    lower, upper = storage_bounds(evaluation.plan)
    place = (lower[1:] + upper[1:]).min() / 2
    curves = ((place,) * 12, (place + 30,) * 12, (place + 30,) * 12)
    ax = draw_dispatch_chart(Figure().add_subplot(), with_outputs(evaluation, curves_hm3=curves))
    labels = ax.get_legend_handles_labels()[1]
    assert "guaranteed, 1,680 MW (at most 30 hm³ thick)" in labels
    assert "increased, 2,940 MW (empty)" in labels


@pytest.mark.parametrize("shape", ["empty", "full", "one month", "crossing"])
def test_a_zone_that_is_never_entered_is_drawn_and_not_named(evaluation: Evaluation, texts, shape: str):
    """Edges that lie on each other and move leave no room anywhere: less than none around a month."""
    plan = evaluation.plan
    lower, upper = (bound[:12] for bound in storage_bounds(plan))
    moving = lower + np.random.default_rng(2).random(12) * (upper - lower)
    opened = moving.copy()
    opened[4] = upper[4]
    curves = {
        "empty": (lower, lower, lower),
        "full": (upper, upper, upper),
        "one month": (moving, opened, opened),
        "crossing": (moving, moving, moving),
    }[shape]
    result = evaluation.result_of("zones")
    rule = result.rule.model_copy(update={"curves_hm3": tuple(tuple(each.tolist()) for each in curves)})
    alone = replace(evaluation, families=(replace(result, rule=rule),))
    ax = draw_dispatch_chart(Figure().add_subplot(), alone)
    labels = ax.get_legend_handles_labels()[1]
    assert sum("(empty)" in label for label in labels) >= (2 if shape == "crossing" else 1)
    assert not any(text.startswith("increased") for text in texts(ax))
    assert {"dispatch-chart", "regret", "level-trace"} <= set(rules_figures(alone))
