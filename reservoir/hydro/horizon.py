"""Horizon: the stretch of a record that is planned as one problem."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar

#: Steps of a year of months; a horizon of more is a long one.
MOST_STEPS_OF_YEAR = MONTHS_PER_YEAR
#: How each year by itself and the whole record are named; a window is named by its number of years.
YEAR, RECORD = "year", "record"


@dataclass(frozen=True)
class Horizon:
    """How many consecutive water years are planned as one problem.

    Parameters
    ----------
    years : int, optional
        1 or more; None for the whole record. Of a record that they do not divide, the last window is shorter.

    Raises
    ------
    InputError
        If there are less than 1.
    """

    years: int | None = 1

    def __post_init__(self) -> None:
        if self.years is not None and (isinstance(self.years, bool) or self.years < 1):
            raise _refused(self.years)

    @classmethod
    def of(cls, named: object) -> Horizon:
        """Read ``"year"``, ``"record"`` or a number of years.

        Raises
        ------
        InputError
            If it is none of them.
        """
        if isinstance(named, Horizon):
            return named
        if named in (YEAR, RECORD):
            return cls(1 if named == YEAR else None)
        try:
            return cls(int(str(named)))
        except ValueError:
            raise _refused(named) from None

    def __str__(self) -> str:
        return {1: YEAR, None: RECORD}.get(self.years, str(self.years))

    @property
    def is_year(self) -> bool:
        """Whether each year is planned by itself, as in Yu et al. 2020."""
        return self.years == 1

    def within(self, calendar: Calendar) -> Horizon:
        """The same of each member of an ensemble: its whole record is a window of all its years.

        Raises
        ------
        InputError
            If the years of a window do not divide those of a member.
        """
        if not calendar.is_ensemble:
            return self
        each = calendar.years_each
        years = min(self.years or each, each)
        if each % years or calendar.years % years:
            problem = f"windows of {years} years do not divide the {each} years of a member"
            expected = "one of " + ", ".join(str(count) for count in range(1, each + 1) if each % count == 0)
            raise InputError(Mistake(problem, expected, "choose another horizon", column="horizon", value=str(self)))
        return Horizon(years)

    def spans(self, years: int) -> list[tuple[int, int]]:
        """First year of each problem of a record, and the one behind its last."""
        return list(pairwise([*range(0, years, self.years or years), years]))

    def equal_spans(self, years: int) -> list[tuple[int, int, int]]:
        """First year of equally long problems, the one behind their last, and the years of each problem.

        One item, and another of the last problem where it is shorter.
        """
        length = min(self.years or years, years)
        whole = years // length * length
        return [(0, whole, length), *([(whole, years, years - whole)] if whole < years else [])]


def _refused(found: object) -> InputError:
    expected = '"year", "record", or a number of years of 1 or more'
    return InputError(Mistake("the horizon is not known", expected, "choose one of them", value=found))
