"""What the experiment claims: every threshold once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reservoir.bench.networks.runs import BASELINE, NO_LOCAL, TWO_LEVEL, Course, chosen
from reservoir.bench.samples import p_value
from reservoir.planning.checks import Check
from reservoir.planning.validation import SIGNIFICANCE

#: Time of two levels beside that without a local level, on a GPU.
MOST_TIME = 0.5
#: Speed beside the baseline on two threads: of two cores, and of a large GPU (the figure is an NVIDIA H200's).
CPU_SPEED_UP, CPU_UNITS = 1.5, 2
GPU_SPEED_UP, LARGE_GPU_UNITS = 35.0, 100
#: Seconds of the search for a policy on two cores and on a large GPU.
CPU_SEARCH_SECONDS, GPU_SEARCH_SECONDS = 60.0, 1.0


def network_checks(course: Course, runs: pd.DataFrame, pairs: pd.DataFrame, searches: pd.DataFrame) -> list[Check]:
    """Claims that this device and this effort can be held to; a quick trial claims nothing."""
    if course.effort.quick:
        return []
    checks: list[Check] = []
    if 3 in course.tables:
        checks += _variants(course, chosen(runs, 3))
    small, large = course.device.kind == "CPU" and course.device.compute_units <= CPU_UNITS, _large(course)
    if 5 in course.tables and (small or large):
        title = f"6-30-2, 5000 samples: speed beside the baseline on {course.threads} threads, median"
        least = GPU_SPEED_UP if large else CPU_SPEED_UP
        checks.append(Check(title, float(np.median(pairs["ratio"])), least, at_least=True))
    if small or large:
        most = GPU_SEARCH_SECONDS if large else CPU_SEARCH_SECONDS
        checks.append(Check("policy search, all years of the case, s", float(searches["seconds"].median()), most))
    return checks


def _large(course: Course) -> bool:
    return course.device.kind == "GPU" and course.device.compute_units >= LARGE_GPU_UNITS


def _variants(course: Course, runs: pd.DataFrame) -> Iterator[Check]:
    errors, seconds = (
        {engine: mine[column].to_numpy(float) for engine, mine in runs.groupby("engine")}
        for column in ("error", "seconds")
    )
    if course.effort.runs > 1:
        title = f"training error of {TWO_LEVEL} against the {BASELINE}, t-test, p"
        yield Check(title, p_value(errors[TWO_LEVEL], errors[BASELINE]), SIGNIFICANCE, at_least=True)
    yield Check(
        f"mean training error, {TWO_LEVEL} / {NO_LOCAL}", errors[TWO_LEVEL].mean() / errors[NO_LOCAL].mean(), 1.0
    )
    if course.device.kind == "GPU":
        ratio = float(np.median(seconds[TWO_LEVEL]) / np.median(seconds[NO_LOCAL]))
        yield Check(f"time, {TWO_LEVEL} / {NO_LOCAL}", ratio, MOST_TIME)
