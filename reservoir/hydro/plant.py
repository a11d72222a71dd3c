"""A reservoir's curves and installed capacity, as compiled code reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.curves.forms import CompiledConversion
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import ConversionKind
from reservoir.hydro.units import WATER_MW_PER_M3S_M


class Plant(NamedTuple):
    """The curves of a reservoir and its installed capacity, as compiled code reads them.

    ``level`` is by storage (hm3), ``tailrace`` by release (m3/s), ``conversion`` and ``capacity`` by head (m).
    """

    level: Any
    tailrace: Any
    conversion: Any
    capacity: Any
    installed_mw: Any


def exact_plant(reservoir: Reservoir) -> Plant:
    """The plant with its curves as given, in float64."""
    factor = {
        ConversionKind.RATE: 0.0,
        ConversionKind.COEFFICIENT: 1e-3,
        ConversionKind.EFFICIENCY: WATER_MW_PER_M3S_M,
    }[reservoir.conversion_kind]
    is_rate = reservoir.conversion_kind is ConversionKind.RATE
    return Plant(
        reservoir.level.compiled(),
        reservoir.tailrace.compiled(),
        CompiledConversion(is_rate, factor, reservoir.conversion.compiled()),
        reservoir.capacity_m3s.compiled(),
        float(reservoir.installed_mw),
    )
