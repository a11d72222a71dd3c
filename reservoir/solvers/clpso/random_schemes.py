"""Where a device's random numbers come from: own streams, or one of the two schemes of Yu et al. 2020."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.opencl import HostClock, Session
from reservoir.problems.base import Problem
from reservoir.solvers.clpso.settings import SwarmSettings
from reservoir.solvers.rng.stream import seed_words

if TYPE_CHECKING:
    from reservoir.solvers.clpso.program import SwarmLayout


class RandomScheme(Protocol):
    """A scheme: its kernel files, its macros, and the buffers and arguments it passes to the kernel."""

    @property
    def files(self) -> tuple[str, ...]:
        """Kernel files."""

    @property
    def divisible(self) -> bool:
        """Whether problems can be solved in several launches without changing their numbers."""

    def constants(self, settings: SwarmSettings, dimension: int, noisy: bool) -> dict[str, int]:
        """Macros that the files need."""

    def upload(
        self,
        session: Session,
        clock: HostClock,
        problems: Sequence[Problem],
        settings: SwarmSettings,
        layout: SwarmLayout,
        seed: int,
    ) -> list[str | np.generic]:
        """Put the scheme's buffers on the device; the kernel's last arguments. Making numbers counts as ``numbers``."""


class StreamScheme:
    """The product's own: a stream per (seed, problem, particle), made in the kernel (see `random_stream`)."""

    files = ("common/rng/philox.cl", "common/rng/random_stream.cl")
    divisible = True

    def constants(self, settings: SwarmSettings, dimension: int, noisy: bool) -> dict[str, int]:
        """None."""
        return {}

    def upload(
        self,
        session: Session,
        clock: HostClock,
        problems: Sequence[Problem],
        settings: SwarmSettings,
        layout: SwarmLayout,
        seed: int,
    ) -> list[str | np.generic]:
        """The seed's two words and the problems' streams."""
        session.upload(streams=np.array([problem.rng_stream_id for problem in problems], np.uint32))
        low, high = seed_words(seed)
        return [np.uint32(low), np.uint32(high), "streams"]


class KernelScheme:
    """Multiplicative congruential numbers in the kernel (eq. 14-15), a seed a particle from the host."""

    files = ("common/rng/random_congruential.cl", "common/rng/random_one_by_one.cl")
    divisible = False

    def constants(self, settings: SwarmSettings, dimension: int, noisy: bool) -> dict[str, int]:
        """None."""
        return {}

    def upload(
        self,
        session: Session,
        clock: HostClock,
        problems: Sequence[Problem],
        settings: SwarmSettings,
        layout: SwarmLayout,
        seed: int,
    ) -> list[str | np.generic]:
        """A starting value a particle."""
        generator = np.random.Generator(np.random.SFC64(seed))
        with clock("numbers"):
            seeds = generator.integers(1, 2**31 - 1, (len(problems), layout.swarm), np.uint32)
        session.upload(seeds=seeds)
        return ["seeds"]


class HostScheme:
    """Numbers made on the host and shared by all swarms, each shifted by one from the last (section 4.3)."""

    files = ("common/rng/random_host.cl", "common/rng/random_one_by_one.cl")
    divisible = False

    def constants(self, settings: SwarmSettings, dimension: int, noisy: bool) -> dict[str, int]:
        """How many numbers a particle may read."""
        return {"PER_PARTICLE": numbers_per_particle(settings, dimension, noisy)}

    def upload(
        self,
        session: Session,
        clock: HostClock,
        problems: Sequence[Problem],
        settings: SwarmSettings,
        layout: SwarmLayout,
        seed: int,
    ) -> list[str | np.generic]:
        """One buffer; refused before it is made if the device cannot hold it."""
        problem = problems[0]
        each = numbers_per_particle(settings, problem.dimension, problem.kernel().noisy)
        count = each * settings.particles + len(problems) - 1
        if count >= 2**32:
            mend = "take fewer particles or generations, or --random stream"
            raise InputError(
                Mistake("is more random numbers than a kernel can count", "fewer than 2**32", mend, value=count)
            )
        session.allocate(numbers=(count, np.float32))
        with clock("numbers"):
            numbers = np.random.Generator(np.random.SFC64(seed)).random(count, np.float32)
        session.upload(numbers=numbers)
        return ["numbers"]


def numbers_per_particle(settings: SwarmSettings, dimension: int, noisy: bool = False) -> int:
    """Random numbers that a particle needs at most (section 4.2).

    The paper counts none for the noise of f3; a noisy fitness takes one at the start and one a generation.
    """
    generations = settings.generations
    refreshes = (generations - 1) // settings.refreshing_gap + 1
    noise = generations + 1 if noisy else 0
    return 2 * dimension + 3 * refreshes * dimension + 2 * refreshes + generations * dimension + noise


RANDOM_SCHEMES: dict[str, RandomScheme] = {"stream": StreamScheme(), "kernel": KernelScheme(), "host": HostScheme()}


def random_scheme(name: str) -> RandomScheme:
    """The scheme of that name; InputError lists the names there are."""
    if name not in RANDOM_SCHEMES:
        names = ", ".join(RANDOM_SCHEMES)
        raise InputError(Mistake("there is no such random number scheme", names, "choose one of them", value=name))
    return RANDOM_SCHEMES[name]
