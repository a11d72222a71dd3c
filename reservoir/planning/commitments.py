"""Commitments to annual releases: schedules that keep them as far as can be, and room around these for all solvers.

Sequential linear programming knows a commitment: it is a row of its programs (`solvers.slp.program`). For all other
solvers the storages at the ends of water years are drawn in around the schedule that it finds, by what each year
releases beyond its commitment: so much higher may the year end, or so much lower begin. Of years whose level decides
which volume counts, the storage stays within its tier. What is found there is judged without those bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.commitments import (
    LEAST,
    MOST,
    committed_hm3,
    counts_turbined,
    is_committed,
    sides,
    spare_hm3,
    surely_hm3,
    tier_bounds_hm3,
    tier_step,
)
from reservoir.hydro.limits import Limits
from reservoir.hydro.operation import Operation
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.firm_power import judged
from reservoir.planning.planned_record import Plan, Sources, operation_of
from reservoir.planning.solving import StageProgress, begun, silent_stage
from reservoir.problems.base import FloatArray
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import system_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.slp.misses import least_misses, lost_between
from reservoir.solvers.solution import joined

#: The solver that knows commitments, and what its search for schedules that keep them is timed as.
KNOWING, COMMITMENT_STAGE = "slp", "commitments"
#: Of a committed volume so much more is released: room for rounding, here and in files.
_ROOM = 1e-6
#: Part of volumes by which bounds are wider, and difference of violations that is nothing: room for rounding.
ROUNDING = 1e-9


def as_system(problems: RecordProblems) -> RecordProblems:
    """Problems of one reservoir as those of a system of it."""
    system: Any = problems.model.system
    return system_problems(system, SiteInflows({system.reservoir.name: problems.inflow}), problems.horizon)


def keeping_commitments(
    problems: RecordProblems, progress: StageProgress = silent_stage
) -> tuple[RecordProblems, list[FloatArray]]:
    """Problems of one reservoir within the room that its commitments leave, and positions of schedules that keep them.

    As they are, and no positions, of a reservoir without.
    """
    if not is_committed(problems.model.reservoir):
        return problems, []
    of_system = as_system(problems)
    found = solve(of_system.each, solver=KNOWING, progress=begun(progress, COMMITMENT_STAGE, len(problems)))
    batches, positions = list[ReservoirYears](), list[FloatArray]()
    parts = zip(problems.batches, of_system.batches, of_system.split(found.position), strict=True)
    for batch, years, position in parts:
        operation: Any = years.operate(position)
        (room,) = _rooms(batch.model.system, operation.of_reservoirs, operation.hm3_per_m3s)
        (own,) = operation.of_reservoirs
        batches.append(replace(batch, limits=drawn_in(batch.limits, *room)))
        positions += [*np.column_stack([own.draft_m3s, own.storage_hm3[:, 0]])[:, : batch.dimension]]
    return replace(problems, batches=tuple(batches)), positions


def within_commitments(problems: RecordProblems, positions: Sequence[FloatArray] | FloatArray) -> RecordProblems:
    """Problems of a system within the room that its commitments leave around positions; without any, as they are."""
    if not any(map(is_committed, problems.model.system.reservoirs)):
        return problems
    batches = list[Any]()
    for batch, position in zip(problems.batches, problems.split(positions), strict=True):
        years, operation = batch, batch.operate(position)  # type: Any, Any
        rooms = _rooms(years.system, operation.of_reservoirs, operation.hm3_per_m3s)
        each = zip(years.years, rooms, strict=True)
        within = (replace(own, limits=drawn_in(own.limits, *room)) for own, room in each)
        batches.append(replace(years, years=tuple(within)))
    return replace(problems, batches=tuple(batches))


def without_room(problems: RecordProblems, given: RecordProblems) -> RecordProblems:
    """Problems of one reservoir, or the first of them, with the storages that they were given with."""
    batches = list[Any]()
    for batch, before in zip(problems.batches, given.batches, strict=False):
        limits = before.limits[: len(batch)]
        bounds = {"storage_lower": limits.storage_lower_hm3, "storage_upper": limits.storage_upper_hm3}
        batches.append(replace(batch, limits=batch.limits.changed(**bounds)))
    return replace(problems, batches=tuple(batches))


def drawn_in(limits: Limits, lowest: FloatArray, highest: FloatArray) -> Limits:
    """Limits whose storages are between others, as far as they allow."""
    bounds = limits.storage_lower_hm3, limits.storage_upper_hm3
    return limits.changed(storage_lower=np.clip(lowest, *bounds), storage_upper=np.clip(highest, *bounds))


def _rooms(
    system: System, operations: Sequence[Operation], hm3_per_m3s: FloatArray
) -> list[tuple[FloatArray, FloatArray]]:
    """Lowest and highest storages of each reservoir at the ends of steps, shape (years, steps).

    What is spare is shared by the reservoirs above, whose water it is too, and by both ends of a year.
    """
    shape = hm3_per_m3s.shape
    rooms = [(np.full(shape, -np.inf), np.full(shape, np.inf)) for _ in operations]
    for place, reservoir in enumerate(system.reservoirs):
        if not is_committed(reservoir):
            continue
        own, each = operations[place], reservoir.step.per_year
        movers = [place, *_above(system, place)]
        ends = np.arange(each - 1, shape[1], each)
        for side, mover in product(sides(reservoir), movers):
            volume, held = committed_hm3(reservoir, own.storage_hm3, side), operations[mover].storage_hm3[:, 1:]
            spare = np.maximum(spare_hm3(reservoir, own, hm3_per_m3s, side) - _ROOM * volume, 0.0) / len(movers)
            begun = int(system.reservoirs[mover].initial_storage_hm3 is not None)
            if len(ends) == 1 and not begun:
                continue  # it ends as it begins, whatever is stored
            at_end = np.where(np.arange(len(ends)) < begun, 1.0, 0.5) * spare
            starts = ends[begun:] - each  # of a cyclic first year the last step of all
            (lowest, highest), at_start = rooms[mover], 0.5 * spare[:, begun:]
            if side == LEAST:
                highest[:, ends] = np.minimum(highest[:, ends], held[:, ends] + at_end)
                lowest[:, starts] = np.maximum(lowest[:, starts], held[:, starts] - at_start)
            else:
                lowest[:, ends] = np.maximum(lowest[:, ends], held[:, ends] - at_end)
                highest[:, starts] = np.minimum(highest[:, starts], held[:, starts] + at_start)
        decisive = np.arange(tier_step(reservoir) - 1, shape[1], each)
        decisive = decisive[decisive >= 0] if reservoir.initial_storage_hm3 is not None else decisive
        (lowest, highest), tiers = rooms[place], tier_bounds_hm3(reservoir, own.storage_hm3[:, 1:][:, decisive])
        lowest[:, decisive] = np.maximum(lowest[:, decisive], tiers[0])
        highest[:, decisive] = np.minimum(highest[:, decisive], tiers[1])
    return rooms


def _above(system: System, place: int) -> set[int]:
    """Places of all reservoirs whose water reaches one."""
    sources = {source for source, _ in system.into(place)}
    return sources.union(*(_above(system, source) for source in sources))


def bounded_by_commitments(batch: ReservoirYears) -> ReservoirYears:
    """Years, or one, with the storages at the ends of water years that no schedule is beyond which keeps commitments.

    A water year stores no more than what flows in less what is lost at least and released at least, and no less than
    what flows in less the most of both; of one year from a given storage, without losses, that is all that its
    commitment says.
    """
    reservoir, limits = batch.model.reservoir, batch.limits
    if not is_committed(reservoir):
        return batch
    if limits.inflow_m3s.ndim == 1:
        return bounded_by_commitments(ReservoirYears.batch([batch]))[0]
    each, released = reservoir.step.per_year, [surely_hm3(reservoir, side) for side in (LEAST, MOST)]
    if counts_turbined(reservoir):
        released[1] = np.inf  # what is spilled comes on top
    gains = list[FloatArray]()
    for side, volume, lost in zip((LEAST, MOST), released, lost_between(limits), strict=True):
        stored = limits.hm3_per_m3s * limits.net_inflow_m3s - lost
        gain = stored.reshape(len(stored), -1, each).sum(axis=-1) - volume
        gains.append(gain + side * ROUNDING * (np.abs(stored).sum(axis=-1, keepdims=True) + volume))
    most_gain, least_gain = gains
    lower, upper = limits.storage_lower_hm3.copy(), limits.storage_upper_hm3.copy()
    ends = range(each - 1, limits.steps, each)
    lowest, highest = limits.start_lower, limits.start_upper  # type: Any, Any
    for year, end in enumerate(ends):
        bounds = lower[:, end].copy(), upper[:, end].copy()
        highest = upper[:, end] = np.clip(highest + most_gain[:, year], *bounds)
        lowest = lower[:, end] = np.clip(lowest + least_gain[:, year], bounds[0], highest)
    for year, end in reversed([*enumerate(ends)][1:]):
        start = end - each
        lower[:, start] = np.clip(lower[:, end] - most_gain[:, year], lower[:, start], upper[:, start])
        upper[:, start] = np.clip(upper[:, end] - least_gain[:, year], lower[:, start], upper[:, start])
    return replace(batch, limits=limits.changed(storage_lower=lower, storage_upper=upper))


def proved_uncommitted(problems: RecordProblems, places: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Of which of some problems of one reservoir it is proved that no schedule keeps limits and commitments."""
    years: Any = as_system(problems).some(places)
    return np.array([next(least_misses(each)) is not None for each in years], np.bool_)


