"""Inflow of several sites: a column, rows or a sheet a reservoir, or a file of its own, each read as any record is.

Which is whose is told by the reservoir's name, or by the column that the system file names. What stands beside the
inflow, such as evaporation or a price, is that of the site whose name is in its own, else of all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.attributes import InflowIs
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import InflowSource, System
from reservoir.hydro.unit_system import UnitText
from reservoir.io.containers import is_netcdf
from reservoir.io.records.columns import FROM_COLUMN, companion_of, nearly_named
from reservoir.io.records.layouts import member_file
from reservoir.io.records.netcdf import columns_of
from reservoir.io.records.reader import inflow_of, read_inflow_forecast, table_of
from reservoir.io.records.record import InflowReading
from reservoir.io.records.units import unit_named
from reservoir.io.records.words import QUANTITIES, understand
from reservoir.io.workbook import own_sheets
from reservoir.text.quantities import counted

FloatArray = NDArray[np.float64]

#: Different texts of a column that may name sites.
_MOST_SITES = 400
_PASSED_OVER = ", passed over "
#: From here on, letters are those of scripts that put no spaces between words.
_NO_SPACES = "\u2e80"
#: Part of a total by which less may be left than what comes from above: both are written with six digits.
_ROUNDED = 1e-5
#: How columns begin that are not read for a site.
_OTHER = "other_"


class _Columns(NamedTuple):
    """Names of the columns of a file, other names of them, and the texts in those that may name sites."""

    names: Sequence[str]
    labels: Sequence[str]
    texts: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, file: str, reading: InflowReading) -> _Columns:
        """Look at a file."""
        if is_netcdf(file):
            names, texts = columns_of(file)
            return cls(names, (), texts)
        members = member_file(file)
        table = members or table_of(file, reading)
        labels = [cell for row in (table.heading.labels if table.heading else ()) for cell in row.cells]
        columns = zip(*(row.cells for row in table.rows), strict=True)
        texts = {name: list(dict.fromkeys(cells)) for name, cells in zip(table.header.cells, columns, strict=False)}
        return cls(table.header.cells, labels, {name: each for name, each in texts.items() if len(each) <= _MOST_SITES})

    def column_of(self, wanted: str, sites: Sequence[str], value_column: str | None) -> str | None:
        """How the inflow of a site is asked for of the reader; None where nothing is called so."""
        text = wanted.strip().casefold()
        if "=" in wanted or text in (name.casefold() for name in (*self.names, *self.labels)):
            return wanted
        for name, texts in self.texts.items():
            if text in (" ".join(each.split()).casefold() for each in texts):
                return "; ".join(filter(None, (f"{name}={wanted}", value_column)))
        named = [name for name in self.names if _site_in(name, [*sites, wanted]) == wanted]
        kinds = {name: understand(_without(name, wanted)) for name in named if not _beside(name, wanted)}
        flows = [name for name, saying in kinds.items() if not saying.is_no_inflow]
        return flows[0] if len(flows) == 1 else None

    def renamed(
        self, column: str | None, own: Sequence[str], sites: Sequence[str], flood_column: str | None
    ) -> dict[str, str]:
        """Names under which columns are read for a site: its own as if they were of all, and no others'."""
        names: dict[str, str] = {}
        for name in self.names:
            site = _site_in(name, [*own, *sites])
            if column is not None and name.casefold() == column.strip().casefold():
                names[name] = _as_inflow(name, site)
            elif site is not None and _beside(name, site, flood_column):
                names[name] = _without(name, site) if site in own else ""
        mine = set(names.values())  # a site's own goes before that of all
        names |= {name: "" for name in self.names if name in mine and name not in names}
        return {name: other or f"{_OTHER}{place}" for place, (name, other) in enumerate(names.items())}


def _as_inflow(name: str, site: str | None) -> str:
    """The name of a column of inflow, of which the name of a site is no unit."""
    saying = understand(name)
    if saying.kinds & {*QUANTITIES} or unit_named(name) is not None:
        return name
    return f"inflow_{_without(name, site)}".rstrip("_") if site is not None else name


