"""What a device found for each problem, and the solutions certified from it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.solution import Solution, Solutions


@dataclass(frozen=True)
class DeviceResult:
    """What a launch brought back for one problem.

    Parameters
    ----------
    position : ndarray of float32 or float64, shape (dimension,)
    generations, evaluations : int
    trace_generations, trace_fitness : ndarray
        As in `Solution`.
    fitness_float32 : float
        As in `Solution`.
    best_position_history : ndarray
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
    fitness_float32: float = math.nan
    best_position_history: NDArray[np.floating] = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True)
class LaunchResult:
    """What launches brought back.

    Parameters
    ----------
    found : list of DeviceResult
        One for each problem, in their order.
    device_seconds : float
        Time that a device was busy; of several at work together, the busiest.
    host_seconds_by_phase : mapping of str to float
        Host seconds by what they were spent on (`reservoir.opencl.HostClock`); the sum over devices.
    """

    found: list[DeviceResult]
    device_seconds: float
    host_seconds_by_phase: Mapping[str, float]


def to_solutions(
    problems: Sequence[Problem],
    launched: LaunchResult,
    *,
    solver: str,
    devices: Sequence[DeviceInfo],
    settings: Mapping[str, Any],
    wall_seconds: float,
) -> Solutions:
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
    worth = certify_all(problems, positions)
    certified = zip(worth.fitness.tolist(), worth.benefit.tolist(), worth.violation.tolist(), strict=True)
    each = [
        _solution(
            position, values, found, launched, solver, where, {**settings, **found.layout, **drivers}, wall_seconds
        )
        for position, values, found in zip(positions, certified, launched.found, strict=True)
    ]
    return replace(Solutions.of(each), operation=worth.operation)


def _solution(
    position: NDArray[np.float64],
    certified: tuple[float, float, float],
    found: DeviceResult,
    launched: LaunchResult,
    solver: str,
    device: str,
    settings: Mapping[str, Any],
    wall_seconds: float,
) -> Solution:
    return Solution(
        position,
        *certified,
        found.generations,
        found.evaluations,
        wall_seconds,
        launched.device_seconds,
        solver,
        device,
        settings,
        found.trace_generations,
        found.trace_fitness.astype(np.float64),
        launched.host_seconds_by_phase,
        float(found.fitness_float32),
        found.best_position_history.astype(np.float64),
    )
