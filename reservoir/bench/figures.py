"""What the experiments' figures share: looks of engines, lines, panels, and logarithmic axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.tables import Frame
from reservoir.report.figures.style import DRY, LIMITS, RELEASE, STORAGE, Look
from reservoir.text.quantities import quantity

#: Looks of engines: the sequential one that others are measured by; the one that an experiment is about; and others.
BASE_LOOK, MAIN_LOOK = Look(LIMITS, (0, (1, 1)), "D"), Look(STORAGE, "-", "o")
DASHED, CHAINED = (0, (5, 1.5)), (0, (6, 1.5, 1.5, 1.5))
SECOND_LOOK = Look(RELEASE, DASHED, "s")
LOSSY_LOOK = Look(DRY, DASHED, "s")


def panels(sheet: SubFigure, count: int, columns: int, label: str, **options: Any) -> list[Axes]:
    """So many panels in rows, with a label before each row."""
    every = sheet.subplots(max(1, -(-count // columns)), columns, squeeze=False, **options).ravel()
    for ax in every[count:]:
        ax.remove()
    for ax in every[:count:columns]:
        ax.set_ylabel(label)
    return list(every[:count])


def lines(
    ax: Axes,
    frame: Frame,
    looks: Mapping[str, Look],
    titles: Mapping[str, str] | None = None,
    size: float = 4.5,
    **style: Any,
) -> None:
    """A line with markers over the index for each column of a frame that has a look, in the order of the looks."""
    for name, look in looks.items():
        if name in frame:
            label, drawn = (titles or {}).get(name, name), {"color": look.colour, "ls": look.line, "ms": size} | style
            ax.plot(frame.index, frame[name], marker=look.marker, label=label, **drawn)


def number_ticks(
    ax: Axes, at: Iterable[float], base: int | None = None, form: Callable[[float], str] = "{:,.0f}".format
) -> None:
    """Numbers at some places of the horizontal axis, whole ones by default; it is logarithmic if it has a base."""
    if base is not None:
        ax.set_xscale("log", base=base)
    ax.xaxis.set_major_locator(FixedLocator(list(at)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: form(value)))
    ax.xaxis.set_minor_locator(NullLocator())


def short(value: float) -> str:
    """A number in little room: ``62``, ``10k``."""
    for size, suffix in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"


def log_axis(
    ax: Axes,
    which: str = "y",
    *,
    subs: tuple[float, ...] = (1, 2, 5),
    ticks: int | None = 20,
    form: Callable[[float], str] = quantity,
) -> None:
    """Make the ``x`` or ``y`` axis logarithmic, with ticks at some digits of each power of ten."""
    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    axis.set_major_locator(LogLocator(base=10, subs=subs, numticks=ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: form(value)))
    axis.set_minor_locator(NullLocator())
