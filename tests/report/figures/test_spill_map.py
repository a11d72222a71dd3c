"""Only months that spill are coloured, on one scale for all runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.report.figures.record_runs import (
    draw_spill_map,
    has_spill,
    named_spill_m3s,
    record_runs,
    spill_map_figure,
)
from reservoir.report.figures.rules_figures import rules_captions
from reservoir.rules.evaluation import HELD_OUT, Evaluation


def without_spill(evaluation: Evaluation) -> Evaluation:
    """Lead all that is released through the turbines."""

    def dry(operation):
        return replace(operation, turbined_m3s=operation.release_m3s)

    families = []
    for result in evaluation.families:
        run = replace(result.held_out, operation=dry(result.held_out.operation))
        families.append(replace(result, runs={**result.runs, HELD_OUT: run}))
    foresights = {mode: replace(each, operation=dry(each.operation)) for mode, each in evaluation.foresights.items()}
    return replace(evaluation, foresights=foresights, families=tuple(families))


def test_every_month_that_spills_is_a_cell(october_evaluation: Evaluation):
    for run in record_runs(october_evaluation):
        (cells,) = draw_spill_map(Figure().add_subplot(), october_evaluation, run).collections
        assert len(cells.get_paths()) == np.isfinite(named_spill_m3s(run, october_evaluation)).sum()


def test_a_cell_stands_at_its_month_and_year(october_evaluation: Evaluation):
    run = record_runs(october_evaluation)[0]
    (cells,) = draw_spill_map(Figure().add_subplot(), october_evaluation, run).collections
    for path, value in zip(cells.get_paths(), cells.get_array(), strict=True):
        month, year = path.vertices.min(axis=0)
        assert run.operation.spill_m3s[int(year + 0.5) - 1955, int(month)] == pytest.approx(value)


def test_all_panels_have_one_scale_that_holds_every_spill(october_evaluation: Evaluation):
    *panels, bar = spill_map_figure(october_evaluation).get_axes()
    norms = [ax.collections[0].norm for ax in panels]
    assert len({tuple(norm.boundaries) for norm in norms}) == 1
    most = max(run.operation.spill_m3s.max() for run in record_runs(october_evaluation))
    assert bar.get_ylim()[1] >= most


def test_where_nothing_spills_there_is_no_map(october_evaluation: Evaluation):
    dry = without_spill(october_evaluation)
    assert has_spill(october_evaluation)
    assert not has_spill(dry)
    assert "spill-map" not in rules_captions(dry)
