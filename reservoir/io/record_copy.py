"""A record as a CSV file that is read back as it was planned, where the file that was read is none."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.water_years import step_name
from reservoir.io.inflow_netcdf import is_netcdf
from reservoir.io.workbook import csv_of_workbook, is_workbook

#: What a copy is: the file itself, the sheet of a workbook that was read, or the flows that were planned.
FILE, SHEET, VALUES = "file", "sheet", "values"


class RecordCopy(NamedTuple):
    """A copy of a record.

    Parameters
    ----------
    kind : str
    content : bytes
        A CSV file.
    """

    kind: str
    content: bytes

    @property
    def told(self) -> dict[str, str]:
        """What ``plan.json`` says of it."""
        return {"kind": self.kind, "sha256": _sha256(self.content)}


def record_copy(record: Inflow) -> RecordCopy | None:
    """The file of a record if it still says what was read, else what says the same.

    None of an ensemble from a file, which may be large, and where the tables of a plan say everything.
    """
    source = record.source
    content = record.content or (b"" if record.members is not None or is_netcdf(source) else _still_there(source))
    if content and _sha256(content) == record.sha256:
        return RecordCopy(SHEET, csv_of_workbook(content)) if is_workbook(content) else RecordCopy(FILE, content)
    beside = [name for name in COMPANIONS if getattr(record, name) is not None]
    whole = record.calendar.step is TimeStep.MONTH and record.calendar.steps == TimeStep.MONTH.per_year
    if record.members is not None or not whole or not (beside or is_netcdf(source)):
        return None
    return RecordCopy(VALUES, _written(record, beside))


def reading_of(kind: str, record: Inflow) -> Mapping[str, Any]:
    """How a copy is to be read, as arguments of `read_inflow`."""
    if kind == VALUES:
        return {"negative": "keep"} if record.allow_negative else {}
    return record.reading


def _written(record: Inflow, beside: list[str]) -> bytes:
    """Every digit of the flows and of what stands beside them; as powers of ten, no value is taken for a code."""
    columns = [record.flow_m3s, *(getattr(record, name) for name in beside)]
    rows = zip(*(column.ravel().tolist() for column in columns), strict=True)
    lines = [",".join(("date", "inflow_m3s", *beside))]
    for place, values in enumerate(rows):
        lines.append(",".join((step_name(record.calendar, place), *(f"{value:.16e}" for value in values))))
    return ("\n".join(lines) + "\n").encode()


def _still_there(source: str) -> bytes:
    """What the file holds now."""
    return Path(source).read_bytes() if source and Path(source).is_file() else b""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
