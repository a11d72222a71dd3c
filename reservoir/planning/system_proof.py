"""Proven bounds of a joint plan's problems: what no joint schedule that keeps the limits can exceed (`certificate`)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from reservoir.certificate.system import SystemBound, prove_system
from reservoir.hydro.inflow import first_days
from reservoir.hydro.system_operation import SystemOperation
from reservoir.planning.firm_power import promising_all
from reservoir.planning.proof import GAP, SECONDS, STAGE
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.planning.system_plan import SystemPlan, SystemProofs
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import SystemYears
from reservoir.runtime import processors


def prove_system_plan(
    plan: SystemPlan, gap: float = GAP, seconds: float = SECONDS, progress: StageProgress = silent_stage
) -> SystemProofs:
    """Prove a bound for each problem of a joint plan, on CPU threads.

    Parameters
    ----------
    plan : SystemPlan
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time for all problems, about; what is proved until then holds, with a larger gap.
    progress : callable
        Told the stage, how many problems are done, and how many there are.
    """
    problems, until = list(_known(plan)), time.monotonic() + seconds

    def proved(place: int) -> SystemBound:
        share = min(processors() / (len(problems) - place), 1.0)  # what earlier ones leave is for later ones
        return prove_system(*problems[place], gap, max(until - time.monotonic(), 0.0) * share)

    bounded = []
    with ThreadPoolExecutor(processors()) as pool:
        for bound in pool.map(proved, range(len(problems))):
            bounded.append(bound)
            progress(STAGE, len(bounded), len(problems))
    bounds = np.array([each.bound for each in bounded])
    kept = np.array([float(made.violation_sum[0]) == 0 for _, made in problems])
    fitness = np.array([float(batch.fitness_of(made)[0]) for batch, made in problems])
    scale = np.maximum(np.abs(bounds), plan.system.least_gap_scale)
    with np.errstate(invalid="ignore"):
        short = np.where(kept, (bounds - fitness) / np.where(scale > 0, scale, 1.0), np.nan)
    short[(bounds == np.inf) & kept] = np.inf  # nothing is proved, which is no small gap
    return SystemProofs(bounds, short, gap, _where_infeasible(plan, bounded), tuple(each.prices for each in bounded))


def _known(plan: SystemPlan) -> Iterator[tuple[SystemYears, SystemOperation]]:
    """Each problem, with its schedule; a power that is promised may fail in any steps, of a share of all."""
    for places, batch in _promising(plan).placed_batches:
        years: SystemYears = batch  # type: ignore[assignment]
        made = years.operate(np.stack([plan.solutions[place].position for place in places]))
        for place in range(len(places)):
            one = np.array([place])
            yield years[one], made[one]


def _promising(plan: SystemPlan) -> RecordProblems:
    """The problems with the power that each must give, whatever steps the search let fail."""
    objective = plan.system.objective
    if objective.is_firm:
        return promising_all(plan.problems, plan.firm_power_mw)
    if objective.firm_power_mw is None:
        return plan.problems
    return promising_all(plan.problems, np.full(len(plan.problems), objective.firm_power_mw))


def _where_infeasible(plan: SystemPlan, bounds: list[SystemBound]) -> dict[str, str]:
    """By the label of a problem that no schedule keeps the limits of: by which day they cannot be kept, and where."""
    days, steps, found = first_days(plan.inflow.calendar), plan.inflow.steps, {}
    for place, (label, proven) in enumerate(zip(plan.problems.labels, bounds, strict=True)):
        if proven.bound > -np.inf:
            continue
        names = zip(plan.system.names, proven.of_reservoirs, strict=False)
        unable = [(name, each.infeasible_step) for name, each in names if each.infeasible]
        if unable:
            first, (name, step) = int(np.argmax(plan.problems.of_year == place)) * steps, unable[0]
            found[str(label)] = name if step is None else f"{str(days[first + step])[:10]}, {name}"
    return found
