"""Particle swarm optimisation with bests of two levels in OpenCL, made to train networks.

Li and Liu 2017, "Neural network training acceleration with PSO algorithm on a GPU using OpenCL", HEART. The kernels are
in ``kernels/solvers/two_level_pso``. A work group has a group of particles, which follow their own best; every so many
generations the best of the swarm is exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import BuiltProgram, DeviceInfo, require_local
from reservoir.problems.base import Problem, rng_stream_ids
from reservoir.solvers.device_engine import (
    VECTOR_WIDTHS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    items_for,
    lanes_for,
    local_bytes_of,
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


class StreamNumbers:
    """The product's own: Philox makes a word of seed, problem, particle and generation, a mixer the numbers."""

    files = ("common/rng/philox.cl", "common/rng/numbers_of_streams.cl")

    def constants(self, numbers: int) -> dict[str, int | str]:
        """Macros for so many numbers a particle and generation."""
        return {"NUMBERS": numbers}

    def arguments(self, launch: Launch[Any], particles: int) -> list[Argument]:
        """The kernels' last arguments: the seed's two words and the problems' streams."""
        return launch.random_streams()


@dataclass(frozen=True)
class CongruentialNumbers:
    """Linear congruential numbers of a multiplier, a seed a particle (Li and Liu 2017, eq. 7-8)."""

    multiplier: int

    files = ("common/rng/numbers_congruential.cl",)

    def constants(self, numbers: int) -> dict[str, int | str]:
        """Macros for so many numbers a particle and generation: the table of `ahead` as well."""
        words = ", ".join(f"{word}u" for word in self.ahead(numbers).ravel().tolist())
        return {"NUMBERS": numbers, "AHEAD": f"{{{words}}}"}

    def ahead(self, steps: int) -> NDArray[np.uint32]:
        """Factor and summand that take 0, 1, ... steps at once, shape (steps + 1, 2)."""
        table = [(1, 0)]
        for _ in range(steps):
            factor, summand = table[-1]
            table.append((factor * self.multiplier % MODULUS, (summand * self.multiplier + SUMMAND) % MODULUS))
        return np.array(table, np.uint32)

    def arguments(self, launch: Launch[Any], particles: int) -> list[Argument]:
        """The kernels' last argument: a seed a particle, of the problem's stream."""
        counter = np.zeros((len(launch.problems), particles, 4), np.uint32)
        counter[..., 0] = np.arange(particles)
        counter[..., 1] = rng_stream_ids(launch.problems)[:, None]
        return launch.arguments(seeds=philox4x32(counter, seed_words(launch.seed))[..., 0] % np.uint32(MODULUS))


#: A scheme: its kernel files, its macros, and the arguments it passes to kernels.
NumberScheme = StreamNumbers | CongruentialNumbers

