"""Particle swarm optimisation with bests of two levels in OpenCL, made to train networks.

Li and Liu 2017, "Neural network training acceleration with PSO algorithm on a GPU using OpenCL", HEART. The kernels are
in ``kernels/solvers/two_level_pso``. A work group has a group of particles, which follow their own best; every so many
generations the best of the swarm is exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, require_local
from reservoir.problems.base import Problem, rng_stream_ids
from reservoir.solvers.device_engine import (
    LOCAL_RESERVE_BYTES,
    VECTOR_WIDTHS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    items_for,
    lanes_for,
)
from reservoir.solvers.rng import philox4x32, seed_words
from reservoir.solvers.solution import EngineResults, engine_results
from reservoir.solvers.two_level_pso import (
    CONGRUENTIAL,
    CONGRUENTIAL_PRINTED,
    FUSED,
    GLOBAL,
    STREAM,
    DeviceTwoLevelSettings,
)

#: Summand and modulus of Li and Liu 2017, eq. 7.
SUMMAND, MODULUS = 2_531_011, 2**31


@dataclass(frozen=True)
class NumberScheme:
    """Where random numbers come from.

    The product's own: Philox makes a word of seed, problem, particle and generation, a mixer the numbers. With a
    multiplier, linear congruential ones, of a seed a particle (Li and Liu 2017, eq. 7-8).
    """

    multiplier: int = 0

    @property
    def files(self) -> tuple[str, ...]:
        """Kernel files below ``kernels/common``."""
        return ("rng/numbers_congruential",) if self.multiplier else ("rng/philox", "rng/numbers_of_streams")

    def constants(self, numbers: int) -> dict[str, int | str]:
        """Macros for so many numbers a particle and generation; of congruential ones the table of `ahead` as well."""
        words = ", ".join(f"{word}u" for word in self.ahead(numbers).ravel().tolist())
        return {"NUMBERS": numbers, **({"AHEAD": f"{{{words}}}"} if self.multiplier else {})}

    def ahead(self, steps: int) -> NDArray[np.uint32]:
        """Factor and summand that take 0, 1, ... steps at once, shape (steps + 1, 2)."""
        table = [(1, 0)]
        for _ in range(steps):
            factor, summand = table[-1]
            table.append((factor * self.multiplier % MODULUS, (summand * self.multiplier + SUMMAND) % MODULUS))
        return np.array(table, np.uint32)

    def arguments(self, launch: Launch, particles: int) -> list[Argument]:
        """The kernels' last arguments: the seed's two words and the problems' streams; or seeds of these streams."""
        if not self.multiplier:
            return launch.random_streams()
        counter = np.zeros((len(launch.problems), particles, 4), np.uint32)
        counter[..., 0] = np.arange(particles)
        counter[..., 1] = rng_stream_ids(launch.problems)[:, None]
        return launch.arguments(seeds=philox4x32(counter, seed_words(launch.seed))[..., 0] % np.uint32(MODULUS))


#: The paper's multiplier as it surely meant it, and as it is printed.
NUMBER_SCHEMES = {
    STREAM: NumberScheme(),
    CONGRUENTIAL: NumberScheme(214_013),
    CONGRUENTIAL_PRINTED: NumberScheme(21_403),
}


