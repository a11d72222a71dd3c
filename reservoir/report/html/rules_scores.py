"""Tables of what rules scored: a row for each family and sample of years, a column for each score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.infeasible import counted
from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.tables import QUANTITY, number
from reservoir.rules.evaluation.evaluation import TEST, Evaluation, SimulationMode
from reservoir.rules.evaluation.scores import worst_decile

FloatArray = NDArray[np.float64]


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


_ENERGY = (
    ScoreColumn("mean_gwh", "Mean", "GWh"),
    ScoreColumn("percent_of_foresight", "Of foresight", "%", "{:.2f}"),
    ScoreColumn("regret_gwh", "Regret", "GWh"),
    ScoreColumn("median_gwh", "Median", "GWh"),
    ScoreColumn("worst_decile_gwh", "Worst decile", "GWh"),
    ScoreColumn("worst_gwh", "Worst year", "GWh"),
    ScoreColumn("spill_hm3", "Spill", "hm³ per year"),
    ScoreColumn("end_storage_value_gwh", "End storage", "GWh", "{:,.1f}"),
)
SERVICE = (
    ScoreColumn("reliability", "Reliable", "years, %", "{:.1f}", 100),
    ScoreColumn("resilience", "Resilient", "years, %", "{:.1f}", 100),
    ScoreColumn("vulnerability", "Shortfall", "years, %", "{:.1f}", 100),
    ScoreColumn("firm_reliability", "Reliable", "months, %", "{:.1f}", 100),
    ScoreColumn("firm_resilience", "Resilient", "months, %", "{:.1f}", 100),
    ScoreColumn("firm_vulnerability", "Shortfall", "months, %", "{:.1f}", 100),
)
LIMITS = (
    ScoreColumn("months_at_limit", "At a limit", "months", "{:,.0f}"),
    ScoreColumn("repairs", "Repaired", "months", "{:,.0f}"),
    ScoreColumn("months_violated", "Outside", "months", "{:,.0f}"),
    ScoreColumn("largest_violation_hm3", "Largest", "hm³", "{:,.3g}"),
)


#: How the years follow each other, and what perfect foresight of them knows.
_MODES = {
    SimulationMode.CONTINUOUS: ("Storage carried through {years}", "perfect foresight knows the whole record"),
    SimulationMode.YEARLY: ("Every year from the plan's initial storage", "perfect foresight is the plan"),
}


def energy_table(evaluation: Evaluation, mode: SimulationMode) -> HtmlTable:
    """Energies of a mode by family, below those of perfect foresight."""
    units = evaluation.plan.units
    top = [_foresight_row("all", evaluation.foresight_gwh[mode], _foresight_spill_hm3(evaluation, mode), units)]
    test = evaluation.tests[0] if evaluation.tests and mode is SimulationMode.CONTINUOUS else None
    if test is not None and test.foresight_gwh is not None and test.foresight is not None:
        spill = test.foresight.spill_m3s.reshape(test.inflow.flow_m3s.shape) * test.inflow.calendar.hm3_per_m3s
        top.append(_foresight_row(TEST, test.foresight_gwh, float(spill.sum(axis=1).mean()), units))
    outside = {
        SimulationMode.CONTINUOUS: evaluation.foresight_violations.months > 0,
        SimulationMode.YEARLY: not evaluation.plan.keeps_limits.all(),
    }
    return scores_table(evaluation, mode, "energy", _ENERGY, top, top_marked=outside[mode])


def _foresight_row(years: str, energy_gwh: FloatArray, spill_hm3: float, units: UnitSystem) -> tuple[str, ...]:
    """What perfect foresight comes to."""
    best = {
        "mean_gwh": energy_gwh.mean(),
        "percent_of_foresight": 100.0,
        "regret_gwh": 0.0,
        "median_gwh": np.median(energy_gwh),
        "worst_decile_gwh": worst_decile(energy_gwh),
        "worst_gwh": energy_gwh.min(),
        "spill_hm3": spill_hm3,
    }
    return "perfect foresight", years, *(each.written(best.get(each.name, np.nan), units) for each in _ENERGY)


def _foresight_spill_hm3(evaluation: Evaluation, mode: SimulationMode) -> float:
    """Water that perfect foresight releases past the turbines in a year, mean of the years."""
    foresight, plan = evaluation.foresight, evaluation.plan
    continuous = (foresight.release_m3s - foresight.turbined_m3s).reshape(plan.spill_m3s.shape)
    spill = {SimulationMode.CONTINUOUS: continuous, SimulationMode.YEARLY: plan.spill_m3s}[mode]
    return float((spill * plan.inflow.calendar.hm3_per_m3s).sum(axis=1).mean())


def scores_table(
    evaluation: Evaluation,
    mode: SimulationMode,
    kind: str,
    shown: Sequence[ScoreColumn],
    top: Sequence[tuple[str, ...]] = (),
    *,
    top_marked: bool = False,
) -> HtmlTable:
    """Some columns of the scores of a mode by family, `kind` naming the table; those with months outside are marked.

    `top` are rows above the families', which are marked if `top_marked`.
    """
    scores, units = evaluation.scores_of(mode), evaluation.plan.units
    rows = [
        (result.family, str(score.sample), *(each.written(getattr(score, each.name), units) for each in shown))
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
            *(Column(each.title, units.label(each.unit)) for each in shown),
        ),
        rows=(*top, *rows),
        marked=frozenset(range(len(top)) if top_marked else ())
        | {len(top) + place for place, (_, each) in enumerate(scores) if each.months_violated},
    )
