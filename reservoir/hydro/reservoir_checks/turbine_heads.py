"""Between which heads the curves of the turbines must be given: beyond their ends they are held at the last value.

A survey or an acceptance test seldom covers every head that storages and releases allow. What is missing matters only
where the turbines run, and of the capacity only where it limits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.curves.curve import Curve, FloatArray
from reservoir.hydro.reservoir_checks.curves import Domain
from reservoir.hydro.reservoir_kinds import ConversionKind

#: Heads at which a curve is asked beyond its end.
_HEADS = 101


class Turbines(NamedTuple):
    """What decides how much the turbines take at a head.

    Parameters
    ----------
    conversion, conversion_kind, capacity_m3s : Curve, ConversionKind, Curve
        As in `Reservoir`.
    installed_mw : float
    release_m3s : float
        The largest release that the turbines could take: of a month in which they run all the time.
    heads_m : pair of float
        Lowest and highest head at which they run, m.
    """

    conversion: Curve
    conversion_kind: ConversionKind
    capacity_m3s: Curve
    installed_mw: float
    release_m3s: float
    heads_m: Domain

    @property
    def heads_of_capacity(self) -> Domain:
        """Heads that the capacity must cover: beyond them, its last value limits nothing."""
        low, high = self.capacity_m3s.domain
        least, most = self.heads_m
        return (
            least if self._limits(least, low) else max(least, min(low, most)),
            most if self._limits(high, most) else min(most, max(high, least)),
        )

    @property
    def heads_of_conversion(self) -> Domain:
        """Heads that the conversion must cover: beyond them, the capacity is 0."""
        least, most = self.heads_m
        low, high = self.conversion.domain
        return (
            least if self._runs(least, low) else max(least, min(low, most)),
            most if self._runs(high, most) else min(most, max(high, least)),
        )

    def _limits(self, low: float, high: float) -> bool:
        head = _heads(low, high)
        of_generator = self.installed_mw / conversion_of(self.conversion, self.conversion_kind)(head)
        return bool(np.any(self.capacity_m3s(head) < np.minimum(of_generator, self.release_m3s)))

    def _runs(self, low: float, high: float) -> bool:
        return bool(np.any(self.capacity_m3s(_heads(low, high)) > 0))


def _heads(low: float, high: float) -> FloatArray:
    return np.linspace(low, high, _HEADS) if low < high else np.empty(0)


def running_heads(parts: Mapping[str, Any], heads: Domain, most_release_m3s: float) -> Domain:
    """Between which of these heads (m) the turbines run, by the fields of a reservoir: above the operating level."""
    level = parts.get("operating_level_m")
    if level is None:
        return heads
    return min(max(heads[0], level - float(parts["tailrace"](most_release_m3s))), heads[1]), heads[1]


def turbines_of(parts: Mapping[str, Any], heads: Domain, most_release_m3s: float) -> Turbines:
    """The turbines, by the fields of a reservoir, and the heads (m) that its storages and releases allow."""
    factor = parts.get("plant_factor")
    least_factor = 1.0 if factor is None else max(float(np.min(factor)), 1e-6)
    return Turbines(
        parts["conversion"],
        parts["conversion_kind"],
        parts["capacity_m3s"],
        parts["installed_mw"],
        release_m3s=most_release_m3s / least_factor,
        heads_m=running_heads(parts, heads, most_release_m3s),
    )
