"""Comprehensive-learning PSO (Liang et al. 2006), multipopulation in OpenCL (Yu et al. 2020): its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.solvers.settings import FirstPositionsSettings, choice, device_size, number, switch

#: Where random numbers come from: own streams, the kernel (eq. 14-15), or the host (section 4.3); see `engine`.
STREAM, KERNEL, HOST = RANDOM_NAMES = "stream", "kernel", "host"
#: How bounds are held: values of CONDITIONALS in the kernel.
BRANCHES, BUILT_INS, OPERATORS = 0, 1, 2


@dataclass(frozen=True)
class Model:
    """One way to put a swarm on a device.

    Parameters
    ----------
    name, summary : str
        As shown to users.
    random : str
        Where random numbers come from unless the caller says: one of `RANDOM_NAMES`.
    conditionals : int
        `BRANCHES`, `BUILT_INS` or `OPERATORS`.
    of_the_paper : bool
        A work item has one particle, and personal bests stand in global memory.
    state_in_global : bool
        So do position, velocity and exemplar.
    """

    name: str
    summary: str
    random: str
    conditionals: int = OPERATORS
    of_the_paper: bool = False
    state_in_global: bool = False


LANES = "lanes"
_BASIC = Model(
    "basic",
    "random numbers from the kernel (eq. 14-15), state in global memory, branches",
    KERNEL,
    BRANCHES,
    of_the_paper=True,
    state_in_global=True,
)
_INTERMEDIATE = replace(_BASIC, name="intermediate", summary="basic, with random numbers from the host", random=HOST)
_FINAL = replace(
    _INTERMEDIATE,
    name="final",
    summary="intermediate, with private arrays, clamp and step",
    conditionals=BUILT_INS,
    state_in_global=False,
)
_LANES = Model(LANES, "particles in vector lanes or registers, one random stream per particle", STREAM)

MODELS: dict[str, Model] = {model.name: model for model in (_BASIC, _INTERMEDIATE, _FINAL, _LANES)}

#: Of a swarm: beyond any use, and few enough for numbers of 32 bits to count what they do.
MOST_PARTICLES = 65_536

#: How a tournament draws the two particles, and a forced exemplar its one: any, or others than the particle that
#: learns, and two different ones (Yu et al. 2020, section 2.1, at its end).
RELAXED, STRICT = "relaxed", "strict"


@dataclass(frozen=True)
class SwarmSettings(FirstPositionsSettings):
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
    exchange_interval : int
        Every so many generations, particles also try their bests with two variables exchanged, where the problem has
        variables that can be exchanged (releases of a year's months); 0 for never, as in the paper. On random
        reservoirs, 5 makes years with a gap above 0.1 % many times rarer.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    exemplars : str
        `RELAXED` or `STRICT`.
    exemplars_follow : bool
        An exemplar follows the personal bests that it was chosen from as they improve; else it is a copy that stands
        until the next, as the arrays of exemplars in Yu et al. 2020, section 4, are read here. Copies end nearer the
        optimum of smooth functions. The sequential engine alone can follow.
    """

    particles: int = number(40, 2, MOST_PARTICLES)
    generations: int = number(10_000, 1, 10**8)
    acceleration: float = number(1.5, 0.0, 1e9)
    inertia_first: float = number(0.9, 0.0, 2.0)
    inertia_last: float = number(0.4, 0.0, 2.0)
    velocity_fraction: float = number(0.2, 1e-6, 1.0)
    refreshing_gap: int = number(7, 1, 10**6)
    exchange_interval: int = number(0, 0, 10**6)
    trace_points: int = number(200, 1, 10**5)
    exemplars: str = choice(RELAXED, (RELAXED, STRICT), "choice of exemplars")
    exemplars_follow: bool = switch(False)

    def __post_init__(self) -> None:
        """Refuse settings that no swarm can have."""
        super().__post_init__()
        if self.exemplars == STRICT and self.particles < 3:
            wrong = "strict exemplars need at least two other particles"
            raise InputError(wrong, "3 or more particles", value=self.particles)

    @staticmethod
    def of_systems(reservoirs: int, steps: int, dimension: int) -> dict[str, Any]:
        """Settings for years of systems where they are others: as many generations for each two reservoirs."""
        return {"generations": 5_000 * max(2, reservoirs) * max(1, steps // MONTHS_PER_YEAR)}

    @property
    def evaluations(self) -> int:
        """Evaluations of a run, about."""
        return self.particles * self.generations

    def learning_probability(self) -> NDArray[np.float64]:
        """L_i of every particle (eq. 5), shape (particles,): from 0.05 to 0.5."""
        rank = np.arange(self.particles) / (self.particles - 1)
        return np.asarray(0.05 + 0.45 * np.expm1(10 * rank) / np.expm1(10))


@dataclass(frozen=True)
class DeviceSwarmSettings(SwarmSettings):
    """Settings of CLPSO on a device.

    Parameters
    ----------
    model : str
        One of `MODELS`: ``lanes``, or the paper's ``basic``, ``intermediate`` or ``final``.
    random : str, optional
        ``stream`` (own streams), ``kernel`` (eq. 14-15) or ``host`` (made on the host and shared, section 4.3); the
        model's own if not given.
    lanes, items, swarms : int, optional
        Particles in a work item's vector, work items of a swarm, and swarms in a work group; chosen for the device if
        not given. With own streams a result does not depend on them beyond rounding.
    """

    model: str = choice(LANES, MODELS, "model of CLPSO", run=True)
    random: str | None = choice(None, RANDOM_NAMES, "random number scheme", run=True)
    lanes: int | None = device_size()
    items: int | None = device_size()
    swarms: int | None = device_size()

    def __post_init__(self) -> None:
        """Refuse what no device can do."""
        super().__post_init__()
        if self.exemplars_follow:
            mend = "choose the solver clpso-sequential"
            raise InputError("clpso does not support exemplars_follow", mend=mend)
        if self.exchange_interval and self.used_random != STREAM:
            wrong = f"exchange_interval needs random numbers of the scheme {STREAM}"
            raise InputError(wrong, mend="choose the model lanes", value=self.used_random)

    @property
    def used_random(self) -> str:
        """Where random numbers come from."""
        return self.random or MODELS[self.model].random

    def as_dict(self) -> dict[str, Any]:
        """Every setting, the model's own random numbers by name."""
        return super().as_dict() | {"random": self.used_random}
