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
from reservoir.certificate.together import Together
from reservoir.hydro.calendar import some_labels
from reservoir.hydro.inflow import first_days
from reservoir.hydro.system_operation import SystemOperation
from reservoir.opencl import DeviceInfo
from reservoir.planning.firm_power import promising_all
from reservoir.planning.open_part import LEAST_GAIN, found_note
from reservoir.planning.proof import GAP, LONGER_STAGE, SECONDS, STAGE, by_device
from reservoir.planning.solving import StageProgress, begun, silent_stage
from reservoir.planning.system_plan import SystemPlan, SystemProofs
from reservoir.planning.system_search import FINISH
from reservoir.problems.base import take
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import SystemYears
from reservoir.runtime import processors
from reservoir.solvers import solve

#: Problems that are proved at once, for each processor, where a device works for all: most wait for it.
_WAITING = 4
#: What searches from where better schedules may be, each from what the last one found.
_FROM_OPEN = (FINISH, "dpsa-sequential")


def prove_system_plan(
    plan: SystemPlan,
    gap: float = GAP,
    seconds: float = SECONDS,
    progress: StageProgress = silent_stage,
    device: str | None = None,
    *,
    improve: bool = False,
    or_host: bool = False,
) -> SystemPlan:
    """A joint plan with a proven bound for each of its problems.

    Parameters
    ----------
    plan : SystemPlan
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time for all problems, about; what is proved until then holds, with a larger gap.
    progress : callable
        Told the stage, how many problems are done, and how many there are.
    device : str, optional
        As of `prove_plan`: what bounds the brackets of the reservoirs of all problems, and finds their best paths at
        prices, at once; the rest of a proof is done on CPU threads. By default (also ``"auto"``) a GPU with double
        precision, else these threads do it all.
    improve : bool
        Whether schedules are sought where a gap stays open, and the plan is given those that are better.
    or_host : bool
        Whether CPU threads prove in place of a named device that cannot, or not in double precision.

    Raises
    ------
    DeviceError
        If the device that is named is missing, cannot bound brackets, or fails.
    """
    until = time.monotonic() + seconds
    problems = list(_known(plan))

    def on_device(chosen: DeviceInfo, named: bool) -> list[SystemBound] | None:
        if chosen.kind == "CPU" and not named:  # its threads are faster
            return None
        return _bounded(problems, gap, seconds, progress, Together(chosen))

    bounded = by_device(device, on_device, or_host=or_host)
    if bounded is None:
        bounded = _bounded(problems, gap, seconds, progress)
    better = _improved(plan, bounded, gap, progress) if improve else plan
    if better is not plan:
        fitness, before = better.solutions.fitness, plan.solutions.fitness
        plan, problems = better, list(_known(better))
        allowed = gap * np.maximum(np.abs(fitness), plan.system.least_gap_scale)
        left_open = np.array([each.bound for each in bounded]) > fitness + allowed
        again, left = np.flatnonzero((fitness > before) & left_open).tolist(), until - time.monotonic()
        if again and left > 0.0:
            proved = _bounded([problems[place] for place in again], gap, left, progress, stage=LONGER_STAGE)
            for place, bound in zip(again, proved, strict=True):
                bounded[place] = min(bounded[place], bound, key=lambda proven: proven.bound)
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


def _bounded(
    problems: Sequence[tuple[SystemYears, SystemOperation]],
    gap: float,
    seconds: float,
    progress: StageProgress,
    together: Together | None = None,
    stage: str = STAGE,
) -> list[SystemBound]:
    """The bound of each problem: each in a thread of its own, as many at a time as there is work for."""
    until, at_once = time.monotonic() + seconds, processors() * (1 if together is None else _WAITING)
    threads, done = max(at_once // len(problems), 1), np.zeros(len(problems))

    def told(place: int, part: float) -> None:
        done[place] = part
        progress(stage, float(done.sum()), len(problems))

    def proved(place: int) -> SystemBound:
        share = min(at_once / (len(problems) - place), 1.0)  # what earlier ones leave is for later ones
        left = max(until - time.monotonic(), 0.0) * share
        bound = prove_system(*problems[place], gap, left, threads, told=partial(told, place), together=together)
        told(place, 1.0)
        return bound

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(proved, range(len(problems))))


def _improved(plan: SystemPlan, bounded: Sequence[SystemBound], gap: float, progress: StageProgress) -> SystemPlan:
    """The plan with schedules that are better, found from where they may be (`SystemBound.open_positions`).

    Each solver begins with what the last one found from each of these places, be it better or not.
    """
    from_here = [(place, start) for place, each in enumerate(bounded) for start in each.open_positions]
    if not from_here:
        return plan
    places, first = [place for place, _ in from_here], [start[np.newaxis] for _, start in from_here]
    best, sources = plan.solutions, list(plan.sources)
    size = np.maximum(np.abs(best.fitness), plan.system.least_gap_scale or 1e-300)
    least = LEAST_GAIN * gap * size
    for solver in _FROM_OPEN:
        some, told = take(plan.problems.each, places), begun(progress, solver, len(places))
        found = solve(some, solver=solver, first=first, progress=told)
        first = [position[np.newaxis] for position in found.position]
        for at, place in enumerate(places):
            gained = found.fitness[at] - best.fitness[place]
            if found.violation[at] <= best.violation[place] and gained > least[place]:
                best, sources[place] = best.replaced(np.array([place]), found[np.array([at])]), solver
    if best is plan.solutions:
        return plan
    operation: Any = plan.problems.operate(best.position)
    gains = (best.fitness - plan.solutions.fitness) / size
    better = np.flatnonzero(gains > 0.0)
    by = " and ".join(dict.fromkeys(sources[place] for place in better.tolist()))
    note = found_note(some_labels(plan.problems.labels, better), plan.problem_word, by, float(gains.max()))
    return replace(plan, solutions=best, sources=tuple(sources), operation=operation, notes=(*plan.notes, note))


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
