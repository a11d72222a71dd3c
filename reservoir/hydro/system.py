"""A system: the reservoirs of a river, the links between them, and what they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from reservoir.errors import InputError
from reservoir.hydro.attributes import CalendarKind
from reservoir.hydro.calendar import MONTH_NAMES, TimeStep
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.units import VOLUME_HM3


@dataclass(frozen=True, eq=False)
class System:
    """Reservoirs, and what they share: the calendar, the horizon, the objective and its penalty.

    Parameters
    ----------
    reservoirs : tuple of Reservoir
        In upstream-to-downstream order.
    objective : Objective
        What is optimised.
    penalty : float
        Penalty factor (Yu et al. 2020, eq. 21): cost of a relative violation of 1, in the unit of the objective.
    horizon : Horizon
        What is planned as one problem where the call does not say it.
    first_month : int
        Calendar month in which the water year begins.
    calendar : CalendarKind
        How long months are.
    step : TimeStep
        Into what a water year is divided.
    links : tuple
        Where releases go: no further, in a system of one.
    """

    reservoirs: tuple[Reservoir, ...]
    objective: Objective
    penalty: float
    horizon: Horizon
    first_month: int
    calendar: CalendarKind
    step: TimeStep
    links: tuple[Any, ...] = ()

    @classmethod
    def of(cls, reservoir: Reservoir) -> System:
        """A system of one, whose file says what systems share."""
        shared = {name: getattr(reservoir, name) for name in cls.__annotations__ if name not in ("reservoirs", "links")}
        return cls((reservoir,), **shared)

    @property
    def reservoir(self) -> Reservoir:
        """The reservoir of a system of one."""
        (reservoir,) = self.reservoirs
        return reservoir

    @property
    def least_gap_scale(self) -> float:
        """What a gap of fitness is at least a part of, in the unit of the objective."""
        return self.objective.least_scale(sum(each.installed_mw for each in self.reservoirs), self.step.per_year)

    def asked_horizon(self, horizon: Horizon | str | int | None) -> Horizon:
        """What a call asks to be planned as one problem, or what the system says where it does not ask."""
        return Horizon.of(self.horizon if horizon is None else horizon)

    def on_calendar(self, inflow: Inflow) -> Inflow:
        """A record as the system reckons: where its months are equal, with volumes or flows as they were given.

        Raises
        ------
        InputError
            If its water years begin in another month than the reservoir's or have other steps, or it alone has equal
            months.
        """
        if inflow.calendar.first_month != self.first_month:
            theirs, ours = (MONTH_NAMES[month - 1] for month in (inflow.calendar.first_month, self.first_month))
            raise InputError(
                f"the record's water years begin in {theirs}, the reservoir's in {ours}",
                expected="the same first month for both",
                mend="set first_month in the reservoir file, or read the record with the reservoir's first month",
                file=inflow.source,
            )
        if inflow.calendar.step is not self.step:
            theirs, ours = (each.step for each in (inflow.calendar, self))
            raise InputError(
                f"the record has {theirs.noun}s, the reservoir's step is the {ours.noun}",
                expected=f'step "{ours}"',
                mend=f'read the record with step="{ours}", or set step = "{theirs}" in the reservoir file',
                file=inflow.source,
            )
        equal = self.calendar is CalendarKind.EQUAL_MONTHS
        if equal == inflow.calendar.equal_months:
            return inflow
        if not equal:
            mend = f'set calendar = "{CalendarKind.EQUAL_MONTHS}" in the reservoir file'
            raise InputError("the record has equal months, the reservoir has not", mend=mend, file=inflow.source)
        calendar = replace(inflow.calendar, equal_months=True)
        flow = inflow.flow_m3s
        if inflow.unit in VOLUME_HM3:
            flow = flow * (inflow.calendar.hm3_per_m3s / calendar.hm3_per_m3s)
        return replace(inflow, flow_m3s=flow, calendar=calendar)
