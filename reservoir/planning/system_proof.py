"""Proven bounds of a joint plan's problems: what no joint schedule that keeps the limits can exceed (`certificate`)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reservoir.certificate.price_ranges import price_ranges
from reservoir.certificate.system import SystemBound, prove_system
from reservoir.hydro.inflow import first_days
from reservoir.hydro.system_operation import SystemOperation
from reservoir.planning.firm_power import promising_all
from reservoir.planning.proof import GAP, SECONDS, STAGE
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.planning.system_plan import SystemPlan, SystemProofs
from reservoir.planning.system_search import FINISH
from reservoir.problems.base import take
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import SystemYears
from reservoir.runtime import processors
from reservoir.solvers import solve


def prove_system_plan(
    plan: SystemPlan,
    gap: float = GAP,
    seconds: float = SECONDS,
    progress: StageProgress = silent_stage,
    *,
    improve: bool = False,
) -> SystemPlan:
    """A joint plan with a proven bound for each of its problems, found on CPU threads.

    Parameters
    ----------
    plan : SystemPlan
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time for all problems, about; what is proved until then holds, with a larger gap.
    progress : callable
        Told the stage, how many problems are done, and how many there are.
    improve : bool
        Whether schedules are sought where a gap stays open, and the plan is given those that are better.
    """
    problems, until = list(_known(plan)), time.monotonic() + seconds
    threads, done = max(processors() // len(problems), 1), np.zeros(len(problems))

    def told(place: int, part: float) -> None:
        done[place] = part
        progress(STAGE, float(done.sum()), len(problems))

    def proved(place: int) -> SystemBound:
        share = min(processors() / (len(problems) - place), 1.0)  # what earlier ones leave is for later ones
        left = max(until - time.monotonic(), 0.0) * share
        bound = prove_system(*problems[place], gap, left, threads, told=partial(told, place))
        told(place, 1.0)
        return bound

    with ThreadPoolExecutor(processors()) as pool:
        bounded = list(pool.map(proved, range(len(problems))))
    if improve:
        plan = _improved(plan, bounded)
        problems = list(_known(plan))
    bounds = np.array([each.bound for each in bounded])
    kept = np.array([float(made.violation_sum[0]) == 0 for _, made in problems])
    fitness = np.array([float(batch.fitness_of(made)[0]) for batch, made in problems])
    scale = np.maximum(np.abs(bounds), plan.system.least_gap_scale)
    with np.errstate(invalid="ignore"):
        short = np.where(kept, (bounds - fitness) / np.where(scale > 0, scale, 1.0), np.nan)
    short[(bounds == np.inf) & kept] = np.inf  # nothing is proved, which is no small gap
    known = zip(bounded, problems, strict=True)
    prices = tuple(np.stack([bound.prices, *price_ranges(*of)]) for bound, of in known)
    return replace(plan, proofs=SystemProofs(bounds, short, gap, _where_infeasible(plan, bounded), prices))


def _improved(plan: SystemPlan, bounded: Sequence[SystemBound]) -> SystemPlan:
    """The plan with schedules that are better, found from where they may be (`SystemBound.open_positions`)."""
    from_here = [(place, start) for place, each in enumerate(bounded) for start in each.open_positions]
    if not from_here:
        return plan
    places, first = [place for place, _ in from_here], [start[np.newaxis] for _, start in from_here]
    found = solve(take(plan.problems.each, places), solver=FINISH, first=first)
    best, sources = plan.solutions, list(plan.sources)
    for at, place in enumerate(places):
        if found.violation[at] <= best.violation[place] and found.fitness[at] > best.fitness[place]:
            best, sources[place] = best.replaced(np.array([place]), found[np.array([at])]), FINISH
    if best is plan.solutions:
        return plan
    operation: Any = plan.problems.operate(best.position)
    return replace(plan, solutions=best, sources=tuple(sources), operation=operation)


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
