"""PSO with bests of two levels (Li and Liu 2017): its settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.settings import (
    MOST_POINTS,
    FirstPositionsSettings,
    Settings,
    ThreadSettings,
    choice,
    device_size,
    number,
    require_count,
    switch,
)

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
    best_position_history : bool
        Keep the best position of every exchange.
    """

    particles: int = number(1024, 2, 65_536)
    generations: int = number(400, 1, 10**8)
    group: int = number(8, 1, 1024)
    exchange_every: int = number(100, 1, 10**6)
    inertia: float = number(1.0, 0.0, 2.0)
    cognitive: float = number(2.0, 0.0, 1e9)
    social: float = number(2.0, 0.0, 1e9)
    velocity_fraction: float = number(0.01, 1e-6, 1.0)
    best_position_history: bool = switch(False, run=True)

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        super().__post_init__()
        exchanges = self.generations // self.exchange_every
        require_count("exchanges", exchanges, MOST_POINTS, "choose a larger exchange_every")

    @property
    def groups(self) -> int:
        """Groups of a swarm; the last may be smaller than the others."""
        return -(-self.particles // self.group)

    @property
    def evaluations(self) -> int:
        """Evaluations of a run: the first positions, and every particle in every generation."""
        return self.particles * (self.generations + 1)

    @property
    def trace_generations(self) -> NDArray[np.int64]:
        """Generations after which the swarm's best is exchanged, and noted in the trace."""
        return np.append(np.arange(self.exchange_every, self.generations, self.exchange_every), self.generations)


@dataclass(frozen=True)
class DeviceTwoLevelSettings(FirstPositionsSettings, TwoLevelSettings):
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
class ParallelTwoLevelSettings(ThreadSettings, FirstPositionsSettings, TwoLevelSettings):
    """Settings of the swarm on CPU threads.

    Parameters
    ----------
    threads : int, optional
        As many as there are processors if not given.
    """

    threads: int | None = number(None, 1, 1024, run=True)
