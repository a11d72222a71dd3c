"""Figures of the experiment: times (Figure 6), speed-ups (Figure 7) and errors (Figure 8) by population."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.tours.runs import SERIAL
from reservoir.bench.tours.tables import TITLES, ByPopulation
from reservoir.report.figures.axes import written
from reservoir.report.figures.style import (
    DRY,
    INFLOW,
    LIMITS,
    POWER,
    RELEASE,
    SPILL,
    STORAGE,
    Look,
    add_legend,
    broken,
    figure_style,
    footed_figure,
    settled,
)

CAPTIONS = {
    "times": "Time of a run by population (Figure 6 of the paper), medians; the axes are logarithmic.",
    "speed_ups": (
        "How many times as fast as the serial engine each is (Figure 7); the axis is logarithmic where they are far "
        "apart."
    ),
    "errors": (
        "Mean relative error by population (Figure 8). Serial, TIM, LIM-CG and LIM-IS find the same tours: one line "
        "stands for them."
    ),
}
_LOOKS = {
    SERIAL: Look(LIMITS, (0, (1, 1)), "D"),
    "tim": Look(POWER, (0, (6, 1.5, 1.5, 1.5)), "s"),
    "sak": Look(SPILL, (0, (3, 1.5)), "v"),
    "slk": Look(DRY, (0, (5, 1.5, 1, 1.5)), "P"),
    "lim-cg": Look(INFLOW, (0, (5, 1.5)), "^"),
    "lim-is": Look(STORAGE, "-", "o"),
    "lim-async": Look(RELEASE, (0, (2, 1)), "X"),
}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 10
_OF_ERRORS = ("lim-is", "lim-async", "sak")


def tour_figures(times: ByPopulation, relative: ByPopulation, foot: str) -> dict[str, Figure]:
    """All figures.

    Parameters
    ----------
    times, relative : mapping
        Milliseconds, and mean relative errors, by population and engine.
    foot : str
        Where the figures come from.
    """
    wall, errors = (pd.DataFrame.from_dict(each, orient="index") for each in (times, relative))
    speed_ups = wall.rdiv(wall[SERIAL], axis=0).drop(columns=SERIAL)
    return {
        "times": _figure(wall, "Time of a run", "Time (ms)", foot, log=True),
        "speed_ups": _figure(speed_ups, "Speed-up over the serial engine", "Times as fast", foot, log=True),
        "errors": _figure(
            errors[[name for name in _OF_ERRORS if name in errors]], "Relative error", "Relative error (%)", foot, 100.0
        ),
    }


def _figure(frame: pd.DataFrame, title: str, label: str, foot: str, scale: float = 1.0, *, log: bool = False) -> Figure:
    with figure_style():
        figure, sheet = footed_figure(3.0, broken(foot))
        ax = draw_by_population(sheet.add_subplot(), scale * frame, log=log)
        ax.set_title(title)
        ax.set_ylabel(label)
        add_legend(sheet, ax)
        return settled(figure)


def draw_by_population(ax: Axes, frame: pd.DataFrame, *, log: bool) -> Axes:
    """Draw a line for each engine."""
    for name, look in _LOOKS.items():
        if name in frame:
            column = frame[name]
            ax.plot(
                column.index, column, color=look.colour, ls=look.line, marker=look.marker, ms=4.5, label=TITLES[name]
            )
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(frame.index.tolist()))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    if log and frame.max().max() > _SPAN * frame.min().min():
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("Population")
    return ax
