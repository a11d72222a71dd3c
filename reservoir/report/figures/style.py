"""How figures look: colours, fonts, sizes, the lines at the foot, and files with the same bytes for the same plan."""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from itertools import pairwise
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.textpath import text_to_path
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, Locator, MaxNLocator
from matplotlib.transforms import Bbox

from reservoir.hydro.unit_system import SI, DisplayUnit, UnitSystem, UnitText
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import solved_by

#: Name of the lines at the foot, in a figure's elements.
FOOT = "foot"
_STEPS = [1, 2, 2.5, 5, 10]


class UnitLocator(MaxNLocator):
    """Ticks at round numbers of a unit, of which one is `size` of the axis's own."""

    def __init__(self, size: float, most: int) -> None:
        super().__init__(most, steps=_STEPS)
        self._size = size

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Places of the ticks, on the axis's own scale."""
        return [place * self._size for place in super().tick_values(vmin / self._size, vmax / self._size)]


def show_in_units(figure: Figure, units: UnitSystem) -> None:
    """Write the axes and texts of a figure that is drawn, but not laid out yet, in some units."""
    if not units.by_ending:
        return
    for ax in figure.axes:
        sheet: Any = ax.get_figure(root=False)
        # An axis has its own label, or that which it shares with the panels beside it.
        for axis, shared in ((ax.xaxis, sheet.get_supxlabel()), (ax.yaxis, sheet.get_supylabel())):
            unit = units.of_label(axis.get_label_text() or shared)
            if unit is not None and not isinstance(axis.get_major_formatter(), FixedFormatter):
                _convert(axis, unit)
    for artist in figure.findobj():
        label = artist.get_label()
        if not isinstance(artist, Axis) and isinstance(label, UnitText):
            artist.set_label(units.text(label))
        if isinstance(artist, Text) and isinstance(artist.get_text(), UnitText):
            artist.set_text(units.text(artist.get_text()))


def _convert(axis: Axis, unit: DisplayUnit) -> None:
    places = [float(place) for place in axis.get_majorticklocs()]
    if getattr(axis.axes, "_colorbar", None) is not None:
        axis.set_major_formatter(FuncFormatter(lambda value, _: _number(float(f"{value / unit.size:.3g}"))))
        return
    largest = max((abs(place / unit.size) for place in places), default=0.0)
    # Numbers of millions have no room beside each other.
    short = isinstance(axis, XAxis) and largest >= _MILLION
    locator: Locator = UnitLocator(unit.size, 2 if short else max(len(places), 2))
    if isinstance(axis.get_major_locator(), FixedLocator):
        low, high = sorted(axis.get_view_interval())
        least = max(low, min(places, default=low))
        locator = FixedLocator([place for place in locator.tick_values(low, high) if least <= place <= high])
    axis.set_major_locator(locator)
    write = (lambda value: f"{_number(value / _MILLION)}M") if short else _number
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value / unit.size)))


_MILLION = 1e6


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= _MILLION else f"{float(f'{value:.10g}'):,g}"


# One colour for each meaning, in every figure. Okabe and Ito (2008, Color Universal Design), whose yellow is too pale
# for lines on paper; indigo, wine and sand, which readers of any colour vision tell apart from the rest, make up the
# number (Tol 2021, Colour Schemes).
STORAGE = "#0072B2"
INFLOW = "#56B4E9"
RELEASE = "#009E73"
POWER = "#E69F00"
SPILL = "#882255"
OBJECTIVE = "#DDCC77"
WET = "#332288"
NORMAL = "#CC79A7"
DRY = "#D55E00"
REFERENCE = "#000000"
LIMITS = "#555555"
VIOLATION = "#C1121F"

#: Line style of limits.
DASHES = (0, (5, 2))

#: What leaves limits that it should keep, in every figure; told apart in black and white too.
OUTSIDE_MARK: dict[str, Any] = {"marker": "x", "color": VIOLATION, "mew": 1.3, "ls": "none", "zorder": 6}
OUTSIDE_MARK |= {"clip_on": False}
#: A year that holds the schedule of the reference: quiet, since the plan is none the worse for it.
REFERENCE_MARK: dict[str, Any] = {"marker": "o", "mfc": "white", "mec": REFERENCE, "mew": 0.8, "ms": 3.5, "ls": "none"}
REFERENCE_MARK |= {"clip_on": False, "zorder": 5}

#: Outside the limits, and the grid.
OUTSIDE = "#E9E9E9"
GRID = "#DDDDDD"

#: Inches. As wide as the text of an A4 page, so that it is printed at about its own size.
WIDTH = 7.2
DOTS_PER_INCH = 150

