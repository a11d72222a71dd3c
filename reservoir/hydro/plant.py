"""A reservoir's curves and installed capacity, as `step` reads them, and the storage at a level."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.curves.forms import CurveCursor
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import Lake, YearRows
from reservoir.hydro.unit_system import UnitText


class Plant(NamedTuple):
    """The curves of a reservoir and its installed capacity: as functions of arrays, or as compiled code reads them.

    ``level`` is by storage (hm3), ``tailrace`` by release (m3/s), ``conversion`` (MW per m3/s) and ``capacity`` by
    head (m).
    """

    level: Any
    tailrace: Any
    conversion: Any
    capacity: Any
    installed_mw: Any


def plant_of(reservoir: Reservoir) -> Plant:
    """The plant with its curves as given, for arrays in float64."""
    conversion = conversion_of(reservoir.conversion, reservoir.conversion_kind)
    curves = reservoir.level, reservoir.tailrace, conversion, reservoir.capacity_m3s
    return Plant(*curves, float(reservoir.installed_mw))


def exact_plant(reservoir: Reservoir) -> Plant:
    """The same for compiled code, in float64."""
    plant = plant_of(reservoir)
    conversion = plant.conversion._replace(curve=reservoir.conversion.compiled())
    curves = plant.level.compiled(), plant.tailrace.compiled(), conversion, plant.capacity.compiled()
    return Plant(*curves, plant.installed_mw)


def _cursor(curve: CompiledCurve) -> CurveCursor:
    return CurveCursor(curve, np.zeros(1, np.int64))


def lake_with_cursors(year: YearRows) -> YearRows:
    """The year for one thread that asks the curves of the lake for neighbouring arguments."""
    return year._replace(lake=Lake(*map(_cursor, year.lake))) if year.lake else year


def plant_with_cursors(plant: Plant) -> Plant:
    """The plant for one thread that asks its curves for neighbouring arguments."""
    level, tailrace, rate, capacity = map(
        _cursor, (plant.level, plant.tailrace, plant.conversion.curve, plant.capacity)
    )
    return Plant(level, tailrace, plant.conversion._replace(curve=rate), capacity, plant.installed_mw)


#: The level curve's domain halved so often is a rounding.
_HALVINGS = 60


def storage_at_level(plant: Reservoir, level_m: float, column: str = "--level") -> float:
    """Storage (hm3) at a level.

    Parameters
    ----------
    plant : Reservoir
    level_m : float
    column : str
        The argument or option that it is, for messages.

    Raises
    ------
    InputError
        If the level curve does not reach there.
    """
    low, high = plant.level.domain
    lowest, highest = float(plant.level(low)), float(plant.level(high))
    if not lowest <= level_m <= highest:
        expected = UnitText(
            lambda units: (
                f"{units.number(lowest, 'm', '.2f')} to {units.stated(highest, 'm', '.2f')}, the range of the level "
                f"curve of {plant.name}"
            )
        )
        mend = "give a level in this range"
        raise InputError("is outside the level curve", expected, mend, column=column, value=level_m)
    return _by_halving(plant, float(level_m))


@lru_cache(8)
def _by_halving(plant: Reservoir, level_m: float) -> float:
    """Storage at a level that the curve reaches; kept for all rules that are asked for the same month."""
    low, high = plant.level.domain
    # By bisection, for an operator waits: importing a library's root finder takes longer than all the rest.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if float(plant.level(middle)) >= level_m else (middle, high)
    return high
