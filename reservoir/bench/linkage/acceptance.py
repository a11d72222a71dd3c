"""What the experiment claims of the engines: every threshold once."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from reservoir.bench.linkage.findings import by_kind_and_bits, differing_runs, evaluations, rows_of, stage_times
from reservoir.opencl import DeviceInfo
from reservoir.planning.checks import Check
from reservoir.solvers.dsmga2.settings import LOSSLESS, LOSSY, ON_DEMAND

#: How far the lossy engine's evaluations may be from the lossless one's: the paper's largest difference.
LOSSY_APART = 0.1312
#: Part of the runs that it may miss more than the lossless one.
LOSSY_MISSES = 0.1
#: Runs from which means of evaluations are held to that.
FEWEST_RUNS = 50
#: Times as fast as the sequential engine on a large GPU: matrices, and linkage sets of the lossy engine.
MATRIX_SPEED, LOSSY_SPEED, LARGE_GPU_UNITS = 10.0, 400.0, 100
#: The problem that those are of.
SPEED_CASE = ("ftrap", 600)
#: Bits from which the lossless stages are no slower than the sequential ones on a CPU.
CPU_BITS = 200


def model_checks(device: DeviceInfo, runs: pd.DataFrame, evaluated: pd.DataFrame) -> list[Check]:
    """Claims that this device and these runs can be held to."""
    false = float(runs["false_optimum"].sum() + evaluated["false_optimum"].sum())
    return [
        Check("optima reported that are none", false, 0.0),
        *(
            Check(f"{model}: runs that do not go as the sequential engine's", differing_runs(runs, model), 0.0)
            for model in (LOSSLESS, ON_DEMAND)
        ),
        *_lossy(evaluated),
        *_speed(device, runs),
    ]


def _lossy(evaluated: pd.DataFrame) -> Iterator[Check]:
    if evaluated["run"].nunique() < FEWEST_RUNS:
        return
    found = evaluations(evaluated)
    apart = [float(each) for each in found["apart"].abs()]
    yield Check("evaluations of lossy beside lossless, part apart, most", largest(apart), LOSSY_APART)
    missed = [float(each) for each in found[f"found:{ON_DEMAND}"] - found[f"found:{LOSSY}"]]
    yield Check("runs that lossy misses and lossless finds, part, most", largest(missed), LOSSY_MISSES)


def largest(values: list[float]) -> float:
    """The largest, or NaN, which passes no check, if one of them is NaN."""
    return math.nan if any(math.isnan(value) for value in values) else max(values)


def _speed(device: DeviceInfo, runs: pd.DataFrame) -> Iterator[Check]:
    times = dict(rows_of(by_kind_and_bits(stage_times(runs))))
    if device.kind == "GPU" and device.compute_units >= LARGE_GPU_UNITS and SPEED_CASE in times:
        row = times[SPEED_CASE]
        about = "Folded trap, 600 bits: times as fast as the sequential engine"
        for model in (LOSSLESS, LOSSY):
            yield Check(f"{about}, matrix, {model}", row[f"matrix_x:{model}"], MATRIX_SPEED, at_least=True)
        yield Check(f"{about}, sets, {LOSSY}", row[f"linkage_x:{LOSSY}"], LOSSY_SPEED, at_least=True)
    large = [row for (_, bits), row in times.items() if bits >= CPU_BITS]
    if device.kind == "CPU" and large:
        for stage, title in (("matrix", "matrix"), ("linkage", "sets"), ("building", "both stages")):
            least = min(row[f"{stage}_x:{LOSSLESS}"] for row in large)
            about = f"lossless, {CPU_BITS} bits and more: times as fast as the sequential engine"
            yield Check(f"{about}, {title}, least", least, 1.0, at_least=True)