def _pattern(site: str) -> str:
    """A name as a word, but for scripts that have no spaces."""
    begin, end = (r"(?<![^\W_])", r"(?![^\W_])")
    return rf"[\W_]*{begin * (site[0] < _NO_SPACES)}{re.escape(site)}{end * (site[-1] < _NO_SPACES)}[\W_]*"


def _site_in(name: str, sites: Sequence[str]) -> str | None:
    """The site whose name stands within that of a column, the longest of several."""
    within = [site for site in sites if re.search(_pattern(site), name, re.IGNORECASE)]
    return max(within, key=len, default=None)


def _without(name: str, site: str) -> str:
    return re.sub(_pattern(site), "_", name, count=1, flags=re.IGNORECASE).strip("_:;,. -")


def _beside(name: str, site: str, flood_column: str | None = None) -> bool:
    """Whether a column with the name of a site is a loss or a price of it, and no inflow."""
    rest = _without(name, site)
    return bool(rest) and (companion_of(rest, flood_column) is not None or nearly_named(rest) is not None)


def read_system_inflow(system: System, path: str | os.PathLike[str] | None = None, **reading: Any) -> SiteInflows:
    """Read the local inflow of every reservoir of a system.

    Parameters
    ----------
    system : System
        Its first month and step count; where the inflow of each reservoir is, is said by `System.inflow_of`, else it
        is what has the reservoir's name: a column, the rows in which a column says it, a sheet of a workbook, a
        variable of NetCDF or an item of one of its dimensions.
    path : str or path-like, optional
        The record of all reservoirs that have none of their own.
    reading
        As `read_inflow` has it, but for the first month and the step; `column` is that of the values where rows tell
        the sites apart.

    Returns
    -------
    SiteInflows
        Of a total flow what remains without that which links bring from above.

    Raises
    ------
    InputError
        With every mistake in all files: columns that are missing, records of other years, totals below what comes from
        above.
    """
    asked = InflowReading(first_month=system.first_month, **{"step": system.step, **reading})
    records, mistakes, looked = dict[str, Inflow](), list[Mistake](), dict[tuple[str, Sequence[str]], _Columns]()
    for reservoir in system.reservoirs:
        name = reservoir.name
        source = system.inflow_of.get(name, InflowSource())
        file = source.file or ("" if path is None else os.fspath(path))
        column = f"inflow of {name}"
        if not file:
            mend = f"give the record, or write inflow_file = ... below the [[reservoirs]] of {name}"
            mistakes.append(Mistake("has no record", "a file with a column for it", mend, system.source, column=column))
            continue
        try:
            flood = reservoir.flood_space.column if reservoir.flood_space else None
            sheets = () if asked.sheet else tuple(own_sheets(Path(file), [source.column or name]))
            how = replace(asked, sheet=asked.sheet or sheets, flood_column=flood)
            key = file, how.sheet
            columns = looked[key] if key in looked else looked.setdefault(key, _Columns.of(file, how))
            records[name] = _site(columns, file, name, source, system, replace(how, column=None), asked.column, sheets)
        except InputError as refused:
            mistakes += (
                each if each.column and each.row is None else replace(each, file=file) for each in refused.mistakes
            )
    if mistakes:
        raise InputError(dict.fromkeys(mistakes))
    return _local(system, SiteInflows(_of_common_years(records)), asked.negative)


def _of_common_years(records: Mapping[str, Inflow]) -> Mapping[str, Inflow]:
    """Records of the years that all have, which a note tells; as they are where there are none, or of members."""
    years = [each.calendar.start_years for each in records.values()]
    first, last = max(each[0] for each in years), min(each[-1] for each in years)
    if first > last or any(each.members is not None for each in records.values()):
        return records
    common = {}
    for name, each in records.items():
        begin, stop = (int(year - each.calendar.start_years[0]) for year in (first, last + 1))
        left_out = each.years - (stop - begin)
        note = f"{name}: left out {counted(left_out)} that other records lack"
        common[name] = replace(each.span(begin, stop), notes=(*each.notes, note)) if left_out else each
    return common


