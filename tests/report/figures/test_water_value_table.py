"""The figure of the table of water values: numbers that can be read, for storages that the reservoir may have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes

from reservoir.report.figures.rules_figures import rules_figures
from reservoir.rules import fit
from reservoir.rules.evaluation import Evaluation
from tests.report.layout import axes_and_legends_lie_apart_within_the_figure, nothing_overlaps_the_foot

pytestmark = pytest.mark.usefixtures("drawn_style")


@pytest.fixture(scope="module")
def with_table(evaluation: Evaluation) -> Evaluation:
    rule = fit("water-value", evaluation.training, evaluation.forecast)
    return replace(evaluation, families=(replace(evaluation.families[0], family="water-value", rule=rule),))


@pytest.fixture
def axes(with_table: Evaluation) -> Axes:
    return rules_figures(with_table)["water-value-table"].axes[0]


def test_every_number_stands_between_the_bounds_of_its_month(with_table: Evaluation, axes: Axes):
    rule = with_table.families[0].rule
    assert len(axes.texts) > 60
    for text in axes.texts:
        month, storage = text.get_position()
        lower, upper = rule.storage_lower_hm3[int(month)], rule.storage_upper_hm3[int(month)]
        assert lower - 1e-6 <= storage <= upper + 1e-6
    assert axes.get_ylim()[0] > min(rule.storage_lower_hm3) - 0.1 * np.ptp(rule.storages_hm3)


def test_numbers_have_three_figures_of_the_largest_shown(axes: Axes):
    written = [text.get_text() for text in axes.texts]
    largest = max(written, key=float).replace("-", "").replace(".", "").lstrip("0")
    assert len(largest) == 3


def test_nothing_overlaps(with_table: Evaluation):
    figure = rules_figures(with_table)["water-value-table"]
    axes_and_legends_lie_apart_within_the_figure("water-value-table", figure)
    nothing_overlaps_the_foot("water-value-table", figure)
