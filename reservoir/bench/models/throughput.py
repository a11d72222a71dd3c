"""Speed where many swarms run at once: independent swarms on f5, and the sequential engine beside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.models.engines import SEQUENTIAL
from reservoir.bench.models.runs import DIMENSION, PARTICLES, Course
from reservoir.planning.plan import StageProgress
from reservoir.problems.functions import FUNCTIONS, function_problems
from reservoir.solvers import Solution, solve
from reservoir.solvers.clpso.models import LANES

#: The function that the speeds are stated on.
FUNCTION = "f5"
#: As many as the years of the paper's case; and what fills a large GPU.
CASE_SWARMS, MANY_SWARMS = 62, 10_000
REPEATS = 3


@dataclass(frozen=True)
class Load:
    """Swarms that an engine solves in one call."""

    engine: str
    swarms: int
    generations: int

    def solved(self, course: Course, seed: int) -> Solution:
        """The first of the solutions; wall seconds are those of the whole call."""
        on_device = self.engine != SEQUENTIAL
        problems = function_problems(FUNCTIONS[FUNCTION], self.swarms, dimension=DIMENSION)
        return solve(
            problems,
            solver="clpso" if on_device else "clpso-sequential",
            seed=seed,
            device=str(course.device.index),
            particles=PARTICLES,
            generations=self.generations,
            trace_points=1,
        )[0]


def measure_throughput(course: Course, progress: StageProgress) -> pd.DataFrame:
    """Solve every load some times, in turn; a row a load, with medians."""
    loads = list(_loads(course))
    repeats = 1 if course.effort.quick else REPEATS
    measured: dict[Load, list[tuple[float, float, float]]] = {load: [] for load in loads}
    for repeat in range(repeats):
        for place, load in enumerate(loads):
            progress("many swarms", repeat * len(loads) + place, repeats * len(loads))
            solution = load.solved(course, course.effort.seed + repeat)
            device_seconds = np.nan if solution.device_seconds is None else solution.device_seconds
            # Evaluations of one swarm stand for all: they are the same to a part in a thousand.
            measured[load].append((solution.wall_seconds, device_seconds, solution.evaluations * load.swarms))
    progress("many swarms", repeats * len(loads), repeats * len(loads))
    return pd.DataFrame([_row(load, *np.median(measured[load], axis=0)) for load in loads])


def _loads(course: Course) -> Iterator[Load]:
    yield Load(SEQUENTIAL, CASE_SWARMS, course.generations)
    yield Load(LANES, CASE_SWARMS, course.generations)
    if course.device.kind != "CPU":
        yield Load(LANES, MANY_SWARMS, course.generations)


def _row(load: Load, seconds: float, device_seconds: float, evaluations: float) -> dict[str, Any]:
    busy = seconds if np.isnan(device_seconds) else device_seconds
    return {
        "engine": load.engine,
        "swarms": load.swarms,
        "generations": load.generations,
        "seconds": seconds,
        "device_seconds": device_seconds,
        "evaluations_per_second": evaluations / seconds,
        "evaluations_per_device_second": evaluations / busy,
    }


def speed_of(throughput: pd.DataFrame, engine: str, swarms: int | None = None) -> pd.Series[Any]:
    """The row of a load, by default of as many swarms as the paper's case has years."""
    wanted = CASE_SWARMS if swarms is None else swarms
    return throughput[(throughput["engine"] == engine) & (throughput["swarms"] == wanted)].iloc[0]


def lanes_speed_up(throughput: pd.DataFrame) -> float:
    """Times that the `LANES` model is as fast as the sequential engine, by wall seconds."""
    return float(speed_of(throughput, SEQUENTIAL)["seconds"] / speed_of(throughput, LANES)["seconds"])
