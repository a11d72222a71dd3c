"""An ensemble in a long CSV file: the same months of several members, or scenarios, in any order of rows."""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.water_years import month_name
from reservoir.io.ensemble_years import MemberSeries, refuse_codes, without_negative
from reservoir.io.inflow_csv.caveats import caveat_mistakes, caveat_of
from reservoir.io.inflow_csv.cells import parse_flow, parse_number
from reservoir.io.inflow_csv.companions import codes_beside, companion_notes, companion_of
from reservoir.io.inflow_csv.date_columns import date_columns
from reservoir.io.inflow_csv.lines import Content, content_of
from reservoir.io.inflow_csv.member_table import MemberLayout, MemberRows, NumberColumn, read_member_rows
from reservoir.io.inflow_csv.one_series import change_of_series, may_tell_series, several_series
from reservoir.io.inflow_csv.record import Record
from reservoir.io.inflow_csv.table import InflowTable, Row, cut
from reservoir.io.inflow_csv.units import choose_unit
from reservoir.io.inflow_csv.value_column import value_column
from reservoir.io.inflow_reading import InflowReading

#: Names of the column of members, in small letters.
MEMBER_NAMES = ("member", "scenario")
#: Bytes in which comments and the header stand.
_HEAD_BYTES = 131_072


class MemberFile(NamedTuple):
    """The header of a file with a column of members, and the comments above it."""

    file: str
    content: Content
    header: Row
    member: int
    date: int


def member_file(file: str) -> MemberFile | None:
    """Look for a column of members in a file; None where there is none, or no file that can be read."""
    with suppress(OSError, ValueError, InputError):
        if not stat.S_ISREG(os.stat(file).st_mode):
            return None  # a pipe is read once
        with open(file, "rb") as opened:
            head = opened.read(_HEAD_BYTES)
        content = content_of(head[: head.rfind(b"\n") + 1] or head)
        header = cut(content.lines[0], content.delimiter)
        names = [cell.casefold() for cell in header.cells] if isinstance(header, Row) else []
        member = next((names.index(name) for name in MEMBER_NAMES if name in names), None)
        found = date_columns(names)
        date = found.places[0] if found and len(found.places) == 1 else None
        if member is not None and date is not None and isinstance(header, Row):
            return MemberFile(file, content, header, member, date)
    return None


def read_ensemble(found: MemberFile, reading: InflowReading, first_month: int | None) -> Inflow:
    """Read an ensemble, see `reservoir.read_inflow`; raises InputError with the first mistakes of the file."""
    return ensemble_series(found, reading).inflow(first_month)


def ensemble_series(found: MemberFile, reading: InflowReading) -> MemberSeries:
    """The months of all members.

    Raises
    ------
    InputError
        With the first mistakes of the file.
    """
    header = found.header
    table = InflowTable(b"", header, (), found.content.comments, ())
    column = value_column(table, (found.member, found.date), reading.column)
    value = column.place
    name = header.cells[value]
    chosen = choose_unit(table, Record(value_column=name, unit_texts=((name, name),)), reading.unit)
    mistakes = [*column.mistakes(table), *chosen.mistakes, *caveat_mistakes(table)]
    if mistakes:
        raise InputError(mistakes)
    known = {place: each for place in column.companions if (each := companion_of(header.cells[place]))}
    signed = reading.negative is not None
    numbers = {value: NumberColumn(parse_number, -np.inf) if signed else NumberColumn(parse_flow)}
    numbers |= {place: NumberColumn(each.read, *each.range) for place, each in known.items()}
    rows = read_member_rows(
        MemberLayout(
            *(found.file, found.content.delimiter, header, found.member, found.date, numbers),
            tuple(place for place in column.passed_over if may_tell_series(header.cells[place])),
        )
    )
    first, series = _series(rows)
    _check_texts(rows)
    refuse_codes(series[value], first, rows.names)
    for place, each in known.items():
        refuse_codes(series[place], first, rows.names, header.cells[place], codes_beside(each.field, series[place]))
    beside = {each.field: series[place] * each.size for place, each in known.items()}
    losses = companion_notes(beside, {each.field: header.cells[at] for at, each in known.items()}, MONTHS_PER_YEAR)
    inflow, negative = without_negative(series[value], chosen.unit, first, reading.negative)
    return MemberSeries(
        first,
        inflow,
        rows.names,
        chosen.unit,
        beside,
        {
            "caveat": caveat_of(table),
            "source": found.file,
            "sha256": _sha256(found.file),
            "unit_from": chosen.said_by,
            "notes": (*column.notes(header.cells), *losses, *negative),
            "reading": reading.as_dict(),
            "allow_negative": reading.negative == "keep",
        },
    )


def _series(rows: MemberRows) -> tuple[int, dict[int, NDArray[np.float64]]]:
    """The first month, and each column of numbers, shape (members, months).

    Raises
    ------
    InputError
        If a month of a member is there twice or missing.
    """
    first, last = int(rows.month.min()), int(rows.month.max())
    months, members = last - first + 1, len(rows.names)
    place = rows.member.astype(np.int64) * months + (rows.month - first)
    if len(place) != members * months or (place[1:] <= place[:-1]).any():
        count = np.bincount(place, minlength=members * months) if members * months <= 20 * len(place) else None
        if count is None or (count != 1).any():
            raise InputError(_not_rectangular(rows, place, months, first))
    series: dict[int, Any] = {}
    for column, values in rows.values.items():
        series[column] = np.empty(members * months)
        series[column][place] = values
    return first, {column: values.reshape(members, months) for column, values in series.items()}


def _check_texts(rows: MemberRows) -> None:
    """Refuse members whose months are those of several series: InputError."""
    order = np.lexsort((rows.month, rows.member))
    starts = np.flatnonzero(np.diff(rows.member[order], prepend=-1))
    for place, (texts, codes) in rows.texts.items():
        if len(texts) < 2:
            continue
        ordered, name = codes[order], rows.layout.header.cells[place]
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        for member in np.flatnonzero(low < high).tolist():
            stop = starts[member + 1] if member + 1 < len(starts) else len(ordered)
            change = change_of_series(name, [texts[code] for code in ordered[starts[member] : stop].tolist()])
            if change:
                refused, row = several_series(name, change), int(order[starts[member] + change.place])
                raise InputError(rows.at(row, refused.problem, refused.expected, refused.mend, place, change.after))


def _not_rectangular(rows: MemberRows, place: NDArray[np.int64], months: int, first: int) -> Mistake:
    """The first month that is there twice, else the first that is missing."""
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    twice = np.flatnonzero(ordered[1:] == ordered[:-1])
    if twice.size:
        again = int(order[twice + 1].min())
        month, member = month_name(int(rows.month[again])), rows.names[rows.member[again]]
        problem, expected = f"{month} of member {member} appears twice", "one row per member and month"
        return rows.at(again, problem, expected, "delete one of the rows", rows.layout.date, month)
    moved = np.flatnonzero(ordered != np.arange(len(ordered)))
    missing = int(moved[0]) if moved.size else len(ordered)
    member = rows.names[missing // months]
    problem = f"member {member} has no {month_name(first + missing % months)}"
    span = f"{month_name(first)} to {month_name(first + months - 1)}"
    mend = "add the missing rows, or keep only months that all members have"
    return Mistake(problem, f"{span} of every member", mend)


def _sha256(file: str) -> str:
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
