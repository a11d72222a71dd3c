"""Which sheet of a workbook is the record: the one with dates or years, and among several the one with an inflow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from reservoir.errors import InputError
from reservoir.io.level_table import holds_levels
from reservoir.io.plant_table import holds_plant
from reservoir.io.records.heading import Row, above_dates, names_dates
from reservoir.io.records.table import content_of, cut
from reservoir.io.records.words import QUANTITIES, WordKind, understand
from reservoir.io.workbook import MOST_BYTES, Sheet, chosen_sheet, sheets_of
from reservoir.text.data_file import read_limited

#: Rows from the header on in which dates are looked for.
_LOOKED_AT = 5


def record_sheet(data: bytes, names: Sequence[str] = ()) -> tuple[Sheet, str]:
    """The sheet of a workbook that is a record, and how it was chosen; nothing where there was no choice.

    Where no sheet has dates or years, it is the first that is neither a level curve nor numbers of a reservoir, whose
    mistakes are told.

    Parameters
    ----------
    data : bytes
    names : sequence of str
        Sheets that the caller names; others of them may be the curve, or the limits.

    Raises
    ------
    InputError
        If it is no workbook or has no cells, a name is that of no sheet, or several sheets may be the record.
    """
    sheets = sheets_of(data)
    others = [sheet for sheet in sheets if holds_levels(sheet) or holds_plant(sheet)]
    rest = [sheet for sheet in sheets if sheet not in others]
    named = [sheet for sheet in rest if sheet.name.strip().casefold() in {name.strip().casefold() for name in names}]
    dated = [sheet for sheet in named or rest if _header(sheet)]
    of_inflow = [sheet for sheet in dated if _names_inflow(sheet)]
    candidates = named or (of_inflow if len(dated) > 1 and of_inflow else dated)
    sheet = chosen_sheet(sheets, names, lambda sheet: sheet in candidates, "the inflow")
    if sheet is None and not rest and sheets:
        listed = ", ".join(each.name for each in sheets)
        problem, expected = f"no sheet holds an inflow (sheets: {listed})", "a sheet with dates, or years, and flows"
        raise InputError(problem, expected, "add such a sheet, or give the record as a file of its own")
    sheet = sheet or (rest[0] if rest else Sheet("", ()))
    of_no_use = [] if any(map(holds_levels, others)) else others  # limits without a curve
    passed_over = [each.name for each in (*rest, *of_no_use) if each != sheet]
    note = f'inflow from sheet "{sheet.name}"' if len(sheets) > 1 else ""
    return sheet, f"{note}, passed over {', '.join(passed_over)}" if note and passed_over else note


def has_record(path: Path) -> bool:
    """Whether a sheet of a workbook has dates or years, and is no table of a reservoir."""
    with suppress(InputError, OSError):  # the reader of the reservoir says what is wrong
        sheets = sheets_of(read_limited(path, MOST_BYTES))
        return any(_header(sheet) and not holds_levels(sheet) and not holds_plant(sheet) for sheet in sheets)
    return False


def _header(sheet: Sheet) -> tuple[str, ...]:
    """The header of a sheet with dates, years or months; nothing of another."""
    with suppress(InputError):
        content = content_of(sheet.csv())
        rows = [cut(*line, content.delimiter) for line in content.lines[:_LOOKED_AT]]
        cells = [row.cells if isinstance(row, Row) else () for row in rows]
        if names_dates(cells[0]) or above_dates(cells) == 0:
            return cells[0]
    return ()


def _names_inflow(sheet: Sheet) -> bool:
    """Whether a column, or the sheet's own name, speaks of a flow and of no other quantity."""
    names = _header(sheet)
    sayings = [understand(text) for text in (*names, sheet.name)]
    spoken = any({*QUANTITIES, WordKind.UNIT} & saying.kinds and not saying.is_no_inflow for saying in sayings)
    return spoken and not understand(sheet.name).is_other
