"""A record operated by a rule: what it brings at equal end storage, how reliably, and which limits it violates.

Reliability, resilience and vulnerability: Hashimoto, Stedinger and Loucks 1982, Water Resour. Res. 18:14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.columns import MEAN_ENERGY, TABLES, shown
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.shortfalls import Shortfall, by_kind, step_by_step
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules import Rule
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.simulation import Simulation, Violations, beyond_bounds, simulate
from reservoir.rules.base.targets import TOLERANCE, Targets
from reservoir.rules.base.training import ROUNDING, parts_of_fit, parts_told, tell_part
from reservoir.solvers import Progress
from reservoir.solvers.engine import silent
from reservoir.text.quantities import counted, quantity

FloatArray = NDArray[np.float64]

#: Months outside their limits that are told one by one.
MOST_MONTHS = 1_000

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
    ``mean`` is at equal end storage, and ``end_storage_value`` is what it has been changed by for that.
    ``regret`` is what perfect foresight brings more; with ``percent_of_foresight``, which is not known of costs, it has
    in it what violations cost that foresight has not. Months that end with a storage outside its bounds, whatever the
    release, are counted as `reservoir.rules.base.simulation` has them; ``violation`` is the relative sum, of unmet
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

    @property
    def beside_foresight(self) -> str:
        """What it brings beside perfect foresight, in words."""
        if self.has_percent:
            return f"{self.percent_of_foresight:.2f} % of perfect foresight"
        return f"{quantity(self.regret)} {self.objective.unit}".strip() + " a year of regret"

    def as_dict(self) -> dict[str, Any]:
        """As a row of a table; benefits are named by their unit, and energy beside another objective has a column."""
        suffix, left_out = benefit_suffix(self.objective), {MEAN_ENERGY} if self.objective.is_energy else set()
        columns = [each for each in TABLES["scores"] if hasattr(self, each.name) and each.name not in left_out]
        return {column.benefit_name(suffix): getattr(self, column.name) for column in columns}


def benefit_suffix(objective: Objective) -> str:
    """What names of columns of benefits end with."""
    return "gwh" if objective.unit == "GWh" else "objective"


def service(values: FloatArray, target: float, tolerance: float = 0.0) -> ReliabilityMetrics:
    """Reliability, resilience and vulnerability of a series, or of a row a member, against a target to be reached.

    A value that falls short by no more than a part of the target, the tolerance, reaches it. Nothing is known against a
    target that is NaN.
    """
    if np.isnan(target):
        return ReliabilityMetrics(np.nan, np.nan, np.nan)
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


class SimulationMode(StrEnum):
    """How the years follow each other."""

    CONTINUOUS = "continuous"
    """The storage is carried over from year to year; perfect foresight knows the whole record."""
    YEARLY = "yearly"
    """Every year starts where the plan starts the first; perfect foresight knows the year."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordEvaluation(Simulation):
    """What a rule does with a record, its months, years and score.

    Parameters
    ----------
    reservoir, inflow, operation, asked_m3s, repaired, continuous, limits, notes
        As of `Simulation`.
    rules : sequence of Rule
        What decides, one a year: the same, or for each year a rule that has not seen it.
    start_hm3 : float
        Storage at the start of the record, or of every year; energies are compared at it.
    targets : Targets or None
        None where none are given and the reservoir guarantees nothing.
    made : ndarray, shape (years,)
        What each year brings, in the unit of the objective.
    end_value : ndarray, shape (years,)
        In the last year of the record, of each member or of every year, what the water is worth that is left more than
        by perfect foresight; else 0, and without foresight.
    foresight : Foresight or None
        Perfect foresight over the record, or of each member, or year.
    sample : str
        What the score calls the record.
    """

    rules: Sequence[Rule]
    start_hm3: float
    targets: Targets | None
    made: FloatArray
    end_value: FloatArray
    foresight: Foresight | None
    sample: str
    year_table: ClassVar[str] = "simulated_years"

    @property
    def rule(self) -> Rule:
        """The rule that decides; of several, that of the first year."""
        return self.rules[0]

    @property
    def objective(self) -> Objective:
        """What the reservoir is operated for."""
        return self.reservoir.objective

    @property
    def at_equal_storage(self) -> FloatArray:
        """What each year brings at equal end storage, whose sums are compared; one number a year."""
        return self.made + self.end_value

    @property
    def by_year(self) -> FloatArray:
        """What each year brings by itself: water left at the end of several years is no part of the last one."""
        several = self.continuous and self.inflow.years > self.inflow.member_count
        return self.made if several else self.at_equal_storage

    @property
    def foresight_benefit(self) -> FloatArray:
        """What perfect foresight brings in each year; NaN where it is not known."""
        return np.full_like(self.made, np.nan) if self.foresight is None else self.foresight.by_year.benefit

    @property
    def foresight_violations(self) -> Violations | None:
        """What no rule can keep, since perfect foresight does not."""
        return None if self.foresight is None else self.foresight.violations

    @cached_property
    def avoidable_violation(self) -> float:
        """Relative violations beyond those of perfect foresight; 0 for a rounding."""
        beyond = self.violations.relative - (self.foresight_violations.relative if self.foresight_violations else 0.0)
        return max(beyond, 0.0) if not beyond <= ROUNDING else 0.0

    @cached_property
    def charged(self) -> float:
        """What all years bring at equal end storage, less the penalty of what perfect foresight does not violate."""
        return float(self.at_equal_storage.sum()) - self.reservoir.penalty * self.avoidable_violation

    @cached_property
    def score(self) -> Score:
        """Its line in the table of scores; NaN in what cannot be known without targets or foresight."""
        objective, operation, violations = self.objective, self.operation, self.violations
        members, by_year = self.inflow.member_count, self.by_year
        targets = self.targets or Targets(np.nan, np.nan, np.nan, False, "")
        energy = by_year if objective.is_energy else self.energy_gwh
        yearly = service(energy.reshape(members, -1), targets.annual_gwh)
        power = operation.power_mw.reshape(members, -1)
        monthly, stricter = (service(power, mw, TOLERANCE) for mw in (targets.firm_mw, targets.firm_95_mw))
        best, sign = float(self.foresight_benefit.sum()), float(shown(objective, np.ones(1))[0])
        ends, lower = operation.storage_hm3[:, 1:], self.reservoir.storage_bounds_hm3[0]
        upper = self.limits.storage_upper_hm3
        slack = AT_LIMIT * float(upper.max())
        return Score(
            family=self.rule.family,
            sample=self.sample,
            mean=sign * float(self.at_equal_storage.mean()),
            percent_of_foresight=np.nan if objective.is_cost or not best > 0 else 100 * (self.charged / best),
            worst_decile=sign * worst_decile(by_year),
            worst=sign * float(by_year.min()),
            reliability=yearly.reliability,
            resilience=yearly.resilience,
            vulnerability=yearly.vulnerability,
            spill_hm3=float((operation.spill_m3s * self.inflow.calendar.hm3_per_m3s).sum(axis=1).mean()),
            repairs=int(self.repaired.sum()),
            run=SimulationMode.CONTINUOUS if self.continuous else SimulationMode.YEARLY,
            median=sign * float(np.median(by_year)),
            regret=(best - self.charged) / len(self.made),
            firm_reliability=monthly.reliability,
            firm_resilience=monthly.resilience,
            firm_vulnerability=monthly.vulnerability,
            firm_95_reliability=stricter.reliability,
            supply_reliability=self.supply_reliability,
            months_at_limit=int(((ends <= lower + slack) | (ends >= upper - slack)).sum()),
            end_storage_value=sign * float(self.end_value.mean()),
            months_violated=violations.months,
            largest_violation_hm3=violations.largest_hm3,
            violation=violations.relative,
            months_unmet=violations.unmet_months,
            mean_energy_gwh=float(self.energy_gwh.mean()),
            objective=objective,
        )

    def shortfalls(self, units: UnitSystem = SI, *, each_month: bool = True) -> list[str]:
        """Months in which no release could keep the storage within its limits, or the minimum flow.

        A sentence for each month, or for all that miss the same. The first names a start below dead storage; the last
        the months in which perfect foresight does not keep them either, which its energy does not show.
        """
        lower, missing = self.reservoir.storage_bounds_hm3[0], self.operation.missing_m3s
        upper = self.limits.storage_upper_hm3
        beyond = beyond_bounds(self.reservoir, self.operation.storage_hm3[:, 1:], upper)
        sentences = []
        dead = float(self.reservoir.storage_lower_hm3.min())
        if self.start_hm3 < dead - ROUNDING * float(upper.max()):
            starts, least = (units.written(each, "hm3", ",.6g") for each in (self.start_hm3, dead))
            sentences.append(
                f"The storage at the start, {starts}, is below dead storage, {least}: nothing is released before the "
                "lake is above it."
            )

        def outside(year: int, step: int) -> Shortfall:
            above = beyond[year, step] > 0
            where, bound = ("above its upper", upper[year, step]) if above else ("below its lower", lower[step])
            most = units.written(float(abs(beyond[year, step])), "hm3", ",.4g")
            limit = units.written(float(bound), "hm3", ",.6g")
            sentence = f"the storage at the end of the month is {most} {where} limit of {limit}"
            size = float(abs(beyond[year, step]))
            return Shortfall(year, step, where, size, f"{sentence}; no permitted release avoids this")

        def short(year: int, step: int) -> Shortfall:
            lacking = float(missing[year, step])
            sentence = f"{units.written(lacking, 'm3s', ',.4g')} are missing of the minimum release; there is no more"
            return Shortfall(year, step, "minimum release", lacking, f"{sentence} water above dead storage")

        for months, said in ((np.argwhere(beyond != 0), outside), (np.argwhere(missing > 0), short)):
            if not each_month:
                sentences += by_kind((said(*month) for month in months.tolist()), self.inflow)
                continue
            sentences += step_by_step((said(*month) for month in months[:MOST_MONTHS].tolist()), self.inflow)
            if len(months) > MOST_MONTHS:
                sentences.append(f"So it is in {len(months) - MOST_MONTHS:,} more months; simulation.csv lists them.")
        best = self.foresight_violations
        if best and best.months:
            by = f"{counted(best.months, 'month')} by up to {units.written(best.largest_hm3, 'hm3', ',.3g')}"
            sentences.append(f"Perfect foresight violates the storage limits too, in {by}: its energy includes these.")
        return sentences


