"""A plan as arrays and copies of its inputs in its folder, and read from there: checked by hashes, nothing computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import TimeStep, step_name
from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.containers import is_netcdf
from reservoir.io.plan_folder import files
from reservoir.io.plan_folder.arrays import Arrays, read_arrays, record_arrays, saved_record
from reservoir.io.plan_folder.files import COPY, FILES, INFLOW, PROVENANCE, RESERVOIR
from reservoir.io.records.choice import record_sheet
from reservoir.io.records.columns import FROM_COLUMN, companion_notes
from reservoir.io.reservoir_toml.reader import read_reservoir, reservoir_of
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.io.workbook import WORKBOOK
from reservoir.planning.checks import Check
from reservoir.planning.columns import PROVEN_BOUND, PROVEN_GAP
from reservoir.planning.firm_power import firm_power_of_problems, promising_all
from reservoir.planning.notes import notes_again, plan_notes
from reservoir.planning.parts import columns_of, operation_of_columns, plan_of
from reservoir.planning.plan import Plan
from reservoir.planning.planned_record import Proofs
from reservoir.planning.start import PlanStart, with_end_value
from reservoir.planning.water_values import WaterValues
from reservoir.problems.reservoir.record import record_problems

if TYPE_CHECKING:
    from reservoir.planning.system_plan import SystemPlan

#: What a copy of the record is: the file itself, the sheet of a workbook that was read, or the flows that were planned.
_FILE, _SHEET, _VALUES = "file", "sheet", "values"
#: Water values at the end of each step, and the columns of their table, one beside the other.
_WATER_VALUES, _WATER_VALUE_TABLE = "water_value_gwh_per_hm3", "water_value_table"
#: Columns of that table.
_TABLE = ("month", "storage_hm3", "level_m", "mean_gwh_per_hm3", "q10_gwh_per_hm3", "q90_gwh_per_hm3", "years")
#: What a provenance of somebody's own making, hash and all, raises where a plan is made of it.
_UNSOUND = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, ArithmeticError)
#: What must follow from the releases, and by how much of the largest value it may differ: the last digits.
FOLLOWING = ("release_m3s", "turbined_m3s", "storage_hm3", "level_m", "head_m", "power_mw", "energy_gwh", "violation")
_ROUNDING = 1e-9


Planned = TypeVar("Planned")


class SavedPlan(NamedTuple, Generic[Planned]):
    """A plan from its folder."""

    folder: Path
    #: With all digits; its solutions have no convergence trace.
    plan: Planned
    #: Content of ``plan.json``.
    origin: Mapping[str, Any]

    @property
    def checks(self) -> list[Check]:
        """The acceptance table that was written with the plan."""
        checks = []
        for stated in self.origin["checks"]:
            value = float("nan") if stated["value"] is None else float(stated["value"])
            threshold = None if stated["threshold"] is None else float(stated["threshold"])
            checks.append(Check(str(stated["check"]), value, threshold, bool(stated.get("at_least", False))))
        return checks


def plan_arrays(plan: Plan) -> dict[str, NDArray[Any]]:
    """Every array that a plan is read from, by name; the rest of it is in ``plan.json`` and the reservoir file."""
    arrays = columns_of(plan)
    if not plan.sources:
        arrays = {name: array for name, array in arrays.items() if not name.startswith("engine_")}
    if not plan.operation.missing_m3s.any():
        del arrays["missing_m3s"]
    values = plan.water_values
    if values is not None:
        arrays |= {_WATER_VALUES: values.month_end_gwh_per_hm3}
        arrays |= {_WATER_VALUE_TABLE: values.table[list(_TABLE)].to_numpy(np.float64)}
    return {**record_arrays(plan.inflow), **arrays, **proof_arrays(plan)}


def proof_arrays(plan: Plan | SystemPlan) -> dict[str, NDArray[Any]]:
    """What is proved of a plan's problems, if anything."""
    return {} if plan.proofs is None else {PROVEN_BOUND: plan.proofs.bound, PROVEN_GAP: plan.proofs.gap}


