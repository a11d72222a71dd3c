"""Power of 1 m3/s by head, whichever way a conversion curve states it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.reservoir_kinds import ConversionKind
from reservoir.hydro.units import MW_PER_KW_HOURS, WATER_MW_PER_M3S_M

FloatArray = NDArray[np.float64]


def specific_power(conversion: Curve, kind: ConversionKind) -> Callable[[FloatArray], FloatArray]:
    """Power of 1 m3/s by head, MW, exact, by a conversion curve of a kind."""
    if kind is ConversionKind.RATE:
        return lambda head: MW_PER_KW_HOURS / conversion(head)
    factor = 1e-3 if kind is ConversionKind.COEFFICIENT else WATER_MW_PER_M3S_M
    return lambda head: conversion(head) * factor * np.clip(head, *conversion.domain)
