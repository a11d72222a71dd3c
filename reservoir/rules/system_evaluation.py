"""Let rules operate the record of a system, held out by blocks, against joint perfect foresight with the same ends.

Perfect foresight of a system is the best joint schedule found of the record as one problem. It is found anew for the
storages at which each run ends, and from the run itself where that were better: a run is one of its schedules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.objectives import RECORD, Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation
from reservoir.planning.checks import Check, operated_checks
from reservoir.planning.columns import TABLES, shown
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.planning.system_plan import SystemPlan, optimise_system
from reservoir.planning.system_search import FINISH
from reservoir.problems.system import SystemYears, system_problems
from reservoir.rules import FAMILIES, Forecast, fit
from reservoir.rules.base.foresight import LAST_YEARS
from reservoir.rules.base.simulation import Violations
from reservoir.rules.base.system_training import SystemTraining, operated_years
from reservoir.rules.base.training import ROUNDING, FloatArray, blocks, outside
from reservoir.rules.evaluation import FOLDS, FORESIGHT, Sample
from reservoir.rules.families import separable_operation
from reservoir.rules.families.separable import SEPARABLE, Separable, SystemRule
from reservoir.rules.families.system_replan import REPLAN
from reservoir.rules.scores import SIMULATION, benefit_suffix
from reservoir.rules.system_simulation import asked_by

if TYPE_CHECKING:
    import pandas as pd

    from reservoir.rules.system_bound import RuleBound

#: How families of all reservoirs together are fitted.
_TOGETHER = {SEPARABLE: separable_operation.fit, REPLAN: separable_operation.fit_replan}
#: Families that a system takes: its own, and those that follow the joint plan, a rule a reservoir. Others make the most
#: of one reservoir, whatever that costs below.
SYSTEM_FAMILIES = (*_TOGETHER, *(name for name, family in FAMILIES.items() if family.follows_plan))
#: Those that are fitted where none is named: all but the one that takes longest.
USUAL_FAMILIES = tuple(family for family in SYSTEM_FAMILIES if family != REPLAN)
#: The row of all reservoirs together.
ALL = "system"


@dataclass(frozen=True, eq=False)
class SystemForesight:
    """The record of a system operated with perfect foresight, from storages and back to them.

    Parameters
    ----------
    system : System
        Begun at the storages, and ending there.
    inflows : SiteInflows
    operation : SystemOperation
        One horizon.
    """

    system: System
    inflows: SiteInflows
    operation: SystemOperation

    @classmethod
    def of(cls, system: System, inflows: SiteInflows) -> SystemForesight:
        """The best schedule found."""
        return cls(system, inflows, _found(system, inflows).as_horizons(1))

    @property
    def words(self) -> str:
        """What it is, for those who read scores."""
        return "the best joint schedule found of the whole record with the same ends; no bound of it is proved"

    @property
    def _starts(self) -> FloatArray:
        return self.operation.stacked("storage_hm3")[0, :, 0]

    def ending_with(self, run: SystemOperation) -> SystemOperation:
        """Perfect foresight that ends where a run ends; no less than the run, which it begins with if need be."""
        ends = np.array(
            [
                np.clip(own.storage_hm3[0, -1], *each.storage_bounds_hm3[:, -1])
                for own, each in zip(run.of_reservoirs, self.system.reservoirs, strict=True)
            ]
        )
        system, years, steps = self.system.between(self._starts, ends), self.inflows.years, self.inflows.steps
        last = LAST_YEARS if years > 2 * LAST_YEARS else years
        from_step = (years - last) * steps
        storages = self.operation.stacked("storage_hm3")
        if np.abs(ends - storages[0, :, -1]).max() <= ROUNDING * max(float(storages.max()), 1.0):
            best = self.operation
        else:
            end = self.system.between(storages[0, :, from_step], ends)
            links = [replace(each, before_m3s=self._before(each.source, from_step)) for each in end.links]
            end = replace(end, links=tuple(links)) if from_step else end
            later = _found(end, self.inflows.span(years - last, years)).as_horizons(1).stacked("storage_hm3")
            joined = np.concatenate([storages[:, :, :from_step], later], axis=2)
            best = _record(system, self.inflows).operate_storages(joined)
        if best.fitness(system.penalty)[0] < run.fitness(system.penalty)[0]:
            best = _found(system, self.inflows, run.in_years(steps)).as_horizons(1)
        return best

    def _before(self, source: str, step: int) -> float:
        """What a reservoir releases in the step before one."""
        own = self.operation.of_reservoirs[self.system.names.index(source)]
        return float(own.release_m3s[0, step - 1])


def _found(system: System, inflows: SiteInflows, initial: SystemOperation | None = None) -> SystemOperation:
    """The best schedule found of a record as one problem."""
    return optimise_system(system, inflows, solver=FINISH, horizon=RECORD, initial=initial).operation


def _record(system: System, inflows: SiteInflows) -> SystemYears:
    """A record as one problem."""
    problems: Any = system_problems(system, inflows, Horizon.of(RECORD))
    years: SystemYears = problems.batches[0]
    return years


@dataclass(frozen=True, eq=False)
class SystemRun:
    """What rules make of the record.

    Parameters
    ----------
    family, sample : str
    operation : SystemOperation
        One horizon.
    foresight : SystemOperation
        Perfect foresight that ends where the run does.
    end_value : float
        What water is worth that is left more than at the start, in the unit of the objective: how much less perfect
        foresight brings that ends with it.
    best : float
        What perfect foresight brings that ends where it began.
    years : SystemYears
        Of the record, with local inflow.
    """

    family: str
    sample: str
    operation: SystemOperation
    foresight: SystemOperation
    end_value: float
    best: float
    years: SystemYears

    @property
    def charged(self) -> float:
        """What all years bring at equal end storage, less the penalty of what perfect foresight does not violate."""
        beyond = float(self.operation.violation_sum[0] - self.foresight.violation_sum[0])
        cost = self.operation.system.penalty * beyond if beyond > ROUNDING else 0.0
        return float(self.operation.benefit[0]) + self.end_value - cost

    @property
    def above_foresight(self) -> float:
        """What is brought more than perfect foresight with the same ends, as a part of that."""
        return (self.charged - self.end_value - float(self.foresight.benefit[0])) / max(abs(self.best), 1e-9)

    @cached_property
    def by_year(self) -> SystemOperation:
        """The same, a row a year."""
        return self.operation.in_years(self.years.steps)

    def violations(self, place: int) -> Violations:
        """Of a reservoir."""
        own, arriving = self.years.years[place], self.by_year.arriving_m3s[place]
        limits = own.limits.linked(arriving, None)
        return Violations.of_operation(limits, own.model.reservoir, self.by_year.of_reservoirs[place])

    def rows(self) -> list[dict[str, Any]]:
        """A row of scores for all reservoirs together, and one for each."""
        operation, objective = self.by_year, self.operation.system.objective
        missed = [self.violations(place) for place in range(len(operation.of_reservoirs))]
        count, sign = len(operation), float(shown(objective, np.ones(1))[0])
        volume = operation.hm3_per_m3s
        of_sum: dict[str, Any] = {
            "reservoir": ALL,
            "mean": sign * (float(operation.benefit.sum()) + self.end_value) / count,
            "percent_of_foresight": 100 * self.charged / self.best if self.best > 0 else np.nan,
            "regret": (self.best - self.charged) / count,
            "worst": sign * float(operation.benefit.min()),
            "end_storage_value": sign * self.end_value / count,
            "spill_hm3": float((operation.total("spill_m3s") * volume).sum()) / count,
            "months_violated": sum(each.months for each in missed),
            "largest_violation_hm3": max(each.largest_hm3 for each in missed),
            "violation": float(operation.violation_sum.sum()),
            "months_unmet": sum(each.unmet_months for each in missed),
        }
        rows = [of_sum]
        for reservoir, own, kept in zip(operation.system.reservoirs, operation.of_reservoirs, missed, strict=True):
            rows.append(
                {
                    "reservoir": reservoir.name,
                    "mean": sign * float(own.benefit.mean()),
                    "worst": sign * float(own.benefit.min()),
                    "spill_hm3": float((own.spill_m3s * volume).sum()) / count,
                    "months_violated": kept.months,
                    "largest_violation_hm3": kept.largest_hm3,
                    "violation": float(own.violation_sum.sum()),
                    "months_unmet": kept.unmet_months,
                }
            )
        return [{"family": self.family, "sample": self.sample, **row} for row in rows]


@dataclass(frozen=True, eq=False)
class SystemEvaluation:
    """All families on one joint plan.

    Parameters
    ----------
    plan : SystemPlan
    training : SystemTraining
        All its years.
    forecast : Forecast
        What the rules were told.
    folds : int
        Blocks of the cross-validation.
    foresight : SystemForesight
    rules : mapping of str to SystemRule
        By family, fitted to all years.
    runs : tuple of SystemRun
        By family and sample.
    bound : RuleBound or None
        Of all rules, if one was asked for.
    """

    plan: SystemPlan
    training: SystemTraining
    forecast: Forecast
    folds: int
    foresight: SystemForesight
    rules: Mapping[str, SystemRule]
    runs: tuple[SystemRun, ...]
    bound: RuleBound | None = None

    def table(self) -> pd.DataFrame:
        """Perfect foresight, and a row a family, sample and reservoir, that of all together first."""
        import pandas as pd

        best, suffix = self.foresight.operation, benefit_suffix(self.plan.objective)
        alone = SystemRun(FORESIGHT, "all", best, best, 0.0, float(best.benefit[0]), self.training.years)
        rows = [row for run in (alone, *self.runs) for row in run.rows()]
        columns = {each.name: each.benefit_name(suffix) for each in TABLES["system_scores"]}
        return pd.DataFrame(rows, columns=list(columns)).rename(columns=columns)

    def held_out(self, family: str) -> SystemRun:
        """The run that counts most: each year by a rule that has not seen it."""
        return next(run for run in self.runs if (run.family, run.sample) == (family, Sample.HELD_OUT))

    @property
    def ranked(self) -> list[SystemRun]:
        """The held-out runs, that of the least regret first."""
        return sorted((self.held_out(family) for family in self.rules), key=lambda run: -run.charged)

    @property
    def cross_validation(self) -> str:
        """How years were held out, in words."""
        return "leave one year out" if self.folds == len(self.training) else f"{self.folds} blocks of years"

    def checks(self) -> list[Check]:
        """The acceptance table: water balances, limits of releases, and nothing above perfect foresight."""
        worst: dict[str, Check] = {}
        for run in self.runs:
            for check in operated_checks(replace(self.plan, operation=run.by_year)):
                name = str(check.check)
                if name not in worst or not check.value <= worst[name].value:
                    worst[name] = check
        above = "largest benefit of any rule above perfect foresight (fraction of perfect foresight's)"
        return [*worst.values(), Check(above, max(run.above_foresight for run in self.runs), _ABOVE)]


#: A rule may seem better than perfect foresight by this part, by rounding.
_ABOVE = 1e-9


def evaluate_system(
    plan: SystemPlan,
    *,
    forecast: Forecast = Forecast.MONTH,
    folds: int = FOLDS,
    families: Iterable[str] = USUAL_FAMILIES,
    bound_members: int = 0,
    progress: StageProgress = silent_stage,
    fitter: Callable[[str, SystemTraining, Forecast], SystemRule] | None = None,
) -> SystemEvaluation:
    """Fit, cross-validate and score families of rules of a system.

    Parameters
    ----------
    plan : SystemPlan
        Optimised years of a record.
    forecast : Forecast
        What rules are told of a month's inflow.
    folds : int
        Blocks of years; each is operated by rules fitted to the others.
    families : iterable of str
        Of `SYSTEM_FAMILIES`.
    bound_members : int
        Years that are drawn for a bound of all rules (`bound_of_rules`); 0 for none.
    progress : callable
        Told the stage, how much of it is done and how much there is.
    fitter : callable, optional
        Fits a family, of any name, to years for a forecast; `fit_system` by default.

    Raises
    ------
    InputError
        If a family takes no systems, there are fewer years than blocks, or the plan is not what rules are fitted to.
    """
    families, forecast = tuple(dict.fromkeys(families)), Forecast(forecast)
    if fitter is None:
        for family in families:
            require_family(family)
    if bound_members and SEPARABLE not in families:
        problem, mend = "a bound of all rules begins at separable, which is not fitted", "add --family separable"
        raise InputError(problem, "", mend, column="bound_members")
    training = SystemTraining.of(plan)
    parts, count = blocks(len(training), folds), len(training)
    fitted: dict[str, list[tuple[SystemRule, range]]] = {family: [] for family in families}
    for done, block in enumerate([range(0), *parts]):
        years = training.select(outside(count, block)) if block else training
        for family, of_family in fitted.items():
            progress(f"fit {family}", done, len(parts) + 1)
            of_family.append(((fitter or fit_system)(family, years, forecast), block))
            progress(f"fit {family}", done + 1, len(parts) + 1)
    tell = partial(progress, SIMULATION)
    tell(0, 2 * len(families))
    foresight = SystemForesight.of(training.system, plan.inflows)
    runs, best = list[SystemRun](), float(foresight.operation.benefit[0])
    for family, ((rule, _), *held_out) in fitted.items():
        of_years = [[rule] * count, [each for each, block in held_out for _ in block]]
        for sample, rules in zip(Sample, of_years, strict=True):
            run = operated_by(rules, training)
            ending = foresight.ending_with(run)
            end_value = best - float(ending.benefit[0])
            runs.append(SystemRun(family, str(sample), run, ending, end_value, best, training.years))
            tell(len(runs), 2 * len(families))
    of_all = {family: of_family[0][0] for family, of_family in fitted.items()}
    bound, values = None, of_all.get(SEPARABLE)
    if bound_members and isinstance(values, Separable):
        # Proofs take a second to import, which those who want none do not wait for.
        from reservoir.rules.system_bound import bound_of_rules

        bound = bound_of_rules(values, training.system, plan.inflows, bound_members, progress=progress)
    return SystemEvaluation(plan, training, forecast, folds, foresight, of_all, tuple(runs), bound)


def require_family(family: str) -> None:
    """Refuse a family that takes no systems, by a sentence that says why."""
    if family in SYSTEM_FAMILIES:
        return
    expected = f"one of {', '.join(SYSTEM_FAMILIES)}"
    if family in FAMILIES:
        problem = f"rules of the family {family} make the most of one reservoir, whatever that costs below"
        raise InputError(problem, expected, "choose one that takes systems", column="family", value=family)
    raise InputError("there is no such family of rules", expected, "choose one of them", column="family", value=family)


def fit_system(family: str, training: SystemTraining, forecast: Forecast) -> SystemRule:
    """Fit a family to years of a joint plan."""
    if family in _TOGETHER:
        return _TOGETHER[family](training, forecast)
    names = training.system.names
    return {name: fit(family, site, forecast) for name, site in zip(names, training.sites, strict=True)}


def operated_by(rules: Sequence[SystemRule], training: SystemTraining) -> SystemOperation:
    """The years operated one after the other by rules, one a year, as one horizon from where the plan begins."""
    asked = asked_by(rules, training.years, training.starts_hm3)
    return operated_years(training.years, training.starts_hm3, lambda place, limits: asked[:, place])
