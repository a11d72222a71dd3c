"""Figures 6 to 10 of Li and Yu 2017: speed-ups of model building, and evaluations, by the number of bits."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter

from reservoir.bench.experiment import processor_name
from reservoir.bench.figures import (
    BASE_LOOK,
    CHAINED,
    LOSSY_LOOK,
    MAIN_LOOK,
    line,
    log_axis,
    number_ticks,
    panels,
)
from reservoir.bench.linkage.findings import LinkageFindings, by_kind_and_bits
from reservoir.bench.linkage.runs import MODELS, SPIN, TITLES
from reservoir.report.figures.looks import Look
from reservoir.report.figures.style import POWER, RELEASE, sheet_figure
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL
from reservoir.text.quantities import quantity

_KIND_LOOKS = {"mk": MAIN_LOOK, "ftrap": LOSSY_LOOK, "cyc": Look(RELEASE, CHAINED, "^"), SPIN: BASE_LOOK}
_MODEL_LOOKS = {SEQUENTIAL: BASE_LOOK, LOSSLESS: MAIN_LOOK, LOSSY: LOSSY_LOOK, ON_DEMAND: Look(POWER, CHAINED, "^")}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 8


def linkage_figures(found: LinkageFindings) -> dict[str, Figure]:
    """All figures; points of problems of one kind and size are their means."""
    setup = found.setup
    about = f"{setup.budget.runs} timed runs, evaluations of {found.evaluated['run'].nunique()} · "
    foot = [setup.foot(about, f"; sequential: {processor_name()}")]
    times, evaluated = by_kind_and_bits(found.times), by_kind_and_bits(found.evaluations)
    lines = {model: model for model in MODELS[1:]}
    return {
        "model_building": sheet_figure(5.4, foot, lambda sheet: _building(sheet, times)),
        "whole_runs": _by_kind(times, "total_x", lines, "Whole runs, speed-up", foot),
        "evaluations": _by_kind(evaluated, "evaluations", {ON_DEMAND: LOSSLESS, LOSSY: LOSSY}, "Evaluations", foot),
    }


def _building(sheet: SubFigure, times: pd.DataFrame) -> Axes:
    axes = sheet.subplots(2, 2, sharex=True)
    for row, model in zip(axes, (LOSSLESS, LOSSY), strict=True):
        for ax, stage in zip(row, ("matrix", "linkage"), strict=True):
            for kind, look in _KIND_LOOKS.items():
                if kind in times.index.get_level_values("kind"):
                    _line(ax, times.loc[kind][f"{stage}_x:{model}"], look, TITLES[kind])
            _dress(ax)
        row[0].set_ylabel(f"Speed-up, {model}")
    axes[0][0].set_title("Dependency structure matrix")
    axes[0][1].set_title("Linkage sets")
    for ax in axes[-1]:
        ax.set_xlabel("Bits")
    corner: Axes = axes[0][0]
    return corner


def _by_kind(frame: pd.DataFrame, value: str, models: dict[str, str], label: str, foot: list[str]) -> Figure:
    """A panel for each kind of problem, with a line for each model under the name that it stands for."""
    kinds = list(dict.fromkeys(frame.index.get_level_values("kind")))
    columns = min(2, len(kinds))

    def draw(sheet: SubFigure) -> Axes:
        axes = panels(sheet, len(kinds), columns, label)
        for ax, kind in zip(axes, kinds, strict=True):
            for model, name in models.items():
                _line(ax, frame.loc[kind][f"{value}:{model}"], _MODEL_LOOKS[name], name)
            _dress(ax)
            ax.set(title=TITLES[kind], xlabel="Bits")
        return axes[0]

    return sheet_figure(2.6 if len(kinds) < 3 else 5.0, foot, draw)


def _line(ax: Axes, column: pd.Series[float], look: Look, label: str) -> None:
    line(ax, column.index, column, look, label, 4.5)


def _dress(ax: Axes) -> None:
    """Axes to fit what is drawn: bits as they are, values from zero, or logarithmic where they are far apart."""
    drawn = np.concatenate([np.asarray(each.get_xydata(), float) for each in ax.get_lines()])
    bits, values = np.unique(drawn[:, 0]), drawn[np.isfinite(drawn[:, 1]), 1]
    number_ticks(ax, bits if len(bits) < 8 else bits[::2])
    if len(values) and max(values) > _SPAN * min(values):
        log_axis(ax, subs=(1, 3) if max(values) > 100 * min(values) else (1, 2, 5), ticks=None)
    else:
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
