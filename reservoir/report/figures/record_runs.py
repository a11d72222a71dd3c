"""The runs that figures of rules compare: perfect foresight and, on held-out years, every family over the record.

Their duration curves, their levels, and when they spill.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.hydro.operation import Operation
from reservoir.hydro.unit_system import labelled
from reservoir.report.figures import axes, style
from reservoir.report.figures.annual_energy import LEAST_SPILL
from reservoir.report.figures.axes import TEXT_SHARE, FloatArray, duration_curve
from reservoir.report.figures.storages import draw_level_marks, set_level_limits
from reservoir.report.figures.style import OUTSIDE_MARK, Look, plan_figure, titled
from reservoir.rules.base.rule import Forecast
from reservoir.rules.evaluation import Evaluation, Sample
from reservoir.rules.scores import SimulationMode
from reservoir.text.quantities import counted, quantity

TRAINING = (SimulationMode.CONTINUOUS, Sample.TRAINING)

FORESIGHT_NAME = "perfect foresight"


class RecordRun(NamedTuple):
    """One operation of the whole record, and how it is drawn."""

    #: Of the family, or perfect foresight.
    name: str
    look: Look
    #: A row for each year.
    operation: Operation

    def monthly(self, quantity: str) -> FloatArray:
        """One quantity of `Operation`, shape (years, steps); storages are those at the end of each month."""
        values: FloatArray = getattr(self.operation, quantity)
        return values[:, -self.operation.release_m3s.shape[1] :]

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Which months end with a storage outside its limits, shape (years, steps)."""
        return np.asarray(self.operation.violation > 0)


def record_runs(evaluation: Evaluation) -> list[RecordRun]:
    """Perfect foresight first, then every family in the order of the evaluation."""
    runs = [RecordRun(FORESIGHT_NAME, style.FORESIGHT, evaluation.foresights[SimulationMode.CONTINUOUS].by_year)]
    for result in evaluation.families:
        runs.append(RecordRun(result.family, style.family_look(result.family), result.held_out.operation))
    return runs


def outside_handles(evaluation: Evaluation) -> list[Line2D]:
    """Legend of the mark of months outside their limits; empty if no run violates them."""
    if not any(run.outside.any() for run in record_runs(evaluation)):
        return []
    return [Line2D([], [], **OUTSIDE_MARK | {"clip_on": True}, label="month ends outside the storage limits")]


def outside_caption(evaluation: Evaluation) -> str:
    """Say how many months of which runs end outside the storage limits; empty if none does."""
    months = {run.name: int(run.outside.sum()) for run in record_runs(evaluation)}
    runs = ", ".join(f"{name} {counted(count, 'month')}" for name, count in months.items() if count)
    return f" Crosses: months that end outside the storage limits ({runs})." if runs else ""


def rules_figure(
    evaluation: Evaluation, height: float, draw: Callable[[SubFigure], Axes | None], rules: str = "", **legend: Any
) -> Figure:
    """Make a figure as `plan_figure` does, above a note: which rules are shown, and what they know.

    `rules` are by default those of held-out years, which is followed by the cross-validation.
    """
    rules = rules or f"Rules on held-out years ({evaluation.cross_validation})"
    note = f"{rules}; {'one-month' if evaluation.forecast is Forecast.MONTH else 'no'} forecast"
    return plan_figure(evaluation.plan, height, draw, note, **legend)


IntArray = NDArray[np.int64]

#: Part of the height of a panel that the two lines of a name take, with what keeps them off the line that they name.
NAME_HEIGHT = 3 * TEXT_SHARE
#: Points of a curve: of an ensemble there are hundreds of thousands of months, and more points show nothing more.
MOST_POINTS = 5_000


def duration_curves_figure(evaluation: Evaluation) -> Figure:
    """Draw the three panels under one legend."""

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(1, len(PANELS))
        for ax, draw_panel in zip(panels, PANELS.values(), strict=True):
            draw_panel(ax, evaluation)
        for ax in (panels[0], panels[-1]):
            ax.set_xlabel("")
        for handle in outside_handles(evaluation):
            panels[0].add_line(handle)
        left: Axes = panels[0]
        return left

    return rules_figure(evaluation, 3.7, draw)


