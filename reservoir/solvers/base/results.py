"""What an engine found for each problem, and the solutions certified from it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.solution import Solutions


@dataclass(frozen=True, kw_only=True)
class EngineResult:
    """What an engine found for one problem, in its own arithmetic.

    Parameters
    ----------
    position : ndarray of float, shape (dimension,)
    generations, evaluations : int
    trace_generations, trace_fitness, fitness_float32, best_position_history, linkage
        As in `Solution`.
    settings : mapping
        Those that the engine chose for this problem, such as the layout on the device, to add to those of the call.
    """

    position: NDArray[Any]
    generations: int
    evaluations: int
    trace_generations: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    trace_fitness: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    fitness_float32: float = math.nan
    best_position_history: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))
    linkage: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    settings: Mapping[str, Any] = field(default_factory=dict)


def engine_results(*, of_all: Mapping[str, Any], **of_each: Sequence[Any] | NDArray[Any]) -> list[EngineResult]:
    """Results for the problems of a launch, from fields of `EngineResult` that all share and those of each problem."""
    rows = zip(*of_each.values(), strict=True)
    return [EngineResult(**of_all, **dict(zip(of_each, row, strict=True))) for row in rows]


@dataclass(frozen=True, kw_only=True)
class LaunchResult:
    """What launches brought back.

    Parameters
    ----------
    found : list of EngineResult
        One for each problem, in their order.
    device_seconds : float
        Time that a device was busy; of several at work together, the busiest.
    host_seconds_by_phase : mapping of str to float
        Host seconds by what they were spent on (`reservoir.opencl.HostClock`); the sum over devices.
    """

    found: list[EngineResult]
    device_seconds: float
    host_seconds_by_phase: Mapping[str, float]


def to_solutions(
    problems: Sequence[Problem],
    found: Sequence[EngineResult],
    *,
    solver: str,
    device: str,
    settings: Mapping[str, Any],
    wall_seconds: float,
    device_seconds: float | None = None,
    host_seconds_by_phase: Mapping[str, float] | None = None,
    of_device: Mapping[str, str] | None = None,
) -> Solutions:
    """Recompute in float64 on the host what an engine found.

    Parameters
    ----------
    problems, found : sequence
        Of one call, in the same order.
    solver, device, wall_seconds, device_seconds, host_seconds_by_phase
        Of the call; as in `Solution`.
    settings : mapping
        Of the call.
    of_device : mapping of str to str, optional
        What is recorded of the devices, behind the settings.
    """
    positions = [each.position.astype(np.float64) for each in found]
    certified = certify_all(problems, positions)
    # Results of a launch share their settings, which are joined to those of the call once.
    recorded = {id(each.settings): {**settings, **each.settings, **(of_device or {})} for each in found}
    return Solutions(
        position=positions,
        fitness=certified.fitness,
        benefit=certified.benefit,
        violation=certified.violation,
        generations=np.array([each.generations for each in found]),
        evaluations=np.array([each.evaluations for each in found]),
        wall_seconds=wall_seconds,
        device_seconds=device_seconds,
        solver=solver,
        device=device,
        settings=[recorded[id(each.settings)] for each in found],
        trace_generations=[each.trace_generations for each in found],
        trace_fitness=[each.trace_fitness.astype(np.float64) for each in found],
        host_seconds_by_phase=host_seconds_by_phase or {},
        fitness_float32=np.array([each.fitness_float32 for each in found], np.float64),
        best_position_history=[each.best_position_history.astype(np.float64) for each in found],
        linkage=[each.linkage for each in found],
        operation=certified.operation,
    )
