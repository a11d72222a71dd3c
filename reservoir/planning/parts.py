"""Search a large record in parts: which years a part has, who searches it, what is kept of it, and the whole of all."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError, shortened
from reservoir.hydro.inflow import COMPANIONS
from reservoir.hydro.operation import Operation
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.planning.columns import AFTER_PROOF, second_run
from reservoir.planning.firm_power import FirmBounds
from reservoir.planning.planned_record import Plan, Sources
from reservoir.planning.search import Method, search, stated_solutions
from reservoir.planning.solving import StageProgress
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.runtime import deferred
from reservoir.solvers import SOLVERS, Solutions, devices_of

if TYPE_CHECKING:
    from reservoir.planning.system_search import Found

#: Years of a part, at most. The same everywhere: which years are solved again depends on the sum of the gaps of a part.
PART_YEARS = 4096
#: Problems of a system take longer: there are about so many parts of them, of at least so many problems each.
_SYSTEM_PARTS, _SYSTEM_PART = 64, 8
#: What the search of all parts is called among the stages of a plan.
PARTS_STAGE = "search"


class Part(NamedTuple):
    """Some years of a record, or problems of a system: the number of the part, and their places."""

    number: int
    first: int
    stop: int

    @property
    def years(self) -> int:
        """How many years it has."""
        return self.stop - self.first


#: Arrays with a row for each year, or for each problem.
Columns = Mapping[str, NDArray[Any]]
#: A part that was searched: its arrays, and its report (`report_of`).
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
) -> Any:
    """Search the parts of a record of years that are not kept yet, keep each, and join all.

    `progress` is told the years of all parts, also of those that were kept before. What all come to is a `Plan`, or of
    problems of a system, which may be longer than years, `Found`.
    """
    started, years, of_system = time.perf_counter(), len(problems), isinstance(problems.inflow, SiteInflows)
    largest = min(PART_YEARS, max(_SYSTEM_PART, years // _SYSTEM_PARTS)) if of_system else PART_YEARS
    count = -(-years // largest)
    edges = pairwise(years * number // count for number in range(count + 1))
    parts = [Part(number, first, stop) for number, (first, stop) in enumerate(edges)]
    store.begin(run_identity(problems, method, workers.place) | {"parts": len(parts)}, len(problems))
    left = [part for part in parts if part.number not in store.reports]
    done_before = years - sum(part.years for part in left)

    def of_all(stage: str, done: float, total: int) -> None:
        progress(stage, done_before + done, years)

    for part, columns, report in workers.search(problems, left, method, of_all):
        store.keep(part.number, part.first, columns, report)
    reports = [store.reports[part.number] for part in parts]
    whole = found_of if of_system else plan_of
    return whole(problems, store.columns(), reports, time.perf_counter() - started)


#: Parts of a device that are at work at once: while one is on the device, the host works at the others.
_AT_ONCE = 3
#: How often a wait looks for an interrupt.
_LOOK_SECONDS = 0.2


class LocalWorkers:
    """Threads of this process, some for each device that a method names, or for the host if its solver needs none.

    Raises DeviceError if there is no such device.
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
        years = sum(part.years for part in parts)

        def add_up(part: Part, stage: str, count: int, total: int) -> None:
            """Tell the progress of all parts; stages of fewer years than a part's are left out."""
            if ended.is_set():
                raise CancelledError  # which never leaves the workers
            if total == part.years:
                with lock:
                    done[stage][part.number] = count
                    progress(stage, sum(done[stage].values()), years)

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
                                task = partial(searched, years_of_part, part, there, partial(add_up, part), tuple(lost))
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
    """Search the problems of a part; `lost` are sentences on devices that were left out."""
    if isinstance(problems.inflow, SiteInflows):
        from reservoir.planning.system_search import search_system

        found = search_system(problems, method, progress, Stopwatch())
        return part, columns_of_found(found), report_of_found(found)
    plan = search(problems, method, progress, None, Stopwatch())
    return part, columns_of(plan), report_of(replace(plan, notes=(*lost, *plan.notes)))


#: Arrays of an operation that only reservoirs with losses or demands have, and those of all.
_CONDITIONS = ("evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s")
_OPERATED = tuple(each.name for each in fields(Operation) if each.name not in (*_CONDITIONS, "has_conditions"))
#: Of an operation: zeros where they are not kept.
_MISSING = "missing_m3s"
#: Numbers of solutions: of the schedules of the plan, of the solver's own and of the references.
_NUMBERS = ("fitness", "benefit", "violation")
_WORK = ("generations", "evaluations")
#: Whose schedule a year holds: the place in the list of a solver, its second run, its reference, or `AFTER_PROOF`.
_SOURCE = "source"
#: Positions of the references of problems that are no years, one behind the other: the energy of each year follows from
#: them.
_BEST = "reference_position"
#: Of a system: positions, and the terms of the sum of all plants, by their names; as long as those of the longest
#: problem. The source is the place in the list of solvers.
_POSITION, _TERM = "position", "term_{}"
#: Of a firm power: what is not kept, and whether that is proved.
_NOT_KEPT, _PROVED = "firm_not_kept_mw", "firm_proved"


