"""What a solver returns: of one problem, and of many as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.base.rows import Column, some_of, with_rows


@dataclass(frozen=True)
class Solution:
    """The best position that a solver found for one problem, certified in float64.

    Parameters
    ----------
    position : ndarray, shape (dimension,)
        Best position.
    fitness, benefit, violation : float
        Its fitness in float64; for a reservoir year GWh, GWh and the sum of relative violations.
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


@dataclass(frozen=True, eq=False)
class Solutions(Sequence[Solution]):
    """The solutions of a call; ``solutions[i]`` is a `Solution`.

    What is of each problem has an axis of problems in front: arrays, or other sequences where problems differ in shape
    or mostly have the same (`rows`); all else is of the call. See `Solution`.

    Parameters
    ----------
    operation : Operation or None
        What years of a reservoir were certified from (`CertifiedBatch`), None of other problems.
    """

    position: Column
    fitness: NDArray[np.float64]
    benefit: NDArray[np.float64]
    violation: NDArray[np.float64]
    generations: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    wall_seconds: float
    device_seconds: float | None
    solver: str
    device: str
    settings: Column
    trace_generations: Column
    trace_fitness: Column
    host_seconds_by_phase: Mapping[str, float]
    fitness_float32: NDArray[np.float64]
    best_position_history: Column
    linkage: Column
    operation: Any = None

    @classmethod
    def of(cls, solutions: Sequence[Solution]) -> Solutions:
        """Solutions of one call that were made one by one."""
        call = solutions[0] if solutions else Solution(np.empty(0), 0.0, 0.0, 0.0, 0, 0, 0.0, None, "", "", {})
        columns = {
            name: [getattr(each, name) for each in solutions] if name in _OF_EACH else getattr(call, name)
            for name in Solution.__dataclass_fields__
        }
        return cls(**columns | {name: np.array(columns[name]) for name in _NUMBERS})

    def __len__(self) -> int:
        return len(self.fitness)

    def some(self, places: NDArray[np.intp]) -> Solutions:
        """The solutions of some problems."""
        columns: dict[str, Any] = {name: some_of(getattr(self, name), places) for name in _OF_EACH}
        return replace(self, **columns, operation=None)

    def replaced(self, places: NDArray[np.intp], new: Solutions) -> Solutions:
        """The same with other solutions of the problems at some places; what is of the call stays this call's."""
        columns: dict[str, Any] = {
            name: with_rows(getattr(self, name), places, getattr(new, name)) for name in _OF_EACH
        }
        return replace(self, **columns, operation=None)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> list[Solution]: ...
    def __getitem__(self, index: int | slice) -> Solution | list[Solution]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        columns = {name: getattr(self, name) for name in Solution.__dataclass_fields__}
        each = {name: columns[name][index] for name in _OF_EACH}
        return Solution(**columns | each | {name: each[name].item() for name in _NUMBERS})


#: Fields that are numbers of each problem, and all that are of each problem.
_NUMBERS = ("fitness", "benefit", "violation", "generations", "evaluations", "fitness_float32")
_ARRAYS = ("position", "settings", "trace_generations", "trace_fitness", "best_position_history", "linkage")
_OF_EACH = (*_NUMBERS, *_ARRAYS)
