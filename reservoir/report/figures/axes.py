"""Axes that several figures share: months, levels beside storages, and lines with their names on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap
from matplotlib.figure import SubFigure
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullFormatter
from matplotlib.transforms import blended_transform_factory
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.calendar import MONTH_NAMES, Calendar, year_label
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem, UnitText, labelled
from reservoir.planning.plan import Plan
from reservoir.report.figures.style import DASHES, LIMITS, OUTSIDE, VIOLATION, shade, tint
from reservoir.text.quantities import counted

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
#: Years that are named on an axis: by one year, by two, and by more.
_MOST_NAMED_YEARS = (12, 6, 4)
#: Of more years than this, a line through the record is a band from the lowest to the highest value of each year.
MANY_YEARS = 300
#: Steps of the bounds of classes of colours.
ROUND_STEPS = [1, 2, 2.5, 5, 10]


def quantity_axis(ax: Axes, label: str, most_ticks: int | None = None) -> Axes:
    """Make y an axis of a quantity: its label, numbers in full, and at most so many ticks; returns the axis."""
    if most_ticks is not None:
        ax.yaxis.set_major_locator(MaxNLocator(most_ticks, steps=ROUND_STEPS))
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel(label)
    return ax


#: Behind words that lines may cross.
_PAPER = {"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.6}


def write_beside(ax: Axes, text: str, place: tuple[Any, Any], offset: tuple[float, float], **look: Any) -> None:
    """Write on an axis beside a place, so many points to the right and above it."""
    usual: dict[str, Any] = {"color": LIMITS, "fontsize": 8, "bbox": _PAPER}
    ax.annotate(text, place, xytext=offset, textcoords="offset points", **usual | look)


def exceedance_axis(ax: Axes, of: str) -> Axes:
    """Make x the percentage of some things that exceed a value; returns the axis."""
    ax.set_xlim(0, 100)
    ax.xaxis.set_major_locator(FixedLocator([0, 25, 50, 75, 100]))
    ax.set_xlabel(f"Exceedance (% of {of})")
    return ax


def duration_curve(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values from the highest down, and the percentage of them that exceeds each (Hazen plotting position)."""
    ordered = np.sort(np.ravel(values))[::-1]
    return 100 * (np.arange(ordered.size) + 0.5) / ordered.size, ordered


def named_steps(ax: Axes, names: Sequence[str], every: int = 1, **look: Any) -> Axes:
    """Make x an axis of steps, every so many of them with its name in its middle; returns the axis."""
    ax.set_xlim(0, len(names))
    ax.xaxis.set_major_locator(FixedLocator(list(np.arange(0, len(names), every) + 0.5)))
    ax.xaxis.set_major_formatter(FixedFormatter(names[::every]))
    ax.tick_params(axis="x", length=0, **look)
    return ax


def draw_cells(ax: Axes, left: ArrayLike, middle: ArrayLike, height: float, values: FloatArray, **look: Any) -> Any:
    """Draw cells of width 1 from the left, coloured by their values, and close the axis; returns the cells.

    They are polygons: a picture of pixels within a drawing would not enter a report.
    """
    corners = np.array([[0, -height / 2], [1, -height / 2], [1, height / 2], [0, height / 2]])
    places: Any = corners + np.stack(np.broadcast_arrays(left, middle), axis=1)[:, None]
    ax.spines[["top", "right"]].set_visible(True)
    return ax.add_collection(PolyCollection(places, array=values, edgecolor="face", lw=0.3, **look))


def classes(colours: Colormap, edges: FloatArray, *, above: bool = False) -> dict[str, Any]:
    """Colours in classes between edges, and for what is above the last, as keywords of what is drawn in them."""
    steps = colours(np.linspace(0, 1, len(edges) - 1 + above)).tolist()
    norm = BoundaryNorm(edges, len(steps), extend="max" if above else "neither")
    return {"cmap": ListedColormap(steps), "norm": norm}


def colour_bar(sheet: SubFigure, axes: Iterable[Axes], label: str, look: Mapping[str, Any], **place: Any) -> None:
    """Add the bar of `classes` beside axes."""
    bar = sheet.colorbar(ScalarMappable(**look), ax=list(axes), pad=0.02, format=THOUSANDS, **place)
    bar.set_label(label)
    bar.outline.set_linewidth(0.8)  # type: ignore[operator]


def month_ends(calendar: Calendar) -> FloatArray:
    """Place the start of the year and the end of every step on a month axis, shape (steps + 1,)."""
    return np.arange(calendar.steps + 1, dtype=np.float64)


