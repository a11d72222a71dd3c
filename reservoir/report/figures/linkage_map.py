"""Which months are interdependent: the linkage that a solver learned of the storages at their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from reservoir.planning.plan import Plan
from reservoir.report.figures.axes import THOUSANDS
from reservoir.report.figures.style import OUTSIDE, plan_figure

START = "Start"
#: Corners of a cell.
_CELL = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def linkage_map_figure(plan: Plan) -> Figure | None:
    """Draw the dependency structure matrix of the months; None where the solver learned none."""
    linkage = mean_linkage(plan)
    if linkage is None:
        return None

    def draw(sheet: SubFigure) -> None:
        ax = sheet.add_subplot()
        drawn = draw_linkage(ax, linkage, storage_names(plan))
        ax.set_title("Interdependence of the month-end storages")
        bar = sheet.colorbar(drawn, ax=ax, pad=0.02, format=THOUSANDS if np.nanmax(linkage) > 10 else None)
        assert bar.solids is not None
        bar.solids.set(rasterized=False, edgecolor="face")  # a picture within a drawing does not enter a report
        bar.set_label("Mutual information (nats), mean of the years")

    return plan_figure(plan, 4.6, draw)


def mean_linkage(plan: Plan) -> NDArray[np.float64] | None:
    """Mean of the years, shape (storages, storages); None where there is none, or it is of no two storages."""
    each = plan.engine_solutions.linkage
    if any(linkage.shape != each[0].shape for linkage in each) or len(each[0]) < 2:
        return None
    return np.asarray(np.mean(each, axis=0))


def storage_names(plan: Plan) -> list[str]:
    """The storages that are chosen: at the end of months, and at the start of a cyclic year."""
    names = [name[:3] for name in plan.inflow.calendar.step_names]
    if plan.problems.cyclic:
        names = [START, *names]
    return names[: len(plan.engine_solutions.linkage[0])]


def draw_linkage(ax: Axes, linkage: NDArray[np.float64], names: list[str]) -> PolyCollection:
    """Draw a cell for each pair, the first in the upper left corner; returns the cells, for a colour bar."""
    one, other = np.nonzero(~np.eye(len(linkage), dtype=bool))
    cells: Any = _CELL + np.stack([other, one], axis=1)[:, None]
    drawn = PolyCollection(cells, array=linkage[one, other], cmap="Blues", edgecolor="face", lw=0.3)
    drawn.set_clim(0, None)
    ax.add_collection(drawn)
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.grid(visible=False)
    ax.set_facecolor(OUTSIDE)
    label = "Storage at the start, or the end of" if names[0] == START else "Storage at the end of"
    ax.spines[["top", "right"]].set_visible(True)
    ax.set_xlabel(label)
    ax.set_ylabel(label)
    return drawn


def caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if mean_linkage(plan) is None:
        return None
    return (
        "Dependency structure matrix learned by the solver: mean of at most its first "
        f"{plan.settings['linkage_generations']} generations. Each storage is coded by its place in the range "
        "reachable from the storage before. Darker cells: the codes of the two storages share more information "
        "in good solutions, and the solver changes both together earlier. The value expected by chance from "
        "independent individuals is subtracted."
    )
