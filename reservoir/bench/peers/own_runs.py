"""The project's own solvers in the race."""

from __future__ import annotations

import itertools
import time
from collections.abc import Generator

from reservoir.bench.peers.budget import Attempt, Course, gap_to
from reservoir.bench.peers.run import Run, summed_up
from reservoir.solvers import solve


def own_runs(name: str, course: Course, device: str) -> Generator[Run]:
    """Run a solver of `SOLVERS` to its end: it is told neither the optimum nor when to stop.

    A first run compiles and is not counted.
    """
    start_up = 0.0
    for repeat in itertools.count():
        started = time.perf_counter()
        found = solve(course.years, solver=name, seed=course.seed + repeat, device=device)
        seconds = time.perf_counter() - started
        attempts = [
            [Attempt(gap_to(optimum, each.fitness), each.evaluations, seconds)]
            for each, optimum in zip(found, course.optima_gwh, strict=True)
        ]
        if repeat == 0:
            start_up = seconds
        else:
            yield summed_up(attempts, course.budget.near, seconds, max(start_up - seconds, 0.0), found[0].device)
