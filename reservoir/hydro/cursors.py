"""Curves for one thread that asks for neighbouring arguments: each remembers where it was last asked."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.curves.forms import CurveCursor
from reservoir.hydro.plant import Plant


def _cursor(curve: CompiledCurve) -> CurveCursor:
    return CurveCursor(curve, np.zeros(1, np.int64))


def lake_with_cursors(year: YearArrays) -> YearArrays:
    """The year for one thread that asks the curves of the lake for neighbouring arguments."""
    lake = year.conditions
    if not lake:
        return year
    return year._replace(conditions=lake._replace(area=_cursor(lake.area), seepage=_cursor(lake.seepage)))


def plant_with_cursors(plant: Plant) -> Plant:
    """The plant for one thread that asks its curves for neighbouring arguments."""
    level, tailrace, rate, capacity = map(
        _cursor, (plant.level, plant.tailrace, plant.conversion.curve, plant.capacity)
    )
    return Plant(level, tailrace, plant.conversion._replace(curve=rate), capacity, plant.installed_mw)
