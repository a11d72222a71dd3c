"""Multipopulation comprehensive-learning PSO in OpenCL: a work group per problem, all problems at once.

Yu et al. 2020, Complexity 6589658, section 4.3 and Figure 5. The kernel is in ``kernels/solvers/clpso``; random
numbers are the product's own streams, or one of the paper's two schemes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from reservoir.errors import InputError
from reservoir.opencl import BuiltProgram, DeviceInfo
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.solvers.clpso import HOST, KERNEL, MODELS, STREAM, STRICT, DeviceSwarmSettings, SwarmSettings
from reservoir.solvers.device_engine import (
    LOCAL_RESERVE_BYTES,
    MOST_ITEMS,
    Argument,
    Blocks,
    Launch,
    Launches,
    PopulationEngine,
    build_around,
    items_for,
    memory_constants,
    require_countable,
    require_private,
)
from reservoir.solvers.rng import EVEN_IN_16_BITS
from reservoir.solvers.settings import SMALLEST_VELOCITY
from reservoir.solvers.solution import EngineResults, engine_results


@dataclass(frozen=True)
class SwarmLayout(Blocks):
    """A swarm, and swarms on a work group."""

    swarms: int  # in a group
    best_in_global: bool  # local memory is too small for personal bests, or the model has them in global memory


#: Work items that a GPU runs in step; its groups are whole multiples of them.
WARP = 32
#: Swarms for each compute unit from which on a group takes several: before, every swarm has a unit of its own.
MANY_SWARMS = 4
#: Work items of a group whose swarms share the choice of exemplars, at most; measured with 32 and 40 particles.
SHARING_ITEMS = 160
#: Floats that a swarm's context and velocities may be padded with.
_ALIGNMENT = 6


def state_words(dimension: int) -> int:
    """32-bit words of the state of a particle in global memory, with room for any random numbers' own and padding."""
    return 3 * dimension + 8


def _local_bytes(dimension: int, context: int, swarm: int, lanes: int, swarms: int) -> int:
    """Local memory of a group: personal bests, context and largest velocities; and a shared choice of exemplars."""
    floats = (dimension + 1) * swarm + context + dimension + _ALIGNMENT
    shared = (dimension + 2) * swarm + 2 if lanes == 1 and swarms > 1 else 0
    return 4 * swarms * (floats + shared)


