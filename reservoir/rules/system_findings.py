"""What rules of a system do otherwise than perfect foresight: where they lose, spill and keep more or less water."""

from __future__ import annotations

from reservoir.rules.system_evaluation import SystemEvaluation, SystemRun
from reservoir.text.quantities import counted, quantity

#: A mean storage that differs by less than this part of the range of storages is told of no reservoir.
_APART = 0.02
#: Nor is spill told that is more than foresight's by less than this part of what a reservoir releases.
_SPILL = 0.002


def system_findings(evaluation: SystemEvaluation) -> dict[str, str]:
    """What each family gets wrong in years that it has not seen, by the family, the best first."""
    return {run.family: f"{'; '.join(_said(evaluation, run))}." for run in evaluation.ranked}


def _said(evaluation: SystemEvaluation, run: SystemRun) -> list[str]:
    plan, years = evaluation.plan, len(run.by_year)
    unit, units = f" {plan.objective.unit}".rstrip(), plan.units
    regret = (run.best - run.charged) / years
    percent = f" ({100 * regret * years / run.best:.2f} %)" if run.best > 0 else ""
    said = [f"{quantity(regret)}{unit} a year{percent} less than perfect foresight"]
    best, by_year = evaluation.foresight.operation.in_years(run.years.steps), run.by_year
    sites = list(zip(plan.system.reservoirs, by_year.of_reservoirs, best.of_reservoirs, strict=True))
    lost = {each.name: float((other.benefit - own.benefit).mean()) for each, own, other in sites}
    worst = max(lost, key=lambda name: lost[name])
    if len(lost) > 1 and lost[worst] > 0:
        said.append(f"most of it at {worst}, which makes {quantity(lost[worst])}{unit} a year less")
    for each, own, other in sites:
        volume = by_year.hm3_per_m3s
        more = float(((own.spill_m3s - other.spill_m3s) * volume).sum(axis=1).mean())
        if more > _SPILL * float((own.release_m3s * volume).sum(axis=1).mean()):
            said.append(f"{each.name} spills {units.written(more, 'hm3')} a year more")
        lower, upper = each.storage_bounds_hm3
        apart = float((own.storage_hm3 - other.storage_hm3).mean())
        if abs(apart) > _APART * float(upper.max() - lower.min()):
            side = "higher" if apart > 0 else "lower"
            said.append(f"{each.name} stands {units.written(abs(apart), 'hm3')} {side} on average")
    for place, (each, _, _) in enumerate(sites):
        missed = run.violations(place)
        if missed.months:
            said.append(f"{each.name} ends {counted(missed.months, 'month')} outside its limits")
        if missed.unmet_months:
            said.append(f"{each.name} misses a demand in {counted(missed.unmet_months, 'month')}")
    return said
