"""The value of water left at the end of horizons, where the reservoir file leaves it to the record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers.dp.water_value import cycle_end_value

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
    )
    (cycle,) = record_problems(cyclic, inflow, Horizon(None)).each
    if cycle.limits.conditions is not None and cycle.limits.conditions.ramps:
        problem = "is missing: with a limit of the change of the release, the record implies none"
        raise InputError(Mistake(problem, "GWh per hm3", _MEND, column=_COLUMN))
    value = cycle_end_value(cycle)
    if np.isnan(value):
        problem = "is missing: the record implies none, because as a cycle it cannot keep its limits"
        raise InputError(Mistake(problem, "GWh per hm3", _MEND, column=_COLUMN))
    return float(f"{max(value, 0.0):.{DIGITS}g}")


def end_value_used(reservoir: Reservoir, inflow: Inflow, watch: Timer = untimed) -> float | None:
    """Value that the reservoir gives, or the record implies; None if the end is not valued.

    Raises as `implied_end_value` does; `watch` times that.
    """
    if not implies_end_value(reservoir):
        return reservoir.end_value_gwh_per_hm3
    with watch("end value"):
        return implied_end_value(reservoir, inflow)


def with_end_value(reservoir: Reservoir, value_gwh_per_hm3: float | None) -> Reservoir:
    """The reservoir, with such a value if it gives none."""
    if not implies_end_value(reservoir):
        return reservoir
    return replace(reservoir, end_value_gwh_per_hm3=value_gwh_per_hm3)


def end_value_notes(reservoir: Reservoir, problems: RecordProblems) -> Iterator[str]:
    """What water left at the end is worth, if the record decided that: a sentence."""
    if implies_end_value(reservoir):
        month = problems.inflow.calendar.step_names[-1]
        value = problems.model.reservoir.end_value_gwh_per_hm3
        yield (
            f"1 hm3 left at the end of {month} is worth {value:.{DIGITS}g} GWh: the water value that the record "
            "implies if its last year is followed by its first."
        )
