"""A record on the calendar of a reservoir: its water years, and the length of its months."""

from __future__ import annotations

from dataclasses import replace

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import CalendarKind
from reservoir.hydro.units import VOLUME_HM3


def on_calendar_of(reservoir: Reservoir, inflow: Inflow) -> Inflow:
    """The record as the reservoir reckons: where its months are equal, with volumes or flows as they were given.

    Raises
    ------
    InputError
        If its water years begin in another month than the reservoir's or have other steps, or it alone has equal
        months.
    """
    if inflow.calendar.first_month != reservoir.first_month:
        theirs, ours = (MONTH_NAMES[month - 1] for month in (inflow.calendar.first_month, reservoir.first_month))
        raise InputError(
            Mistake(
                f"the record's water years begin in {theirs}, the reservoir's in {ours}",
                expected="the same first month for both",
                mend="set first_month in the reservoir file, or read the record with the reservoir's first month",
                file=inflow.source,
            )
        )
    if inflow.calendar.step is not reservoir.step:
        theirs, ours = (each.step for each in (inflow.calendar, reservoir))
        raise InputError(
            Mistake(
                f"the record has {theirs.noun}s, the reservoir's step is the {ours.noun}",
                expected=f'step "{ours}"',
                mend=f'read the record with step="{ours}", or set step = "{theirs}" in the reservoir file',
                file=inflow.source,
            )
        )
    equal = reservoir.calendar is CalendarKind.EQUAL_MONTHS
    if equal == inflow.calendar.equal_months:
        return inflow
    if not equal:
        mend = f'set calendar = "{CalendarKind.EQUAL_MONTHS}" in the reservoir file'
        raise InputError(Mistake("the record has equal months, the reservoir has not", mend=mend, file=inflow.source))
    calendar = replace(inflow.calendar, equal_months=True)
    flow = inflow.flow_m3s
    if inflow.unit in VOLUME_HM3:
        flow = flow * (inflow.calendar.hm3_per_m3s / calendar.hm3_per_m3s)
    return replace(inflow, flow_m3s=flow, calendar=calendar)
