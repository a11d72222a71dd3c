"""The stages of a plan that are solved: by its solver, and the reference optimum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from reservoir.errors import DeviceError
from reservoir.planning.solver_choice import DEVICE_REFERENCE, HOST_REFERENCE
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import Solutions, Stop, solve, solver_named

#: Told the name of a stage, how much of it is done and how much there is.
StageProgress = Callable[[str, int, int], None]


def silent_stage(stage: str, done: int, total: int) -> None:
    """No-op callback."""


def solved(
    problems: Sequence[ReservoirYear],
    solver: str,
    seed: int,
    device: str | None,
    progress: StageProgress,
    options: Mapping[str, Any],
    *,
    stage: str = "",
) -> Solutions:
    """Solve problems, and tell the stage, by default the solver's name; see `reservoir.solvers.solve`."""
    told = stage or solver
    progress(told, 0, len(problems))
    return solve(problems, solver=solver, seed=seed, device=device, progress=partial(progress, told), **options)


def references_of(
    problems: Sequence[ReservoirYear],
    solver: str,
    device: str | None,
    progress: StageProgress,
    stop: Stop | None,
    watch: Stopwatch,
    **grids: int,
) -> Solutions:
    """Dynamic programming on the device that solves the plan, if one does and can; else on the host.

    Grids are settings that both have (`reservoir.solvers.dp.settings.GridSettings`).
    """
    options: dict[str, Any] = {"stop": stop, **grids}
    if solver_named(solver).opencl:
        with suppress(DeviceError), watch(DEVICE_REFERENCE):
            return solved(problems, DEVICE_REFERENCE, 0, device, progress, options)
    with watch(HOST_REFERENCE):
        return solved(problems, HOST_REFERENCE, 0, None, progress, options)
