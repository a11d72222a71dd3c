"""Every run of the experiment: which engine, on how large a population, how long, with what tour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pandas as pd

from reservoir.bench.experiment import DeviceSetup, seconds_of
from reservoir.errors import DeviceError
from reservoir.opencl import DeviceInfo
from reservoir.problems.tours import TourProblem
from reservoir.solvers import Solution

#: Individuals of an island, as in the paper.
ISLAND = 128
#: Engine of the table's first column, and all by name: what the solver is asked for beside the population.
SERIAL = "serial"
ENGINES: dict[str, dict[str, Any]] = {SERIAL: {"solver": "island-ga-sequential"}} | {
    name: {"scheme": name} for name in ("tim", "sak", "slk", "lim-cg", "lim-is", "lim-async")
}
#: The same where the host waits for every launch, as the papers' programs do.
WAITING = {f"{name}, waiting": {"scheme": name, "wait_each": True} for name in ("tim", "sak")}
#: Operators that the paper does not have, and how long they are given.
STRONG: dict[str, Any] = {"crossover": "order", "mutation": "two-opt", "crossover_fraction": 0.35}
STRONG |= {"islands": 8, "island_size": ISLAND}
STRONG_ITERATIONS = 300


@dataclass(frozen=True, kw_only=True)
class TourSetup(DeviceSetup):
    """What is run: iterations on the tours of a problem, by populations; and what the device refused, as it comes."""

    problem: TourProblem
    iterations: int
    populations: tuple[int, ...]
    refusals: dict[tuple[str, int], str] = field(default_factory=dict)

    def solved(self, seed: int, solver: str = "island-ga", **settings: Any) -> Solution:
        """One run."""
        return self.solve([self.problem], solver, seed=seed, **settings)[0]

    def tried(self, name: str, population: int, seed: int, **settings: Any) -> Iterator[Solution]:
        """One run on islands, or none where the device refuses it.

        A CPU may also have no thread left for a group that others wait for, now and then.
        """
        try:
            yield self.solved(seed, islands=population // ISLAND, island_size=ISLAND, **settings)
        except DeviceError as error:
            self.refusals[name, population] = str(error)

    def compiles(self, name: str, population: int, **settings: Any) -> bool:
        """Whether the device takes the engine; compiles it."""
        return any(True for _ in self.tried(name, population, 0, iterations=1, **settings))


def engine_runs(setup: TourSetup) -> pd.DataFrame:
    """Every engine on every population, engines in turn; a row for each run."""
    engines = ENGINES | WAITING
    rows: list[dict[str, Any]] = []
    runs = list(product(setup.populations, range(setup.budget.runs)))
    able: list[str] = []
    for population, run in setup.tracked(lambda each: f"population {each[0]:,}", runs):
        if run == 0:
            able = [name for name, asked in engines.items() if setup.compiles(name, population, **asked)]
        for name in able:
            asked = {"iterations": setup.iterations, **engines[name]}
            found = setup.tried(name, population, setup.budget.seed + run, **asked)
            rows += [_row(name, population, run + 1, each) for each in found]
    return pd.DataFrame(rows)


def _row(engine: str, population: int, run: int, found: Solution) -> dict[str, Any]:
    about = {"engine": engine, "population": population, "run": run} | seconds_of(found)
    about |= {"length": -int(found.fitness), "evaluations": found.evaluations}
    defaults = {"work_groups": 1, "items": 1, "team": 1, "resident": None}
    return about | {name: found.settings.get(name, default) for name, default in defaults.items()}


def block_runs(setup: TourSetup) -> pd.DataFrame:
    """Table 3: LIM-CG and LIM-IS by items of a block, with a sub-group of the device for a child, as in the paper."""
    rows: list[dict[str, Any]] = []
    shapes = product(blocks_of(setup.device), setup.populations)
    for block, population in setup.tracked("Table 3", shapes):
        for scheme in ("lim-cg", "lim-is"):
            asked = {"items": block, "team": setup.device.sub_group_size, "scheme": scheme}
            if not setup.compiles(f"{scheme} {block}", population, **asked):
                continue
            for run in range(setup.budget.repeats):
                seed = setup.budget.seed + run
                found = setup.tried(scheme, population, seed, iterations=setup.iterations, **asked)
                rows += [_row(scheme, population, run + 1, each) | {"block": block} for each in found]
    return pd.DataFrame(rows)


def blocks_of(device: DeviceInfo) -> tuple[int, ...]:
    """Items of a block: those of the paper that a GPU can have; on a CPU a thread has a block, of one item."""
    if device.kind == "CPU":
        return (1,)
    return tuple(block for block in (128, 256, 512, 1024) if block <= device.max_work_group_size)


def counts(setup: TourSetup) -> pd.DataFrame:
    """Table 1: launches, and how often groups and the grid meet, counted by the program and by the kernels."""
    rows = []
    least = min(setup.populations)
    for name, asked in ENGINES.items():
        if name == SERIAL:
            continue
        islands = 1 if (name, least) in setup.refusals else least // ISLAND
        settings: dict[str, Any] = {"islands": islands, "iterations": setup.iterations, "counted": True}
        try:
            used = setup.solved(setup.budget.seed, island_size=ISLAND, **settings, **asked).settings
        except DeviceError:
            continue
        keys = ("launches", "grid_meetings", "group_meetings", "resident", "work_groups")
        rows.append({"engine": name, "islands": islands} | {key: used.get(key) for key in keys})
    return pd.DataFrame(rows)


def strong_runs(setup: TourSetup) -> pd.DataFrame:
    """The optional operators, by the device's engine."""
    setup.solved(0, iterations=1, **STRONG)  # compiles
    iterations, population = min(STRONG_ITERATIONS, setup.iterations), STRONG["islands"] * ISLAND
    rows = []
    for run in setup.tracked("other operators", range(setup.budget.runs)):
        found = setup.solved(setup.budget.seed + run, iterations=iterations, **STRONG)
        rows.append(_row("lim-is", population, run + 1, found))
    return pd.DataFrame(rows)
