"""The objective that every library on a CPU is given: a batch of positions in, their losses out, in compiled code."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from reservoir.bench.peers.entry import SearchBudget, gap_to
from reservoir.hydro.jit import compiled
from reservoir.problems.fitness import Context, fitness_of
from reservoir.problems.reservoir.year import ReservoirYear

FloatArray = NDArray[np.float64]
Floats = NDArray[np.float32]


class SearchOver(Exception):
    """Ends a library's search from within its objective: the year is near enough, or its allowance is used up."""


class YearObjective:
    """A year as a library sees it: bounds, and losses to be made as small as possible.

    It is the sequential solver's own fitness in float32, called for a batch of rows, so a library is given neither a
    slower nor another physics. Whatever improves on the best is certified in float64, and only that counts as near.
    The budget's time runs from when it is made.
    """

    def __init__(self, year: ReservoirYear, optimum_gwh: float, budget: SearchBudget) -> None:
        self.lower, self.upper, self.dimension = year.lower, year.upper, year.dimension
        self.evaluations = 0
        self.gap = np.inf
        self._year, self._optimum_gwh, self._budget = year, optimum_gwh, budget
        self._deadline = time.perf_counter() + budget.seconds
        self._context = year.compiled_context()
        self._scratch = np.empty((2, year.dimension + 1), np.float32)
        self._best = -np.inf

    def losses(self, positions: FloatArray) -> FloatArray:
        """Negative fitness of each position, GWh: releases in m3/s, and in a cyclic year the start in hm3.

        SearchOver is raised if these positions, shape (n, dimension), or those before them, were the last to be judged.
        """
        self.end_if_over()
        values = np.empty(len(positions), np.float32)
        _judge(self._context, np.ascontiguousarray(positions, np.float32), self._scratch, values)
        self.evaluations += len(values)
        best = int(values.argmax())
        if values[best] > self._best:
            self._best = values[best]
            self._certify(positions[best])
        return -values.astype(np.float64)

    def loss(self, position: FloatArray) -> float:
        """Negative fitness of one position, for libraries that ask for one at a time."""
        return float(self.losses(np.asarray(position)[None])[0])

    def end_if_over(self) -> None:
        """Raise SearchOver when nothing is left to be searched for, or with."""
        used_up = self.evaluations >= self._budget.evaluations or time.perf_counter() >= self._deadline
        if used_up or self.gap <= self._budget.near:
            raise SearchOver

    def _certify(self, position: FloatArray) -> None:
        fitness = self._year.certify(position).fitness
        self.gap = min(self.gap, gap_to(self._optimum_gwh, fitness))
        if self.gap <= self._budget.near:
            raise SearchOver


@compiled
def _judge(context: Context, positions: Floats, scratch: Floats, values: Floats) -> None:
    """Fill `values`, shape (n,), with the fitness of `positions`, shape (n, dimension)."""
    for row in range(len(values)):
        values[row] = fitness_of(context, positions[row], scratch)
