"""What a device found for each problem, and the solutions certified from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import DeviceInfo
from reservoir.solvers.problem import Certified, Problem, certify_all
from reservoir.solvers.solution import Solution


@dataclass(frozen=True)
class Found:
    """What a launch brought back for one problem.

    Parameters
    ----------
    position : ndarray of float32 or float64, shape (dimension,)
    generations, evaluations : int
    trace_generations, trace_fitness : ndarray
        As in `Solution`.
    judged_fitness : float
        As in `Solution`.
    trail : ndarray
        As in `Solution`.
    layout : mapping
        How the device was used: settings to add to those of the call.
    """

    position: NDArray[np.floating]
    generations: int
    evaluations: int
    trace_generations: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    trace_fitness: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    layout: Mapping[str, Any] = field(default_factory=dict)
    judged_fitness: float = math.nan
    trail: NDArray[np.floating] = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True)
class Launched:
    """What launches brought back.

    Parameters
    ----------
    found : list of Found
        One for each problem, in their order.
    device_seconds : float
        Time that a device was busy; of several at work together, the busiest.
    segments : mapping of str to float
        Host seconds by what they were spent on (`reservoir.opencl.HostClock`); the sum over devices.
    """

    found: list[Found]
    device_seconds: float
    segments: Mapping[str, float]


def certified(
    problems: Sequence[Problem],
    launched: Launched,
    *,
    solver: str,
    devices: Sequence[DeviceInfo],
    settings: Mapping[str, Any],
    wall_seconds: float,
) -> list[Solution]:
    """Recompute in float64 on the host what devices found.

    Parameters
    ----------
    problems, launched
        Of one call; `launched.found` in the problems' order.
    solver : str
    devices : sequence of DeviceInfo
        Those that shared the work.
    settings : mapping
        Of the call.
    wall_seconds : float
        Of the call.
    """
    names = Counter(device.name for device in devices)
    where = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in names.items())
    drivers = {
        key: ", ".join(dict.fromkeys(getattr(device, key) for device in devices)) for key in ("platform", "driver")
    }
    positions = [found.position.astype(np.float64) for found in launched.found]
    return [
        _solution(
            position, worth, found, launched, solver, where, {**settings, **found.layout, **drivers}, wall_seconds
        )
        for position, worth, found in zip(positions, certify_all(problems, positions), launched.found, strict=True)
    ]


def _solution(
    position: NDArray[np.float64],
    worth: Certified,
    found: Found,
    launched: Launched,
    solver: str,
    device: str,
    settings: Mapping[str, Any],
    wall_seconds: float,
) -> Solution:
    return Solution(
        position,
        worth.fitness,
        worth.benefit,
        worth.violation,
        found.generations,
        found.evaluations,
        wall_seconds,
        launched.device_seconds,
        solver,
        device,
        settings,
        found.trace_generations,
        found.trace_fitness.astype(np.float64),
        launched.segments,
        float(found.judged_fitness),
        found.trail.astype(np.float64),
    )
