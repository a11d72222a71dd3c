"""Read a schedule by anyone: a CSV file, or the sheet of a workbook, with a release for each step of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro import attributes, units
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import Inflow, first_days
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.io.plan_folder.tables import read_cells, require_one_of_each
from reservoir.io.records.dates import AS_WRITTEN, ORDERS, DateStyle, Stamp, date_columns, parse_date, style_of
from reservoir.planning.checked_schedule import CLAIMS, RELEASE, SHORTAGE, GivenSchedule
from reservoir.planning.columns import FIRST_DAY, meanings
from reservoir.text.data_file import encoding_notes

DATE, _MONTH = "date", "month"
#: Characters of a day, and of a month, as 1953-01.
_LENGTH = (10, 7)
_MEND = "correct the file, and try again"
#: Columns of numbers that are read; what the units of each are, by the end of its name; and what it may be.
_READ = (RELEASE, SHORTAGE, *CLAIMS)
_UNITS = {"m3s": units.FLOW_M3S, "hm3": units.VOLUME_HM3, "m": units.LENGTH_M, "mw": units.POWER_MW}
_UNITS |= {"gwh": units.ENERGY_GWH}
_RANGES = {RELEASE: attributes.FLOW_M3S, SHORTAGE: attributes.FLOW_M3S}
#: Of what follows: claims of no schedule are as large.
_ANY = attributes.Range(-1e12, 1e12)


def read_given_schedule(
    path: Path, inflow: Inflow, sheet: Sequence[str] = (), asked: DateStyle = AS_WRITTEN
) -> GivenSchedule:
    """Read releases of consecutive steps of a record, whole water years of it; `sheet` names those of a workbook.

    `asked` is what the caller says of dates: their order, where neither they nor the steps of the record show it.

    Raises
    ------
    InputError
        If the file cannot be read, has no releases or several columns of one quantity, a cell is no number or none of
        any schedule, or a step is missing, twice, or not of the record.
    """
    return _given(path, read_cells(path, _MEND, sheet), inflow, asked)


def read_given_schedules(
    path: Path, inflows: SiteInflows, sheet: Sequence[str] = (), asked: DateStyle = AS_WRITTEN
) -> dict[str, GivenSchedule]:
    """Read the same for reservoirs of a system, by their names: those that a file has.

    It has a column ``reservoir``, as the schedule of a joint plan, or a column of releases for each, by its name and a
    unit: ``upper_m3s``.

    Raises
    ------
    InputError
        As `read_given_schedule`; if a row is of no reservoir of the system, or reservoirs have other years.
    """
    cells = read_cells(path, _MEND, sheet)
    site = next((heading for heading in cells.columns if heading.strip().lower() == "reservoir"), None)
    called: dict[str, dict[str, str]] = {}
    if site is None:
        for heading in cells.columns:
            begins = [name for name in inflows if heading.startswith(f"{name}_")]
            if begins:
                name = max(begins, key=len)
                called.setdefault(name, {})[heading] = f"release{heading.removeprefix(name)}"
        of_each = {name: cells for name in inflows if name in called}
    else:
        names = cells[site].str.strip()
        if len(unknown := names[~names.isin([*inflows])]):
            problem, expected = "is no reservoir of the system", f"one of {', '.join(inflows)}"
            raise InputError(problem, expected, _MEND, str(path), int(unknown.index[0]), site, unknown.iloc[0])
        of_each = {name: cells[names == name].drop(columns=site) for name in inflows if (names == name).any()}
    if not of_each:
        expected = f"a column reservoir, or a column for each such as {next(iter(inflows))}_m3s"
        raise InputError("has no releases of any reservoir", expected, _MEND, str(path), row=1)
    found = dict[str, GivenSchedule]()
    for name, own in of_each.items():
        own.attrs = cells.attrs
        try:
            found[name] = _given(path, own, inflows[name], asked, called.get(name, {}))
        except InputError as error:
            of_site = (replace(each, problem=f"{each.problem} (reservoir {name})") for each in error.mistakes)
            raise InputError(of_site) from error
    for name, given in found.items():
        first = next(iter(found.values()))
        if given.inflow.labels != first.inflow.labels:
            problem = f"has other years of {name}, {given.inflow.span_text}"
            raise InputError(problem, first.inflow.span_text, "give the same years of all reservoirs", str(path))
    return found


def _given(
    path: Path, cells: pd.DataFrame, inflow: Inflow, asked: DateStyle, called: Mapping[str, str] | None = None
) -> GivenSchedule:
    """The schedule in cells with the numbers of their rows; some headings are read as if they were `called` so."""
    inflow.require_no_members("a schedule in a file of its own")
    # What each heading that is read names, as the program calls it; and its unit in the program's.
    endings = {name: next(end for end in _UNITS if name.endswith(f"_{end}")) for name in _READ}
    known = {
        name.removesuffix(end) + units.key_suffix(unit): (name, size)
        for name, end in endings.items()
        for unit, size in _UNITS[end].items()
    }
    called = called or {}
    names = {heading: called.get(heading, heading).strip().lower() for heading in cells.columns}
    read = {heading: known[name] for heading, name in names.items() if name in known}
    quantities, sizes = {heading: name for heading, (name, _) in read.items()}, dict(read.values())
    require_one_of_each(path, quantities, _MEND)
    if RELEASE not in sizes:
        names_of_site = (heading.removesuffix(read_as.removeprefix("release")) for heading, read_as in called.items())
        name = next(names_of_site, "release")
        expected = f"{name}_m3s, or {name}_cfs, {name}_ls, ..."
        problem, mend = "has no column of releases with a known unit", "name the column so, with values in this unit"
        raise InputError(problem, expected, mend, str(path), row=1, value=", ".join(map(str, cells.columns)))
    headings = {name: heading for heading, name in quantities.items()}
    cells = cells.rename(columns=quantities)
    column, steps, notes = _steps(path, cells, inflow, asked)
    rows = cells.index.to_numpy()
    years = _years_of(path, column, steps, rows, inflow)
    numbers = _numbers(path, cells, headings, sizes)
    columns = {name: values.reshape(years.flow_m3s.shape) for name, values in numbers.items()}
    digits = {name: 0.5 * 10.0 ** -_decimals(cells[name]) * sizes[name] for name in numbers}
    not_read = tuple(str(name) for name in cells.columns if name not in (*meanings("schedule"), *headings, column))
    notes = (*encoding_notes(cells.attrs["encoding"]), *notes)
    return GivenSchedule(path, years, columns, digits, headings, sizes, not_read, notes, rows)


def _years_of(path: Path, column: str, steps: NDArray[np.object_], rows: NDArray[np.int64], inflow: Inflow) -> Inflow:
    """The years of the record whose `steps` the `rows` are, one after another, as a `column` names them."""
    wanted = _wanted(column, inflow)

    def refused(problem: str, expected: str, mend: str, place: int) -> InputError:
        return InputError(problem, expected, mend, str(path), int(rows[place]), column, str(steps[place]))

    if not len(steps):
        raise InputError("has no rows", f"a row for each step from {wanted[0]} on", _MEND, str(path))
    begins = np.flatnonzero(wanted[:: inflow.steps] == steps[0])
    if not begins.size:
        expected = f"the first step of a year of the record, {wanted[0]} to {wanted[-1]}"
        mend = "begin with the first step of a water year, or give the record that has it"
        raise refused("no year begins with it", expected, mend, 0)
    first = int(begins[0])
    following = wanted[first * inflow.steps :]
    count = min(len(steps), len(following))
    wrong = np.flatnonzero(steps[:count] != following[:count])
    if wrong.size:
        place = int(wrong[0])
        mend = "give a row for each step, in order: add what is missing, leave out what is there twice"
        raise refused("is out of sequence", str(following[place]), mend, place)
    if len(steps) > len(following):
        mend = "leave out later rows, or give the record that has them"
        expected = f"no step after {wanted[-1]}, the last of the record"
        raise refused("is not in the record", expected, mend, count)
    if len(steps) % inflow.steps:
        expected = f"{inflow.steps} rows for each year: {following[len(steps)]} next"
        mend = "add the missing rows, or leave out the year"
        raise refused("ends within a year", expected, mend, len(steps) - 1)
    return inflow.span(first, first + len(steps) // inflow.steps)


def _wanted(column: str, inflow: Inflow) -> NDArray[np.object_]:
    """The steps of the record, as a column of months or of dates names them."""
    calendar = inflow.calendar
    if column == _MONTH:
        return np.array([f"{year}, month {month}" for year in calendar.labels for month in calendar.months], object)
    return first_days(calendar).astype(str).str[: _LENGTH[calendar.step is TimeStep.MONTH]].to_numpy(object)


def _steps(
    path: Path, cells: pd.DataFrame, inflow: Inflow, asked: DateStyle
) -> tuple[str, NDArray[np.object_], tuple[str, ...]]:
    """The column that names the steps, these names in the file, and how its dates were read."""
    of_months = inflow.calendar.step is TimeStep.MONTH
    dated = next((name for name in (DATE, FIRST_DAY) if name in cells), None)
    if dated is None and len(places := date_columns(list(cells.columns)) or ()) == 1:
        dated = str(cells.columns[places[0]])
    if dated is not None:
        texts = cells[dated].str.strip().tolist()
        understood, wanted = style_of(texts, asked), [*_wanted(DATE, inflow)]
        steps = _names(texts, understood.style, of_months)
        if understood.doubt is not None:  # in one order, the rows may be the steps of the record
            orders = [asked._replace(order=order) for order in ORDERS]
            named = {style: _names(texts, style, of_months) for style in orders}
            fits = [style for style in orders if _follow(named[style], wanted)]
            if len(fits) != 1:
                raise InputError(replace(understood.doubt, file=str(path), row=int(cells.index[0]), column=dated))
            order, steps = fits[0].order.replace("-", " "), named[fits[0]]
            note = f"dates are read {order}: {texts[-1]} is {steps[-1]} (so the rows are steps of the record)"
            understood = understood._replace(notes=(note,))
        return dated, np.array(steps, object), understood.notes
    if not of_months or not {"year", _MONTH} <= set(cells.columns):
        expected = "months such as 1953-01, or year and month" if of_months else "days such as 1953-01-01"
        raise InputError("no column names the steps", f"{DATE} with {expected}", "add such a column", str(path), row=1)
    given = cells["year"].str.strip() + ", month " + cells[_MONTH].str.strip().str.lstrip("0")
    return _MONTH, given.to_numpy(object), ()


def _names(texts: Sequence[str], style: DateStyle, of_months: bool) -> list[str]:
    """Steps that dates in a style name, as `_wanted` writes them; what is no date as it is."""
    stamps = ((text, parse_date(text, style)) for text in texts)
    names = (str(stamp) if isinstance(stamp, Stamp) and (of_months or stamp.day) else text for text, stamp in stamps)
    return [name[: _LENGTH[of_months]] for name in names]


def _follow(steps: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether steps are some of those of a record, one after another."""
    first = wanted.index(steps[0]) if steps[0] in wanted else len(wanted)
    return wanted[first : first + len(steps)] == [*steps]


