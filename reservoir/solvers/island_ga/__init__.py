"""Genetic algorithm on islands (Alraslan and AlKurdi 2023): its settings, which engines and schemes share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.problems.base import PERMUTATION, REAL, Problem, encoding_of
from reservoir.solvers.settings import MOST_POINTS, Settings, choice, device_size, number, require_count, switch

#: Individuals are numbered in 16 bits.
MOST_INDIVIDUALS = 65_536
MOST_ITERATIONS = 10**9
#: Cities that genes can tell apart.
MOST_CITIES = 65_536

#: Crossovers and mutations of each encoding; the first of each is the default.
CROSSOVERS = {PERMUTATION: ("one-point", "order"), REAL: ("blend",)}
MUTATIONS = {PERMUTATION: ("swap", "two-opt"), REAL: ("gaussian",)}

#: How a population uses a device; see `engine`. The first runs on every device, and gives the same bytes for the same
#: seed.
SCHEME_NAMES = "lim-is", "lim-cg", "lim-async", "tim", "sak", "slk"


@dataclass(frozen=True)
class IslandSettings(Settings):
    """Settings of Alraslan and AlKurdi 2023, Table 2, with its values where it gives any.

    Parameters
    ----------
    islands, island_size : int
        Islands of a population, and individuals of each.
    evaluations : int
        Evaluations of a run at most, where `iterations` is not given.
    iterations : int, optional
        Generations of every island; 1000 in the paper.
    selection_fraction : float
        Part of an island that wins tournaments and stays, as parents of the next generation.
    crossover_fraction : float
        Part of an island that is made by crossover of two parents; the rest are mutated copies of one.
    migrate_every : int
        Iterations from one migration around the ring of islands to the next.
    migrants : int
        Individuals that leave an island: its best take the places of the next island's worst. The paper is silent.
    crossover, mutation : str
        One of `CROSSOVERS` and of `MUTATIONS`; the encoding's first where empty.
    blend : float
        Alpha of the blend crossover (Eshelman and Schaffer 1993, BLX-alpha).
    mutation_scale : float
        First standard deviation of the Gaussian mutation, as a part of a variable's range; it falls to zero in the
        course of the run.
    """

    islands: int = number(8, 1, MOST_INDIVIDUALS)
    island_size: int = number(128, 4, MOST_INDIVIDUALS)
    evaluations: int = number(400_000, 1, 10**12)
    iterations: int | None = number(None, 1, MOST_ITERATIONS)
    selection_fraction: float = number(0.3, 1e-6, 0.5)
    crossover_fraction: float = number(0.65, 0.0, 1.0)
    migrate_every: int = number(50, 1, 10**9)
    migrants: int = number(1, 0, MOST_INDIVIDUALS // 2)
    crossover: str = choice("", ("", *chain(*CROSSOVERS.values())), "crossover")
    mutation: str = choice("", ("", *chain(*MUTATIONS.values())), "mutation")
    blend: float = number(0.7, 0.0, 10.0)
    mutation_scale: float = number(0.03, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Refuse settings that no islands can have."""
        super().__post_init__()
        if self.migrants > self.island_size // 2:
            expected = f"at most half of an island, {self.island_size // 2}"
            raise InputError("too many migrants", expected, "choose fewer migrants", value=self.migrants)
        require_count("iterations", self.generations, MOST_ITERATIONS, "choose fewer iterations or evaluations")
        migrations = self.generations // self.migrate_every
        require_count("migrations", migrations, MOST_POINTS, "choose a larger migrate_every")

    def for_encoding(self, encoding: str) -> Self:
        """With operators of an encoding; InputError if an operator that was asked for is of another encoding."""
        chosen: dict[str, Any] = {}
        for kind, known in (("crossover", CROSSOVERS[encoding]), ("mutation", MUTATIONS[encoding])):
            asked = getattr(self, kind)
            if asked and asked not in known:
                wrong, expected = f"there is no such {kind} for {encoding} encoding", ", ".join(known)
                raise InputError(wrong, expected, "choose one of them", value=asked)
            chosen[kind] = asked or known[0]
        return replace(self, **chosen)

    def panmictic(self) -> Self:
        """The same population on one island; InputError if it is too large."""
        return replace(self, islands=1, island_size=self.population, iterations=self.generations)

    @property
    def population(self) -> int:
        """Individuals of all islands."""
        return self.islands * self.island_size

    @property
    def parents(self) -> int:
        """Winners of an island's tournaments; between 3 and 4 individuals meet in one."""
        return max(1, int(self.selection_fraction * self.island_size))

    @property
    def crossed(self) -> int:
        """Children of an island and iteration that crossover makes."""
        return min(int(self.crossover_fraction * self.island_size), self.bred)

    @property
    def bred(self) -> int:
        """Children of an island and iteration."""
        return self.island_size - self.parents

    @property
    def generations(self) -> int:
        """Iterations: as asked, or as many as the evaluations allow, but one at least."""
        if self.iterations is not None:
            return self.iterations
        return max(1, (self.evaluations - self.population) // (self.islands * self.bred))

    @property
    def work(self) -> dict[str, Any]:
        """What a run does: the evaluations are those of the first individuals, and of every child."""
        evaluations = self.islands * (self.island_size + self.bred * self.generations)
        return {"generations": self.generations, "evaluations": evaluations, "trace_generations": self.stages}

    @property
    def stages(self) -> NDArray[np.int64]:
        """Iterations at whose end islands meet: the migrations and the end. The trace has a point for each."""
        return np.append(np.arange(self.migrate_every, self.generations, self.migrate_every), self.generations)

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return super().as_dict() | {"iterations": self.generations}


@dataclass(frozen=True)
class DeviceIslandSettings(IslandSettings):
    """Settings of the genetic algorithm on a device.

    Parameters
    ----------
    scheme : str
        One of `SCHEME_NAMES`.
    slice_stages : int
        Of ``lim-async``: migrations in a launch where islands are not all at work at once. The result says whether they
        were, in the setting ``resident``.
    counted : bool
        Count kernel launches, and how often the items of a group, and the groups of the grid, meet.
    keep_population : bool
        Keep all individuals in the setting ``population``.
    wait_each : bool
        Let the host wait for every launch before the next, as the papers' programs do; else launches queue up.
    items, team, lanes : int, optional
        Work items of a group, items that make a tour together, and real vectors that an item handles at once; chosen
        for the device if not given.
    """

    scheme: str = choice(SCHEME_NAMES[0], SCHEME_NAMES, "scheme", run=True)
    slice_stages: int = number(1, 1, 10**9, run=True)
    counted: bool = switch(False, run=True)
    keep_population: bool = switch(False, run=True)
    wait_each: bool = switch(False, run=True)
    items: int | None = device_size()
    team: int | None = device_size()
    lanes: int | None = device_size()


def gene_type(problem: Problem) -> Any:
    """Type of a gene in numpy; InputError if a problem has more cities than genes can tell apart."""
    if encoding_of(problem) != PERMUTATION:
        return np.float32
    if problem.dimension > MOST_CITIES:
        wrong, mend = f"{problem.label}: has too many cities", "choose a smaller problem"
        raise InputError(wrong, f"at most {MOST_CITIES:,}", mend, value=problem.dimension)
    return np.uint8 if problem.dimension <= 256 else np.uint16
