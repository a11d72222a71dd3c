"""An ensemble in a long CSV file: the same months of several members, or scenarios, in any order of rows.

Such a file may be large: it is read in pieces, and each text in it is understood once. An ensemble is written here too,
in such a file, or as NetCDF by CF conventions; `reservoir.read_inflow` reads both.
"""

from __future__ import annotations

import csv
import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake
from reservoir.hydro.attributes import ANY, NO_LESS_THAN_ZERO
from reservoir.hydro.calendar import MONTHS_PER_YEAR, month_name
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.io.containers import INSTALL, is_netcdf, write_netcdf
from reservoir.io.records.cells import codes_among, parse_flow, parse_number
from reservoir.io.records.columns import Companion, companion_notes, may_tell_series, several_series, value_column
from reservoir.io.records.dates import AS_WRITTEN, DateStyle, parse_month, style_of
from reservoir.io.records.layouts import MemberFile
from reservoir.io.records.record import InflowReading, Series
from reservoir.io.records.table import caveat_mistakes
from reservoir.io.records.units import choose_unit
from reservoir.text.data_file import encoding_notes
from reservoir.text.quantities import first_unprintable, printable

#: Rows of a piece, and characters of a member's name.
_PIECE, MOST_NAME = 500_000, 100


class _Rows(NamedTuple):
    """The rows of a file, in its order."""

    #: Members, in the order in which they first appear.
    names: tuple[str, ...]
    #: Place of each row's member among them, and its month since the beginning of the calendar, shape (rows,).
    member: NDArray[np.int32]
    month: NDArray[np.int32]
    #: Columns of numbers, by their places, each of shape (rows,).
    numbers: Mapping[int, NDArray[np.float64]]
    #: Columns of texts, by their places: different texts, and which of them a row has.
    texts: Mapping[int, tuple[Sequence[str], NDArray[np.int32]]]
    #: How dates were understood.
    notes: tuple[str, ...] = ()


