"""Proven bounds of a plan's problems: what no schedule that keeps the limits can exceed (`certificate`)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import numpy as np

from reservoir.certificate.bound import Effort, ProvenBound, prove_bound
from reservoir.certificate.on_device import has_double
from reservoir.certificate.proofs_together import Known, parts_together, prove_together
from reservoir.errors import DeviceError
from reservoir.hydro.month_series import first_days
from reservoir.opencl import DeviceInfo, choose_devices, opencl_available
from reservoir.planning.planned_record import Plan
from reservoir.planning.proofs import Proofs
from reservoir.planning.stages import StageProgress, silent_stage
from reservoir.processors import processors

#: Name of this stage.
STAGE = "proof"
#: Gap that is asked for, and most seconds, where nothing else is said.
GAP, SECONDS = 1e-5, 600.0
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
    device : str, optional
        See `reservoir.opencl.choose_devices`; of several, one computes, in float32 if none has double precision.
        ``"host"`` is CPU threads. By default (also ``"auto"``) a GPU or an accelerator with double precision if there
        is one, else CPU threads: compiled code is faster there than OpenCL, and bounds are tighter than in float32.
    or_host : bool
        Whether CPU threads prove in place of a named device that cannot, or not in double precision.

    Raises
    ------
    DeviceError
        If the device that is named is missing, cannot bound brackets, or fails.
    """
    problems, until = list(_known(plan)), time.monotonic() + seconds
    effort = Effort(gap, seconds, processors(), plan.problems.least_gap_scale)
    asked, found = (device or AUTO).strip().lower(), None
    if asked != HOST:
        with suppress(*([DeviceError] if or_host or asked == AUTO else [])):
            chosen = device_of(asked, or_host=or_host)
            found = None if chosen is None else _on_device(chosen, problems, effort, until, progress)
    if found is None:
        found = _on_host(problems, effort, until, progress)
    bounds = np.array([each.bound for each in found])
    fitness = np.array([np.nan if known.fitness is None else known.fitness for known in problems])
    scaled = np.maximum(np.abs(bounds), effort.least_scale)
    with np.errstate(invalid="ignore"):
        short = (bounds - fitness) / np.where(scaled > 0, scaled, 1.0)
    return Proofs(bounds, short, gap, _where_infeasible(plan, found))


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
        return best if has_double(best) and best.kind != "CPU" else None
    return best if has_double(best) or not or_host else None


def _on_device(
    device: DeviceInfo, problems: list[Known], effort: Effort, until: float, progress: StageProgress
) -> list[ProvenBound]:
    """Prove problems on a device, as many at once as it takes."""
    found: list[ProvenBound] = []

    def done(more: int) -> None:
        progress(STAGE, len(found) + more, len(problems))

    for together in parts_together(problems):
        found += prove_together(device, together, replace(effort, seconds=max(until - time.monotonic(), 0.0)), done)
    return found


def _on_host(problems: list[Known], effort: Effort, until: float, progress: StageProgress) -> list[ProvenBound]:
    """Prove problems on CPU threads: a thread a problem, or all threads one problem after another if there are few."""
    at_once, each = (effort.threads, 1) if len(problems) >= effort.threads else (1, effort.threads)

    def proved(known: Known) -> ProvenBound:
        return prove_bound(*known, replace(effort, seconds=max(until - time.monotonic(), 0.0), threads=each))

    found = []
    with ThreadPoolExecutor(at_once) as pool:
        for bound in pool.map(proved, problems):
            found.append(bound)
            progress(STAGE, len(found), len(problems))
    return found


def _known(plan: Plan) -> Iterator[Known]:
    """Each problem, with its schedule, and the fitness of that if it keeps the limits."""
    positions = plan.problems.split([each.position for each in plan.solutions])
    for batch, position in zip(plan.problems.batches, positions, strict=True):
        made = batch.certify(position)
        for place, year in enumerate(batch):
            kept = made.violation[place] == 0
            yield Known(year, made.operation.storage_hm3[place], float(made.fitness[place]) if kept else None)


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
