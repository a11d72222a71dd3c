"""What the experiment claims: every threshold once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reservoir.bench.ring.findings import (
    REFERENCE,
    STANDARD,
    errors_above,
    errors_from_standard,
    median_ratio,
    speed_up,
    values_of,
)
from reservoir.bench.ring.runs import SEQUENTIAL, Course
from reservoir.planning.checks import Check
from reservoir.problems.sums.functions import RING_FUNCTIONS
from reservoir.solvers.ring_pso.engine import ASYNC, SYNC

#: Standard errors between means that chance explains.
MOST_ERRORS = 3.0
#: The asynchronous median beside the synchronous one.
MOST_RATIO = 2.0
#: On a large GPU at the most variables: asynchronous beside synchronous, and beside the sequential engine.
ASYNC_SPEED, SEQUENTIAL_SPEED, LARGE_GPU_UNITS = 3.0, 100.0, 100
#: The dear function that speeds are claimed of, and its variables.
DEAR, DEAR_DIMENSION = "rastrigin", 128
#: Generations of a run that claims hold for.
GENERATIONS = 10_000


def ring_checks(course: Course, runs: pd.DataFrame, times: pd.DataFrame, standard: pd.DataFrame) -> list[Check]:
    """Claims that this device and this effort can be held to; a quick trial claims nothing."""
    if course.effort.quick or course.effort.runs < 2 or course.generations < GENERATIONS:
        return []
    return [*_quality(course, runs), *_standard(standard), *_speed(course, times)]


def _quality(course: Course, runs: pd.DataFrame) -> Iterator[Check]:
    for engine in (SEQUENTIAL, SYNC):
        for name, reference in REFERENCE.items():
            known = [dimension for dimension in reference if dimension in course.dimensions]
            if known:
                worst = max(errors_above(values_of(runs, name, each, engine), name, each) for each in known)
                title = f"{engine}, {RING_FUNCTIONS[name].title}: standard errors above the reference, most"
                yield Check(title, worst, MOST_ERRORS)
    for name, function in RING_FUNCTIONS.items():
        ratios = [
            median_ratio(*(values_of(runs, name, dimension, mode) for mode in (ASYNC, SYNC)))
            for dimension in course.dimensions
        ]
        yield Check(f"async / sync, {function.title}: ratio of medians, most", float(np.max(ratios)), MOST_RATIO)


def _standard(standard: pd.DataFrame) -> Iterator[Check]:
    worst = max(
        errors_from_standard(standard["value"][standard["function"] == name].to_numpy(float), name) for name in STANDARD
    )
    yield Check("Standard PSO 2006: standard errors from its published values, most", worst, MOST_ERRORS)


def _speed(course: Course, times: pd.DataFrame) -> Iterator[Check]:
    large = course.device.kind == "GPU" and course.device.compute_units >= LARGE_GPU_UNITS
    if not large or DEAR_DIMENSION not in course.dimensions:
        return
    alone = {mode: speed_up(times, DEAR, DEAR_DIMENSION, mode, alone=True) for mode in (SYNC, ASYNC)}
    about = f"{RING_FUNCTIONS[DEAR].title}, {DEAR_DIMENSION} variables"
    yield Check(f"{about}: async / sync, speed", alone[ASYNC] / alone[SYNC], ASYNC_SPEED, at_least=True)
    many = speed_up(times, DEAR, DEAR_DIMENSION, ASYNC, alone=False)
    yield Check(f"{about}: async / sequential, speed, many swarms", many, SEQUENTIAL_SPEED, at_least=True)
    yield Check(f"{about}: async / sequential, speed, a swarm alone", alone[ASYNC], SEQUENTIAL_SPEED, at_least=True)
