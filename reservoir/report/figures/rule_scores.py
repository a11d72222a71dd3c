"""Energy and regret of every family of rules, by year and by member, beside perfect foresight."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from reservoir.planning.columns import shown
from reservoir.report.figures.axes import THOUSANDS, name_lines
from reservoir.report.figures.record_runs import (
    FORESIGHT_NAME,
    HELD_OUT,
    TRAINING,
    held_out_note,
    outside_caption,
    outside_handles,
    record_runs,
    tested_note,
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
from reservoir.rules.evaluation import FORESIGHT, TEST, Evaluation, FamilyResult, MemberRuns, member_runs
from reservoir.rules.scores import Score, SimulationMode
from reservoir.text.quantities import counted, quantity

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
        on_axes(f"Annual {evaluation.plan.objective.title} by rule", draw_rule_energy, evaluation)(sheet)
        handles = [*sample_patches(), *outside_handles(evaluation)]
        sheet.legend(handles=handles, loc="outside lower center", ncols=len(handles))

    return plan_figure(evaluation.plan, 3.9, draw, held_out_note(evaluation))


def draw_rule_energy(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw a box for perfect foresight and two for each family: held-out years filled, training years hollow.

    Crosses mark the years of perfect foresight and of held-out runs in which a month leaves the limits of storage.
    """
    objective = evaluation.plan.objective
    energies = [shown(objective, evaluation.foresight_benefit(SimulationMode.CONTINUOUS))]
    draw_box(ax, 0, energies[0], REFERENCE, filled=True)
    for place, result in enumerate(evaluation.families, start=1):
        colour = family_look(result.family).colour
        for offset, key, filled in ((-_OFFSET, HELD_OUT, True), (_OFFSET, TRAINING, False)):
            draw_box(ax, place + offset, shown(objective, result.runs[key].account.by_year), colour, filled=filled)
        energies.append(shown(objective, result.runs[HELD_OUT].account.by_year))
    for place, (run, energy) in enumerate(zip(record_runs(evaluation), energies, strict=True)):
        years = run.outside.any(axis=1)
        if years.any():
            ax.plot(np.full(years.sum(), place - _OFFSET * bool(place)), energy[years], **OUTSIDE_MARK)
    names = [FORESIGHT_NAME.replace(" ", "\n"), *(result.family for result in evaluation.families)]
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel(f"Annual {objective.title}" + (f" ({objective.unit})" if objective.unit else ""))
    if evaluation.targets.guaranteed and objective.is_energy:
        guaranteed = evaluation.targets.annual_gwh
        ax.axhline(guaranteed, color=LIMITS, lw=1.2, ls=DASHES, zorder=1.5)
        name_lines(ax, [(guaranteed, f"guaranteed\n{quantity(guaranteed)} GWh", LIMITS)])
    return ax


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


def sample_patches() -> list[Patch]:
    """Legend of filled and hollow: on which years a rule is shown."""
    return [
        Patch(facecolor=tint(LIMITS, _STRENGTH), edgecolor=LIMITS, label="held-out years"),
        Patch(facecolor="white", edgecolor=LIMITS, label="training years"),
    ]


def rule_energy_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    years = evaluation.training.years
    reach = f"the {WHISKERS[0]} and {WHISKERS[1]} % quantiles" if years >= WHISKER_YEARS else "the extremes"
    reach += ", dots are years outside them" if WHISKER_YEARS <= years <= MOST_DOTS else ""
    return (
        f"Boxes show the quartiles and the median of the years, whiskers {reach}. Filled: held-out years, which the "
        "rule was not fitted to; hollow: training years. A hollow box far above the filled one suggests overfitting."
        f"{outside_caption(evaluation)}"
    )


_HEIGHT = 0.36
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


def regret_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    what = "energy that a rule generates less" if evaluation.plan.objective.is_energy else "shortfall of a rule: less"
    return (
        f"Mean annual {what} than an operator who knows all inflows in advance, at equal end "
        "storage. Shorter is better; the rule of the least regret on held-out years is on top."
    )


def robustness_figure(evaluation: Evaluation) -> Figure:
    """Draw energies above regrets, a box for each family; the line in the lower panel is no regret."""
    runs = shown_runs(evaluation)
    tested = runs[0].sample == TEST

    def draw(sheet: SubFigure) -> None:
        above, below = sheet.subplots(2, 1, sharex=True)
        for place, run in enumerate(runs):
            colour = REFERENCE if run.family == FORESIGHT else family_look(run.family).colour
            draw_box(above, place, shown(run.objective, run.benefit), colour, filled=True)
            if run.family != FORESIGHT:
                draw_box(below, place, run.regret, colour, filled=True)
        below.axhline(0, color=LIMITS, lw=0.8, zorder=1.5)
        names = [FORESIGHT_NAME.replace(" ", "\n") if run.family == FORESIGHT else run.family for run in runs]
        for ax in (above, below):
            ax.set_xticks(range(len(runs)), names)
            ax.set_xlim(-0.6, len(runs) - 0.4)
            ax.grid(visible=False, axis="x")
            ax.yaxis.set_major_formatter(THOUSANDS)
            ax.set_ylabel(f"{runs[0].objective.unit} per year".strip())
        above.set_title(f"Mean annual {runs[0].objective.title} of the members")
        below.set_title("Regret of the members against perfect foresight")

    note = tested_note(evaluation) if tested else held_out_note(evaluation)
    return plan_figure(evaluation.plan, 5.4, draw, note)


def has_members(evaluation: Evaluation) -> bool:
    """Whether any family has operated members that it has not seen."""
    return bool(evaluation.families and member_runs(evaluation))


def shown_runs(evaluation: Evaluation) -> list[MemberRuns]:
    """Runs of the members that rules were tested on, or of those held out."""
    runs = member_runs(evaluation)
    return [each for each in runs if each.sample == runs[-1].sample]


def robustness_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    members = len(shown_runs(evaluation)[0].benefit)
    reach = f"the {WHISKERS[0]} and {WHISKERS[1]} % quantiles" if members >= WHISKER_YEARS else "the extremes"
    reach += ", dots are members outside them" if WHISKER_YEARS <= members <= MOST_DOTS else ""
    return (
        f"Boxes show the quartiles and the median of {counted(members, 'member')} that no rule was fitted to, whiskers "
        f"{reach}. Each member is operated from its start to its end, and compared with perfect foresight of this "
        "member at equal end storage: a robust rule has a short box of regrets, and no high one."
    )
