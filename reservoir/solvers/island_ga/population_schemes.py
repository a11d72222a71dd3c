"""Rivals of islands (Alraslan and AlKurdi 2023): one population, a launch or a barrier of the grid for each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.island_ga.device_scheme import Scheme
from reservoir.solvers.island_ga.program import GROUPS_PER_UNIT, IslandLayout, single_layout
from reservoir.solvers.island_ga.settings import IslandSettings


class _Single(Scheme):
    """One population for each problem, in global memory."""

    file = "master_slave_ga"

    def settings_of(self, settings: IslandSettings) -> IslandSettings:
        """All individuals on one island."""
        return settings.panmictic()

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.layout.groups

    @property
    def population(self) -> tuple[str | np.generic, ...]:
        """Arguments for where the population stands."""
        generations = np.int32(self.settings.generations)
        return ("contexts", self._context_size, "genes", self.worth, "orders", "schedule", generations)

    def begin(self) -> None:
        """Random individuals."""
        self.session.upload(schedule=self._schedule())
        self.run("initialise", *self.population, *self.numbers)

    @property
    def trace_iterations(self) -> NDArray[np.int64]:
        """Nobody looks at the best before the end."""
        return np.empty(0, np.int64)

    def trace_of(self, trace: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
        """No points."""
        return np.empty((len(self.problems), 0), trace.dtype)

    def _schedule(self) -> NDArray[np.int32]:
        """First place of each step and group, and the one behind the last, shape (steps, groups, 2)."""
        size, parents = self.settings.island_size, self.settings.parents
        steps = ((0, size), (0, parents), (parents, size), (parents, size))
        together = [self.layout.together, 1, self.layout.together, self.layout.together]
        return np.stack([_shares(*step, self.layout.groups, each) for step, each in zip(steps, together, strict=True)])


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


class Sak(_Single):
    """SAK: a kernel for each step."""

    def layout_of(self, **shape: int | None) -> IslandLayout:
        """An item for each individual."""
        return single_layout(self.device, self.problems[0], self.settings, **shape)

    def evolve(self) -> None:
        """Select, breed, evaluate, select, ..."""
        self.begin()
        for iteration in range(1, self.settings.generations + 1):
            self.run("select_step", *self.population, np.int32(iteration))
            for step in ("breed_step", "evaluate_step"):
                self.run(step, *self.population, np.int32(iteration), *self.numbers)


class Slk(_Single):
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""

    waits = True

    def layout_of(self, **shape: int | None) -> IslandLayout:
        """Twice as many groups as compute units, shared by the problems."""
        units = self.device.compute_units * (1 if self.device.kind == "CPU" else GROUPS_PER_UNIT)
        groups = max(1, units // len(self.problems))
        return single_layout(self.device, self.problems[0], self.settings, **{"groups": groups, **shape})

    def evolve(self) -> None:
        """One launch behind the first individuals."""
        self.begin()
        self.run("scheduled", *self.population, "roll", "meetings", *self.numbers)
        self.require_presence()
