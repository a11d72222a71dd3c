"""What a solver returns for each problem."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Solution:
    """The best position that a solver found for one problem, certified in float64.

    Parameters
    ----------
    position : ndarray, shape (dimension,)
        Best position.
    fitness, benefit, violation : float
        Its worth in float64; for a reservoir year GWh, GWh and the sum of relative violations.
    generations, evaluations : int
        Work done.
    wall_seconds : float
        Time of the call that solved it, shared by all problems of the call.
    device_seconds : float or None
        Time the device was busy with that call; None where no device took part.
    trace_generations, trace_fitness : ndarray
        Best fitness in the solver's own arithmetic after these generations; empty for solvers without generations.
    fitness_float32 : float
        The position's fitness as the solver judged it, in its own arithmetic and with the noise of a noisy problem; NaN
        for solvers that do not tell.
    best_position_history : ndarray, shape (points, dimension)
        Best positions after the generations of the trace, where they were asked for; else of no points.
    linkage : ndarray, shape (variables, variables)
        Mutual information in nats of the variables that a solver coded, mean of its first generations; empty where it
        learns none.
    host_seconds_by_phase : mapping of str to float
        Host seconds of the call by what they were spent on (`reservoir.opencl.HostClock`), or by stage where several
        threads are at work; empty for solvers that do not tell.
    solver, device : str
        Who found it, where.
    settings : mapping
        Every setting that made it.
    """

    position: NDArray[np.float64]
    fitness: float
    benefit: float
    violation: float
    generations: int
    evaluations: int
    wall_seconds: float
    device_seconds: float | None
    solver: str
    device: str
    settings: Mapping[str, Any]
    trace_generations: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    trace_fitness: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    host_seconds_by_phase: Mapping[str, float] = field(default_factory=dict)
    fitness_float32: float = math.nan
    best_position_history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    linkage: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
