"""An inflow record: mean flow of every month of consecutive water years."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import EVAPORATION_MM, FLOW_M3S, PRICE_PER_MWH, Range
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.month_series import flows_of_series, periods_of
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.hydro.year_labels import YearLabels
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    import pandas as pd

#: What a record may say of its steps beside the inflow.
COMPANIONS = ("evaporation_mm", "withdrawal_m3s", "price_per_mwh")
#: Where the unit of a file was said, if it was not.
ASSUMED = "assumed: the file gives no unit"
#: From a member's random numbers to the next one's: 2**32 over the golden ratio, made odd.
_STREAM_STEP = 0x9E3779B1


# Compared by identity: arrays have no single truth value, and an identity can be a key.
@dataclass(frozen=True, eq=False)
class Inflow:
    """Mean inflow of each step of each water year.

    Parameters
    ----------
    flow_m3s : ndarray, shape (years, steps)
        Mean flow of each step (m3/s), of no more than any river's and, unless `allow_negative`, not negative; kept as
        a read-only copy.
    calendar : Calendar
        The water years that the flows belong to.
    notes : tuple of str
        What the user should know, such as months left out of incomplete water years.
    caveat : str
        Shown on every figure drawn from this record.
    source, sha256 : str
        The file as it was named, and the hash of its bytes.
    unit, unit_from : str
        Unit of the values in that file, and where it was said (or that it was assumed); empty without a file.
    content : bytes
        That file, which may have been a pipe.
    evaporation_mm, withdrawal_m3s : ndarray, shape (years, steps), optional
        Net evaporation and the withdrawal demanded in each step; without them, the reservoir's of the calendar month.
    price_per_mwh : ndarray, shape (years, steps), optional
        Price of energy in each step; without it, the reservoir's of the calendar month.
    members : ndarray of str, optional
        Names of the members of an ensemble, in their order; without them, they are numbered from 1.
    reading : mapping
        How the caller asked for that file to be read, where it was not as usual.
    allow_negative : bool
        Whether flows may be negative, as those computed from a reservoir's balance are.

    Raises
    ------
    InputError
        If the flows do not fit the calendar, or are not finite, or are negative.
    """

    flow_m3s: NDArray[np.float64]
    calendar: Calendar
    notes: tuple[str, ...] = ()
    caveat: str = ""
    source: str = ""
    sha256: str = ""
    unit: str = ""
    unit_from: str = ""
    content: bytes = field(default=b"", repr=False)
    evaporation_mm: NDArray[np.float64] | None = None
    withdrawal_m3s: NDArray[np.float64] | None = None
    price_per_mwh: NDArray[np.float64] | None = None
    members: NDArray[np.str_] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    allow_negative: bool = False

    def __post_init__(self) -> None:
        flow = _checked(self.flow_m3s, self.calendar, -np.inf if self.allow_negative else 0.0)
        flow.setflags(write=False)
        object.__setattr__(self, "flow_m3s", flow)
        if self.calendar.is_ensemble:
            object.__setattr__(self, "members", _names(self.members, self.calendar.of_member))
        for name, allowed in zip(COMPANIONS, (EVAPORATION_MM, FLOW_M3S, PRICE_PER_MWH), strict=True):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _column(name, given, flow.shape, allowed))

    def __repr__(self) -> str:
        return f"<Inflow {self.span_text}: {counted(self.years, 'year')}, mean {quantity(self.mean_m3s)} m3/s>"

    @classmethod
    def from_series(cls, series: pd.Series[float], first_month: int = 1, *, caveat: str = "") -> Inflow:
        """Take monthly flows from pandas.

        Parameters
        ----------
        series : pandas.Series
            Mean flow of each month (m3/s). Its index is a monthly PeriodIndex, or a DatetimeIndex of which each date
            stands for its calendar month; in order and without gaps.
        first_month : int
            Calendar month (1 to 12) in which the water year begins. Months at either end that fill no whole water
            year are left out, and named in `notes`.
        caveat : str
            Shown on every figure drawn from this record.

        Raises
        ------
        InputError
            With every month that is missing, repeated, out of order, negative or not a number; if the index has no
            months; if there is no whole water year.
        """
        flow, calendar, notes = flows_of_series(series, first_month)
        return cls(flow, calendar, notes=notes, caveat=caveat)

    def to_series(self) -> pd.Series[float]:
        """Mean flow of each month (m3/s), named ``inflow_m3s``, by a monthly PeriodIndex."""
        import pandas as pd

        return pd.Series(self.flow_m3s.ravel(), index=periods_of(self.calendar), name="inflow_m3s")

    def span(self, first: int, stop: int) -> Inflow:
        """Consecutive years of the record, from the place `first` up to `stop`."""
        calendar = self.calendar.span(first, stop)
        members = None
        if self.members is not None:
            of_member = self.calendar.of_member - self.calendar.of_member[0]
            members = self.members[of_member[first] : of_member[stop - 1] + 1]
        columns = {name: getattr(self, name) for name in ("flow_m3s", *COMPANIONS)}
        some: dict[str, Any] = {name: None if each is None else each[first:stop] for name, each in columns.items()}
        return replace(self, **some, calendar=calendar, members=members)

    @property
    def has_conditions(self) -> bool:
        """Whether the record says more of its steps than the inflow."""
        return self.evaporation_mm is not None or self.withdrawal_m3s is not None

    def require_no_members(self, what: str) -> None:
        """Refuse an ensemble for what goes through the years of one record: InputError."""
        if self.members is not None:
            problem = f"{what} cannot work on an ensemble yet: this one has {counted(len(self.members), 'member')}"
            raise InputError(Mistake(problem, "one record", "give the record of one member", file=self.source))

    def require_months(self, what: str) -> None:
        """Refuse steps other than months for what knows only these: InputError."""
        step = self.calendar.step
        if step is not TimeStep.MONTH:
            problem, mend = f"{what} needs months: this record has {step.noun}s", 'read the record with step "month"'
            raise InputError(Mistake(problem, "months", mend, file=self.source))

    def require_whole_members(self, what: str) -> None:
        """Refuse a part of an ensemble that begins or ends within a member, for what goes through its years."""
        each = self.calendar.years_each
        if each and (self.calendar.left_out % each or self.years % each):
            problem = f"{what} needs whole members: this part of an ensemble begins or ends within one of {each} years"
            raise InputError(Mistake(problem, "whole members", "give the years of whole members", file=self.source))

    @property
    def member_count(self) -> int:
        """Number of members; 1 of a record."""
        return 1 if self.members is None else len(self.members)

    @property
    def years(self) -> int:
        """Number of water years."""
        return self.calendar.years

    @property
    def steps(self) -> int:
        """Steps in a water year."""
        return self.calendar.steps

    @cached_property
    def labels(self) -> YearLabels:
        """Name of each water year."""
        return replace(self.calendar.labels, members=self.member_of_year)

    @property
    def span_text(self) -> str:
        """The first and the last year: ``1953 to 2014``; of an ensemble ``100 members, each 2001 to 2030``."""
        years = self.calendar.labels[: self.calendar.years_each or None]
        span = " to ".join(dict.fromkeys((years[0], years[-1])))
        return span if self.members is None else f"{counted(len(self.members), 'member')}, each {span}"

    @cached_property
    def member_of_year(self) -> NDArray[np.str_] | None:
        """Name of the member that each water year belongs to, shape (years,); None unless it is an ensemble."""
        of_member = self.calendar.of_member
        return None if self.members is None else self.members[of_member - of_member[0]]

    @property
    def rng_stream_ids(self) -> NDArray[np.int64]:
        """What names the random numbers of each water year, shape (years,): its calendar year, and its member."""
        return (self.calendar.start_years + self.calendar.of_member * _STREAM_STEP) % 2**32

    @property
    def mean_m3s(self) -> float:
        """Mean flow of the record (m3/s), every step weighted by its days."""
        days = self.calendar.days
        return float((self.flow_m3s * days).sum() / days.sum())

    @property
    def scale(self) -> str:
        """The unit that was understood, where it was said, and the mean flow: enough to notice a wrong unit."""
        return self.scale_in(SI)

    def scale_in(self, units: UnitSystem) -> str:
        """The same, with the mean flow in some units."""
        unit = f"values in {self.unit} ({self.unit_from}); " if self.unit else ""
        mean, name = units.amount(self.mean_m3s, "m3s")
        return f"{unit}mean flow {mean:{',.0f' if mean >= 1000 else '.3g'}} {name}"

    @cached_property
    def annual_mean_m3s(self) -> NDArray[np.float64]:
        """Mean flow of each water year (m3/s), every step weighted by its days, shape (years,)."""
        days = self.calendar.days
        mean: NDArray[np.float64] = (self.flow_m3s * days).sum(axis=1) / days.sum(axis=1)
        mean.setflags(write=False)
        return mean


def _checked(given: ArrayLike, calendar: Calendar, least: float) -> NDArray[np.float64]:
    """Flows as a copy, refused if they do not fit the calendar, are not finite, too low, or larger than any river's."""
    refused = partial(Mistake, column="flow_m3s")
    try:
        flow = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        expected = "one row of numbers per water year, all rows of the same length"
        mend = "give mean flows in m3/s"
        raise InputError(refused("the flows are not an array of numbers", expected, mend)) from error
    shape = calendar.years, calendar.steps
    if flow.shape != shape:
        expected = f"the shape {shape}: water years x steps"
        mend = "give one row per water year and one value per step"
        raise InputError(refused("the flows do not fit the calendar", expected, mend, value=flow.shape))
    wrong = np.argwhere(~((flow >= least) & (np.abs(flow) <= FLOW_M3S.most)))
    if len(wrong):
        year, step = wrong[0]
        count = "one flow is" if len(wrong) == 1 else f"{len(wrong)} flows are"
        month = f"{calendar.step_names[step]} of {calendar.labels[int(year)]}"
        sound = bool(np.isfinite(flow[year, step]) and flow[year, step] >= least)
        what = "larger than any river's" if sound else "negative or not finite"
        problem = f"{count} {what}, first {month}"
        expected = f"finite flows of {'' if least < 0 else '0 m3/s or more and '}at most {FLOW_M3S.most:,.0f} m3/s"
        mend = "correct or fill in these months"
        raise InputError(refused(problem, expected, mend, value=float(flow[year, step])))
    return flow