FOOT_POINTS = 7.0
_FOOT_LINE_INCHES = FOOT_POINTS * 1.35 / 72
_FOOT_MARGIN_INCHES = 0.05
_FOOT_SIDE_POINTS = 5.0
#: Characters of one text at the foot: a page of caveats would be drawn, letter by letter, on every figure.
FOOT_CHARACTERS = 2_400
_CUT = " ... (shortened; full text in plan.json and report.html)"

#: The font of every figure, which comes with matplotlib, and the last of the letters that it is known to have.
_FONT, _LAST_KNOWN = "DejaVu Sans", "\u024f"
#: For names and caveats in Chinese, Japanese or Korean, the best first; without any of them, others that are installed.
_EAST_ASIAN_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "Noto Sans CJK JP"),
    *("WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "Microsoft YaHei", "PingFang SC", "SimHei", "SimSun"),
)
#: Has a box for every letter that there is.
_BOXES = "Last Resort"
#: Stands at the foot where an ellipsis does.
_UNDRAWN = "…: letters that no font of this machine has; reports and tables have them"
_UNDRAWN_LINE = "A caveat in letters that no font of this machine has: see the report"
#: Pixels between names on an axis.
_LEAST_SPACE = 5
#: Letters that no font has, of which a sentence names so many.
_NAMED_LETTERS = 12

RC: dict[str, Any] = {
    "font.size": 8.5,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7,
    "axes.titley": 1.0,  # else matplotlib looks for ticks above each axis, of which there are none, a tenth of the time
    "axes.labelsize": 8.5,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.frameon": False,
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
    "svg.fonttype": "path",  # looks the same where the font is missing
    "svg.hashsalt": "reservoir",  # the same names of elements every time
    "text.hinting": "no_hinting",  # letters as far apart in a PNG as in print
    "text.parse_math": False,  # a $ in a user's text is a $
}


def _unknown(text: str) -> frozenset[str]:
    """Letters of a text that the usual font lacks."""
    foreign = {letter for letter in text if letter > _LAST_KNOWN}
    return frozenset(foreign - _letters_of(_FONT, foreign)) if foreign else frozenset()


def _letters_of(font: str, letters: Collection[str]) -> set[str]:
    """Those of some letters that a font has."""
    with suppress(OSError, RuntimeError):  # a file that is gone since matplotlib saw it, or is no font
        opened = get_font(findfont(FontProperties(family=font)))
        return {letter for letter in letters if opened.get_char_index(ord(letter))}
    return set()


@cache
def _further_fonts(letters: frozenset[str]) -> tuple[list[str], frozenset[str]]:
    """Installed fonts that together have letters that the usual one lacks, and the letters that none has."""
    fonts = list[str]()
    for look_again in (False, True):  # matplotlib notes once for all later runs which fonts there are
        if look_again:
            _find_new_fonts()
        names = {font.name for font in fontManager.ttflist if not font.name.startswith(_BOXES)}
        for name in [*(name for name in _EAST_ASIAN_FONTS if name in names), *sorted(names - {*_EAST_ASIAN_FONTS})]:
            if letters and (known := _letters_of(name, letters)):
                fonts, letters = [*fonts, name], letters - known
        if not letters:
            break
    return fonts, letters


def _find_new_fonts() -> None:
    for file in {*findSystemFonts()} - {font.fname for font in fontManager.ttflist}:
        with suppress(OSError, RuntimeError):
            fontManager.addfont(file)


def _families(text: str) -> list[str]:
    """The fonts that a text is drawn in."""
    letters = _unknown(text)
    return [_FONT, *(_further_fonts(letters)[0] if letters else ())]


def drawable(text: str) -> str:
    """A text with an ellipsis for what no installed font has: reports have it whole."""
    letters = _unknown(text)
    missing = _further_fonts(letters)[1] if letters else None
    if not missing:
        return text
    shortened = re.sub(f"[{re.escape(''.join(sorted(missing)))}]+", "…", text)
    return re.sub(r"…([\W_]*…)+", "…", shortened)  # of nothing but signs between them, one says as much


def undrawn_sentence(*texts: str) -> str:
    """Say which letters of texts figures cannot show, and what mends it; empty if they show all."""
    letters = _unknown("".join(texts))
    missing = "".join(sorted(_further_fonts(letters)[1])) if letters else ""
    if not missing:
        return ""
    named = missing[:_NAMED_LETTERS] + (" ..." if len(missing) > _NAMED_LETTERS else "")
    return (
        f"No font of this machine has {named}: figures show an ellipsis in their place; the report and all other files "
        "have them. Fix: install a font for them, such as Noto Sans CJK (Debian: fonts-noto-cjk), and run again"
    )


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw and save in this style, whatever the user's own settings of matplotlib are; they are back afterwards."""
    rc = {**RC, "font.family": _FONT}
    with matplotlib.style.context(["default", rc]), warnings.catch_warnings():
        # What no font has is drawn as an empty box where it is no text of a figure's own.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        # So are letters that should be joined or run from right to left, each by itself.
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support", category=UserWarning)
        yield