NUMBER_SCHEMES: dict[str, NumberScheme] = {
    STREAM: StreamNumbers(),
    CONGRUENTIAL: CongruentialNumbers(214_013),  # what the paper surely meant
    CONGRUENTIAL_PRINTED: CongruentialNumbers(21_403),
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


def layout_for(device: DeviceInfo, problem: Problem, settings: DeviceTwoLevelSettings) -> TwoLevelLayout:
    """On a GPU a work item has a particle, or a share of the terms of one; on a CPU one has a group, in vectors.

    DeviceError if a work group would need more local memory than there is; InputError if no vector has so many lanes,
    or no group so many items.
    """
    terms, group, lanes = problem.kernel().terms, min(settings.group, settings.particles), settings.lanes
    if terms and lanes is None and device.kind == "CPU":
        lanes = max(width for width in VECTOR_WIDTHS if width <= max(2 * device.native_float_width, 4))
    lanes = lanes_for(device, group, lanes)
    width = -(-problem.dimension // lanes) * lanes
    if not terms:
        members = -(-group // lanes) * lanes
        items = items_for(device, members // lanes, settings.items)
        layout = TwoLevelLayout(lanes=lanes, items=items, members=members, width=width)
    else:
        layout = _summing(device, terms, group, lanes, width, settings.items)
    require_local(device, layout.local_bytes(terms))
    return layout


def _summing(device: DeviceInfo, terms: int, group: int, lanes: int, width: int, asked: int | None) -> TwoLevelLayout:
    """As many teams as particles if their weights fit into local memory, of as many items as leave none idle."""
    if asked is None:
        asked = 1 if device.kind == "CPU" else min(SUMMING_ITEMS, device.max_work_group_size)
    room = (local_bytes_of(device) - 4 * (_MEMBER_WORDS * group + asked)) // (4 * width)
    teams = _power_of_two(max(1, min(group, asked, room)))
    shares = -(-terms // lanes)
    team = min(_power_of_two(asked // teams), _power_of_two(2 * shares - 1))
    tile = 1 if lanes > 1 else max(1, min(TILE, -(-shares // team)))
    return TwoLevelLayout(lanes=lanes, items=teams * team, members=group, width=width, teams=teams, tile=tile)


def _power_of_two(most: int) -> int:
    return 1 << (max(most, 1).bit_length() - 1)


class TwoLevelEngine(PopulationEngine[DeviceTwoLevelSettings, TwoLevelLayout]):
    """PSO with bests of two levels, each problem with a swarm of its own."""

    name = "ann-pso"
    settings_class = DeviceTwoLevelSettings
    #: Not so many that 32 bits could not count the particles.
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 4 * 10**9, "accelerator": 5 * 10**8, "CPU": 10**7}

    clips_first = False

    def most_first(self, dimension: int) -> int:
        """The particles of a swarm."""
        return self.settings.particles

    @property
    def scheme(self) -> NumberScheme:
        """Where random numbers come from."""
        return NUMBER_SCHEMES[self.settings.random]

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> TwoLevelLayout:
        """The same for any number of problems."""
        return layout_for(device, problems[0], self.settings)

    def build(self, device: DeviceInfo, problem: Problem, layout: TwoLevelLayout) -> BuiltProgram:
        """The kernels of all variants."""
        kernel = problem.kernel()
        constants = {
            **self.settings.constants(),
            **layout.constants(kernel.terms),
            **self.scheme.constants(2 * problem.dimension + int(kernel.noisy)),
            "BOUNDED": int(kernel.bounded),
            "CONTEXT_SPACE": "__global",
        }
        before = [*self.scheme.files, "common/sync/group_barrier.cl", "common/sync/reduce.cl"]
        after = [f"solvers/two_level_pso/{file}.cl" for file in ("group", "group_steps", "two_level_pso")]
        return build_around(kernel, device, constants, before=before, after=after)

    def run(self, launch: Launch[TwoLevelLayout]) -> EngineResults:
        """From one exchange of the swarm's best to the next."""
        settings, dimension = self.settings, launch.problems[0].dimension
        swarms = _Swarms(launch, settings, self.scheme.arguments(launch, settings.particles))
        for point, (before, last) in enumerate(pairwise([0, *settings.exchanges.tolist()])):
            swarms.advance(before, last)
            swarms.exchange(point)
        positions, traces = launch.download("swarm_bests", "trace")
        history = ["best_position_history"] if settings.best_position_history else []
        return engine_results(
            position=positions[:, :dimension],
            trace_fitness=traces,
            fitness_float32=traces[:, -1],
            **dict(zip(history, launch.download(*history), strict=True)),
            of_all={
                "generations": settings.generations,
                "evaluations": settings.evaluations,
                "trace_generations": settings.exchanges,
                "settings": launch.layout_settings("lanes", "items", "teams"),
            },
        )


class _Swarms:
    """Swarms of a launch, on the device, with their first positions."""

    def __init__(
        self, launch: Launch[TwoLevelLayout], settings: DeviceTwoLevelSettings, random: list[Argument]
    ) -> None:
        self._launch, self._settings, self._random = launch, settings, random
        layout, count, dimension = launch.layout, len(launch.problems), launch.problems[0].dimension
        points, history = len(settings.exchanges), settings.best_position_history
        groups = self._groups = count * settings.groups
        numbers, members = (groups, layout.members * layout.width), (groups, layout.members)
        self._contexts = launch.contexts()
        self._state = launch.arguments(
            positions=(numbers, np.float32),
            velocities=(numbers, np.float32),
            bests=(numbers, np.float32),
            best_fitness=(members, np.float32),
            words=(members, np.uint32),
        )
        self._leaders = launch.arguments(leaders=(groups, np.int32))
        self._swarm_bests = launch.arguments(swarm_bests=((count, layout.width), np.float32))
        self._trace = launch.arguments(trace=((count, points), np.float32))
        self._history = launch.arguments(
            best_position_history=((count, points, dimension) if history else 1, np.float32),
            history_points=np.int32(points if history else 0),
        )
        given = launch.arguments(
            given=np.zeros(1, np.float32) if launch.first is None else launch.first,
            given_count=np.int32(settings.first_count),
        )
        self._run("initialise", *self._contexts, *self._state, *self._leaders, *given, *random)
        if settings.variant != FUSED:
            self._drawn = launch.arguments(numbers_one=(numbers, np.float32), numbers_other=(numbers, np.float32))
            self._values = launch.arguments(values=(members, np.float32))
        self.exchange(-1)

    def advance(self, before: int, last: int) -> None:
        """Run all generations after one up to another: in one kernel, or in the paper's 1 to 4 for each.

        Without a local level the fifth kernel, too, in every generation.
        """
        variant, bests = self._settings.variant, (*self._leaders, *self._swarm_bests)
        if variant == FUSED:
            span = np.int32(before), np.int32(last - before)
            self._run("generations", *self._contexts, *self._state, *bests, *span, *self._random)
            return
        for generation in range(before + 1, last + 1):
            follow = np.int32(variant == GLOBAL or generation == before + 1)
            self._run("random_numbers", *self._state, *self._drawn, np.int32(generation), *self._random)
            self._run("move", *self._contexts, *self._state, *bests, follow, *self._drawn)
            self._run("evaluate", *self._contexts, *self._state, *self._values)
            self._run("local_reduction", *self._state, *self._values, *self._leaders, np.int32(variant != GLOBAL))
            if variant == GLOBAL and generation != last:
                self.exchange(-1)

    def exchange(self, point: int) -> None:
        """Find the best of every swarm, noted as a point of the trace unless that is negative."""
        lead, points = np.int32(self._settings.variant != GLOBAL), np.int32(len(self._settings.exchanges))
        noted = (*self._trace, np.int32(point), points, *self._history)
        arguments = (*self._state, *self._leaders, lead, *self._swarm_bests, *noted)
        self._launch.run("global_reduction", len(self._launch.problems), *arguments)

    def _run(self, kernel: str, *arguments: Argument) -> None:
        self._launch.run(kernel, self._groups, *arguments)


ENGINE = TwoLevelEngine
