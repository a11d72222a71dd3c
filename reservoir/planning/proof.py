"""Proven bounds of a plan's problems: what no schedule that keeps the limits can exceed (`certificate`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from reservoir.certificate.bound import (
    Effort,
    Known,
    ProvenBound,
    compile_ahead,
    prove_bound,
)
from reservoir.certificate.on_device import bound_program, has_double
from reservoir.certificate.reachable import stages_to_prove
from reservoir.certificate.stages import TOLERANCE
from reservoir.certificate.together import parts_together, prove_together
from reservoir.errors import DeviceError
from reservoir.hydro.inflow import first_days
from reservoir.hydro.operation import Operation
from reservoir.hydro.step import unmet_minimum
from reservoir.opencl import DeviceInfo, choose_devices, opencl_available
from reservoir.planning.commitments import bounded_by_commitments
from reservoir.planning.open_part import searched_again
from reservoir.planning.planned_record import GAP_ROUNDING, Plan, Proofs
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.problems.base import FloatArray
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.runtime import processors

#: Names of the stages: of all proofs, and of longer ones where these do not come to the gap that is asked for.
STAGE, LONGER_STAGE = "proof", "longer proof"
#: Told how many problems are proved.
Done = Callable[[int], None]
#: Proves problems with an effort.
Prove = Callable[[list[Known], Effort, Done], list[ProvenBound]]
#: Searches problems again that proofs leave open, by place; all problems with what is then known of them.
Search = Callable[[Mapping[int, ProvenBound]], list[Known]]
#: Of a problem of one reservoir or of a system.
Bound = TypeVar("Bound")
#: Gap that is asked for, and most seconds, where nothing else is said.
GAP, SECONDS = 1e-5, 600.0
#: Pairs of cells for each step of longer proofs.
LONGER_PAIRS = 1_000_000
#: Those before a search in what is left open: a bad schedule leaves so much that more would be in vain. Proofs of the
#: bundled years take 2,000 to 3,000.
_PAIRS_BEFORE_SEARCH = 5_000
#: Names that stand for CPU threads, and for what is best here.
HOST, AUTO = "host", "auto"


def prove_plan(
    plan: Plan,
    gap: float = GAP,
    seconds: float = SECONDS,
    progress: StageProgress = silent_stage,
    device: str | None = None,
    *,
    or_host: bool = False,
    improve: bool = False,
) -> Plan:
    """The plan with a proven bound for each of its problems.

    Parameters
    ----------
    plan : Plan
    gap : float
        Part of the fitness by which the bound may be above it. Where the plan's reference is better by more
        (`Plan.better_known`), no bound comes as close to the plan's schedule: then it may be above the reference's.
    seconds : float
        Most time for all problems, about, from when the code is compiled; what is proved until then holds, with a
        larger gap.
    progress : callable
        Told the stage, how many problems are done, and how many there are.
    device : str, optional
        See `reservoir.opencl.choose_devices`; of several, one computes, in float32 if none has double precision.
        ``"host"`` is CPU threads. By default (also ``"auto"``) the best kind of device if it has double precision, also
        a CPU: its kernels are as fast as compiled code, which takes long to compile; else CPU threads, since bounds
        are tighter than in float32.
    or_host : bool
        Whether CPU threads prove in place of a named device that cannot, or not in double precision.
    improve : bool
        Whether problems whose gap stays open are searched again where their proofs leave better schedules possible
        (`searched_again`), and the plan is given those that are found.

    Raises
    ------
    DeviceError
        If the device that is named is missing, cannot bound brackets, or fails.
    """
    problems, found = _told(plan, gap), plan

    def search(left_open: Mapping[int, ProvenBound]) -> list[Known]:
        nonlocal found
        found = searched_again(plan, left_open, gap, progress, device)
        return problems if found is plan else _told(found, gap)

    again = search if improve else None
    effort = Effort(gap, seconds, processors(), plan.problems.least_gap_scale)
    bounded = by_device(
        device, lambda chosen, _: _on_device(chosen, problems, effort, progress, again), or_host=or_host
    )
    if bounded is None:
        bounded = _on_host(problems, effort, progress, again)
    fitness = _fitness(list(_known(found)))
    bounds = np.array([each.bound for each in bounded])
    scaled = np.maximum(np.abs(bounds), effort.least_scale)
    with np.errstate(invalid="ignore"):
        short = (bounds - fitness) / np.where(scaled > 0, scaled, 1.0)
    short[(bounds == np.inf) & ~np.isnan(fitness)] = np.inf  # nothing is proved, which is no small gap
    return replace(found, proofs=Proofs(bounds, short, gap, _where_infeasible(plan, bounded)))


def _told(plan: Plan, gap: float) -> list[Known]:
    """What proofs of a plan's problems are told."""
    problems = list(_known(plan))
    for place in np.flatnonzero(plan.better_known(gap) & ~np.isnan(_fitness(problems))).tolist():
        # No bound is below the better schedule: the gap that is asked for is to that one.
        problems[place] = problems[place]._replace(fitness=float(plan.references.fitness[place]))
    return problems


