"""The experiment's second part: every problem solved with every way to build its model, stages timed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd

from reservoir.bench.linkage.cases import Case
from reservoir.opencl import DeviceInfo, Session
from reservoir.plan import StageProgress
from reservoir.solvers.dsmga2 import Dsmga2Settings
from reservoir.solvers.dsmga2.device_builder import DeviceBuilder
from reservoir.solvers.dsmga2.people import CLIMBING, EQUAL, HIT, MIXING
from reservoir.solvers.dsmga2.run import LINKAGE_STAGE, MATRIX_STAGE, MIXING_STAGE, HostBuilder, Run, evolve, new_run
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL

#: In the order of the tables.
MODELS = (SEQUENTIAL, LOSSLESS, LOSSY, ON_DEMAND)


def solve_all(cases: Sequence[Case], runs: int, seed: int, device: DeviceInfo, progress: StageProgress) -> pd.DataFrame:
    """A row for each case, way of building and run; one at a time, on one thread of the host.

    Columns: kind, problem, bits, population, model, run, found, false_optimum, evaluations, mixing_evaluations,
    climbing_evaluations, generations, and seconds: matrix_s (stage 1: selection, copies, matrix), linkage_s (stage 2:
    linkage sets and copies), mixing_s, total_s.
    """
    rows: list[dict[str, Any]] = []
    total = len(cases) * len(MODELS) * runs
    for case in cases:
        for model in MODELS:
            settings = Dsmga2Settings(population=case.population, model=model, threads=1, linkage_generations=0)
            _solved(case, settings, 0, seed, device, brief=True)  # compiles
            for number in range(runs):
                progress("runs", len(rows), total)
                rows.append(_solved(case, settings, number, seed, device))
    progress("runs", total, total)
    return pd.DataFrame(rows)


def _solved(
    case: Case, settings: Dsmga2Settings, number: int, seed: int, device: DeviceInfo, *, brief: bool = False
) -> dict[str, Any]:
    began = time.perf_counter()
    run = new_run(case.problem(number), settings, seed)
    if brief:
        settings = Dsmga2Settings(**{**settings.as_dict(), "generations": 1})
    if settings.on_device:
        with Session(device) as session:
            lossy = settings.model == LOSSY
            builder = DeviceBuilder(session, run.loci, settings.individuals, 1, lossy=lossy, timed=True)
            seconds = evolve([run], settings, builder, lambda run: None)
    else:
        seconds = evolve([run], settings, HostBuilder(settings.model), lambda run: None)
    return {
        "kind": case.kind,
        "problem": case.label,
        "bits": case.bits,
        "population": settings.individuals,
        "model": settings.model,
        "run": number,
        **_found(run),
        "matrix_s": seconds[MATRIX_STAGE],
        "linkage_s": seconds[LINKAGE_STAGE],
        "mixing_s": seconds[MIXING_STAGE],
        "total_s": time.perf_counter() - began,
    }


def _found(run: Run) -> dict[str, Any]:
    tally, problem = run.people.tally, run.problem
    genes, _ = run.best
    reported = bool(tally[HIT])
    right = problem.certify(genes[: run.loci].astype(float)).fitness >= run.people.optimum - EQUAL
    return {
        "found": reported,
        "false_optimum": reported and not right,
        "evaluations": int(tally[HIT]) or run.evaluations,
        "mixing_evaluations": int(tally[MIXING]),
        "climbing_evaluations": int(tally[CLIMBING]),
        "generations": run.generations,
    }
