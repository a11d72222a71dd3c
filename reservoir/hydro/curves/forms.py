"""How a curve is evaluated in a step: exactly as given, or by the least-degree form that solvers use.

`elementwise.curve_value` picks the evaluation by the curve's class, when Python calls it and when numba compiles it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.elementwise import Numbers, clip, lesser


class PolynomialForm(NamedTuple):
    """A polynomial in ``(x - centre) * per_unit``, held at its ends outside of [lower, upper].

    ``coefficients`` is a tuple, highest power first, so that its length is known when code is compiled.
    """

    lower: Any
    upper: Any
    centre: Any
    per_unit: Any
    coefficients: tuple[Any, ...]

    def __call__(self, x: ArrayLike) -> NDArray[np.float32]:
        """Values at `x` in float32, as a device computes them."""
        numbers: Any = np.asarray(x, np.float32)
        return np.asarray(polynomial_value(self, numbers))


class UnclampedPolynomial(NamedTuple):
    """A polynomial form for arguments within its bounds but for rounding, where nothing need hold it."""

    centre: Any
    per_unit: Any
    coefficients: tuple[Any, ...]


class CurveCursor(NamedTuple):
    """A `CompiledCurve` that is asked for neighbouring arguments: looks for their piece from the last one on.

    ``piece`` has room for its number. Values are the curve's own.
    """

    curve: CompiledCurve
    piece: NDArray[np.int64]


class UniformTable(NamedTuple):
    """Values at even distances from `lower`, joined by straight lines and held at the ends."""

    lower: Any
    per_unit: Any
    values: NDArray[Any]

    def __call__(self, x: ArrayLike) -> NDArray[np.float32]:
        """Values at `x` in float32, as a device computes them."""
        numbers: Any = np.asarray(x, np.float32)
        return np.asarray(table_value(self, numbers))


class AnyForm(NamedTuple):
    """A form of either kind with any number of values, all of one type: compiled code can loop over many (float32)."""

    ends: NDArray[Any]  # lower, upper, centre, per_unit
    values: NDArray[Any]  # coefficients, highest power first, or those of a table
    is_table: bool


def exact_value(curve: CompiledCurve, x: float) -> float:
    """Value of a `CompiledCurve`; for one number alone."""
    held = min(max(x, curve.breaks[0]), curve.breaks[-1])
    if curve.is_power:
        power_law: float = curve.coefficients[0, 1] + curve.coefficients[0, 0] * (held - curve.origin) ** curve.exponent
        return power_law
    piece, last = 0, curve.coefficients.shape[0] - 1
    while piece < last:
        middle = (piece + last + 1) // 2
        if held >= curve.breaks[middle]:
            piece = middle
        else:
            last = middle - 1
    return piece_value(curve, held, piece)


def piece_value(curve: CompiledCurve, x: float, piece: int) -> float:
    """Value of a `CompiledCurve` by one of its pieces."""
    offset = x - curve.breaks[piece]
    value: float = curve.coefficients[piece, 0]
    if curve.coefficients.shape[1] == 4:  # the same, a tenth faster
        value = value * offset + curve.coefficients[piece, 1]
        value = value * offset + curve.coefficients[piece, 2]
        value = value * offset + curve.coefficients[piece, 3]
    else:
        for power in range(1, curve.coefficients.shape[1]):
            value = value * offset + curve.coefficients[piece, power]
    return value


def cursor_value(cursor: CurveCursor, x: float) -> float:
    """Value of a `CurveCursor`; for one number alone."""
    curve = cursor.curve
    if curve.is_power:
        return exact_value(curve, x)
    held = min(max(x, curve.breaks[0]), curve.breaks[-1])
    piece, last = cursor.piece[0], curve.coefficients.shape[0] - 1
    while piece < last and held >= curve.breaks[piece + 1]:
        piece += 1
    while piece > 0 and held < curve.breaks[piece]:
        piece -= 1
    cursor.piece[0] = piece
    return piece_value(curve, held, piece)


def polynomial_value(form: PolynomialForm, x: Numbers) -> Numbers:
    """Value of a `PolynomialForm`."""
    value: Numbers = unclamped_value(form, clip(x, form.lower, form.upper))
    return value


def unclamped_value(form: PolynomialForm | UnclampedPolynomial, x: Numbers) -> Numbers:
    """Value of a polynomial by Horner's rule."""
    value: Numbers = horner((x - form.centre) * form.per_unit, form.coefficients)
    return value


def horner(x: Numbers, coefficients: tuple[Any, ...]) -> Numbers:
    """Value of a polynomial at `x`, highest power first; compiled code has a form of its own for many (`jit`)."""
    value: Numbers = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def table_value(table: UniformTable, x: Numbers) -> Numbers:
    """Value of a `UniformTable`."""
    last = np.float32(len(table.values) - 1)
    place = clip((x - table.lower) * table.per_unit, np.float32(0.0), last)
    whole: Any = np.int64(place)  # of an array too
    left = lesser(whole, len(table.values) - 2)
    fraction = place - np.float32(left)
    value: Numbers = table.values[left] + fraction * (table.values[left + 1] - table.values[left])
    return value


def any_value(form: AnyForm, x: float) -> float:
    """Value of an `AnyForm`; for one number alone."""
    ends = form.ends
    value: float
    if form.is_table:
        value = table_value(UniformTable(ends[0], ends[3], form.values), x)
        return value
    scaled = (clip(x, ends[0], ends[1]) - ends[2]) * ends[3]
    value = form.values[0]
    for place in range(1, len(form.values)):
        value = value * scaled + form.values[place]
    return value


#: How compiled code evaluates a curve of a class.
EVALUATIONS: dict[type, Callable[..., Any]] = {
    CompiledCurve: exact_value,
    CurveCursor: cursor_value,
    PolynomialForm: polynomial_value,
    UnclampedPolynomial: unclamped_value,
    UniformTable: table_value,
    AnyForm: any_value,
}
