"""When water is spilled: year by month, under perfect foresight and under every family of rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator
from numpy.typing import NDArray

from reservoir.hydro.calendar import Calendar
from reservoir.report.figures.annual_energy import LEAST_SPILL
from reservoir.report.figures.axes import THOUSANDS, year_ticks, year_title
from reservoir.report.figures.record_runs import RecordRun, held_out_note, outside_caption, outside_handles, record_runs
from reservoir.report.figures.style import OUTSIDE_MARK, plan_figure
from reservoir.rules.evaluation.evaluation import Evaluation

FloatArray = NDArray[np.float64]

_MOST_COLUMNS = 4
#: Steps of the colour bar, about; few enough to be told apart, and to be drawn without a picture of pixels.
_CLASSES = 10
#: As cividis (Nuñez, Anderton and Renslow 2018, PLoS ONE 13:e0199239) from much to little, fading to the white of none.
_COLOURS = LinearSegmentedColormap.from_list(
    "spill", ["#FFF3BF", "#E5CF5C", "#BCAD6C", "#918B78", "#6B6D76", "#434E6C", "#00224E"]
)
#: Corners of the cell of a month and year.
_CELL = np.array([[0, -0.5], [1, -0.5], [1, 0.5], [0, 0.5]])
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
        colours, norm = _scale(evaluation)
        bar = sheet.colorbar(
            ScalarMappable(norm, colours), ax=list(panels[: len(runs)]), aspect=30, pad=0.02, format=THOUSANDS
        )
        separator = "; " if rows > 1 else "\n"
        bar.set_label(f"Spill, monthly mean (m³/s){separator}white: none")
        if outside_handles(evaluation):
            sheet.legend(handles=outside_handles(evaluation), loc="outside lower center")
        bar.outline.set_linewidth(0.8)  # type: ignore[operator]

    return plan_figure(evaluation.plan, height + 0.3, draw, held_out_note(evaluation))


def has_spill(evaluation: Evaluation) -> bool:
    """Whether any run spills in any month."""
    return any(np.isfinite(named_spill_m3s(run, evaluation)).any() for run in record_runs(evaluation))


def draw_spill_map(ax: Axes, evaluation: Evaluation, run: RecordRun) -> Axes:
    """Draw the spill of one run, the first year on top, and mark months outside their limits; returns the axis."""
    calendar = evaluation.plan.inflow.calendar
    colours, norm = _scale(evaluation)
    together = years_in_a_row(calendar.years)
    spill = highest_of(named_spill_m3s(run, evaluation), together)
    rows, months = np.nonzero(np.isfinite(spill))
    middles = calendar.first_year + rows * together + (together - 1) / 2
    cells: Any = _CELL * [1, together] + np.stack([months, middles], axis=1)[:, None]
    drawn = PolyCollection(cells, array=spill[rows, months], cmap=colours, norm=norm, edgecolor="face", lw=0.3)
    ax.add_collection(drawn)
    years, months = np.nonzero(run.outside)
    if years.size:
        ax.plot(months + 0.5, years + calendar.first_year, **OUTSIDE_MARK | {"ms": 3, "mew": 0.9})
    ax.set_title(run.name, fontsize=8.5, pad=4)
    ax.grid(visible=False, axis="x")
    ax.spines[["top", "right"]].set_visible(True)
    _letter_axis(ax, calendar)
    places, names = year_ticks(calendar, 7)
    ax.set_yticks(places, names)
    ax.set_ylim(calendar.first_year + calendar.years - 0.5, calendar.first_year - 0.5)
    ax.set_ylabel(year_title(calendar))
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
    spill = run.spill_m3s
    return np.where(spill > LEAST_SPILL * evaluation.plan.inflow.flow_m3s.mean(), spill, np.nan)


def _scale(evaluation: Evaluation) -> tuple[ListedColormap, BoundaryNorm]:
    """Colours of all panels, in steps: from light for little spill to dark for much."""
    spill = np.concatenate([named_spill_m3s(run, evaluation) for run in record_runs(evaluation)])
    most = float(np.nanmax(spill, initial=0.0)) or 1.0
    edges = np.asarray(MaxNLocator(_CLASSES, steps=[1, 2, 2.5, 5, 10]).tick_values(0, most))
    edges = edges[edges >= 0]
    colours = _COLOURS(np.linspace(0, 1, len(edges) - 1))
    return ListedColormap(colours.tolist()), BoundaryNorm(edges, len(edges) - 1)


def _letter_axis(ax: Axes, calendar: Calendar) -> None:
    """Make x the months of the water year, each by its first letter."""
    ax.set_xlim(0, calendar.steps)
    ax.xaxis.set_major_locator(FixedLocator(list(np.arange(calendar.steps) + 0.5)))
    ax.xaxis.set_major_formatter(FixedFormatter([name[0] for name in calendar.step_names]))
    ax.tick_params(axis="x", length=0, labelsize=7)


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    together = years_in_a_row(evaluation.plan.inflow.calendar.years)
    row = "is a year" if together == 1 else f"shows the maximum of {together} years"
    return (
        f"Each row {row}, each column is a month; darker means more spill. Spill by a rule but not by perfect "
        "foresight is the cost of not knowing the inflow in advance."
        f"{outside_caption(evaluation)}"
    )
