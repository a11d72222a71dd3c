"""Boxes stand on the energies of held-out years, beside those of the years that a rule was fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

from reservoir.report.figures.record_runs import TRAINING
from reservoir.report.figures.rule_scores import draw_rule_energy, rule_energy_caption
from reservoir.rules.evaluation import HELD_OUT, Evaluation
from reservoir.rules.scores import SimulationMode


def test_boxes_are_foresight_and_each_family_on_held_out_and_on_training_years(evaluation: Evaluation):
    ax = draw_rule_energy(Figure().add_subplot(), evaluation)
    boxes = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    energies = [evaluation.foresight_benefit(SimulationMode.CONTINUOUS)]
    energies += [each.runs[key].by_year for each in evaluation.families for key in (HELD_OUT, TRAINING)]
    for box, energy in zip(boxes, energies, strict=True):
        heights = box.get_path().vertices[:, 1]
        assert (heights.min(), heights.max()) == pytest.approx(tuple(np.quantile(energy, [0.25, 0.75])))


def test_the_guaranteed_energy_is_a_line_only_where_there_is_one(
    evaluation: Evaluation, october_evaluation: Evaluation, texts
):
    assert "guaranteed\n19,000 GWh" in texts(draw_rule_energy(Figure().add_subplot(), evaluation))
    shown = texts(draw_rule_energy(Figure().add_subplot(), october_evaluation))
    assert not [text for text in shown if text.startswith("guaranteed")]


def test_whiskers_of_few_years_reach_to_the_last_one(evaluation: Evaluation):
    ax = draw_rule_energy(Figure().add_subplot(), evaluation)
    lowest = min(min(line.get_ydata()) for line in ax.get_lines() if len(line.get_ydata()))
    energies = [evaluation.foresight_benefit(SimulationMode.CONTINUOUS)]
    energies += [each.runs[key].by_year for each in evaluation.families for key in (HELD_OUT, TRAINING)]
    assert lowest == pytest.approx(min(19_000, *(energy.min() for energy in energies)))
    assert "dots" not in rule_energy_caption(evaluation)