def columns_of(plan: Plan) -> dict[str, NDArray[Any]]:
    """Arrays of a plan: of the operation a row for each year, of solutions a number for each problem."""
    operation, solutions, references, sources = plan.operation, plan.solutions, plan.references, plan.sources
    columns = {name: getattr(operation, name) for name in _OPERATED}
    columns |= {name: getattr(operation, name) for name in _CONDITIONS if operation.has_conditions}
    schedules = {"plan": solutions, "engine": plan.engine_solutions}
    schedules |= {"reference": references} if references else {}
    columns |= {f"{whose}_{name}": getattr(each, name) for whose, each in schedules.items() for name in _NUMBERS}
    columns |= {name: getattr(solutions, name) for name in _WORK}
    if plan.firm_bounds is not None:
        columns |= {_NOT_KEPT: plan.firm_bounds.not_kept_mw, _PROVED: plan.firm_bounds.proved.astype(np.int8)}
    if references and not plan.horizon.is_year:
        columns[_BEST] = np.concatenate(references.position)
    known = [solutions.solver, second_run(solutions.solver), references.solver, AFTER_PROOF]
    codes = [known.index(source) for source in sources.of_problem] if sources else np.zeros(len(solutions))
    return columns | {_SOURCE: np.asarray(codes, np.int8)}


def report_of(plan: Plan) -> dict[str, Any]:
    """What the arrays of a part do not say, as JSON has it: who searched it, where and how, notes and seconds."""
    of_plan, of_references = (
        {name: getattr(each, name) for name in ("solver", "device", "device_seconds")}
        for each in (plan.solutions, plan.references)
    )
    return {
        **of_plan,
        "settings": dict(plan.settings),
        "second_settings": dict(plan.sources.second_settings) if plan.sources else None,
        "reference": of_references | {"settings": dict(plan.references.settings[0])} if plan.references else None,
        "notes": list(plan.notes),
        "seconds": dict(plan.seconds),
    }


def columns_of_found(found: Found) -> dict[str, NDArray[Any]]:
    """Arrays of schedules of a system, a row for each problem."""
    solutions, batches, known = found.solutions, found.problems.batches, list(SOLVERS)
    columns = {name: getattr(solutions, name) for name in (*_NUMBERS, *_WORK)}
    columns[_POSITION] = _padded(list(solutions.position), batches[0].dimension)
    first: Any = batches[0]
    for name in first.terms:
        rows = [row for batch in batches for row in batch.terms[name]]  # type: ignore[attr-defined] # years of a system
        columns[_TERM.format(name)] = _padded(rows, first.steps)
    return columns | {_SOURCE: np.array([known.index(source) for source in found.sources], np.int8)}


def _padded(rows: Sequence[NDArray[np.float64]], width: int) -> NDArray[np.float64]:
    """Rows of one width, at least 1, as no array without one is kept."""
    whole = np.full((len(rows), max(width, 1)), np.nan)
    for place, row in enumerate(rows):
        whole[place, : len(row)] = row
    return whole


def report_of_found(found: Found) -> dict[str, Any]:
    """What the arrays do not say, as `report_of` does."""
    first = found.solutions[0]
    of_call = {name: getattr(first, name) for name in ("solver", "device", "device_seconds")}
    return {**of_call, "settings": dict(first.settings), "notes": list(found.notes), "seconds": {}}


def found_of(
    problems: RecordProblems, columns: Columns, reports: Sequence[Mapping[str, Any]], wall_seconds: float
) -> Found:
    """Schedules of all parts of a system, as `plan_of` joins them."""
    from reservoir.planning.system_search import Found

    batches, positions, known = list[Any](), list[NDArray[np.float64]](), list(SOLVERS)
    for places, batch in problems.placed_batches:
        years: Any = batch
        terms = {name: columns[_TERM.format(name)][places, : years.steps] for name in years.terms}
        batches.append(years.with_terms(**terms))
        positions += list(np.array(columns[_POSITION][places, : years.dimension]))
    numbers = {name: columns[name] for name in _NUMBERS}
    of_call = _of_call(columns, reports, wall_seconds)
    solutions = stated_solutions(positions, reports[0]["settings"], **numbers, **of_call)
    sources = tuple(known[place] for place in columns[_SOURCE].tolist())
    return Found(replace(problems, batches=tuple(batches)), solutions, sources, _notes(reports))


