"""Acceptance checks: a claim, what was measured, the threshold, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.approximation import POWER_TOLERANCE
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.operation import NOT_MISSING, Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import storage_after
from reservoir.hydro.unit_system import UnitSystem, labelled
from reservoir.planning.firm_power import BRACKET
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import has_demands
from reservoir.planning.solving import REFERENCE_SOLVERS, gap_limits, relative_gap
from reservoir.planning.solving import SWEPT_GAP as SWEPT_GAP
from reservoir.planning.solving import TOTAL_GAP as TOTAL_GAP
from reservoir.planning.solving import YEAR_GAP as YEAR_GAP
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted

if TYPE_CHECKING:
    from reservoir.planning.operated_system import OperatedSystem
    from reservoir.planning.system_plan import SystemPlan

#: A check whose value is a flow.
RELEASE_OUTSIDE = labelled("release outside its limits: largest excess ({})", "m3/s")
#: Largest water balance residual, as a part of the largest storage.
BALANCE_TOLERANCE = 1e-9


#: In plain words, by how checks begin: what holds where one passes, unless another says it, and what it means, and what
#: to do, where one fails.
_MEANINGS = {
    "water balance": (
        "the water balance closes",
        "storages do not follow from inflow, release and losses. This is a fault of the program: please report it",
    ),
    "release outside its limits in any simulation": (
        "releases keep their limits",
        "a rule releases more or less than is permitted. This is a fault of the program: please report it",
    ),
    "release outside": (
        "",
        "a release is above or below what the reservoir file permits. This is a fault of the program: please report it",
    ),
    "storage outside": (
        "releases and storages keep their limits",
        "years that can keep their storage limits do not. Fix: more --generations or --evaluations, or another "
        "--solver",
    ),
    "limits and demands": (
        "limits and demands are kept",
        "years that can keep their limits and demands do not. Fix: more --generations or --evaluations, or another "
        "--solver",
    ),
    "power of the solvers' curves": (
        "the solver's curves are accurate",
        "the solver searched with forms of the curves that are off by more than the threshold: its energies are true, "
        "but better schedules may exist. Fix: another --solver, or smoother curves",
    ),
    "gap to dp, worst": (
        "every year is about as good as the best that dynamic programming finds",
        "a year could be better: dynamic programming finds a schedule that is better by more than the threshold. Fix: "
        "more --generations or --evaluations, another --solver, or omit --engine-only",
    ),
    "gap to dp, sum": (
        "",
        "all years together could be better by more than the threshold. Fix: as for a year",
    ),
    "penalised energy": (
        "years that cannot keep their limits violate them as little as can be",
        "a year that cannot keep its limits could violate them less. Fix: more --generations or --evaluations, or "
        "another --solver",
    ),
    "firm power": (
        "more firm power cannot be kept",
        "more firm power may be possible. Fix: more --generations, or another --solver",
    ),
    "rules that decide differently": (
        "saved rules decide as before",
        "a rule decides otherwise when it is read again. This is a fault of the program: please report it",
    ),
    "largest benefit of any rule above": (
        "no rule is better than perfect foresight",
        "a rule brings more than perfect foresight, which cannot be: the optimum of the plan is not good enough. Fix: "
        "plan again with --solver dp, or more --generations",
    ),
    "schedule above its proven bound": (
        "no schedule exceeds its proven bound",
        "a schedule is better than what is proved to be impossible. This is a fault of the program: please report it",
    ),
}

#: How a check ends that is of some years alone: others cannot keep their limits, which is found, not failed.
_CAN_KEEP = "that can keep them"


def _meaning(check: Check) -> tuple[str, str] | None:
    return next((meant for begins, meant in _MEANINGS.items() if check.check.startswith(begins)), None)


def passed_sentence(checks: Iterable[Check]) -> str:
    """What checks say together where all pass, in words; empty where one fails, or has no words."""
    claims = [check for check in checks if check.passed is not None]
    meant = [
        meaning[0] + " wherever that can be" * check.check.endswith(_CAN_KEEP)
        for check in claims
        if (meaning := _meaning(check))
    ]
    if not all_pass(claims) or len(meant) < len(claims):
        return ""
    return f"all {len(claims)} pass: {', '.join(filter(None, meant))}"


def failed_sentences(checks: Iterable[Check]) -> list[str]:
    """What each check that fails means, and what to do."""
    failed = [check for check in checks if check.passed is False]
    return [f"{check.check}: {meaning[1]}" for check in failed if (meaning := _meaning(check))]


@dataclass(frozen=True)
class Check:
    """One line of an acceptance table: passed if the value does not exceed the threshold (`at_least`: reaches it).

    Without a threshold it is no claim: it states a value, and `passed` is None.
    """

    check: str
    value: float
    threshold: float | None
    at_least: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether the claim holds; a value that is no number never passes."""
        if self.threshold is None:
            return None
        return bool(self.value >= self.threshold if self.at_least else self.value <= self.threshold)

    @property
    def limit(self) -> str:
        """The threshold in words; empty without one."""
        return "" if self.threshold is None else f"{'≥' if self.at_least else '≤'} {self.threshold:.3g}"

    def in_units(self, units: UnitSystem) -> Check:
        """The line with its value in the units in which results are shown."""
        unit = units.of_label(self.check)
        if unit is None:
            return replace(self, check=units.text(self.check))
        threshold = None if self.threshold is None else self.threshold / unit.size
        return replace(self, check=units.text(self.check), value=self.value / unit.size, threshold=threshold)

    def as_dict(self) -> dict[str, Any]:
        """The line as ``--json`` prints it."""
        value = float(self.value) if np.isfinite(self.value) else None
        return {"check": self.check, "value": value, "threshold": self.threshold, "pass": self.passed}


