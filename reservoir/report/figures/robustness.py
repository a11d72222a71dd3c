"""Members of an ensemble by family of rules: mean annual energy, and regret against perfect foresight."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.planning.infeasible import counted
from reservoir.planning.objective_columns import shown
from reservoir.report.figures.axes import THOUSANDS
from reservoir.report.figures.energy_boxes import MOST_DOTS, WHISKER_YEARS, WHISKERS, draw_box
from reservoir.report.figures.record_runs import FORESIGHT_NAME, held_out_note, tested_note
from reservoir.report.figures.style import LIMITS, REFERENCE, family_look, plan_figure
from reservoir.rules.evaluation.evaluation import TEST, Evaluation
from reservoir.rules.evaluation.robustness import FORESIGHT, MemberRuns, member_runs


def robustness_figure(evaluation: Evaluation) -> Figure:
    """Draw energies above regrets, a box for each family."""
    runs = shown_runs(evaluation)
    tested = runs[0].sample == TEST

    def draw(sheet: SubFigure) -> None:
        above, below = sheet.subplots(2, 1, sharex=True)
        draw_benefits(above, runs).set_title(f"Mean annual {runs[0].objective.title} of the members")
        draw_regrets(below, runs).set_title("Regret of the members against perfect foresight")

    note = tested_note(evaluation) if tested else held_out_note(evaluation)
    return plan_figure(evaluation.plan, 5.4, draw, note)


def has_members(evaluation: Evaluation) -> bool:
    """Whether any family has operated members that it has not seen."""
    return bool(evaluation.families and member_runs(evaluation))


def shown_runs(evaluation: Evaluation) -> list[MemberRuns]:
    """Runs of the members that rules were tested on, or of those held out."""
    runs = member_runs(evaluation)
    return [each for each in runs if each.sample == runs[-1].sample]


def draw_benefits(ax: Axes, runs: Sequence[MemberRuns]) -> Axes:
    """Draw a box for each run; returns the axis."""
    for place, run in enumerate(runs):
        colour = REFERENCE if run.family == FORESIGHT else family_look(run.family).colour
        draw_box(ax, place, shown(run.objective, run.benefit), colour, filled=True)
    return _named(ax, runs)


def draw_regrets(ax: Axes, runs: Sequence[MemberRuns]) -> Axes:
    """Draw a box for each family, above a line of no regret; returns the axis."""
    for place, run in enumerate(runs):
        if run.family != FORESIGHT:
            draw_box(ax, place, run.regret, family_look(run.family).colour, filled=True)
    ax.axhline(0, color=LIMITS, lw=0.8, zorder=1.5)
    return _named(ax, runs)


def _named(ax: Axes, runs: Sequence[MemberRuns]) -> Axes:
    names = [FORESIGHT_NAME.replace(" ", "\n") if run.family == FORESIGHT else run.family for run in runs]
    ax.set_xticks(range(len(runs)), names)
    ax.set_xlim(-0.6, len(runs) - 0.4)
    ax.grid(visible=False, axis="x")
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel(f"{runs[0].objective.unit} per year".strip())
    return ax


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    members = len(shown_runs(evaluation)[0].benefit)
    reach = f"the {WHISKERS[0]} and {WHISKERS[1]} % quantiles" if members >= WHISKER_YEARS else "the extremes"
    reach += ", dots are members outside them" if WHISKER_YEARS <= members <= MOST_DOTS else ""
    return (
        f"Boxes show the quartiles and the median of {counted(members, 'member')} that no rule was fitted to, whiskers "
        f"{reach}. Each member is operated from its start to its end, and compared with perfect foresight of this "
        "member at equal end storage: a robust rule has a short box of regrets, and no high one."
    )
