"""What a search found as arrays and words that can be kept: in the parts of a long search, and in a plan's folder."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.inflow import COMPANIONS
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.planning.best_known import Sources, stated_solutions
from reservoir.planning.columns import second_run
from reservoir.planning.firm_power import FirmBounds
from reservoir.planning.search import Found, Method
from reservoir.problems.base import CertifiedBatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions

#: Arrays with a row for each year, or for each problem.
Columns = Mapping[str, NDArray[Any]]

#: Of every operation, and of reservoirs with losses or demands.
_OPERATED = (
    *("release_m3s", "turbined_m3s", "storage_hm3", "level_m", "mean_level_m"),
    *("tailrace_m", "head_m", "power_mw", "energy_gwh", "stage_benefit", "violation"),
)
_CONDITIONS = ("evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s")
#: Of every operation too.
_MISSING = "missing_m3s"
#: What solutions are worth, of the schedules held, of the solver's own and of the references.
_WORTH = ("fitness", "benefit", "violation")
_WORK = ("generations", "evaluations")
#: Whose schedule a year holds: the place in the list of a solver, its second run and its reference.
_SOURCE = "source"
#: Positions of the references of problems that are no years, one behind the other: the energy of each year follows from
#: them.
_BEST = "reference_position"
#: Of a firm power: what is not kept, and whether that is proved.
_NOT_KEPT, _PROVED = "firm_not_kept_mw", "firm_proved"


def columns_of(found: Found) -> dict[str, NDArray[Any]]:
    """Arrays of what was found: of the operation a row for each year, of solutions a number for each problem."""
    operation, solutions, references, sources = found.operation, found.solutions, found.references, found.sources
    names = (*_OPERATED, _MISSING, *(_CONDITIONS if operation.has_conditions else ()))
    columns = {name: getattr(operation, name) for name in names}
    schedules = {"plan": solutions, "engine": sources.engine if sources else solutions}
    schedules |= {"reference": references} if references else {}
    columns |= {f"{whose}_{name}": getattr(each, name) for whose, each in schedules.items() for name in _WORTH}
    columns |= {name: getattr(solutions, name) for name in _WORK}
    if found.firm_bounds is not None:
        columns |= {_NOT_KEPT: found.firm_bounds.not_kept_mw, _PROVED: found.firm_bounds.proved.astype(np.int8)}
    if references and not found.problems.horizon.is_year:
        columns[_BEST] = np.concatenate(references.position)
    known = _sources(solutions.solver, references.solver)
    codes = [known.index(source) for source in sources.of_problem] if sources else np.zeros(len(solutions))
    return columns | {_SOURCE: np.asarray(codes, np.int8)}


def _sources(solver: str, reference: str) -> list[str]:
    return [solver, second_run(solver), reference]


def told_of(found: Found, seconds: Mapping[str, float]) -> dict[str, Any]:
    """What a part tells of itself: who found it, where and how, in words and numbers that JSON has."""
    solutions, sources, references = found.solutions, found.sources, found.references
    call = ("solver", "device", "device_seconds")
    return {
        **{name: getattr(solutions, name) for name in call},
        "settings": dict(sources.settings if sources else solutions.settings[0]),
        "second_settings": dict(sources.second_settings) if sources else None,
        "reference": {name: getattr(references, name) for name in call} | {"settings": dict(references.settings[0])}
        if references
        else None,
        "notes": list(found.notes),
        "seconds": dict(seconds),
    }


def found_of(
    problems: RecordProblems, columns: Columns, told: Sequence[Mapping[str, Any]], wall_seconds: float
) -> Found:
    """What was found in all parts, from their arrays joined and from what each told, in their order.

    Traces of the search are not kept.
    """
    first, reference = told[0], _first(told, "reference")
    operation = operation_of_columns(columns)
    of_call: dict[str, Any] = {
        "solver": first["solver"],
        "device": _devices([each["device"] for each in told]),
        "wall_seconds": wall_seconds,
        "device_seconds": _summed([each["device_seconds"] for each in told]),
        "host_seconds_by_phase": dict(sum((Counter(each["seconds"]) for each in told), Counter[str]())),
        **{name: columns[name] for name in _WORK},
    }
    positions = _positions(problems, operation)
    of_problems = operation if problems.horizon.is_year else None
    solutions = stated_solutions(positions, _worth(columns, "plan", of_problems), first["settings"], **of_call)
    references = Solutions.of([])
    if reference:
        none, best = np.zeros(len(problems), np.int64), [np.full_like(position, np.nan) for position in positions]
        if _BEST in columns:
            best = np.split(columns[_BEST], np.cumsum([len(position) for position in positions])[:-1])
        of_call |= {"solver": reference["solver"], "generations": none, "evaluations": none}
        of_call["device_seconds"] = _summed([each["reference"]["device_seconds"] for each in told if each["reference"]])
        references = stated_solutions(best, _worth(columns, "reference"), reference["settings"], **of_call)
    sources = _sources_of(columns, told, solutions, references)
    notes = tuple(dict.fromkeys(note for each in told for note in each["notes"]))
    bounds = FirmBounds(columns[_NOT_KEPT], columns[_PROVED] > 0) if _NOT_KEPT in columns else None
    return Found(problems, operation, solutions, references, sources, notes, firm_bounds=bounds)


def _positions(problems: RecordProblems, operation: Operation) -> Sequence[NDArray[np.float64]]:
    """The position of each problem that has such an operation: its releases, and the storage at its start if free."""
    if problems.horizon.is_year:
        rows = np.column_stack([operation.draft_m3s, operation.storage_hm3[:, 0]])
        return rows[:, : problems.batches[0].dimension]  # type: ignore[return-value] # an array is a sequence of its rows
    spans, ends = problems.horizon.spans(problems.inflow.years), 1 if problems.cyclic else 0
    releases, starts = operation.draft_m3s, operation.storage_hm3[:, 0]
    return [np.append(releases[first:stop], starts[first : first + ends]) for first, stop in spans]


def operation_of_columns(columns: Columns) -> Operation:
    """The operation of every year, from the arrays of `columns_of`."""
    kept = {name: columns[name] for name in (*_OPERATED, _MISSING, *_CONDITIONS) if name in columns}
    none = np.broadcast_to(0.0, kept["release_m3s"].shape)
    return Operation(**dict.fromkeys((_MISSING, *_CONDITIONS), none) | kept, has_conditions=_CONDITIONS[0] in kept)


def _worth(columns: Columns, whose: str, operation: Operation | None = None) -> CertifiedBatch:
    fitness, benefit, violation = (columns[f"{whose}_{name}"] for name in _WORTH)
    return CertifiedBatch(fitness, benefit, violation, operation)


def _sources_of(
    columns: Columns, told: Sequence[Mapping[str, Any]], solutions: Solutions, references: Solutions
) -> Sources | None:
    codes = columns[_SOURCE]
    if not codes.any():
        return None
    names = np.array(_sources(solutions.solver, references.solver), object)
    worth = _worth(columns, "engine")
    work = {name: columns[name] for name in _WORK}
    call = {name: getattr(solutions, name) for name in ("solver", "device", "wall_seconds", "device_seconds")}
    engine = stated_solutions(solutions.position, worth, solutions.settings[0], **work, **call)
    second = _first(told, "second_settings") or {}
    return Sources(tuple(names[codes].tolist()), engine, solutions.settings[0], second)


def _first(told: Sequence[Mapping[str, Any]], name: str) -> Any:
    return next((each[name] for each in told if each[name]), None)


def _summed(seconds: Sequence[float | None]) -> float | None:
    """All of them; None where one is not known."""
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None


def _devices(names: Sequence[str]) -> str:
    """Every device that was at work, the busiest first."""
    return ", ".join(name for name, _ in Counter(names).most_common())


def run_identity(problems: RecordProblems, method: Method, place: str) -> dict[str, Any]:
    """Everything that decides what a run finds, as JSON has it.

    Parameters
    ----------
    problems : RecordProblems
    method : Method
    place : str
        The devices that search.
    """
    inflow, hashed = problems.inflow, hashlib.sha256()
    for each in (inflow.flow_m3s, inflow.rng_stream_ids, *(getattr(inflow, name) for name in COMPANIONS)):
        hashed.update(b"" if each is None else np.ascontiguousarray(each).tobytes())
    reservoir = problems.model.reservoir
    identity = {
        "program": _version(),
        "reservoir": reservoir_digests(reservoir) | {"end value": reservoir.end_value_gwh_per_hm3},
        "inflow": hashed.hexdigest(),
        "years": inflow.years,
        "solver": method.solver,
        "seed": method.seed,
        "settings": dict(method.options),
        "reference": method.reference,
        "engine-only": method.engine_only,
        **({"best": True} if method.best else {}),
        "device": place,
    }
    found: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    return found


def _version() -> str:
    try:
        return version("reservoir")
    except PackageNotFoundError:
        return ""


class PartStore(Protocol):
    """Keeps arrays of parts, each with its rows in those of the whole."""

    @property
    def told(self) -> Mapping[int, Mapping[str, Any]]:
        """What each part that is kept told of itself, by the part's number."""

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Make ready for parts of so many years, and take over those that are kept of the same run."""

    def keep(self, part: int, first: int, columns: Columns, told: Mapping[str, Any]) -> None:
        """Keep a part whose first row is `first` of the whole."""

    def columns(self) -> Columns:
        """Arrays of the whole, once every part is kept."""


class MemoryStore:
    """Keeps parts in memory."""

    def __init__(self) -> None:
        self.told: dict[int, Mapping[str, Any]] = {}
        self._years = 0
        self._columns: dict[str, NDArray[Any]] = {}

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Keep so many rows."""
        self._years = years

    def keep(self, part: int, first: int, columns: Columns, told: Mapping[str, Any]) -> None:
        """Copy the rows."""
        for name, column in columns.items():
            whole = self._columns.setdefault(name, np.empty((self._years, *column.shape[1:]), column.dtype))
            whole[first : first + len(column)] = column
        self.told[part] = told

    def columns(self) -> Columns:
        """The arrays."""
        for column in self._columns.values():
            column.setflags(write=False)
        return self._columns
