"""What every CLPSO engine shares: settings, learning probabilities and the shape of the convergence trace."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.solvers.base.setting_ranges import require_ranges

#: Velocities below this are dropped: they no longer move a float32 position, and denormal numbers are slow.
SMALLEST_VELOCITY = 1e-30
#: Of a swarm: beyond any use, and few enough for numbers of 32 bits to count what they do.
MOST_PARTICLES = 65_536

#: How a tournament draws the two particles, and a forced exemplar its one: any, or others than the particle that
#: learns, and two different ones (Yu et al. 2020, section 2.1, at its end).
RELAXED, STRICT = "relaxed", "strict"

#: Smallest and largest value of each setting; whole numbers where they are whole.
_RANGES: dict[str, tuple[float, float]] = {
    "particles": (2, MOST_PARTICLES),
    "generations": (1, 10**8),
    "acceleration": (0.0, 1e9),
    "inertia_first": (0.0, 2.0),
    "inertia_last": (0.0, 2.0),
    "velocity_fraction": (1e-6, 1.0),
    "refreshing_gap": (1, 10**6),
    "trace_points": (1, 10**5),
}


@dataclass(frozen=True)
class SwarmSettings:
    """Settings of CLPSO, with the values of Yu et al. 2020, section 2.1.

    Parameters
    ----------
    particles : int
        N.
    generations : int
        K.
    acceleration : float
        Coefficient of eq. 1.
    inertia_first, inertia_last : float
        Inertia weight w falls from the first to the last, linearly over the generations (eq. 4).
    velocity_fraction : float
        Largest velocity as a part of a dimension's range (eq. 3).
    refreshing_gap : int
        Generations without improvement after which exemplars are chosen anew.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    exemplars : str
        `RELAXED` or `STRICT`.
    exemplars_follow : bool
        An exemplar follows the personal bests that it was chosen from as they improve; else it is a copy that stands
        until the next, as the arrays of exemplars in Yu et al. 2020, section 4, are read here. Copies end nearer the
        optimum of smooth functions. The sequential engine alone can follow.
    """

    particles: int = 40
    generations: int = 10_000
    acceleration: float = 1.5
    inertia_first: float = 0.9
    inertia_last: float = 0.4
    velocity_fraction: float = 0.2
    refreshing_gap: int = 7
    trace_points: int = 200
    exemplars: str = RELAXED
    exemplars_follow: bool = False

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        require_ranges(self, _RANGES)
        if self.exemplars not in (RELAXED, STRICT):
            raise InputError(
                Mistake("there is no such choice of exemplars", f"{RELAXED} or {STRICT}", value=self.exemplars)
            )
        if self.strict and self.particles < 3:
            raise InputError(
                Mistake("a strict tournament needs two others", "3 or more particles", value=self.particles)
            )

    @property
    def strict(self) -> bool:
        """Whether a particle learns from others only."""
        return self.exemplars == STRICT

    @property
    def trace_every(self) -> int:
        """Generations between two values of the trace."""
        return max(1, -(-self.generations // self.trace_points))

    @property
    def trace_generations(self) -> NDArray[np.int64]:
        """Generations after which the trace is taken."""
        return np.arange(self.trace_every, self.generations + 1, self.trace_every)

    def learning_probability(self) -> NDArray[np.float64]:
        """L_i of every particle (eq. 5), shape (particles,): from 0.05 to 0.5."""
        rank = np.arange(self.particles) / (self.particles - 1)
        return 0.05 + 0.45 * np.expm1(10 * rank) / np.expm1(10)

    def constants(self) -> dict[str, float]:
        """Macros of a program that is specialised for these settings."""
        return {
            "PARTICLES": self.particles,
            "GAP": self.refreshing_gap,
            "ACCELERATION": self.acceleration,
            "INERTIA_FIRST": self.inertia_first,
            "INERTIA_FALL": self.inertia_first - self.inertia_last,
            "VELOCITY_FRACTION": self.velocity_fraction,
            "SMALLEST_VELOCITY": SMALLEST_VELOCITY,
            "STRICT": int(self.strict),
        }

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return asdict(self)
