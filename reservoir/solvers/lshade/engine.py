"""Multipopulation L-SHADE in OpenCL, a work group per problem: the strong mode.

Tanabe and Fukunaga 2014, "Improving the search performance of SHADE using linear population size reduction", IEEE
Congress on Evolutionary Computation, 1658-1665, with the settings they tuned. The kernel is ``kernels/solvers/lshade``.
Two things differ from the paper: a scale below zero is not drawn again, but never drawn, which is the same
distribution; and a full archive is overwritten along a random stretch, not at random places one by one, so that members
need not wait for each other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from reservoir.opencl import DeviceInfo, HostClock, Session, choose_devices
from reservoir.problems.base import Problem, kernel_contexts, rng_stream_ids
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.lshade.program import PopulationLayout, build_program, layout_for
from reservoir.solvers.lshade.settings import LshadeSettings
from reservoir.solvers.rng.stream import seed_words

NAME = "lshade"
SETTINGS = LshadeSettings

#: Evaluations of one launch, about: small enough to report progress and to be interrupted.
LAUNCH_EVALUATIONS = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    lanes: int | None = None,
    items: int | None = None,
    **options: Any,
) -> Solutions:
    """Solve all problems at once, each with a population of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Problems of different signatures are launched one kind after another.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    lanes, items : int, optional
        Members in a work item's vector, and work items of a population; chosen for the device if not given. A result
        does not depend on them beyond rounding.
    **options
        Fields of `LshadeSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked.
    InputError
        If a setting is out of range.
    """
    settings = LshadeSettings(**options)
    devices = choose_devices(device)

    def most(device: DeviceInfo) -> int:
        return max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // settings.evaluations)

    def launch(device: DeviceInfo, members: list[Problem]) -> LaunchResult:
        layout = layout_for(device, members[0], settings, lanes, items)
        return _launch(members, device, layout, settings, seed)

    started = time.perf_counter()
    launched = launch_all(problems, devices, most, launch, progress)
    wall = time.perf_counter() - started
    used = {**settings.as_dict(), "seed": seed}
    return to_solutions(problems, launched, solver=NAME, devices=devices, settings=used, wall_seconds=wall)


def _launch(
    problems: Sequence[Problem], device: DeviceInfo, layout: PopulationLayout, settings: LshadeSettings, seed: int
) -> LaunchResult:
    clock = HostClock()
    count, dimension = len(problems), problems[0].dimension
    sizes = settings.sizes(dimension)
    generations = len(sizes) - 1
    every, taken = settings.trace(generations)
    with clock("build"):
        program = build_program(device, problems[0], settings, layout)
    with Session(device, clock) as session:
        session.upload(
            contexts=kernel_contexts(problems),
            sizes=sizes,
            streams=rng_stream_ids(problems),
        )
        session.allocate(
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            trace=((count, len(taken)), np.float32),
        )
        pool_memory = []
        if layout.pool_in_global:
            session.allocate(pool_memory=((count, dimension, layout.members + settings.archive(dimension)), np.float32))
            pool_memory = ["pool_memory"]
        session.run(
            program,
            "lshade",
            count * layout.items,
            layout.items,
            "contexts",
            "sizes",
            np.int32(generations),
            np.int32(every),
            np.int32(len(taken)),
            "position",
            "fitness",
            "trace",
            *pool_memory,
            *(np.uint32(word) for word in seed_words(seed)),
            "streams",
        )
        positions, judged, traces = (session.download(name) for name in ("position", "fitness", "trace"))
        seconds = sum(session.device_seconds.values())
    evaluations = int(sizes.sum())
    used = {"lanes": layout.lanes, "items": layout.items}
    found = [
        DeviceResult(position, generations, evaluations, taken, trace, used, fitness)
        for position, trace, fitness in zip(positions, traces, judged.tolist(), strict=True)
    ]
    return LaunchResult(found, seconds, clock.seconds)
