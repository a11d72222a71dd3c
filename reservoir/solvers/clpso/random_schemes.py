"""Where a device's random numbers come from: own streams, or one of the two schemes of Yu et al. 2020."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.solvers.base.device_engine import Argument, Launch
from reservoir.solvers.clpso.models import HOST, KERNEL, STREAM
from reservoir.solvers.clpso.settings import SwarmSettings


@dataclass(frozen=True)
class RandomScheme:
    """A scheme.

    Parameters
    ----------
    files : tuple of str
        Kernel files.
    arguments : callable
        Of a launch, settings, and particles of a problem with padding: puts the scheme's buffers on the device, and
        returns the kernel's last arguments. Making numbers counts as ``numbers``.
    divisible : bool
        Problems can be solved in several launches without changing their numbers.
    shared : bool
        The numbers are made once for all swarms.
    """

    files: tuple[str, ...]
    arguments: Callable[[Launch[Any], SwarmSettings, int], list[Argument]]
    divisible: bool = False
    shared: bool = False

    def constants(self, settings: SwarmSettings, dimension: int, noisy: bool) -> dict[str, int]:
        """Macros that the files need: of shared numbers, how many a particle may read."""
        return {"PER_PARTICLE": numbers_per_particle(settings, dimension, noisy)} if self.shared else {}


def _streams(launch: Launch[Any], settings: SwarmSettings, swarm: int) -> list[Argument]:
    """The product's own: a stream per (seed, problem, particle), made in the kernel (see `random_stream`)."""
    return launch.random_streams()


def _seeds(launch: Launch[Any], settings: SwarmSettings, swarm: int) -> list[Argument]:
    """Multiplicative congruential numbers in the kernel (eq. 14-15), a seed a particle from the host."""
    generator = np.random.Generator(np.random.SFC64(launch.seed))
    with launch.clock("numbers"):
        seeds = generator.integers(1, 2**31 - 1, (len(launch.problems), swarm), np.uint32)
    return launch.arguments(seeds=seeds)


def _shared_numbers(launch: Launch[Any], settings: SwarmSettings, swarm: int) -> list[Argument]:
    """Numbers made on the host and shared by all swarms, each shifted by one from the last (section 4.3).

    Refused before they are made if the device cannot hold them.
    """
    problem = launch.problems[0]
    each = numbers_per_particle(settings, problem.dimension, problem.kernel().noisy)
    count = each * settings.particles + len(launch.problems) - 1
    if count >= 2**32:
        mend = "choose fewer particles or generations, or --random stream"
        raise InputError(Mistake("the run needs too many random numbers", "fewer than 2**32", mend, value=count))
    launch.arguments(numbers=(count, np.float32))
    with launch.clock("numbers"):
        numbers = np.random.Generator(np.random.SFC64(launch.seed)).random(count, np.float32)
    return launch.arguments(numbers=numbers)


def numbers_per_particle(settings: SwarmSettings, dimension: int, noisy: bool = False) -> int:
    """Random numbers that a particle needs at most (section 4.2).

    The paper counts none for the noise of f3; a noisy fitness takes one at the start and one a generation.
    """
    generations = settings.generations
    refreshes = (generations - 1) // settings.refreshing_gap + 1
    noise = generations + 1 if noisy else 0
    return 2 * dimension + 3 * refreshes * dimension + 2 * refreshes + generations * dimension + noise


RANDOM_SCHEMES = {
    STREAM: RandomScheme(("common/rng/philox.cl", "common/rng/random_stream.cl"), _streams, divisible=True),
    KERNEL: RandomScheme(("common/rng/random_congruential.cl", "common/rng/random_one_by_one.cl"), _seeds),
    HOST: RandomScheme(("common/rng/random_host.cl", "common/rng/random_one_by_one.cl"), _shared_numbers, shared=True),
}
