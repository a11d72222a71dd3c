"""Figures 6 to 10 of Li and Yu 2017: speed-ups of model building, and evaluations, by the number of bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.linkage.cases import SPIN, TITLES
from reservoir.bench.linkage.findings import by_kind_and_bits, evaluations, stage_times
from reservoir.bench.linkage.stages import MODELS
from reservoir.report.figures.axes import written
from reservoir.report.figures.style import (
    DRY,
    LIMITS,
    POWER,
    RELEASE,
    STORAGE,
    Look,
    add_legend,
    broken,
    figure_style,
    footed_figure,
    settled,
)
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL

CAPTIONS = {
    "model_building": (
        "How many times as fast as the sequential engine each stage of model building is, by the number of bits: the "
        "dependency structure matrix (left: Figures 6 and 8) and the linkage sets (right: Figures 7 and 9), "
        "lossless above and lossy below. The sequential engine is compiled vector code on one thread."
    ),
    "whole_runs": (
        "How many times as fast as the sequential engine whole runs are, mixing and hill climbing included, a panel "
        "for each kind of problem. On demand is one thread of the host that builds only what mixing asks for."
    ),
    "evaluations": (
        "Mean evaluations until the optimum is found (Figure 10), a panel for each kind of problem. On demand, "
        "lossless and sequential building take exactly the same."
    ),
}
_KIND_LOOKS = {
    "mk": Look(STORAGE, "-", "o"),
    "ftrap": Look(DRY, (0, (5, 1.5)), "s"),
    "cyc": Look(RELEASE, (0, (6, 1.5, 1.5, 1.5)), "^"),
    SPIN: Look(LIMITS, (0, (1, 1)), "D"),
}
_MODEL_LOOKS = {
    SEQUENTIAL: Look(LIMITS, (0, (1, 1)), "D"),
    LOSSLESS: Look(STORAGE, "-", "o"),
    LOSSY: Look(DRY, (0, (5, 1.5)), "s"),
    ON_DEMAND: Look(POWER, (0, (6, 1.5, 1.5, 1.5)), "^"),
}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 8


def linkage_figures(runs: pd.DataFrame, evaluated: pd.DataFrame, foot: str) -> dict[str, Figure]:
    """All figures; points of problems of one kind and size are their means."""
    times, found = by_kind_and_bits(stage_times(runs)), by_kind_and_bits(evaluations(evaluated))
    return {
        "model_building": _building(times, foot),
        "whole_runs": _by_kind(times, "total_x", _named(MODELS[1:]), "Whole runs, times as fast", foot),
        "evaluations": _by_kind(found, "evaluations", {ON_DEMAND: LOSSLESS, LOSSY: LOSSY}, "Evaluations", foot),
    }


def _building(times: pd.DataFrame, foot: str) -> Figure:
    with figure_style():
        figure, sheet = footed_figure(5.4, broken(foot))
        panels = sheet.subplots(2, 2, sharex=True)
        for row, model in zip(panels, (LOSSLESS, LOSSY), strict=True):
            for ax, stage in zip(row, ("matrix", "linkage"), strict=True):
                for kind, look in _KIND_LOOKS.items():
                    if kind in times.index.get_level_values("kind"):
                        _line(ax, times.loc[kind][f"{stage}_x:{model}"], look, TITLES[kind])
                _dress(ax)
            row[0].set_ylabel(f"Times as fast, {model}")
        panels[0][0].set_title("Dependency structure matrix")
        panels[0][1].set_title("Linkage sets")
        for ax in panels[-1]:
            ax.set_xlabel("Bits")
        add_legend(sheet, panels[0][0])
        return settled(figure)


def _named(models: tuple[str, ...]) -> dict[str, str]:
    """Models under their own names."""
    return dict(zip(models, models, strict=True))


def _by_kind(frame: pd.DataFrame, value: str, models: dict[str, str], label: str, foot: str) -> Figure:
    """A panel for each kind of problem, with a line for each model under the name that it stands for."""
    kinds = list(dict.fromkeys(frame.index.get_level_values("kind")))
    with figure_style():
        figure, sheet = footed_figure(2.6 if len(kinds) < 3 else 5.0, broken(foot))
        rows = 1 if len(kinds) < 3 else 2
        panels = sheet.subplots(rows, min(2, len(kinds)), squeeze=False).ravel()
        for ax, kind in zip(panels, kinds, strict=False):
            for model, name in models.items():
                _line(ax, frame.loc[kind][f"{value}:{model}"], _MODEL_LOOKS[name], name)
            _dress(ax)
            ax.set_title(TITLES[kind])
            ax.set_xlabel("Bits")
        for ax in panels[len(kinds) :]:
            ax.remove()
        for ax in panels[:: min(2, len(kinds))]:
            ax.set_ylabel(label)
        add_legend(sheet, panels[0])
        return settled(figure)


def _line(ax: Axes, column: pd.Series[float], look: Look, label: str) -> None:
    ax.plot(column.index, column, color=look.colour, ls=look.line, marker=look.marker, ms=4.5, label=label)


def _dress(ax: Axes) -> None:
    """Axes to fit what is drawn: bits as they are, values from zero, or logarithmic where they are far apart."""
    drawn = [np.asarray(line.get_xydata(), float) for line in ax.get_lines()]
    bits, values = (np.concatenate([points[:, axis] for points in drawn]) for axis in (0, 1))
    bits, values = np.unique(bits), values[np.isfinite(values)]
    ax.xaxis.set_major_locator(FixedLocator(list(bits if len(bits) < 8 else bits[::2])))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    if len(values) and max(values) > _SPAN * min(values):
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 3) if max(values) > 100 * min(values) else (1, 2, 5)))
        ax.yaxis.set_minor_locator(NullLocator())
    else:
        ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
