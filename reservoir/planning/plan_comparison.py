"""Plans side by side: what each comes to beside the first, the base, in the years that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.planning.columns import FIRM_POWER, FIRM_QUANTILE, OBJECTIVE, TABLES, column_of
from reservoir.planning.planned_record import Plan
from reservoir.planning.sentences import listed
from reservoir.planning.system_plan import SystemPlan
from reservoir.text.quantities import counted

#: A change of spill by a smaller part is none: plans of equal energy differ by as much.
ALIKE_SPILL = 0.05
#: What rows of all reservoirs of a system are called.
WHOLE = "system"
_CHANGE = "_change"
Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ComparedPlan:
    """A plan beside the base.

    Parameters
    ----------
    name : str
    plan : Plan or SystemPlan
    years, compared : ndarray of int
        Places in the plan of the years that the base has too, and of those that keep their limits in both.
    rows : tuple of mapping of str to object
        Rows of the table ``compared_plans`` (`reservoir.planning.columns`): of the plan; of a system also of each of
        its reservoirs.
    """

    name: str
    plan: Plan | SystemPlan
    years: Places
    compared: Places
    rows: tuple[Mapping[str, Any], ...]

    @property
    def failing(self) -> tuple[str, ...]:
        """Years in common with the base that violate their limits."""
        return tuple(self.plan.inflow.labels[place] for place in self.years if not self.plan.keeps_limits[place])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What must be known before any number is compared: years that fail, and those that the base has not."""
        years, kept, whole = len(self.years), len(self.compared), self.plan.inflow.years
        said = []
        if failing := self.failing:
            named = listed(failing)
            said.append(f"{self.name}: {len(failing):,} of {counted(years)} violate their limits ({named})")
        if kept < years:
            compared = f"the {counted(kept)} that keep their" if kept else "no years: none keeps its"
            said.append(f"{self.name}: compared are {compared} limits in it and in the base")
        if years < whole:
            said.append(f"{self.name}: {counted(years)} of its {whole:,} are compared: the base has no others")
        return tuple(said)


def compared_plans(plans: Mapping[str, Plan | SystemPlan]) -> tuple[ComparedPlan, ...]:
    """Compare plans with the first of them, the base.

    Parameters
    ----------
    plans : mapping of str to Plan or SystemPlan
        By their names; either all of one reservoir or all of systems.

    Raises
    ------
    InputError
        If some have no year of the base, or are of a system and others of one reservoir.
    """
    names, (base, *_) = [*plans], plans.values()
    goals = {(each.objective.title, each.objective.unit) for each in plans.values()}
    beside_energy = len(goals) == 1 and not base.objective.is_energy
    return tuple(_compared(name, each, names[0], base, beside_energy) for name, each in plans.items())


def _compared(
    name: str, plan: Plan | SystemPlan, of_base: str, base: Plan | SystemPlan, beside_energy: bool
) -> ComparedPlan:
    if isinstance(plan, SystemPlan) != isinstance(base, SystemPlan):
        kinds = "one reservoir", "a system of several"
        problem, mend = f"is of {kinds[isinstance(plan, SystemPlan)]}", "compare plans of one kind"
        raise InputError(f"the plan {problem}", f"of {kinds[isinstance(base, SystemPlan)]}, as {of_base}", mend, name)
    in_base, in_plan = common_years(base.inflow, plan.inflow)
    if not in_plan.size:
        spans = f"{plan.inflow.span_text} against {base.inflow.span_text}"
        problem = f"the plan has no year in common with {of_base} ({spans})"
        raise InputError(problem, "years of the same days and members", "compare plans of the same record", name)
    kept = plan.keeps_limits[in_plan] & base.keeps_limits[in_base]
    parts: list[tuple[str, Any, Any]] = [(WHOLE, plan, base)]
    if isinstance(plan, SystemPlan) and isinstance(base, SystemPlan):
        parts += [(site, each, base.sites.get(site)) for site, each in plan.sites.items()]
    rows = []
    for part, own, others in parts:
        figures = _figures(own, in_plan[kept], beside_energy and part == WHOLE)
        theirs = _figures(others, in_base[kept], beside_energy and part == WHOLE) if others is not None else {}
        changes = {
            changed: figures[column] - theirs.get(column, nan)
            for column, changed in CHANGES.items()
            if column in figures
        }
        about = {"plan": name, **({"reservoir": part} if len(parts) > 1 else {}), "years": len(in_plan)}
        about |= {"failing_years": int((~own.keeps_limits[in_plan]).sum()), "compared_years": int(kept.sum())}
        values = about | figures | changes
        rows.append({column.name: values[column.name] for column in TABLES["compared_plans"] if column.name in values})
    return ComparedPlan(name, plan, in_plan, in_plan[kept], tuple(rows))


