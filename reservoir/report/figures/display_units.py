"""Figures in the units that were asked for: drawn in SI, then their axes and texts are written in others.

The label of an axis names its unit, so that one place can convert every figure: ticks move to round numbers of the
other unit, and what is drawn stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure, FigureBase
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

from reservoir.hydro.unit_system import DisplayUnit, UnitSystem

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
    """Write the axes and texts of a figure that is drawn, but not laid out yet, in some units; its foot is already."""
    if not units.by_ending:
        return
    for axis, label in _labelled(figure):
        unit = units.of_label(label)
        if unit is not None and not isinstance(axis.get_major_formatter(), FixedFormatter):
            _convert(axis, unit)
    for artist in figure.findobj():
        if artist.get_gid() == FOOT:
            continue
        label = str(artist.get_label())
        if not isinstance(artist, Axis) and units.text(label) != label:
            artist.set_label(units.text(label))
        if isinstance(artist, Text) and units.label(artist.get_text()) != artist.get_text():
            artist.set_text(units.label(artist.get_text()))


def _labelled(figure: Figure) -> Iterator[tuple[Axis, str]]:
    """Every axis with its label, or with that which it shares with the panels beside it."""
    for ax in figure.axes:
        sheet = ax.get_figure(root=False)
        for axis, shared in ((ax.xaxis, _shared(sheet, "x")), (ax.yaxis, _shared(sheet, "y"))):
            yield axis, axis.get_label_text() or shared


def _shared(sheet: FigureBase | None, way: str) -> str:
    return "" if sheet is None else {"x": sheet.get_supxlabel, "y": sheet.get_supylabel}[way]()


def _convert(axis: Axis, unit: DisplayUnit) -> None:
    places = [float(place) for place in axis.get_majorticklocs()]
    if _is_colour_bar(axis.axes):
        axis.set_major_formatter(FuncFormatter(lambda value, _: _number(float(f"{value / unit.size:.3g}"))))
        return
    fixed = isinstance(axis.get_major_locator(), FixedLocator)
    largest = max((abs(place / unit.size) for place in places), default=0.0)
    # Numbers of millions have hardly room beside each other.
    most = 1 if isinstance(axis, XAxis) and largest >= 1e6 else max(len(places), 2)
    locator = UnitLocator(unit.size, most)
    if fixed:
        low, high = sorted(axis.get_view_interval())
        inside = [
            place for place in locator.tick_values(low, high) if max(low, min(places, default=low)) <= place <= high
        ]
        axis.set_major_locator(FixedLocator(inside))
    else:
        axis.set_major_locator(locator)
    axis.set_major_formatter(FuncFormatter(lambda value, _: _number(value / unit.size)))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1e6 else f"{float(f'{value:.10g}'):,g}"


def _is_colour_bar(ax: Axes | None) -> bool:
    return getattr(ax, "_colorbar", None) is not None