def copy_inputs(plan: Plan, folder: Path) -> dict[str, dict[str, Any]]:
    """Copy the files that were read, as far as they still say what was planned.

    Of a workbook the sheet that was read is written as CSV, of NetCDF the values; a reservoir that was made or changed
    in Python as a reservoir file, unless no file can contain it.

    Returns
    -------
    dict
        What ``plan.json`` says of the reservoir's file: ``file`` and ``sha256``, empty without one; and of a copy of
        the record that is not the file itself.
    """
    kind, record = _record_copy(plan.inflow)
    if kind:
        (folder / INFLOW).write_bytes(record)
    plant = plan.start.reservoir if plan.start else plan.reservoir
    content, file = plant.content or _still_there(plant.source), Path(plant.source).name
    read = reservoir_of(content, plant.source) if sha256(content).hexdigest() == plant.sha256 else None
    # It may have been changed in Python since it was read.
    if not read or read.name != plant.name or reservoir_digests(read) != reservoir_digests(plant):
        content, file = b"", ""
        with suppress(InputError):  # where no file can contain it, there is none
            content = write_reservoir(plant).encode()
    if content:
        (folder / RESERVOIR).write_bytes(content)
    copied = {COPY: {"kind": kind, "sha256": sha256(record).hexdigest()}} if kind not in ("", _FILE) else {}
    return {"reservoir": {"file": file, "sha256": sha256(content).hexdigest() if content else ""}, "inflow": copied}


def _record_copy(record: Inflow) -> tuple[str, bytes]:
    """What a copy of a record is, and its content: the file if it still says what was read, else what says the same.

    None of an ensemble from a file, which may be large, and where the tables of a plan say everything.
    """
    source = record.source
    content = record.content or (b"" if record.members is not None or is_netcdf(source) else _still_there(source))
    if content and sha256(content).hexdigest() == record.sha256:
        if content.startswith(WORKBOOK):
            return _SHEET, record_sheet(content, tuple(record.reading.get("sheet", ())))[0].csv()
        return _FILE, content
    beside = [name for name in COMPANIONS if getattr(record, name) is not None]
    whole = record.calendar.step is TimeStep.MONTH and record.calendar.steps == TimeStep.MONTH.per_year
    if record.members is not None or not whole or not (beside or is_netcdf(source)):
        return "", b""
    # Every digit; as powers of ten, no value is taken for a code.
    columns = [record.flow_m3s, *(getattr(record, name) for name in beside)]
    lines = [",".join(("date", "inflow_m3s", *beside))]
    for place, values in enumerate(zip(*(column.ravel().tolist() for column in columns), strict=True)):
        lines.append(",".join((step_name(record.calendar, place), *(f"{value:.16e}" for value in values))))
    return _VALUES, ("\n".join(lines) + "\n").encode()


def reading_of_copy(origin: Mapping[str, Any]) -> dict[str, Any]:
    """How the copy of a record is to be read, as arguments of `reservoir.read_inflow`; `origin` is ``plan.json``.

    As the record was, of which a sheet has no name any more. Flows that were planned, which those of a system are,
    need no more than leave to be negative.
    """
    several = files.SYSTEM in origin[FILES]
    records = list(origin["inflows"].values()) if several else [origin["inflow"]]
    kind = _VALUES if several else records[0].get(COPY, {}).get("kind", _FILE)
    readings = [dict(record.get("reading", {})) for record in records]
    if kind == _VALUES:
        return {"negative": "keep"} if any(each.get("negative") == "keep" for each in readings) else {}
    return {name: value for name, value in readings[0].items() if (kind, name) != (_SHEET, "sheet")}


def _still_there(source: str) -> bytes:
    """What an input's file holds now: inputs keep the bytes that they were read from, since a pipe is empty by now."""
    return Path(source).read_bytes() if source and Path(source).is_file() else b""


def read_plan(folder: Path) -> SavedPlan[Plan]:
    """Read a plan's folder.

    Raises
    ------
    InputError
        If it is no such folder, or with every file that is missing or was changed.
    """

    def planned(origin: Mapping[str, Any], arrays: Arrays) -> Plan:
        if files.SYSTEM in origin[FILES]:
            mend = "plan one of its reservoirs by itself"
            raise InputError("is the plan of a system", "the plan of one reservoir", mend, str(folder))
        if RESERVOIR not in origin[FILES]:
            problem = "is missing: the reservoir was made in Python, and no reservoir file could contain it"
            mend = "plan.reservoir.to_toml() says why; save the plan again, or fit the rules in Python"
            raise InputError(problem, mend=mend, file=str(folder / RESERVOIR))
        return _plan(folder, origin, arrays)

    return saved_plan(folder, planned)


def saved_plan(folder: Path, planned: Callable[[Mapping[str, Any], Arrays], Planned]) -> SavedPlan[Planned]:
    """What a function makes of a plan's ``plan.json`` and arrays, which are as they were written.

    Raises
    ------
    InputError
        As `read_plan`.
    """
    origin = files.read_provenance(folder)
    try:
        files.check_files(folder, origin[FILES])
        return SavedPlan(folder, planned(origin, read_arrays(folder, origin[FILES])), origin)
    except InputError as error:
        path = str(folder / PROVENANCE)
        raise InputError([replace(mistake, file=mistake.file or path) for mistake in error.mistakes]) from error
    except _UNSOUND as error:
        raise files.changed(folder / PROVENANCE, f"does not describe the files of this folder ({error!r})") from error