def _numbers(
    path: Path, cells: pd.DataFrame, headings: dict[str, str], sizes: dict[str, float]
) -> dict[str, NDArray[np.float64]]:
    """The columns of numbers, in the program's units."""
    names = [name for name in _READ if name in cells]
    numbers = {name: pd.to_numeric(cells[name], errors="coerce").to_numpy(float) * sizes[name] for name in names}

    def mistakes() -> Iterator[Mistake]:
        for name, values in numbers.items():
            allowed = _RANGES.get(name, _ANY)
            for row in np.flatnonzero(~((values >= allowed.least) & (values <= allowed.most))).tolist():
                cell, value = str(cells[name].iloc[row]), values[row]
                problem = "is not a number" if cell else "is empty"
                if not np.isnan(value):
                    problem = "is out of range" if value > allowed.most or name not in _RANGES else "is negative"
                at_most = f" and at most {allowed.most / sizes[name]:,.10g}" if value > allowed.most else ""
                expected = "a number in the unit of the heading" + (f", 0 or more{at_most}" if name in _RANGES else "")
                yield Mistake(problem, expected, _MEND, str(path), int(cells.index[row]), headings[name], cell or None)

    wrong = worth_telling(mistakes(), str(path))
    if wrong:
        raise InputError(wrong)
    return numbers


def _decimals(cells: pd.Series) -> int:
    """Decimals of the cell that has most; a dozen of numbers with an exponent."""
    text = cells.str.strip().str.lower()
    return 12 if text.str.contains("e").any() else int(text.str.partition(".")[2].str.len().max())
