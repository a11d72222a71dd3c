"""DSMGA-II (Li and Yu 2017), which learns the linkage of bits: its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reservoir.solvers.settings import ThreadSettings, choice, number

#: Ways to build the model: whole linkage sets on the host; the same on a device; sets that end with the last
#: complementary pattern on a device; and whole sets on the host of which only what mixing asks for is ever built.
SEQUENTIAL, LOSSLESS, LOSSY, ON_DEMAND = "sequential", "lossless", "lossy", "on-demand"
MODELS = (ON_DEMAND, SEQUENTIAL, LOSSLESS, LOSSY)
#: Those that need an OpenCL device.
DEVICE_MODELS = (LOSSLESS, LOSSY)

MOST_INDIVIDUALS = 65_536
#: Loci are numbered in 16 bits.
MOST_LOCI = 65_536


@dataclass(frozen=True)
class Dsmga2Settings(ThreadSettings):
    """Settings of Li and Yu 2017.

    Parameters
    ----------
    population : int
        Individuals; one more is added to an odd number, because two meet in a tournament.
    bits : int
        Bits of a variable of a problem of real vectors.
    generations : int
        Most generations.
    evaluations : int
        A run ends with the generation in which it has made so many; hill climbing, which takes one more than there are
        bits for each individual, and one generation are always done.
    model : str
        One of `MODELS`.
    linkage_generations : int
        Generations whose mean linkage of the variables is told with a solution; 0 for none.
    """

    population: int = number(120, 4, MOST_INDIVIDUALS)
    bits: int = number(8, 1, 20)
    generations: int = number(200, 1, 10**6)
    evaluations: int = number(10**12, 1, 10**12)
    model: str = choice(ON_DEMAND, MODELS, "model building")
    linkage_generations: int = number(10, 0, 10**6)

    @property
    def individuals(self) -> int:
        """An even number of individuals."""
        return self.population + self.population % 2

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return super().as_dict() | {"population": self.individuals}
