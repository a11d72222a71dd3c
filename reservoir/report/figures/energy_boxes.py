"""Energy of a year by family of rules, on held-out years and on those fitted to, beside perfect foresight."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from reservoir.hydro.objectives import Objective
from reservoir.planning.objective_columns import shown
from reservoir.report.figures.axes import THOUSANDS, name_lines
from reservoir.report.figures.record_runs import (
    FORESIGHT_NAME,
    HELD_OUT,
    TRAINING,
    held_out_note,
    outside_caption,
    outside_handles,
    record_runs,
)
from reservoir.report.figures.style import (
    DASHES,
    LIMITS,
    OUTSIDE_MARK,
    REFERENCE,
    family_look,
    on_axes,
    plan_figure,
    tint,
)
from reservoir.rules.evaluation.evaluation import Evaluation, SimulationMode
from reservoir.text.quantities import quantity

FloatArray = NDArray[np.float64]

#: Percentiles that the whiskers reach to, years beyond being dots; of fewer years they reach to the last one.
WHISKERS, WHISKER_YEARS = (5, 95), 20
#: Of more years than this, those beyond the whiskers are not drawn one by one.
MOST_DOTS = 1_000
_WIDTH, _OFFSET = 0.34, 0.2
_STRENGTH = 0.55


def rule_energy_figure(evaluation: Evaluation) -> Figure:
    """Draw the boxes with their legend."""

    def draw(sheet: SubFigure) -> None:
        on_axes(f"{annual_title(evaluation)} by rule", draw_rule_energy, evaluation)(sheet)
        handles = [*sample_patches(), *outside_handles(evaluation)]
        sheet.legend(handles=handles, loc="outside lower center", ncols=len(handles))

    return plan_figure(evaluation.plan, 3.9, draw, held_out_note(evaluation))


def draw_rule_energy(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw a box for perfect foresight and two for each family: held-out years filled, training years hollow.

    Crosses mark the years of perfect foresight and of held-out runs in which a month leaves the limits of storage.
    """
    objective = evaluation.plan.objective
    draw_box(ax, 0, _foresight(evaluation), REFERENCE, filled=True)
    for place, result in enumerate(evaluation.families, start=1):
        colour = family_look(result.family).colour
        for offset, key, filled in ((-_OFFSET, HELD_OUT, True), (_OFFSET, TRAINING, False)):
            draw_box(ax, place + offset, shown(objective, result.runs[key].account.by_year), colour, filled=filled)
    _mark_outside(ax, evaluation)
    names = [FORESIGHT_NAME.replace(" ", "\n"), *(result.family for result in evaluation.families)]
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel(annual_label(objective))
    if evaluation.targets.guaranteed and objective.is_energy:
        _draw_guaranteed(ax, evaluation.targets.annual_gwh)
    return ax


def annual_title(evaluation: Evaluation) -> str:
    """What the figure shows."""
    return f"Annual {evaluation.plan.objective.title}"


def annual_label(objective: Objective) -> str:
    """Name and unit of what is optimised, of a year."""
    return f"Annual {objective.title}" + (f" ({objective.unit})" if objective.unit else "")


def _foresight(evaluation: Evaluation) -> FloatArray:
    return shown(evaluation.plan.objective, evaluation.foresight_benefit(SimulationMode.CONTINUOUS))


def _mark_outside(ax: Axes, evaluation: Evaluation) -> None:
    energies = [
        _foresight(evaluation),
        *(shown(evaluation.plan.objective, each.runs[HELD_OUT].account.by_year) for each in evaluation.families),
    ]
    for place, (run, energy) in enumerate(zip(record_runs(evaluation), energies, strict=True)):
        years = run.outside.any(axis=1)
        if years.any():
            ax.plot(np.full(years.sum(), place - _OFFSET * bool(place)), energy[years], **OUTSIDE_MARK)


def draw_box(ax: Axes, place: float, energy: FloatArray, colour: str, *, filled: bool) -> None:
    """Draw a box of energies at a place of the axis."""
    line: dict[str, Any] = {"color": colour, "lw": 1.2}
    ax.boxplot(
        energy,
        positions=[place],
        widths=_WIDTH,
        whis=WHISKERS if len(energy) >= WHISKER_YEARS else (0, 100),
        manage_ticks=False,
        patch_artist=True,
        showfliers=len(energy) <= MOST_DOTS,
        boxprops={"facecolor": tint(colour, _STRENGTH) if filled else "white", "edgecolor": colour, "lw": 1.2},
        medianprops={"color": REFERENCE if filled else colour, "lw": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "ms": 2.5, "mfc": colour if filled else "white", "mec": colour, "mew": 0.7},
        zorder=3,
    )


def _draw_guaranteed(ax: Axes, annual_gwh: float) -> None:
    ax.axhline(annual_gwh, color=LIMITS, lw=1.2, ls=DASHES, zorder=1.5)
    name_lines(ax, [(annual_gwh, f"guaranteed\n{quantity(annual_gwh)} GWh", LIMITS)])


def sample_patches() -> list[Patch]:
    """Legend of filled and hollow: on which years a rule is shown."""
    return [
        Patch(facecolor=tint(LIMITS, _STRENGTH), edgecolor=LIMITS, label="held-out years"),
        Patch(facecolor="white", edgecolor=LIMITS, label="training years"),
    ]


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    years = evaluation.training.years
    reach = f"the {WHISKERS[0]} and {WHISKERS[1]} % quantiles" if years >= WHISKER_YEARS else "the extremes"
    reach += ", dots are years outside them" if WHISKER_YEARS <= years <= MOST_DOTS else ""
    return (
        f"Boxes show the quartiles and the median of the years, whiskers {reach}. Filled: held-out years, which the "
        "rule was not fitted to; hollow: training years. A hollow box far above the filled one suggests overfitting."
        f"{outside_caption(evaluation)}"
    )
