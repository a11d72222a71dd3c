"""Positions that a population begins with, besides random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Problem
from reservoir.solvers.base.engine import Engine
from reservoir.solvers.base.progress import Progress
from reservoir.solvers.base.settings import Settings, arrays
from reservoir.solvers.base.solution import Solutions

Positions = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class FirstPositionsSettings(Settings):
    """Settings of an engine whose populations may begin with given positions.

    Parameters
    ----------
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem that its population begins with, besides random ones; as many for each.
    """

    first: Sequence[ArrayLike] | None = arrays()

    @property
    def first_count(self) -> int:
        """Given positions of a problem."""
        return 0 if self.first is None else len(np.atleast_2d(np.asarray(self.first[0])))

    def as_dict(self) -> dict[str, Any]:
        """Every setting; of first positions their number."""
        return super().as_dict() | {"first": self.first_count}


F = TypeVar("F", bound=FirstPositionsSettings)


class FirstPositionsEngine(Engine[F]):
    """An engine whose populations may begin with given positions."""

    _first: Mapping[int, Positions] = {}

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems, which stay the same objects where first positions are noted by them."""
        each = problems if self.settings.first is None else list(problems)
        return super().solve(each, device=device, progress=progress)  # type: ignore[safe-super]

    def note_first(self, problems: Sequence[Problem], most: int) -> None:
        """Note the first positions of each problem, at most so many; raises as `positions_by_id` does."""
        self._first = positions_by_id(self.settings.first, problems, most)

    def first_of(self, problem: Problem) -> Positions:
        """First positions of a problem, within its bounds; of shape (0, dimension) without any."""
        given = self._first.get(id(problem), np.empty((0, problem.dimension), np.float32))
        return np.clip(given, problem.lower.astype(np.float32), problem.upper.astype(np.float32))

    def given(self, problems: Sequence[Problem]) -> dict[str, Positions]:
        """The kernels' argument of first positions, if there are any: shape (problems, n, dimension)."""
        return {"given": np.stack([self.first_of(each) for each in problems])} if self._first else {}


def positions_by_id(first: Sequence[ArrayLike] | None, problems: Sequence[Problem], most: int) -> dict[int, Positions]:
    """Positions that the population of each problem begins with, shape (n, dimension), by its id; empty for none.

    Raises
    ------
    InputError
        If they are not as many for each problem, or more than `most`, the members of a population.
    """
    if first is None:
        return {}
    positions = [np.ascontiguousarray(np.atleast_2d(np.asarray(each, np.float32))) for each in first]
    fits = len(positions) == len(problems) and all(
        each.shape == (len(positions[0]), problem.dimension) for problem, each in zip(problems, positions, strict=True)
    )
    if not fits or not 1 <= len(positions[0]) <= most:
        expected = f"for each of {len(problems)} problems the same number, 1 to {most}, of its dimension"
        shapes = sorted({each.shape for each in positions})
        raise InputError(Mistake("the first positions have the wrong shape", expected, value=shapes))
    return {id(problem): each for problem, each in zip(problems, positions, strict=True)}
