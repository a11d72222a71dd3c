"""A continuous monthly record -> whole water years."""

from __future__ import annotations

from collections.abc import Sequence

from reservoir.hydro import water_years
from reservoir.hydro.calendar import Calendar
from reservoir.io.inflow_csv.record import StepValue


def whole_years(
    values: Sequence[StepValue], first_month: int, own_first_month: int = 1
) -> tuple[Sequence[StepValue], Calendar, tuple[str, ...]]:
    """Cut consecutive months into water years, see `water_years.whole_years`; return twelve values for each year."""
    first = values[0].ordinal
    inside, calendar, notes = water_years.whole_years(first, len(values), first_month, own_first_month)
    return values[inside], calendar, notes
