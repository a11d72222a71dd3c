"""The guide curve with its lower and upper curve, over the storages of the plan that it was fitted to."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.report.figures.axes import draw_storage_frame, draw_years_outside, fill_bands, month_ends
from reservoir.report.figures.record_runs import fitted_note, result_of
from reservoir.report.figures.style import DASHES, STORAGE, family_look, on_axes, plan_figure
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.rules.families.guide_curve import FAMILY, LOWER_QUANTILE, UPPER_QUANTILE, GuideCurve

FloatArray = NDArray[np.float64]


def rule_curves_figure(evaluation: Evaluation) -> Figure:
    """Draw the curves with their legend."""
    drawn = on_axes("Guide curve and month-end storage of the plan", draw_rule_curves, evaluation)
    return plan_figure(evaluation.plan, 4.3, drawn, fitted_note(evaluation), reverse=True)


def has_rule_curves(evaluation: Evaluation) -> bool:
    """Whether the guide curve is among the families."""
    return result_of(evaluation, FAMILY) is not None


def draw_rule_curves(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the storages of every year as bands and the three curves over them; returns the axis."""
    plan, look = evaluation.plan, family_look(FAMILY)
    months, storages = month_ends(plan.inflow.calendar), plan.operation.storage_hm3
    lower, guide, upper = _curves(evaluation)
    draw_storage_frame(ax, plan, np.vstack([storages, lower, upper]))
    if plan.keeps_limits.any():
        fill_bands(ax, months, storages[plan.keeps_limits], STORAGE)
    draw_years_outside(ax, plan)
    for curve, label in ((lower, "lower and upper curve"), (upper, None)):
        ax.plot(months, curve, color=look.colour, lw=1.2, ls=DASHES, label=label, zorder=3)
    ax.plot(months, guide, color=look.colour, lw=2, marker=look.marker, label="guide curve", clip_on=False, zorder=3.2)
    return ax


def _curves(evaluation: Evaluation) -> tuple[FloatArray, ...]:
    """Lower curve, guide and upper curve on a month axis; a year starts where the one before has ended."""
    result = result_of(evaluation, FAMILY)
    if result is None or not isinstance(result.rule, GuideCurve):
        raise ValueError("there is no guide curve to draw")
    curves = result.rule.lower_hm3, result.rule.guide_hm3, result.rule.upper_hm3
    return tuple(np.array([curve[-1], *curve]) for curve in curves)


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    return (
        "The guide curve is the target storage at the end of each month, the median of the optimised years; the lower "
        f"and upper curves are their {100 * LOWER_QUANTILE:g} and {100 * UPPER_QUANTILE:g} % quantiles. "
        f"{_bands(evaluation)}"
    )


def _bands(evaluation: Evaluation) -> str:
    plan = evaluation.plan
    names = chosen(plan.inflow.labels, ~plan.keeps_limits)
    if not names:
        return "The bands show all years of the plan."
    violate = "violates its storage limits and is" if len(names) == 1 else "violate their storage limits and are"
    return f"The bands show years of the plan; {counted(len(names))} ({listed(names)}) {violate} shown by dashed lines."
