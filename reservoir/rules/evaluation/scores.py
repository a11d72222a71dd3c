"""How well a rule serves: what it brings at equal end storage, and reliability, resilience and vulnerability.

Hashimoto, Stedinger and Loucks 1982, Water Resour. Res. 18:14.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objectives import Objective
from reservoir.planning.columns import shown
from reservoir.rules.base.foresight import Account
from reservoir.rules.base.simulation import Simulation
from reservoir.rules.base.targets import TOLERANCE, Targets
from reservoir.rules.base.violations import ROUNDING

FloatArray = NDArray[np.float64]

#: Part of the years, the poorest, whose mean is the worst decile.
DECILE = 0.1
#: A storage this close to a bound, as a part of the largest storage, is at the bound.
AT_LIMIT = 1e-6


@dataclass(frozen=True)
class ReliabilityMetrics:
    """How often and how far a target is met.

    ``reliability`` is the part of the periods that meet the target. ``resilience`` is that of the failing periods which
    are followed by one that meets it, 1 where none fails; a failure in the very last period is not counted, since
    nothing follows it. ``vulnerability`` is the mean shortfall of the failing periods, as a part of the target, 0 where
    none fails.
    """

    reliability: float
    resilience: float
    vulnerability: float


@dataclass(frozen=True)
class Score:
    """One line of the table of scores.

    Benefits are those of a year in the unit of the objective, GWh where it is energy; costs without their sign.
    ``mean`` is at equal end storage (`accounts`), and ``end_storage_value`` is what it has been changed by for that.
    ``regret`` is what perfect foresight brings more; with ``percent_of_foresight``, which is not known of costs, it has
    in it what violations cost that foresight has not. Months that end with a storage outside its bounds, whatever the
    release, are counted as `reservoir.rules.base.violations` has them; ``violation`` is the relative sum, of unmet
    demands too, which are those of ``months_unmet``. ``supply_reliability`` is the part of the months that deliver what
    is demanded of the water.
    """

    family: str
    sample: str
    mean: float
    percent_of_foresight: float
    worst_decile: float
    worst: float
    reliability: float
    resilience: float
    vulnerability: float
    spill_hm3: float
    repairs: int
    run: str
    median: float
    regret: float
    firm_reliability: float
    firm_resilience: float
    firm_vulnerability: float
    firm_95_reliability: float
    supply_reliability: float
    months_at_limit: int
    end_storage_value: float
    months_violated: int
    largest_violation_hm3: float
    violation: float
    months_unmet: int
    mean_energy_gwh: float
    objective: Objective

    @property
    def has_percent(self) -> bool:
        """Whether the percentage says anything: of costs there is none, and below 0 violations cost more than all."""
        return self.percent_of_foresight >= 0

    def as_dict(self) -> dict[str, Any]:
        """As a row of a table; benefits are named by their unit, and energy beside another objective has a column."""
        row = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "objective"}
        if self.objective.is_energy:
            del row["mean_energy_gwh"]
        return {benefit_column(name, self.objective): value for name, value in row.items()}


#: Columns that are benefits.
BENEFITS = ("mean", "worst_decile", "worst", "median", "regret", "end_storage_value")


def benefit_column(name: str, objective: Objective) -> str:
    """Name of a column in tables."""
    return f"{name}_{benefit_suffix(objective)}" if name in BENEFITS else name


def benefit_suffix(objective: Objective) -> str:
    """What names of columns of benefits end with."""
    return "gwh" if objective.unit == "GWh" else "objective"


def service(values: FloatArray, target: float, tolerance: float = 0.0) -> ReliabilityMetrics:
    """Reliability, resilience and vulnerability of a series, or of a row a member, against a target to be reached.

    A value that falls short by no more than a part of the target, the tolerance, reaches it.
    """
    failed = np.asarray(values) < target * (1 - tolerance)
    followed = failed[..., :-1]
    recovered = followed & ~failed[..., 1:]
    shortfall = (target - np.asarray(values)[failed]) / target
    return ReliabilityMetrics(
        float(1 - failed.mean()),
        float(recovered.sum() / followed.sum()) if followed.any() else 1.0,
        float(shortfall.mean()) if failed.any() else 0.0,
    )


def worst_decile(benefit: FloatArray) -> float:
    """Mean of the poorest tenth of the years, at least one."""
    return float(np.sort(benefit)[: max(1, round(DECILE * len(benefit)))].mean())


def score(
    simulation: Simulation,
    account: Account,
    targets: Targets | None,
    unavoidable: float = 0.0,
    *,
    family: str,
    run: str,
    sample: str,
) -> Score:
    """Score a simulation against perfect foresight of the same years.

    Parameters
    ----------
    account : Account
        What it brings, and what perfect foresight does.
    targets : Targets or None
        A year's energy and a month's power, if they are known.
    unavoidable : float
        Relative violations of perfect foresight.
    family, run, sample : str
        Name the line of the table.
    """
    operation, members, reservoir = simulation.operation, simulation.members, simulation.reservoir
    objective, violations = reservoir.objective, simulation.violations
    targets = targets or Targets(np.nan, np.nan, np.nan, False, "")
    years, by_year = len(account.made), account.by_year
    energy = by_year if objective.is_energy else operation.annual_energy_gwh
    yearly = service(energy.reshape(members, -1), targets.annual_gwh)
    power = operation.power_mw.reshape(members, -1)
    monthly, stricter = (service(power, each, TOLERANCE) for each in (targets.firm_mw, targets.firm_95_mw))
    charge = reservoir.penalty * avoidable(violations.relative, unavoidable)
    brought, best = float(account.at_equal_storage.sum()) - charge, float(account.foresight.sum())
    sign = float(shown(objective, np.ones(1))[0])
    return Score(
        family=family,
        sample=sample,
        mean=sign * float(account.at_equal_storage.mean()),
        percent_of_foresight=np.nan if objective.is_cost or not best > 0 else 100 * (brought / best),
        worst_decile=sign * worst_decile(by_year),
        worst=sign * float(by_year.min()),
        reliability=yearly.reliability,
        resilience=yearly.resilience,
        vulnerability=yearly.vulnerability,
        spill_hm3=float((operation.spill_m3s * simulation.hm3_per_m3s).sum(axis=1).mean()),
        repairs=int(simulation.repaired.sum()),
        run=run,
        median=sign * float(np.median(by_year)),
        regret=(best - brought) / years,
        firm_reliability=monthly.reliability,
        firm_resilience=monthly.resilience,
        firm_vulnerability=monthly.vulnerability,
        firm_95_reliability=stricter.reliability,
        supply_reliability=simulation.supply_reliability,
        months_at_limit=_months_at_limit(simulation),
        end_storage_value=sign * float(account.end_value.mean()),
        months_violated=violations.months,
        largest_violation_hm3=violations.largest_hm3,
        violation=violations.relative,
        months_unmet=violations.unmet_months,
        mean_energy_gwh=float(operation.annual_energy_gwh.mean()),
        objective=objective,
    )


def avoidable(violation: float, unavoidable: float) -> float:
    """Relative violations beyond those of perfect foresight; 0 for a rounding."""
    beyond = violation - unavoidable
    return max(beyond, 0.0) if not beyond <= ROUNDING else 0.0


def _months_at_limit(simulation: Simulation) -> int:
    ends = simulation.operation.storage_hm3[:, 1:]
    lower, upper = simulation.reservoir.storage_bounds_hm3
    slack = AT_LIMIT * float(upper.max())
    return int(((ends <= lower + slack) | (ends >= upper - slack)).sum())
