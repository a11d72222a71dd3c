"""Proven bounds of a plan's problems: what no schedule that keeps the limits can exceed (`certificate`)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.bound import Effort, ProvenBound, prove_bound
from reservoir.hydro.month_series import first_days
from reservoir.planning.planned_record import Plan
from reservoir.planning.proofs import Proofs
from reservoir.planning.stages import StageProgress, silent_stage
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.processors import processors

FloatArray = NDArray[np.float64]

#: Name of this stage.
STAGE = "proof"
#: Gap that is asked for, and most seconds, where nothing else is said.
GAP, SECONDS = 1e-5, 600.0


@dataclass(frozen=True, eq=False)
class _Task:
    """A problem with a schedule of it, and its fitness if that keeps the limits."""

    year: ReservoirYear
    storage_hm3: FloatArray
    fitness: float | None


def prove_plan(
    plan: Plan, gap: float = GAP, seconds: float = SECONDS, progress: StageProgress = silent_stage
) -> Proofs:
    """Prove a bound for each problem of a plan.

    Parameters
    ----------
    plan : Plan
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time for all problems, about; what is proved until then holds, with a larger gap.
    progress : callable
        Told the stage, how many problems are done, and how many there are.
    """
    tasks, until = list(_tasks(plan)), time.monotonic() + seconds
    threads = processors()
    at_once, each = (threads, 1) if len(tasks) >= threads else (1, threads)
    scale = plan.problems.least_gap_scale

    def proved(task: _Task) -> ProvenBound:
        effort = Effort(gap, max(until - time.monotonic(), 0.0), each, scale)
        return prove_bound(task.year, task.storage_hm3, task.fitness, effort)

    found = []
    with ThreadPoolExecutor(at_once) as pool:
        for done, bound in enumerate(pool.map(proved, tasks)):
            found.append(bound)
            progress(STAGE, done + 1, len(tasks))
    bounds = np.array([each.bound for each in found])
    fitness = np.array([np.nan if task.fitness is None else task.fitness for task in tasks])
    scaled = np.maximum(np.abs(bounds), scale)
    with np.errstate(invalid="ignore"):
        short = (bounds - fitness) / np.where(scaled > 0, scaled, 1.0)
    return Proofs(bounds, short, gap, _where_infeasible(plan, found))


def _tasks(plan: Plan) -> Iterator[_Task]:
    positions = plan.problems.split([each.position for each in plan.solutions])
    for batch, position in zip(plan.problems.batches, positions, strict=True):
        made = batch.certify(position)
        for place, year in enumerate(batch):
            kept = made.violation[place] == 0
            fitness = float(made.fitness[place]) if kept else None
            yield _Task(year, made.operation.storage_hm3[place], fitness)


def _where_infeasible(plan: Plan, found: list[ProvenBound]) -> dict[str, str]:
    """By the label of a problem that no schedule keeps the limits of: the month by whose end they cannot be kept."""
    days, steps = first_days(plan.inflow.calendar), plan.inflow.steps
    told = {}
    for place, (label, each) in enumerate(zip(plan.problems.labels, found, strict=True)):
        if each.infeasible:
            first = int(np.argmax(plan.problems.of_year == place)) * steps
            step = each.infeasible_step
            told[str(label)] = "" if step is None else str(days[first + step])[:10]
    return told
