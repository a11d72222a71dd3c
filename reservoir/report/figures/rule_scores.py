"""Energy and regret of every family of rules, by year and by member, beside perfect foresight."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from reservoir.planning.columns import shown
from reservoir.report.figures import axes, style
from reservoir.report.figures.record_runs import (
    FORESIGHT_NAME,
    TRAINING,
    outside_caption,
    outside_handles,
    record_runs,
    rules_figure,
)
from reservoir.rules.evaluation import FORESIGHT, HELD_OUT, TEST, Evaluation, FamilyResult, MemberRuns, member_runs
from reservoir.rules.scores import SimulationMode
from reservoir.text.quantities import counted, decimals_of, quantity

FloatArray = NDArray[np.float64]

#: Percentiles that the whiskers reach to, years beyond being dots; of fewer years they reach to the last one.
WHISKERS, WHISKER_YEARS = (5, 95), 20
#: Of more years than this, those beyond the whiskers are not drawn one by one.
MOST_DOTS = 1_000
_WIDTH, _OFFSET = 0.34, 0.2
#: More names than this have room beside each other only if they are small.
_MOST_LARGE_NAMES = 8
_STRENGTH = 0.55


def rule_energy_figure(evaluation: Evaluation) -> Figure:
    """Draw the boxes with their legend."""

    def draw(sheet: SubFigure) -> None:
        style.on_axes(f"Annual {evaluation.plan.objective.title} by rule", draw_rule_energy, evaluation)(sheet)
        handles = [*sample_patches(), *outside_handles(evaluation)]
        sheet.legend(handles=handles, loc="outside lower center", ncols=len(handles))

    return rules_figure(evaluation, 3.9, draw)


def draw_rule_energy(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw a box for perfect foresight and two for each family: held-out years filled, training years hollow.

    Crosses mark the years of perfect foresight and of held-out runs in which a month leaves the limits of storage.
    """
    objective = evaluation.plan.objective
    energies = [shown(objective, evaluation.foresight_benefit(SimulationMode.CONTINUOUS))]
    draw_box(ax, 0, energies[0], style.REFERENCE, filled=True)
    for place, result in enumerate(evaluation.families, start=1):
        colour = style.family_look(result.family).colour
        for offset, key, filled in ((-_OFFSET, HELD_OUT, True), (_OFFSET, TRAINING, False)):
            draw_box(ax, place + offset, shown(objective, result.runs[key].by_year), colour, filled=filled)
        energies.append(shown(objective, result.runs[HELD_OUT].by_year))
    for place, (run, energy) in enumerate(zip(record_runs(evaluation), energies, strict=True)):
        years = run.outside.any(axis=1)
        if years.any():
            ax.plot(np.full(years.sum(), place - _OFFSET * bool(place)), energy[years], **style.OUTSIDE_MARK)
    label = f"Annual {objective.title}" + (f" ({objective.unit})" if objective.unit else "")
    family_axis(ax, [FORESIGHT, *(result.family for result in evaluation.families)], label)
    if evaluation.targets.guaranteed and objective.is_energy:
        guaranteed = evaluation.targets.annual_gwh
        ax.axhline(guaranteed, color=style.LIMITS, lw=1.2, ls=style.DASHES, zorder=1.5)
        axes.name_lines(ax, [(guaranteed, f"guaranteed\n{quantity(guaranteed)} GWh", style.LIMITS)])
    return ax


def family_axis(ax: Axes, families: list[str], label: str) -> Axes:
    """Make an axis one of boxes of a quantity, a place for each family and for perfect foresight; returns it."""
    names = [FORESIGHT_NAME.replace(" ", "\n") if name == FORESIGHT else name.replace("-", "-\n") for name in families]
    ax.set_xticks(range(len(names)), names, fontsize=7 if len(names) > _MOST_LARGE_NAMES else None)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.grid(visible=False, axis="x")
    return axes.quantity_axis(ax, label)


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
        boxprops={"facecolor": style.tint(colour, _STRENGTH) if filled else "white", "edgecolor": colour, "lw": 1.2},
        medianprops={"color": style.REFERENCE if filled else colour, "lw": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "ms": 2.5, "mfc": colour if filled else "white", "mec": colour, "mew": 0.7},
        zorder=3,
    )


def sample_patches() -> list[Patch]:
    """Legend of filled and hollow: on which years a rule is shown."""
    return [
        Patch(facecolor=style.tint(style.LIMITS, _STRENGTH), edgecolor=style.LIMITS, label="held-out years"),
        Patch(facecolor="white", edgecolor=style.LIMITS, label="training years"),
    ]