def evaluate_record(
    rule: Rule,
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    start_hm3: float | None = None,
    continuous: bool = True,
    targets: Targets | None = None,
    foresight: bool = True,
    sample: str = "record",
    progress: StageProgress = silent_stage,
) -> RecordEvaluation:
    """Operate a record by a rule.

    Parameters
    ----------
    start_hm3 : float, optional
        Storage at the start; by default the reservoir's initial storage.
    continuous : bool
        Carry the storage from year to year, instead of starting every year anew.
    targets : Targets, optional
        By default what the reservoir guarantees.
    foresight : bool
        Also operate with perfect foresight: over the whole record, or in every year. Without it, nobody knows what
        water left at the end is worth.
    sample : str
        What the score calls the record.

    Raises
    ------
    InputError
        If record and reservoir begin their water years in different months, or there is no storage to start with.
    """
    inflow = System.of(reservoir).on_calendar(inflow)
    start = reservoir.initial_storage_hm3 if start_hm3 is None else start_hm3
    if start is None:
        problem = f"{reservoir.name} has no initial storage, since its years are cyclic"
        raise InputError(problem, mend="give the level at the start of the record", column="--level")
    model, solved = ReservoirModel.of(reservoir), partial(progress, "perfect foresight")
    best = Foresight.of(model, inflow, start, solved, continuous=continuous) if foresight else None
    aims = targets or Targets.of_reservoir(reservoir)
    told = partial(progress, SIMULATION)
    known = model, inflow, start, best, aims, [sample], solved
    return evaluate_rules([[rule] * inflow.years], *known, continuous=continuous, simulated=told)[0]


