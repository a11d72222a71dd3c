"""Multipopulation comprehensive-learning PSO in OpenCL: a work group per problem, all problems at once.

Yu et al. 2020, Complexity 6589658, section 4.3 and Figure 5. The kernel is in ``kernels/solvers/clpso``; random
numbers are the product's own streams, or one of the paper's two schemes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.solvers.base.device_engine import Launch, PopulationEngine, choices
from reservoir.solvers.base.first_positions import FirstPositionsEngine
from reservoir.solvers.base.program import build_around, memory_constants
from reservoir.solvers.base.results import EngineResults, engine_results
from reservoir.solvers.clpso.layout import SwarmLayout, layout_for, state_words
from reservoir.solvers.clpso.random_schemes import RANDOM_SCHEMES, RandomScheme
from reservoir.solvers.clpso.settings import DeviceSwarmSettings
from reservoir.solvers.rng.stream import EVEN_IN_16_BITS


class ClpsoEngine(FirstPositionsEngine[DeviceSwarmSettings], PopulationEngine[DeviceSwarmSettings, SwarmLayout]):
    """CLPSO, each problem with a swarm of its own."""

    name = "clpso"
    settings_class = DeviceSwarmSettings
    window_defaults: ClassVar[Mapping[str, Any]] = {"generations": 2000}
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 2 * 10**10, "accelerator": 10**9, "CPU": 5 * 10**7}

    @property
    def evaluations(self) -> int:
        """Evaluations of a problem, about."""
        return self.settings.particles * self.settings.generations

    @property
    def scheme(self) -> RandomScheme:
        """Where random numbers come from."""
        return RANDOM_SCHEMES[self.settings.used_random]

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse first positions that do not fit the problems."""
        self.note_first(problems, self.settings.particles)

    def require_devices(self, devices: Sequence[DeviceInfo]) -> None:
        """The paper's schemes number the swarms of one launch."""
        if len(devices) > 1 and not self.scheme.divisible:
            wrong = f"random numbers of the scheme {self.settings.used_random} cannot be split between devices"
            raise InputError(
                Mistake(
                    wrong,
                    "one device",
                    "choose one device, or random numbers of the scheme stream",
                    value=", ".join(each.name for each in devices),
                )
            )

    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """No end where the swarms of a launch are numbered: it is not cut."""
        return super().most_problems(device, problem) if self.scheme.divisible else sys.maxsize

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> SwarmLayout:
        """Depends on how many problems there are."""
        return layout_for(device, problems[0], len(problems), self.settings)

    def build(self, device: DeviceInfo, problem: Problem, layout: SwarmLayout) -> BuiltProgram:
        """One kernel."""
        kernel, model = problem.kernel(), self.settings.used_model
        constants = {
            **self.settings.constants(),
            **self.scheme.constants(self.settings, problem.dimension, kernel.noisy),
            **memory_constants("BEST", layout.best_in_global),
            "LANES": layout.lanes,
            "ITEMS": layout.items,
            "BLOCKS": layout.blocks,
            "SWARMS": layout.swarms,
            "GROUP_ITEMS": layout.items * layout.swarms,
            "SWARM": layout.padded,
            "WIDE_DRAWS": int(max(self.settings.particles, problem.dimension) > EVEN_IN_16_BITS),
            "CONTEXT_SPACE": "__local",
            "GIVEN": self.settings.first_count,
            "CONDITIONALS": model.conditionals,
            "STATE_IN_GLOBAL": int(model.state_in_global),
            "STATE_SPACE": "__global" if model.state_in_global else "__private",
        }
        before = [*self.scheme.files, "common/rng/noise.cl", "common/sync/group_barrier.cl"]
        own = (f"solvers/clpso/{file}" for file in ("particles", "exemplars", "clpso"))
        after = [f"{file}.cl" for file in ("common/first_positions", "common/exchange", *own)]
        return build_around(kernel, device, constants, before=before, after=after)

    def run(self, launch: Launch[SwarmLayout]) -> EngineResults:
        """All generations in one kernel."""
        problems, layout, settings = launch.problems, launch.layout, self.settings
        count, dimension, taken = len(problems), problems[0].dimension, settings.trace_generations
        groups, learning = -(-count // layout.swarms), settings.learning_probability()
        swarms = groups * layout.swarms
        head = launch.arguments(
            contexts=kernel_contexts(problems),
            learning=np.pad(learning, (0, layout.padded - len(learning))).astype(np.float32),
            problems=np.int32(count),
            generations=np.int32(settings.generations),
            trace_every=np.int32(taken[0]),
            trace_points=np.int32(len(taken)),
            **self.given(problems),
        )
        random = self.scheme.arguments(launch, settings, layout.padded)
        best_memory = ((swarms, dimension + 1, layout.padded), np.float32)
        state = ((swarms * layout.padded, state_words(dimension)), np.float32)
        results = launch.arguments(
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            evaluations=((count, layout.items * layout.lanes), np.int32),
            trace=((count, len(taken)), np.float32),
            **({"best_memory": best_memory} if layout.best_in_global else {}),
            **({"state": state} if settings.used_model.state_in_global else {}),
        )
        launch.run("clpso", groups, *head, *results, *random, items=layout.swarms * layout.items)
        positions, fitness, evaluations, traces = launch.download("position", "fitness", "evaluations", "trace")
        return engine_results(
            position=positions,
            evaluations=evaluations.sum(axis=1, dtype=np.int64) + settings.particles,
            trace_fitness=traces,
            fitness_float32=fitness,
            of_all={
                "generations": settings.generations,
                "trace_generations": taken,
                "settings": choices(layout, "lanes", "items", "swarms"),
            },
        )


ENGINE = ClpsoEngine