def all_pass(checks: Iterable[Check]) -> bool:
    """Whether every claim holds."""
    return all(check.passed is not False for check in checks)


def plan_checks(plan: Plan) -> list[Check]:
    """What every plan must satisfy; of one that holds schedules of the reference, what the solver itself reached."""
    residual = balance_residual(plan.operation, plan.inflow) / float(np.abs(plan.operation.storage_hm3).max())
    checks = [
        Check("water balance: largest residual (fraction of the largest storage)", residual, BALANCE_TOLERANCE),
        Check(RELEASE_OUTSIDE, release_excess(plan.operation, plan.reservoir), 0.0),
        *limit_lines(plan),
        Check("power of the solvers' curves: largest relative error", plan.approximation.power_error, POWER_TOLERANCE),
    ]
    if plan.references and plan.solutions.solver not in REFERENCE_SOLVERS:  # no plan is far from itself
        of_plan = plan.solutions, plan.references, plan.feasible_problems
        gaps = gap_limits(plan.solutions.solver, plan.problems)
        checks += gap_checks(*of_plan, gaps=gaps, least_scale=plan.problems.least_gap_scale)
    return [*checks, *firm_power_lines(plan), *source_lines(plan), *proof_lines(plan)]


def system_checks(plan: SystemPlan) -> list[Check]:
    """What every joint plan must satisfy."""
    demands = any(site.operation.has_conditions for site in plan.sites.values())
    what = "limits and demands not kept" if demands else "storage outside its limits"
    return [*operated_checks(plan), *_kept_lines(plan, what), *proof_lines(plan)]


def operated_checks(operated: OperatedSystem) -> list[Check]:
    """What every operation of a system must satisfy, whatever was released."""
    residuals, excesses = [], []
    for site in operated.sites.values():
        scale = float(np.abs(site.operation.storage_hm3).max()) or 1.0
        residuals.append(balance_residual(site.operation, site.inflow) / scale)
        excesses.append(release_excess(site.operation, site.reservoir))
    what = "water balance: largest residual (fraction of the largest storage)"
    return [
        Check(what, largest(residuals), BALANCE_TOLERANCE),
        Check(RELEASE_OUTSIDE, largest(excesses), 0.0),
    ]


def firm_power_lines(plan: Plan) -> list[Check]:
    """How much more than the firm power is not kept, of the problems that can keep their limits."""
    bounds, able = plan.firm_bounds, plan.feasible_problems
    if bounds is None or not able.any():
        return []
    proved = int((bounds.proved & able).sum())
    by = "proved" if proved == able.sum() else f"proved of {proved} of {int(able.sum()):,}, else by search"
    width = bounds.width(plan.firm_power_mw)[able]
    return [Check(f"firm power: part by which more is not kept ({by}), largest", float(width.max()), BRACKET)]


def proof_lines(plan: Plan | SystemPlan) -> list[Check]:
    """The largest gap to a proven bound, and how many problems cannot keep their limits; nothing without a proof.

    Of the gap it is no claim: where a bound is not tight, the schedule may be the best.
    """
    proofs = plan.proofs
    if proofs is None:
        return []
    known = int((~np.isnan(proofs.gap)).sum())
    one = plan.problem_word
    lines = [Check(f"proven gap, worst of {counted(known, one)}", proofs.worst_gap, None)] if known else []
    if proofs.infeasible:
        lines.append(Check(f"{one}s proved to have no schedule within the limits", len(proofs.infeasible), None))
    beyond = float(np.maximum(-np.nan_to_num(proofs.gap), 0.0).max(initial=0.0))
    return [*lines, Check("schedule above its proven bound: largest relative excess", beyond, 0.0)]


def source_lines(plan: Plan) -> list[Check]:
    """How many years are not of the solver's first run, and what its own schedules reach; nothing if all are.

    These are no claims: a plan is as good as the schedules that it holds.
    """
    if not plan.sources:
        return []
    own, *others = plan.source_counts.items()
    of = f"{plan.year_word}s of {plan.inflow.years} with the schedule of"
    lines = [Check(f"{of} {name}", count, None) for name, count in others]
    if plan.from_reference.any():
        who = f"{own[0]} by itself: "
        of_engine = plan.engine_solutions, plan.references, plan.feasible_problems, who
        reached = gap_checks(*of_engine, least_scale=plan.problems.least_gap_scale)
        lines += [Check(each.check, each.value, None) for each in reached]
        violation = float(plan.engine_solutions.violation.sum())
        lines.append(Check(f"{who}sum of relative violations", violation, None))
    return lines


