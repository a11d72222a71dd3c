"""How solvers tell what is done, and ask whether to go on, without knowing screens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import ReservoirError

#: Called with how much is done and how much there is.
Progress = Callable[[int, int], None]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class IntermediateResult:
    """What a solver has done so far.

    Parameters
    ----------
    solver : str
    done, total : int
        Problems that are solved, and all of the call.
    fitness : ndarray, shape (done,)
        Fitness in float64 of those that are solved, in the order in which they were; for a reservoir, GWh.
    """

    solver: str
    done: int
    total: int
    fitness: NDArray[np.float64]


#: Asked between launches, or problems; True ends the call with what is solved.
Stop = Callable[[IntermediateResult], bool]


class StopRequested(Exception):
    """A callback asked to stop; never leaves the engine."""


def silent(done: int, total: int) -> None:
    """No-op callback."""


def callers_own(callback: Callable[P, T]) -> Callable[P, T]:
    """Keep the faults of a caller's function apart from mistakes in what the caller gave.

    A `ReservoirError` would be told as such a mistake, or taken for a device that fails: it is raised as RuntimeError.
    """

    @wraps(callback)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return callback(*args, **kwargs)
        except ReservoirError as error:
            name = getattr(callback, "__name__", type(callback).__name__)
            raise RuntimeError(f"the callback {name} raised {type(error).__name__}: {error}") from error

    return called
