"""Ring PSO (Mussi, Nashed and Cagnoni 2011), synchronous and asynchronous: its settings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from reservoir.solvers.settings import Settings, choice, device_size, number, switch

#: What a particle does at a bound: stays there, with its velocity or without.
CLAMP, STOP = WALLS = "clamp", "stop"
#: `SYNC`: three kernels a generation. `ASYNC`: one kernel, in which no particle waits for another.
SYNC, ASYNC = MODES = "sync", "async"
#: Generations of a launch of the asynchronous form where not all particles are at work at once. Measured on two cores:
#: from 5 on the elliptic function of 32 variables ends orders of magnitude above the synchronous form; 1 costs 1.5
#: times the time of 3.
SLICE_GENERATIONS = 1
#: Who informs a particle: itself and its neighbours, or those that chance names.
RING, STAR = TOPOLOGIES = "ring", "star"


@dataclass(frozen=True)
class RingSettings(Settings):
    """Settings of Mussi, Nashed and Cagnoni 2011, section 5, with their values but for the size of a swarm.

    They have 32 particles and 10,000 generations. As many evaluations of ten times as many particles leave ten times
    fewer of a reservoir's years in a neighbouring local optimum.

    Parameters
    ----------
    particles : int
        Of a swarm; a particle is informed by itself and its two neighbours in a ring.
    generations : int
        Moves of the swarm.
    inertia, cognitive, social : float
        w, C1 and C2.
    wall : str
        One of `WALLS`; the authors' program clamps the position alone.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    """

    particles: int = number(320, 2, 65_536)
    generations: int = number(1000, 1, 10**8)
    inertia: float = number(0.729844, 0.0, 2.0)
    cognitive: float = number(1.49618, 0.0, 1e9)
    social: float = number(1.49618, 0.0, 1e9)
    wall: str = choice(CLAMP, WALLS, "wall")
    trace_points: int = number(200, 1, 10**5)

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


@dataclass(frozen=True)
class DeviceRingSettings(RingSettings):
    """Settings of ring PSO on a device.

    Parameters
    ----------
    mode : str
        One of `MODES`.
    slice_generations : int
        Of ``async``: generations of a launch where not all particles are at work at once. The result says whether they
        were, in the setting ``resident``.
    checked : bool
        Of ``async``: hold what is read of neighbours against its fitness, and tell in the settings ``pairs_seen`` and
        ``pairs_torn``.
    items : int, optional
        Work items of a particle; chosen for the device if not given.
    """

    mode: str = choice(SYNC, MODES, "mode", run=True)
    slice_generations: int = number(SLICE_GENERATIONS, 1, 10**9, run=True)
    checked: bool = switch(False, run=True)
    items: int | None = device_size()


@dataclass(frozen=True)
class SequentialRingSettings(RingSettings):
    """Settings of ring PSO on one thread.

    Parameters
    ----------
    topology : str
        One of `TOPOLOGIES`.
    """

    topology: str = choice(RING, TOPOLOGIES, "topology", run=True)