def _site(
    columns: _Columns,
    file: str,
    name: str,
    source: InflowSource,
    system: System,
    how: InflowReading,
    value_column: str | None,
    sheets: Sequence[str],
) -> Inflow:
    """The record of a reservoir as it stands in a file."""
    column, names, asked = _place(columns, file, name, source, system, how, value_column, bool(sheets))
    as_written = {other: each for each, other in names.items()}
    try:
        inflow = inflow_of(file, replace(how, column=column, named=names))
    except InputError as refused:
        restated = (replace(each, column=as_written.get(each.column, each.column)) for each in refused.mistakes)
        raise InputError(restated) from None
    sites = [system.inflow_of.get(each, InflowSource()).column or each for each in system.names]
    of_sites = {each for each in columns.names if _site_in(each, sites) or f"{each}=" in (asked or "")}
    notes = tuple(_as_written(note, as_written) for note in _notes(inflow.notes, of_sites))
    reading = {name: each for name, each in inflow.reading.items() if name != "column"}
    reading |= {} if value_column is None else {"column": value_column}  # as the caller asked, for all sites alike
    return replace(inflow, notes=notes, reading=reading)


def _place(
    columns: _Columns,
    file: str,
    name: str,
    source: InflowSource,
    system: System,
    how: InflowReading,
    value_column: str | None,
    sheets: bool,
) -> tuple[str | None, dict[str, str], str | None]:
    """How the column of a reservoir is asked for of the reader, names under which it reads, and what it is found by."""
    sites = [system.inflow_of.get(each, InflowSource()).column or each for each in system.names]
    wanted = source.column or name
    asked = columns.column_of(wanted, sites, value_column)
    if asked is None and not (sheets or (source.file and not source.column)):
        near = [*get_close_matches(wanted, columns.names, 1), *get_close_matches(name, columns.names, 1), "..."][0]
        mend = f'write inflow = "{near}" below the [[reservoirs]] of {name}, with the column that is its'
        there = ", ".join(filter(None, columns.names))
        raise InputError(
            f"there is no column {wanted} in {file}", f"one of its columns: {shortened(there, 300)}", mend,
            file=system.source, column=f"inflow of {name}",
        )  # fmt: skip
    names = columns.renamed(asked, (wanted, name), [*dict.fromkeys((*sites, *system.names))], how.flood_column)
    column = asked and names.get(
        next((each for each in names if each.casefold() == asked.strip().casefold()), ""), asked
    )
    return column or value_column, names, asked


def read_system_forecast(
    system: System, path: str | os.PathLike[str], unless_said: str = "", month: int | None = None, **reading: Any
) -> FloatArray:
    """Read an ensemble forecast of every reservoir of a system, as `read_inflow_forecast` reads one.

    Returns
    -------
    ndarray, shape (members, months, reservoirs)
        Local inflow of consecutive months to come (m3/s).

    Raises
    ------
    InputError
        With the first mistakes in the file; if it has other members or months of some reservoirs.
    """
    file, asked, found = os.fspath(path), InflowReading(**reading), dict[str, FloatArray]()
    columns = _Columns.of(file, asked)
    for name in system.names:
        source = system.inflow_of.get(name, InflowSource())
        column, names, _ = _place(columns, file, name, source, system, asked, asked.column, False)
        how = {**reading, "column": column, "named": names}
        found[name] = read_inflow_forecast(file, unless_said, month, **how)
        if found[name].shape != found[system.names[0]].shape:
            problem = f"has other members or months of {name} than of {system.names[0]}"
            raise InputError(problem, "the same of all reservoirs", file=file)
    return np.stack(list(found.values()), axis=-1)


def _as_written(note: str, names: Mapping[str, str]) -> str:
    """A note with the column as the file has it."""
    written = next(((name, other) for name, other in names.items() if note.endswith(f"{FROM_COLUMN}{name}")), None)
    if written is None:
        return note
    name, other = written
    return UnitText(lambda units: f"{units.text(note).removesuffix(name)}{other}")


