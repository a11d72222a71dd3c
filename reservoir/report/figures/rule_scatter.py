"""What optimised years release with the water that they have, and what a fitted rule makes of it (Young 1967)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.report.figures.axes import THOUSANDS
from reservoir.report.figures.record_runs import fitted_note, result_of
from reservoir.report.figures.style import LIMITS, family_look, plan_figure, tint
from reservoir.rules import Forecast, Rule, Training
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.rules.families.linear import FAMILY

FloatArray = NDArray[np.float64]

WATER = "Available water: start storage + inflow of the month (hm³)"
RELEASE = "Release (m³/s)"
_ROWS, _COLUMNS = 3, 4
#: Dots of a panel; of more years, so many are shown, evenly spread over the record: more would hide each other.
MOST_YEARS = 300


def rule_scatter_figure(evaluation: Evaluation, family: str = FAMILY) -> Figure:
    """Draw a panel a month under one legend."""

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(_ROWS, _COLUMNS)
        for step, ax in enumerate(panels.ravel()):
            draw_rule_scatter(ax, evaluation, step, family)
            ax.set_xlabel("")
            ax.set_ylabel("")
        sheet.supxlabel(WATER, fontsize=8.5)
        sheet.supylabel(RELEASE, fontsize=8.5)
        corner: Axes = panels[0, 0]
        return corner

    return plan_figure(evaluation.plan, 6.0, draw, fitted_note(evaluation), above=True)


def has_rule_scatter(evaluation: Evaluation, family: str = FAMILY) -> bool:
    """Whether the family is among those evaluated."""
    return result_of(evaluation, family) is not None


def draw_rule_scatter(ax: Axes, evaluation: Evaluation, step: int, family: str = FAMILY) -> Axes:
    """Draw one month: a mark for every optimised year and one for the rule in its place; returns the axis."""
    result = result_of(evaluation, family)
    if result is None:
        raise ValueError(f"there is no rule of family {family} to draw")
    training, look = evaluation.training.select(shown_years(evaluation.training.years)), family_look(family)
    water = water_available_hm3(training)[:, step]
    ax.plot(water, training.release_m3s[:, step], "o", ms=3.6, mew=0, color=tint(LIMITS, 0.55), label="optimised years")
    asked = decisions_m3s(result.rule, training, step)
    ax.plot(water, asked, look.marker, ms=3.4, mfc="none", mew=0.9, color=look.colour, label=f"rule: {family}")
    ax.set_title(evaluation.plan.inflow.calendar.step_names[step], fontsize=8.5, pad=3)
    for axis in (ax.xaxis, ax.yaxis):
        # Three numbers of six figures have no room beside each other.
        axis.set_major_locator(MaxNLocator(2 if axis is ax.xaxis and water.max() >= 1e5 else 3))
        axis.set_major_formatter(THOUSANDS)
    ax.tick_params(labelsize=7)
    ax.set_xlabel(WATER)
    ax.set_ylabel(RELEASE)
    return ax


def shown_years(years: int) -> list[int]:
    """Places of the years that are drawn."""
    return list(map(int, np.unique(np.linspace(0, years - 1, min(years, MOST_YEARS)).round())))


def water_available_hm3(training: Training) -> FloatArray:
    """Storage at the start of each month and what flows in during it, shape (years, steps)."""
    return np.asarray(training.storage_start_hm3 + training.inflow_m3s * training.hm3_per_m3s)


def decisions_m3s(rule: Rule, training: Training, step: int) -> FloatArray:
    """Release that a rule asks for where the optimised years stand at the start of a step, shape (years,)."""
    known = training.inflow_m3s[:, step]
    situations = zip(training.storage_start_hm3[:, step], known, training.inflow_before_m3s[:, step], strict=True)
    told = rule.forecast is Forecast.MONTH
    return np.array(
        [rule.release(step, float(at), float(now) if told else None, float(before)) for at, now, before in situations]
    )


def caption(evaluation: Evaluation, family: str = FAMILY) -> str:
    """How to read the figure."""
    return (
        f"Each dot is the release of an optimised year; each mark is the release by the {family} rule with the same "
        "water in the same month. The closer they are, the better the rule follows the plan. "
        f"Scales differ between months.{_sample(evaluation)}"
    )


def _sample(evaluation: Evaluation) -> str:
    years = evaluation.training.years
    return f" {MOST_YEARS} of the {years:,} years are shown, evenly spaced." if years > MOST_YEARS else ""
