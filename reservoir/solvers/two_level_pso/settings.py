"""Settings of particle swarm optimisation with bests of two levels, shared by its engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Problem
from reservoir.solvers.base.setting_ranges import MOST_POINTS, require_count, require_ranges

#: Smallest and largest value of each setting; whole numbers where they are whole.
_RANGES: dict[str, tuple[float, float]] = {
    "particles": (2, 65_536),
    "generations": (1, 10**8),
    "group": (1, 1024),
    "exchange_every": (1, 10**6),
    "inertia": (0.0, 2.0),
    "cognitive": (0.0, 1e9),
    "social": (0.0, 1e9),
    "velocity_fraction": (1e-6, 1.0),
}


@dataclass(frozen=True)
class TwoLevelSettings:
    """Settings of Li and Liu 2017, with its values where it gives any.

    Parameters
    ----------
    particles : int
        Particles of a swarm; the paper trains with 64 to 1024.
    generations : int
        Iterations.
    group : int
        Particles that follow a best of their own. The paper advises work groups of 256; smaller ones fill a large GPU.
    exchange_every : int
        Generations from one exchange of the swarm's best to the next; "hundreds" in the paper.
    inertia, cognitive, social : float
        Alpha, c1 and c2 of eq. 5. At the paper's values a swarm does not settle by itself: the limit of the velocity
        keeps it together.
    velocity_fraction : float
        Largest velocity as a part of a dimension's range; the paper is silent.
    """

    particles: int = 1024
    generations: int = 400
    group: int = 8
    exchange_every: int = 100
    inertia: float = 1.0
    cognitive: float = 2.0
    social: float = 2.0
    velocity_fraction: float = 0.01

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        require_ranges(self, _RANGES)
        require_count(
            "exchanges", self.generations // self.exchange_every, MOST_POINTS, "choose a larger exchange_every"
        )

    @property
    def groups(self) -> int:
        """Groups of a swarm; the last may be smaller than the others."""
        return -(-self.particles // self.group)

    @property
    def evaluations(self) -> int:
        """Evaluations of a run: the first positions, and every particle in every generation."""
        return self.particles * (self.generations + 1)

    @property
    def exchanges(self) -> NDArray[np.int64]:
        """Generations after which the swarm's best is exchanged, and noted in the trace."""
        return np.append(np.arange(self.exchange_every, self.generations, self.exchange_every), self.generations)

    def constants(self) -> dict[str, float]:
        """Macros of a program that is specialised for these settings."""
        return {
            "PARTICLES": self.particles,
            "GROUP": min(self.group, self.particles),
            "GROUPS": self.groups,
            "INERTIA": self.inertia,
            "COGNITIVE": self.cognitive,
            "SOCIAL": self.social,
            "VELOCITY_FRACTION": self.velocity_fraction,
        }

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return asdict(self)


def first_positions(
    problems: Sequence[Problem], first: Sequence[ArrayLike] | None, settings: TwoLevelSettings
) -> list[NDArray[np.float32]]:
    """Positions that the swarm of each problem begins with, shape (n, dimension); an empty list for none.

    Raises
    ------
    InputError
        If they are not as many for each problem, or more than there are particles.
    """
    if first is None:
        return []
    positions = [np.ascontiguousarray(np.atleast_2d(np.asarray(each, np.float32))) for each in first]
    shapes = {each.shape for each in positions}
    fits = len(shapes) == 1 and all(each.shape[1] == problem.dimension for each in positions for problem in problems)
    if len(positions) != len(problems) or not fits or not 1 <= len(positions[0]) <= settings.particles:
        expected = f"for each of {len(problems)} problems as many, 1 to {settings.particles}, of its dimension"
        raise InputError(Mistake("are no first positions", expected, value=sorted(shapes)))
    return positions
