"""Solutions of problems, and columns with a row for each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Problem, certify_all

#: What is of each problem, an item or a row each.
Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rows(Sequence[Any]):
    """Items of several sequences in any order: item i is ``parts[part[i]][row[i]]``; a slice is a list of items.

    Parameters
    ----------
    parts : tuple of sequences
    part, row : ndarray, shape (items,)
        The sequence that each item is of, and its place there.
    """

    parts: tuple[Column, ...]
    part: NDArray[np.integer]
    row: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.row)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return self.parts[self.part[index]][self.row[index]]

    def some(self, places: NDArray[np.intp] | slice) -> Rows:
        """Items at some places."""
        return Rows(self.parts, self.part[places], self.row[places])


def repeated(item: Any, count: int) -> Rows:
    """The same item for all of so many problems."""
    return Rows(((item,),), np.zeros(count, np.uint8), np.broadcast_to(np.int64(0), count))


def some_of(column: Column, places: NDArray[np.intp] | slice) -> Column:
    """Items of a column at some places."""
    if isinstance(column, Rows):
        return column.some(places)
    if isinstance(column, np.ndarray):
        return column[places]
    return column[places] if isinstance(places, slice) else [column[place] for place in places.tolist()]


def as_float64(column: Column) -> Column:
    """A column of arrays in float64."""
    if isinstance(column, Rows):
        return Rows(tuple(map(as_float64, column.parts)), column.part, column.row)
    if isinstance(column, np.ndarray):
        return column.astype(np.float64)
    return [each.astype(np.float64) for each in column]


def stacked(each: Sequence[NDArray[Any]]) -> Column:
    """Arrays of single problems as a column: one array if they have one shape."""
    return np.stack(each) if len({(array.shape, array.dtype) for array in each}) == 1 else each


def joined(columns: Sequence[Column]) -> Column:
    """Columns behind each other: an array of arrays whose rows have one shape, else rows."""
    if len(columns) == 1:
        return columns[0]
    if all(isinstance(each, np.ndarray) for each in columns):
        arrays: list[NDArray[Any]] = list(columns)  # type: ignore[arg-type]
        numbers = all(
            each.ndim == 1 for each in arrays
        )  # of any types: engines that solve other problems count otherwise
        if numbers or len({(each.shape[1:], each.dtype) for each in arrays}) == 1:
            return np.concatenate(arrays)
    every = [each if isinstance(each, Rows) else _in_order(each) for each in columns]
    parts = {id(part): part for each in every for part in each.parts}
    places = {name: place for place, name in enumerate(parts)}
    part = [np.array([places[id(part)] for part in each.parts], np.int32)[each.part] for each in every]
    return Rows(tuple(parts.values()), np.concatenate(part), np.concatenate([each.row for each in every]))


def with_rows(column: Column, places: NDArray[np.intp], new: Column) -> Column:
    """A column with the items of another at some places; the column itself if there are none."""
    if not len(places):
        return column
    if isinstance(column, np.ndarray) and isinstance(new, np.ndarray) and column.shape[1:] == new.shape[1:]:
        changed = column.copy()
        changed[places] = new
        return changed
    order = np.arange(len(column))
    order[places] = len(column) + np.arange(len(places))
    return some_of(joined([column, new]), order)


def _in_order(column: Column) -> Rows:
    return Rows((column,), np.zeros(len(column), np.uint8), np.arange(len(column)))


@dataclass(frozen=True)
class Solution:
    """The best position that a solver found for one problem, certified in float64.

    Parameters
    ----------
    position : ndarray, shape (dimension,)
        Best position.
    fitness, benefit, violation : float
        Its fitness in float64; for a reservoir year GWh, GWh and the sum of relative violations.
    generations, evaluations : int
        Work done.
    wall_seconds : float
        Time of the call that solved it, shared by all problems of the call.
    device_seconds : float or None
        Time the device was busy with that call; None where no device took part.
    trace_generations, trace_fitness : ndarray
        Best fitness in the solver's own arithmetic after these generations; empty for solvers without generations.
    fitness_float32 : float
        The position's fitness as the solver judged it, in its own arithmetic and with the noise of a noisy problem; NaN
        for solvers that do not tell.
    best_position_history : ndarray, shape (points, dimension)
        Best positions after the generations of the trace, where they were asked for; else of no points.
    linkage : ndarray, shape (variables, variables)
        Mutual information in nats of the variables that a solver coded, mean of its first generations; empty where it
        learns none.
    host_seconds_by_phase : mapping of str to float
        Host seconds of the call by what they were spent on (`reservoir.opencl.HostClock`), or by stage where several
        threads are at work; empty for solvers that do not tell.
    solver, device : str
        Who found it, where.
    settings : mapping
        Every setting that made it.
    """

    position: NDArray[np.float64]
    fitness: float
    benefit: float
    violation: float
    generations: int
    evaluations: int
    wall_seconds: float
    device_seconds: float | None
    solver: str
    device: str
    settings: Mapping[str, Any]
    trace_generations: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    trace_fitness: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    host_seconds_by_phase: Mapping[str, float] = field(default_factory=dict)
    fitness_float32: float = math.nan
    best_position_history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    linkage: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))


@dataclass(frozen=True, eq=False)
class Solutions(Sequence[Solution]):
    """The solutions of a call; ``solutions[i]`` is a `Solution`.

    What is of each problem has an axis of problems in front: arrays, or other sequences where problems differ in shape
    or mostly have the same (`rows`); all else is of the call. See `Solution`.

    Parameters
    ----------
    operation : Operation or None
        What years of a reservoir were certified from (`CertifiedBatch`), None of other problems.
    """

    position: Column
    fitness: NDArray[np.float64]
    benefit: NDArray[np.float64]
    violation: NDArray[np.float64]
    generations: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    wall_seconds: float
    device_seconds: float | None
    solver: str
    device: str
    settings: Column
    trace_generations: Column
    trace_fitness: Column
    host_seconds_by_phase: Mapping[str, float]
    fitness_float32: NDArray[np.float64]
    best_position_history: Column
    linkage: Column
    operation: Any = None

    @classmethod
    def of(cls, solutions: Sequence[Solution]) -> Solutions:
        """Solutions of one call that were made one by one."""
        call = solutions[0] if solutions else Solution(np.empty(0), 0.0, 0.0, 0.0, 0, 0, 0.0, None, "", "", {})
        columns = {
            name: [getattr(each, name) for each in solutions] if name in _OF_EACH else getattr(call, name)
            for name in Solution.__dataclass_fields__
        }
        return cls(**columns | {name: np.array(columns[name]) for name in _NUMBERS})

    def __len__(self) -> int:
        return len(self.fitness)

    def some(self, places: NDArray[np.intp]) -> Solutions:
        """The solutions of some problems."""
        columns: dict[str, Any] = {name: some_of(getattr(self, name), places) for name in _OF_EACH}
        return replace(self, **columns, operation=None)

    def replaced(self, places: NDArray[np.intp], new: Solutions) -> Solutions:
        """The same with other solutions of the problems at some places; what is of the call stays this call's."""
        columns: dict[str, Any] = {
            name: with_rows(getattr(self, name), places, getattr(new, name)) for name in _OF_EACH
        }
        return replace(self, **columns, operation=None)

    @overload
    def __getitem__(self, index: int) -> Solution: ...
    @overload
    def __getitem__(self, index: slice) -> list[Solution]: ...
    def __getitem__(self, index: int | slice) -> Solution | list[Solution]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        columns = {name: getattr(self, name) for name in Solution.__dataclass_fields__}
        each = {name: columns[name][index] for name in _OF_EACH}
        return Solution(**columns | each | {name: each[name].item() for name in _NUMBERS})


#: Fields that are numbers of each problem, and all that are of each problem.
_NUMBERS = ("fitness", "benefit", "violation", "generations", "evaluations", "fitness_float32")
_ARRAYS = ("position", "settings", "trace_generations", "trace_fitness", "best_position_history", "linkage")
_OF_EACH = (*_NUMBERS, *_ARRAYS)


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
        arrays = {name: stacked(columns[name]) for name in _RESULT_ARRAYS}
        numbers = {name: np.array(columns[name]) for name in _RESULT_NUMBERS}
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
_RESULT_NUMBERS = ("generations", "evaluations", "fitness_float32")
_RESULT_ARRAYS = ("position", "trace_generations", "trace_fitness", "best_position_history", "linkage")


def engine_results(*, of_all: Mapping[str, Any], **of_each: Sequence[Any] | NDArray[Any]) -> EngineResults:
    """Results for the problems of a launch, from fields of `EngineResult` that all share and those of each problem."""
    count = len(of_each["position"])
    shared = {**_defaults(), **of_all}
    columns: dict[str, Any] = {name: repeated(value, count) for name, value in shared.items() if name not in of_each}
    numbers = {name: np.asarray(of_each.get(name, np.full(count, shared[name]))) for name in _RESULT_NUMBERS}
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