#: Columns of changes by those that change.
CHANGES = {
    before.name: after.name
    for before, after in zip(TABLES["compared_plans"], TABLES["compared_plans"][1:], strict=False)
    if _CHANGE in after.name
}


def common_years(one: Inflow, other: Inflow) -> tuple[Places, Places]:
    """Places in two records of the years of the same days, and of ensembles of the same member; in their order."""

    def keys(record: Inflow) -> list[tuple[Any, ...]]:
        edges, members = record.calendar.edges, record.member_of_year
        names = [""] * record.years if members is None else members.tolist()
        return list(zip(names, edges[:, 0].tolist(), edges[:, -1].tolist(), strict=True))

    places = {key: place for place, key in enumerate(keys(other))}
    pairs = [(place, places[key]) for place, key in enumerate(keys(one)) if key in places]
    first, second = np.array(pairs, np.intp).reshape(-1, 2).T
    return first, second


def _figures(record: Any, years: Places, beside_energy: bool) -> dict[str, Any]:
    """Columns of a row that are of some years of a plan, or of one of its reservoirs; NaN where there are none."""
    numbers = (
        "energy_gwh",
        *[OBJECTIVE] * beside_energy,
        "worst_energy_gwh",
        "lowest_power_mw",
        FIRM_POWER,
        "spill_hm3",
    )
    if not years.size:
        return {**dict.fromkeys(numbers, nan), "worst_year": ""}
    energy, power = record.energy_gwh[years], record.operation.power_mw[years]
    spill = column_of(record.year_table, "spill_hm3", record)
    assert spill is not None
    worst = int(energy.argmin())
    values = (energy.mean(), *([record.benefit[years].mean()] if beside_energy else []), energy[worst], power.min())
    values = (*values, np.quantile(power, FIRM_QUANTILE), spill[years].mean())
    return dict(zip(numbers, map(float, values), strict=True)) | {"worst_year": record.inflow.labels[years[worst]]}


def alike_spill(row: Mapping[str, Any]) -> bool:
    """Whether the spill of a row is about that of the base: equal energy does not mean equal spill."""
    spill, change = row["spill_hm3"], row[CHANGES["spill_hm3"]]
    return isfinite(change) and abs(change) <= ALIKE_SPILL * max(spill, spill - change)


def with_best_rules(plans: Sequence[ComparedPlan], rules: Sequence[tuple[str, float] | None]) -> list[dict[str, Any]]:
    """Rows of all plans with the family of each plan's best rule and its part of foresight, in per cent, if known."""
    of_base = nan if rules[0] is None else rules[0][1]
    rows = []
    for plan, rule in zip(plans, rules, strict=True):
        family, percent = rule or ("", nan)
        best = {"percent_of_foresight": percent, "percent_of_foresight_change": percent - of_base, "best_rule": family}
        none = {**dict.fromkeys(best, nan), "best_rule": ""}
        rows += [{**row, **(none if place else best)} for place, row in enumerate(plan.rows)]
    return rows