def limit_lines(plan: Plan) -> list[Check]:
    """What violates limits that some schedule may keep (`_kept_lines`)."""
    return _kept_lines(plan, "limits and demands not kept" if has_demands(plan) else "storage outside its limits")


def _kept_lines(plan: Plan | SystemPlan, what: str) -> list[Check]:
    """What violates limits that can be kept; that no schedule keeps those of a year is found, not failed."""
    lost, which, one = plan.impossible_problems, "", plan.problem_word
    violation, lines = plan.violation[~lost[plan.problems.of_year]], []
    if lost.any():
        which = f" in {counted(int((~lost).sum()), one)} {_CAN_KEEP}"
        lines = [Check(f"{one}s with limits that no schedule can keep", int(lost.sum()), None)]
    return [Check(f"{what}: sum of relative violations{which}", float(violation.sum()), 0.0), *lines]


def gap_checks(
    solutions: Solutions,
    references: Solutions,
    feasible: NDArray[np.bool_],
    who: str = "",
    *,
    gaps: tuple[float, float] = (YEAR_GAP, TOTAL_GAP),
    least_scale: float = 0.0,
) -> list[Check]:
    """How close solutions come to their references; infeasible years are checked apart (see `Plan.feasible`).

    In those the fitness is an energy less what the violation costs, and their gap is a part of the reference's energy.
    `gaps` are the largest of a year and of the sum of all years, `least_scale` is `RecordProblems.least_gap_scale`.
    """
    checks = []
    if feasible.any():
        gap = float(np.abs(relative_gap(solutions, references, least_scale)[feasible]).max())
        total, best = (sum_of(each, feasible) for each in (solutions, references))
        which = "" if feasible.all() else counted(int(feasible.sum()), "feasible year")
        worst, summed = (f"worst of {which}", f"sum of {which}") if which else ("worst year", "sum of all years")
        of_sum = part_of(best - total, best, least_scale)
        checks.append(Check(f"{who}gap to dp, {worst} (absolute value)", gap, gaps[0]))
        checks.append(Check(f"{who}gap to dp, {summed} (absolute value)", of_sum, gaps[1]))
    if not feasible.all():
        of_all = solutions.fitness, references.fitness, references.benefit
        fitness, most, energy = (each[~feasible] for each in of_all)
        scale = np.where(energy == 0, least_scale or 1.0, np.maximum(np.abs(energy), least_scale))
        short = np.abs(most - fitness) / scale
        what = f"penalised energy against dp, worst of {counted(len(short), 'infeasible year')}"
        checks.append(Check(f"{who}{what} (absolute value)", float(np.max(short)), gaps[0]))
    return checks


def largest(values: Iterable[float], of_none: float = np.nan) -> float:
    """The largest of some values; NaN, which passes no check, where one is NaN: `max` and pandas would pass it over."""
    array = np.asarray([*values], np.float64)
    return float(array.max()) if array.size else of_none


def part_of(difference: float, whole: float, least: float = 0.0) -> float:
    """Size of a difference as a part of the whole; of a whole that is nothing, the size itself."""
    return float(abs(difference) / (max(abs(whole), least) or 1.0))


def sum_of(solutions: Solutions, which: NDArray[np.bool_]) -> float:
    """Fitness of some of the years, summed."""
    return float(sum(solutions.fitness[which].tolist()))


def balance_residual(operation: Operation, inflow: Inflow) -> float:
    """Largest |storage + (inflow - release - withdrawal) x time - losses - next storage|, hm3."""
    storage, taken = operation.storage_hm3, operation.release_m3s + operation.withdrawal_m3s
    residual = storage_after(storage[:, :-1], inflow.flow_m3s, taken, inflow.calendar.hm3_per_m3s)
    residual = residual - operation.evaporation_hm3 - operation.seepage_hm3
    return float(np.abs(residual - storage[:, 1:]).max())


def release_excess(operation: Operation, reservoir: Reservoir) -> float:
    """How far any release is outside its bounds, m3/s; a step that ends at dead storage or below may release less."""
    release = operation.release_m3s
    lower, upper = (np.resize(bound, release.shape[-1]) for bound in reservoir.release_bounds_m3s)
    upper_hm3, dead = (float(each) for each in (reservoir.storage_upper_hm3.max(), reservoir.storage_lower_hm3.min()))
    emptied = operation.storage_hm3[..., 1:] <= dead + BALANCE_TOLERANCE * upper_hm3
    # What is missing by rounding is told as nothing.
    missing = np.where(emptied, operation.missing_m3s + NOT_MISSING * upper, 0.0)
    return float(np.maximum(lower - release - missing, release - upper).clip(min=0).max())
