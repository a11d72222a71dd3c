"""What a planner looks for first in a plan: energy, the worst year, firm power, spill, and the use of the plant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reservoir.planning.columns import FIRM_QUANTILE, column_of
from reservoir.planning.planned_record import Plan
from reservoir.planning.sentences import chosen, objective_sentence
from reservoir.planning.solving import REFERENCE_SOLVERS
from reservoir.text.quantities import counted, percentage, quantity

#: Part of the inflow; less is not told as spill.
_LEAST_SPILL = 1e-3
#: A power is reached within this part, as rules count it.
_NEARLY = 0.01
#: A gap below this part is not told in figures.
_LEAST_GAP = 1e-6
#: What is written of a power that is exceeded in all but `FIRM_QUANTILE` of the steps.
FIRM = f"{100 * (1 - FIRM_QUANTILE):g} % of the"


class KeyFigures(NamedTuple):
    """Of the years, or scenarios, that keep their limits; energy and spill are means of one."""

    energy_gwh: float
    worst_year: str
    worst_energy_gwh: float
    best_year: str
    best_energy_gwh: float
    #: Exceeded in all but `FIRM_QUANTILE` of the steps.
    firm_power_mw: float
    lowest_power_mw: float
    spill_hm3: float
    #: Of the inflow.
    spill_fraction: float
    #: Mean power over the installed capacity.
    capacity_factor: float


def key_figures(plan: Plan) -> KeyFigures | None:
    """The key figures of a plan; None where no year keeps its limits."""
    kept, energy, calendar = plan.keeps_limits, plan.kept_energy_gwh, plan.inflow.calendar
    spills = column_of("summary", "spill_hm3", plan)
    if not energy.size or spills is None:
        return None
    power, labels = plan.operation.power_mw[kept], chosen(plan.inflow.labels, kept)
    worst, best, spill = int(energy.argmin()), int(energy.argmax()), float(spills[kept].mean())
    inflow = float((plan.inflow.flow_m3s * calendar.hm3_per_m3s)[kept].sum(axis=1).mean())
    return KeyFigures(
        float(energy.mean()),
        *(labels[worst], float(energy[worst])),
        *(labels[best], float(energy[best])),
        *(float(np.quantile(power, FIRM_QUANTILE)), float(power.min())),
        *(spill, spill / inflow if inflow > 0 else 0.0),
        float(energy.mean()) * 1e3 / (plan.reservoir.installed_mw * 24 * float(calendar.days[kept].sum(axis=1).mean())),
    )


def spill_words(figures: KeyFigures, plan: Plan) -> tuple[str, str]:
    """The spill of a year, and what part of the inflow it is, in words."""
    if figures.spill_fraction < _LEAST_SPILL:
        return "none", f"less than {percentage(_LEAST_SPILL)} of the inflow"
    return plan.units.stated(figures.spill_hm3, "hm3"), f"{percentage(figures.spill_fraction)} of the inflow"


def gap_percentage(gap: float) -> str:
    """A gap in per cent, as far as it tells anything."""
    return "0 %" if gap == 0 else percentage(gap) if abs(gap) >= _LEAST_GAP else f"less than {100 * _LEAST_GAP:.4f} %"


def gap_words(plan: Plan) -> str:
    """How far the worst year is below the best that dynamic programming finds; empty without a reference."""
    if not plan.references or plan.solutions.solver in REFERENCE_SOLVERS or np.isnan(plan.gap).all():
        return ""
    worst, best = int(np.nanargmax(plan.gap)), "the best that dynamic programming finds"
    gap = float(plan.gap[worst])
    if gap <= 0:
        return f"none: every {plan.problem_word} is {'at least as good as ' if gap else ''}{best}"
    if gap < _LEAST_GAP:
        return f"{gap_percentage(gap)} below {best}"
    return f"at most {gap_percentage(gap)} ({plan.inflow.labels[worst]}) below {best}"


def key_sentences(plan: Plan) -> list[tuple[str, str]]:
    """Lines of a screen: what each is on, and what it says."""
    figures, one = key_figures(plan), plan.year_word
    if figures is None:
        return [("Energy", f"none: no {one} satisfies its limits ({plan.inflow.years} {one}s)")]
    count = len(plan.kept_energy_gwh)
    of = f"{counted(count, one)}{'' if plan.keeps_limits.all() else ' that satisfy their limits'}"
    mean = f"{quantity(figures.energy_gwh)} GWh a {one}"
    ends = (
        f"worst {quantity(figures.worst_energy_gwh)} ({figures.worst_year}), "
        f"best {quantity(figures.best_energy_gwh)} ({figures.best_year})"
    )
    total = f"mean of {of}" if plan.start else f"{quantity(float(plan.kept_energy_gwh.sum()))} GWh in {of}"
    steps = f"{plan.inflow.calendar.step.noun}s"
    spill, part = spill_words(figures, plan)
    energy = f"{mean}; {ends}; {total}" if count > 1 else mean if plan.start else total
    power = (
        f"{quantity(figures.firm_power_mw)} MW firm ({FIRM} {steps}), {quantity(figures.lowest_power_mw)} MW lowest; "
        f"capacity factor {percentage(figures.capacity_factor)}"
    )
    if asked := plan.reservoir.guaranteed_power_mw:
        given = float((plan.operation.power_mw[plan.keeps_limits] >= asked * (1 - _NEARLY)).mean())
        power += f"; the guaranteed {quantity(asked)} MW in {percentage(given)} of the {steps}"
    lines = [
        ("Objective", objective_sentence(plan)),
        ("Energy", energy),
        ("Power", power),
        ("Spill", f"{spill} ({part})" if spill == "none" else f"{spill} a {one}, {part}"),
        ("Gap", gap_words(plan)),
    ]
    return [line for line in lines if line[1]]