def sheet_figure(
    height: float,
    foot: Sequence[str],
    draw: Callable[[SubFigure], Axes | tuple[Axes, ...] | None],
    *,
    units: UnitSystem = SI,
    **legend: Any,
) -> Figure:
    """Make a figure of a sheet of `height` inches above texts (see `broken`), with its numbers in some units.

    `draw` draws on the sheet, in SI, and returns the axes, one or several, whose legend is put there as `add_legend`
    does with these options, if any.
    """
    with figure_style():
        figure, sheet = footed_figure(height, broken(*foot))
        drawn = draw(sheet)
        labelled = drawn if isinstance(drawn, tuple) else () if drawn is None else (drawn,)
        show_in_units(figure, units)
        _write_in_fonts(figure)
        if any(ax.get_legend_handles_labels()[1] for ax in labelled):
            add_legend(sheet, *labelled, **legend)
        return settled(figure)


def _write_in_fonts(figure: Figure) -> None:
    """Give every text and label of a figure the fonts that have its letters."""
    for artist in figure.findobj():
        label = artist.get_label()
        if isinstance(label, str) and _unknown(label):
            artist.set_label(drawable(label))
        if isinstance(artist, Text) and _unknown(artist.get_text()):
            artist.set(fontfamily=_families(artist.get_text()), text=drawable(artist.get_text()))


def plan_figure(
    plan: Plan, height: float, draw: Callable[[SubFigure], Axes | None], note: str = "", **legend: Any
) -> Figure:
    """Make a figure as `sheet_figure` does, above a note of its own and what must be said of the plan."""
    return sheet_figure(height, foot_texts(plan, note), draw, units=plan.units, **legend)


def on_axes(title: str, draw: Callable[..., Axes], *shown: Any) -> Callable[[SubFigure], Axes]:
    """What draws on a sheet the axes that `draw` makes of what is shown, under a title."""
    return lambda sheet: titled(draw(sheet.add_subplot(), *shown), title)


def titled(ax: Axes, title: str, **look: Any) -> Axes:
    """An axis under a title."""
    ax.set_title(title, **look)
    return ax


def footed_figure(height: float, lines: Sequence[str]) -> tuple[Figure, SubFigure]:
    """Make an empty figure, and in it the sheet of `height` inches to draw on, above lines of text (see `broken`)."""
    foot = len(lines) * _FOOT_LINE_INCHES + _FOOT_MARGIN_INCHES
    figure = Figure(figsize=(WIDTH, height + foot), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(figure)
    parts: Any = figure.subfigures(2, 1, height_ratios=[height, foot], hspace=0)
    sheet, strip = parts
    look: dict[str, Any] = {"fontsize": FOOT_POINTS, "color": LIMITS, "linespacing": 1.2, "va": "bottom", "gid": FOOT}
    look |= {"fontfamily": _families("".join(lines))}
    strip.text(_FOOT_SIDE_POINTS / 72 / WIDTH, _FOOT_MARGIN_INCHES / foot, "\n".join(lines), **look)
    return figure, sheet


def add_legend(sheet: SubFigure, *labelled: Axes, above: bool = False, **look: Any) -> Legend:
    """Put the legend of axes between them and the foot, or above them, in a row or as many as it needs."""
    parts = [ax.get_legend_handles_labels() for ax in labelled]
    handles = [handle for of_axes, _ in parts for handle in of_axes]
    labels = [label for _, of_axes in parts for label in of_axes]
    where: Any = f"outside {'upper' if above else 'lower'} center"
    for rows in range(1, len(labels) + 1):
        columns = math.ceil(len(labels) / rows)
        legend = sheet.legend(handles, labels, loc=where, ncols=columns, **look)
        for text in legend.get_texts():
            text.set_fontfamily(_families(text.get_text()))
        if columns == 1 or legend.get_window_extent().width <= sheet.bbox.width:
            break
        legend.remove()
    return legend


def foot_texts(plan: Plan, note: str = "") -> tuple[str, str, str]:
    """Which reservoir, years and solver a figure shows, and what must be said of them.

    The `note`, of this figure alone, stands between the two.
    """
    count = plan.inflow.years
    years = plan.inflow.span_text + (f", {count} years" if count > 1 else "")
    # The solver that ran, which may not be the one that was asked for.
    begun = f"from {plan.start}, inflow of " if plan.start else ""
    origin = f"{plan.reservoir.name}, {begun}{years}, solved by {solved_by(plan)}"
    return origin, note, " · ".join(caveat[:1].upper() + caveat[1:] for caveat in plan.caveats)


def broken(*texts: str) -> list[str]:
    """Texts in lines that fit the figure, by what they measure: characters are of all widths; an empty text is no line.

    Beyond `FOOT_CHARACTERS` a text is cut off, and says so.
    """
    room, broken_lines = 72 * WIDTH - 2 * _FOOT_SIDE_POINTS, list[str]()
    given = [text for text in texts if text]
    drawn = [_UNDRAWN_LINE if (shown := drawable(text)).strip() == "…" else shown for text in given]
    for text in (*drawn, *([_UNDRAWN] if any("…" in text for text in {*drawn} - {*given}) else ())):
        font = FontProperties(size=FOOT_POINTS, family=_families(text))
        if len(text) > FOOT_CHARACTERS:
            text = text[: FOOT_CHARACTERS - len(_CUT)].rstrip() + _CUT
        lines, columns = [text], len(text)
        while columns > 1:
            widest = max(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)
            if widest <= room:
                break
            columns = max(1, min(columns - 1, int(columns * room / widest)))
            lines = textwrap.wrap(text, columns)
        broken_lines += lines
    return broken_lines


def settled(figure: Figure) -> Figure:
    """Lay out a figure that is complete, once: later drawings, at any resolution, keep the places of its axes."""

    def rounded(box: Bbox) -> tuple[float, float, float, float]:
        left, bottom, width, height = (round(float(part), 4) + 0.0 for part in box.bounds)  # no -0.0
        return left, bottom, width, height

    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    for ax in figure.get_axes():
        _shorten_names(ax.xaxis)
    # No engine at all: with one that does nothing, matplotlib would still draw twice what it saves.
    figure.set_layout_engine(None)
    # The layout's last digits differ from time to time, and an SVG names its clips after them.
    for part in figure.subfigs:
        part.bbox_relative.set(Bbox.from_bounds(*rounded(part.bbox_relative)))  # type: ignore[attr-defined]
    for ax in figure.get_axes():
        ax.set_position(rounded(ax.get_position()))
    return figure


def _shorten_names(axis: Axis) -> None:
    """Write the first letters of months where their names have no room beside each other."""
    named = axis.get_minor_formatter()
    if isinstance(named, FixedFormatter):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels(minor=True) if label.get_text()]
        if any(after.x0 - before.x1 < _LEAST_SPACE for before, after in pairwise(boxes)):
            axis.set_minor_formatter(FixedFormatter([name[:1] for name in named.seq]))