def _fullest_group(items: int, most: int) -> int:
    """Swarms of so many items that leave the fewest work items of a group's warps idle, the most of equals."""
    largest = max(1, min(most, SHARING_ITEMS // items))
    return min(
        range(1, largest + 1), key=lambda swarms: (-(-swarms * items // WARP) * WARP / (swarms * items), -swarms)
    )


def numbers_per_particle(settings: SwarmSettings, dimension: int, noisy: bool = False) -> int:
    """Random numbers that a particle needs at most (section 4.2).

    The paper counts none for the noise of f3; a noisy fitness takes one at the start and one a generation.
    """
    generations = settings.generations
    refreshes = (generations - 1) // settings.refreshing_gap + 1
    noise = generations + 1 if noisy else 0
    return 2 * dimension + 3 * refreshes * dimension + 2 * refreshes + generations * dimension + noise


#: Kernel files of each scheme of random numbers.
_RANDOM_FILES = {
    STREAM: ("philox", "random_stream", "noise"),
    KERNEL: ("random_congruential", "random_one_by_one", "noise"),
    HOST: ("random_host", "random_one_by_one", "noise"),
}


def swarm_constants(settings: SwarmSettings) -> dict[str, float]:
    """Macros of a swarm's settings that a program is specialised for."""
    return {
        **settings.macros("particles", "acceleration", "inertia_first", "velocity_fraction", "exchange_interval"),
        "GAP": settings.refreshing_gap,
        "INERTIA_FALL": settings.inertia_first - settings.inertia_last,
        "SMALLEST_VELOCITY": SMALLEST_VELOCITY,
        "STRICT": int(settings.exemplars == STRICT),
    }


class ClpsoEngine(PopulationEngine[DeviceSwarmSettings]):
    """CLPSO, each problem with a swarm of its own.

    With the paper's schemes, random numbers depend on a swarm's place in its launch, which therefore is not cut.
    """

    name = "clpso"
    settings_class = DeviceSwarmSettings
    window_defaults: ClassVar[Mapping[str, Any]] = {"generations": 2000}
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 2 * 10**10, "accelerator": 10**9, "CPU": 10**7}

    def launches(self, problems: Sequence[Problem], devices: Sequence[DeviceInfo]) -> Launches:
        """On one device alone where the paper's schemes number the swarms of a launch."""
        if len(devices) > 1 and self.settings.used_random != STREAM:
            wrong = f"random numbers of the scheme {self.settings.used_random} cannot be split between devices"
            mend = f"choose one device, or random numbers of the scheme {STREAM}"
            raise InputError(wrong, "one device", mend, value=", ".join(each.name for each in devices))
        return super().launches(problems, devices)

    def most_problems(self, device: DeviceInfo, problem: Problem) -> int:
        """No end where the swarms of a launch are numbered."""
        return super().most_problems(device, problem) if self.settings.used_random == STREAM else sys.maxsize

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> SwarmLayout:
        """How so many problems are laid out.

        On a GPU a work item has a particle, and a group several swarms where there are more than enough of them; on a
        CPU one work item has a swarm, in vectors. The paper's models have one swarm a group and one particle an item.
        """
        settings, problem, swarms = self.settings, problems[0], self.settings.swarms
        if MODELS[settings.model].of_the_paper:
            fixed = {"lanes": 1, "items": settings.particles, "swarms": 1}
            if any(getattr(settings, name) not in (None, value) for name, value in fixed.items()):
                wrong, expected = "this model always has one particle per work item", "no lanes, items or swarms"
                mend = "remove lanes, items and swarms, or choose another model"
                raise InputError(wrong, expected, mend, value=settings.model)
            items_for(device, settings.particles, settings.particles)
            return SwarmLayout(**fixed, blocks=1, best_in_global=True)
        populations = 1 if swarms is None else swarms
        blocks = Blocks.of(device, settings.particles, settings.lanes, settings.items, populations=populations)
        lanes, items, swarm = blocks.lanes, blocks.items, blocks.padded
        require_countable((problem.dimension + 1) * swarm, "a swarm", "choose fewer particles")
        private = 4 * swarm // items * state_words(problem.dimension)
        require_private(device, private, f"a swarm of {settings.particles:,} particles", "choose fewer particles")
        local_bytes = device.local_memory_bytes - LOCAL_RESERVE_BYTES
        taken = partial(_local_bytes, problem.dimension, len(problem.kernel_context()), swarm, lanes)
        if swarms is None:
            room = min(
                MOST_ITEMS // items,
                device.max_work_group_size // items,
                local_bytes // taken(2) * 2,
            )
            many = device.kind != "CPU" and len(problems) >= MANY_SWARMS * device.compute_units
            swarms = _fullest_group(items, room) if many else 1
        best_in_global = taken(swarms) > local_bytes
        return SwarmLayout(**vars(blocks), swarms=swarms, best_in_global=best_in_global)

    def build(self, device: DeviceInfo, problem: Problem, layout: SwarmLayout) -> BuiltProgram:
        """One kernel; of shared numbers, it knows how many a particle may read."""
        kernel, settings, dimension = problem.kernel(), self.settings, problem.dimension
        model, random = MODELS[settings.model], settings.used_random
        constants = {
            **swarm_constants(settings),
            **({"PER_PARTICLE": numbers_per_particle(settings, dimension, kernel.noisy)} if random == HOST else {}),
            **memory_constants("BEST", layout.best_in_global),
            **layout.constants(),
            "SWARMS": layout.swarms,
            "GROUP_ITEMS": layout.items * layout.swarms,
            "SWARM": layout.padded,
            "WIDE_DRAWS": int(max(settings.particles, dimension) > EVEN_IN_16_BITS),
            "CONTEXT_SPACE": "__local",
            "GIVEN": settings.first_count,
            "CONDITIONALS": model.conditionals,
            "STATE_IN_GLOBAL": int(model.state_in_global),
            "STATE_SPACE": "__global" if model.state_in_global else "__private",
        }
        common = [*(f"rng/{file}" for file in _RANDOM_FILES[random]), "sync/group_barrier"]
        own = (f"solvers/clpso/{file}" for file in ("particles", "exemplars", "clpso"))
        after = ["common/first_positions", "common/exchange", *own]
        return build_around(kernel, device, constants, common=common, after=after)

    def run(self, launch: Launch) -> EngineResults:
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
            **({} if launch.first is None else {"given": launch.first}),
        )
        random = self._random_numbers(launch)
        best_memory = ((swarms, dimension + 1, layout.padded), np.float32)
        state = ((swarms * layout.padded, state_words(dimension)), np.float32)
        results = launch.arguments(
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            evaluations=((count, layout.items * layout.lanes), np.int32),
            trace=((count, len(taken)), np.float32),
            **({"best_memory": best_memory} if layout.best_in_global else {}),
            **({"state": state} if MODELS[settings.model].state_in_global else {}),
        )
        launch.run("clpso", groups, *head, *results, *random, items=layout.swarms * layout.items)
        positions, fitness, evaluations, traces = map(
            launch.session.download, ("position", "fitness", "evaluations", "trace")
        )
        return engine_results(
            position=positions,
            evaluations=evaluations.sum(axis=1, dtype=np.int64) + settings.particles,
            trace_fitness=traces,
            fitness_float32=fitness,
            of_all=settings.work
            | {"settings": {"lanes": layout.lanes, "items": layout.items, "swarms": layout.swarms}},
        )

    def _random_numbers(self, launch: Launch) -> list[Argument]:
        """The kernel's last arguments, on the device; making numbers counts as ``numbers``.

        The product's own are a stream per (seed, problem, particle), made in the kernel (see `random_stream`). Of the
        paper's schemes, one makes multiplicative congruential numbers in the kernel (eq. 14-15) from a seed a particle;
        the other makes numbers on the host, which all swarms share, each shifted by one from the last (section 4.3),
        and is refused before they are made if the device cannot hold them.
        """
        settings, problem = self.settings, launch.problems[0]
        if settings.used_random == STREAM:
            return launch.random_streams()
        bits = np.random.SFC64(launch.seed)
        if settings.used_random == KERNEL:
            with launch.clock("numbers"):
                shape = (len(launch.problems), launch.layout.padded)
                seeds = np.random.Generator(bits).integers(1, 2**31 - 1, shape, np.uint32)
            return launch.arguments(seeds=seeds)
        of_particle = numbers_per_particle(settings, problem.dimension, problem.kernel().noisy)
        count = of_particle * settings.particles + len(launch.problems) - 1
        if count >= 2**32:
            mend = f"choose fewer particles or generations, or random={STREAM}"
            raise InputError("the run needs too many random numbers", "fewer than 2**32", mend, value=count)
        launch.arguments(numbers=(count, np.float32))
        with launch.clock("numbers"):
            numbers = np.random.Generator(bits).random(count, np.float32)
        return launch.arguments(numbers=numbers)


ENGINE = ClpsoEngine