def _fitness(problems: Iterable[Known]) -> FloatArray:
    """Fitness of schedules, NaN of those that are none of those that are bounded."""
    return np.array([np.nan if known.fitness is None else known.fitness for known in problems])


def by_device(
    device: str | None, prove: Callable[[DeviceInfo, bool], list[Bound] | None], *, or_host: bool
) -> list[Bound] | None:
    """What a device proves, which is told whether it was named; None where CPU threads are to prove.

    Parameters `device` and `or_host`, and what is raised, are those of `prove_plan`.
    """
    asked = (device or AUTO).strip().lower()
    if asked != HOST:
        with suppress(*([DeviceError] if or_host or asked == AUTO else [])):
            chosen = device_of(asked, or_host=or_host)
            return None if chosen is None else prove(chosen, asked != AUTO)
    return None


def device_of(wanted: str, *, or_host: bool = False) -> DeviceInfo | None:
    """The device to prove on; None for CPU threads.

    Parameters
    ----------
    wanted : str
    or_host : bool
        Whether CPU threads are better than a named device without double precision.

    Raises
    ------
    DeviceError
        If no device answers to the name.
    """
    if wanted == AUTO and not opencl_available():
        return None
    devices = choose_devices(wanted)
    best = next(filter(has_double, devices), devices[0])
    if wanted == AUTO:
        return best if has_double(best) else None
    return best if has_double(best) or not or_host else None


def _on_device(
    device: DeviceInfo, problems: list[Known], effort: Effort, progress: StageProgress, search: Search | None
) -> list[ProvenBound]:
    """Prove problems on a device, as many at once as it takes."""
    bound_program(device, single=not has_double(device))
    compile_ahead(problems, brackets=False)

    def prove(some: list[Known], effort: Effort, done: Done) -> list[ProvenBound]:
        bounds: list[ProvenBound] = []
        until = time.monotonic() + effort.seconds

        def count_on(before: int, more: int) -> None:
            done(before + more)

        for together in parts_together(some, effort.pairs):
            left = replace(effort, seconds=max(until - time.monotonic(), 0.0))
            before = len(bounds)
            bounds += prove_together(device, together, left, partial(count_on, before))
        return bounds

    return _longer_if_needed(prove, problems, effort, progress, search)


def _on_host(
    problems: list[Known], effort: Effort, progress: StageProgress, search: Search | None
) -> list[ProvenBound]:
    """Prove problems on CPU threads: a thread a problem, or all threads one problem after another if there are few."""
    compile_ahead(problems)

    def prove(some: list[Known], effort: Effort, done: Done) -> list[ProvenBound]:
        at_once, threads = (effort.threads, 1) if len(some) >= effort.threads else (1, effort.threads)
        until = time.monotonic() + effort.seconds

        def proved(known: Known) -> ProvenBound:
            return prove_bound(*known, replace(effort, seconds=max(until - time.monotonic(), 0.0), threads=threads))

        bounds = []
        with ThreadPoolExecutor(at_once) as pool:
            for bound in pool.map(proved, some):
                bounds.append(bound)
                done(len(bounds))
        return bounds

    return _longer_if_needed(prove, problems, effort, progress, search)


