"""pygmo (Biscani and Izzo 2020, J. Open Source Softw. 5:2338), a generation judged in one call where it can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pygmo

from reservoir.bench.peers.objective import FloatArray, YearObjective


class _Year:
    """A year as pygmo wants a problem."""

    def __init__(self, objective: YearObjective) -> None:
        self.objective = objective

    def __deepcopy__(self, memo: object) -> _Year:
        """Pygmo copies problems; the count of evaluations is to be one."""
        return self

    def fitness(self, position: FloatArray) -> list[float]:
        return [self.objective.loss(position)]

    def batch_fitness(self, positions: FloatArray) -> FloatArray:
        return self.objective.losses(positions.reshape(-1, self.objective.dimension))

    def get_bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.objective.lower, self.objective.upper


def search(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """Evolve one population until the objective says that it is over, or the algorithm's generations are done."""
    options = dict(settings)
    size = options.pop("population")
    together = pygmo.bfe(pygmo.member_bfe())
    population = pygmo.population(pygmo.problem(_Year(objective)), size, b=together, seed=seed)
    engine = getattr(pygmo, algorithm)(seed=seed, **options)
    if hasattr(engine, "set_bfe"):
        engine.set_bfe(together)
    pygmo.algorithm(engine).evolve(population)
