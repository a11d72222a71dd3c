"""The travelling salesman problem: the shortest tour through all cities."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.encoding import PERMUTATION
from reservoir.problems.tours.tsplib import read_cities, read_tour

_LONGEST = 2**31 - 1


class TourContext(NamedTuple):
    """What compiled solvers read."""

    costs: NDArray[np.int32]  # (cities, cities)


@dataclass(frozen=True, eq=False)
class TourProblem:
    """Cities to visit, each once, and back to the first (implements `Problem`).

    Parameters
    ----------
    label : str
    costs : ndarray of int, shape (cities, cities)
        From each city to each other.
    rng_stream_id : int
        Names its random numbers.
    optimum : int or None
        Length of the shortest tour, if it is known.

    Raises
    ------
    InputError
        If a tour could be longer than 32 bits can tell.
    """

    encoding = PERMUTATION

    label: str
    costs: NDArray[np.integer[Any]] = field(repr=False)
    rng_stream_id: int = 0
    optimum: int | None = None

    def __post_init__(self) -> None:
        """Refuse tours that are too long."""
        # By rows: a copy of all costs may not fit into memory.
        longest = sum(max(int(row.max()), -int(row.min())) for row in self.costs)
        if longest > _LONGEST:
            mend = "give the coordinates in a larger unit"
            raise InputError(Mistake("tours may be too long", f"at most {_LONGEST:,}", mend, value=f"{longest:,}"))

    @property
    def dimension(self) -> int:
        """Cities."""
        return len(self.costs)

    @property
    def lower(self) -> FloatArray:
        """The first city, shape (cities,)."""
        return np.zeros(self.dimension)

    @property
    def upper(self) -> FloatArray:
        """The last city, shape (cities,)."""
        return np.full(self.dimension, self.dimension - 1.0)

    @property
    def program_key(self) -> Hashable:
        """Whatever a program is specialised for."""
        return PERMUTATION, self.dimension

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Edges are looked up in the context."""
        return KernelProblem("", ("problems/tours/tsp_tour.cl",), {"DIM": self.dimension})

    def kernel_context(self) -> NDArray[np.float32]:
        """The costs, int32 in the room of floats."""
        return self.costs.astype(np.int32).ravel().view(np.float32)

    def compiled_context(self, *, fine: bool = False) -> TourContext:
        """The costs."""
        return TourContext(np.ascontiguousarray(self.costs, np.int32))

    def length(self, tour: NDArray[Any]) -> int:
        """Sum of the edges of a tour, the way back included."""
        order = np.asarray(tour).astype(np.int64)
        return int(self.costs[order, np.roll(order, -1)].sum())

    def certify(self, position: FloatArray) -> Certified:
        """Minus the length; the violation is the number of cities that are not visited."""
        order = np.clip(position, 0, self.dimension - 1)
        benefit = -float(self.length(order))
        missing = self.dimension - len(np.unique(order.astype(np.int64)))
        return Certified(-np.inf if missing else benefit, benefit, float(missing))


def tour_problem(path: Path, optimum: int | None = None) -> TourProblem:
    """Read cities from a file of TSPLIB.

    Parameters
    ----------
    path : Path
        A ``.tsp`` file.
    optimum : int, optional
        Length of the shortest tour; if not given, that of the tour in ``NAME.opt.tour`` beside the file, where there
        is one.

    Raises
    ------
    InputError
        With every mistake in the files, or if one cannot be read.
    """
    cities = read_cities(path)
    try:
        problem = TourProblem(cities.name, cities.distances())
    except InputError as refused:
        raise InputError(replace(mistake, file=str(path)) for mistake in refused.mistakes) from None
    beside = path.with_suffix(".opt.tour")
    if optimum is None and beside.exists():
        optimum = problem.length(read_tour(beside, problem.dimension))
    return replace(problem, optimum=optimum)
