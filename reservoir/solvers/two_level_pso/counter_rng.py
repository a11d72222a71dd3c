"""Random numbers by their place, for swarms whose work items share particles: own streams, or those of the paper.

Whoever needs number k of a particle's generation makes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import rng_stream_ids
from reservoir.solvers.base.device_engine import Argument, Launch
from reservoir.solvers.rng.stream import philox4x32, seed_words
from reservoir.solvers.two_level_pso.settings import CONGRUENTIAL, CONGRUENTIAL_PRINTED, STREAM

#: Summand and modulus of Li and Liu 2017, eq. 7.
SUMMAND, MODULUS = 2_531_011, 2**31


class StreamNumbers:
    """The product's own: Philox makes a word of seed, problem, particle and generation, a mixer the numbers."""

    files = ("common/rng/philox.cl", "common/rng/numbers_of_streams.cl")

    def constants(self, numbers: int) -> dict[str, int | str]:
        """Macros for so many numbers a particle and generation."""
        return {"NUMBERS": numbers}

    def arguments(self, launch: Launch[Any], particles: int) -> list[Argument]:
        """The kernels' last arguments: the seed's two words and the problems' streams."""
        return launch.random_streams()


@dataclass(frozen=True)
class CongruentialNumbers:
    """Linear congruential numbers of a multiplier, a seed a particle (Li and Liu 2017, eq. 7-8)."""

    multiplier: int

    files = ("common/rng/numbers_congruential.cl",)

    def constants(self, numbers: int) -> dict[str, int | str]:
        """Macros for so many numbers a particle and generation: the table of `ahead` as well."""
        words = ", ".join(f"{word}u" for word in self.ahead(numbers).ravel().tolist())
        return {"NUMBERS": numbers, "AHEAD": f"{{{words}}}"}

    def ahead(self, steps: int) -> NDArray[np.uint32]:
        """Factor and summand that take 0, 1, ... steps at once, shape (steps + 1, 2)."""
        table = [(1, 0)]
        for _ in range(steps):
            factor, summand = table[-1]
            table.append((factor * self.multiplier % MODULUS, (summand * self.multiplier + SUMMAND) % MODULUS))
        return np.array(table, np.uint32)

    def arguments(self, launch: Launch[Any], particles: int) -> list[Argument]:
        """The kernels' last argument: a seed a particle, of the problem's stream."""
        counter = np.zeros((len(launch.problems), particles, 4), np.uint32)
        counter[..., 0] = np.arange(particles)
        counter[..., 1] = rng_stream_ids(launch.problems)[:, None]
        return launch.arguments(seeds=philox4x32(counter, seed_words(launch.seed))[..., 0] % np.uint32(MODULUS))


#: A scheme: its kernel files, its macros, and the arguments it passes to kernels.
NumberScheme = StreamNumbers | CongruentialNumbers

NUMBER_SCHEMES: dict[str, NumberScheme] = {
    STREAM: StreamNumbers(),
    CONGRUENTIAL: CongruentialNumbers(214_013),  # what the paper surely meant
    CONGRUENTIAL_PRINTED: CongruentialNumbers(21_403),
}
