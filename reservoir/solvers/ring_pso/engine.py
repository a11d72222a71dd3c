"""Particle swarm optimisation in a ring, synchronous and asynchronous, in OpenCL.

Mussi, Nashed and Cagnoni 2011, "GPU-based asynchronous particle swarm optimization", GECCO. The kernels are in
``kernels/solvers/ring_pso/ring_pso.cl``: a work group has a particle, a work item a dimension. The same seed gives the
same bytes in ``sync``, not in ``async``, whose particles learn of each other when they happen to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reservoir.opencl import BuiltProgram, DeviceInfo, ordering_of, require_local
from reservoir.problems.base import Problem
from reservoir.solvers.device_engine import (
    MAX_POLLS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    co_resident,
    items_for,
    require_ordering,
    team_of,
)
from reservoir.solvers.ring_pso import ASYNC, STOP, SYNC, DeviceRingSettings
from reservoir.solvers.solution import EngineResults, engine_results


@dataclass(frozen=True)
class RingLayout:
    """A work group has a particle."""

    items: int  # work items of a group
    team: int  # items that add up their shares in registers: a warp, or 1


#: Work items of a compute unit of a GPU up to which a particle has an item for each dimension; with more, particles
#: would not all be at work at once.
ROOMY_ITEMS = 1024


class RingEngine(PopulationEngine[DeviceRingSettings]):
    """Ring PSO, each problem with a swarm of its own."""

    name = "ring-pso"
    settings_class = DeviceRingSettings
    #: Not so many that 32 bits could not count the particles.
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 4 * 10**9, "accelerator": 5 * 10**8, "CPU": 10**7}

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> RingLayout:
        """On a GPU an item for each dimension, in whole sub-groups, or one sub-group; on a CPU one item for all."""
        items, dimension = self.settings.items, problems[0].dimension
        if items is None and device.kind != "CPU":
            whole = -(-dimension // device.sub_group_size) * device.sub_group_size
            roomy = len(problems) * self.settings.particles * whole <= ROOMY_ITEMS * device.compute_units
            items = min(whole if roomy else device.sub_group_size, device.max_work_group_size)
        items = items_for(device, dimension, items)
        layout = RingLayout(items=items, team=team_of(device, items))
        require_local(device, 4 * (4 * dimension + 2 * (items // layout.team) + 4))
        return layout

    def build(self, device: DeviceInfo, problem: Problem, layout: RingLayout) -> BuiltProgram:
        """The kernels of both forms; refused where groups would wait for each other in vain."""
        settings, kernel, ordering = self.settings, problem.kernel(fine=True), ordering_of(device)
        waits = settings.mode == ASYNC
        if waits:
            require_ordering(device, f"the mode {ASYNC}", f"choose the mode {SYNC}, which runs anywhere")
        constants = {
            **settings.macros("particles", "inertia", "cognitive", "social"),
            "STOPS": int(settings.wall == STOP),
            **ordering.constants(waits),
            "LANES": 1,
            "ITEMS": layout.items,
            "TEAM": layout.team,
            "WARPS": int(layout.team > 1),
            "BY_DIMENSION": int(kernel.by_dimension),
            "BOUNDED": int(kernel.bounded),
            "CONTEXT_SPACE": "__global",
            "CHECKED": int(settings.checked),
            "FITNESS_APART": int(device.intel_cpu),
            "MAX_POLLS": MAX_POLLS[device.kind],
        }
        common = ["rng/philox", "rng/numbers_of_streams", "sync/group_barrier", "sync/teams", "sync/grid"]
        after, options = ["solvers/ring_pso/ring_pso"], ordering.options(waits)
        return build_around(kernel, device, constants, common=common, after=after, options=options)

    def run(self, launch: Launch) -> EngineResults:
        """Run to the end, in launches or in one."""
        settings, count = self.settings, len(launch.problems)
        groups, points = count * settings.particles, len(settings.trace_generations)
        rows = groups, launch.problems[0].dimension
        state = launch.contexts() + launch.arguments(
            positions=(rows, np.float32),
            velocities=(rows, np.float32),
            bests=(rows, np.float32),
            values=(groups, np.float32),
            best_values=(groups, np.float32),
            informants=(groups, np.int32),
            trace=((groups, points), np.float32),
            trace_points=np.int32(points),
        )
        posts = launch.arguments(
            posted=((2, *rows), np.float32), posted_values=((2, groups), np.float32), stamps=(groups, np.int32)
        )
        random = launch.random_streams()
        launch.run("initialise", groups, *state, *posts, *random)
        if settings.mode == ASYNC:
            how = self._run_async(launch, groups, [*state, *posts], random)
        else:
            how = self._run_sync(launch, groups, state, random)
        bests, values, traces = (
            each.reshape(count, settings.particles, -1)
            for each in map(launch.session.download, ("bests", "best_values", "trace"))
        )
        every, leaders = np.arange(count), values[..., 0].argmax(axis=1)
        return engine_results(
            position=bests[every, leaders],
            trace_fitness=traces.max(axis=1),
            fitness_float32=values[every, leaders, 0],
            of_all=settings.work | {"settings": {"items": launch.layout.items, **how}},
        )

    def _run_sync(
        self, launch: Launch, groups: int, state: Sequence[Argument], random: Sequence[Argument]
    ) -> dict[str, Any]:
        """Positions, fitness, bests, positions, ..."""
        points = {generation: point for point, generation in enumerate(self.settings.trace_generations.tolist())}
        launch.run("take_bests", groups, *state, np.int32(-1))
        for generation in range(1, self.settings.generations + 1):
            launch.run("move", groups, *state, np.int32(generation), *random)
            launch.run("evaluate", groups, *state, np.int32(generation), *random)
            launch.run("take_bests", groups, *state, np.int32(points.get(generation, -1)))
        return {}

    def _run_async(
        self, launch: Launch, groups: int, state: Sequence[Argument], random: Sequence[Argument]
    ) -> dict[str, Any]:
        """One launch if all particles are at work at once, else slices; which of them, and what was checked."""
        settings, generations = self.settings, self.settings.generations
        length = min(settings.slice_generations, generations)
        probe = launch.arguments(probe=(3, np.int32), seen=(2, np.int32))
        for before in range(0, generations, length):
            left = generations - before
            spans = before, left, min(length, left), settings.trace_generations[0]
            launch.run("run_async", groups, *state, *probe, *map(np.int32, spans), *random)
            if before == 0 and (resident := co_resident(launch.session)):  # as the probe says from now on
                break
        how = {"resident": resident, "slice_generations": 0 if resident else length}
        if settings.checked:
            how["pairs_seen"], how["pairs_torn"] = launch.session.download("seen").tolist()
        return how


ENGINE = RingEngine
