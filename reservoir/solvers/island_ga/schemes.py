"""How the island genetic algorithm uses a device: the schemes of Alraslan and AlKurdi 2023, and their rivals.

``lim-is``, ``lim-cg``: the paper's lightweight island models, which meet at migrations alone, where a launch ends or in
a barrier of the grid. ``lim-async``: no barrier at all. ``tim``: the traditional island model, a launch for each
iteration, an item for each individual. ``sak`` and ``slk``: one population, see `population_schemes`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from reservoir.solvers.base.co_residency_probe import all_present
from reservoir.solvers.island_ga.device_scheme import Scheme
from reservoir.solvers.island_ga.population_schemes import Sak, Slk
from reservoir.solvers.island_ga.program import IslandLayout, island_layout


class _Islands(Scheme):
    """A work group for each island."""

    def layout_of(self, **shape: int | None) -> IslandLayout:
        """Islands in local memory."""
        return island_layout(self.device, self.problems[0], self.settings, islands=self.groups, **shape)


class LimIs(_Islands):
    """LIM-IS: three kernels; a launch evolves all islands from one migration to the next."""

    file = "island_ga_launches"

    def evolve(self) -> None:
        """Evolve, migrate, evolve, ..."""
        stages = self.settings.stages.tolist()
        self.run("initialise", *self.islands, *self.numbers)
        for stage, (before, last) in enumerate(pairwise([0, *stages])):
            self.stage(before, last)
            if last != stages[-1]:
                self.run("migrate", *self.islands, np.int32(stage), self.worth_after)
                self.worth, self.worth_after = self.worth_after, self.worth

    def stage(self, before: int, last: int) -> None:
        """Iterations from one migration to the next: a launch."""
        self.run("evolve", *self.islands, np.int32(before), np.int32(last), *self.numbers)


class Traditional(LimIs):
    """TIM: a launch for each iteration, an item for each individual."""

    def layout_of(self, **shape: int | None) -> IslandLayout:
        """As many items as individuals, each by itself."""
        size = self.settings.island_size
        if self.device.kind != "CPU" and shape.get("items") is None:
            shape["items"] = min(size, self.device.max_work_group_size)
        return super().layout_of(**{**shape, "team": 1})

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
        self.run("evolve_together", *self.islands, "stages", "roll", *self.numbers)
        self.require_presence()


class LimAsync(_Islands):
    """LIM-async: one kernel without a barrier between islands, cut into slices where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    repeatable = False
    mail_slots = 0

    def evolve(self) -> None:
        """One launch if all islands answer the roll call, else slices."""
        self.session.allocate(posted=(self.groups, np.int32))
        self.run("initialise", *self.islands, *self.numbers)
        self._launch(0)
        resident = all_present(self.session)
        self.used |= {"resident": resident, "slice_stages": 0 if resident else self.slice_stages}
        if not resident:  # as the roll says from now on
            for first in range(self.slice_stages, len(self.settings.stages), self.slice_stages):
                self._launch(first)

    def _launch(self, first: int) -> None:
        span = np.int32(first), np.int32(self.slice_stages)
        self.run("evolve_apart", *self.islands, "stages", "roll", "posted", *span, *self.numbers)


SCHEMES: dict[str, type[Scheme]] = {
    "lim-is": LimIs,
    "lim-cg": LimCg,
    "lim-async": LimAsync,
    "tim": Traditional,
    "sak": Sak,
    "slk": Slk,
}