@dataclass(frozen=True)
class TwoLevelLayout:
    """A work group has a group of particles."""

    lanes: int  # of a vector: particles, or terms of a sum
    items: int  # work items of a group
    members: int  # particles of a group, with padding
    width: int  # numbers of a position, with padding
    teams: int = 1  # where fitness is a sum: particles that are evaluated at a time, each by ``items / teams`` items
    tile: int = 1  # where fitness is a sum: vectors of terms that an item handles together

    def constants(self, terms: int) -> dict[str, int]:
        """Macros; those of teams where fitness is a sum of terms."""
        shared = {"LANES": self.lanes, "ITEMS": self.items, "MEMBERS": self.members}
        return shared | ({"TEAMS": self.teams, "TEAM": self.items // self.teams, "TILE": self.tile} if terms else {})

    def local_bytes(self, terms: int) -> int:
        """Local memory of a work group."""
        sums = self.teams * self.width + self.items if terms else 0
        return 4 * (_MEMBER_WORDS * self.members + sums)


#: Words at hand of each particle of a group.
_MEMBER_WORDS = 5
#: Work items of a group on a GPU that share sums, and vectors of terms that one of them handles together.
SUMMING_ITEMS, TILE = 512, 4


def _summing(device: DeviceInfo, terms: int, group: int, lanes: int, width: int, asked: int | None) -> TwoLevelLayout:
    """As many teams as particles if their weights fit into local memory, of as many items as leave none idle."""
    if asked is None:
        asked = 1 if device.kind == "CPU" else min(SUMMING_ITEMS, device.max_work_group_size)
    room = (device.local_memory_bytes - LOCAL_RESERVE_BYTES - 4 * (_MEMBER_WORDS * group + asked)) // (4 * width)
    teams = _power_of_two(max(1, min(group, asked, room)))
    shares = -(-terms // lanes)
    team = min(_power_of_two(asked // teams), _power_of_two(2 * shares - 1))
    tile = 1 if lanes > 1 else max(1, min(TILE, -(-shares // team)))
    return TwoLevelLayout(lanes=lanes, items=teams * team, members=group, width=width, teams=teams, tile=tile)


def _power_of_two(most: int) -> int:
    return 1 << (max(most, 1).bit_length() - 1)


class TwoLevelEngine(PopulationEngine[DeviceTwoLevelSettings]):
    """PSO with bests of two levels, each problem with a swarm of its own."""

    name = "ann-pso"
    settings_class = DeviceTwoLevelSettings
    #: Not so many that 32 bits could not count the particles.
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 4 * 10**9, "accelerator": 5 * 10**8, "CPU": 10**7}

    clips_first = False

    @property
    def scheme(self) -> NumberScheme:
        """Where random numbers come from."""
        return NUMBER_SCHEMES[self.settings.random]

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> TwoLevelLayout:
        """On a GPU a work item has a particle, or a share of the terms of one; on a CPU one has a group, in vectors."""
        settings, terms = self.settings, problems[0].kernel().terms
        group, lanes = min(settings.group, settings.particles), settings.lanes
        if terms and lanes is None and device.kind == "CPU":
            lanes = max(width for width in VECTOR_WIDTHS if width <= max(2 * device.native_float_width, 4))
        lanes = lanes_for(device, group, lanes)
        width = -(-problems[0].dimension // lanes) * lanes
        if terms:
            layout = _summing(device, terms, group, lanes, width, settings.items)
        else:
            members = -(-group // lanes) * lanes
            items = items_for(device, members // lanes, settings.items)
            layout = TwoLevelLayout(lanes=lanes, items=items, members=members, width=width)
        require_local(device, layout.local_bytes(terms))
        return layout

    def build(self, device: DeviceInfo, problem: Problem, layout: TwoLevelLayout) -> BuiltProgram:
        """The kernels of all variants."""
        kernel = problem.kernel()
        constants = {
            **self.settings.macros("particles", "groups", "inertia", "cognitive", "social", "velocity_fraction"),
            "GROUP": min(self.settings.group, self.settings.particles),
            **layout.constants(kernel.terms),
            **self.scheme.constants(2 * problem.dimension + int(kernel.noisy)),
            "BOUNDED": int(kernel.bounded),
            "CONTEXT_SPACE": "__global",
        }
        common = [*self.scheme.files, "sync/group_barrier", "sync/reduce"]
        after = [f"solvers/two_level_pso/{file}" for file in ("group", "group_steps", "two_level_pso")]
        return build_around(kernel, device, constants, common=common, after=after)

    def run(self, launch: Launch) -> EngineResults:
        """From one exchange of the swarm's best to the next; a launch of a kernel for each, or for each step of all."""
        settings, layout = self.settings, launch.layout
        count, dimension = len(launch.problems), launch.problems[0].dimension
        points, history = len(settings.trace_generations), settings.best_position_history
        groups, leads = count * settings.groups, np.int32(settings.variant != GLOBAL)
        numbers, members = (groups, layout.members * layout.width), (groups, layout.members)
        contexts, random = launch.contexts(), self.scheme.arguments(launch, settings.particles)
        state = launch.arguments(
            positions=(numbers, np.float32),
            velocities=(numbers, np.float32),
            bests=(numbers, np.float32),
            best_fitness=(members, np.float32),
            words=(members, np.uint32),
        )
        leaders = launch.arguments(leaders=(groups, np.int32))
        swarm_bests = launch.arguments(swarm_bests=((count, layout.width), np.float32))
        trace = launch.arguments(trace=((count, points), np.float32))
        noted = launch.arguments(
            trace_points=np.int32(points),
            best_position_history=((count, points, dimension) if history else 1, np.float32),
            history_points=np.int32(points if history else 0),
        )

        def exchange(point: int) -> None:
            """Find the best of every swarm, noted as a point of the trace unless that is negative."""
            before = (*state, *leaders, leads, *swarm_bests, *trace)
            launch.run("global_reduction", count, *before, np.int32(point), *noted)

        given = launch.arguments(
            given=np.zeros(1, np.float32) if launch.first is None else launch.first,
            given_count=np.int32(settings.first_count),
        )
        launch.run("initialise", groups, *contexts, *state, *leaders, *given, *random)
        if settings.variant != FUSED:
            drawn = launch.arguments(numbers_one=(numbers, np.float32), numbers_other=(numbers, np.float32))
            values = launch.arguments(values=(members, np.float32))
        exchange(-1)
        for point, (before, last) in enumerate(pairwise([0, *settings.trace_generations.tolist()])):
            if settings.variant == FUSED:
                span = np.int32(before), np.int32(last - before)
                launch.run("generations", groups, *contexts, *state, *leaders, *swarm_bests, *span, *random)
                before = last
            for generation in range(before + 1, last + 1):
                follow = np.int32(settings.variant == GLOBAL or generation == before + 1)
                launch.run("random_numbers", groups, *state, *drawn, np.int32(generation), *random)
                launch.run("move", groups, *contexts, *state, *leaders, *swarm_bests, follow, *drawn)
                launch.run("evaluate", groups, *contexts, *state, *values)
                launch.run("local_reduction", groups, *state, *values, *leaders, leads)
                if settings.variant == GLOBAL and generation != last:  # without a local level in every generation
                    exchange(-1)
            exchange(point)
        positions, traces = map(launch.session.download, ("swarm_bests", "trace"))
        return engine_results(
            position=positions[:, :dimension],
            trace_fitness=traces,
            fitness_float32=traces[:, -1],
            **({"best_position_history": launch.session.download("best_position_history")} if history else {}),
            of_all=settings.work | {"settings": {"lanes": layout.lanes, "items": layout.items, "teams": layout.teams}},
        )


ENGINE = TwoLevelEngine
