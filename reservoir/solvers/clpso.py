"""Multipopulation comprehensive-learning PSO in OpenCL: a work group per problem, all problems at once.

Yu et al. 2020, Complexity 6589658, section 4.3 and Figure 5. The kernel is ``kernels/solvers/clpso.cl``; random
numbers are the product's own streams, or one of the paper's two schemes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import DeviceInfo, Session, choose_device
from reservoir.solvers.clpso_program import Layout, build_program, layout_for
from reservoir.solvers.problem import Problem
from reservoir.solvers.progress import Progress, silent
from reservoir.solvers.random_schemes import RandomScheme, random_scheme
from reservoir.solvers.solution import Solution
from reservoir.solvers.swarm import SwarmSettings

NAME = "clpso"

#: Evaluations of one launch, about: small enough to report progress and to be interrupted, large enough to fill a
#: device of that kind.
LAUNCH_EVALUATIONS = {"GPU": 2 * 10**10, "accelerator": 10**9, "CPU": 5 * 10**7}


@dataclass(frozen=True)
class Found:
    """What one launch brought back for one problem."""

    position: NDArray[np.float32]
    evaluations: int
    trace: NDArray[np.float32]


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    random: str = "stream",
    lanes: int | None = None,
    items: int | None = None,
    swarms: int | None = None,
    **options: Any,
) -> list[Solution]:
    """Solve all problems at once, each with a swarm of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Problems of different signatures (another number of steps, another reservoir) are launched one kind after
        another.
    seed : int
        With a problem's stream, names its random numbers.
    device : str, optional
        See `reservoir.opencl.choose_device`.
    progress : callable
        Told how many of the problems are done.
    random : str
        ``stream`` (own streams), ``kernel`` (eq. 14-15) or ``host`` (made on the host and shared, section 4.3).
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
    chosen = choose_device(device)
    scheme = random_scheme(random)
    started = time.perf_counter()
    found: dict[int, Found] = {}
    device_seconds = 0.0
    for group in _by_signature(problems).values():
        layout = layout_for(chosen, problems[group[0]], len(group), settings, lanes, items, swarms)
        for launch in _launches(group, chosen, settings, scheme):
            members = [problems[index] for index in launch]
            results, seconds = _launch(members, chosen, layout, settings, scheme, seed)
            found.update(zip(launch, results, strict=True))
            device_seconds += seconds
            progress(len(found), len(problems))
    wall = time.perf_counter() - started
    used = {
        **settings.as_dict(),
        "seed": seed,
        "random": random,
        "lanes": layout.lanes,
        "items": layout.items,
        "swarms": layout.swarms,
        "platform": chosen.platform,
        "driver": chosen.driver,
    }
    return [
        _solution(problem, found[index], settings, used, chosen, wall, device_seconds)
        for index, problem in enumerate(problems)
    ]


def _by_signature(problems: Sequence[Problem]) -> dict[Hashable, list[int]]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, problem in enumerate(problems):
        groups[problem.signature].append(index)
    return groups


def _launches(
    group: list[int], device: DeviceInfo, settings: SwarmSettings, scheme: RandomScheme
) -> Iterator[list[int]]:
    """Cut a group into launches; the paper's schemes number the swarms of one launch and are not cut."""
    work = settings.particles * settings.generations
    size = max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // work) if scheme.divisible else len(group)
    for first in range(0, len(group), size):
        yield group[first : first + size]


def _launch(
    problems: Sequence[Problem],
    device: DeviceInfo,
    layout: Layout,
    settings: SwarmSettings,
    scheme: RandomScheme,
    seed: int,
) -> tuple[list[Found], float]:
    count, dimension, points = len(problems), problems[0].dimension, len(settings.trace_generations)
    program = build_program(device, problems[0], settings, scheme, layout)
    groups = -(-count // layout.swarms)
    with Session(device) as session:
        session.upload(
            contexts=np.stack([problem.kernel_context() for problem in problems]),
            learning=layout.padded(settings.learning_probability()),
        )
        random_arguments = scheme.upload(session, problems, settings, layout, seed)
        session.allocate(
            position=((count, dimension), np.float32),
            fitness=(count, np.float32),
            evaluations=((count, layout.items * layout.lanes), np.int32),
            trace=((count, points), np.float32),
        )
        best_memory = []
        if layout.best_in_global:
            session.allocate(best_memory=((groups * layout.swarms, dimension + 1, layout.swarm), np.float32))
            best_memory = ["best_memory"]
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
            *best_memory,
            *random_arguments,
        )
        positions, evaluations, traces = (session.download(name) for name in ("position", "evaluations", "trace"))
        seconds = sum(session.device_seconds.values())
    totals = evaluations.sum(axis=1, dtype=np.int64) + settings.particles
    return [Found(*each) for each in zip(positions, totals.tolist(), traces, strict=True)], seconds


def _solution(
    problem: Problem,
    found: Found,
    settings: SwarmSettings,
    used: dict[str, Any],
    device: DeviceInfo,
    wall: float,
    device_seconds: float,
) -> Solution:
    position = found.position.astype(np.float64)
    worth = problem.certify(position)
    return Solution(
        position,
        worth.fitness,
        worth.benefit,
        worth.violation,
        settings.generations,
        found.evaluations,
        wall,
        device_seconds,
        NAME,
        device.name,
        used,
        settings.trace_generations,
        found.trace.astype(np.float64),
    )