def _longer_if_needed(
    prove: Prove, problems: list[Known], effort: Effort, progress: StageProgress, search: Search | None
) -> list[ProvenBound]:
    """Prove all problems, and then those again that took more: no problem waits for the few that take long.

    What is left open is searched before: the better a schedule, the less a proof has to go through.
    """
    until = time.monotonic() + effort.seconds
    longer = replace(effort, pairs=LONGER_PAIRS)
    if len(problems) == 1 and search is None:
        return prove(problems, longer, lambda done: progress(STAGE, done, 1))
    first = effort if search is None else replace(effort, pairs=_PAIRS_BEFORE_SEARCH)
    bounds = prove(problems, first, lambda done: progress(STAGE, done, len(problems)))
    if search is not None and time.monotonic() < until:
        of_all = enumerate(zip(problems, bounds, strict=True))
        left_open = {place: bound for place, (known, bound) in of_all if _is_open(known, bound, effort)}
        problems = search(left_open) if left_open else problems
    of_all = enumerate(zip(problems, bounds, strict=True))
    places = [place for place, (known, bound) in of_all if _takes_more(known, bound, effort, search)]
    left = until - time.monotonic()
    if places and left > 0.0:
        some = [problems[place] for place in places]
        again = prove(some, replace(longer, seconds=left), lambda done: progress(LONGER_STAGE, done, len(some)))
        for place, bound in zip(places, again, strict=True):
            bounds[place] = min(bounds[place], bound, key=lambda proven: proven.bound)
    return bounds


def _is_open(known: Known, proven: ProvenBound, effort: Effort) -> bool:
    """Whether a better schedule may be found, or one that keeps the limits where none is known."""
    return not proven.infeasible if known.fitness is None else _may_be_closer(known, proven, effort)


def _takes_more(known: Known, proven: ProvenBound, effort: Effort, search: Search | None) -> bool:
    """Whether a problem is to be proved with more work; without a schedule, if the first proof was a short one."""
    if known.fitness is None:
        return search is not None and proven.bound > -np.inf
    return _may_be_closer(known, proven, effort)


def _may_be_closer(known: Known, proven: ProvenBound, effort: Effort) -> bool:
    """Whether the schedule of a problem is bounded, and its bound is farther above than the gap asked for."""
    if known.fitness is None or proven.bound == -np.inf:
        return False
    return proven.bound - known.fitness > effort.gap * GAP_ROUNDING * max(abs(known.fitness), effort.least_scale)


def _known(plan: Plan) -> Iterator[Known]:
    """Each problem, with its schedule, and the fitness of that if it is one of those that are bounded.

    It keeps the limits, or it lacks only water for the least release in a horizon of which no schedule keeps them.
    """
    positions = plan.problems.split([each.position for each in plan.solutions])
    for batch, position in zip(plan.problems.batches, positions, strict=True):
        made = batch.certify(position)
        for place, year in enumerate(batch):
            kept = made.violation[place] == 0 or _lacks_water_alone(year, made.operation[place])
            fitness = float(made.fitness[place]) if kept else None
            yield Known(bounded_by_commitments(year), made.operation.storage_hm3[place], fitness)


def _lacks_water_alone(year: ReservoirYears, operation: Operation) -> bool:
    """Whether a schedule violates nothing but the least release, of which some is proved to be violated."""
    arrays = year.exact_year
    per_missing = arrays.per_missing * arrays.hm3_per_m3s
    missed = unmet_minimum(operation.draft_m3s, arrays.release_lower, per_missing)
    if np.any(np.abs(operation.violation - missed) > TOLERANCE):
        return False
    return bool(np.any(stages_to_prove(year.limits, year.penalty).missing_price > 0.0))


def _where_infeasible(plan: Plan, bounds: list[ProvenBound]) -> dict[str, str]:
    """By the label of a problem that no schedule keeps the limits of: the month by whose end they cannot be kept."""
    days, steps = first_days(plan.inflow.calendar), plan.inflow.steps
    days_of = {}
    for place, (label, proven) in enumerate(zip(plan.problems.labels, bounds, strict=True)):
        if proven.infeasible:
            first = int(np.argmax(plan.problems.of_year == place)) * steps
            step = proven.infeasible_step
            days_of[str(label)] = "" if step is None else str(days[first + step])[:10]
    return days_of
