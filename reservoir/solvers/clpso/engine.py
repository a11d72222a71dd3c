"""Multipopulation comprehensive-learning PSO in OpenCL: a work group per problem, all problems at once.

Yu et al. 2020, Complexity 6589658, section 4.3 and Figure 5. The kernel is ``kernels/solvers/clpso/clpso.cl``; random
numbers are the product's own streams, or one of the paper's two schemes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.opencl import DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.clpso.models import LANES, model_named
from reservoir.solvers.clpso.program import SwarmLayout, build_program, layout_for, state_words
from reservoir.solvers.clpso.random_schemes import RandomScheme, random_scheme
from reservoir.solvers.clpso.settings import SwarmSettings

NAME = "clpso"
SETTINGS = SwarmSettings

#: Evaluations of one launch, about: small enough to report progress and to be interrupted, large enough to fill a
#: device of that kind.
LAUNCH_EVALUATIONS = {"GPU": 2 * 10**10, "accelerator": 10**9, "CPU": 5 * 10**7}


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    model: str = LANES,
    random: str | None = None,
    lanes: int | None = None,
    items: int | None = None,
    swarms: int | None = None,
    **options: Any,
) -> Solutions:
    """Solve all problems at once, each with a swarm of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Problems of different signatures (another number of steps, another reservoir) are launched one kind after
        another.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    model : str
        One of `clpso_models.MODELS`: ``lanes``, or the paper's ``basic``, ``intermediate`` or ``final``.
    random : str, optional
        ``stream`` (own streams), ``kernel`` (eq. 14-15) or ``host`` (made on the host and shared, section 4.3); the
        model's own if not given.
    lanes, items, swarms : int, optional
        Particles in a work item's vector, work items of a swarm, and swarms in a work group; chosen for the device if
        not given. With own streams a result does not depend on them beyond rounding.
    **options
        Fields of `SwarmSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked.
    InputError
        If a setting is out of range.
    """
    settings = SwarmSettings(**options)
    if settings.exemplars_follow:
        raise InputError(Mistake(f"{NAME} keeps copies of exemplars", "clpso-sequential", value="exemplars_follow"))
    devices = choose_devices(device)
    chosen = model_named(model)
    random = chosen.random if random is None else random
    scheme = random_scheme(random)
    if len(devices) > 1 and not scheme.divisible:
        raise InputError(
            Mistake(f"{random} numbers cannot be shared among devices", "one device", "name one", value=device)
        )

    def most(device: DeviceInfo) -> int:
        """The paper's schemes number the swarms of one launch and are not cut."""
        work = settings.particles * settings.generations
        return max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // work) if scheme.divisible else len(problems)

    def launch(device: DeviceInfo, members: list[Problem]) -> LaunchResult:
        layout = layout_for(device, members[0], len(members), settings, lanes, items, swarms, chosen)
        return _launch(members, device, layout, settings, scheme, seed)

    started = time.perf_counter()
    launched = launch_all(problems, devices, most, launch, progress)
    wall = time.perf_counter() - started
    used = {**settings.as_dict(), "seed": seed, "model": model, "random": random}
    return to_solutions(problems, launched, solver=NAME, devices=devices, settings=used, wall_seconds=wall)


def _launch(
    problems: Sequence[Problem],
    device: DeviceInfo,
    layout: SwarmLayout,
    settings: SwarmSettings,
    scheme: RandomScheme,
    seed: int,
) -> LaunchResult:
    clock = HostClock()
    count, dimension, points = len(problems), problems[0].dimension, len(settings.trace_generations)
    with clock("build"):
        program = build_program(device, problems[0], settings, scheme, layout)
    groups = -(-count // layout.swarms)
    with Session(device, clock) as session:
        session.upload(
            contexts=kernel_contexts(problems),
            learning=layout.padded(settings.learning_probability()),
        )
        random_arguments = scheme.upload(session, clock, problems, settings, layout, seed)
        session.allocate(
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            evaluations=((count, layout.items * layout.lanes), np.int32),
            trace=((count, points), np.float32),
        )
        global_memory = []
        if layout.best_in_global:
            session.allocate(best_memory=((groups * layout.swarms, dimension + 1, layout.swarm), np.float32))
            global_memory = ["best_memory"]
        if layout.state_in_global:
            particles = groups * layout.swarms * layout.swarm
            session.allocate(state=((particles, state_words(dimension)), np.float32))
            global_memory.append("state")
        session.run(
            program,
            "clpso",
            groups * layout.swarms * layout.items,
            layout.swarms * layout.items,
            "contexts",
            "learning",
            np.int32(count),
            np.int32(settings.generations),
            np.int32(settings.trace_every),
            np.int32(points),
            "position",
            "fitness",
            "evaluations",
            "trace",
            *global_memory,
            *random_arguments,
        )
        names = ("position", "fitness", "evaluations", "trace")
        positions, judged, evaluations, traces = (session.download(name) for name in names)
        seconds = sum(session.device_seconds.values())
    totals = (evaluations.sum(axis=1, dtype=np.int64) + settings.particles).tolist()
    used = {"lanes": layout.lanes, "items": layout.items, "swarms": layout.swarms}
    taken = settings.trace_generations
    found = [
        DeviceResult(position, settings.generations, total, taken, trace, used, fitness)
        for position, total, trace, fitness in zip(positions, totals, traces, judged.tolist(), strict=True)
    ]
    return LaunchResult(found, seconds, clock.seconds)
