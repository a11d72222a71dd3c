"""Particle swarm optimisation with bests of two levels in OpenCL, made to train networks.

Li and Liu 2017, "Neural network training acceleration with PSO algorithm on a GPU using OpenCL", HEART. The kernels are
in ``kernels/solvers/two_level_pso``. A work group has a group of particles, which follow their own best; every so many
generations the best of the swarm is exchanged.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.rng.counter_rng import NumberScheme, number_scheme
from reservoir.solvers.two_level_pso.program import TwoLevelLayout, build_program, layout_for
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings, first_positions

NAME = "ann-pso"
SETTINGS = TwoLevelSettings

#: How a generation runs. `FUSED`: all its steps, and all generations up to the next exchange, in one kernel. `STEPS`:
#: the paper's kernels, one after the other. `GLOBAL`: these without the local level: the best of the swarm every time.
FUSED, STEPS, GLOBAL = "fused", "steps", "global"
VARIANTS = (FUSED, STEPS, GLOBAL)

#: Evaluations of one launch, about; not so many that 32 bits could not count the particles.
LAUNCH_EVALUATIONS = {"GPU": 4 * 10**9, "accelerator": 5 * 10**8, "CPU": 10**7}

_STATE = ("positions", "velocities", "bests", "best_fitness", "words")


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    variant: str = FUSED,
    random: str = "stream",
    first: Sequence[ArrayLike] | None = None,
    best_position_history: bool = False,
    lanes: int | None = None,
    items: int | None = None,
    **options: Any,
) -> Solutions:
    """Solve all problems, each with a swarm of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Those of different signatures are launched one kind after another.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    variant : str
        One of `VARIANTS`.
    random : str
        One of `number_schemes.NUMBER_SCHEMES`.
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem that its swarm begins with, besides random ones; as many for each.
    best_position_history : bool
        Keep the best position of every exchange.
    lanes, items : int, optional
        Numbers in a vector and work items of a group; chosen for the device if not given.
    **options
        Fields of `TwoLevelSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked.
    InputError
        If a setting is out of range.
    """
    settings, scheme = TwoLevelSettings(**options), number_scheme(random)
    if variant not in VARIANTS:
        raise InputError(Mistake("there is no such variant", ", ".join(VARIANTS), "choose one", value=variant))
    devices = choose_devices(device)
    first_given = first_positions(problems, first, settings)
    given = {id(problem): each for problem, each in zip(problems, first_given, strict=False)}

    def most(device: DeviceInfo) -> int:
        return max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // settings.evaluations)

    def launch(device: DeviceInfo, members: list[Problem]) -> LaunchResult:
        layout = layout_for(device, members[0], settings, lanes, items)
        run = _Run(members, device, layout, settings, scheme, seed)
        return run.launched(
            variant, [given[id(problem)] for problem in members] if given else [], best_position_history
        )

    started = time.perf_counter()
    launched = launch_all(problems, devices, most, launch, progress)
    wall = time.perf_counter() - started
    used = {
        **settings.as_dict(),
        "seed": seed,
        "variant": variant,
        "random": random,
        "best_position_history": best_position_history,
    }
    used["first"] = len(first_given[0]) if first_given else 0
    return to_solutions(problems, launched, solver=NAME, devices=devices, settings=used, wall_seconds=wall)


class _Run:
    """Swarms of problems of one signature on one device."""

    def __init__(
        self,
        problems: Sequence[Problem],
        device: DeviceInfo,
        layout: TwoLevelLayout,
        settings: TwoLevelSettings,
        scheme: NumberScheme,
        seed: int,
    ) -> None:
        self._problems, self._device, self._layout = problems, device, layout
        self._settings, self._scheme, self._seed = settings, scheme, seed
        self._groups = len(problems) * settings.groups

    def launched(self, variant: str, given: list[NDArray[np.float32]], best_position_history: bool) -> LaunchResult:
        """Run to the end and bring back what was found."""
        clock = HostClock()
        with clock("build"):
            program = build_program(self._device, self._problems[0], self._settings, self._scheme, self._layout)
        with Session(self._device, clock) as session:
            numbers = self._prepare(session, given, best_position_history)
            self._begin(session, program, numbers, given, variant)
            for point, last in enumerate(self._settings.exchanges.tolist()):
                before = int(self._settings.exchanges[point - 1]) if point else 0
                if variant == FUSED:
                    self._fused(session, program, numbers, before, last)
                else:
                    self._steps(session, program, numbers, before, last, variant)
                self._reduce(session, program, variant, point)
            positions, traces = session.download("swarm_bests"), session.download("trace")
            trails = session.download("best_position_history") if best_position_history else None
            seconds = sum(session.device_seconds.values())
        return LaunchResult(self._found(positions, traces, trails), seconds, clock.seconds)

    def _prepare(
        self, session: Session, given: list[NDArray[np.float32]], best_position_history: bool
    ) -> list[str | np.generic]:
        settings, layout, count = self._settings, self._layout, len(self._problems)
        state = (self._groups, layout.members * layout.width)
        points, dimension = len(settings.exchanges), self._problems[0].dimension
        contexts = kernel_contexts(self._problems)
        self._contexts = ("contexts", np.int32(contexts.shape[1]))
        session.upload(contexts=contexts, given=np.stack(given) if given else np.zeros(1, np.float32))
        session.allocate(
            positions=(state, np.float32),
            velocities=(state, np.float32),
            bests=(state, np.float32),
            best_fitness=((self._groups, layout.members), np.float32),
            words=((self._groups, layout.members), np.uint32),
            leaders=(self._groups, np.int32),
            swarm_bests=((count, layout.width), np.float32),
            trace=((count, points), np.float32),
            best_position_history=((count, points, dimension) if best_position_history else 1, np.float32),
        )
        self._trail_points = np.int32(points if best_position_history else 0)
        return self._scheme.upload(session, self._problems, settings.particles, self._seed)

    def _begin(
        self,
        session: Session,
        program: BuiltProgram,
        numbers: list[str | np.generic],
        given: list[NDArray[np.float32]],
        variant: str,
    ) -> None:
        count = np.int32(given[0].shape[0] if given else 0)
        self._run(session, program, "initialise", *self._contexts, *_STATE, "leaders", "given", count, *numbers)
        if variant != FUSED:
            state = (self._groups, self._layout.members * self._layout.width)
            session.allocate(
                numbers_one=(state, np.float32),
                numbers_other=(state, np.float32),
                values=((self._groups, self._layout.members), np.float32),
            )
        self._reduce(session, program, variant, -1)

    def _fused(
        self, session: Session, program: BuiltProgram, numbers: list[str | np.generic], before: int, last: int
    ) -> None:
        span = np.int32(before), np.int32(last - before)
        self._run(session, program, "generations", *self._contexts, *_STATE, "leaders", "swarm_bests", *span, *numbers)

    def _steps(
        self,
        session: Session,
        program: BuiltProgram,
        numbers: list[str | np.generic],
        before: int,
        last: int,
        variant: str,
    ) -> None:
        """The paper's kernels 1 to 4 in every generation; without a local level the fifth, too."""
        drawn = ("numbers_one", "numbers_other")
        lead = np.int32(variant != GLOBAL)
        for generation in range(before + 1, last + 1):
            follow = np.int32(variant == GLOBAL or generation == before + 1)
            self._run(session, program, "random_numbers", *_STATE, *drawn, np.int32(generation), *numbers)
            self._run(session, program, "move", *self._contexts, *_STATE, "leaders", "swarm_bests", follow, *drawn)
            self._run(session, program, "evaluate", *self._contexts, *_STATE, "values")
            self._run(session, program, "local_reduction", *_STATE, "values", "leaders", lead)
            if variant == GLOBAL and generation != last:
                self._reduce(session, program, variant, -1)

    def _reduce(self, session: Session, program: BuiltProgram, variant: str, point: int) -> None:
        lead, points = np.int32(variant != GLOBAL), np.int32(len(self._settings.exchanges))
        noted = ("trace", np.int32(point), points, "best_position_history", self._trail_points)
        arguments = (*_STATE, "leaders", lead, "swarm_bests", *noted)
        items = self._layout.items
        session.run(program, "global_reduction", len(self._problems) * items, items, *arguments)

    def _run(self, session: Session, program: BuiltProgram, kernel: str, *arguments: str | np.generic) -> None:
        session.run(program, kernel, self._groups * self._layout.items, self._layout.items, *arguments)

    def _found(
        self, positions: NDArray[np.float32], traces: NDArray[np.float32], trails: NDArray[np.float32] | None
    ) -> list[DeviceResult]:
        settings, dimension = self._settings, self._problems[0].dimension
        used = {"lanes": self._layout.lanes, "items": self._layout.items, "teams": self._layout.teams}
        return [
            DeviceResult(
                position[:dimension],
                settings.generations,
                settings.evaluations,
                settings.exchanges,
                trace,
                used,
                float(trace[-1]),
                np.empty((0, 0)) if trails is None else trails[place],
            )
            for place, (position, trace) in enumerate(zip(positions, traces, strict=True))
        ]