#: What the simulation of rules is called beside other stages.
SIMULATION = "simulate rules"


def evaluate_rules(
    rules: Sequence[Sequence[Rule]],
    model: ReservoirModel,
    inflow: Inflow,
    start_hm3: float,
    foresight: Foresight | None,
    targets: Targets | None,
    samples: Sequence[str],
    progress: Progress = silent,
    *,
    continuous: bool = True,
    simulated: Callable[[float, int], None] = silent,
) -> list[RecordEvaluation]:
    """Operate a record several times, and score the runs; see `evaluate_record`.

    Parameters
    ----------
    rules : sequence of sequence of Rule
        What decides each time, one a year.
    foresight : Foresight or None
        Of the same record from the same storage, with as continuous a storage.
    samples : sequence of str
        What the score of each calls the record.
    progress, simulated : callable
        Told of perfect foresight, and how many of how many months are simulated.
    """
    months = len(rules) * inflow.flow_m3s.size
    with parts_told(lambda part: simulated(round(part * months), months)):
        each_time = parts_of_fit(rules)
        runs = [simulate(of_years, model, inflow, start_hm3, continuous=continuous) for of_years in each_time]
        tell_part(1.0)
    end_values = np.zeros((len(runs), inflow.years))
    if foresight is not None:  # without it, nobody knows what water left is worth
        end_values = foresight.end_values([run.operation for run in runs], progress)
    return [
        RecordEvaluation(
            **vars(run),
            rules=of_years,
            start_hm3=start_hm3,
            targets=targets,
            made=run.operation.benefit,
            end_value=end_value,
            foresight=foresight,
            sample=sample,
        )
        for of_years, run, end_value, sample in zip(rules, runs, end_values, samples, strict=True)
    ]
