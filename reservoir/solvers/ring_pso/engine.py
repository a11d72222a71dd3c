"""Particle swarm optimisation in a ring, synchronous and asynchronous, in OpenCL.

Mussi, Nashed and Cagnoni 2011, "GPU-based asynchronous particle swarm optimization", GECCO. The kernels are in
``kernels/solvers/ring_pso/ring_pso.cl``: a work group has a particle, a work item a dimension.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.solvers.base.co_residency_probe import all_present, require_ordering
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.ring_pso.program import RingLayout, build_program, layout_for
from reservoir.solvers.ring_pso.settings import RingSettings
from reservoir.solvers.rng.stream import seed_words

NAME = "ring-pso"
SETTINGS = RingSettings

#: `SYNC`: three kernels a generation. `ASYNC`: one kernel, in which no particle waits for another.
SYNC, ASYNC = "sync", "async"
MODES = (SYNC, ASYNC)

#: Generations of a launch of the asynchronous form where not all particles are at work at once. Measured on two cores:
#: from 5 on the elliptic function of 32 variables ends orders of magnitude above the synchronous form; 1 costs 1.5
#: times the time of 3.
SLICE_GENERATIONS = 1
#: Evaluations of one launch, about; not so many that 32 bits could not count the particles.
LAUNCH_EVALUATIONS = {"GPU": 4 * 10**9, "accelerator": 5 * 10**8, "CPU": 10**7}

_STATE = ("positions", "velocities", "bests", "values", "best_values", "informants", "trace")
_POST = ("posted", "posted_values", "stamps")


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    mode: str = SYNC,
    slice_generations: int = SLICE_GENERATIONS,
    checked: bool = False,
    items: int | None = None,
    **options: Any,
) -> Solutions:
    """Solve all problems at once, each with a swarm of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Problems of different signatures are launched one kind after another.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers. The same seed gives the same bytes in ``sync``,
        not in ``async``, whose particles learn of each other when they happen to.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    mode : str
        One of `MODES`.
    slice_generations : int
        Of ``async``: generations of a launch where not all particles are at work at once. The result says whether they
        were, in the setting ``resident``.
    checked : bool
        Of ``async``: hold what is read of neighbours against its fitness, and tell in the settings ``pairs_seen`` and
        ``pairs_torn``.
    items : int, optional
        Work items of a particle; chosen for the device if not given.
    **options
        Fields of `RingSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked.
    InputError
        If a setting is out of range.
    """
    settings = RingSettings(**options)
    if mode not in MODES:
        raise InputError(Mistake("there is no such mode", ", ".join(MODES), "choose one", value=mode))
    if not 1 <= slice_generations <= 10**9:
        raise InputError(
            Mistake("a slice has too few generations, or too many", "1 to 1,000,000,000", value=slice_generations)
        )
    devices = choose_devices(device)

    def most(device: DeviceInfo) -> int:
        return max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // settings.evaluations)

    def launch(device: DeviceInfo, members: list[Problem]) -> LaunchResult:
        layout = layout_for(device, members[0], len(members) * settings.particles, items)
        run = _Run(members, device, layout, settings, seed, checked=checked)
        return run.launched(mode, slice_generations)

    started = time.perf_counter()
    launched = launch_all(problems, devices, most, launch, progress)
    wall = time.perf_counter() - started
    asked = {"mode": mode, "slice_generations": slice_generations, "checked": checked}
    used = {**settings.as_dict(), "seed": seed, **asked}
    return to_solutions(problems, launched, solver=NAME, devices=devices, settings=used, wall_seconds=wall)


class _Run:
    """Swarms of problems of one signature on one device."""

    def __init__(
        self,
        problems: Sequence[Problem],
        device: DeviceInfo,
        layout: RingLayout,
        settings: RingSettings,
        seed: int,
        *,
        checked: bool,
    ) -> None:
        self._problems, self._device, self._layout = problems, device, layout
        self._settings, self._seed, self._checked = settings, seed, checked
        self._groups = len(problems) * settings.particles
        self._used: dict[str, Any] = {"items": layout.items}

    def launched(self, mode: str, slice_generations: int) -> LaunchResult:
        """Run to the end and bring back what was found."""
        if mode == ASYNC:
            require_ordering(self._device, f"the mode {ASYNC}", f"choose the mode {SYNC}, which runs anywhere")
        clock = HostClock()
        with clock("build"):
            program = build_program(
                self._device,
                self._problems[0],
                self._settings,
                self._layout,
                waits=mode == ASYNC,
                checked=self._checked,
            )
        with Session(self._device, clock) as session:
            self._prepare(session)
            self._run(session, program, "initialise", *_POST, *self._numbers)
            if mode == SYNC:
                self._generations(session, program)
            else:
                self._fly(session, program, slice_generations)
            bests, values, traces = (session.download(name) for name in ("bests", "best_values", "trace"))
            seconds = sum(session.device_seconds.values())
        return LaunchResult(self._found(bests, values, traces), seconds, clock.seconds)

    def _prepare(self, session: Session) -> None:
        rows = (self._groups, self._problems[0].dimension)
        points = len(self._settings.trace_generations)
        contexts = kernel_contexts(self._problems)
        streams = np.array([problem.rng_stream_id for problem in self._problems], np.uint32)
        session.upload(contexts=contexts, streams=streams)
        session.allocate(
            positions=(rows, np.float32),
            velocities=(rows, np.float32),
            bests=(rows, np.float32),
            values=(self._groups, np.float32),
            best_values=(self._groups, np.float32),
            informants=(self._groups, np.int32),
            trace=((self._groups, max(points, 1)), np.float32),
            posted=((2, *rows), np.float32),
            posted_values=((2, self._groups), np.float32),
            stamps=(self._groups, np.int32),
            roll=(3, np.int32),
            seen=(2, np.int32),
        )
        self._state: tuple[str | np.generic, ...] = (
            "contexts",
            np.int32(contexts.shape[1]),
            *_STATE,
            np.int32(max(points, 1)),
        )
        self._numbers: tuple[str | np.generic, ...] = (*(np.uint32(word) for word in seed_words(self._seed)), "streams")

    def _generations(self, session: Session, program: BuiltProgram) -> None:
        """Positions, fitness, bests, positions, ..."""
        every, points = self._settings.trace_every, len(self._settings.trace_generations)
        self._run(session, program, "take_bests", np.int32(-1))
        for generation in range(1, self._settings.generations + 1):
            point = generation // every - 1 if generation % every == 0 and generation // every <= points else -1
            self._run(session, program, "move", np.int32(generation), *self._numbers)
            self._run(session, program, "evaluate", np.int32(generation), *self._numbers)
            self._run(session, program, "take_bests", np.int32(point))

    def _fly(self, session: Session, program: BuiltProgram, slice_generations: int) -> None:
        """One launch if all particles answer the roll call, else slices."""
        generations = self._settings.generations
        length = min(slice_generations, generations)
        self._launch(session, program, 0, length)
        resident = all_present(session)
        if not resident:  # as the roll says from now on
            for before in range(length, generations, length):
                self._launch(session, program, before, min(length, generations - before))
        self._used |= {"resident": resident, "slice_generations": 0 if resident else length}
        if self._checked:
            seen, torn = session.download("seen").tolist()
            self._used |= {"pairs_seen": seen, "pairs_torn": torn}

    def _launch(self, session: Session, program: BuiltProgram, before: int, length: int) -> None:
        spans = before, self._settings.generations - before, length, self._settings.trace_every
        numbers = (*(np.int32(each) for each in spans), *self._numbers)
        self._run(session, program, "run_async", *_POST, "roll", "seen", *numbers)

    def _run(self, session: Session, program: BuiltProgram, kernel: str, *arguments: str | np.generic) -> None:
        items = self._layout.items
        session.run(program, kernel, self._groups * items, items, *self._state, *arguments)

    def _found(
        self, bests: NDArray[np.float32], values: NDArray[np.float32], traces: NDArray[np.float32]
    ) -> list[DeviceResult]:
        settings, count = self._settings, len(self._problems)
        bests = bests.reshape(count, settings.particles, -1)
        values = values.reshape(count, settings.particles)
        points = settings.trace_generations
        traces = traces.reshape(count, settings.particles, -1).max(axis=1)[:, : len(points)]
        leaders = values.argmax(axis=1)
        return [
            DeviceResult(
                bests[place, leader],
                settings.generations,
                settings.evaluations,
                points,
                traces[place],
                self._used,
                float(values[place, leader]),
            )
            for place, leader in enumerate(leaders.tolist())
        ]
