"""Figure: seconds of the whole command by years, and where they go."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator

from reservoir.bench.experiment import select
from reservoir.bench.figures import log_axis, panels, short
from reservoir.bench.scale.findings import ScaleFindings
from reservoir.bench.scale.runs import STAGES
from reservoir.report.figures.style import LIMITS, NORMAL, POWER, RELEASE, SPILL, STORAGE, sheet_figure

_COLOURS = dict(zip(STAGES, (NORMAL, RELEASE, STORAGE, POWER, SPILL, LIMITS), strict=True))
_WIDTH = 0.72


def scale_figures(found: ScaleFindings) -> dict[str, Figure]:
    """Both rows for each solver: seconds by years with the line, and seconds a thousand years by stage."""
    foot = [found.setup.foot("Synthetic inflow · ")]
    return {"scale": sheet_figure(4.6, foot, lambda sheet: _draw(sheet, found))}


def _draw(sheet: SubFigure, found: ScaleFindings) -> Axes:
    solvers = found.solvers
    axes = panels(sheet, 2 * len(solvers), len(solvers), "")
    for upper, lower, solver in zip(axes[: len(solvers)], axes[len(solvers) :], solvers, strict=True):
        points, line = select(found.points, solver=solver), found.line(solver)
        at = np.geomspace(points["years"].min(), points["years"].max(), 100)
        upper.plot(at, line.at(at), color=LIMITS, lw=1, label="straight line")
        upper.plot(points["years"], points["seconds"], "o", ms=4.5, color=STORAGE, label="whole command")
        log_axis(upper, "x", form=short)
        upper.xaxis.set_major_locator(FixedLocator(points["years"].to_list()))
        upper.set_ylim(bottom=0)
        upper.set_title(solver)
        below = np.zeros(len(points))
        places = np.arange(len(points))
        for stage, colour in _COLOURS.items():
            share = 100 * points[stage].to_numpy() / points["seconds"].to_numpy()
            lower.bar(places, share, _WIDTH, below, color=colour, label=stage)
            below += share
        lower.set_xticks(places, [short(years) for years in points["years"]])
        lower.set(ylim=(0, 100), xlabel="Years")
    axes[0].set_ylabel("Seconds")
    axes[len(solvers)].set_ylabel("Share (%)")
    return axes[len(solvers)]
