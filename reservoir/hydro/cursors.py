"""Curves for one thread that asks for neighbouring arguments: each remembers where it was last asked."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.curves.forms import CurveCursor
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import Lake, YearRows


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