def rule_energy_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    return (
        f"Boxes show the quartiles and the median of the years, whiskers {_reach(evaluation.training.years, 'years')}. "
        "Filled: held-out years, which the rule was not fitted to; hollow: training years. A hollow box far above the "
        f"filled one suggests overfitting.{outside_caption(evaluation)}"
    )


def _reach(count: int, of: str) -> str:
    """How far whiskers go."""
    reach = f"the {WHISKERS[0]} and {WHISKERS[1]} % quantiles" if count >= WHISKER_YEARS else "the extremes"
    return reach + (f", dots are {of} outside them" if WHISKER_YEARS <= count <= MOST_DOTS else "")


_HEIGHT = 0.36
#: Part of the axis' width that is kept free for what is written at the longest bar.
_ROOM = 0.38
_INCHES_PER_FAMILY = 0.52
#: Letters of a unit that is written at every bar.
_SHORT_UNIT = 4


def regret_figure(evaluation: Evaluation) -> Figure:
    """Draw the bars with their legend."""

    def draw(sheet: SubFigure) -> None:
        style.on_axes("Regret against perfect foresight", draw_regret, evaluation)(sheet)
        sheet.legend(handles=sample_patches(), loc="outside lower center", ncols=2)

    height = 1.4 + _INCHES_PER_FAMILY * len(evaluation.families)
    return rules_figure(evaluation, height, draw)


def draw_regret(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw two bars a family, the best on top: held-out years filled, training years hollow; returns the axis."""
    ranked, unit = by_regret(evaluation), evaluation.plan.objective.unit
    scores = {key: [result.runs[key].score for result in ranked] for key in (HELD_OUT, TRAINING)}
    most = max(abs(score.regret) for of_run in scores.values() for score in of_run)
    digits = decimals_of(most)
    short = unit if len(unit) <= _SHORT_UNIT else ""  # a longer one is told by the axis
    look: dict[str, Any] = {"va": "center", "fontsize": 8, "bbox": {"facecolor": "white", "lw": 0, "pad": 1}}
    for place, result in enumerate(ranked):
        colour = style.family_look(result.family).colour
        for offset, key, fill in ((-_OFFSET, HELD_OUT, colour), (_OFFSET, TRAINING, "white")):
            score = scores[key][place]
            ax.barh(place + offset, score.regret, _HEIGHT, facecolor=fill, edgecolor=colour, lw=1.2, zorder=2)
            text = f"{score.regret:,.{digits}f} {short}".strip()
            text += f", {score.percent_of_foresight:.1f} % of foresight" if score.has_percent else ""
            at = max(score.regret, 0), place + offset
            ax.annotate(text, at, xytext=(4, 0), textcoords="offset points", zorder=1.5, **look)
    ax.set_yticks(range(len(ranked)), [result.family for result in ranked])
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    left, right = ax.get_xlim()
    ax.set_xlim(left, right + _ROOM * (right - left))
    ax.axvline(0, color=style.LIMITS, lw=0.8, zorder=3)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_formatter(axes.THOUSANDS)
    ax.set_xlabel(f"Mean regret against perfect foresight ({f'{unit} per year' if unit else 'per year'})")
    return ax


def by_regret(evaluation: Evaluation) -> list[FamilyResult]:
    """Families from the least regret on held-out years to the most."""
    return sorted(evaluation.families, key=lambda result: result.runs[HELD_OUT].score.regret)


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
    objective, rules = runs[0].objective, ""
    if runs[0].sample == TEST:
        test = evaluation.tests[0].inflow
        caveat = f" ({test.caveat})" if test.caveat and test.caveat not in evaluation.plan.caveats else ""
        rules = f"Rules tested on other inflow, {test.span_text}{caveat}"

    def draw(sheet: SubFigure) -> None:
        above, below = sheet.subplots(2, 1, sharex=True)
        for place, run in enumerate(runs):
            colour = style.REFERENCE if run.family == FORESIGHT else style.family_look(run.family).colour
            draw_box(above, place, shown(run.objective, run.benefit), colour, filled=True)
            if run.family != FORESIGHT:
                draw_box(below, place, run.regret, colour, filled=True)
        below.axhline(0, color=style.LIMITS, lw=0.8, zorder=1.5)
        titles = f"Mean annual {objective.title} of the members", "Regret of the members against perfect foresight"
        for ax, title in zip((above, below), titles, strict=True):
            style.titled(family_axis(ax, [run.family for run in runs], f"{objective.unit} per year".strip()), title)

    return rules_figure(evaluation, 5.4, draw, rules)


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
    return (
        f"Boxes show the quartiles and the median of {counted(members, 'member')} that no rule was fitted to, whiskers "
        f"{_reach(members, 'members')}. Each member is operated from its start to its end, and compared with perfect "
        "foresight of this member at equal end storage: a robust rule has a short box of regrets, and no high one."
    )
