"""Dates such as ``1990-02-01``: the first day of the month that is meant, or the day after its end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.io.inflow_csv.column_words import understand
from reservoir.io.inflow_csv.dates import Month
from reservoir.io.inflow_csv.record import Record
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import folded

_PERIODS = r"(?:month|day|hour|period|interval|time ?step|step)s?"
_OF_PERIOD = rf"of (?:the |each |every |its |their )?{_PERIODS}"
#: What says that a date or a time stands at the end of its period, or at its beginning; HEC-DSS has types of its own
#: for means and sums of periods, whose times are their ends.
_ENDS = re.compile(
    rf"(?<!\w)(?:{_PERIODS} ?end(?:s|ing)?|ends? {_OF_PERIOD}|eo[pm]|per (?:aver|cum)|intervallende"
    r"|fin(?:ale?)? d\w{0,4} ?(?:la |l')?(?:mois|jour|journée|heure|période|mes|día|hora|per[ií]odo|interval(?:o|le))"
    r"|ende (?:des|der|eines) (?:monats|tages|stunde|zeitraums|intervalls|zeitschritts))"
    r"(?! of record)(?!\w|\W*\d)|[月日期段]末|结束时刻"
)
_BEGINS = re.compile(
    rf"(?<!\w)(?:{_PERIODS} ?(?:begin(?:s|ning)?|start(?:s|ing)?)|(?:begin(?:ning)?|start)s? {_OF_PERIOD})(?!\w)"
    r"|[月日期段]初"
)


def says_end(text: str) -> bool:
    """Whether a text says that dates stand at the end of their periods; of storages it says nothing of flows."""
    parts = re.split(r"[,;()]|[.:](?=\s|$)", folded(text))
    return any(_ENDS.search(part.replace("-", " ")) and not understand(part).is_other for part in parts)


def says_begin(text: str) -> bool:
    """Whether a text says that dates stand at the beginning of their periods."""
    return _BEGINS.search(folded(text).replace("-", " ")) is not None


def stamp_mistakes(table: InflowTable, record: Record, first_month: int) -> Iterator[Mistake]:
    """Refuse dates on the first of a month where the file tells that they may stand at the end of the month before.

    A comment says so, or whole years begin one month after January or after `first_month`, in which the water year
    begins.
    """
    if not record.first_stamp or not record.values:
        return
    first, last = Month.at(record.values[0].ordinal), Month.at(record.values[-1].ordinal)
    late = first.month in {2, first_month % MONTHS_PER_YEAR + 1} and first.month != first_month
    whole = len(record.values) % MONTHS_PER_YEAR == 0
    said = next((comment for comment in table.comments if says_end(comment.text)), None)
    if said is None and not (late and whole):
        return
    why = (
        f"the comment in row {said.number} mentions the end of the month"
        if said
        else f"the record has whole years from {first} to {last}"
    )
    problem = f"each date may be the day after the end of its month: {why}"
    expected = f"the month of the flow: {first.before} or {first}"
    yield Mistake(problem, expected, "write dates as YYYY-MM", row=record.values[0].row, value=record.first_stamp)


def stamp_notes(record: Record) -> Iterator[str]:
    """How dates on the first of a month were read."""
    if record.first_stamp and record.values:
        month = Month.at(record.values[0].ordinal)
        yield (
            f"dates on the first of a month are read as that month: {month}-01 is {MONTH_NAMES[month.month - 1]} "
            f"{month.year}; if the flow is that of the previous month, write {month.before}"
        )
