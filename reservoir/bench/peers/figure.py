"""The race as a picture: a dot for the time of each entrant, hollow at the end of its time if it did not get there."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from reservoir.bench.peers.entry import Entry
from reservoir.bench.peers.race import OWN, PeerRace
from reservoir.report.figures.style import GRID, LIMITS, STORAGE

#: As many times longer than the last entrant's is the axis, to have room for what is written there.
_ROOM = 6.0
#: From the axis down to the legend: past the ticks and their label.
_LEGEND_POINTS = 32


def draw_peers(axis: Axes, race: PeerRace) -> Axes:
    """Draw a row for each entrant that ran, the fastest on top; returns the axis."""
    ranked = ranking(race)
    for place, entry in enumerate(ranked):
        _draw_entry(axis, place, entry)
    axis.set_xscale("log")
    times = [_place(entry) for entry in ranked] or [1.0]
    axis.set_xlim(min(times) / 1.8, max(times) * _ROOM)
    axis.xaxis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(f"Time until all years are within {100 * race.budget.near:g} % of dp (s)")
    axis.set_yticks(range(len(ranked)), [entry.name for entry in ranked])
    axis.set_ylim(len(ranked) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")
    below = axis.transAxes + ScaledTranslation(0, -_LEGEND_POINTS / 72, axis.figure.dpi_scale_trans)
    axis.legend(handles=_samples(), loc="upper center", bbox_to_anchor=(0.4, 0), bbox_transform=below, ncols=3)
    return axis


def ranking(race: PeerRace) -> list[Entry]:
    """Entrants that ran: by time, then, without one, by the years they did."""
    ran = [entry for entry in race.entries if entry.ran]
    return sorted(ran, key=lambda entry: (not entry.finished, entry.seconds if entry.finished else -entry.years_within))


def _place(entry: Entry) -> float:
    return entry.seconds if entry.finished else entry.total_seconds


def _draw_entry(axis: Axes, place: int, entry: Entry) -> None:
    colour = STORAGE if entry.library == OWN else LIMITS
    at = _place(entry)
    axis.plot([1e-9, at], [place, place], color=GRID, lw=1.0, zorder=1.5)
    fill = colour if entry.finished else "white"
    axis.plot([at], [place], "o", ms=6, mfc=fill, mec=colour, mew=1.3, zorder=3)
    axis.annotate(_note(entry), (at, place), xytext=(7, 0), textcoords="offset points", va="center", fontsize=8)


def _note(entry: Entry) -> str:
    """The time, and the years that were missed in any run."""
    years = f"{entry.years_within} of {entry.years} years"
    if not entry.finished:
        return years
    missed = f" ({years} in one run)" if entry.years_within < entry.years else ""
    return f"{entry.seconds:.3g} s{missed}"


def _samples() -> list[Line2D]:
    """Legend: whose a dot is, and what a hollow one means."""
    looks = (
        ("this project", STORAGE, STORAGE),
        ("other libraries", LIMITS, LIMITS),
        ("stopped before all years were within", "white", LIMITS),
    )
    return [
        Line2D([], [], ls="", marker="o", ms=6, mfc=fill, mec=edge, mew=1.3, label=name) for name, fill, edge in looks
    ]