def month_middles(calendar: Calendar) -> FloatArray:
    """Place what holds for a whole step on a month axis, shape (steps,)."""
    return month_ends(calendar)[:-1] + 0.5


def month_axis(ax: Axes, calendar: Calendar, size: float | None = None) -> Axes:
    """Make x the months of the water year: a tick at the end of each, its name in the middle; of many, a year's.

    `size` is that of the names, in points.
    """
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
    ax.tick_params(axis="x", which="minor", length=0, **{} if size is None else {"labelsize": size})
    ax.set_xlabel("Month")
    return ax


def month_runs(calendar: Calendar, months: Sequence[int]) -> list[tuple[float, float]]:
    """Start and end, on a month axis, of every unbroken run of these calendar months."""
    inside = np.concatenate([[False], np.isin(calendar.months, months), [False]])
    edges = np.flatnonzero(np.diff(inside.astype(int)))
    return [(float(start), float(end)) for start, end in edges.reshape(-1, 2)]


def year_axis(ax: Axes, calendar: Calendar, *, narrow: bool = False) -> Axes:
    """Make x the water years: their names at round numbers, as many as have room; half as many where it is narrow."""
    years = calendar.start_years
    places, names = year_ticks(calendar, _MOST_NAMED_YEARS[min(calendar.labels.later, 2)] // (1 + narrow))
    ax.xaxis.set_major_locator(FixedLocator(places))
    ax.xaxis.set_major_formatter(FixedFormatter(names))
    least = LEAST_YEARS / (1 + narrow)
    middle, half = (years[0] + years[-1]) / 2, max(len(years) / 2 + 0.2, least / 2)
    ax.set_xlim(middle - half, middle + half)
    ax.set_xlabel(year_title(calendar))
    ax.grid(visible=False, axis="x")
    return ax


def month_end_years(calendar: Calendar) -> FloatArray:
    """Place the end of every month of the record on a year axis, where a year reaches half to either side."""
    starts = np.array(calendar.start_years)[:, None] - 0.5
    return np.ravel(starts + np.arange(1, calendar.steps + 1) / calendar.steps)


def draw_through_record(
    ax: Axes, calendar: Calendar, values: FloatArray, colour: str, start: float | None = None
) -> Axes:
    """Draw values at the ends of months, shape (years, steps), through the record, on an axis of its years.

    `start` is the value at the start of the record, if that is drawn.
    """
    if calendar.years > MANY_YEARS:
        low, high = values.min(axis=1), values.max(axis=1)
        ax.fill_between(list(calendar.start_years), low, high, color=colour, lw=0.3, zorder=3)
    else:
        x, y = month_end_years(calendar), values.ravel()
        if start is not None:
            x, y = np.append(calendar.first_year - 0.5, x), np.append(start, y)
        ax.plot(x, y, color=colour, lw=1.0, zorder=3)
    year_axis(ax, calendar)
    ax.set_xlim(calendar.first_year - 0.5, calendar.first_year + calendar.years - 0.5)
    return ax


def year_ticks(calendar: Calendar, most: int) -> tuple[list[int], list[str]]:
    """Water years at round numbers, `most` or about as many, and their names."""
    years = calendar.start_years
    ticks = MaxNLocator(most, integer=True, steps=[1, 2, 5, 10]).tick_values(years[0], years[-1])
    shown = [int(tick) for tick in ticks if tick in years] or [years[0]]
    return shown, [year_label(year, calendar.labels.later) for year in shown]


def year_title(calendar: Calendar) -> str:
    """What an axis of years is called."""
    return "Water year" if calendar.labels.later else "Year"


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
    shown: list[int] = []  # from the top down, those that have room for a label
    for at in reversed(range(len(places))):
        apart = not shown or places[shown[-1]] - places[at] > TEXT_SHARE * (limits[1] - limits[0])
        if limits[0] <= places[at] <= limits[1] and apart:
            shown.append(at)
    shown.reverse()
    right = ax.twinx()
    right.set_ylim(limits)
    right.set_yticks(places[shown], [f"{level:,g}" for level in levels[shown]])
    right.set_ylabel(units.text(labelled("Level ({})", "m")))
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    return right


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


class Band(NamedTuple):
    """Two percentiles between which a band is filled, how strongly, and of how many members at least."""

    lower: float
    upper: float
    strength: float
    label: str
    least: int = 2


#: Widest first: each is drawn over the one before. Of few members, percentiles are their extremes or say nothing.
BANDS = (
    Band(0, 100, 0.18, "minimum to maximum"),
    Band(5, 95, 0.38, "5 to 95 %", least=20),
    Band(25, 75, 0.65, "25 to 75 %", least=4),
)


def percentiles(values: ArrayLike, band: Band) -> tuple[FloatArray, FloatArray]:
    """Lower and upper edge of a band over the members, ``values`` of shape (members, points)."""
    lower, upper = np.percentile(np.asarray(values, np.float64), [band.lower, band.upper], axis=0)
    return lower, upper


def draw_bands(ax: Axes, x: ArrayLike, values: ArrayLike, colour: str, *, single: str = "") -> Axes:
    """Draw the bands and the median of an ensemble.

    Parameters
    ----------
    ax : Axes
    x : array_like, shape (points,)
    values : array_like, shape (members, points)
        One member is drawn as a line, for it has no spread.
    colour : str
        Of the quantity.
    single : str
        Label of that line.
    """
    members = np.asarray(values, np.float64)
    if len(members) > 1:
        fill_bands(ax, x, members, colour)
    label, width = "median" if len(members) > 1 else single, 1.8 if members.shape[1] <= MOST_MARKED_STEPS else 0.9
    ax.plot(np.asarray(x), np.median(members, axis=0), color=shade(colour, 0.6), lw=width, label=label, zorder=3)
    return ax


def fill_bands(ax: Axes, x: ArrayLike, values: ArrayLike, colour: str) -> Axes:
    """Fill the bands of an ensemble, widest first, without its median; as `draw_bands`."""
    for band in [band for band in BANDS if len(np.asarray(values)) >= band.least]:
        look: dict[str, Any] = {"color": tint(colour, band.strength), "lw": 0, "label": band.label, "zorder": 2}
        ax.fill_between(np.asarray(x, np.float64), *percentiles(values, band), **look)
    return ax


#: Part of the range of storages that is kept free above and below it, for the names of the lines.
MARGIN = 0.09
#: Storages farther outside the bounds than this part of their range, which no schedule can help, are cut off.
SHOWN_OUTSIDE = 0.3
#: More years outside their limits than this are drawn by the lowest and the highest of them.
MANY_LINES = 12
#: Part of the axis that the name of a line takes, about.
NAME_PART = 2.8 / 12


def draw_storage_frame(ax: Axes, plan: Plan, storages: FloatArray) -> Axes:
    """Make an axis one of storage by step that holds these storages, the bounds and the levels; returns the axis.

    It is cut off at `SHOWN_OUTSIDE`.
    """
    lower, upper = storage_bounds(plan)
    shown = np.concatenate([cut_off(plan, storages.ravel()), lower, upper])
    marked = [mark.storage_hm3 for mark in level_marks(plan, (float(shown.min()), float(shown.max())))]
    low, high = float(min([shown.min(), *marked])), float(max([shown.max(), *marked]))
    margin = MARGIN * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    shade_outside(ax, month_ends(plan.inflow.calendar), lower, upper)
    draw_flood_limits(ax, plan)
    month_axis(ax, plan.inflow.calendar)
    bottom, top = ax.get_ylim()
    marks, (left, right) = level_marks(plan, (bottom, top)), ax.get_xlim()
    for mark in marks:
        for run in mark.runs:
            ax.plot(run, [mark.storage_hm3] * 2, color=LIMITS, lw=1.1, ls=DASHES, zorder=2.5, gid=f"{mark.name} level")
        higher = min((other.storage_hm3 for other in marks if other.storage_hm3 > mark.storage_hm3), default=top)
        above = mark.name != "dead" and higher - mark.storage_hm3 > TEXT_SHARE * (top - bottom)
        start, end = max(mark.runs, key=lambda run: run[1] - run[0])
        inset = NAME_PART * (right - left) / 2
        # A line through the whole year is named at its left end, where the name of the flood level hardly ever is.
        at = left + inset if end - start == right - left else np.clip((start + end) / 2, left + inset, right - inset)
        va, offset = ("bottom", (0, 2)) if above else ("top", (0, -2))
        write_beside(ax, mark.words, (at, mark.storage_hm3), offset, ha="center", va=va, zorder=5)
    not_below_zero(quantity_axis(ax, labelled("Storage ({})", "hm³")))
    level_axis(ax, plan.reservoir, plan.units)
    return ax


def shade_outside(ax: Axes, x: FloatArray, lower: FloatArray, upper: FloatArray, **look: Any) -> None:
    """Shade what lies outside bounds, as far as an axis reaches whose limits are final."""
    bottom, top = ax.get_ylim()
    ax.fill_between(x, upper, top, color=OUTSIDE, lw=0, zorder=1, label="outside the limits", **look)
    ax.fill_between(x, bottom, lower, color=OUTSIDE, lw=0, zorder=1, **look)


def cut_off(plan: Plan, storages: FloatArray) -> FloatArray:
    """Storages as far as an axis shows them, see `SHOWN_OUTSIDE`."""
    lower, upper = storage_bounds(plan)
    room = SHOWN_OUTSIDE * float(upper.max() - lower.min())
    return np.asarray(np.clip(storages, lower.min() - room, upper.max() + room))


def draw_years_outside(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year that violates its limits as a line; of many, the minimum and maximum."""
    storages = plan.operation.storage_hm3[~plan.keeps_limits]
    label = f"{counted(len(storages))} outside {'its' if len(storages) == 1 else 'their'} limits"
    if len(storages) > MANY_LINES:
        storages, label = np.stack([storages.min(axis=0), storages.max(axis=0)]), f"{label}, minimum and maximum"
    months, dashes = month_ends(plan.inflow.calendar), (0, (3, 1.5))
    for place, line in enumerate(storages):
        ax.plot(months, line, color=VIOLATION, lw=0.9, ls=dashes, label=None if place else label, zorder=2.8)
    return ax


def storage_bounds(plan: Plan) -> tuple[FloatArray, FloatArray]:
    """Bounds of the storage at the start of the year, which is the end of the last step, and the end of each step.

    Where a flood space makes years differ, the lowest and the highest of them.
    """
    lower, upper = storage_limits(plan)
    return _from_start(lower.min(axis=0)), _from_start(upper.max(axis=0))


def _from_start(bound: FloatArray) -> FloatArray:
    return np.append(bound[-1], bound)


def storage_limits(plan: Plan) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest storage at the end of each step of the record, each of shape (years, steps)."""
    plant, inflow = plan.reservoir, plan.inflow
    given = plant.storage_lower_hm3, plant.storage_upper_hm3
    lower, upper = (plant.in_years(bound, inflow.calendar) for bound in given)
    if plant.flood_space is not None and inflow.flood_index is not None:
        upper = np.minimum(upper, plant.flood_space.upper_of(inflow.flood_index, plant.step, plant.first_month))
    return lower, upper


def draw_flood_limits(ax: Axes, plan: Plan) -> Axes:
    """Draw the lowest of the years' upper limits, where a flood space makes them differ; returns the axis."""
    upper = storage_limits(plan)[1]
    lowest, highest = _from_start(upper.min(axis=0)), _from_start(upper.max(axis=0))
    if (lowest < highest).any():
        look: dict[str, Any] = {"color": LIMITS, "lw": 1.1, "ls": (0, (1, 1.2)), "zorder": 2.6}
        ax.plot(month_ends(plan.inflow.calendar), lowest, label="lowest upper limit of a year", **look)
    return ax


class LevelMark(NamedTuple):
    """A level of the reservoir, its storage, and the part of the month axis that it holds for."""

    name: str
    level_m: float
    storage_hm3: float
    runs: tuple[tuple[float, float], ...]

    @property
    def words(self) -> UnitText:
        """Its name and height."""
        return UnitText(lambda units: f"{self.name} level {units.stated(self.level_m, 'm', ',.10g')}")


def level_marks(plan: Plan, near_hm3: tuple[float, float]) -> list[LevelMark]:
    """Normal, flood and dead level, as far as the reservoir has them; the flood level in the flood months only."""
    calendar, levels = plan.inflow.calendar, marked_levels(plan)
    year = ((0.0, float(calendar.steps)),)
    season = tuple(month_runs(calendar, months)) if (months := plan.reservoir.marks.flood_months) else year
    storages = storage_at(plan.reservoir, np.array([*levels.values()]), near_hm3).tolist()
    return [
        LevelMark(name, level, storage, season if name == "flood" else year)
        for (name, level), storage in zip(levels.items(), storages, strict=True)
        if np.isfinite(storage) and (season or name != "flood")
    ]


def marked_levels(plan: Plan) -> dict[str, float]:
    """The levels that the reservoir marks, by name."""
    marks = plan.reservoir.marks
    given = {"normal": marks.normal_m, "flood": marks.flood_m, "dead": marks.dead_m}
    return {name: level for name, level in given.items() if level is not None}
