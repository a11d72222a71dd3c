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

import numpy as np

from reservoir.problems.base import Problem
from reservoir.solvers.dsmga2.run import CLIMBING, HIT, MIXING, HostBuilder, Run, evolve, new_run, position_of
from reservoir.solvers.dsmga2.settings import LOSSY, Dsmga2Settings
from reservoir.solvers.engine import Engine, Progress, silent
from reservoir.solvers.solution import EngineResult, EngineResults, Solutions, to_solutions
from reservoir.solvers.threads import threads_in_words

#: Name under which the seconds of the device are counted beside those of the stages.
DEVICE = "device"


class Dsmga2Engine(Engine[Dsmga2Settings]):
    """DSMGA-II, each problem with its own population, all of them side by side; models on the first of the devices."""

    name = "dsmga2"
    settings_class = Dsmga2Settings

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems of bit strings or real vectors, any mixture."""
        started = time.perf_counter()
        runs, where, seconds = run_all(problems, self.settings, seed=self.seed, device=device, progress=progress)
        wall_seconds = time.perf_counter() - started
        return to_solutions(
            problems,
            EngineResults.of([_result(run, self.settings.linkage_generations) for run in runs]),
            settings=self.record(),
            solver=self.name,
            device=where,
            wall_seconds=wall_seconds,
            device_seconds=seconds.pop(DEVICE, None),
            host_seconds_by_phase=dict(seconds),
        )


ENGINE = Dsmga2Engine


def _result(run: Run, linkage_generations: int) -> EngineResult:
    genes, fitness = run.best
    return EngineResult(
        position=position_of(run.problem, run.kind, genes[: run.loci]),
        generations=run.generations,
        evaluations=run.evaluations,
        trace_generations=np.arange(1, len(run.trace) + 1),
        trace_fitness=np.array(run.trace),
        fitness_float32=fitness,
        linkage=run.linkage / max(1, min(run.generations, linkage_generations)),
        settings={
            "loci": run.loci,
            "climbing_evaluations": int(run.population.tally[CLIMBING]),
            "mixing_evaluations": int(run.population.tally[MIXING]),
            "evaluations_to_optimum": int(run.population.tally[HIT]),
        },
    )


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

    where = threads_in_words(settings.workers)
    if not settings.on_device:
        return runs, where, evolve(runs, settings, HostBuilder(settings.model), ended)
    return _run_on_device(runs, settings, device, ended, where)


def _run_on_device(
    runs: Sequence[Run], settings: Dsmga2Settings, device: str | None, ended: Callable[[Run], None], where: str
) -> tuple[list[Run], str, Counter[str]]:
    """Models of populations of one size are built together."""
    from reservoir.opencl import HostClock, Session, choose_devices
    from reservoir.solvers.dsmga2.device_builder import DeviceBuilder, build_model_program, model_layout

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
