"""Tables of what rules scored: a row for each family and sample of years, a column for each score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.infeasible import counted
from reservoir.planning.objective_columns import shown
from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.tables import QUANTITY, number
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.evaluation.evaluation import TEST, Evaluation, SimulationMode
from reservoir.rules.evaluation.scores import worst_decile


@dataclass(frozen=True)
class ScoreColumn:
    """A column of scores: name in `Score`, head, unit, form of its numbers, and how many of its units are one."""

    name: str
    title: str
    unit: str
    form: str = QUANTITY
    times: float = 1.0

    def written(self, value: float, units: UnitSystem) -> str:
        """Write a value as its cell, in some units."""
        return number(self.times * value / units.size(self.name), self.form)


#: In place of a unit: that of the objective.
BENEFIT = "objective"
_ENERGY = (
    ScoreColumn("mean", "Mean", BENEFIT),
    ScoreColumn("percent_of_foresight", "Of foresight", "%", "{:.2f}"),
    ScoreColumn("regret", "Regret", BENEFIT),
    ScoreColumn("median", "Median", BENEFIT),
    ScoreColumn("worst_decile", "Worst decile", BENEFIT),
    ScoreColumn("worst", "Worst year", BENEFIT),
    ScoreColumn("spill_hm3", "Spill", "hm³ per year"),
    ScoreColumn("end_storage_value", "End storage", BENEFIT),
)
#: Beside another objective than energy.
_MEAN_ENERGY = ScoreColumn("mean_energy_gwh", "Energy", "GWh")
SERVICE = (
    ScoreColumn("reliability", "Reliable", "years, %", "{:.1f}", 100),
    ScoreColumn("resilience", "Resilient", "years, %", "{:.1f}", 100),
    ScoreColumn("vulnerability", "Shortfall", "years, %", "{:.1f}", 100),
    ScoreColumn("firm_reliability", "Reliable", "months, %", "{:.1f}", 100),
    ScoreColumn("firm_resilience", "Resilient", "months, %", "{:.1f}", 100),
    ScoreColumn("firm_vulnerability", "Shortfall", "months, %", "{:.1f}", 100),
    ScoreColumn("firm_95_reliability", "Strict", "months, %", "{:.1f}", 100),
    ScoreColumn("supply_reliability", "Supplied", "months, %", "{:.1f}", 100),
)
LIMITS = (
    ScoreColumn("months_at_limit", "At a limit", "months", "{:,.0f}"),
    ScoreColumn("repairs", "Repaired", "months", "{:,.0f}"),
    ScoreColumn("months_violated", "Outside", "months", "{:,.0f}"),
    ScoreColumn("largest_violation_hm3", "Largest", "hm³", "{:,.3g}"),
    ScoreColumn("months_unmet", "Demands unmet", "months", "{:,.0f}"),
)


#: How the years follow each other, and what perfect foresight of them knows.
_MODES = {
    SimulationMode.CONTINUOUS: ("Storage carried through {years}", "perfect foresight knows the whole record"),
    SimulationMode.YEARLY: ("Every year from the plan's initial storage", "perfect foresight knows the year"),
}


def energy_table(evaluation: Evaluation, mode: SimulationMode) -> HtmlTable:
    """Energies of a mode by family, below those of perfect foresight."""
    columns = energy_columns(evaluation)
    found = _FoundForesight(evaluation, columns)
    top = [found.row("all", evaluation.foresights[mode], evaluation.plan.inflow)]
    test = evaluation.tests[0] if evaluation.tests and mode is SimulationMode.CONTINUOUS else None
    if test is not None and test.foresight is not None:
        top.append(found.row(TEST, test.foresight, test.inflow))
    outside = evaluation.foresight_violations_of(mode).months > 0
    return scores_table(evaluation, mode, "energy", columns, top, top_marked=outside)


def energy_columns(evaluation: Evaluation) -> tuple[ScoreColumn, ...]:
    """Columns of what rules bring, with the energy where something else is optimised."""
    return _ENERGY if evaluation.plan.objective.is_energy else (*_ENERGY, _MEAN_ENERGY)


@dataclass(frozen=True, eq=False)
class _FoundForesight:
    """What perfect foresight comes to, as rows of the table of an evaluation."""

    evaluation: Evaluation
    columns: Sequence[ScoreColumn]

    def row(self, years: str, foresight: Foresight, inflow: Inflow) -> tuple[str, ...]:
        """The row of a record."""
        operation = foresight.operation.in_years(inflow.steps)
        objective, sign = self.evaluation.plan.objective, shown(self.evaluation.plan.objective, np.ones(1))[0]
        benefit = operation.benefit
        spill_hm3 = float((operation.spill_m3s * inflow.calendar.hm3_per_m3s).sum(axis=1).mean())
        best = {
            "mean": sign * benefit.mean(),
            "percent_of_foresight": np.nan if objective.is_cost else 100.0,
            "regret": 0.0,
            "median": sign * np.median(benefit),
            "worst_decile": sign * worst_decile(benefit),
            "worst": sign * benefit.min(),
            "spill_hm3": spill_hm3,
            "mean_energy_gwh": operation.annual_energy_gwh.mean(),
        }
        units = self.evaluation.plan.units
        cells = (each.written(best.get(each.name, np.nan), units) for each in self.columns)
        return "perfect foresight", years, *cells


def _unit(column: ScoreColumn, evaluation: Evaluation) -> str:
    if column.unit == BENEFIT:
        return evaluation.plan.objective.unit
    return evaluation.plan.units.label(column.unit)


def scores_table(
    evaluation: Evaluation,
    mode: SimulationMode,
    kind: str,
    columns: Sequence[ScoreColumn],
    top: Sequence[tuple[str, ...]] = (),
    *,
    top_marked: bool = False,
) -> HtmlTable:
    """Some columns of the scores of a mode by family, `kind` naming the table; those with months outside are marked.

    `top` are rows above the families', which are marked if `top_marked`.
    """
    scores, units = evaluation.scores_of(mode), evaluation.plan.units
    rows = [
        (result.family, str(score.sample), *(each.written(getattr(score, each.name), units) for each in columns))
        for result, score in scores
    ]
    return HtmlTable(
        name=f"{kind}-{mode}",
        caption=f"{'; '.join(_MODES[mode] if top else _MODES[mode][:1])}.".format(
            years=counted(evaluation.training.years, "year")
        ),
        columns=(
            Column("Family", text=True),
            Column("Years", text=True),
            *(Column(each.title, _unit(each, evaluation)) for each in columns),
        ),
        rows=(*top, *rows),
        marked=frozenset(range(len(top)) if top_marked else ())
        | {len(top) + place for place, (_, each) in enumerate(scores) if each.months_violated},
    )
