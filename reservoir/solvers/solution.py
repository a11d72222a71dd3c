"""Solutions of problems: arrays with an axis of problems in front, and what engines hand over to make them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Problem, certify_all

#: What is of each problem, an item or a row each: where problems differ in shape, or share what they have, of objects.
Column: TypeAlias = NDArray[Any]
#: What is a number of each problem; in one problem's solution the number itself.
Numbers: TypeAlias = Any


def objects(items: Iterable[Any], count: int) -> Column:
    """A column of items as they are; of an endless iterator the first so many."""
    return np.fromiter(items, object, count)


def joined(columns: Sequence[Column]) -> Column:
    """Columns behind each other: numbers of any types, rows of one shape as an array, all else as objects."""
    if any(each.ndim > 1 for each in columns) and len({(each.shape[1:], each.dtype) for each in columns}) > 1:
        columns = [objects(each, len(each)) for each in columns]
    return np.concatenate(columns)


def as_float64(column: Column) -> Column:
    """A column of arrays in float64."""
    if column.dtype != object:
        return column.astype(np.float64)
    made = {name: each.astype(np.float64) for name, each in {id(each): each for each in column}.items()}
    return objects((made[id(each)] for each in column), len(column))


def with_rows(column: Column, places: NDArray[np.intp], new: Column) -> Column:
    """A column with the items of another at some places; the column itself if there are none."""
    if not len(places):
        return column
    if object in (column.dtype, new.dtype) or column.shape[1:] != new.shape[1:]:
        column, new = (objects(each, len(each)) for each in (column, new))
    changed = column.copy()
    changed[places] = new
    return changed


@dataclass(frozen=True, eq=False)
class Solutions(Sequence["Solutions"]):
    """The best position that a solver found for each problem of a call, certified in float64.

    What is of each problem has an axis of problems in front, which ``solutions[i]`` takes away, as from an array; a
    slice, or an array of places, leaves it. Arrays are of objects where problems differ in shape or share what they
    have.

    Parameters
    ----------
    position : ndarray, shape (problems, dimension)
        Best positions.
    fitness, benefit, violation : ndarray, shape (problems,)
        Their fitness in float64; for a reservoir year GWh, GWh and the sum of relative violations.
    generations, evaluations : ndarray, shape (problems,)
        Work done.
    wall_seconds : float
        Time of the call.
    device_seconds : float or None
        Time the device was busy with the call; None where no device took part.
    solver, device : str
        Who found them, where.
    settings : ndarray of mappings, shape (problems,)
        Every setting that made them.
    trace_generations, trace_fitness : ndarray, shape (problems, points)
        Best fitness in the solver's own arithmetic after these generations; of no points for solvers without
        generations.
    host_seconds_by_phase : mapping of str to float
        Host seconds of the call by what they were spent on (`reservoir.opencl.HostClock`), or by stage where several
        threads are at work; empty for solvers that do not tell.
    fitness_float32 : ndarray, shape (problems,)
        The positions' fitness as the solver judged it, in its own arithmetic and with the noise of a noisy problem; NaN
        for solvers that do not tell.
    best_position_history : ndarray, shape (problems, points, dimension)
        Best positions after the generations of the trace, where they were asked for; else of no points.
    linkage : ndarray, shape (problems, variables, variables)
        Mutual information in nats of the variables that a solver coded, mean of its first generations; empty where it
        learns none.
    operation : Operation or None
        What years of a reservoir were certified from (`Certified`), None of other problems.
    """

    position: Column
    fitness: Numbers
    benefit: Numbers
    violation: Numbers
    generations: Numbers
    evaluations: Numbers
    wall_seconds: float
    device_seconds: float | None
    solver: str
    device: str
    settings: Any
    trace_generations: Column = field(default_factory=lambda: np.empty(0, np.int64))
    trace_fitness: Column = field(default_factory=lambda: np.empty(0))
    host_seconds_by_phase: Mapping[str, float] = field(default_factory=dict)
    fitness_float32: Numbers = math.nan
    best_position_history: Column = field(default_factory=lambda: np.empty((0, 0)))
    linkage: Column = field(default_factory=lambda: np.empty((0, 0)))
    operation: Any = None

    @classmethod
    def of(cls, solutions: Sequence[Solutions]) -> Solutions:
        """Solutions of one call from those of single problems, ``solutions[i]`` each; of no problem without any."""
        if not solutions:
            nothing: dict[str, Any] = {name: np.empty(0, object if name in _ARRAYS else float) for name in _OF_EACH}
            return cls(**nothing, wall_seconds=0.0, device_seconds=None, solver="", device="")
        columns: dict[str, Any] = {name: np.array([getattr(each, name) for each in solutions]) for name in _NUMBERS}
        columns["settings"] = objects((each.settings for each in solutions), len(solutions))
        for name in _ARRAYS[1:]:
            columns[name] = joined([getattr(each, name)[np.newaxis] for each in solutions])
        return replace(solutions[0], **columns, operation=None)

    def __len__(self) -> int:
        return len(self.fitness)

    def __getitem__(self, places: Any) -> Solutions:
        columns: dict[str, Any] = {name: getattr(self, name)[places] for name in _OF_EACH}
        if isinstance(places, int | np.integer):
            columns |= {name: columns[name].item() for name in _NUMBERS}
        return replace(self, **columns, operation=None)

    def replaced(self, places: NDArray[np.intp], new: Solutions) -> Solutions:
        """The same with other solutions of the problems at some places; what is of the call stays this call's."""
        columns: dict[str, Any] = {
            name: with_rows(getattr(self, name), places, getattr(new, name)) for name in _OF_EACH
        }
        return replace(self, **columns, operation=None)