def judged_without_room(plan: Plan, given: RecordProblems, keeping: Sequence[FloatArray]) -> Plan:
    """A plan that was found where commitments leave room, as one of the problems that were given.

    Where losses differ so much that a schedule misses a commitment, that which was found first is taken.
    """
    problems = without_room(plan.problems, given)
    positions = joined([each[np.newaxis] for each in keeping[: len(problems)]])

    def kept(found: Solutions) -> tuple[Solutions, NDArray[np.intp]]:
        own = judged(problems.each, found)
        first = judged(problems.each, replace(own, position=positions))
        places = np.flatnonzero(first.violation < own.violation - ROUNDING)
        return own.replaced(places, first[places]) if places.size else own, places

    (solutions, places), sources = kept(plan.solutions), plan.sources
    references = kept(plan.references)[0] if plan.references else plan.references
    if sources or places.size:
        sources = sources or Sources((plan.solutions.solver,) * len(problems), plan.solutions, plan.settings, {})
        of_problem = np.array(sources.of_problem, object)
        of_problem[places] = KNOWING
        sources = replace(sources, of_problem=tuple(of_problem.tolist()), engine=judged(problems.each, sources.engine))
    operation = operation_of(problems, solutions)
    found = replace(plan, problems=problems, operation=operation, sources=sources)
    return replace(found, solutions=solutions, references=references)
