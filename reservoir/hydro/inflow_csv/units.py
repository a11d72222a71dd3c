"""The unit of an inflow file: named by the caller, by a comment or by the column, and never by two that disagree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow_csv.table import InflowTable
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3, key_suffix


@dataclass(frozen=True)
class InflowUnit:
    """A unit of mean flow, or of the volume that a month brings.

    Parameters
    ----------
    name : str
        As in the table of units.
    size : float
        One of it in m3/s, or in hm3 where it is a volume.
    is_volume : bool
        Whether a value is the volume of its month.
    """

    name: str
    size: float
    is_volume: bool

    def flow_m3s(self, values: NDArray[np.float64], calendar: Calendar) -> NDArray[np.float64]:
        """Convert values of this unit, shape (years, steps), to mean flow (m3/s) with each month's real days."""
        return values * self.size / calendar.volume_per_flow if self.is_volume else values * self.size


CUBIC_METRES_PER_SECOND = InflowUnit("m3/s", FLOW_M3S["m3/s"], is_volume=False)

_UNITS = {key_suffix(name): InflowUnit(name, size, is_volume=False) for name, size in FLOW_M3S.items()} | {
    key_suffix(name): InflowUnit(name, size, is_volume=True) for name, size in VOLUME_HM3.items()
}


@dataclass(frozen=True)
class UnitChoice:
    """The unit of a file, with what is wrong or remarkable about it."""

    unit: InflowUnit = CUBIC_METRES_PER_SECOND
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Claim:
    source: str
    text: str
    at: partial[Mistake]

    @property
    def unit(self) -> InflowUnit | None:
        return _UNITS.get(key_suffix(self.text.strip()))


def choose_unit(table: InflowTable, value_column: str, argument: str | None) -> UnitChoice:
    """Find the unit of `table`: m3/s where nobody names one.

    Parameters
    ----------
    table : InflowTable
        Its comments may name a unit: ``# unit: hm3``.
    value_column : str
        Name of the one column of values, which may end in a unit: ``inflow_m3s``; empty where there is none.
    argument : str or None
        The unit that the caller names.
    """
    claims = list(_claims(table, value_column, argument))
    unknown = tuple(_unknown(claim) for claim in claims if claim.unit is None)
    known = [(claim, claim.unit) for claim in claims if claim.unit is not None]
    if unknown or not known:
        return UnitChoice(mistakes=unknown, notes=tuple(_notes(value_column)) if not claims else ())
    unit = known[0][1]
    differing = [claim for claim, other in known if (other.size, other.is_volume) != (unit.size, unit.is_volume)]
    return UnitChoice(unit, tuple(_contradiction(known[0][0], claim) for claim in differing))


def _claims(table: InflowTable, value_column: str, argument: str | None) -> Iterator[_Claim]:
    if argument is not None:
        yield _Claim("the call", argument, partial(Mistake, column="unit"))
    for comment in table.comments:
        text = comment.says("units?")
        if text is not None:
            yield _Claim(
                f"the comment in row {comment.number}", text, partial(Mistake, file=table.file, row=comment.number)
            )
    named = _unit_in(value_column)
    if named:
        at = partial(Mistake, file=table.file, row=table.header.number, column=value_column)
        yield _Claim("the column's name", named, at)


def _unit_in(column: str) -> str | None:
    name = key_suffix(re.sub(r"[\s()\[\],]+", "_", column).strip("_"))
    endings = [key for key in _UNITS if name == key or name.endswith(f"_{key}")]
    return max(endings, key=len, default=None)


def _notes(value_column: str) -> Iterator[str]:
    if re.search(r"[_(\[]", value_column):
        yield f'the column "{value_column}" ends in no known unit; its values are read as m3/s'


def _accepted() -> str:
    return f"{', '.join(FLOW_M3S)} (mean flow) or {', '.join(VOLUME_HM3)} (volume of the month)"


def _unknown(claim: _Claim) -> Mistake:
    return claim.at(
        "unknown unit", value=claim.text, expected=_accepted(), mend="convert the values, or name one of these units"
    )


def _contradiction(first: _Claim, second: _Claim) -> Mistake:
    return second.at(
        f"units that contradict: {first.source} says {first.text}, {second.source} says {second.text}",
        expected="one unit",
        mend="find out which unit the values have, and remove or correct the other",
    )