def rendered(figure: Figure, kind: str) -> bytes:
    """Return a figure as the bytes of a ``png`` or ``svg`` file, with no date and no version in them."""
    metadata: Any = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    with BytesIO() as target, figure_style():
        figure.savefig(target, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
        return target.getvalue()


def tint(colour: str, strength: float) -> str:
    """Mix a colour with white; opaque, so that what lies below does not change it."""
    return to_hex(tuple(1 - strength * (1 - part) for part in to_rgb(colour)))  # type: ignore[arg-type]


def shade(colour: str, strength: float) -> str:
    """Mix a colour with black, for a line on its own tints."""
    return to_hex(tuple(strength * part for part in to_rgb(colour)))  # type: ignore[arg-type]


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1 (Rec. 601)."""
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


class Look(NamedTuple):
    """How one of several that are compared is drawn: its colour, and what tells it apart in black and white."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    marker: str


#: Families of operation rules; most of the colours are Tol's. The two greens are the two linear rules.
FAMILY_LOOKS = {
    "guide-curve": Look("#AA4499", (0, (5, 1.5)), "o"),
    "linear": Look("#117733", (4.5, (9, 1.5)), "s"),
    "linear-search": Look("#5AAE61", (0, (3, 1, 1, 1)), "X"),
    "zones": Look("#E69F00", (0, (6, 1.5, 1.5, 1.5)), "^"),
    "sdp": Look("#332288", (0, (2.5, 1.2)), "D"),
    "water-value": Look("#332200", (0, (7, 1.2, 2, 1.2)), "<"),
    "replan": Look("#9933EE", (0, (4, 1, 1, 1)), "h"),
    "standard": Look("#888888", (0, (1, 1)), "v"),
    "ann-regression": Look("#661144", (0, (4, 1.2, 4, 1.2, 1, 1.2)), "d"),
    "ann": Look("#33BBEE", (0, (6, 1.2, 1, 1.2, 1, 1.2)), "P"),
}
#: Of any family that has no look of its own.
OTHER_FAMILY = Look("#882255", (0, (8, 1.5, 1, 1.5)), "p")
FORESIGHT = Look(REFERENCE, "-", "*")


def family_look(family: str) -> Look:
    """How a family of rules is drawn in every figure."""
    return FAMILY_LOOKS.get(family, OTHER_FAMILY)
