"""Operations that the functions of `step` are written in: on arrays in Python, on numbers in compiled code.

Compiled code has forms of its own for them (`jit`), which keep the precision of what they are given. The words are
those of ``kernels/common/vector/lanes.cl``.
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: Arrays in the precision of what they are used with, float64 or float32.
RealArray = NDArray[np.floating]
#: Numbers in compiled code, arrays in Python.
Numbers = TypeVar("Numbers", float, FloatArray)


def lesser(a: Numbers, b: Numbers | float) -> Numbers:
    """The lesser of two."""
    least: Numbers = np.minimum(a, b)
    return least


def greater(a: Numbers, b: Numbers | float) -> Numbers:
    """The greater of two."""
    most: Numbers = np.maximum(a, b)
    return most


@overload
def choose(condition: bool, yes: float, no: float) -> float: ...


@overload
def choose(condition: NDArray[np.bool_], yes: float | FloatArray, no: float | FloatArray) -> FloatArray: ...


def choose(condition: bool | NDArray[np.bool_], yes: float | FloatArray, no: float | FloatArray) -> float | FloatArray:
    """One of two values, both of which are worked out."""
    return np.where(condition, yes, no)


def whole(x: Any) -> Any:
    """The whole part of a number of 0 or more, as a place in an array."""
    return np.asarray(x).astype(np.int64)


def every(condition: Any) -> bool:
    """Whether a condition holds for all."""
    return bool(np.all(condition))


def rounding(x: Any) -> Any:
    """By how much rounding changes a number of this size and precision."""
    return np.abs(x) * np.finfo(np.asarray(x).dtype).eps


def mean(a: Numbers, b: Numbers) -> Numbers:
    """The mean of two."""
    return 0.5 * (a + b)


def curve_value(curve: Any, x: Numbers) -> Numbers:
    """Value of a curve at `x`: a function in Python, a named tuple of numbers in compiled code."""
    value: Numbers = curve(x)
    return value


def clip(x: Numbers, lower: Numbers | float, upper: Numbers | float) -> Numbers:
    """`x` held between two bounds; the upper one where they cross."""
    return lesser(greater(x, lower), upper)
