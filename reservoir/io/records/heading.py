"""What stands around the rows of a table: names and units of columns beside the header, footnotes, repeated headers.

Services and spreadsheets write these in many ways. Where a header names no dates, it is found above them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.io.records import words as known
from reservoir.io.records.words import WordKind, understand
from reservoir.text.quantities import counted


class Row(NamedTuple):
    """One line of the file, with the number that an editor shows, cut into trimmed cells."""

    number: int
    cells: tuple[str, ...]


#: Columns that every header has one of, if it has no twelve months; lines that are looked through for it.
_HEADER_NAMES, MOST_TITLES = known.DATE_NAMES | known.YEAR_NAMES | known.DATE_PARTS[0][1], 60
_MONTHS, _DAYS = 12, frozenset(map(str, range(1, 32)))
#: Dates by which rows of data are known where no header names them, and how many rows in turn have one.
DATE = re.compile(
    r"\d{4}[-/.年]\d{1,2}([-/.月]\d{1,2})?日?([T ].*)?|\d{4}-[^\W\d]{3,9}|\d{8} \d{4}|\d{1,2}/\d{4}"
    r"|(0[1-9]|1[0-2])-(1[5-9]|20)\d\d"
    r"|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([T ].*)?"
    r"|\d{1,2}[-/. ]?[^\W\d]{3,9}[-/., ]*(\d{4}|\d{2})([ ,].*)?|[^\W\d]{3,9}\.?[-/., ]*(\d{1,2},? +)?\d{4}"
)
_DATED_ROWS = 3
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?", re.IGNORECASE)
#: How a row of units or of types is called, and types of HEC-DSS.
_LABELS = frozenset({"unit", "units", "unidade", "unidades", "unidad", "单位", "type", "types", "data type"})
_TYPE = re.compile(r"(per|inst)-(aver|cum|val)", re.IGNORECASE)
#: How footnotes begin; sentences without a mark are longer than dates.
_FOOTNOTE = re.compile(r"[*†‡§^]|\(\d\)|(notes?|source|fonte|fuente|observações|注|备注|说明|附注)\b", re.IGNORECASE)
_SENTENCE = 20
#: Cells of a row of data that has one number: its label and its value, and perhaps a flag.
_MOST_OF_A_ROW = 3
#: Rows of means and totals that are named.
_NAMED = 6
#: Columns for what titles between parts of a table say: of which series, and of which year, each part is.
TITLE, YEAR = "title", "year"
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")


def names_dates(cells: Sequence[str]) -> bool:
    """Whether cells are a header: one names dates or years, or they name twelve months, or the days of one."""
    names = {name for cell in cells for name in (cell.strip(' "').casefold(), known.plain_heading(cell.strip(' "')))}
    return not _HEADER_NAMES.isdisjoint(names) or _names_months(cells) or _DAYS.issubset(names)


def _names_months(cells: Sequence[str]) -> bool:
    return sum(cell.strip(' ".').casefold() in known.MONTH_OF_NAME for cell in cells) >= _MONTHS


def above_dates(rows: Sequence[Sequence[str]]) -> int | None:
    """The place of the row above the first rows that have dates in the same column; None if there is no such row.

    A row that names twelve months, and has a year below it, is one, too.
    """
    for place in range(1, len(rows) - _DATED_ROWS + 1):
        dated = [
            {at for at, cell in enumerate(row) if DATE.fullmatch(cell)} for row in rows[place : place + _DATED_ROWS]
        ]
        if set.intersection(*dated):
            return place - 1
    of_years = (
        at
        for at, (row, below) in enumerate(pairwise(rows))
        if _names_months(row) and _YEAR.fullmatch("".join(below[:1]))
    )
    return next(of_years, None)


class Heading(NamedTuple):
    """A header, and what rows beside it say of the columns."""

    header: Row
    #: Further names of the columns: numbers of stations, parts of a path.
    labels: tuple[Row, ...] = ()
    #: What each column is in, and of which type of HEC-DSS, as rows beside the header say.
    units: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    #: Rows of these below the header, and numbers of those of units.
    below: tuple[Row, ...] = ()
    used: frozenset[int] = frozenset()


def heading(header: Row, above: Sequence[Row], rows: Sequence[Row | Mistake]) -> Heading:
    """Tell rows of names, of units and of types from titles `above` the header and from data below it."""
    sound = [row for row in rows if isinstance(row, Row)]
    first = next((row for row in sound if any(map(DATE.fullmatch, row.cells))), None)
    dated = next((at for at, cell in enumerate(first.cells) if DATE.fullmatch(cell)), 0) if first is not None else 0
    dates = [len(row.cells) > dated and DATE.fullmatch(row.cells[dated]) for row in sound[:_DATED_ROWS]]
    unnamed = len(dates) == _DATED_ROWS and all(dates) and not names_dates(header.cells)
    unnamed = unnamed and not {*known.MEMBER_NAMES} & {*header.cells}
    width = max(len(header.cells), len(first.cells)) if unnamed and first is not None else len(header.cells)
    below = list[Row]()
    for row in rows:
        told = isinstance(row, Row) and (_is_units(row) or _is_types(row) or _says_unit(row))
        if not isinstance(row, Row) or any(map(_NUMBER.fullmatch, row.cells)) or not told:
            break
        below.append(row)
    beside = [row for row in above if sum(map(bool, row.cells)) > 1 and len(row.cells) <= width]
    beside += [*([header] if unnamed else []), *(row for row in below if not _says_unit(row))]
    beside = [Row(row.number, _padded(row.cells, width)) for row in beside]
    units, types = [*filter(_is_units, beside)], [*filter(_is_types, beside)]
    labels = [row for row in beside if row not in units and row not in types]
    if unnamed:
        header, labels = _header_of(labels or beside, dated, sound)
    of_units, of_types = (rows[-1].cells if rows else () for rows in (units, types))
    used = frozenset(row.number for row in units)
    return Heading(header, tuple(labels), of_units, of_types, tuple(below), used)


def _padded(cells: Sequence[str], width: int) -> tuple[str, ...]:
    return (*cells, *[""] * (width - len(cells)))


def _rest(row: Row) -> list[str]:
    """The cells of a row without what names it."""
    texts = [cell for cell in row.cells if cell]
    return texts[1:] if texts and texts[0].casefold().strip(" :") in _LABELS else texts


def _is_types(row: Row) -> bool:
    texts = _rest(row)
    return bool(texts) and all(map(_TYPE.fullmatch, texts))


def _is_units(row: Row) -> bool:
    """Whether all cells of a row are units, of which one is known."""
    allowed = {WordKind.UNIT, WordKind.STRANGE, WordKind.OPEN, WordKind.CLOSE}
    sayings = [understand(text) for text in _rest(row)]
    return any(saying.unit for saying in sayings) and all(saying.kinds <= allowed for saying in sayings)


def _says_unit(row: Row) -> bool:
    """Whether a row is one cell that says the unit of the table, as a comment does."""
    texts = [cell for cell in row.cells if cell]
    label = re.match(r"\(?([^:：=]+)[:：=]", texts[0]) if len(texts) == 1 else None
    return label is not None and label[1].casefold().strip() in _LABELS


def _header_of(candidates: list[Row], dated: int, rows: Sequence[Row]) -> tuple[Row, list[Row]]:
    """The header of a table whose dates no header names, among the rows above it, and the others.

    It is the row that says which column is a flow, else the nearest one, of those that tell the columns apart.
    """
    values = range(dated + 1, len(rows[0].cells))

    def named(row: Row) -> list[str]:
        return [row.cells[at] for at in values if row.cells[at]]

    most = max(len(named(row)) for row in candidates)
    apart = [row for row in candidates if len(set(named(row))) == len(named(row)) == most] or candidates
    flows = [row for row in apart if any(understand(name).kinds & {*known.QUANTITIES} for name in named(row))]
    chosen = (flows or apart)[-1]
    cells = [*chosen.cells]
    cells[dated] = "date"
    for at in range(dated):  # numbers of rows; and what the rows above are called, as the parts of a path are
        texts = [row.cells[at] for row in rows[:_DATED_ROWS] if len(row.cells) > at]
        steps = [int(text) - place for place, text in enumerate(texts) if text.isdecimal()]
        counts = len(steps) == _DATED_ROWS and len(set(steps)) == 1
        cells[at] = "row" if counts else cells[at] if len(cells[at]) > 1 else ""
    return Row(chosen.number, tuple(cells)), [row for row in candidates if row != chosen]


def without_footnotes(rows: Sequence[Row | Mistake]) -> tuple[list[Row | Mistake], list[tuple[int, str]]]:
    """Leave out footnotes below a table, which begin with a mark or are one cell of words; give them by their rows."""
    end = len(rows)
    while end > 1 and _is_footnote(rows[end - 1]):
        end -= 1
    footnotes = list[tuple[int, str]]()
    for row in rows[end:]:
        text = str(row.value) if isinstance(row, Mistake) else " ".join(row.cells)
        footnotes.append(((row.row if isinstance(row, Mistake) else row.number) or 0, " ".join(text.split())))
    return [*rows[:end]], footnotes


def _is_footnote(row: Row | Mistake) -> bool:
    texts = [str(row.value)] if isinstance(row, Mistake) else [cell for cell in row.cells if cell]
    words = re.search(r"[^\W\d]{2}", texts[0])
    if not words or any(map(_NUMBER.fullmatch, texts)) or DATE.fullmatch(texts[0]):
        return False
    alone = len(texts) == 1 and (not re.search(r"\d", texts[0]) or len(texts[0]) > _SENTENCE)
    return alone or _FOOTNOTE.match(texts[0]) is not None


def in_parts(
    header: Row, rows: Sequence[Row | Mistake], title: str
) -> tuple[Row, list[Row | Mistake], tuple[str, ...]]:
    """Put parts of a table, each below a header of its own, under one, with columns for what their titles say.

    `title` stands above the first header. Years of titles are a column of years, unless the header has one. Means and
    totals below parts are passed over; the notes say so.
    """
    same = [cell.casefold() for cell in header.cells]
    starts = [at for at, row in enumerate(rows) if isinstance(row, Row) and [*map(str.casefold, row.cells)] == same]
    starts = [] if len(starts) == len(rows) else starts  # a file without data
    labels = [at for at, name in enumerate(header.cells) if name.casefold() in _HEADER_NAMES | known.DATE_PARTS[2][1]]
    label = labels[0] if labels else 0
    parts, titles, first, passed_over = list[list[Row | Mistake]](), [title], 0, list[Row]()
    for start in (*starts, len(rows)):
        part, above = [*rows[first:start]], list[str]()
        while start < len(rows) and part and isinstance(part[-1], Row) and _is_title(part[-1], label):
            above.insert(0, " ".join(filter(None, part.pop().cells)))  # type: ignore[union-attr]
        part, summaries = _without_summaries(part, label)
        parts.append(part)
        passed_over += summaries
        titles.append(" ".join(above))
        first = start + 1
    notes = list[str]()
    if passed_over:
        named = ", ".join(dict.fromkeys(next(filter(None, row.cells)) for row in passed_over[:_NAMED]))
        notes.append(f"passed over {counted(len(passed_over), 'row')} of means and totals ({named})")
    if not starts:
        return header, parts[0], tuple(notes)
    names, columns = list[str](), list[list[str]]()
    titles = [" ".join(re.split(r"[\s,;]+", text)).strip() for text in titles[:-1]]
    years = [{*_YEAR.findall(text)} for text in titles]
    if not names_years(header.cells) and all(len(each) == 1 for each in years):
        names, columns = [YEAR], [[each.pop() for each in years]]
        titles = [" ".join(_YEAR.sub(" ", text).split()) for text in titles]
    if len(set(titles)) > 1:
        names, columns = [*names, TITLE], [*columns, titles]
    more = zip(*columns, strict=True) if columns else iter([()] * len(parts))
    whole = [
        Row(row.number, (*row.cells, *cells)) if isinstance(row, Row) else row
        for part, cells in zip(parts, more, strict=True)
        for row in part
    ]
    notes.append(f"the table is in {len(parts)} parts, each below a header of its own")
    return Row(header.number, (*header.cells, *names)), whole, tuple(notes)


def _without_summaries(rows: list[Row | Mistake], label: int) -> tuple[list[Row | Mistake], list[Row]]:
    """Leave out rows of means and totals at the end, which have a word for that in the place of a date or a year."""
    end = len(rows)
    while end > 1:
        row = rows[end - 1]
        if not isinstance(row, Row) or len(row.cells) <= label or _NUMBER.match(row.cells[label]):
            break
        name = row.cells[label] or next(filter(None, row.cells))
        if not known.SUMMARY.fullmatch(name) or DATE.fullmatch(name):
            break
        end -= 1
    return rows[:end], [row for row in rows[end:] if isinstance(row, Row)]


def _is_title(row: Row, label: int) -> bool:
    """Whether a row above a header is a title: words, of which at most one of several cells is a number."""
    texts = [*filter(None, row.cells)]
    text = (row.cells[label] if label < len(row.cells) else "") or "".join(texts[:1])
    numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in texts)
    of_words = numbers == 0 or (numbers == 1 and len(texts) > _MOST_OF_A_ROW)
    summary = known.SUMMARY.fullmatch(text) or DATE.fullmatch(text)
    return of_words and re.search(r"[^\W\d]{2}", text) is not None and not summary


def names_years(cells: Sequence[str]) -> bool:
    """Whether a column of years is named."""
    return not (known.YEAR_NAMES | known.DATE_PARTS[0][1]).isdisjoint(cell.casefold() for cell in cells)


def year_in(texts: Sequence[str]) -> str:
    """The one year that titles name, or the two of a water year as 1963/64; empty where they name none, or others."""
    years = sorted({int(year) for text in texts for year in _YEAR.findall(text)})
    if len(years) == 2 and years[1] == years[0] + 1:
        return f"{years[0]}/{years[1] % 100:02}"
    return str(years[0]) if len(years) == 1 else ""
