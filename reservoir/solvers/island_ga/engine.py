"""Genetic algorithm on islands in OpenCL, for real vectors and for tours.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). The kernels
are ``kernels/solvers/island_ga*.cl``, with the encodings of ``kernels/encodings``. A work group has an island.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.opencl import DeviceInfo, choose_devices
from reservoir.problems.base import Problem
from reservoir.problems.encoding import encoding_of
from reservoir.solvers.base.device_result import LaunchResult, to_solutions
from reservoir.solvers.base.launches import launch_all
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solutions
from reservoir.solvers.island_ga.schemes import SCHEMES
from reservoir.solvers.island_ga.settings import IslandSettings

NAME = "island-ga"
SETTINGS = IslandSettings
#: What runs on every device, and gives the same bytes for the same seed.
DEFAULT_SCHEME = "lim-is"

#: Evaluations of one launch, about.
LAUNCH_EVALUATIONS = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    scheme: str = DEFAULT_SCHEME,
    slice_stages: int = 1,
    counted: bool = False,
    keep_population: bool = False,
    wait_each: bool = False,
    items: int | None = None,
    lanes: int | None = None,
    team: int | None = None,
    **options: Any,
) -> Solutions:
    """Solve all problems, each with islands of its own.

    Parameters
    ----------
    problems : sequence of Problem
        Those of different signatures are launched one kind after another.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers. The same seed gives the same bytes, but not in
        ``lim-async``, whose islands take what their neighbours happen to have left.
    device : str, optional
        See `reservoir.opencl.choose_devices`.
    progress : callable
        Told how many of the problems are done.
    scheme : str
        One of `SCHEMES`.
    slice_stages : int
        Of ``lim-async``: migrations in a launch where islands are not all at work at once. The result says whether they
        were, in the setting ``resident``.
    counted : bool
        Count kernel launches, and how often the items of a group, and the groups of the grid, meet.
    keep_population : bool
        Keep all individuals in the setting ``population``.
    wait_each : bool
        Let the host wait for every launch before the next, as the papers' programs do; else launches queue up.
    items, lanes, team : int, optional
        Work items of a group, real vectors that an item handles at once, and items that make a tour together; chosen
        for the device if not given.
    **options
        Fields of `IslandSettings`.

    Raises
    ------
    DeviceError
        If there is no such device, or it cannot hold what is asked; of ``lim-cg`` and ``slk``, if it does not run all
        work groups at once.
    InputError
        If a setting is out of range.
    """
    settings = IslandSettings(**options)
    if scheme not in SCHEMES:
        raise InputError(Mistake("there is no such scheme", ", ".join(SCHEMES), "choose one", value=scheme))
    if not 1 <= slice_stages <= 10**9:
        raise InputError(
            Mistake("a slice has too few migrations, or too many", "1 to 1,000,000,000", value=slice_stages)
        )
    devices = choose_devices(device)

    def most(device: DeviceInfo) -> int:
        return max(device.compute_units, LAUNCH_EVALUATIONS[device.kind] // settings.evaluations_made)

    def launch(device: DeviceInfo, members: list[Problem]) -> LaunchResult:
        run = SCHEMES[scheme](
            members,
            device,
            settings.for_encoding(encoding_of(members[0])),
            seed=seed,
            counted=counted,
            slice_stages=slice_stages,
            keep_population=keep_population,
            wait_each=wait_each,
            items=items,
            lanes=lanes,
            team=team,
        )
        return run.launched()

    started = time.perf_counter()
    launched = launch_all(problems, devices, most, launch, progress)
    wall = time.perf_counter() - started
    used = {
        **settings.as_dict(),
        "seed": seed,
        "scheme": scheme,
        "slice_stages": slice_stages,
        "counted": counted,
        "keep_population": keep_population,
        "wait_each": wait_each,
    }
    return to_solutions(problems, launched, solver=NAME, devices=devices, settings=used, wall_seconds=wall)