def _plan(folder: Path, origin: Mapping[str, Any], arrays: Arrays) -> Plan:
    plant, horizon, start = read_reservoir(folder / RESERVOIR), Horizon.of(origin["horizon"]), None
    if origin["start"]:
        start = PlanStart(origin["start"]["month"], origin["start"]["storage_hm3"], horizon, plant)
        plant, horizon = start.begun, Horizon()
    inflow = saved_record(origin, arrays)
    problems = record_problems(with_end_value(plant, origin.get("end_value_gwh_per_hm3")), inflow, horizon)
    if plant.objective.is_firm:
        problems = promising_all(problems, firm_power_of_problems(problems, operation_of_columns(arrays)))
    reference = dict(origin["reference"] or {})
    call = {
        **{name: origin[name] for name in ("solver", "device", "device_seconds", "settings")},
        "second_settings": (origin["second_run"] or {}).get("settings"),
        "reference": reference and {"solver": reference.pop("solver"), "settings": reference, "device_seconds": None},
        "notes": (),
        "seconds": {},
    }
    seconds = dict(origin["seconds"])
    plan = plan_of(problems, arrays, [call], float(seconds.get(origin["solver"], 0.0)))
    values = proofs = None
    if _WATER_VALUES in arrays:
        import pandas as pd

        table = pd.DataFrame(arrays[_WATER_VALUE_TABLE], columns=list(_TABLE))
        values = WaterValues(arrays[_WATER_VALUES], table.astype({"month": np.int64, "years": np.int64}))
    if PROVEN_BOUND in arrays:
        stated = origin["proof"]
        proofs = Proofs(arrays[PROVEN_BOUND], arrays[PROVEN_GAP], float(stated["gap_asked"]), stated["infeasible"])
    stopped = origin["stopped"] or ""
    of_inputs = (*plant.notes, *InflowCheck(inflow, plant).doubts, *_record_notes(inflow, origin["notes"]))
    of_plan = plan_notes(plant, problems, plan.operation, start, stopped)
    notes, units = notes_again(origin["notes"], (*of_inputs, *of_plan)), UnitSystem.of(origin["units"]["system"])
    about: dict[str, Any] = {"notes": notes, "seconds": seconds, "stopped": stopped, "units": units, "proofs": proofs}
    return replace(plan, reservoir=plant, inflow=inflow, start=start, saved_water_values=values, **about)


def _record_notes(record: Inflow, texts: Sequence[str]) -> Iterator[str]:
    """The note on the withdrawals that were read beside the inflow, if it is among some texts."""
    withdrawal = record.withdrawal_m3s
    for note, _, column in (text.partition(FROM_COLUMN) for text in texts):
        if withdrawal is not None and note.startswith("withdrawal "):
            yield from companion_notes({"withdrawal_m3s": (column, withdrawal)}, record.steps)


def require_follows(saved: SavedPlan[Plan]) -> None:
    """Refuse a plan whose operation is not what its releases come to, computed again from the reservoir file.

    Raises
    ------
    InputError
        With the first year and step of each array that differs by more than rounding.
    """
    plan = saved.plan
    again = plan.problems.operate(plan.solutions.position)
    stated, follow = ({name: getattr(each, name) for name in FOLLOWING} for each in (plan.operation, again))
    require_same(saved.folder, stated, follow, plan.inflow.labels, RESERVOIR)


def require_same(folder: Path, stated: Arrays, follow: Arrays, labels: Sequence[str], file: str) -> None:
    """Refuse arrays of a plan, the first axis the years, the last the steps, that are not those that follow.

    Raises
    ------
    InputError
        As `require_follows`.
    """
    mistakes = []
    for name, expected in follow.items():
        wrong = np.argwhere(~(np.abs(stated[name] - expected) <= _ROUNDING * (1 + float(np.abs(expected).max()))))
        if len(wrong):
            first = tuple(wrong[0].tolist())
            problem = f"does not match the releases and {file} in {labels[first[0]]}, step {first[-1] + 1}"
            array, value = str(folder / files.ARRAYS / f"{name}.npy"), float(stated[name][first])
            mistakes.append(Mistake(problem, f"{expected[first]:.10g}", files.AGAIN, array, value=value))
    if mistakes:
        raise InputError(mistakes)
