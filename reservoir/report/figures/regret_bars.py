"""Regret of every family against perfect foresight, on held-out and on training years."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.report.figures.axes import THOUSANDS
from reservoir.report.figures.energy_boxes import sample_patches
from reservoir.report.figures.record_runs import HELD_OUT, TRAINING, held_out_note
from reservoir.report.figures.style import LIMITS, family_look, on_axes, plan_figure
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult
from reservoir.rules.evaluation.scores import Score

_HEIGHT, _OFFSET = 0.36, 0.2
#: Part of the axis' width that is kept free for what is written at the longest bar.
_ROOM = 0.38
_INCHES_PER_FAMILY = 0.52
#: Letters of a unit that is written at every bar.
_SHORT_UNIT = 4


def regret_figure(evaluation: Evaluation) -> Figure:
    """Draw the bars with their legend."""

    def draw(sheet: SubFigure) -> None:
        on_axes("Regret against perfect foresight", draw_regret, evaluation)(sheet)
        sheet.legend(handles=sample_patches(), loc="outside lower center", ncols=2)

    height = 1.4 + _INCHES_PER_FAMILY * len(evaluation.families)
    return plan_figure(evaluation.plan, height, draw, held_out_note(evaluation))


def draw_regret(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw two bars a family, the best on top: held-out years filled, training years hollow; returns the axis."""
    ranked = by_regret(evaluation)
    digits = _digits(ranked)
    for place, result in enumerate(ranked):
        colour = family_look(result.family).colour
        for offset, key, fill in ((-_OFFSET, HELD_OUT, colour), (_OFFSET, TRAINING, "white")):
            score = result.runs[key].score
            ax.barh(place + offset, score.regret, _HEIGHT, facecolor=fill, edgecolor=colour, lw=1.2, zorder=2)
            _write(ax, place + offset, score, digits)
    ax.set_yticks(range(len(ranked)), [result.family for result in ranked])
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    left, right = ax.get_xlim()
    ax.set_xlim(left, right + _ROOM * (right - left))
    ax.axvline(0, color=LIMITS, lw=0.8, zorder=3)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(THOUSANDS)
    unit = evaluation.plan.objective.unit
    ax.set_xlabel(f"Mean regret against perfect foresight ({f'{unit} per year' if unit else 'per year'})")
    return ax


def by_regret(evaluation: Evaluation) -> list[FamilyResult]:
    """Families from the least regret on held-out years to the most."""
    return sorted(evaluation.families, key=lambda result: result.runs[HELD_OUT].score.regret)


def _digits(results: list[FamilyResult]) -> int:
    """Decimals of every bar's number: three figures of the largest."""
    most = max(abs(result.runs[key].score.regret) for result in results for key in (HELD_OUT, TRAINING))
    return max(0, 2 - int(np.floor(np.log10(max(most, 1e-2)))))


def _write(ax: Axes, place: float, score: Score, digits: int) -> None:
    ax.annotate(
        _written(score, digits),
        (max(score.regret, 0), place),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "lw": 0, "pad": 1},
        zorder=1.5,
    )


def _written(score: Score, digits: int) -> str:
    unit = score.objective.unit if len(score.objective.unit) <= _SHORT_UNIT else ""  # a longer one is told by the axis
    amount = f"{score.regret:,.{digits}f} {unit}".strip()
    if not score.has_percent:
        return amount
    return f"{amount}, {score.percent_of_foresight:.1f} % of foresight"


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    what = "energy that a rule generates less" if evaluation.plan.objective.is_energy else "shortfall of a rule: less"
    return (
        f"Mean annual {what} than an operator who knows all inflows in advance, at equal end "
        "storage. Shorter is better; the rule of the least regret on held-out years is on top."
    )
