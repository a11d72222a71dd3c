"""The convergence band ends at the certified gaps, never rises, and admits what float32 cannot tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from reservoir.planning.plan import Plan
from reservoir.report.figures.convergence import (
    FLOAT32_FLOOR,
    convergence,
    convergence_caption,
    convergence_figure,
    draw_convergence,
    percent,
)
from reservoir.solvers import Solutions


def traced(plan: Plan, *traces: tuple[list[int], list[float]]) -> Plan:
    solutions = [
        replace(solution, trace_generations=np.array(generations), trace_fitness=np.array(fitness))
        for solution, (generations, fitness) in zip(plan.solutions, traces, strict=False)
    ]
    problems = replace(plan.problems, batches=(plan.problems.batches[0][: len(solutions)],))
    return replace(plan, solutions=Solutions.of(solutions), problems=problems, references=Solutions.of([]))


def test_gaps_never_rise(plan: Plan):
    _, gaps = convergence(plan)
    assert (np.diff(gaps, axis=1) <= 0).all()


def test_gaps_end_at_those_of_the_certified_solutions(plan: Plan):
    generations, gaps = convergence(plan)
    assert generations[-1] == plan.solutions[0].generations
    assert gaps[:, -1] == pytest.approx(np.maximum(plan.gap, FLOAT32_FLOOR))


def test_without_a_reference_the_gap_is_to_the_final_value(plan: Plan):
    alone = replace(plan, references=Solutions.of([]))
    _, gaps = convergence(alone)
    assert (gaps[:, -1] == FLOAT32_FLOOR).all()
    ax = draw_convergence(Figure().add_subplot(), alone)
    assert ax.get_ylabel() == "Gap to the final value (%)"
    assert "final value" in convergence_caption(alone)


def test_traces_of_different_lengths_hold_their_last_value(plan: Plan):
    uneven = traced(plan, ([1, 2, 4], [50.0, 90.0, 100.0]), ([1, 3], [80.0, 100.0]))
    generations, gaps = convergence(uneven)
    assert generations.tolist() == [1, 2, 3, 4]
    assert gaps[0] == pytest.approx([0.5, 0.1, 0.1, FLOAT32_FLOOR])
    assert gaps[1] == pytest.approx([0.2, 0.2, FLOAT32_FLOOR, FLOAT32_FLOOR])


def test_gaps_of_a_small_fitness_are_parts_of_the_least_scale(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    """The fitness of a shortage may be next to nothing: what is missing of it is no part of itself."""
    monkeypatch.setattr(type(plan.problems), "least_gap_scale", 1e5)
    small = traced(plan, ([1, 2, 4], [50.0, 90.0, 100.0]), ([1, 3], [80.0, 100.0]))
    _, gaps = convergence(small)
    assert gaps[:, 0] == pytest.approx([5e-4, 2e-4])
    anew = replace(plan)  # its gap is not known yet
    assert convergence(anew)[1][:, -1] == pytest.approx(np.maximum(anew.gap, FLOAT32_FLOOR))


def test_what_float32_cannot_resolve_is_shown_and_said(plan: Plan, texts):
    shown = texts(draw_convergence(Figure().add_subplot(), replace(plan, references=Solutions.of([]))))
    assert "below float32 resolution" in shown
    assert "float32" in convergence_caption(plan)


def test_a_search_of_one_step_or_none_has_no_figure(plan: Plan, dp_plan: Plan):
    assert convergence_figure(dp_plan) is None
    assert convergence_figure(traced(plan, ([1], [50.0]))) is None


def test_a_search_that_never_improved_is_drawn(plan: Plan):
    assert convergence_figure(traced(plan, ([10, 20], [50.0, 50.0]))) is not None


@pytest.mark.parametrize(
    ("part", "written"), [(0.1, "10"), (0.01, "1"), (1e-3, "0.1"), (2e-4, "0.02"), (1e-7, "0.00001"), (10, "1,000")]
)
def test_per_cent_are_written_without_exponent(part, written):
    assert percent(part) == written
