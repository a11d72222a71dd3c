"""Dates of the rows of a table -> what each row stands for, and on which day that begins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise

from reservoir.errors import Mistake, shortened
from reservoir.hydro.time_step import DAYS_PER_WEEK, TimeStep
from reservoir.io.inflow_csv.dates import MINUTES, NEXT_DAY, Stamp
from reservoir.io.inflow_csv.row_period import A_MONTH, RowPeriod
from reservoir.io.inflow_csv.stamps import says_begin, says_end

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
    doubts : tuple of Mistake
        Why nobody knows which periods they name.
    """

    period: RowPeriod
    first_days: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Mistake, ...] = ()

    @classmethod
    def of(cls, stamps: Mapping[int, Stamp], texts: Sequence[str], claims: Sequence[str]) -> RowDates:
        """Recognise them.

        Parameters
        ----------
        stamps : mapping of int to Stamp
            By row.
        texts : sequence of str
            Comments and names of columns, which may say that a week is named by its last day.
        claims : sequence of str
            Those that may say that all dates stand at the ends of their periods.
        """
        written = cls._as_written(stamps, texts)
        if written.period.is_month:
            late = [row for row, stamp in stamps.items() if stamp.minute == MINUTES and not stamp.ends_month]
            return replace(written, doubts=tuple(replace(NEXT_DAY, row=row, value=str(stamps[row])) for row in late))
        said = next((text for text in claims if says_end(text)), "")
        if any(stamp.minute == MINUTES for stamp in stamps.values()):
            said = "24:00"
        elif any(map(says_begin, claims)):
            return written
        elif said and written.period.step is TimeStep.WEEK and not any(stamp.timed for stamp in stamps.values()):
            return cls._as_written(stamps, (*texts, "week ending"))
        elif not said or not any(stamp.timed for stamp in stamps.values()):
            return replace(written, doubts=tuple(_doubts(stamps, written, said)))
        length = MINUTES // written.period.per_day
        begins = {row: _begin(stamp, length) for row, stamp in stamps.items()}
        found = cls._as_written(begins, (*texts, "week ending"))
        row = min(stamps, key=lambda each: stamps[each].minutes)
        note = f'times are read as the ends of their periods ("{shortened(said)}"): {stamps[row]} ends {begins[row]}'
        return replace(found, notes=(note, *found.notes))

    @classmethod
    def _as_written(cls, stamps: Mapping[int, Stamp], texts: Sequence[str]) -> RowDates:
        """What they say if each names the period that it stands in."""
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
    def _weeks(cls, days: Mapping[int, int], texts: Sequence[str]) -> RowDates:
        ends = any(map(_WEEK_ENDS.search, texts))
        back = (DAYS_PER_WEEK - 1) * ends
        first = min(days.values())
        span = f"{date.fromordinal(first)} is {' to '.join(map(str, _week(first - back)))}"
        note = f"dates of weeks are read as their {'last' if ends else 'first'} days: {span}"
        return cls(RowPeriod(TimeStep.WEEK), {row: day - back for row, day in days.items()}, (note,))

    def mistakes(self, column: str) -> Iterator[Mistake]:
        """Periods that stand twice, and weeks that overlap; those that are missing are counted by step."""
        yield from (replace(doubt, column=column) for doubt in self.doubts)
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


def _begin(stamp: Stamp, length: int) -> Stamp:
    """The time at which a period of a part of a day begins; of a day or longer, its last day."""
    if length < MINUTES:
        return Stamp.at(stamp.minutes - length)
    return Stamp.at((stamp.minutes - MINUTES // 2) // MINUTES * MINUTES)._replace(timed=False)


def _doubts(stamps: Mapping[int, Stamp], written: RowDates, said: str) -> Iterator[Mistake]:
    """Why dates of days or hours may stand at the end of their periods, though no time says so, or no text."""
    first_row, last_row = (choose(stamps, key=lambda row: stamps[row].minutes) for choose in (min, max))
    first, last, per_day = stamps[first_row], stamps[last_row], written.period.per_day
    if written.period.step is TimeStep.TEN_DAYS and first.day in _TEN_BEGINS:
        whole = False
    elif written.period.step is not TimeStep.DAY:
        return
    elif per_day > 1:
        whole = first.minute == MINUTES // per_day and last.minute == 0
    else:
        whole = first.day == 2 and last.day == 1 and last.month.month == first.month.month
    if not said and not whole:
        return
    why = f'"{shortened(said)}" says so' if said else f"the record has whole days from {first} to {last}"
    if not said and per_day == 1:
        why = f"the record has whole years from {first} to {last}"
    problem = f"each date may stand at the end of its period: {why}"
    expected = "times that say which day it is, or a comment that does"
    mend = (
        'add the line "# period beginning" if a date is the day or hour that begins with it; if it is the end of one, '
    )
    mend += 'write the time (00:00, or 24:00 of the day before) and add "# period ending"'
    yield Mistake(problem, expected, mend, row=first_row, value=str(first))


def _mostly(found: Iterable[bool]) -> bool:
    each = list(found)
    return sum(each) > _MOSTLY * len(each)


def _ten_days(stamps: Iterable[Stamp]) -> str:
    """How ten-day periods are named by days of the month; empty where they are not."""
    some = list(stamps)
    days = {stamp.day for stamp in some}
    if days <= _TEN_BEGINS:
        return "the 1st, the 11th and the 21st"
    if all(stamp.day in _TEN_ENDS or stamp.ends_month for stamp in some):
        return "the 10th, the 20th and the last day"
    return ""


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
