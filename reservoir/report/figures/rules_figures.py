"""All figures of an evaluation of operation rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from matplotlib.figure import Figure

from reservoir.report.figures.figures import attempted
from reservoir.report.figures.record_runs import (
    duration_curves_caption,
    duration_curves_figure,
    has_spill,
    level_trace_caption,
    level_trace_figure,
    result_of,
    spill_map_caption,
    spill_map_figure,
)
from reservoir.report.figures.rule_charts import (
    dispatch_chart_caption,
    dispatch_chart_figure,
    rule_curves_caption,
    rule_curves_figure,
    rule_scatter_caption,
    rule_scatter_figure,
    water_value_table_caption,
    water_value_table_figure,
)
from reservoir.report.figures.rule_scores import (
    has_members,
    regret_caption,
    regret_figure,
    robustness_caption,
    robustness_figure,
    rule_energy_caption,
    rule_energy_figure,
)
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.families.linear import GUIDE_CURVE, LINEAR
from reservoir.rules.families.sdp import WATER_VALUE
from reservoir.rules.families.zones import ZONES_FAMILY as ZONES

_Made = TypeVar("_Made")


def _any_family(evaluation: Evaluation) -> bool:
    return bool(evaluation.families)


def _of_a_record(evaluation: Evaluation) -> bool:
    """Years of many members are no sequence."""
    return _any_family(evaluation) and evaluation.plan.inflow.member_count == 1


@dataclass(frozen=True)
class _Drawing:
    """A figure: its heading, how it is drawn and read, and whether an evaluation has anything to show in it."""

    title: str
    figure: Callable[[Evaluation], Figure]
    caption: Callable[[Evaluation], str]
    shown: Callable[[Evaluation], bool] = _any_family


def _of_family(family: str) -> Callable[[Evaluation], bool]:
    return lambda evaluation: result_of(evaluation, family) is not None


_DRAWINGS = {
    "rule-curves": _Drawing("Guide curve", rule_curves_figure, rule_curves_caption, _of_family(GUIDE_CURVE)),
    "dispatch-chart": _Drawing("Dispatch chart", dispatch_chart_figure, dispatch_chart_caption, _of_family(ZONES)),
    "water-value-table": _Drawing(
        "Water values", water_value_table_figure, water_value_table_caption, _of_family(WATER_VALUE)
    ),
    "rule-scatter": _Drawing(
        "Release by plan and by rule", rule_scatter_figure, rule_scatter_caption, _of_family(LINEAR)
    ),
    "duration-curves": _Drawing(
        "Duration curves of release, power and storage", duration_curves_figure, duration_curves_caption
    ),
    "rule-energy": _Drawing("Annual energy by rule", rule_energy_figure, rule_energy_caption),
    "robustness": _Drawing("Robustness over members", robustness_figure, robustness_caption, has_members),
    "regret": _Drawing("Regret by rule", regret_figure, regret_caption),
    "spill-map": _Drawing(
        "Spill by month and year",
        spill_map_figure,
        spill_map_caption,
        lambda evaluation: _of_a_record(evaluation) and has_spill(evaluation),
    ),
    "level-trace": _Drawing("Level over the record", level_trace_figure, level_trace_caption, _of_a_record),
}

#: Headings of the figures of rules.
RULES_TITLES = {name: drawing.title for name, drawing in _DRAWINGS.items()}


def rules_figures(evaluation: Evaluation, left_out: dict[str, str] | None = None) -> dict[str, Figure]:
    """Draw the figures of an evaluation, by the name of their files; a figure that would be empty is left out.

    So is one that fails, if there is where to note it (`figures.attempted`).
    """
    return _of_each(evaluation, lambda drawing: drawing.figure(evaluation), left_out)


def rules_captions(evaluation: Evaluation, left_out: dict[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `rules_figures`."""
    units = evaluation.plan.units
    return _of_each(evaluation, lambda drawing: units.text(drawing.caption(evaluation)), left_out)


def _of_each(
    evaluation: Evaluation, made: Callable[[_Drawing], _Made], left_out: dict[str, str] | None
) -> dict[str, _Made]:
    """What is made of each drawing that shows anything and has not failed, by its name."""

    def of(drawing: _Drawing) -> _Made | None:
        return made(drawing) if drawing.shown(evaluation) else None

    names = [name for name in _DRAWINGS if name not in (left_out or ())]
    drawings = {name: attempted(name, partial(of, _DRAWINGS[name]), left_out) for name in names}
    return {name: each for name, each in drawings.items() if each is not None}
