"""All figures of an evaluation of operation rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure

from reservoir.report.figures import record_runs, rule_charts, rule_scores
from reservoir.report.figures.figures import of_each
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.families.linear import GUIDE_CURVE, LINEAR
from reservoir.rules.families.sdp import WATER_VALUE
from reservoir.rules.families.zones import ZONES_FAMILY as ZONES


def _any_family(evaluation: Evaluation) -> bool:
    return bool(evaluation.families)


def _of_family(family: str) -> Callable[[Evaluation], bool]:
    return lambda evaluation: evaluation.result_of(family) is not None


def _of_a_record(evaluation: Evaluation) -> bool:
    """Years of many members are no sequence."""
    return _any_family(evaluation) and evaluation.plan.inflow.member_count == 1


class _Drawing(NamedTuple):
    """A figure: its heading, how it is drawn and read, and whether an evaluation has anything to show in it."""

    title: str
    figure: Callable[[Evaluation], Figure]
    caption: Callable[[Evaluation], str]
    shown: Callable[[Evaluation], bool] = _any_family


# fmt: off
_DRAWINGS = {
    "rule-curves": _Drawing("Guide curve",
        rule_charts.rule_curves_figure, rule_charts.rule_curves_caption, _of_family(GUIDE_CURVE)),
    "dispatch-chart": _Drawing("Dispatch chart",
        rule_charts.dispatch_chart_figure, rule_charts.dispatch_chart_caption, _of_family(ZONES)),
    "water-value-table": _Drawing("Water values",
        rule_charts.water_value_table_figure, rule_charts.water_value_table_caption, _of_family(WATER_VALUE)),
    "rule-scatter": _Drawing("Release by plan and by rule",
        rule_charts.rule_scatter_figure, rule_charts.rule_scatter_caption, _of_family(LINEAR)),
    "duration-curves": _Drawing("Duration curves of release, power and storage",
        record_runs.duration_curves_figure, record_runs.duration_curves_caption),
    "rule-energy": _Drawing("Annual energy by rule", rule_scores.rule_energy_figure, rule_scores.rule_energy_caption),
    "robustness": _Drawing("Robustness over members",
        rule_scores.robustness_figure, rule_scores.robustness_caption, rule_scores.has_members),
    "regret": _Drawing("Regret by rule", rule_scores.regret_figure, rule_scores.regret_caption),
    "spill-map": _Drawing("Spill by month and year", record_runs.spill_map_figure, record_runs.spill_map_caption,
        lambda evaluation: _of_a_record(evaluation) and record_runs.has_spill(evaluation)),
    "level-trace": _Drawing("Level over the record",
        record_runs.level_trace_figure, record_runs.level_trace_caption, _of_a_record),
}
# fmt: on

#: Headings of the figures of rules.
RULES_TITLES = {name: drawing.title for name, drawing in _DRAWINGS.items()}


def rules_figures(evaluation: Evaluation, left_out: dict[str, str] | None = None) -> dict[str, Figure]:
    """Draw the figures of an evaluation, by the name of their files; a figure that would be empty is left out.

    So is one that fails, if there is where to note it (`figures.attempted`).
    """

    def made(drawing: _Drawing) -> Figure | None:
        return drawing.figure(evaluation) if drawing.shown(evaluation) else None

    return of_each(_DRAWINGS, made, left_out)


def rules_captions(evaluation: Evaluation, left_out: dict[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `rules_figures`."""

    def made(drawing: _Drawing) -> str | None:
        return evaluation.plan.units.text(drawing.caption(evaluation)) if drawing.shown(evaluation) else None

    return of_each(_DRAWINGS, made, left_out)
