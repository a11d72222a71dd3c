"""Rivals of islands (Alraslan and AlKurdi 2023): one population, a launch or a barrier of the grid for each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.solvers.base.device_engine import Argument
from reservoir.solvers.island_ga.device_scheme import Scheme
from reservoir.solvers.island_ga.layout import GROUPS_PER_UNIT, IslandLayout, single_layout
from reservoir.solvers.island_ga.settings import DeviceIslandSettings


class _Single(Scheme):
    """One population for each problem, in global memory."""

    file = "master_slave_ga"

    @classmethod
    def settings_of(cls, settings: DeviceIslandSettings) -> DeviceIslandSettings:
        """All individuals on one island."""
        return settings.panmictic()

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.layout.groups

    def begin(self) -> None:
        """Random individuals; notes where the population stands."""
        contexts, context_size, genes, fitness, orders = self.islands[:5]
        schedule = self.launch.arguments(schedule=self._schedule(), generations=np.int32(self.settings.generations))
        self.population: list[Argument] = [contexts, context_size, genes, fitness, orders, *schedule]
        self.run("initialise", *self.population, *self.random)

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
        together = [self.layout.lanes, 1, self.layout.lanes, self.layout.lanes]
        return np.stack([_shares(*step, self.layout.groups, each) for step, each in zip(steps, together, strict=True)])


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


class Sak(_Single):
    """SAK: a kernel for each step."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """An item for each individual."""
        return single_layout(device, problems[0], settings)

    def evolve(self) -> None:
        """Select, breed, evaluate, select, ..."""
        self.begin()
        for iteration in range(1, self.settings.generations + 1):
            self.run("select_step", *self.population, np.int32(iteration))
            for step in ("breed_step", "evaluate_step"):
                self.run(step, *self.population, np.int32(iteration), *self.random)


class Slk(_Single):
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""

    waits = True

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """Twice as many groups as compute units, shared by the problems."""
        units = device.compute_units * (1 if device.kind == "CPU" else GROUPS_PER_UNIT)
        return single_layout(device, problems[0], settings, groups=max(1, units // len(problems)))

    def evolve(self) -> None:
        """One launch behind the first individuals."""
        self.begin()
        self.run("scheduled", *self.population, "probe", "meetings", *self.random)
        self.require_co_residency()
