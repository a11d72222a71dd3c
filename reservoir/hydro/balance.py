"""Water balance, head and power of one step (Yu et al. 2020, Complexity 6589658, eq. 6-10).

The functions here are scalar and compiled: the sequential solver, dynamic programming and simulation all call them, on
exact curves in float64 or on the solvers' least-degree forms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.curves.forms import CompiledConversion, curve_value, specific_power
from reservoir.hydro.jit import inlined
from reservoir.hydro.reservoir import WATER_MW_PER_M3S_M, ConversionKind, Reservoir


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


@inlined
def storage_after(storage, inflow, release, hm3_per_m3s):
    """Storage at the end of a step, hm3 (eq. 10); `hm3_per_m3s` is hm3 per m3/s, 0.0864 times the days."""
    return storage + (inflow - release) * hm3_per_m3s


@inlined
def head_at(plant, mean_storage, release):
    """Head, m (eq. 8): forebay level at the step's mean storage less tailrace level at its release."""
    return curve_value(plant.level, mean_storage) - curve_value(plant.tailrace, release)


@inlined
def turbined_at(plant, head, release):
    """Power discharge, m3/s (eq. 9): the release, as far as hydraulic and installed capacity allow."""
    allowed = min(curve_value(plant.capacity, head), plant.installed_mw / specific_power(plant.conversion, head))
    return min(release, allowed)


@inlined
def power_at(plant, mean_storage, release):
    """Power, MW (eq. 7 with eq. 9): `turbined_at` times the power of 1 m3/s, with one division less."""
    head = head_at(plant, mean_storage, release)
    discharge = min(release, curve_value(plant.capacity, head))
    return min(specific_power(plant.conversion, head) * discharge, plant.installed_mw)
