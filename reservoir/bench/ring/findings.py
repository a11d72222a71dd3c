"""What the runs say: means of the best, medians, times, distances from what others found, and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.bench.data import bundled
from reservoir.bench.experiment import select
from reservoir.bench.ring.runs import SEQUENTIAL, RingSetup
from reservoir.planning.checks import Check, largest
from reservoir.problems.sums import RING_FUNCTIONS
from reservoir.solvers.ring_pso.settings import ASYNC, SYNC

#: Part of the runs whose mean is told: "the 98 best results out of 100 runs".
BEST_FRACTION = 0.98
#: Means of the best 98 % of 20 runs of an independent program, synchronous, by function and variables.
REFERENCE: dict[str, dict[int, float]] = bundled("ring")["reference"]
REFERENCE_RUNS = 20
#: Published means and standard deviations of Standard PSO 2006.
STANDARD: dict[str, tuple[float, float]] = bundled("ring")["standard_2006"]
#: Values below this are zero, for all that float32 can tell.
ZERO = 1e-6

# What is claimed of a run of so many generations.
GENERATIONS = 10_000
#: Standard errors between means that chance explains, and the asynchronous median beside the synchronous one.
MOST_ERRORS, MOST_RATIO = 3.0, 2.0
#: On a large GPU: asynchronous beside synchronous, and beside the sequential engine, on a dear function.
ASYNC_SPEED, SEQUENTIAL_SPEED, DEAR, DEAR_DIMENSION = 3.0, 100.0, "rastrigin", 128


def mean_of_best(values: NDArray[np.float64]) -> float:
    """Mean of the best 98 % of the runs."""
    return float(values[: max(1, math.ceil(BEST_FRACTION * len(values)))].mean())


@dataclass(frozen=True, eq=False)
class RingFindings:
    """Tables of runs, of times, and of runs of Standard PSO 2006 (see `runs`), and what they say."""

    setup: RingSetup
    runs: pd.DataFrame
    times: pd.DataFrame
    standard: pd.DataFrame

    def values(self, function: str, dimension: int, engine: str) -> NDArray[np.float64]:
        """Values of all runs, the best first."""
        return np.sort(
            select(self.runs, function=function, dimension=dimension, engine=engine)["value"].to_numpy(float)
        )

    def milliseconds(self, function: str, dimension: int, engine: str, *, alone: bool) -> float:
        """Median time of a swarm: alone in a call, or its share of a call with many."""
        mine = select(self.times, function=function, dimension=dimension, engine=engine, alone=alone)
        return float(np.median(1e3 * mine["seconds"] / mine["swarms"]))

    def speed_up(self, function: str, dimension: int, engine: str, *, alone: bool) -> float:
        """How many times as fast as the sequential engine, whose swarms are solved one after another."""
        sequential = self.milliseconds(function, dimension, SEQUENTIAL, alone=True)
        return sequential / self.milliseconds(function, dimension, engine, alone=alone)

    def median_ratio(self, function: str, dimension: int) -> float:
        """The asynchronous median beside the synchronous one; what is zero in both is as good."""
        later, sync = (max(float(np.median(self.values(function, dimension, mode))), ZERO) for mode in (ASYNC, SYNC))
        return later / sync

    def errors_above(self, function: str, dimension: int, engine: str) -> float:
        """Standard errors that the mean is above the reference; 0 for what is zero in both."""
        values = self.values(function, dimension, engine)
        reference, found = REFERENCE[function][dimension], mean_of_best(values)
        if found <= max(reference, ZERO):
            return 0.0
        spread = float(np.std(values, ddof=1)) * math.sqrt(1 / REFERENCE_RUNS + 1 / len(values))
        return (found - reference) / spread if spread else math.inf

    def standard_values(self, function: str) -> NDArray[np.float64]:
        """Values of Standard PSO 2006."""
        return select(self.standard, function=function)["value"].to_numpy(float)

    def errors_from_standard(self, function: str) -> float:
        """Standard errors between the mean and the published one."""
        values, (mean, deviation) = self.standard_values(function), STANDARD[function]
        apart = abs(float(values.mean()) - mean)
        if apart <= ZERO:
            return 0.0
        error = math.hypot(deviation, float(values.std(ddof=1))) / math.sqrt(len(values))
        return apart / error if error else math.inf


def ring_checks(found: RingFindings) -> Iterator[Check]:
    """Claims that this device and this budget can be held to; a quick trial claims nothing."""
    setup = found.setup
    if setup.budget.quick or setup.budget.runs < 2 or setup.generations < GENERATIONS:
        return
    for engine in (SEQUENTIAL, SYNC):
        for name, reference in REFERENCE.items():
            known = [dimension for dimension in reference if dimension in setup.dimensions]
            if known:
                title = f"{engine}, {RING_FUNCTIONS[name].title}: largest excess over the reference, standard errors"
                yield Check(title, largest(found.errors_above(name, each, engine) for each in known), MOST_ERRORS)
    for name, function in RING_FUNCTIONS.items():
        worst = largest(found.median_ratio(name, dimension) for dimension in setup.dimensions)
        yield Check(f"async / sync, {function.title}: largest ratio of medians", worst, MOST_RATIO)
    worst = largest(map(found.errors_from_standard, STANDARD))
    yield Check("Standard PSO 2006: largest difference from published values, standard errors", worst, MOST_ERRORS)
    if setup.large_gpu and DEAR_DIMENSION in setup.dimensions:
        sync, alone = (found.speed_up(DEAR, DEAR_DIMENSION, mode, alone=True) for mode in (SYNC, ASYNC))
        many = found.speed_up(DEAR, DEAR_DIMENSION, ASYNC, alone=False)
        about = f"{RING_FUNCTIONS[DEAR].title}, {DEAR_DIMENSION} variables: async /"
        yield Check(f"{about} sync, speed", alone / sync, ASYNC_SPEED, at_least=True)
        yield Check(f"{about} sequential, speed, many swarms", many, SEQUENTIAL_SPEED, at_least=True)
        yield Check(f"{about} sequential, speed, a swarm alone", alone, SEQUENTIAL_SPEED, at_least=True)
