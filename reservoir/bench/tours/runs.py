"""Every run of the experiment: which engine, on how large a population, how long, with what tour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from reservoir.bench.run_budget import RunBudget
from reservoir.errors import DeviceError
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import StageProgress
from reservoir.problems.tours.problem import TourProblem
from reservoir.solvers import Solution, solve

#: Individuals of an island, as in the paper.
ISLAND = 128
#: Engine of the table's first column, and those of a device.
SERIAL = "serial"
#: Engines by name: what the solver is asked for beside the population.
ENGINES: dict[str, dict[str, Any]] = {
    SERIAL: {"solver": "island-ga-sequential"},
    "tim": {"scheme": "tim"},
    "sak": {"scheme": "sak"},
    "slk": {"scheme": "slk"},
    "lim-cg": {"scheme": "lim-cg"},
    "lim-is": {"scheme": "lim-is"},
    "lim-async": {"scheme": "lim-async"},
}
#: The same where the host waits for every launch, as the papers' programs do.
WAITING = {f"{name}, waiting": {"scheme": name, "wait_each": True} for name in ("tim", "sak")}

#: Operators that the paper does not have, and how long they are given.
STRONG: dict[str, Any] = {
    "crossover": "order",
    "mutation": "two-opt",
    "crossover_fraction": 0.35,
    "islands": 8,
    "island_size": ISLAND,
}
STRONG_ITERATIONS = 300


@dataclass(frozen=True)
class Course:
    """What a call is to do.

    Parameters
    ----------
    device : DeviceInfo
    effort : RunBudget
    problem : TourProblem
    iterations : int
    populations : tuple of int
    """

    device: DeviceInfo
    effort: RunBudget
    problem: TourProblem
    iterations: int
    populations: tuple[int, ...]
    refusals: dict[tuple[str, int], str] = field(default_factory=dict)

    def solved(self, seed: int, **settings: Any) -> Solution:
        """One run."""
        solver = settings.pop("solver", "island-ga")
        device = str(self.device.index) if solver == "island-ga" else None
        return solve([self.problem], solver=solver, seed=seed, device=device, **settings)[0]


def engine_runs(course: Course, progress: StageProgress) -> pd.DataFrame:
    """Every engine on every population, engines in turn; a row for each run. Refusals are noted in the course."""
    engines = ENGINES | WAITING
    seeds = [course.effort.seed + run for run in range(course.effort.runs)]
    total = len(engines) * len(course.populations) * len(seeds)
    rows: list[dict[str, Any]] = []
    for place, population in enumerate(course.populations):
        settings = {"islands": population // ISLAND, "island_size": ISLAND}
        able = [name for name, asked in engines.items() if _compiles(course, name, population, {**settings, **asked})]
        for repeat, seed in enumerate(seeds):
            for name in able:
                progress(f"population {population:,}", (place * len(seeds) + repeat) * len(engines), total)
                rows += _runs_of(course, name, population, repeat + 1, seed, {**settings, **engines[name]})
    progress("tables", total, total)
    return pd.DataFrame(rows)


def _compiles(course: Course, name: str, population: int, settings: Mapping[str, Any]) -> bool:
    """Whether the device takes the engine; compiles it."""
    try:
        course.solved(0, iterations=1, **settings)
    except DeviceError as error:
        course.refusals[name, population] = str(error)
        return False
    return True


def _runs_of(
    course: Course, name: str, population: int, run: int, seed: int, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """A row, or none where a CPU had no thread left for a group that others wait for."""
    try:
        found = course.solved(seed, iterations=course.iterations, **settings)
    except DeviceError as error:
        course.refusals[name, population] = str(error)
        return []
    return [_row(name, population, run, found)]


def _row(engine: str, population: int, run: int, found: Solution) -> dict[str, Any]:
    settings = found.settings
    return {
        "engine": engine,
        "population": population,
        "run": run,
        "seconds": found.wall_seconds,
        "device_seconds": float("nan") if found.device_seconds is None else found.device_seconds,
        "length": -int(found.fitness),
        "evaluations": found.evaluations,
        "work_groups": settings.get("work_groups", 1),
        "items": settings.get("items", 1),
        "team": settings.get("team", 1),
        "resident": settings.get("resident"),
    }


def block_runs(course: Course, progress: StageProgress) -> pd.DataFrame:
    """Table 3: LIM-CG and LIM-IS by items of a block, with a sub-group of the device for a child, as in the paper."""
    rows: list[dict[str, Any]] = []
    team = course.device.sub_group_size
    shapes = [(block, size) for block in blocks_of(course.device) for size in course.populations]
    for done, (block, population) in enumerate(shapes):
        progress("Table 3", done, len(shapes))
        settings = {"islands": population // ISLAND, "island_size": ISLAND, "items": block, "team": team}
        for scheme in ("lim-cg", "lim-is"):
            if not _compiles(course, f"{scheme} {block}", population, {**settings, "scheme": scheme}):
                continue
            for repeat in range(course.effort.repeats):
                seed, asked = course.effort.seed + repeat, {**settings, "scheme": scheme}
                rows += [
                    each | {"block": block} for each in _runs_of(course, scheme, population, repeat + 1, seed, asked)
                ]
    progress("Table 3", len(shapes), len(shapes))
    return pd.DataFrame(rows)


def blocks_of(device: DeviceInfo) -> tuple[int, ...]:
    """Items of a block: those of the paper that a GPU can have; on a CPU a thread has a block, of one item."""
    if device.kind == "CPU":
        return (1,)
    return tuple(block for block in (128, 256, 512, 1024) if block <= device.max_work_group_size)


def counts(course: Course) -> pd.DataFrame:
    """Table 1: launches, and how often groups and the grid meet, counted by the program and by the kernels."""
    rows = []
    for name, asked in ENGINES.items():
        if name == SERIAL:
            continue
        islands = min(course.populations) // ISLAND
        if (name, min(course.populations)) in course.refusals:
            islands = 1
        settings = {"islands": islands, "island_size": ISLAND, "iterations": course.iterations}
        try:
            used = course.solved(course.effort.seed, counted=True, **settings, **asked).settings
        except DeviceError:
            continue
        keys = ("launches", "grid_meetings", "group_meetings", "resident", "work_groups")
        rows.append({"engine": name, "islands": islands} | {key: used.get(key) for key in keys})
    return pd.DataFrame(rows)


def strong_runs(course: Course, progress: StageProgress) -> pd.DataFrame:
    """The optional operators, by the device's engine."""
    rows = []
    course.solved(0, iterations=1, **STRONG)
    iterations = min(STRONG_ITERATIONS, course.iterations)
    for run in range(course.effort.runs):
        progress("other operators", run, course.effort.runs)
        found = course.solved(course.effort.seed + run, iterations=iterations, **STRONG)
        rows.append(_row("lim-is", STRONG["islands"] * ISLAND, run + 1, found))
    progress("other operators", course.effort.runs, course.effort.runs)
    return pd.DataFrame(rows)
