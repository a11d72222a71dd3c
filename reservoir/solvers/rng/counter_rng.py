"""Random numbers by their place, for swarms whose work items share particles: own streams, or those of a paper.

Whoever needs number k of a particle's generation makes it; `random_schemes` has the schemes of streams that are drawn
one number after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import Session
from reservoir.problems.base import Problem
from reservoir.solvers.rng.stream import philox4x32, seed_words

#: Summand and modulus of Li and Liu 2017, eq. 7.
SUMMAND, MODULUS = 2_531_011, 2**31


class NumberScheme(Protocol):
    """A scheme: its kernel files, its source, and the arguments it passes to kernels."""

    @property
    def files(self) -> tuple[str, ...]:
        """Kernel files."""

    def source(self, numbers: int) -> str:
        """OpenCL C in front of the files, for so many numbers a particle and generation."""

    def upload(
        self, session: Session, problems: Sequence[Problem], particles: int, seed: int
    ) -> list[str | np.generic]:
        """Put the scheme's buffers on the device; the kernels' last arguments."""


class StreamNumbers:
    """The product's own: Philox makes a word of seed, problem, particle and generation, a mixer the numbers."""

    files = ("common/rng/philox.cl", "common/rng/numbers_of_streams.cl")

    def source(self, numbers: int) -> str:
        """Nothing."""
        return ""

    def upload(
        self, session: Session, problems: Sequence[Problem], particles: int, seed: int
    ) -> list[str | np.generic]:
        """The seed's two words and the problems' streams."""
        session.upload(streams=np.array([problem.rng_stream_id for problem in problems], np.uint32))
        return [*(np.uint32(word) for word in seed_words(seed)), "streams"]


@dataclass(frozen=True)
class CongruentialNumbers:
    """Linear congruential numbers, a seed a particle (Li and Liu 2017, eq. 7-8).

    Parameters
    ----------
    multiplier : int
    """

    multiplier: int

    files = ("common/rng/numbers_congruential.cl",)

    def source(self, numbers: int) -> str:
        """The table of `ahead`."""
        words = ", ".join(f"{word}u" for word in self.ahead(numbers).ravel().tolist())
        return f"__constant uint ahead[] = {{{words}}};\n"

    def ahead(self, steps: int) -> NDArray[np.uint32]:
        """Factor and summand that take 0, 1, ... steps at once, shape (steps + 1, 2)."""
        table = [(1, 0)]
        for _ in range(steps):
            factor, summand = table[-1]
            table.append((factor * self.multiplier % MODULUS, (summand * self.multiplier + SUMMAND) % MODULUS))
        return np.array(table, np.uint32)

    def upload(
        self, session: Session, problems: Sequence[Problem], particles: int, seed: int
    ) -> list[str | np.generic]:
        """A seed a particle, of the problem's stream."""
        counter = np.zeros((len(problems), particles, 4), np.uint32)
        counter[..., 0] = np.arange(particles)
        counter[..., 1] = np.array([problem.rng_stream_id for problem in problems], np.uint32)[:, None]
        session.upload(seeds=philox4x32(counter, seed_words(seed))[..., 0] % np.uint32(MODULUS))
        return ["seeds"]


NUMBER_SCHEMES: dict[str, NumberScheme] = {
    "stream": StreamNumbers(),
    "congruential": CongruentialNumbers(214_013),  # what the paper surely meant
    "congruential-printed": CongruentialNumbers(21_403),
}


def number_scheme(name: str) -> NumberScheme:
    """The scheme of that name; InputError lists the names there are."""
    if name not in NUMBER_SCHEMES:
        names = ", ".join(NUMBER_SCHEMES)
        raise InputError(Mistake("there is no such random number scheme", names, "choose one of them", value=name))
    return NUMBER_SCHEMES[name]
