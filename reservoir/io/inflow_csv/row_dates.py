"""Dates of the rows of a table -> what each row stands for, and on which day that begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise

from reservoir.errors import Mistake
from reservoir.hydro.time_step import DAYS_PER_WEEK, TimeStep
from reservoir.io.inflow_csv.dates import Stamp
from reservoir.io.inflow_csv.row_period import A_MONTH, MINUTES, RowPeriod

#: Rows of a record follow each other by what they stand for more often than this.
_MOSTLY = 0.5
#: Days on which ten-day periods begin, and on which the first two end.
_TEN_BEGINS, _TEN_ENDS = frozenset({1, 11, 21}), frozenset({10, 20})
_TEN_DAYS_LAST = range(8, 12)
_WEEK_ENDS = re.compile(r"\bweek[- _]?end(?:s|ing)\b|\b(?:ends?|last day) of (?:the |each |every )?week\b", re.I)


@dataclass(frozen=True)
class RowDates:
    """What the dates of a table by date say.

    Parameters
    ----------
    period : RowPeriod
        What rows stand for.
    first_days : mapping of int to int
        Number of the first day of each row's period, by row; empty of months.
    notes : tuple of str
        How the dates were read.
    """

    period: RowPeriod
    first_days: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, stamps: Mapping[int, Stamp], texts: Iterable[str]) -> RowDates:
        """Recognise them.

        Parameters
        ----------
        stamps : mapping of int to Stamp
            By row.
        texts : iterable of str
            Comments and names of columns, which may say that a week is named by its last day.
        """
        if len(stamps) < 2 or not all(stamp.day for stamp in stamps.values()):
            return cls(A_MONTH)
        days = {row: stamp.day_ordinal for row, stamp in stamps.items()}
        gaps = [after - before for before, after in pairwise(sorted(days.values()))]
        per_day = _rows_of_each_day(stamps.values())
        if per_day:
            return cls(RowPeriod(TimeStep.DAY, per_day), days)
        if _mostly(gap == 1 for gap in gaps):
            return cls(RowPeriod(TimeStep.DAY), days)
        if _mostly(gap in _TEN_DAYS_LAST for gap in gaps) and (named := _ten_days(stamps.values())):
            first = {row: stamp.day_ordinal - stamp.day + _first_of_ten(stamp.day) for row, stamp in stamps.items()}
            note = f"dates on {named} of months are read as ten-day periods"
            return cls(RowPeriod(TimeStep.TEN_DAYS), first, (note,))
        if _mostly(gap == DAYS_PER_WEEK for gap in gaps):
            return cls._weeks(days, texts)
        return cls(A_MONTH)

    @classmethod
    def _weeks(cls, days: Mapping[int, int], texts: Iterable[str]) -> RowDates:
        ends = any(map(_WEEK_ENDS.search, texts))
        back = (DAYS_PER_WEEK - 1) * ends
        first = min(days.values())
        span = f"{date.fromordinal(first)} is {' to '.join(map(str, _week(first - back)))}"
        note = f"dates of weeks are read as their {'last' if ends else 'first'} days: {span}"
        return cls(RowPeriod(TimeStep.WEEK), {row: day - back for row, day in days.items()}, (note,))

    def mistakes(self, column: str) -> Iterator[Mistake]:
        """Periods that stand twice, and weeks that overlap; those that are missing are counted by step."""
        if self.period.per_day > 1:
            return
        noun = self.period.step.noun
        rows: dict[int, int] = {}
        for row, day in self.first_days.items():
            first = rows.setdefault(day, row)
            if first != row:
                problem, mend = f"the {noun} appears twice, first in row {first}", "delete one of the rows"
                value = date.fromordinal(day).isoformat()
                yield Mistake(problem, f"one row per {noun}", mend, row=row, column=column, value=value)
        if self.period.step is TimeStep.WEEK:
            for before, after in pairwise(sorted(rows)):
                if (after - before) % DAYS_PER_WEEK:
                    problem = f"is {after - before} days after the row before"
                    expected, mend = "dates seven days apart", "correct the date"
                    yield Mistake(problem, expected, mend, row=rows[after], column=column)


def _mostly(found: Iterable[bool]) -> bool:
    each = list(found)
    return sum(each) > _MOSTLY * len(each)


def _ten_days(stamps: Iterable[Stamp]) -> str:
    """How ten-day periods are named by days of the month; empty where they are not."""
    some = list(stamps)
    days = {stamp.day for stamp in some}
    if days <= _TEN_BEGINS:
        return "the 1st, the 11th and the 21st"
    if all(stamp.day in _TEN_ENDS or _is_last(stamp) for stamp in some):
        return "the 10th, the 20th and the last day"
    return ""


def _is_last(stamp: Stamp) -> bool:
    return (date(*stamp.month, stamp.day) + timedelta(1)).day == 1


def _first_of_ten(day: int) -> int:
    return 1 + 10 * min((day - 1) // 10, 2)


def _week(first: int) -> tuple[date, date]:
    return date.fromordinal(first), date.fromordinal(first + DAYS_PER_WEEK - 1)


def _rows_of_each_day(stamps: Iterable[Stamp]) -> int:
    """Rows of a day, if all days have rows at the same times, evenly apart; else 0.

    The first and the last day may lack some.
    """
    times: dict[int, list[int]] = {}
    for stamp in stamps:
        times.setdefault(stamp.day_ordinal, []).append(stamp.minute)
    usual, _ = Counter(tuple(sorted(each)) for each in times.values()).most_common(1)[0]
    if len(usual) < 2 or len(set(usual)) < len(usual):
        return 0
    evenly = {after - before for before, after in pairwise(usual)} == {MINUTES // len(usual)}
    ends: Sequence[int] = (min(times), max(times))
    others = (each for day, each in times.items() if day not in ends)
    alike = all(tuple(sorted(each)) == usual for each in others) and all(set(times[day]) <= set(usual) for day in ends)
    once = all(len(set(times[day])) == len(times[day]) for day in ends)
    return len(usual) if evenly and alike and once and MINUTES % len(usual) == 0 else 0
