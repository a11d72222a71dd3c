"""Search a large record in parts: which years a part has, who searches it, what is kept of it, and the whole of all."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from threading import Event, Lock
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError, shortened
from reservoir.hydro.inflow import COMPANIONS
from reservoir.hydro.operation import Operation
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.planning.columns import second_run
from reservoir.planning.firm_power import FirmBounds
from reservoir.planning.search import Found, Method, Sources, search, stated_solutions
from reservoir.planning.solving import StageProgress
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.base import Certified
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.runtime import deferred
from reservoir.solvers import Solutions, devices_of

#: Years of a part, at most. The same everywhere: which years are solved again depends on the sum of the gaps of a part.
PART_YEARS = 4096
#: What the search of all parts is called among the stages of a plan.
PARTS_STAGE = "search"


class Part(NamedTuple):
    """Some years of a record: the number of the part, and the places of its years."""

    number: int
    first: int
    stop: int


#: Arrays with a row for each year, or for each problem.
Columns = Mapping[str, NDArray[Any]]
#: What a worker brings of a part: its arrays, and what it tells of itself.
PartResult = tuple[Part, Columns, Mapping[str, Any]]


class Workers(Protocol):
    """Those who search parts."""

    @property
    def place(self) -> str:
        """The devices that search, if that is known."""

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[PartResult]:
        """Search parts, and hand on what is found in any order; `progress` counts years of all parts by stage."""


def has_parts(problems: RecordProblems) -> bool:
    """Whether a record has so many years that they are searched in parts."""
    return len(problems) > PART_YEARS


def search_in_parts(
    problems: RecordProblems, method: Method, progress: StageProgress, store: PartStore, workers: Workers
) -> Found:
    """Search the parts that are not kept yet, keep each, and join all.

    Parameters
    ----------
    problems : RecordProblems
        Years.
    method : Method
    progress : callable
        As of `reservoir.planning.search.search`; counts years of all parts, also of those that were kept before.
    store : PartStore
    workers : Workers
    """
    started, years = time.perf_counter(), len(problems)
    count = -(-years // PART_YEARS)
    edges = pairwise(years * number // count for number in range(count + 1))
    parts = [Part(number, first, stop) for number, (first, stop) in enumerate(edges)]
    store.begin(run_identity(problems, method, workers.place) | {"parts": len(parts)}, len(problems))
    left = [part for part in parts if part.number not in store.told]
    kept = years - sum(part.stop - part.first for part in left)

    def of_all(stage: str, done: int, total: int) -> None:
        progress(stage, kept + done, years)

    for part, columns, told in workers.search(problems, left, method, of_all):
        store.keep(part.number, part.first, columns, told)
    in_order = [store.told[part.number] for part in parts]
    return found_of(problems, store.columns(), in_order, time.perf_counter() - started)


class EndedError(Exception):
    """The run ended while a part was being searched; never leaves the workers."""


#: Parts of a device that are at work at once: while one is on the device, the host works at the others.
_AT_ONCE = 3
#: How often a wait looks for an interrupt.
_LOOK_SECONDS = 0.2


class LocalWorkers:
    """Threads of this process, some for each device that a method names, or for the host if its solver needs none.

    Parameters
    ----------
    method : Method

    Raises
    ------
    DeviceError
        If there is no such device.
    """

    def __init__(self, method: Method) -> None:
        devices = devices_of(method.solver, method.device)
        self.devices: list[str | None] = [*devices] or [None]
        self.place = ", ".join(sorted(set(devices.values())))

    def search(
        self, problems: RecordProblems, parts: list[Part], method: Method, progress: StageProgress
    ) -> Iterator[PartResult]:
        """Search each part on the device that is free first.

        A device that fails is left out, and its parts are done by the others; the last one's failure is raised.
        """
        pending, flying = deque(parts), dict[Future[PartResult], tuple[str | None, Part]]()
        devices, lost = list(self.devices), list[str]()
        ended, lock, done = Event(), Lock(), defaultdict[str, dict[int, int]](dict)
        years = sum(part.stop - part.first for part in parts)

        def told_by(part: Part) -> StageProgress:
            """What a part tells its progress to: it adds up all parts, and leaves out stages of fewer years."""

            def told(stage: str, count: int, total: int) -> None:
                if ended.is_set():
                    raise EndedError
                if total == part.stop - part.first:
                    with lock:
                        done[stage][part.number] = count
                        progress(stage, sum(done[stage].values()), years)

            return told

        with ThreadPoolExecutor(_AT_ONCE * len(devices)) as pool:
            try:
                while pending or flying:
                    with deferred():  # an interrupt in the midst of a future's lock would keep that for ever
                        busy = Counter(device for device, _ in flying.values())
                        for device in devices * _AT_ONCE:
                            if pending and busy[device] < _AT_ONCE:
                                part = pending.popleft()
                                there = replace(method, device=device)
                                years_of_part = problems.span(part.first, part.stop)
                                task = partial(searched, years_of_part, part, there, told_by(part), tuple(lost))
                                flying[pool.submit(task)] = device, part
                                busy[device] += 1
                        ended_now = wait(flying, _LOOK_SECONDS, FIRST_COMPLETED).done
                        errors = {future: future.exception() for future in ended_now}
                    for future, error in errors.items():
                        device, part = flying.pop(future)
                        if error is None:
                            yield future.result()
                        elif devices == [device] or not _of_device(error):
                            raise error
                        else:
                            pending.append(part)
                            if device in devices:
                                devices.remove(device)
                                words = f"The device {device} failed ({shortened(str(error))}) and was left out"
                                lost.append(f"{words}; the others solved its years.")
            except BaseException:
                ended.set()
                raise


def _of_device(error: BaseException) -> bool:
    """Whether another device may do better: not at a mistake of the user, nor after an interrupt."""
    return isinstance(error, DeviceError) or (isinstance(error, Exception) and not isinstance(error, InputError))


def searched(
    problems: RecordProblems, part: Part, method: Method, progress: StageProgress, lost: tuple[str, ...] = ()
) -> PartResult:
    """Search the problems of a part; `lost` tells of devices that were left out."""
    watch = Stopwatch()
    found = search(problems, method, progress, None, watch)
    told = told_of(replace(found, notes=(*lost, *found.notes)), watch.seconds)
    return part, columns_of(found), told


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
    known = [solutions.solver, second_run(solutions.solver), references.solver]
    codes = [known.index(source) for source in sources.of_problem] if sources else np.zeros(len(solutions))
    return columns | {_SOURCE: np.asarray(codes, np.int8)}


def told_of(found: Found, seconds: Mapping[str, float]) -> dict[str, Any]:
    """What a part tells of itself: who found it, where and how, in words and numbers that JSON has."""
    sources, (of_plan, of_references) = (
        found.sources,
        (
            {name: getattr(each, name) for name in ("solver", "device", "device_seconds")}
            for each in (found.solutions, found.references)
        ),
    )
    return {
        **of_plan,
        "settings": dict(sources.settings if sources else found.solutions.settings[0]),
        "second_settings": dict(sources.second_settings) if sources else None,
        "reference": of_references | {"settings": dict(found.references.settings[0])} if found.references else None,
        "notes": list(found.notes),
        "seconds": dict(seconds),
    }


def found_of(
    problems: RecordProblems, columns: Columns, parts: Sequence[Mapping[str, Any]], wall_seconds: float
) -> Found:
    """What was found in all parts, from their arrays joined and from what each told, in their order.

    Traces of the search are not kept.
    """

    def first(name: str) -> Any:
        return next((part[name] for part in parts if part[name]), None)

    def summed(seconds: Sequence[float | None]) -> float | None:
        known = [each for each in seconds if each is not None]
        return sum(known) if len(known) == len(seconds) else None

    def certified(whose: str, of_problems: Operation | None = None) -> Certified:
        return Certified(**{name: columns[f"{whose}_{name}"] for name in _WORTH}, operation=of_problems)

    settings, reference, operation = parts[0]["settings"], first("reference"), operation_of_columns(columns)
    device_names = Counter(part["device"] for part in parts)
    of_call: dict[str, Any] = {
        "solver": parts[0]["solver"],
        "device": ", ".join(name for name, _ in device_names.most_common()),  # the busiest first
        "wall_seconds": wall_seconds,
        "device_seconds": summed([part["device_seconds"] for part in parts]),
        **{name: columns[name] for name in _WORK},
    }
    host_seconds = dict(sum((Counter(part["seconds"]) for part in parts), Counter[str]()))
    positions = _positions(problems, operation)
    of_plan = certified("plan", operation if problems.horizon.is_year else None)
    solutions = stated_solutions(positions, of_plan, settings, **of_call, host_seconds_by_phase=host_seconds)
    references = Solutions.of([])
    if reference:
        none = np.zeros(len(problems), np.int64)
        best: Any = positions
        if _BEST in columns:
            best = np.split(columns[_BEST], np.cumsum([len(position) for position in positions])[:-1])
        else:
            best = np.full_like(positions, np.nan)
        seconds = summed([part["reference"]["device_seconds"] for part in parts if part["reference"]])
        stated = of_call | {"solver": reference["solver"], "generations": none, "evaluations": none}
        stated |= {"device_seconds": seconds, "host_seconds_by_phase": host_seconds}
        references = stated_solutions(best, certified("reference"), reference["settings"], **stated)
    sources = None
    if columns[_SOURCE].any():
        names = np.array([solutions.solver, second_run(solutions.solver), references.solver], object)
        engine = stated_solutions(solutions.position, certified("engine"), settings, **of_call)
        sources = Sources(tuple(names[columns[_SOURCE]].tolist()), engine, settings, first("second_settings") or {})
    notes = tuple(dict.fromkeys(note for part in parts for note in part["notes"]))
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
    program = ""
    with suppress(PackageNotFoundError):
        program = version("reservoir")
    identity = {
        "program": program,
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
    as_json: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    return as_json


class PartStore:
    """Keeps arrays of parts in memory, each with its rows in those of the whole, and what each part told of itself."""

    def __init__(self) -> None:
        #: What each part that is kept told of itself, by the part's number.
        self.told: dict[int, Mapping[str, Any]] = {}
        self._years = 0
        self._columns: dict[str, Any] = {}

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Make ready for parts of so many years, and take over those that are kept of the same run."""
        self._years = years

    def keep(self, part: int, first: int, columns: Columns, told: Mapping[str, Any]) -> None:
        """Keep a part whose first row is `first` of the whole."""
        for name, column in columns.items():
            whole = self._columns.setdefault(name, np.empty((self._years, *column.shape[1:]), column.dtype))
            whole[first : first + len(column)] = column
        self.told[part] = told

    def columns(self) -> Columns:
        """Arrays of the whole, once every part is kept."""
        for column in self._columns.values():
            column.setflags(write=False)
        return self._columns
