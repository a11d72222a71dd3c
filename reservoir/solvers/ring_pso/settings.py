"""Settings of ring PSO, shared by its engines."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.solvers.base.setting_ranges import require_ranges

#: What a particle does at a bound: stays there, with its velocity or without.
CLAMP, STOP = "clamp", "stop"
WALLS = (CLAMP, STOP)

_RANGES: dict[str, tuple[float, float]] = {
    "particles": (2, 65_536),
    "generations": (1, 10**8),
    "inertia": (0.0, 2.0),
    "cognitive": (0.0, 1e9),
    "social": (0.0, 1e9),
    "trace_points": (1, 10**5),
}


@dataclass(frozen=True)
class RingSettings:
    """Settings of Mussi, Nashed and Cagnoni 2011, section 5, with their values but for the size of a swarm.

    They have 32 particles and 10,000 generations. As many evaluations of ten times as many particles leave ten times
    fewer of a reservoir's years in a neighbouring local optimum.

    Parameters
    ----------
    particles : int
        Of a swarm; a particle is informed by itself and its two neighbours in a ring.
    generations : int
    inertia, cognitive, social : float
        w, C1 and C2.
    wall : str
        One of `WALLS`; the authors' program clamps the position alone.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    """

    particles: int = 320
    generations: int = 1000
    inertia: float = 0.729844
    cognitive: float = 1.49618
    social: float = 1.49618
    wall: str = CLAMP
    trace_points: int = 200

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        require_ranges(self, _RANGES)
        if self.wall not in WALLS:
            raise InputError(Mistake("there is no such wall", ", ".join(WALLS), "choose one", value=self.wall))

    @classmethod
    def standard_2006(cls, dimension: int, evaluations: int, **changes: Any) -> RingSettings:
        """Values of Standard PSO 2006 (Clerc) for its stochastic star, as many generations as the evaluations allow."""
        particles = 10 + int(2 * math.sqrt(dimension))
        acceleration = 0.5 + math.log(2)
        usual: dict[str, Any] = {
            "particles": particles,
            "generations": max(1, evaluations // particles - 1),
            "inertia": 1 / (2 * math.log(2)),
            "cognitive": acceleration,
            "social": acceleration,
            "wall": STOP,
        }
        return cls(**{**usual, **changes})

    @property
    def evaluations(self) -> int:
        """Evaluations of a run: the first positions, and every particle in every generation."""
        return self.particles * (self.generations + 1)

    @property
    def trace_every(self) -> int:
        """Generations between two values of the trace."""
        return max(1, -(-self.generations // self.trace_points))

    @property
    def trace_generations(self) -> NDArray[np.int64]:
        """Generations after which the trace is taken."""
        return np.arange(self.trace_every, self.generations + 1, self.trace_every)

    def constants(self) -> dict[str, int | float]:
        """Macros of a program that is specialised for these settings."""
        return {
            "PARTICLES": self.particles,
            "INERTIA": self.inertia,
            "COGNITIVE": self.cognitive,
            "SOCIAL": self.social,
            "STOPS": int(self.wall == STOP),
        }

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return asdict(self)