def _notes(notes: Sequence[str], of_sites: set[str]) -> Iterator[str]:
    """Notes without the columns of other sites among those that were passed over."""
    for note in notes:
        read, passed_over, names = str(note).partition(_PASSED_OVER)
        others = [name for name in names.split(", ") if name not in of_sites and not name.startswith(_OTHER)]
        if not passed_over or not read.startswith("read column"):
            yield note
        elif others:
            yield f"passed over {', '.join(others)}"


def _local(system: System, records: SiteInflows, negative: str | None) -> SiteInflows:
    """What joins the river at each reservoir: of a total, what is left of it without what links bring."""
    totals, local, mistakes = dict[str, FloatArray](), dict[str, Inflow](), list[Mistake]()
    for place, name in enumerate(system.names):
        record = records[name]
        by_member = record.member_count, -1
        flow = record.flow_m3s.reshape(by_member)
        volume = system.on_calendar(record).calendar.hm3_per_m3s.reshape(by_member)
        brought, above = system.brought_m3s(place, totals, volume), [link.source for _, link in system.into(place)]
        if system.inflow_of.get(name, InflowSource()).is_what is not InflowIs.TOTAL or not above:
            totals[name], local[name] = flow + brought, record
            continue
        totals[name], left = flow, flow - brought
        below = left < -_ROUNDED * flow
        if below.any() and negative is None:
            mistakes.append(_below(system, record, name, above, left))
        left = np.maximum(left, 0.0) if negative != "keep" else left
        note = f"local inflow of {name}: its total flow without that from {' and '.join(above)}"
        note += f"; below 0 in {below.sum():,} of {below.size:,} steps" if below.any() else ""
        changed = left.reshape(record.flow_m3s.shape)
        local[name] = replace(record, flow_m3s=changed, rows=None, notes=(*record.notes, note))
    if mistakes:
        raise InputError(mistakes)
    return SiteInflows(local)


def as_recorded(system: System, local: SiteInflows) -> tuple[SiteInflows, tuple[str, ...]]:
    """Local inflow of a system in the columns, and as the totals, that its file asks for.

    Returns
    -------
    SiteInflows
        By the name of the column; by that of the reservoir where the file asks for what is no column of flows in m3/s.
    notes : tuple of str
        What the file must not ask for then.
    """
    totals, columns, elsewhere = dict[str, FloatArray](), dict[str, Inflow](), []
    for place, (name, record) in enumerate(local.items()):
        source, by_member = system.inflow_of.get(name, InflowSource()), (record.member_count, -1)
        volume = system.on_calendar(record).calendar.hm3_per_m3s.reshape(by_member)
        totals[name] = record.flow_m3s.reshape(by_member) + system.brought_m3s(place, totals, volume)
        if source.is_what is InflowIs.TOTAL:
            record = replace(record, flow_m3s=totals[name].reshape(record.flow_m3s.shape))
        other = bool(source.file) or "=" in source.column or unit_named(source.column) is not None
        elsewhere += [name] * other
        columns[name if other or not source.column else source.column] = record
    note = f"To plan with the ensemble, leave inflow and inflow_file out for {', '.join(elsewhere)} in {system.source}"
    return SiteInflows(columns), (note,) if elsewhere else ()


def _below(system: System, record: Inflow, name: str, above: Sequence[str], left: FloatArray) -> Mistake:
    """Refuse a total that is less than what comes from above."""
    less, first = left < 0, int(np.argmax(left.ravel() < 0))
    year, step = divmod(first, record.steps)
    when = f"{record.calendar.step_names[step]} of {record.labels[year]}"
    often = f"is less than what comes from {' and '.join(above)} in {less.sum():,} of {less.size:,} steps"
    mend = "give --negative zero, or keep; or correct the travel time, the losses or what the links carry; or write "
    mend += 'inflow_is = "local" if that is what it is'
    column = f"inflow of {name}"
    most = float(-left.min())
    problem = UnitText(lambda units: f"{often}, first in {when}, by up to {units.stated(most, 'm3/s')}")
    return Mistake(problem, "a total of at least that", mend, system.source, column=column)