def draw_release(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the monthly release; returns the axis."""
    release = labelled("Release ({})", "m³/s")
    _draw_curves(ax, evaluation, "Release", "release_m3s", release).set_ylim(bottom=0)
    return ax


def draw_power(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the monthly power, and the firm power; returns the axis."""
    _draw_curves(ax, evaluation, "Power", "power_mw", "Power (MW)")
    firm = evaluation.targets.firm_mw
    ax.axhline(firm, color=style.LIMITS, lw=0.9, ls=style.DASHES, zorder=1.5)
    highest = max(float(run.monthly("power_mw").max()) for run in record_runs(evaluation))
    ax.set_ylim(0, max(ax.get_ylim()[1], (1 + NAME_HEIGHT) * firm if firm >= highest else 0.0))
    # Below the line, where no curve begins, unless the ticks are there; above it where all curves are below.
    above = firm < NAME_HEIGHT * ax.get_ylim()[1] or firm >= highest
    offset, va = (0, 3 if above else -3), "bottom" if above else "top"
    axes.write_beside(ax, f"firm\n{quantity(firm)} MW", (2, firm), offset, va=va)
    return ax


def draw_storage(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the storage at the end of the month; returns the axis.

    Months that end outside the limits of storage are marked.
    """
    label = labelled("Storage at the end of the month ({})", "hm³")
    _draw_curves(ax, evaluation, "Storage", "storage_hm3", label)
    for run in record_runs(evaluation):
        storage = run.monthly("storage_hm3").ravel()
        outside = run.outside.ravel()[np.argsort(storage)[::-1]]
        if outside.any():
            exceeded, values = duration_curve(storage)
            marked = drawn_places(np.flatnonzero(outside))
            ax.plot(exceeded[marked], values[marked], **OUTSIDE_MARK | {"ms": 3, "clip_on": True})
    limits = ax.get_ylim()
    shown = tuple(axes.cut_off(evaluation.plan, np.array(limits)).tolist())
    if shown != limits:
        ax.set_ylim(shown)
    return ax


#: The panels by the quantity they show.
PANELS: dict[str, Callable[[Axes, Evaluation], Axes]]
PANELS = {"release": draw_release, "power": draw_power, "storage": draw_storage}


def drawn_places(places: IntArray) -> IntArray:
    """Those of many places that are drawn: all, or `MOST_POINTS` evenly spaced ones with the first and the last."""
    if len(places) <= MOST_POINTS:
        return places
    return places[np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.int64)]


def _draw_curves(ax: Axes, evaluation: Evaluation, title: str, quantity: str, label: str) -> Axes:
    for run in record_runs(evaluation):
        exceeded, values = duration_curve(run.monthly(quantity))
        drawn = drawn_places(np.arange(values.size))
        look: dict[str, Any] = {"color": run.look.colour, "ls": run.look.line, "label": run.name, "zorder": 2}
        ax.plot(exceeded[drawn], values[drawn], lw=1.8 if run.look.colour == style.REFERENCE else 1.4, **look)
    return titled(axes.quantity_axis(axes.exceedance_axis(ax, "months"), label), title)


def duration_curves_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    firm = evaluation.targets.origin.removeprefix("firm power: ")
    firm = "the guaranteed energy as constant power" if evaluation.targets.guaranteed else firm
    return (
        "Share of months of the record that exceed a release, power or storage, with the storage carried over from "
        f"year to year. Firm power is {firm}.{outside_caption(evaluation)}"
    )


LEVEL = labelled("Level at the end of the month ({})", "m")
_INCHES_PER_RUN = 0.98


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

    return rules_figure(evaluation, 0.7 + _INCHES_PER_RUN * len(runs), draw)


def draw_level_trace(ax: Axes, evaluation: Evaluation, run: RecordRun) -> Axes:
    """Draw the level at the end of every month of one run, and the levels that the reservoir marks.

    Months that end outside the limits of storage are marked.
    """
    calendar = evaluation.plan.inflow.calendar
    levels = run.monthly("level_m")
    axes.draw_through_record(ax, calendar, levels, run.look.colour)
    outside = run.outside.ravel()
    if outside.any():
        ax.plot(axes.month_end_years(calendar)[outside], levels.ravel()[outside], **OUTSIDE_MARK | {"ms": 3})
    ax.set_title(run.name, fontsize=8.5, pad=3)
    of_all = [other.monthly("level_m") for other in record_runs(evaluation)]
    set_level_limits(ax, evaluation.plan, np.concatenate(of_all))
    draw_level_marks(ax, evaluation.plan)
    ax.set_ylabel(LEVEL)
    return ax


def level_trace_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    marked = " Dashed lines: characteristic levels of the reservoir." if axes.marked_levels(evaluation.plan) else ""
    what = "Forebay level at the end of every month of the record"
    if evaluation.plan.inflow.calendar.years > axes.MANY_YEARS:
        what = "Range of the month-end forebay level in each year"
    return (
        f"{what}, with the storage carried over from year to year. Perfect foresight shows the optimal level."
        f"{marked}{outside_caption(evaluation)}"
    )


_MOST_COLUMNS = 4
#: Steps of the colour bar, about; few enough to be told apart, and to be drawn without a picture of pixels.
_CLASSES = 10
#: As cividis (Nuñez, Anderton and Renslow 2018, PLoS ONE 13:e0199239) from much to little, fading to the white of none.
_COLOURS = LinearSegmentedColormap.from_list(
    "spill", ["#FFF3BF", "#E5CF5C", "#BCAD6C", "#918B78", "#6B6D76", "#434E6C", "#00224E"]
)
#: Rows of a panel; of more years, each row holds the highest spill of some that follow each other.
MOST_ROWS = 200
#: A single row is as high as the name of the colour bar is long.
_ONE_ROW_INCHES, _LEGEND_INCHES = 2.3, 0.3
_LEAST_INCHES, _MOST_INCHES, _INCHES_PER_YEAR = 1.5, 2.7, 0.05


def spill_map_figure(evaluation: Evaluation) -> Figure:
    """Draw a panel for each run beside one colour bar."""
    runs = record_runs(evaluation)
    rows = math.ceil(len(runs) / _MOST_COLUMNS)
    columns = math.ceil(len(runs) / rows)
    least = _LEAST_INCHES if rows > 1 else _ONE_ROW_INCHES
    height = rows * min(max(least, _INCHES_PER_YEAR * evaluation.training.years), _MOST_INCHES)
    height += _LEGEND_INCHES * len(outside_handles(evaluation))

    def draw(sheet: SubFigure) -> None:
        panels = sheet.subplots(rows, columns, sharey=True, squeeze=False).ravel()
        for place, (ax, run) in enumerate(zip(panels, runs, strict=False)):
            draw_spill_map(ax, evaluation, run)
            if place % columns:
                ax.set_ylabel("")
        for ax in panels[len(runs) :]:
            ax.remove()
        separator = "; " if rows > 1 else "\n"
        label = labelled(f"Spill, monthly mean ({{}}){separator}white: none", "m³/s")
        axes.colour_bar(sheet, panels[: len(runs)], label, _scale(evaluation), aspect=30)
        if outside_handles(evaluation):
            sheet.legend(handles=outside_handles(evaluation), loc="outside lower center")

    return rules_figure(evaluation, height + 0.3, draw)


def has_spill(evaluation: Evaluation) -> bool:
    """Whether any run spills in any month."""
    return any(np.isfinite(named_spill_m3s(run, evaluation)).any() for run in record_runs(evaluation))


def draw_spill_map(ax: Axes, evaluation: Evaluation, run: RecordRun) -> Axes:
    """Draw the spill of one run, the first year on top, and mark months outside their limits; returns the axis."""
    calendar = evaluation.plan.inflow.calendar
    together = years_in_a_row(calendar.years)
    spill = highest_of(named_spill_m3s(run, evaluation), together)
    rows, months = np.nonzero(np.isfinite(spill))
    middles = calendar.first_year + rows * together + (together - 1) / 2
    axes.draw_cells(ax, months, middles, together, spill[rows, months], **_scale(evaluation))
    years, months = np.nonzero(run.outside)
    if years.size:
        ax.plot(months + 0.5, years + calendar.first_year, **OUTSIDE_MARK | {"ms": 3, "mew": 0.9})
    ax.set_title(run.name, fontsize=8.5, pad=4)
    ax.grid(visible=False, axis="x")
    axes.named_steps(ax, [name[0] for name in calendar.step_names], labelsize=7)
    ax.set_yticks(*axes.year_ticks(calendar, 7))
    ax.set_ylim(calendar.first_year + calendar.years - 0.5, calendar.first_year - 0.5)
    ax.set_ylabel(axes.year_title(calendar))
    return ax


def years_in_a_row(years: int) -> int:
    """How many years share a row of the map."""
    return math.ceil(years / MOST_ROWS)


def highest_of(values: FloatArray, together: int) -> FloatArray:
    """Highest of every so many rows that follow each other, NaN where all are; the last may be of fewer."""
    firsts = np.arange(0, len(values), together)
    highest = np.maximum.reduceat(np.where(np.isfinite(values), values, -np.inf), firsts)
    return np.where(np.isfinite(highest), highest, np.nan)


def named_spill_m3s(run: RecordRun, evaluation: Evaluation) -> FloatArray:
    """Spill of each month, shape (years, steps); NaN where it is a trace of the search or rounding."""
    spill = run.operation.spill_m3s
    return np.where(spill > LEAST_SPILL * evaluation.plan.inflow.flow_m3s.mean(), spill, np.nan)


def _scale(evaluation: Evaluation) -> dict[str, Any]:
    """Colours of all panels, in steps: from light for little spill to dark for much."""
    spill = np.concatenate([named_spill_m3s(run, evaluation) for run in record_runs(evaluation)])
    size = evaluation.plan.units.size("spill_m3s")  # round numbers of the unit that is shown
    most = float(np.nanmax(spill, initial=0.0)) / size or 1.0
    edges = np.asarray(MaxNLocator(_CLASSES, steps=axes.ROUND_STEPS).tick_values(0, most))
    return axes.classes(_COLOURS, size * edges[edges >= 0])


def spill_map_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    together = years_in_a_row(evaluation.plan.inflow.calendar.years)
    row = "is a year" if together == 1 else f"shows the maximum of {together} years"
    return (
        f"Each row {row}, each column is a month; darker means more spill. Spill by a rule but not by perfect "
        "foresight is the cost of not knowing the inflow in advance."
        f"{outside_caption(evaluation)}"
    )
