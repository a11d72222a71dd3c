"""What the experiment claims: every threshold once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from reservoir.bench.models.engines import SEQUENTIAL, SEQUENTIAL_FOLLOWING
from reservoir.bench.models.reference import KNOWN_RANGES
from reservoir.bench.models.runs import Course, of_engine
from reservoir.bench.models.tables import FOUND, against_others, engines_of, functions_of, t_tests
from reservoir.bench.models.throughput import MANY_SWARMS, lanes_speed_up, speed_of
from reservoir.planning.checks import Check
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.solvers.clpso.models import LANES

#: Between the sequential engine and the independent program.
KNOWN_SIGNIFICANCE = 0.01
#: Two cores of a CPU against one thread, and what they evaluate in a second; only CPUs of so many units are held to it.
SPEED_UP, CPU_EVALUATIONS, CPU_UNITS = 6.0, 20e6, 2
#: What many swarms evaluate in a second on a large GPU; the figure is an NVIDIA H200's, of 132 units.
GPU_EVALUATIONS, LARGE_GPU_UNITS = 5e9, 100


def model_checks(course: Course, runs: pd.DataFrame, throughput: pd.DataFrame | None) -> list[Check]:
    """Claims that this device and this effort can be held to; a quick trial and a single run claim nothing."""
    if course.effort.quick or course.effort.runs < 2:
        return []
    checks = [*_found(runs), *_alike(runs), *_known(runs)]
    if throughput is not None:
        checks += _speed(course, throughput)
    return checks


def _found(runs: pd.DataFrame) -> Iterator[Check]:
    for function in functions_of(runs):
        if function in ("f1", "f2"):
            worst = max(of_engine(runs, function, engine)["best"].max() for engine in engines_of(runs))
            yield Check(f"{function}: worst value of all runs of all engines", float(worst), FOUND)


def _alike(runs: pd.DataFrame) -> Iterator[Check]:
    tests = t_tests(runs).set_index("function")
    for function, row in tests.iterrows():
        for engine, p_value in row.items():
            if engine != SEQUENTIAL_FOLLOWING and np.isfinite(p_value):
                title = f"{function}: {engine} against {SEQUENTIAL}, t-test, p"
                yield Check(title, float(p_value), SIGNIFICANCE, at_least=True)


def _known(runs: pd.DataFrame) -> Iterator[Check]:
    found = against_others(runs)
    for row in found[found["engine"] == SEQUENTIAL_FOLLOWING].to_dict("records"):
        if np.isfinite(row["p"]):
            title = f"{row['function']}: {row['engine']} against an independent program, t-test, p"
            yield Check(title, row["p"], KNOWN_SIGNIFICANCE, at_least=True)
    for row in found[found["engine"] == SEQUENTIAL].to_dict("records"):
        if row["function"] in KNOWN_RANGES:
            low, high = KNOWN_RANGES[row["function"]]
            yield Check(f"{row['function']}: mean of {row['engine']}, at least", row["mean"], low, at_least=True)
            yield Check(f"{row['function']}: mean of {row['engine']}, at most", row["mean"], high)


def _speed(course: Course, throughput: pd.DataFrame) -> Iterator[Check]:
    device = course.device
    if device.kind == "CPU" and device.compute_units <= CPU_UNITS:
        where = f"{LANES} on {device.compute_units} cores, many swarms on f5"
        yield Check(f"{where}, times as fast as one thread", lanes_speed_up(throughput), SPEED_UP, at_least=True)
        speed = speed_of(throughput, LANES)["evaluations_per_second"] / 1e6
        yield Check(f"{where}, 1e6 evaluations/s", float(speed), CPU_EVALUATIONS / 1e6, at_least=True)
    if device.kind == "GPU" and device.compute_units >= LARGE_GPU_UNITS:
        speed = speed_of(throughput, LANES, MANY_SWARMS)["evaluations_per_device_second"] / 1e9
        title = f"{MANY_SWARMS:,} swarms on f5, 1e9 evaluations/s of device time"
        yield Check(title, float(speed), GPU_EVALUATIONS / 1e9, at_least=True)
