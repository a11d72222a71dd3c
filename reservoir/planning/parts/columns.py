"""What is kept of a search in parts: arrays of the years, and what a part tells of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.planning.best_known import Sources
from reservoir.planning.firm_power import FirmBounds
from reservoir.planning.search import Found
from reservoir.planning.source_names import second_run
from reservoir.planning.stated_solutions import stated_solutions
from reservoir.problems.base import CertifiedBatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions

#: Arrays with a row for each year.
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
#: Of a firm power: what is not kept, and whether that is proved.
_NOT_KEPT, _PROVED = "firm_not_kept_mw", "firm_proved"


def columns_of(found: Found) -> dict[str, NDArray[Any]]:
    """Arrays of what was found, a row for each year; of problems that are years."""
    operation, solutions = found.operation, found.solutions
    names = (*_OPERATED, _MISSING, *(_CONDITIONS if operation.has_conditions else ()))
    columns = {name: getattr(operation, name) for name in names}
    engine = found.sources.engine if found.sources else solutions
    held = {"held": solutions, "engine": engine, **({"reference": found.references} if found.references else {})}
    worth = {f"{whose}_{name}": getattr(each, name) for whose, each in held.items() for name in _WORTH}
    work = {name: getattr(solutions, name) for name in _WORK}
    bounds = found.firm_bounds
    firm = {} if bounds is None else {_NOT_KEPT: bounds.not_kept_mw, _PROVED: bounds.proved.astype(np.int8)}
    return {**columns, **worth, **work, **firm, _SOURCE: _source_codes(found)}


def _source_codes(found: Found) -> NDArray[np.int8]:
    if not found.sources:
        return np.zeros(len(found.solutions), np.int8)
    known = _sources(found.solutions.solver, found.references.solver)
    return np.array([known.index(each) for each in found.sources.of_problem], np.int8)


def _sources(solver: str, reference: str) -> list[str]:
    return [solver, second_run(solver), reference]


def told_of(found: Found, seconds: Mapping[str, float]) -> dict[str, Any]:
    """What a part tells of itself: who found it, where and how, in words and numbers that JSON has."""
    solutions, sources, references = found.solutions, found.sources, found.references
    return {
        "solver": solutions.solver,
        "device": solutions.device,
        "device_seconds": solutions.device_seconds,
        "settings": dict(sources.settings if sources else solutions.settings[0]),
        "second_settings": dict(sources.second_settings) if sources else None,
        "reference": _told_of_reference(references) if references else None,
        "notes": list(found.notes),
        "seconds": dict(seconds),
    }


def _told_of_reference(references: Solutions) -> dict[str, Any]:
    seconds = references.device_seconds
    return {"solver": references.solver, "settings": dict(references.settings[0]), "device_seconds": seconds}


def found_of(
    problems: RecordProblems, columns: Columns, told: Sequence[Mapping[str, Any]], wall_seconds: float
) -> Found:
    """What was found in all parts, from their arrays joined and from what each told, in their order.

    Traces of the search are not kept.
    """
    first, reference = told[0], _first(told, "reference")
    operation = _operation(columns)
    of_call: dict[str, Any] = {
        "solver": first["solver"],
        "device": _devices([each["device"] for each in told]),
        "wall_seconds": wall_seconds,
        "device_seconds": _summed([each["device_seconds"] for each in told]),
        "host_seconds_by_phase": dict(sum((Counter(each["seconds"]) for each in told), Counter[str]())),
        **{name: columns[name] for name in _WORK},
    }
    dimension = problems.batches[0].dimension
    positions = np.column_stack([operation.draft_m3s, operation.storage_hm3[:, 0]])[:, :dimension]
    solutions = stated_solutions(positions, _worth(columns, "held", operation), first["settings"], **of_call)
    references = Solutions.of([])
    if reference:
        none, unknown = np.zeros(len(problems), np.int64), np.full_like(positions, np.nan)
        of_call |= {"solver": reference["solver"], "generations": none, "evaluations": none}
        of_call["device_seconds"] = _summed([each["reference"]["device_seconds"] for each in told if each["reference"]])
        references = stated_solutions(unknown, _worth(columns, "reference"), reference["settings"], **of_call)
    sources = _sources_of(columns, told, solutions, references)
    notes = tuple(dict.fromkeys(note for each in told for note in each["notes"]))
    bounds = FirmBounds(columns[_NOT_KEPT], columns[_PROVED] > 0) if _NOT_KEPT in columns else None
    return Found(problems, operation, solutions, references, sources, notes, firm_bounds=bounds)


def _operation(columns: Columns) -> Operation:
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
