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
from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.solution import Solutions


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
    found = launched.found
    positions = [each.position.astype(np.float64) for each in found]
    worth = certify_all(problems, positions)
    recorded = {id(each.layout): {**settings, **each.layout, **drivers} for each in found}
    return Solutions(
        position=positions,
        fitness=worth.fitness,
        benefit=worth.benefit,
        violation=worth.violation,
        generations=np.array([each.generations for each in found]),
        evaluations=np.array([each.evaluations for each in found]),
        wall_seconds=wall_seconds,
        device_seconds=launched.device_seconds,
        solver=solver,
        device=where,
        settings=[recorded[id(each.layout)] for each in found],
        trace_generations=[each.trace_generations for each in found],
        trace_fitness=[each.trace_fitness.astype(np.float64) for each in found],
        host_seconds_by_phase=launched.host_seconds_by_phase,
        fitness_float32=np.array([each.fitness_float32 for each in found], np.float64),
        best_position_history=[each.best_position_history.astype(np.float64) for each in found],
        linkage=[np.empty((0, 0))] * len(found),
        operation=worth.operation,
    )
