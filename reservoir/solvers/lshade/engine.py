"""Multipopulation L-SHADE in OpenCL, a work group per problem: the strong mode.

Tanabe and Fukunaga 2014, "Improving the search performance of SHADE using linear population size reduction", IEEE
Congress on Evolutionary Computation, 1658-1665, with the settings they tuned. The kernel is ``kernels/solvers/lshade``.
Four things differ from the paper: a scale below zero is not drawn again, but never drawn, which is the same
distribution; a full archive is overwritten along a random stretch, not at random places one by one, so that members
need not wait for each other; every few generations members exchange two variables instead of breeding
(``kernels/common/exchange.cl``), where the problem has variables that can be exchanged; and the host improves the best
schedule of a reservoir year in float64 (`reservoir.solvers.exchanges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from reservoir.opencl import BuiltProgram, DeviceInfo
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.processors import processors
from reservoir.solvers.base.device_engine import Launch, PopulationEngine, choices
from reservoir.solvers.base.first_positions import FirstPositionsEngine
from reservoir.solvers.base.program import build_around, memory_constants
from reservoir.solvers.base.results import EngineResults, engine_results
from reservoir.solvers.base.settings import trace_generations
from reservoir.solvers.exchanges.end_of_search import SearchEnd, can_be_polished, polish_end
from reservoir.solvers.lshade.layout import PARTS, PopulationLayout, layout_for
from reservoir.solvers.lshade.settings import DeviceLshadeSettings
from reservoir.solvers.rng.stream import EVEN_IN_16_BITS


class LshadeEngine(
    FirstPositionsEngine[DeviceLshadeSettings], PopulationEngine[DeviceLshadeSettings, PopulationLayout]
):
    """L-SHADE, each problem with a population of its own."""

    name = "lshade"
    settings_class = DeviceLshadeSettings
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}

    @property
    def evaluations(self) -> int:
        """Evaluations of a problem, about."""
        return self.settings.evaluations

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse first positions that do not fit the problems."""
        self.note_first(problems, self.settings.first_members(problems[0].dimension))

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> PopulationLayout:
        """The same for any number of problems."""
        return layout_for(device, problems[0], self.settings)

    def build(self, device: DeviceInfo, problem: Problem, layout: PopulationLayout) -> BuiltProgram:
        """One kernel."""
        pool = layout.padded + self.settings.archive(problem.dimension)
        constants = {
            **self.settings.constants(problem.dimension),
            **memory_constants("POOL", layout.pool_in_global),
            "LANES": layout.lanes,
            "ITEMS": layout.items,
            "BLOCKS": layout.blocks,
            "MEMBERS": layout.padded,
            "PARTS": PARTS,
            "GIVEN": self.settings.first_count,
            "WIDE_DRAWS": int(max(pool, problem.dimension) > EVEN_IN_16_BITS),
            "CONTEXT_SPACE": "__local",
        }
        files = ["rng/philox", "rng/random_stream", "rng/noise", "rng/distributions", "sync/group_barrier"]
        before = [f"common/{file}.cl" for file in files]
        own = (f"solvers/lshade/{file}" for file in ("factors", "members", "lshade"))
        after = [f"{file}.cl" for file in ("common/first_positions", "common/exchange", *own)]
        return build_around(problem.kernel(fine=True), device, constants, before=before, after=after)

    def run(self, launch: Launch[PopulationLayout]) -> EngineResults:
        """All generations in one kernel, and exchanges of water behind them."""
        problems, layout, settings = launch.problems, launch.layout, self.settings
        count, dimension = len(problems), problems[0].dimension
        sizes = settings.sizes(dimension)
        generations, evaluations = len(sizes) - 1, int(sizes.sum())
        taken = trace_generations(generations, settings.trace_points)
        pool = ((count, dimension, layout.padded + settings.archive(dimension)), np.float32)
        arguments = launch.arguments(
            contexts=kernel_contexts(problems),
            sizes=sizes,
            generations=np.int32(generations),
            trace_every=np.int32(taken[0]),
            trace_points=np.int32(len(taken)),
            **self.given(problems),
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            trace=((count, len(taken)), np.float32),
            **({"pool_memory": pool} if layout.pool_in_global else {}),
        )
        launch.run("lshade", count, *arguments, *launch.random_streams())
        end = SearchEnd(*launch.download("position", "trace", "fitness"))
        if settings.polish and can_be_polished(problems[0]):
            generations, taken = generations + 1, np.append(taken, generations + 1)
            with launch.clock("polish"):
                end = polish_end(problems, end, processors())
        return engine_results(
            position=end.position,
            trace_fitness=end.trace_fitness,
            fitness_float32=end.fitness,
            of_all={
                "generations": generations,
                "evaluations": evaluations,
                "trace_generations": taken,
                "settings": choices(layout, "lanes", "items"),
            },
        )


ENGINE = LshadeEngine