#: Fields that are numbers of each problem, and all that are of each problem.
_NUMBERS = ("fitness", "benefit", "violation", "generations", "evaluations", "fitness_float32")
_ARRAYS = ("settings", "position", "trace_generations", "trace_fitness", "best_position_history", "linkage")
_OF_EACH = (*_NUMBERS, *_ARRAYS)


#: What an engine found for several problems, in its own arithmetic: columns by the name of a field of `Solutions`. The
#: settings are those that it chose itself, such as the layout on the device, to be added to those of the call.
EngineResults: TypeAlias = Mapping[str, Column]

_NO_SETTINGS: Mapping[str, Any] = {}


def engine_results(*, of_all: Mapping[str, Any], **of_each: Sequence[Any] | Column) -> EngineResults:
    """What an engine found for a batch of problems, or for one.

    Parameters
    ----------
    of_all : mapping
        What all of the problems share, by the name of a field of `Solutions`.
    **of_each
        ``position``, and whatever else the engine tells of each problem, an item or a row each.
    """
    count = len(of_each["position"])
    shared = {"generations": 0, "evaluations": 0, "fitness_float32": math.nan, "settings": _NO_SETTINGS, **of_all}
    columns: dict[str, Column] = {
        "trace_generations": np.empty((count, 0), np.int64),
        "trace_fitness": np.empty((count, 0)),
        "best_position_history": np.empty((count, 0, 0)),
        "linkage": np.empty((count, 0, 0)),
    }
    for name, value in shared.items():
        columns[name] = np.full(count, value) if name in _NUMBERS else objects(repeat(value), count)
    for name, values in of_each.items():
        columns[name] = objects(values, count) if name == "settings" else np.asarray(values)
    return columns


def joined_results(results: Sequence[EngineResults]) -> EngineResults:
    """Results behind each other, at least of one problem."""
    return {name: joined([each[name] for each in results]) for name in results[0]}


def to_solutions(
    problems: Sequence[Problem],
    results: EngineResults,
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
    results : EngineResults
        Of the problems, or of the first of them, in their order.
    solver, device, wall_seconds, device_seconds, host_seconds_by_phase
        Of the call; as in `Solutions`.
    settings : mapping
        Of the call.
    of_device : mapping of str to str, optional
        What is recorded of the devices, behind the settings.
    """
    count, floats = len(results["position"]), ("position", "trace_fitness", "fitness_float32", "best_position_history")
    columns = {**results, **{name: as_float64(results[name]) for name in floats}}
    certified = certify_all(problems if count == len(problems) else problems[:count], columns["position"])
    recorded: dict[Hashable, Mapping[str, Any]] = {}  # one object for all problems that have the same
    by_id: dict[int, Mapping[str, Any]] = {}
    for each in {id(each): each for each in results["settings"]}.values():
        key: Hashable = tuple(each.items())
        try:
            hash(key)
        except TypeError:  # settings that hold arrays are equal to themselves alone
            key = id(each)
        by_id[id(each)] = recorded.setdefault(key, {**settings, **each, **(of_device or {})})
    columns["settings"] = objects((by_id[id(each)] for each in results["settings"]), count)
    return Solutions(
        **columns,
        fitness=certified.fitness,
        benefit=certified.benefit,
        violation=certified.violation,
        wall_seconds=wall_seconds,
        device_seconds=device_seconds,
        solver=solver,
        device=device,
        host_seconds_by_phase=host_seconds_by_phase or {},
        operation=certified.operation,
    )
