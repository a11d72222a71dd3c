"""What an engine found for each problem, and the solutions certified from it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.rows import Column, Rows, as_float64, joined, repeated, some_of, stacked
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


@dataclass(frozen=True, kw_only=True, eq=False)
class EngineResults:
    """What an engine found for several problems: fields of `EngineResult` with an axis of problems in front."""

    position: Column
    generations: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    trace_generations: Column
    trace_fitness: Column
    fitness_float32: NDArray[Any]
    best_position_history: Column
    linkage: Column
    settings: Column

    def __len__(self) -> int:
        return len(self.generations)

    @classmethod
    def of(cls, each: Sequence[EngineResult]) -> EngineResults:
        """Results that were found one by one."""
        columns: dict[str, Any] = {
            name: [getattr(result, name) for result in each] for name in cls.__dataclass_fields__
        }
        arrays = {name: stacked(columns[name]) for name in _ARRAYS}
        numbers = {name: np.array(columns[name]) for name in _NUMBERS}
        return cls(**columns | arrays | numbers)

    @classmethod
    def joined(cls, several: Sequence[EngineResults]) -> EngineResults:
        """Results behind each other, at least of one."""
        names = cls.__dataclass_fields__
        columns: dict[str, Any] = {name: joined([getattr(each, name) for each in several]) for name in names}
        return cls(**columns)

    def some(self, places: NDArray[np.intp] | slice) -> EngineResults:
        """Results of some of the problems."""
        names = self.__dataclass_fields__
        columns: dict[str, Any] = {name: some_of(getattr(self, name), places) for name in names}
        return EngineResults(**columns)


#: Fields of `EngineResult` that are numbers, and arrays.
_NUMBERS = ("generations", "evaluations", "fitness_float32")
_ARRAYS = ("position", "trace_generations", "trace_fitness", "best_position_history", "linkage")


def engine_results(*, of_all: Mapping[str, Any], **of_each: Sequence[Any] | NDArray[Any]) -> EngineResults:
    """Results for the problems of a launch, from fields of `EngineResult` that all share and those of each problem."""
    count = len(of_each["position"])
    shared = {**_defaults(), **of_all}
    columns: dict[str, Any] = {name: repeated(value, count) for name, value in shared.items() if name not in of_each}
    numbers = {name: np.asarray(of_each.get(name, np.full(count, shared[name]))) for name in _NUMBERS}
    return EngineResults(**{**columns, **of_each, **numbers})


def _defaults() -> dict[str, Any]:
    """Fields of an engine that tells no more than it must."""
    nothing = EngineResult(position=np.empty(0), generations=0, evaluations=0)
    return {name: getattr(nothing, name) for name in EngineResult.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class LaunchResult:
    """What launches brought back.

    Parameters
    ----------
    found : EngineResults
        Of the problems, in their order.
    device_seconds : float
        Time that a device was busy; of several at work together, the busiest.
    host_seconds_by_phase : mapping of str to float
        Host seconds by what they were spent on (`reservoir.opencl.HostClock`); the sum over devices.
    """

    found: EngineResults
    device_seconds: float
    host_seconds_by_phase: Mapping[str, float]


def to_solutions(
    problems: Sequence[Problem],
    found: EngineResults,
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
    problems : sequence of Problem
    found : EngineResults
        Of the problems, or of the first of them, in their order.
    solver, device, wall_seconds, device_seconds, host_seconds_by_phase
        Of the call; as in `Solution`.
    settings : mapping
        Of the call.
    of_device : mapping of str to str, optional
        What is recorded of the devices, behind the settings.
    """
    positions = as_float64(found.position)
    certified = certify_all(problems if len(found) == len(problems) else problems[: len(found)], positions)
    return Solutions(
        position=positions,
        fitness=certified.fitness,
        benefit=certified.benefit,
        violation=certified.violation,
        generations=found.generations,
        evaluations=found.evaluations,
        wall_seconds=wall_seconds,
        device_seconds=device_seconds,
        solver=solver,
        device=device,
        settings=_recorded(found.settings, settings, of_device or {}),
        trace_generations=found.trace_generations,
        trace_fitness=as_float64(found.trace_fitness),
        host_seconds_by_phase=host_seconds_by_phase or {},
        fitness_float32=found.fitness_float32.astype(np.float64),
        best_position_history=as_float64(found.best_position_history),
        linkage=found.linkage,
        operation=certified.operation,
    )


def _recorded(of_each: Column, of_call: Mapping[str, Any], of_device: Mapping[str, str]) -> Column:
    """Settings of each problem behind those of the call; one object for all that have the same."""
    if isinstance(of_each, Rows):
        parts = tuple(_recorded(part, of_call, of_device) for part in of_each.parts)
        return Rows(parts, of_each.part, of_each.row)
    names = [_name(each) for each in of_each]
    recorded = {name: {**of_call, **each, **of_device} for name, each in zip(names, of_each, strict=True)}
    return [recorded[name] for name in names]


def _name(settings: Mapping[str, Any]) -> Hashable:
    """Equal for equal settings; of settings that hold arrays, for the same ones."""
    items = tuple(settings.items())
    try:
        hash(items)
    except TypeError:
        return id(settings)
    return items
