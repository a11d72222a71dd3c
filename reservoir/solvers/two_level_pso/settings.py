"""Settings of particle swarm optimisation with bests of two levels, shared by its engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.problems.base import Problem
from reservoir.solvers.engine import positions_by_id
from reservoir.solvers.settings import (
    MOST_POINTS,
    Settings,
    arrays,
    choice,
    device_size,
    number,
    require_count,
    switch,
)
from reservoir.solvers.threads import threads_or_all

#: How a generation runs. `FUSED`: all its steps, and all generations up to the next exchange, in one kernel. `STEPS`:
#: the paper's kernels, one after the other. `GLOBAL`: these without the local level: the best of the swarm every time.
FUSED, STEPS, GLOBAL = VARIANTS = "fused", "steps", "global"
#: Where random numbers come from: own streams, or the paper's generator as it meant it, or as it is printed.
STREAM, CONGRUENTIAL, CONGRUENTIAL_PRINTED = RANDOM_NAMES = "stream", "congruential", "congruential-printed"


@dataclass(frozen=True)
class TwoLevelSettings(Settings):
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

    particles: int = number(1024, 2, 65_536)
    generations: int = number(400, 1, 10**8)
    group: int = number(8, 1, 1024)
    exchange_every: int = number(100, 1, 10**6)
    inertia: float = number(1.0, 0.0, 2.0)
    cognitive: float = number(2.0, 0.0, 1e9)
    social: float = number(2.0, 0.0, 1e9)
    velocity_fraction: float = number(0.01, 1e-6, 1.0)

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        super().__post_init__()
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


@dataclass(frozen=True)
class EngineTwoLevelSettings(TwoLevelSettings):
    """Settings of both engines.

    Parameters
    ----------
    best_position_history : bool
        Keep the best position of every exchange.
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem that its swarm begins with, besides random ones; as many for each.
    """

    best_position_history: bool = switch(False, run=True)
    first: Sequence[ArrayLike] | None = arrays()

    def first_positions(self, problems: Sequence[Problem]) -> dict[int, NDArray[np.float32]]:
        """Positions that the swarm of each problem begins with, shape (n, dimension), by its id; empty for none.

        Raises
        ------
        InputError
            If they are not as many for each problem, or more than there are particles.
        """
        return positions_by_id(self.first, problems, self.particles)

    def as_dict(self) -> dict[str, Any]:
        """Every setting; of first positions their number."""
        return super().as_dict() | {"first": 0 if self.first is None else len(np.atleast_2d(self.first[0]))}


@dataclass(frozen=True)
class DeviceTwoLevelSettings(EngineTwoLevelSettings):
    """Settings of the swarm on a device.

    Parameters
    ----------
    variant : str
        One of `VARIANTS`.
    random : str
        One of `RANDOM_NAMES`.
    lanes, items : int, optional
        Numbers in a vector and work items of a group; chosen for the device if not given.
    """

    variant: str = choice(FUSED, VARIANTS, "variant", run=True)
    random: str = choice(STREAM, RANDOM_NAMES, "random number scheme", run=True)
    lanes: int | None = device_size()
    items: int | None = device_size()


@dataclass(frozen=True)
class ParallelTwoLevelSettings(EngineTwoLevelSettings):
    """Settings of the swarm on CPU threads.

    Parameters
    ----------
    threads : int, optional
        As many as there are processors if not given.
    """

    threads: int | None = number(None, 1, 1024, run=True)

    @property
    def workers(self) -> int:
        """Threads."""
        return threads_or_all(self.threads)

    def as_dict(self) -> dict[str, Any]:
        """Every setting; threads as many as there are."""
        return super().as_dict() | {"threads": self.workers}
