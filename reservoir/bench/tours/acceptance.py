"""What the experiment claims: every threshold once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import pandas as pd

from reservoir.bench.tours.runs import SERIAL, Course
from reservoir.bench.tours.tables import TITLES, median_ms, reference_length, relative_errors
from reservoir.planning.checks import Check

#: Relative error of the paper's operators on att48 by population, of an independent program.
ERRORS = {1024: 0.127, 4096: 0.099, 16384: 0.056}
#: The problem that they are of, and its optimum.
KNOWN, KNOWN_OPTIMUM = "att48", 10628
#: Iterations of a run that claims hold for.
ITERATIONS = 1000
#: How many times as long as LIM others take on a large GPU, and the population that the last is of.
RATIOS = {"sak": 1.5, "slk": 1.5, "tim": 4.5, SERIAL: 27.0}
RATIO_POPULATION, LARGE_GPU_UNITS = 16384, 100
#: Seconds in which other operators reach the optimum.
STRONG_SECONDS = 1.0


def tour_checks(course: Course, runs: pd.DataFrame, strong: pd.DataFrame) -> list[Check]:
    """Claims that this problem, device and effort can be held to; a quick trial claims nothing."""
    if course.effort.quick:
        return []
    checks: list[Check] = []
    if course.iterations >= ITERATIONS and (course.problem.label, course.problem.optimum) == (KNOWN, KNOWN_OPTIMUM):
        checks += _quality(course, runs)
        checks += _strength(course, strong)
    if course.device.kind == "GPU" and course.device.compute_units >= LARGE_GPU_UNITS:
        checks += _speed(runs)
    return checks


def _quality(course: Course, runs: pd.DataFrame) -> Iterator[Check]:
    errors = {population: each["lim-is"] for population, each in relative_errors(course, runs).items()}
    known = [population for population in ERRORS if population in errors]
    for population in known:
        title = f"mean relative error of LIM-IS, population {population:,}"
        yield Check(title, errors[population], ERRORS[population])
    ratios = [errors[larger] / errors[smaller] for smaller, larger in pairwise(known)]
    if ratios:
        yield Check("mean relative error beside that of the next smaller population, most", max(ratios), 1.0)


def _strength(course: Course, strong: pd.DataFrame) -> Iterator[Check]:
    reached = strong["length"] == reference_length(course, strong)
    yield Check("other operators: part of the runs that reach the optimum", float(reached.mean()), 1.0, at_least=True)
    yield Check("other operators: longest run, s", float(strong["seconds"].max()), STRONG_SECONDS)


def _speed(runs: pd.DataFrame) -> Iterator[Check]:
    times = median_ms(runs).get(RATIO_POPULATION)
    if times is None:
        return
    for name, least in RATIOS.items():
        title = f"time of {TITLES[name]} / LIM-IS, population {RATIO_POPULATION:,}"
        yield Check(title, times.get(name, math.nan) / times["lim-is"], least, at_least=True)
