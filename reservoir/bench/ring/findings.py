"""What the runs say: means of the best, medians, times, and how far they are from what others found."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.bench.ring.runs import SEQUENTIAL

#: Part of the runs whose mean is told: "the 98 best results out of 100 runs".
BEST_FRACTION = 0.98
#: Means of the best 98 % of 20 runs of an independent program, synchronous, by function and variables.
REFERENCE: dict[str, dict[int, float]] = {
    "sphere": {10: 0.0, 32: 0.0, 128: 2.8e-17},
    "elliptic": {10: 0.0, 32: 5826.0, 128: 2.7e6},
    "rastrigin": {10: 3.5, 32: 76.0, 128: 529.0},
    "rosenbrock": {10: 0.0018, 32: 10.9, 128: 288.0},
    "griewank": {10: 0.032, 32: 0.0, 128: 0.0014},
}
REFERENCE_RUNS = 20
#: Published means and standard deviations of Standard PSO 2006.
STANDARD: dict[str, tuple[float, float]] = {
    "sphere": (0.0, 0.0),
    "griewank": (0.018, 0.024),
    "rosenbrock": (50.16, 36.9),
    "rastrigin": (48.35, 14.43),
}
#: Values below this are zero, for all that float32 can tell.
NOUGHT = 1e-6


def values_of(runs: pd.DataFrame, function: str, dimension: int, engine: str) -> NDArray[np.float64]:
    """Values of all runs, the best first."""
    mine = (runs["function"] == function) & (runs["dimension"] == dimension) & (runs["engine"] == engine)
    return np.sort(runs["value"][mine].to_numpy(float))


def mean_of_best(values: NDArray[np.float64]) -> float:
    """Mean of the best 98 % of the runs."""
    return float(values[: max(1, math.ceil(BEST_FRACTION * len(values)))].mean())


def milliseconds(times: pd.DataFrame, function: str, dimension: int, engine: str, *, alone: bool) -> float:
    """Median time of a swarm: alone in a call, or its share of a call with many."""
    mine = (times["function"] == function) & (times["dimension"] == dimension) & (times["engine"] == engine)
    chosen = times[mine & (times["alone"] == alone)]
    return float(np.median(1e3 * chosen["seconds"] / chosen["swarms"]))


def speed_up(times: pd.DataFrame, function: str, dimension: int, engine: str, *, alone: bool) -> float:
    """How many times as fast as the sequential engine, whose swarms are solved one after another."""
    sequential = milliseconds(times, function, dimension, SEQUENTIAL, alone=True)
    return sequential / milliseconds(times, function, dimension, engine, alone=alone)


def errors_above(values: NDArray[np.float64], function: str, dimension: int) -> float:
    """Standard errors that the mean is above the reference; 0 for what is zero in both."""
    reference, found = REFERENCE[function][dimension], mean_of_best(values)
    if found <= max(reference, NOUGHT):
        return 0.0
    spread = float(np.std(values, ddof=1)) * math.sqrt(1 / REFERENCE_RUNS + 1 / len(values))
    return (found - reference) / spread if spread else math.inf


def errors_from_standard(values: NDArray[np.float64], function: str) -> float:
    """Standard errors between the mean and the published one."""
    mean, deviation = STANDARD[function]
    apart = abs(float(values.mean()) - mean)
    if apart <= NOUGHT:
        return 0.0
    error = math.hypot(deviation, float(values.std(ddof=1))) / math.sqrt(len(values))
    return apart / error if error else math.inf


def median_ratio(later: NDArray[np.float64], sync: NDArray[np.float64]) -> float:
    """The asynchronous median beside the synchronous one; what is zero in both is as good."""
    one, other = (max(float(np.median(values)), NOUGHT) for values in (later, sync))
    return one / other
