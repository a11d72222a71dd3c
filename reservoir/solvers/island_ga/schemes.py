"""How the island genetic algorithm uses a device: the schemes of Alraslan and AlKurdi 2023, and their rivals.

``lim-is``, ``lim-cg``: the paper's lightweight island models, which meet at migrations alone, where a launch ends or in
a barrier of the grid. ``lim-async``: no barrier at all. ``tim``: the traditional island model, a launch for each
iteration, an item for each individual. ``sak`` and ``slk``: one population, see `population_schemes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.solvers.base.co_residency_probe import co_resident
from reservoir.solvers.island_ga.device_scheme import Scheme
from reservoir.solvers.island_ga.layout import IslandLayout, island_layout
from reservoir.solvers.island_ga.population_schemes import Sak, Slk
from reservoir.solvers.island_ga.settings import SCHEME_NAMES, DeviceIslandSettings


class _Islands(Scheme):
    """A work group for each island."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """Islands in local memory."""
        return island_layout(device, problems[0], settings, islands=len(problems) * settings.islands)


class LimIs(_Islands):
    """LIM-IS: three kernels; a launch evolves all islands from one migration to the next."""

    file = "island_ga_launches"

    def evolve(self) -> None:
        """Evolve, migrate, evolve, ..."""
        stages = self.settings.stages.tolist()
        self.run("initialise", *self.islands, *self.random)
        for stage, (before, last) in enumerate(pairwise([0, *stages])):
            self.stage(before, last)
            if last != stages[-1]:
                self.run("migrate", *self.islands, np.int32(stage), self.fitness_after)
                self.fitness, self.fitness_after = self.fitness_after, self.fitness

    def stage(self, before: int, last: int) -> None:
        """Iterations from one migration to the next: a launch."""
        self.run("evolve", *self.islands, np.int32(before), np.int32(last), *self.random)


class Traditional(LimIs):
    """TIM: a launch for each iteration, an item for each individual."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """As many items as individuals, each by itself."""
        items = settings.items
        if device.kind != "CPU" and items is None:
            items = min(settings.island_size, device.max_work_group_size)
        return super().layout_of(device, problems, replace(settings, items=items, team=1))

    def stage(self, before: int, last: int) -> None:
        """A launch for each iteration."""
        for iteration in range(before, last):
            super().stage(iteration, iteration + 1)


class LimCg(_Islands):
    """LIM-CG: one kernel, whose islands meet in a barrier of the grid; refused where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    mail_slots = 2

    def evolve(self) -> None:
        """One launch."""
        self.run("evolve_together", *self.islands, *self.stages, *self.random)
        self.require_co_residency()


class LimAsync(_Islands):
    """LIM-async: one kernel without a barrier between islands, cut into slices where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    repeatable = False
    mail_slots = 0

    def evolve(self) -> None:
        """One launch if all islands are at work at once, else slices."""
        posted = self.launch.arguments(posted=(self.groups, np.int32))
        slice_stages = self.settings.slice_stages
        self.run("initialise", *self.islands, *self.random)
        for first in range(0, len(self.settings.stages), slice_stages):
            span = np.int32(first), np.int32(slice_stages)
            self.run("evolve_apart", *self.islands, *self.stages, *posted, *span, *self.random)
            if first == 0 and (resident := co_resident(self.launch.session)):  # as the probe says from now on
                break
        self.used |= {"resident": resident, "slice_stages": 0 if resident else slice_stages}


SCHEMES: dict[str, type[Scheme]] = dict(zip(SCHEME_NAMES, (LimIs, LimCg, LimAsync, Traditional, Sak, Slk), strict=True))