def ensemble_series(file: MemberFile, reading: InflowReading) -> Series:
    """The months of all members.

    Raises
    ------
    InputError
        With the first mistakes of the file.
    """
    reading.require_months("an ensemble")
    header = file.header.cells
    column = value_column(file, (file.member, file.date), reading.column, reading.flood_column)
    name = header[column.place]
    unit, unit_from, wrong_unit = choose_unit(file, name, ((name, name),), reading.unit)
    mistakes = [*column.mistakes(file), *wrong_unit, *caveat_mistakes(file.caveats)]
    if mistakes:
        raise InputError(mistakes)
    flows = Companion("flow", parse_flow, 1.0, NO_LESS_THAN_ZERO)
    if reading.negative is not None:
        flows = Companion("flow", parse_number, 1.0, ANY)
    numbers = {column.place: flows, **column.companions}
    texts = [place for place in column.passed_over if may_tell_series(header[place])]
    rows = _read_rows(file, numbers, texts, reading.date_style)
    first, series = _by_member(file, rows)
    _check_texts(file, rows)
    months = Series(first, rows.names, series[column.place], unit)
    months.refuse_codes(codes_among(months.values)[0], months.values)
    for place, companion in column.companions.items():
        months.refuse_codes(companion.codes_among(series[place]), series[place], header[place])
    beside = {known.field: (header[at], series[at] * known.size) for at, known in column.companions.items()}
    values, negative = months.without_negative(reading.negative)
    with open(file.file, "rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    notes = (*column.notes(header), *rows.notes, *companion_notes(beside, MONTHS_PER_YEAR), *negative)
    caveat = " ".join(text for _, text in file.caveats if text)
    about = reading.about(file.file, unit_from) | {"caveat": caveat, "sha256": sha256}
    about["notes"] = (*encoding_notes(file.encoding), *notes)
    return replace(months, values=values, companions=beside, about=about)


def _read_rows(file: MemberFile, numbers: Mapping[int, Companion], texts: Sequence[int], asked: DateStyle) -> _Rows:
    """Read the rows below the header: columns of numbers and of texts, by their places.

    `asked` is what the caller says of dates.

    Raises
    ------
    InputError
        With the first mistakes in cells.
    """
    names, dates = dict[str, int](), dict[str, int]()
    different: dict[int, dict[str, int]] = {place: {} for place in texts}
    parts: list[list[NDArray[Any]]] = []
    style = AS_WRITTEN
    try:
        for piece in _pieces(file, numbers):
            values = [piece[place].to_numpy() for place in numbers]
            ranges = [column.range for column in numbers.values()]
            good = (
                np.isfinite(cells).all() and (least <= cells).all() and (cells <= most).all()
                for (least, most), cells in zip(ranges, values, strict=True)
            )
            if not all(good):
                raise ValueError("a number is out of range")
            of_texts = [_numbered(piece[place], known) for place, known in different.items()]
            parts.append([_numbered(piece[file.member], names), _numbered(piece[file.date], dates), *values, *of_texts])
        style, notes, doubt = style_of([*dates], asked, is_past=False)
        if doubt is not None:
            raise InputError(replace(doubt, column=file.header.cells[file.date]))
        months = np.array([getattr(parse_month(text, style), "month", -1) for text in dates], np.int32)
        if (months < 0).any() or any(map(wrong_name, names)):
            raise ValueError("a date or a name of a member is wrong")
    except (ValueError, pd.errors.ParserWarning) as error:
        raise InputError(_mistakes(file, numbers, str(error), style)) from None
    if not any(len(member) for member, *_ in parts):
        raise InputError("there are no data rows below the header", mend="add the data rows", row=file.header.number)
    member, date, *columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    which = zip(different.items(), columns[len(numbers) :], strict=True)
    codes_of = {place: ([*known], codes) for (place, known), codes in which}
    return _Rows(tuple(names), member, months[date], dict(zip(numbers, columns, strict=False)), codes_of, notes)


def _pieces(file: MemberFile, numbers: Mapping[int, Companion]) -> Iterator[pd.DataFrame]:
    """Some rows at a time."""
    columns = list(range(len(file.header.cells)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        opened = file.opened()
        reader = pd.read_csv(
            opened,
            sep=file.delimiter,
            header=None,
            index_col=False,
            skiprows=file.header.number,
            names=columns,
            dtype={place: "float64" if place in numbers else "category" for place in columns},  # type: ignore[arg-type]
            keep_default_na=False,
            skipinitialspace=True,
            chunksize=_PIECE,
        )
        with opened, reader:
            yield from reader


def _numbered(column: pd.Series[Any], numbers: dict[str, int]) -> NDArray[np.int32]:
    """The number of each text of a column of categories, where new ones get the next."""
    return _codes(column, lambda text: numbers.setdefault(text, len(numbers)))


def _codes(column: pd.Series[Any], code_of: Callable[[str], int]) -> NDArray[np.int32]:
    """The number of each cell of a column of categories; that of each text is asked for once, as they appear."""
    texts, codes = column.cat.categories.tolist(), column.cat.codes.to_numpy()
    numbers = np.zeros(len(texts), np.int32)
    for code in pd.unique(codes):
        numbers[code] = code_of(str(texts[code]).strip())
    return np.asarray(numbers[codes])


def wrong_name(name: str) -> Mistake | None:
    """What is wrong with the name of a member, if anything."""
    if not name:
        return Mistake("missing value", "the name of a member", "name the member in every row")
    if len(name) > MOST_NAME or first_unprintable(name):
        return Mistake("is no name of a member", f"at most {MOST_NAME} printable characters", "shorten the name")
    return None


def _data_rows(file: MemberFile) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with its number."""
    with file.opened() as text:
        rows = csv.reader(text, delimiter=file.delimiter, skipinitialspace=True)
        for cells in rows:
            if rows.line_num > file.header.number and any(cells):
                yield rows.line_num, [cell.strip() for cell in cells]


def _mistakes(file: MemberFile, numbers: Mapping[int, Companion], reason: str, style: DateStyle) -> list[Mistake]:
    """The first mistakes in cells, or the reason why no cells can be read."""
    parsers: dict[int, Callable[[str], Any]] = {file.member: wrong_name, file.date: partial(parse_month, style=style)}
    parsers |= {place: column.read for place, column in numbers.items()}
    header, mistakes = file.header.cells, list[Mistake]()
    try:
        for row, cells in _data_rows(file):
            if len(cells) != len(header):
                expected = f"{len(header)} cells, as in the header"
                mend = "add the missing cells, or remove the extra ones"
                mistakes.append(Mistake("wrong number of cells", expected, mend, row=row, value=len(cells)))
            else:
                values = ((place, parse(cells[place])) for place, parse in parsers.items())
                wrong = [(place, value) for place, value in values if isinstance(value, Mistake)]
                mistakes += [replace(mistake, row=row, column=header[at], value=cells[at]) for at, mistake in wrong]
            if len(mistakes) > MOST_MISTAKES:
                break
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except csv.Error as error:
        reason = str(error)
    mend = "save it as CSV with one row a member and month"
    return mistakes or [Mistake(f"the file cannot be read as a table ({reason})", mend=mend)]


def _at(file: MemberFile, place: int, mistake: Mistake) -> InputError:
    """Refuse the row at a place."""
    number, _ = next(islice(_data_rows(file), place, None))
    return InputError(replace(mistake, row=number))


def _by_member(file: MemberFile, rows: _Rows) -> tuple[int, dict[int, NDArray[np.float64]]]:
    """The first month, and each column of numbers, shape (members, months).

    Raises
    ------
    InputError
        If a month of a member is there twice, else for the first that is missing.
    """
    first, last = int(rows.month.min()), int(rows.month.max())
    months, members = last - first + 1, len(rows.names)
    place = rows.member.astype(np.int64) * months + (rows.month - first)
    in_order = len(place) == members * months and (place[1:] > place[:-1]).all()
    if not in_order and (len(place) != members * months or (np.bincount(place, minlength=len(place)) != 1).any()):
        order = np.argsort(place, kind="stable")
        ordered = place[order]
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            again = int(order[twice + 1].min())
            month, member = month_name(int(rows.month[again])), rows.names[rows.member[again]]
            problem, expected = f"{month} of member {member} appears twice", "one row per member and month"
            name = file.header.cells[file.date]
            raise _at(file, again, Mistake(problem, expected, "delete one of the rows", column=name, value=month))
        moved = np.flatnonzero(ordered != np.arange(len(ordered)))
        missing = int(moved[0]) if moved.size else len(ordered)
        problem = f"member {rows.names[missing // months]} has no {month_name(first + missing % months)}"
        expected = f"{month_name(first)} to {month_name(last)} of every member"
        raise InputError(problem, expected, "add the missing rows, or keep only months that all members have")
    series: dict[int, NDArray[np.float64]] = {}
    for column, values in rows.numbers.items():
        series[column] = np.empty((members, months))
        series[column].ravel()[place] = values
    return first, series


def _check_texts(file: MemberFile, rows: _Rows) -> None:
    """Refuse members whose months are those of several series: InputError."""
    order = np.lexsort((rows.month, rows.member))
    starts = np.flatnonzero(np.diff(rows.member[order], prepend=-1))
    for place, (texts, codes) in rows.texts.items():
        ordered = codes[order]
        low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
        for member in np.flatnonzero(low < high).tolist():
            stop = starts[member + 1] if member + 1 < len(starts) else len(ordered)
            cells = [texts[code] for code in ordered[starts[member] : stop].tolist()]
            change = several_series(file.header.cells[place], cells)
            if change:
                raise _at(file, int(order[starts[member] + change[0]]), change[1])


#: Significant digits of a flow.
_DIGITS = "%.6g"


def check_writable(file: str) -> None:
    """Refuse a format that cannot be written here, before anything is computed for it.

    Raises
    ------
    InputError
        If it is NetCDF, and xarray or what writes with it is not installed; if it is Zarr.
    """
    if not is_netcdf(file):
        return
    if file.casefold().endswith(".zarr"):
        raise InputError("Zarr is not written", "a name that ends in .csv or .nc", file=file)
    for module in ("xarray", "h5netcdf"):
        if find_spec(module) is None:
            raise InputError(f"NetCDF needs {module}, which is not installed", mend=INSTALL, file=file)


def _by_month(
    inflow: Inflow | SiteInflows, column: str
) -> tuple[NDArray[np.datetime64], dict[str, NDArray[np.float64]]]:
    """The first day of each month of a member, and flows (m3/s) by column, of each site (members, months)."""
    starts = inflow.calendar.starts[: inflow.calendar.years_each].ravel()
    if isinstance(inflow, Inflow):
        return starts, {column: inflow.flow_m3s.reshape(-1, starts.size)}
    return starts, {f"{site}_{column}": each.flow_m3s.reshape(-1, starts.size) for site, each in inflow.items()}


def ensemble_columns(inflow: Inflow | SiteInflows, units: UnitSystem = SI) -> dict[str, NDArray[Any]]:
    """The members of an ensemble as columns: member, first day of the month, and its flow (of each site) in units."""
    assert inflow.members is not None
    starts, flows = _by_month(inflow, units.column("inflow_m3s"))
    return {
        "member": np.repeat(np.asarray(inflow.members, np.str_), starts.size),
        "date": np.tile(starts.astype("datetime64[D]"), len(inflow.members)),
        **{name: (flow / units.size("inflow_m3s")).ravel() for name, flow in flows.items()},
    }


def write_ensemble(inflow: Inflow | SiteInflows, file: str, path: Path, units: UnitSystem = SI) -> None:
    """Write the members of an ensemble to `path`, in the format that the name `file` ends in.

    Parameters
    ----------
    inflow : Inflow or SiteInflows
        An ensemble; its caveat is written too. Of several sites, a column each begins with the site's name.
    file : str
        A name that ends in ``.nc``, or any other for CSV.
    path : Path
        Where the file is written, under another name perhaps.
    units : UnitSystem
        Of the flows in CSV. NetCDF keeps to m3 s-1, as its conventions have it.
    """
    assert inflow.members is not None
    if not is_netcdf(file):
        starts, flows = _by_month(inflow, units.column("inflow_m3s"))
        cells = ",".join(["%s", "{}", *[_DIGITS] * len(flows)])
        rows = "".join(f"{cells.format(date)}\n" for date in starts.astype("datetime64[M]").astype(str).tolist())
        flow = np.stack([*flows.values()], axis=-1)
        flow = flow / units.size("inflow_m3s") if units.by_ending else flow
        with path.open("w", encoding="utf-8", newline="") as text:
            text.write(f"# caveat: {printable(inflow.caveat)}\nmember,date,{','.join(flows)}\n")
            for name, values in zip(inflow.members.tolist(), flow, strict=True):
                text.write(rows % tuple(cell for of_sites in values.tolist() for cell in (name, *of_sites)))
        return
    starts, flows = _by_month(inflow, "inflow_m3s")
    import xarray

    times = starts.astype("datetime64[s]")
    of_flow = {"units": "m3 s-1", "standard_name": "water_volume_transport_in_river_channel"}
    of_flow |= {"long_name": "mean inflow of the month", "cell_methods": "time: mean"}
    dataset = xarray.Dataset(
        {name: (("member", "time"), flow, of_flow) for name, flow in flows.items()},
        {
            "member": ("member", np.asarray(inflow.members, np.str_), {"standard_name": "realization"}),
            "time": ("time", times, {"standard_name": "time", "long_name": "first day of the month"}),
        },
        {"Conventions": "CF-1.10", "title": "Synthetic monthly inflow", "caveat": inflow.caveat},
    )
    encoding: dict[str, dict[str, Any]] = {
        "time": {"units": f"days since {times[0].astype('datetime64[D]')}", "dtype": "int32"},
        **{name: {"_FillValue": None} for name in flows},  # no flow is missing
    }
    write_netcdf(dataset, path, encoding)
