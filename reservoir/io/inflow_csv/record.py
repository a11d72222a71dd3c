"""An inflow record from either layout: one value a month or shorter period, checked for missing and repeated ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.row_period import A_MONTH, RowPeriod

#: Water years of a record: a few fewer than the calendar has. Longer records are planned in parts.
MOST_YEARS = 8_000


class StepValue(NamedTuple):
    """The value of a month or another period, as an ordinal number, its cell, and how it is written there."""

    ordinal: int
    value: float
    row: int
    column: str
    text: str

    def mistake(self, problem: str, expected: str, mend: str) -> Mistake:
        """Say what is wrong with it."""
        return Mistake(problem, expected, mend, row=self.row, column=self.column, value=self.text)


@dataclass(frozen=True)
class Record:
    """An inflow file, understood.

    Parameters
    ----------
    values : tuple of StepValue
        Every month in order, and without holes wherever `mistakes` is empty; or every row of shorter periods that has
        a value, in order, by the number of its first day. In the unit of the file; a negative value only where it was
        asked for.
    period : RowPeriod
        What each of them is the value of.
    first_month : int
        Calendar month (1 to 12) in which the file's own years begin.
    names_water_years : bool
        Whether years are written like ``1953/54``, which fixes the month in which they begin.
    value_column : str or None
        Name of the one column of values; None where each month has its own.
    unit_texts : tuple of (str, str)
        Columns whose names may say the unit, and what of the name does.
    first_stamp : str
        The first date as it is written, if every date is the first day of a month; else empty.
    beside : tuple of int
        Places of the columns that are passed over.
    companions : mapping
        Values of further columns by row, by field of `Inflow`.
    companion_names : mapping
        Names of these columns, by field.
    mistakes : tuple of Mistake
        All that is wrong with the header and the cells.
    notes : tuple of str
        What the user should know about how the file was understood.
    codes : tuple of str
        Those of the notes that say which days are missing, because a code stands there.
    """

    values: tuple[StepValue, ...] = ()
    period: RowPeriod = A_MONTH
    first_month: int = 1
    names_water_years: bool = False
    value_column: str | None = None
    unit_texts: tuple[tuple[str, str], ...] = ()
    first_stamp: str = ""
    beside: tuple[int, ...] = ()
    companions: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    companion_names: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


class PeriodIndex(NamedTuple):
    """A year or a month as an ordinal number, and the row it stands in."""

    ordinal: int
    row: int


@dataclass(frozen=True)
class TimeAxis:
    """What the stamps of a file are, and how they are written.

    Parameters
    ----------
    noun : str
        What one of them is called: year or month.
    column : str
        Where they stand.
    mend_double : str
        What to do about one that stands twice.
    written : callable
        A stamp, by its ordinal, as the file writes it.
    unreadable : frozenset of int
        Rows whose stamp could not be read: a hole that one of them may fill is not reported.
    """

    noun: str
    column: str
    mend_double: str
    written: Callable[[int], str]
    unreadable: frozenset[int] = frozenset()


def too_many_years(years: int) -> Mistake:
    """Refuse a record of more years than this program is made for."""
    expected = f"at most {MOST_YEARS:,} years"
    return Mistake(f"the record has {years:,} years", expected, "split it into parts of whole years")


def sequence_mistakes(stamps: Sequence[PeriodIndex], scale: TimeAxis) -> Iterator[Mistake]:
    """Name every stamp that stands twice, and every hole between two stamps.

    Parameters
    ----------
    stamps : sequence of PeriodIndex
        In any order.
    scale : TimeAxis
        What they are.
    """
    for before, after in pairwise(sorted(stamps)):
        at_second = partial(Mistake, row=after.row, column=scale.column)
        if after.ordinal == before.ordinal:
            problem = f"the {scale.noun} appears twice, first in row {before.row}"
            value = scale.written(after.ordinal)
            yield at_second(problem, f"one row per {scale.noun}", scale.mend_double, value=value)
        elif after.ordinal > before.ordinal + 1 and not any(before.row < row < after.row for row in scale.unreadable):
            first, last = scale.written(before.ordinal + 1), scale.written(after.ordinal - 1)
            missing = f"the {scale.noun} {first} is" if first == last else f"the {scale.noun}s {first} to {last} are"
            problem = f"{missing} missing between {scale.written(before.ordinal)} and {scale.written(after.ordinal)}"
            mend = "add the missing rows, or keep only the part of the record before or after the gap"
            yield at_second(problem, mend=mend)
