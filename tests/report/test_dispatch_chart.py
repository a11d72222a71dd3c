"""Zones fill the storages between the bounds, and are named with their outputs."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from reservoir.report.dispatch_chart import draw_dispatch_chart, zone_edges
from reservoir.report.record_runs import result_of
from reservoir.report.storage_axis import storage_bounds
from reservoir.rules.evaluation import Evaluation


def edges_of(evaluation: Evaluation) -> np.ndarray:
    return zone_edges(result_of(evaluation, "zones").rule, *storage_bounds(evaluation.plan))


def test_zones_lie_on_each_other_from_the_lower_to_the_upper_bound(october_evaluation: Evaluation):
    edges = edges_of(october_evaluation)
    lower, upper = storage_bounds(october_evaluation.plan)
    assert np.diff(edges, axis=0).min() >= 0
    assert edges[0].tolist() == lower.tolist()
    assert edges[-1].tolist() == upper.tolist()


def test_a_storage_between_two_edges_is_in_their_zone(evaluation: Evaluation):
    rule, edges = result_of(evaluation, "zones").rule, edges_of(evaluation)
    for step in range(12):
        middles = (edges[1:, step] + edges[:-1, step]) / 2
        assert [rule.zone(step, each) for each in middles] == ["reduced", "guaranteed", "increased", "full"]


def test_curves_that_leave_the_bounds_are_drawn_on_them(evaluation: Evaluation):
    rule = result_of(evaluation, "zones").rule
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
