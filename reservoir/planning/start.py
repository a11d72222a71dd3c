"""Where a plan begins, and what the water that it leaves at its end is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.commitments import NO_COMMITMENTS, is_committed
from reservoir.hydro.inflow import Inflow, traces_of
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.plant import storage_at_level
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem, UnitText
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers.dp.water_value import cycle_end_value
from reservoir.text.quantities import counted

_MONTH = re.compile(r"(\d{4})-(\d{1,2})(-0?1)?")


@dataclass(frozen=True, eq=False)
class PlanStart:
    """A month and a storage from which every scenario of a plan begins.

    Parameters
    ----------
    month : str
        As ``2026-11``.
    storage_hm3 : float
        At the start of that month.
    horizon : Horizon
        Water years that a scenario reaches into, the one of the month included.
    reservoir : Reservoir
        As it is for whole water years.

    Raises
    ------
    InputError
        If the month is none, the storage is not on the level curve, or the reservoir prescribes no end.
    """

    month: str
    storage_hm3: float
    horizon: Horizon
    reservoir: Reservoir

    def __post_init__(self) -> None:
        _year_and_month(self.month)
        lower, upper = self.reservoir.level.domain
        if not lower <= self.storage_hm3 <= upper:
            whose = f"the range of the level curve of {self.reservoir.name}"
            expected = UnitText(
                lambda units: f"{units.number(lower, 'hm3', ',.6g')} to {units.stated(upper, 'hm3', ',.6g')}, {whose}"
            )
            mend, problem = "give a storage in this range", "is outside the level curve"
            raise InputError(problem, expected, mend, column="start_hm3", value=self.storage_hm3)
        if self.reservoir.year_end is YearEnd.CYCLIC:
            problem = 'year_end is "cyclic": no storage is prescribed at the end of the water year'
            mend = 'set year_end to "fixed" with the storage to end with, or to "free"'
            raise InputError(problem, 'year_end "fixed" or "free"', mend, column="start", value=self.month)

    def __str__(self) -> str:
        return "{:04d}-{:02d}".format(*_year_and_month(self.month))

    @property
    def level_m(self) -> float:
        """Level at the start."""
        return float(self.reservoir.level(self.storage_hm3))

    def traces(self, inflow: Inflow) -> Inflow:
        """The scenarios of a record, in place of its water years."""
        inflow.require_no_members("a plan from a given month")
        return traces_of(inflow, _year_and_month(self.month)[1], self.horizon)

    @cached_property
    def begun(self) -> Reservoir:
        """The reservoir with this start; what is guaranteed for a year is left out."""
        month = _year_and_month(self.month)[1]
        left_out: dict[str, Any] = {"guaranteed_energy_gwh": None, **(NO_COMMITMENTS if self.leaves_out else {})}
        return replace(self.reservoir, first_month=month, initial_storage_hm3=self.storage_hm3, **left_out)

    @property
    def leaves_out(self) -> str:
        """What is left out where it begins within a water year, in a sentence; empty of nothing."""
        within = _year_and_month(self.month)[1] != self.reservoir.first_month
        if not within or not is_committed(self.reservoir):
            return ""
        return "The annual release is left out: what was released of it before the start is not known."

    def as_dict(self) -> dict[str, str | float]:
        """Month, storage and level, for ``plan.json``."""
        return {"month": str(self), "storage_hm3": self.storage_hm3, "level_m": self.level_m}

    def _beyond(self, units: UnitSystem) -> str:
        """What a start below dead or above full storage means; nothing of any other."""
        least, most = self.reservoir.storage_lower_hm3.min(), self.reservoir.storage_upper_hm3.max()
        below, above = self.storage_hm3 < least, self.storage_hm3 > most
        if not below and not above:
            return ""
        bound = f"{'dead' if below else 'full'} storage, {units.stated(least if below else most, 'hm3', ',.6g')}"
        until = "what flows in fills it before any is released" if below else "what is above is released first"
        beyond = "below" if below else "above"
        return f" That is {beyond} {bound}: {until}, and curves of the turbines are held at their ends there."

    def note(self, calendar: Calendar) -> UnitText:
        """What a scenario is, in words; the calendar is that of `traces`."""
        months = " to ".join(dict.fromkeys((calendar.step_names[0], calendar.step_names[-1])))
        one = calendar.years == 1
        taken = "of the record" if one else "one from each year of the record"
        length = f"{counted(calendar.steps, calendar.step.noun)} ({months})"
        scenarios = f"{counted(calendar.years, 'scenario')} of {length}, {taken}"
        overlap = "; they overlap" if not one and calendar.steps > calendar.step.per_year else ""

        def said(units: UnitSystem) -> str:
            storage, level = units.stated(self.storage_hm3, "hm3", ",.6g"), units.stated(self.level_m, "m", ",.2f")
            said = f"The plan begins in {self} with {storage} ({level}): {scenarios}{overlap}."
            return " ".join(filter(None, (f"{said}{self._beyond(units)}", self.leaves_out)))

        return UnitText(said)


def plan_start(
    month: object,
    level_m: float | None,
    storage_hm3: float | None,
    horizon: Horizon,
    reservoir: Reservoir,
) -> PlanStart | None:
    """Where a plan begins, from its month and either the level or the storage; None where nothing is given.

    Raises
    ------
    InputError
        If one of them is missing, or both are given, or wrong.
    """
    given = [each for each in (level_m, storage_hm3) if each is not None]
    if month is None:
        if given:
            column = "start_hm3" if level_m is None else "start_level_m"
            problem = "is given without the month in which the plan begins"
            raise InputError(problem, "start, a month such as 2026-11", "give start too", column=column)
        return None
    if len(given) != 1:
        problem = "needs the level or the storage" + (", not both" if given else " at the start of the month")
        mend = "give start_level_m or start_hm3"
        raise InputError(problem, mend=mend, column="start", value=_text(month))
    storage = storage_at_level(reservoir, level_m, "start_level_m") if level_m is not None else storage_hm3
    assert storage is not None
    return PlanStart(_text(month), float(storage), horizon, reservoir)


def _text(month: object) -> str:
    """A month as text: dates and periods of pandas are written as ``2026-11-01`` and ``2026-11``."""
    return str(month).removesuffix(" 00:00:00")


def _year_and_month(text: str) -> tuple[int, int]:
    numbers = _MONTH.fullmatch(text)
    if not numbers or not 1 <= int(numbers[2]) <= MONTHS_PER_YEAR:
        expected = "a year and a month such as 2026-11"
        raise InputError("is not a month", expected, "give the month", column="start", value=text)
    return int(numbers[1]), int(numbers[2])


#: Significant digits of the value: what is shown is what is used.
DIGITS = 6
_COLUMN = "end_value_gwh_per_hm3"
_MEND = f"set {_COLUMN}"


def implies_end_value(reservoir: Reservoir) -> bool:
    """Whether the record decides what water left at the end is worth."""
    return reservoir.year_end is YearEnd.VALUED and reservoir.end_value_gwh_per_hm3 is None


def implied_end_value(reservoir: Reservoir, inflow: Inflow) -> float:
    """Value of water left at the end of a water year that the record implies, GWh per hm3.

    It is the water value between the record's last year and its first in the best operation of the record as a cycle,
    see `cycle_end_value`; 0 if more water only costs energy.

    Parameters
    ----------
    reservoir : Reservoir
        With a year end of any kind, which is not used.
    inflow : Inflow
        Whole water years.

    Raises
    ------
    InputError
        If the cycle cannot keep its limits or can begin with one storage only, or if the reservoir limits the change of
        the release, which dynamic programming cannot.
    """
    inflow.require_no_members("the value of water that a record implies")
    cyclic = replace(
        reservoir,
        year_end=YearEnd.CYCLIC,
        initial_storage_hm3=None,
        final_storage_hm3=None,
        end_value_gwh_per_hm3=None,
        **NO_COMMITMENTS,
    )
    (cycle,) = record_problems(cyclic, inflow, Horizon(None)).each
    if cycle.limits.ramps:
        problem = "is missing: with a limit of the change of the release, the record implies none"
        raise InputError(problem, "GWh per hm3", _MEND, column=_COLUMN)
    value = cycle_end_value(cycle)
    if np.isnan(value):
        problem = "is missing: the record implies none, because as a cycle it cannot keep its limits"
        raise InputError(problem, "GWh per hm3", _MEND, column=_COLUMN)
    return float(f"{max(value, 0.0):.{DIGITS}g}")


def with_end_value(reservoir: Reservoir, value_gwh_per_hm3: float | None) -> Reservoir:
    """The reservoir, with such a value if the record decides it."""
    return replace(reservoir, end_value_gwh_per_hm3=value_gwh_per_hm3) if implies_end_value(reservoir) else reservoir


def with_implied_end_value(reservoir: Reservoir, inflow: Inflow, watch: Timer = untimed) -> Reservoir:
    """The reservoir, with the value that the record implies if that decides it.

    Raises as `implied_end_value` does; `watch` times that.
    """
    if not implies_end_value(reservoir):
        return reservoir
    with watch("end value"):
        return with_end_value(reservoir, implied_end_value(reservoir, inflow))


def end_value_notes(reservoir: Reservoir, problems: RecordProblems) -> Iterator[str]:
    """What water left at the end is worth, if the record decided that: a sentence."""
    if implies_end_value(reservoir):
        month = problems.inflow.calendar.step_names[-1]
        value = problems.model.reservoir.end_value_gwh_per_hm3
        yield UnitText(
            lambda units: (
                f"{units.stated(1, 'hm3')} left at the end of {month} is worth {value:.{DIGITS}g} GWh: the water value "
                "that the record implies if its last year is followed by its first."
            )
        )
