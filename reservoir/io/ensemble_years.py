"""Series of the same months -> an `Inflow` of whole water years, of one record or of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake, worth_telling
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.water_years import month_name, whole_years
from reservoir.io.inflow_csv.cells import no_flow
from reservoir.io.missing_codes import codes_among
from reservoir.io.negative_values import NAMED, negative_values

FloatArray = NDArray[np.float64]


class Unit(Protocol):
    """A unit of inflow."""

    @property
    def name(self) -> str:
        """As in the table of units."""

    def flow_m3s(self, values: FloatArray, calendar: Calendar) -> FloatArray:
        """Values in m3/s, shape (years, steps)."""


class MemberSeries(NamedTuple):
    """What a file says of the same consecutive months of all members.

    Parameters
    ----------
    first : int
        The first month, counted from January of year 0.
    values : ndarray, shape (members, months)
        In the unit.
    members : sequence of str, optional
        Their names; None for a single record that is no ensemble.
    unit : Unit
    companions : mapping of str to ndarray, shape (members, months)
        Further fields of `Inflow`.
    about : mapping
        Fields of `Inflow` that say where it comes from.
    """

    first: int
    values: FloatArray
    members: Sequence[str] | None
    unit: Unit
    companions: Mapping[str, FloatArray]
    about: Mapping[str, Any]

    def inflow(self, first_month: int | None) -> Inflow:
        """Whole water years from a calendar month on, January by default (`inflow_of_series`)."""
        first, values, members, unit, companions, about = self
        return inflow_of_series(first, values, members, unit, first_month or 1, companions, **about)

    def flow_m3s(self) -> FloatArray:
        """Mean flows of all months, whether they fill years or not, shape (members, months).

        Raises
        ------
        InputError
            If one is larger than any river's.
        """
        begin, months = self.first, self.values.shape[1]
        calendar = Calendar(begin // MONTHS_PER_YEAR, 1, begin % MONTHS_PER_YEAR + 1, months)
        flow = self.unit.flow_m3s(self.values, calendar)
        if np.abs(flow).max(initial=0.0) > FLOW_M3S.most:
            raise InputError(_too_large(flow, self.unit, begin, self.members, self.values))
        return flow


def inflow_of_series(
    first: int,
    values: FloatArray,
    members: Sequence[str] | None,
    unit: Unit,
    first_month: int,
    companions: Mapping[str, FloatArray] | None = None,
    **about: Any,
) -> Inflow:
    """Cut series of the same consecutive months into water years.

    Parameters
    ----------
    first : int
        The first month, counted from January of year 0.
    values : ndarray, shape (members, months)
        In the unit; finite, and not negative unless `about` allows it.
    members : sequence of str, optional
        Their names; None for a single record that is no ensemble.
    unit : InflowUnit
    first_month : int
        Calendar month in which the water year begins.
    companions : mapping of str to ndarray, shape (members, months), optional
        Further fields of `Inflow`.
    **about
        Fields of `Inflow` that say where it comes from; `notes` are put before those on what was left out.

    Raises
    ------
    InputError
        If there is no whole water year, or a flow is larger than any river's.
    """
    inside, calendar, left_out = whole_years(first, values.shape[1], first_month)
    count = len(values) * calendar.years
    if members is not None:
        calendar = replace(calendar, years=count, years_each=calendar.years)

    def in_years(series: FloatArray) -> FloatArray:
        return series[:, inside].reshape(count, MONTHS_PER_YEAR)

    flow = unit.flow_m3s(in_years(values), calendar)
    if max(flow.max(initial=0.0), -flow.min(initial=0.0)) > FLOW_M3S.most:
        raise InputError(_too_large(flow, unit, first + inside.start, members, values))
    columns: dict[str, Any] = {name: in_years(series) for name, series in (companions or {}).items()}
    notes = (*about.pop("notes", ()), *left_out)
    names = None if members is None else np.array(members, np.str_)
    return Inflow(flow, calendar, notes=notes, members=names, unit=unit.name, **columns, **about)


def refuse_codes(
    values: FloatArray,
    first: int,
    members: Sequence[str] | None,
    column: str = "",
    codes: NDArray[np.bool_] | None = None,
) -> None:
    """Refuse missing-value codes: InputError with the first ones.

    Parameters
    ----------
    values : ndarray, shape (members, months)
    first : int
        The first month, counted from January of year 0.
    members : sequence of str, optional
    column : str
        Its name, if it is not the inflow.
    codes : ndarray of bool, shape (members, months), optional
        Which values are codes; without it, those that are no flows.
    """
    places = np.argwhere(codes_among(values).sure if codes is None else codes)[: MOST_MISTAKES + 1].tolist()
    mistakes = (
        replace(
            refused := no_flow(float(values[at]), True),
            problem=f"{column and column + ' of '}{where(first + at[1], at[0], members)}: {refused.problem}",
            mend="fill in or correct the value, or leave out the member",
            value=float(values[at]),
        )
        for at in map(tuple, places)
    )
    if places:
        raise InputError(worth_telling(mistakes, ""))


def without_negative(
    values: FloatArray, unit: Unit, first: int, negative: str | None
) -> tuple[FloatArray, tuple[str, ...]]:
    """Series, shape (members, months), with zeros for negative values if that is asked for, and what that adds.

    Parameters
    ----------
    values : ndarray, shape (members, months)
    unit : InflowUnit
    first : int
        The first month, counted from January of year 0.
    negative : str or None
        ``keep`` or ``zero``; None where there are no negative values.
    """
    if negative is None or not (values < 0).any():
        return values, ()
    calendar = Calendar(first // MONTHS_PER_YEAR, 1, first % MONTHS_PER_YEAR + 1, values.shape[1])
    volumes = (unit.flow_m3s(values, calendar) * calendar.hm3_per_m3s).ravel()
    months = values.shape[1]
    below = np.flatnonzero(volumes < 0)[:NAMED].tolist()
    dates = {at: f"{month_name(first + at % months)} of member {at // months + 1}" for at in below}
    told = tuple(negative_values(volumes, dates).note(negative))
    return np.maximum(values, 0.0) if negative == "zero" else values, told


def _too_large(
    flow: FloatArray, unit: Unit, first: int, members: Sequence[str] | None, values: FloatArray
) -> list[Mistake]:
    series = flow.reshape(len(values), -1)
    problem = f"the flow is too large for a river, if the unit is {unit.name}"
    expected, mend = f"a mean flow of at most {FLOW_M3S.most:,.0f} m3/s", "check the value and the unit"
    places = np.argwhere(np.abs(series) > FLOW_M3S.most)[: MOST_MISTAKES + 1].tolist()
    return worth_telling(
        (
            Mistake(f"{where(first + at[1], at[0], members)}: {problem}", expected, mend, value=float(series[at]))
            for at in map(tuple, places)
        ),
        "",
    )


def where(month: int, member: int, members: Sequence[str] | None) -> str:
    """Name a month, and the member."""
    return month_name(month) if members is None else f"{month_name(month)} of member {members[member]}"
