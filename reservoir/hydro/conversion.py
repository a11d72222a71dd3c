"""Power of 1 m3/s as a function of head, for each kind of conversion curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.elementwise import Numbers, clip, curve_value
from reservoir.hydro.units import MW_PER_KW_HOURS, WATER_MW_PER_M3S_M


class Conversion(NamedTuple):
    """Power of 1 m3/s by head, MW (paper eq. 7).

    ``curve`` is a rate in m3/kWh, or a coefficient or an efficiency, which `factor` times the head makes a power; the
    head is held between `lower` and `upper`, the ends of the curve: where there is none, there is no power.
    """

    is_rate: bool
    factor: float
    lower: float
    upper: float
    curve: Any

    def __call__(self, head_m: ArrayLike) -> NDArray[np.float64]:
        """Power of 1 m3/s at a head, MW."""
        return np.asarray(conversion_value(self, np.asarray(head_m, np.float64)))


def conversion_value(conversion: Conversion, head_m: Numbers) -> Numbers:
    """Value of a `Conversion`."""
    value = curve_value(conversion.curve, head_m)
    head = clip(head_m, conversion.lower, conversion.upper)
    return MW_PER_KW_HOURS / value if conversion.is_rate else value * conversion.factor * head


def conversion_of(curve: Curve, kind: ConversionKind) -> Conversion:
    """Power of 1 m3/s by head, by a conversion curve of a kind."""
    factor = {
        ConversionKind.RATE: 0.0,
        ConversionKind.COEFFICIENT: 1e-3,
        ConversionKind.EFFICIENCY: WATER_MW_PER_M3S_M,
    }[kind]
    lower, upper = curve.domain
    return Conversion(kind is ConversionKind.RATE, factor, max(float(lower), 0.0), float(upper), curve)
