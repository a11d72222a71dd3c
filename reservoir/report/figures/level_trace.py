"""The forebay level over the whole record, under perfect foresight and under every family of rules."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.hydro.calendar import Calendar
from reservoir.planning.plan import Plan
from reservoir.report.figures.axes import month_runs, name_lines, year_axis
from reservoir.report.figures.record_runs import RecordRun, held_out_note, outside_caption, outside_handles, record_runs
from reservoir.report.figures.style import LIMITS, OUTSIDE_MARK, plan_figure
from reservoir.rules.evaluation.evaluation import Evaluation

FloatArray = NDArray[np.float64]

LEVEL = "Level at the end of the month (m)"
_EVERY_MONTH = "Forebay level at the end of every month of the record"
_INCHES_PER_RUN = 0.98
#: Of more years than this, a band from the lowest to the highest level of each year is drawn in place of its months.
MANY_YEARS = 300
#: Line styles of the levels that a reservoir marks, which lie too close together for one.
_STYLES = {"normal": (0, (5, 2)), "flood": (0, (2, 1)), "dead": (0, (5, 2))}


def level_trace_figure(evaluation: Evaluation) -> Figure:
    """Draw a row for each run over the same years."""
    runs = record_runs(evaluation)

    def draw(sheet: SubFigure) -> None:
        rows = sheet.subplots(len(runs), 1, sharex=True, sharey=True, squeeze=False).ravel()
        for ax, run in zip(rows, runs, strict=True):
            draw_level_trace(ax, evaluation, run)
            ax.set_ylabel("")
        for ax in rows[:-1]:
            ax.set_xlabel("")
        sheet.supylabel(LEVEL, fontsize=8.5)
        if outside_handles(evaluation):
            sheet.legend(handles=outside_handles(evaluation), loc="outside lower center")

    return plan_figure(evaluation.plan, 0.7 + _INCHES_PER_RUN * len(runs), draw, held_out_note(evaluation))


def draw_level_trace(ax: Axes, evaluation: Evaluation, run: RecordRun) -> Axes:
    """Draw the level at the end of every month of one run, and the levels that the reservoir marks.

    Months that end outside the limits of storage are marked.
    """
    calendar = evaluation.plan.inflow.calendar
    levels = [each.monthly("level_m") for each in record_runs(evaluation)]
    _draw_levels(ax, calendar, run)
    outside = run.outside.ravel()
    if outside.any():
        ax.plot(month_end_years(calendar)[outside], run.monthly("level_m").ravel()[outside], **OUTSIDE_MARK | {"ms": 3})
    year_axis(ax, calendar)
    ax.set_xlim(calendar.first_year - 0.5, calendar.first_year + calendar.years - 0.5)
    ax.set_title(run.name, fontsize=8.5, pad=3)
    set_level_limits(ax, evaluation.plan, np.concatenate(levels))
    draw_level_marks(ax, evaluation.plan)
    ax.set_ylabel(LEVEL)
    return ax


def _draw_levels(ax: Axes, calendar: Calendar, run: RecordRun) -> None:
    levels = run.monthly("level_m")
    if calendar.years > MANY_YEARS:
        low, high = levels.min(axis=1), levels.max(axis=1)
        ax.fill_between(list(calendar.start_years), low, high, color=run.look.colour, lw=0.3, zorder=3)
    else:
        ax.plot(month_end_years(calendar), levels.ravel(), color=run.look.colour, lw=1.0, zorder=3)


def month_end_years(calendar: Calendar) -> FloatArray:
    """Place the end of every month of the record on a year axis, where a year reaches half to either side."""
    starts = np.array(calendar.start_years)[:, None] - 0.5
    return np.ravel(starts + np.arange(1, calendar.steps + 1) / calendar.steps)


def _marked(plan: Plan) -> dict[str, float]:
    marks = plan.reservoir.marks
    given = {"normal": marks.normal_m, "flood": marks.flood_m, "dead": marks.dead_m}
    return {name: level for name, level in given.items() if level is not None}


def set_level_limits(ax: Axes, plan: Plan, levels: FloatArray) -> None:
    """Make room for levels and for those that the reservoir marks."""
    shown = np.append(levels, list(_marked(plan).values()))
    low, high = float(shown.min()), float(shown.max())
    margin = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter("{x:g}")


def draw_level_marks(ax: Axes, plan: Plan) -> None:
    """Draw the marked levels, the flood level in the flood months only, and name them on the right."""
    levels = _marked(plan)
    for name, level in levels.items():
        for start, end in _spans(plan, name):
            ax.plot([start, end], [level, level], color=LIMITS, lw=0.9, ls=_STYLES[name], zorder=2, gid=f"{name} level")
    name_lines(ax, [(level, f"{name} {level:g} m", LIMITS) for name, level in levels.items()])


def _spans(plan: Plan, name: str) -> list[tuple[float, float]]:
    """Where on a year axis a marked level holds."""
    calendar = plan.inflow.calendar
    first = calendar.first_year - 0.5
    runs = month_runs(calendar, plan.reservoir.marks.flood_months) if name == "flood" else []
    if not runs or calendar.years > MANY_YEARS:
        return [(first, first + calendar.years)]
    steps = calendar.steps
    return [(first + year + a / steps, first + year + b / steps) for year in range(calendar.years) for a, b in runs]


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    marked = " Dashed lines: characteristic levels of the reservoir." if _marked(evaluation.plan) else ""
    many = evaluation.plan.inflow.calendar.years > MANY_YEARS
    what = "Range of the month-end forebay level in each year" if many else _EVERY_MONTH
    return (
        f"{what}, with the storage carried over from year to year. Perfect foresight shows the optimal level."
        f"{marked}{outside_caption(evaluation)}"
    )