def plan_of(
    problems: RecordProblems, columns: Columns, reports: Sequence[Mapping[str, Any]], wall_seconds: float
) -> Plan:
    """The plan of all parts, from their arrays joined and from their reports in order; without traces of the search."""

    def first(name: str) -> Any:
        return next((report[name] for report in reports if report[name]), None)

    def numbers(whose: str) -> dict[str, Any]:
        return {name: columns[f"{whose}_{name}"] for name in _NUMBERS}

    settings, reference, operation = reports[0]["settings"], first("reference"), operation_of_columns(columns)
    host_seconds = dict(sum((Counter(report["seconds"]) for report in reports), Counter[str]()))
    of_call = _of_call(columns, reports, wall_seconds)
    of_all = of_call | {"host_seconds_by_phase": host_seconds}
    positions = _positions(problems, operation)
    of_years = operation if problems.horizon.is_year else None
    solutions = stated_solutions(positions, settings, **numbers("plan"), **of_all, operation=of_years)
    references = Solutions.of([])
    if reference:
        none = np.zeros(len(problems), np.int64)
        best: Any = np.full_like(positions, np.nan) if _BEST not in columns else None
        if best is None:
            best = np.split(columns[_BEST], np.cumsum([len(position) for position in positions])[:-1])
        seconds = _summed([report["reference"]["device_seconds"] for report in reports if report["reference"]])
        of_reference = of_all | {"solver": reference["solver"], "device_seconds": seconds} | dict.fromkeys(_WORK, none)
        references = stated_solutions(best, reference["settings"], **numbers("reference"), **of_reference)
    sources = None
    if columns[_SOURCE].any():
        names = np.array([solutions.solver, second_run(solutions.solver), references.solver, AFTER_PROOF], object)
        engine = stated_solutions(solutions.position, settings, **numbers("engine"), **of_call)
        sources = Sources(tuple(names[columns[_SOURCE]].tolist()), engine, settings, first("second_settings") or {})
    bounds = FirmBounds(columns[_NOT_KEPT], columns[_PROVED] > 0) if _NOT_KEPT in columns else None
    schedules = problems, operation, solutions, references, _notes(reports)
    return Plan(problems.model.reservoir, problems.inflow, *schedules, {}, sources=sources, firm_bounds=bounds)


def _of_call(columns: Columns, reports: Sequence[Mapping[str, Any]], wall_seconds: float) -> dict[str, Any]:
    """What solutions tell of the calls that searched all parts."""
    device_names = Counter(report["device"] for report in reports)
    return {
        "solver": reports[0]["solver"],
        "device": ", ".join(name for name, _ in device_names.most_common()),  # the busiest first
        "wall_seconds": wall_seconds,
        "device_seconds": _summed([report["device_seconds"] for report in reports]),
        **{name: columns[name] for name in _WORK},
    }


def _summed(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None


def _notes(reports: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for report in reports for note in report["notes"]))


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
    arrays = {name: columns[name] for name in (*_OPERATED, *_CONDITIONS) if name in columns}
    none = dict.fromkeys((_MISSING, *_CONDITIONS), np.broadcast_to(0.0, arrays["release_m3s"].shape))
    return Operation(**none | arrays, has_conditions=_CONDITIONS[0] in arrays)


def run_identity(problems: RecordProblems, method: Method, place: str) -> dict[str, Any]:
    """Everything that decides what a run finds, as JSON has it; `place` names the devices that search."""
    records: Any = problems.inflow
    hashed, program, of_what = hashlib.sha256(), "", dict[str, Any]()
    of_system = isinstance(records, SiteInflows)
    for inflow in records.values() if of_system else [records]:
        for each in (inflow.flow_m3s, inflow.rng_stream_ids, *(getattr(inflow, name) for name in COMPANIONS)):
            hashed.update(b"" if each is None else np.ascontiguousarray(each).tobytes())
    if of_system:
        text = replace(problems.model.system, inflow_of={}).to_toml()
        of_what = {"system": hashlib.sha256(text.encode()).hexdigest(), "horizon": str(problems.horizon)}
    else:
        reservoir = problems.model.reservoir
        of_what = {"reservoir": reservoir_digests(reservoir) | {"end value": reservoir.end_value_gwh_per_hm3}}
    with suppress(PackageNotFoundError):
        program = version("reservoir")
    identity = {
        "program": program,
        **of_what,
        "inflow": hashed.hexdigest(),
        "years": records.years,
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
    """Keeps arrays of parts in memory, each with its rows in those of the whole, and the report of each part."""

    def __init__(self) -> None:
        #: The report of each part that is kept, by the part's number.
        self.reports: dict[int, Mapping[str, Any]] = {}
        self._years = 0
        self._columns: dict[str, Any] = {}

    def begin(self, run: Mapping[str, Any], years: int) -> None:
        """Make ready for parts of so many years, and take over those that are kept of the same run."""
        self._years = years

    def keep(self, part: int, first: int, columns: Columns, report: Mapping[str, Any]) -> None:
        """Keep a part whose first row is `first` of the whole."""
        for name, column in columns.items():
            whole = self._columns.setdefault(name, np.empty((self._years, *column.shape[1:]), column.dtype))
            whole[first : first + len(column)] = column
        self.reports[part] = report

    def columns(self) -> Columns:
        """Arrays of the whole, once every part is kept."""
        for column in self._columns.values():
            column.setflags(write=False)
        return self._columns
