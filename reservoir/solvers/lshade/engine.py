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
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reservoir.opencl import BuiltProgram, DeviceInfo
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.runtime import processors
from reservoir.solvers.device_engine import (
    LOCAL_RESERVE_BYTES,
    Blocks,
    Launch,
    PopulationEngine,
    build_around,
    memory_constants,
    require_countable,
    require_private,
)
from reservoir.solvers.exchanges import SearchEnd, can_be_polished, polish_end
from reservoir.solvers.lshade import DeviceLshadeSettings
from reservoir.solvers.rng import EVEN_IN_16_BITS
from reservoir.solvers.settings import trace_generations
from reservoir.solvers.solution import EngineResults, engine_results


@dataclass(frozen=True)
class PopulationLayout(Blocks):
    """The first population."""

    pool_in_global: bool  # local memory is too small for members and archive


#: Floats of a member beside its position: fitness before and after, gain, scale, rate.
_MEMBER_FLOATS = 5
#: Parts that the sums over a population are made in, and floats of a sum.
PARTS, _SUM_FLOATS = 32, 4
#: Words of a member in its work item beside its positions.
_PRIVATE_WORDS = 6
_FEWER = "choose fewer members_per_dimension, or a smaller archive_fraction"
#: Floats that a context may be padded with.
_ALIGNMENT = 3


class LshadeEngine(PopulationEngine[DeviceLshadeSettings]):
    """L-SHADE, each problem with a population of its own."""

    name = "lshade"
    settings_class = DeviceLshadeSettings
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> PopulationLayout:
        """On a GPU a work item has a member; on a CPU one work item has a population, in vectors."""
        settings, problem = self.settings, problems[0]
        first = settings.first_members(problem.dimension)
        blocks = Blocks.of(device, first, settings.lanes, settings.items)
        members = blocks.padded
        pool = problem.dimension * (members + settings.archive(problem.dimension))
        require_countable(pool, "a population with its archive", _FEWER)
        private = 4 * members // blocks.items * (2 * problem.dimension + _PRIVATE_WORDS)
        require_private(device, private, f"a population of {first:,} members", _FEWER)
        floats = pool + _MEMBER_FLOATS * members
        context = len(problem.kernel_context()) + _ALIGNMENT
        words = 2 * (members // 32 + 1) + 3 * settings.memory + _SUM_FLOATS * PARTS + context
        return PopulationLayout(
            **vars(blocks), pool_in_global=4 * (floats + words) > device.local_memory_bytes - LOCAL_RESERVE_BYTES
        )

    def build(self, device: DeviceInfo, problem: Problem, layout: PopulationLayout) -> BuiltProgram:
        """One kernel."""
        pool = layout.padded + self.settings.archive(problem.dimension)
        constants = {
            **self.settings.macros("archive_fraction", "best_fraction", "exchange_interval", "memory"),
            "ARCHIVE": self.settings.archive(problem.dimension),
            **memory_constants("POOL", layout.pool_in_global),
            **layout.constants(),
            "MEMBERS": layout.padded,
            "PARTS": PARTS,
            "GIVEN": self.settings.first_count,
            "WIDE_DRAWS": int(max(pool, problem.dimension) > EVEN_IN_16_BITS),
            "CONTEXT_SPACE": "__local",
        }
        common = ["rng/philox", "rng/random_stream", "rng/noise", "rng/distributions", "sync/group_barrier"]
        own = (f"solvers/lshade/{file}" for file in ("factors", "members", "lshade"))
        after = ["common/first_positions", "common/exchange", *own]
        return build_around(problem.kernel(fine=True), device, constants, common=common, after=after)

    def run(self, launch: Launch) -> EngineResults:
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
            **({} if launch.first is None else {"given": launch.first}),
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            trace=((count, len(taken)), np.float32),
            **({"pool_memory": pool} if layout.pool_in_global else {}),
        )
        launch.run("lshade", count, *arguments, *launch.random_streams())
        end = SearchEnd(*map(launch.session.download, ("position", "trace", "fitness")))
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
                "settings": {"lanes": layout.lanes, "items": layout.items},
            },
        )


ENGINE = LshadeEngine
