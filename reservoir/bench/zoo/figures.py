"""Figures: how gaps are distributed, and on which kinds of reservoirs solvers fail."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.figures import log_axis, panels
from reservoir.bench.zoo.findings import KIND_GAP, ZooFindings, short_gap
from reservoir.report.figures.style import (
    DRY,
    LIMITS,
    NORMAL,
    OUTSIDE,
    POWER,
    RELEASE,
    SPILL,
    STORAGE,
    WET,
    sheet_figure,
)

#: Colours of solvers; those on the host have that of the device's and are dotted.
_COLOURS = {
    "lshade": STORAGE,
    "clpso": RELEASE,
    "dp-opencl": LIMITS,
    "ann-pso": POWER,
    "island-ga": SPILL,
    "ring-pso": DRY,
    "dsmga2": WET,
}
_OTHER, _DOTTED = NORMAL, (0, (1, 1.2))
_HOST_NAMES = ("-sequential", "-parallel")
_LEAST_GAP, _LARGEST_GAP, _LEAST_SHARE = 1e-7, 1.0, 1e-4
_CELL = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
#: Shares above are as dark as the darkest, and below the number is black.
_DARKEST, _BLACK_BELOW = 0.5, 0.3


def zoo_figures(found: ZooFindings) -> dict[str, Figure]:
    """All of them; none if no solver solved a year."""
    if not found.solvers:
        return {}
    foot = [found.setup.foot("Invented reservoirs and inflows · ")]
    rows = len(found.by_kind())
    return {
        "gaps": sheet_figure(3.4, foot, lambda sheet: _gaps(sheet, found)),
        "kinds": sheet_figure(1.3 + 0.21 * rows, foot, lambda sheet: _kinds(sheet, found)),
    }


def _gaps(sheet: SubFigure, found: ZooFindings) -> Axes:
    """A panel for each part, and a line for each solver."""
    axes = panels(sheet, len(found.parts), len(found.parts), "Years (%)", sharex=True, sharey=True)
    for ax, part in zip(axes, found.parts, strict=True):
        for solver in found.solvers:
            _draw_gaps(ax, found.feasible(solver=solver, part=part)["gap"].to_numpy(float), solver)
        ax.axvline(KIND_GAP, color=LIMITS, lw=0.8)
        log_axis(ax, "x", subs=(1.0,), form=short_gap)
        log_axis(ax, "y", subs=(1.0,), form=lambda share: f"{100 * share:g}")
        ax.set_xlim(_LEAST_GAP, _LARGEST_GAP)
        ax.set_ylim(_LEAST_SHARE, 1.0)
        ax.set(xlabel="Gap to dp", title=f"Years beyond a gap, {part} part")
    return axes[0]


def _draw_gaps(ax: Axes, gaps: Any, solver: str) -> None:
    """Share of years with a larger gap, over the gap."""
    if not len(gaps):
        return
    ordered = np.sort(gaps.clip(_LEAST_GAP, _LARGEST_GAP))
    larger = 1.0 - np.arange(1, len(ordered) + 1) / len(ordered)
    base = next((solver.removesuffix(each) for each in _HOST_NAMES if solver.endswith(each)), solver)
    line: Any = _DOTTED if base != solver else "-"
    ends = np.concatenate([[_LEAST_GAP], ordered]), np.concatenate([[1.0], larger])
    ax.step(*ends, where="post", color=_COLOURS.get(base, _OTHER), ls=line, lw=1.3, label=solver)


def _kinds(sheet: SubFigure, found: ZooFindings) -> None:
    """A cell for each class of reservoirs and solver."""
    frame, solvers = found.by_kind(), found.solvers
    shares = frame[solvers].to_numpy(float)
    ax = sheet.add_subplot()
    row, column = np.nonzero(~np.isnan(shares))
    cells: Any = _CELL + np.stack([column, row], axis=1)[:, None]
    drawn = PolyCollection(cells, array=shares[row, column], cmap="Blues", edgecolor="white", lw=0.5)
    drawn.set_clim(0, _DARKEST)
    ax.add_collection(drawn)
    for place, name in zip(row, column, strict=True):
        share = shares[place, name]
        ax.text(
            *(name + 0.5, place + 0.5),
            f"{100 * share:.3g}",
            ha="center",
            va="center",
            fontsize=6.5,
            color="black" if share < _BLACK_BELOW else "white",
        )
    ax.set_xticks(np.arange(len(solvers)) + 0.5, solvers, rotation=35, ha="right", fontsize=7)
    ax.set_yticks(np.arange(len(frame)) + 0.5, _row_names(frame), fontsize=6.5)
    ax.set_xlim(0, len(solvers))
    ax.set_ylim(len(frame), 0)
    ax.grid(visible=False)
    ax.set_facecolor(OUTSIDE)
    ax.set_title(f"Years beyond {short_gap(KIND_GAP)} of dp, in % of the years of a kind")


def _row_names(frame: Any) -> list[str]:
    """A class's name behind that of its kind, which stands at the first of its classes."""
    names, before = [], ""
    for kind, name in zip(frame["kind"], frame["class"], strict=True):
        names.append(name if kind == before else f"{kind}:  {name}")
        before = kind
    return names
