"""DSMGA-II: a genetic algorithm that learns which bits belong together, and mixes by that model.

Li and Yu 2017, "Speeding up DSMGA-II on CUDA platform", GECCO '17, https://doi.org/10.1145/3071178.3071228, after Hsu
and Yu 2015. Problems of bit strings are solved as they are; the variables of other problems are coded in Gray code,
those of a reservoir year as storages at the ends of its months, each within what can be reached.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solution
from reservoir.solvers.dsmga2.genotype import position_of
from reservoir.solvers.dsmga2.population import CLIMBING, HIT, MIXING
from reservoir.solvers.dsmga2.run import HostBuilder, Run, evolve, new_run
from reservoir.solvers.dsmga2.settings import LOSSY, Dsmga2Settings

NAME = "dsmga2"
SETTINGS = Dsmga2Settings
#: Name under which the seconds of the device are counted beside those of the stages.
DEVICE = "device"

__all__ = ["Dsmga2Settings", "run_all", "solve"]


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    **options: Any,
) -> list[Solution]:
    """Solve each problem with its own population, all of them side by side.

    Parameters
    ----------
    problems : sequence of Problem
        Of bit strings or real vectors, any mixture.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        Where models are built, if in OpenCL; see `reservoir.opencl.choose_device`. Of several the first.
    progress : callable
        Told how many of the problems are done.
    **options
        Fields of `Dsmga2Settings`.

    Raises
    ------
    InputError
        If a setting is out of range.
    DeviceError
        If a device is needed and missing or too small.
    """
    settings = Dsmga2Settings(**options)
    started = time.perf_counter()
    runs, where, host_seconds_by_phase = run_all(problems, settings, seed=seed, device=device, progress=progress)
    wall = time.perf_counter() - started
    return _solutions(runs, settings, seed, where, wall, host_seconds_by_phase)


def run_all(
    problems: Sequence[Problem],
    settings: Dsmga2Settings,
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
) -> tuple[list[Run], str, Counter[str]]:
    """The populations at their ends, in the problems' order; where models were built; and the seconds of each stage."""
    with ThreadPoolExecutor(settings.workers) as pool:
        runs = list(pool.map(lambda problem: new_run(problem, settings, seed), problems))
    done: list[Run] = []

    def ended(run: Run) -> None:
        done.append(run)
        progress(len(done), len(runs))

    where = "one CPU thread" if settings.workers == 1 else f"{settings.workers} CPU threads"
    if not settings.on_device:
        return runs, where, evolve(runs, settings, HostBuilder(settings.model), ended)
    return _run_on_device(runs, settings, device, ended, where)


def _run_on_device(
    runs: Sequence[Run], settings: Dsmga2Settings, device: str | None, ended: Callable[[Run], None], where: str
) -> tuple[list[Run], str, Counter[str]]:
    """Models of populations of one size are built together."""
    from reservoir.opencl import HostClock, Session, choose_devices
    from reservoir.solvers.dsmga2.device_builder import DeviceBuilder
    from reservoir.solvers.dsmga2.device_program import build_model_program, model_layout

    chosen = choose_devices(device)[0]
    sizes: dict[int, list[Run]] = {}
    for run in runs:
        sizes.setdefault(run.loci, []).append(run)
    seconds: Counter[str] = Counter()
    for loci, members in sizes.items():
        clock = HostClock()
        layout = model_layout(chosen, loci, settings.individuals, lossy=settings.model == LOSSY)
        with clock("build"):
            program = build_model_program(chosen, layout)
        with Session(chosen, clock) as session:
            builder = DeviceBuilder(session, program, layout, len(members))
            seconds += evolve(members, settings, builder, ended)
            seconds.update({DEVICE: sum(session.device_seconds.values())})
        seconds.update(clock.seconds)
    return list(runs), f"{chosen.name} and {where}", seconds


def _solutions(
    runs: Sequence[Run], settings: Dsmga2Settings, seed: int, where: str, wall: float, seconds: Counter[str]
) -> list[Solution]:
    positions = [position_of(run.problem, run.kind, run.best[0][: run.loci]) for run in runs]
    worth = certify_all([run.problem for run in runs], positions)
    values = worth.fitness.tolist(), worth.benefit.tolist(), worth.violation.tolist()
    device_seconds = seconds.get(DEVICE)
    host_seconds_by_phase = {stage: spent for stage, spent in seconds.items() if stage != DEVICE}
    return [
        Solution(
            position,
            fitness,
            benefit,
            violation,
            run.generations,
            run.evaluations,
            wall,
            device_seconds,
            NAME,
            where,
            {
                **settings.as_dict(),
                "seed": seed,
                "loci": run.loci,
                "climbing_evaluations": int(run.people.tally[CLIMBING]),
                "mixing_evaluations": int(run.people.tally[MIXING]),
                "evaluations_to_optimum": int(run.people.tally[HIT]),
            },
            np.arange(1, len(run.trace) + 1),
            np.array(run.trace),
            host_seconds_by_phase,
            run.best[1],
            linkage=run.linkage / max(1, min(run.generations, settings.linkage_generations)),
        )
        for run, position, fitness, benefit, violation in zip(runs, positions, *values, strict=True)
    ]
