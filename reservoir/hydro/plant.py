"""A reservoir's curves and installed capacity, as `step` reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.reservoir import Reservoir


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
