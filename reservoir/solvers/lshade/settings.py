"""Settings of L-SHADE, and the sizes that its population takes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.base.setting_ranges import require_ranges

_RANGES: dict[str, tuple[float, float]] = {
    "evaluations": (1, 10**9),
    "members_per_dimension": (1, 1000),
    "fewest_members": (4, 10**4),
    "memory": (1, 1000),
    "best_fraction": (1e-6, 1.0),
    "archive_fraction": (0.0, 100.0),
    "trace_points": (1, 10**5),
}


@dataclass(frozen=True)
class LshadeSettings:
    """Settings of L-SHADE: those of Tanabe and Fukunaga 2014, but for two.

    Their p = 0.11 and archive of 2.6 populations left a year of the bundled record in a neighbouring local optimum in
    17 of 1000 runs of 40,000 evaluations (an H200); 0.2 and one population, near what the algorithm's successors take
    (Brest et al. 2017, jSO: 0.25 and 1), in none of 1000, and in 1 of 1000 runs of 30,000.

    Parameters
    ----------
    evaluations : int
        After which the population has shrunk to its end; the last generation may add a few.
    members_per_dimension : int
        Size of the first population, in dimensions.
    fewest_members : int
        Size of the last.
    memory : int
        H, pairs of factors that are remembered.
    best_fraction : float
        p, part of the population that members learn from.
    archive_fraction : float
        Size of the archive, in populations.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    """

    evaluations: int = 30_000
    members_per_dimension: int = 18
    fewest_members: int = 4
    memory: int = 6
    best_fraction: float = 0.2
    archive_fraction: float = 1.0
    trace_points: int = 200

    def __post_init__(self) -> None:
        """Refuse settings that no population can have."""
        require_ranges(self, _RANGES)

    def first_members(self, dimension: int) -> int:
        """Size of the first population."""
        return max(self.members_per_dimension * dimension, self.fewest_members)

    def archive(self, dimension: int) -> int:
        """Members that the archive can hold."""
        return round(self.archive_fraction * self.first_members(dimension)) + 1

    def sizes(self, dimension: int) -> NDArray[np.int32]:
        """Members of the first population, then of every generation: fewer, linearly in the evaluations made."""
        first = self.first_members(dimension)
        sizes, made = [first], first
        while made < self.evaluations or len(sizes) < 2:
            part = made / self.evaluations if len(sizes) > 1 else 0.0
            sizes.append(round(first + (self.fewest_members - first) * part))
            made += sizes[-1]
        return np.array(sizes, np.int32)

    def trace(self, generations: int) -> tuple[int, NDArray[np.int64]]:
        """Generations between two values of the trace, and those after which it is taken."""
        every = max(1, -(-generations // self.trace_points))
        return every, np.arange(every, generations + 1, every)

    def constants(self, dimension: int) -> dict[str, float]:
        """Macros of a program that is specialised for these settings."""
        return {
            "ARCHIVE": self.archive(dimension),
            "ARCHIVE_FRACTION": self.archive_fraction,
            "BEST_FRACTION": self.best_fraction,
            "MEMORY": self.memory,
        }

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return asdict(self)
