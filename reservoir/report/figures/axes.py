"""Axes that several figures share: months, levels beside storages, and lines with their names on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import blended_transform_factory
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES, Calendar
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem
from reservoir.hydro.year_labels import year_label

FloatArray = NDArray[np.float64]

#: Ticks of large numbers and of small ones.
THOUSANDS = FuncFormatter(lambda value, _: f"{value:,.0f}" if abs(value) >= 1e6 else f"{value:,g}")

#: Part of an axis's height that a line of text takes, about.
TEXT_SHARE = 0.055

#: Months that have a tick each; more are counted in years.
MOST_NAMED_MONTHS = 15
#: Steps of a line that have a marker each.
MOST_MARKED_STEPS = 60

#: As wide an axis as of so many years is drawn for fewer: a single bar is still a bar.
LEAST_YEARS = 6


def month_ends(calendar: Calendar) -> FloatArray:
    """Place the start of the year and the end of every step on a month axis, shape (steps + 1,)."""
    return np.arange(calendar.steps + 1, dtype=np.float64)


def month_middles(calendar: Calendar) -> FloatArray:
    """Place what holds for a whole step on a month axis, shape (steps,)."""
    return month_ends(calendar)[:-1] + 0.5


def month_axis(ax: Axes, calendar: Calendar) -> Axes:
    """Make x the months of the water year: a tick at the end of each, its name in the middle; of many, a year's."""
    ax.set_xlim(0, calendar.steps)
    months = np.append(np.flatnonzero(calendar.begins_month), calendar.steps)
    if len(months) > MOST_NAMED_MONTHS + 1:
        years = MaxNLocator(10, integer=True).tick_values(0, calendar.steps / calendar.step.per_year)
        ax.xaxis.set_major_locator(FixedLocator([year * calendar.step.per_year for year in years]))
        ax.xaxis.set_major_formatter(FixedFormatter([f"{year:g}" for year in years]))
        ax.set_xlabel("Years from the start")
        return ax
    names = [MONTH_NAMES[month - 1] for month in calendar.months[months[:-1]]]
    ax.xaxis.set_major_locator(FixedLocator(months.tolist()))
    ax.xaxis.set_major_formatter(NullFormatter())
    ax.xaxis.set_minor_locator(FixedLocator(((months[:-1] + months[1:]) / 2).tolist()))
    ax.xaxis.set_minor_formatter(FixedFormatter(names))
    ax.tick_params(axis="x", which="minor", length=0)
    ax.set_xlabel("Month")
    return ax


def month_runs(calendar: Calendar, months: Sequence[int]) -> list[tuple[float, float]]:
    """Start and end, on a month axis, of every unbroken run of these calendar months."""
    inside = np.concatenate([[False], np.isin(calendar.months, months), [False]])
    edges = np.flatnonzero(np.diff(inside.astype(int)))
    return [(float(start), float(end)) for start, end in edges.reshape(-1, 2)]


def year_axis(ax: Axes, calendar: Calendar) -> Axes:
    """Make x the water years: their names at round numbers, as many as have room."""
    years = calendar.start_years
    places, names = year_ticks(calendar, 12 if calendar.first_month == 1 else 9)
    ax.xaxis.set_major_locator(FixedLocator(places))
    ax.xaxis.set_major_formatter(FixedFormatter(names))
    middle, half = (years[0] + years[-1]) / 2, max(len(years) / 2 + 0.2, LEAST_YEARS / 2)
    ax.set_xlim(middle - half, middle + half)
    ax.set_xlabel(year_title(calendar))
    ax.grid(visible=False, axis="x")
    return ax


def year_ticks(calendar: Calendar, most: int) -> tuple[list[int], list[str]]:
    """Water years at round numbers, `most` or about as many, and their names."""
    years = calendar.start_years
    ticks = MaxNLocator(most, integer=True, steps=[1, 2, 5, 10]).tick_values(years[0], years[-1])
    shown = [int(tick) for tick in ticks if tick in years] or [years[0]]
    return shown, [year_label(year, int(calendar.first_month > 1)) for year in shown]


def year_title(calendar: Calendar) -> str:
    """What an axis of years is called."""
    return "Year" if calendar.first_month == 1 else "Water year"


def storage_at(reservoir: Reservoir, levels_m: FloatArray, near_hm3: tuple[float, float]) -> FloatArray:
    """Storage of each level, searched a little beyond `near_hm3`; NaN for a level that is not there.

    A level at which the curve begins, flat or held beyond its end, is that of the storage from which it rises.
    """
    low, high = near_hm3
    storages = np.clip(np.linspace(low - (high - low), high + (high - low), 6001), *reservoir.level.domain)
    levels = reservoir.level(storages)
    flat = int((levels <= levels[0]).sum()) - 1
    storages, levels = storages[flat:], levels[flat:]
    rising = np.concatenate([[True], np.diff(np.maximum.accumulate(levels)) > 0])
    return np.asarray(np.interp(levels_m, levels[rising], storages[rising], left=np.nan, right=np.nan))


def level_axis(ax: Axes, reservoir: Reservoir, units: UnitSystem) -> Axes:
    """Add a level axis on the right of a storage axis whose limits are final; returns the new axis."""
    limits = ax.get_ylim()
    bottom, top = reservoir.level(np.array(limits)) / units.size("level_m")
    levels = np.asarray(MaxNLocator(10, steps=[1, 2, 5, 10]).tick_values(bottom, top))
    places = storage_at(reservoir, levels * units.size("level_m"), limits)
    shown = _apart(places, limits)
    right = ax.twinx()
    right.set_ylim(limits)
    right.set_yticks(places[shown], [f"{level:g}" for level in levels[shown]])
    right.set_ylabel(units.label("Level (m)"))
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    return right


def _apart(places: FloatArray, limits: tuple[float, float]) -> list[int]:
    """Which places lie within the limits with room for a label each, from the top down."""
    room = TEXT_SHARE * (limits[1] - limits[0])
    shown: list[int] = []
    for index in range(len(places) - 1, -1, -1):
        place = places[index]
        if limits[0] <= place <= limits[1] and (not shown or places[shown[-1]] - place > room):
            shown.append(index)
    return shown[::-1]


def not_below_zero(ax: Axes) -> Axes:
    """Leave out the ticks below 0 of a y axis that begins below it only to make room."""
    ticks = [tick for tick in ax.get_yticks() if tick >= 0]
    limits = ax.get_ylim()
    ax.set_yticks(ticks)
    ax.set_ylim(limits)
    return ax


def name_lines(ax: Axes, lines: Sequence[tuple[float, str, str]]) -> Axes:
    """Write names of horizontal lines on the right of an axis: of those that lie close, one above and one below.

    Parameters
    ----------
    ax : Axes
        Its limits are final.
    lines : sequence of (float, str, str)
        Height, name and colour of each line.
    """
    bottom, top = ax.get_ylim()
    room = 2 * TEXT_SHARE * (top - bottom)
    right = blended_transform_factory(ax.transAxes, ax.transData)
    ordered = sorted(lines)
    heights = [-np.inf, *(height for height, _, _ in ordered), np.inf]
    for rank, (height, name, colour) in enumerate(ordered, start=1):
        va = "center"
        if heights[rank + 1] - height < room:
            va = "top"
        elif height - heights[rank - 1] < room:
            va = "bottom"
        ax.text(1.01, height, name, transform=right, va=va, color=colour, fontsize=8)
    return ax