def _names(given: ArrayLike | None, of_member: NDArray[np.int64]) -> NDArray[np.str_]:
    """Names of all members, numbers if none are given; refused if they are not as many, or not all different."""
    count = int(of_member[-1] - of_member[0]) + 1
    names = 1 + of_member[0] + np.arange(count) if given is None else np.asarray(given)
    names = names.astype(np.str_)
    if names.shape != (count,) or len(np.unique(names)) < count:
        problem, expected = f"there are {names.size} names of members", f"{count} different names, one of each member"
        raise InputError(Mistake(problem, expected, column="members"))
    return names


def _column(name: str, given: ArrayLike, shape: tuple[int, ...], allowed: Range) -> NDArray[np.float64]:
    """A further column as a read-only copy, refused if it does not fit the flows, or is not within its range."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(Mistake("is not an array of numbers", f"the shape {shape}", column=name)) from error
    if values.shape != shape:
        problem, expected = f"has the shape {values.shape}", f"the shape of the flows, {shape}"
        raise InputError(Mistake(problem, expected, column=name))
    wrong = values[~((values >= allowed.least) & (values <= allowed.most))]
    if len(wrong):
        expected = f"numbers from {allowed.least:,.0f} to {allowed.most:,.0f}"
        raise InputError(Mistake("has a value out of range", expected, column=name, value=float(wrong[0])))
    values.setflags(write=False)
    return values
