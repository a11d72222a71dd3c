"""What is run: problems by kind and size with the population each needs, and every way to build their models."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reservoir import resources
from reservoir.bench.data import bundled
from reservoir.bench.experiment import DeviceSetup
from reservoir.opencl import DeviceInfo, Session
from reservoir.problems.bits import FAMILIES, BitProblem, SpinGlass, read_spin_glass, spin_problem
from reservoir.solvers.dsmga2.device_builder import DeviceBuilder, build_model_program, model_layout
from reservoir.solvers.dsmga2.engine import run_all
from reservoir.solvers.dsmga2.run import (
    CLIMBING,
    EQUAL,
    HIT,
    LINKAGE_STAGE,
    MATRIX_STAGE,
    MIXING_STAGE,
    Builder,
    HostBuilder,
    Run,
    evolve,
    new_run,
)
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL, Dsmga2Settings

SPIN = "spin"
#: Titles of all kinds of problems.
TITLES = {**{name: family.title for name, family in FAMILIES.items()}, SPIN: "Ising spin glass"}

#: Populations by kind and size: means of sweeps.
POPULATIONS: dict[str, dict[int, int]] = bundled("linkage")["populations"]


@dataclass(frozen=True)
class Case:
    """A problem of a kind (see `TITLES`) and its population; the glass is a spin glass's."""

    kind: str
    label: str
    bits: int
    population: int
    glass: SpinGlass | None = None

    def problem(self, rng_stream_id: int) -> BitProblem:
        """The problem with the random numbers of a stream."""
        if self.glass is not None:
            return spin_problem(self.glass, rng_stream_id)
        return FAMILIES[self.kind].of(self.bits, rng_stream_id)


def trap_cases(kinds: Sequence[str], sizes: Sequence[int]) -> list[Case]:
    """Traps of these kinds and sizes; InputError where a kind has no such size."""
    return [
        Case(kind, FAMILIES[kind].of(bits).label, bits, population_for(kind, bits))
        for kind in kinds
        if kind != SPIN
        for bits in sizes
    ]


def spin_cases(files: Sequence[Path]) -> list[Case]:
    """Spin glasses of files, by their spins."""
    glasses = sorted((read_spin_glass(path) for path in files), key=lambda glass: (glass.spins, glass.name))
    return [
        Case(SPIN, f"SPIN {glass.name}", glass.spins, population_for(SPIN, glass.spins), glass) for glass in glasses
    ]


def bundled_glasses(*, first_only: bool) -> list[Path]:
    """Files of the bundled spin glasses, all or the first of each size."""
    files = sorted(path for path in resources.folder("data").joinpath("spin").iterdir() if path.suffix != ".md")
    return [path for path in files if path.name.endswith("_1")] if first_only else files


def population_for(kind: str, bits: int) -> int:
    """An even population: as sweeps found, between those of the nearest sizes, or in proportion beyond the largest."""
    known = POPULATIONS[kind]
    largest = max(known)
    if bits > largest:
        return 2 * round(known[largest] * bits / largest / 2)
    population = round(float(np.interp(bits, list(known), list(known.values()))))
    return population + population % 2


#: In the order of the tables.
MODELS = (SEQUENTIAL, LOSSLESS, LOSSY, ON_DEMAND)
#: Evaluations are means of so many times as many runs as times are.
EVALUATION_RUNS = 10
#: Those whose evaluations are compared: the first stands for all that build whole sets, which go the same way.
EVALUATED = (ON_DEMAND, LOSSY)


@dataclass(frozen=True, kw_only=True)
class LinkageSetup(DeviceSetup):
    """What is run: the problems."""

    cases: Sequence[Case]


def solve_all(setup: LinkageSetup) -> pd.DataFrame:
    """A row for each case, way of building and run; one at a time, on one thread of the host.

    Columns: kind, problem, bits, population, model, run, found, false_optimum, evaluations, mixing_evaluations,
    climbing_evaluations, generations, set_length (mean of the loci of the last model's sets), and seconds: matrix_s
    (stage 1: selection, copies, matrix), linkage_s (stage 2: linkage sets and copies), mixing_s, total_s.
    """
    rows: list[dict[str, Any]] = []
    seed = setup.budget.seed
    for case, model in setup.tracked("runs", product(setup.cases, MODELS)):
        settings = Dsmga2Settings(population=case.population, model=model, threads=1, linkage_generations=0)
        with _builder(case, settings, setup.device) as builder:
            _timed(case, replace(settings, generations=1), builder, 0, seed)  # compiles
            rows += [_timed(case, settings, builder, number, seed) for number in range(setup.budget.runs)]
    return pd.DataFrame(rows)


def evaluate_all(setup: LinkageSetup) -> pd.DataFrame:
    """A row for each case, model of `EVALUATED` and run, all runs of a case side by side.

    Columns: kind, problem, bits, model, run, found, evaluations until the optimum, mixing_evaluations (hill climbing
    apart) and generations.
    """
    rows: list[dict[str, Any]] = []
    seed, device = setup.budget.seed, str(setup.device.index)
    for case in setup.tracked("evaluations", setup.cases):
        problems = [
            case.problem(number) for number in range(setup.budget.runs * setup.budget.usual(EVALUATION_RUNS, 1))
        ]
        for model in EVALUATED:
            settings = Dsmga2Settings(population=case.population, model=model, linkage_generations=0)
            runs, *_ = run_all(problems, settings, seed=seed, device=device)
            rows += [{**_about(case, model, number), **_found(run)} for number, run in enumerate(runs)]
    return pd.DataFrame(rows)


@contextmanager
def _builder(case: Case, settings: Dsmga2Settings, device: DeviceInfo) -> Iterator[Builder]:
    """What builds the models of all runs of a case: a device keeps its buffers from run to run."""
    if not settings.on_device:
        yield HostBuilder(settings.model)
        return
    layout = model_layout(device, case.bits, settings.individuals, lossy=settings.model == LOSSY)
    with Session(device) as session:
        yield DeviceBuilder(session, build_model_program(device, layout), layout, 1, timed=True)


def _timed(case: Case, settings: Dsmga2Settings, builder: Builder, number: int, seed: int) -> dict[str, Any]:
    began = time.perf_counter()
    run = new_run(case.problem(number), settings, seed)
    builder.seconds.clear()
    seconds = evolve([run], settings, builder, lambda run: None)
    total = time.perf_counter() - began
    row = {**_about(case, settings.model, number), "population": settings.individuals, **_found(run)}
    row |= {"set_length": float(run.model.lengths.mean()), "matrix_s": seconds[MATRIX_STAGE]}
    return row | {"linkage_s": seconds[LINKAGE_STAGE], "mixing_s": seconds[MIXING_STAGE], "total_s": total}


def _about(case: Case, model: str, number: int) -> dict[str, Any]:
    return {"kind": case.kind, "problem": case.label, "bits": case.bits, "model": model, "run": number}


def _found(run: Run) -> dict[str, Any]:
    tally, problem = run.population.tally, run.problem
    genes, _ = run.best
    reported, climbing = bool(tally[HIT]), int(tally[CLIMBING])
    spent = int(tally[HIT]) or run.evaluations
    right = problem.certify(genes[: run.loci].astype(float)).fitness >= run.population.optimum - EQUAL
    row = {"found": reported, "false_optimum": reported and not right, "evaluations": spent}
    row |= {"mixing_evaluations": max(spent - climbing, 0), "climbing_evaluations": climbing}
    return row | {"generations": run.generations}
