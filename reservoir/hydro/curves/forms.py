"""How compiled code evaluates a curve: exactly as given, or by the least-degree form that solvers use.

`curve_value` and `specific_power` are written once for every form; numba picks the one that fits the argument's type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.jit import INLINED, inlined, overload
from reservoir.hydro.units import MW_PER_KW_HOURS


class PolynomialForm(NamedTuple):
    """A polynomial in ``(x - centre) * per_unit``, held at its ends outside of [lower, upper].

    ``coefficients`` is a tuple, highest power first, so that its length is known when code is compiled.
    """

    lower: Any
    upper: Any
    centre: Any
    per_unit: Any
    coefficients: tuple[Any, ...]


class UnclampedPolynomial(NamedTuple):
    """A polynomial form for arguments within its bounds but for rounding, where nothing need hold it."""

    centre: Any
    per_unit: Any
    coefficients: tuple[Any, ...]


class UniformTable(NamedTuple):
    """Values at even distances from `lower`, joined by straight lines and held at the ends."""

    lower: Any
    per_unit: Any
    values: NDArray[Any]


class CompiledConversion(NamedTuple):
    """Conversion curve and what it means: a rate in m3/kWh, or a factor of head that gives MW per m3/s."""

    is_rate: bool
    factor: float
    curve: CompiledCurve


def curve_value(curve, x):
    """Value of `curve` at `x`; callable from compiled code only."""
    raise NotImplementedError("call this from compiled code")


def specific_power(conversion, head_m):
    """Power of 1 m3/s at a head, MW (paper eq. 7); callable from compiled code only."""
    raise NotImplementedError("call this from compiled code")


def _form(curve):
    return getattr(curve, "instance_class", None)


def _exact(curve, x):
    held = min(max(x, curve.breaks[0]), curve.breaks[-1])
    if curve.is_power:
        return curve.coefficients[0, 1] + curve.coefficients[0, 0] * (held - curve.origin) ** curve.exponent
    piece, last = 0, curve.coefficients.shape[0] - 1
    while piece < last:
        middle = (piece + last + 1) // 2
        if held >= curve.breaks[middle]:
            piece = middle
        else:
            last = middle - 1
    offset = held - curve.breaks[piece]
    value = curve.coefficients[piece, 0]
    for power in range(1, curve.coefficients.shape[1]):
        value = value * offset + curve.coefficients[piece, power]
    return value


def _polynomial(curve, x):
    return _horner(curve, min(max(x, curve.lower), curve.upper))


@inlined
def _horner(curve, x):
    scaled = (x - curve.centre) * curve.per_unit
    value = curve.coefficients[0]
    for coefficient in curve.coefficients[1:]:
        value = value * scaled + coefficient
    return value


def _unheld(curve, x):
    return _horner(curve, x)


def _even_table(curve, x):
    last = np.float32(len(curve.values) - 1)
    place = min(max((x - curve.lower) * curve.per_unit, np.float32(0.0)), last)
    left = min(np.int64(place), len(curve.values) - 2)
    fraction = place - np.float32(left)
    return curve.values[left] + fraction * (curve.values[left + 1] - curve.values[left])


_EVALUATIONS = {
    CompiledCurve: _exact,
    PolynomialForm: _polynomial,
    UnclampedPolynomial: _unheld,
    UniformTable: _even_table,
}


@overload(curve_value, jit_options=INLINED)  # type: ignore[arg-type]
def _curve_value(curve, x):
    return _EVALUATIONS.get(_form(curve))


@overload(specific_power, jit_options=INLINED)  # type: ignore[arg-type]
def _specific_power(conversion, head_m):
    if _form(conversion) is not CompiledConversion:
        return lambda conversion, head_m: curve_value(conversion, head_m)

    def from_conversion(conversion, head_m):
        value = curve_value(conversion.curve, head_m)
        held = min(max(head_m, conversion.curve.breaks[0]), conversion.curve.breaks[-1])
        return MW_PER_KW_HOURS / value if conversion.is_rate else value * conversion.factor * held

    return from_conversion
