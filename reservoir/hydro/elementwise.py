"""Operations that the functions of `step` are written in: on arrays in Python, on numbers in compiled code.

Compiled code has forms of its own for them (`jit`), which keep the precision of what they are given. The words are
those of ``kernels/common/vector/lanes.cl``.

What most reservoirs do not have - losses and demands (`conditions`), objectives but energy (`benefit`) - is the first
argument of functions: an empty tuple, or a year without it (`rows.YearRows`), where there is none (`none_without`).
`jit` compiles one of two forms of the function, so that what is not there costs compiled code nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast, overload

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


#: In the least precision, so that it raises that of no other number.
ZERO: Any = np.float32(0.0)

#: A function whose first argument may be nothing.
Function = TypeVar("Function", bound=Callable[..., Any])


def _as_float(found: Any) -> Any:
    """`ZERO` as a number of Python, whose own numbers it would bring to its precision."""
    if isinstance(found, tuple):
        return tuple(map(_as_float, found))
    return 0.0 if found is ZERO else found


def none_without(without: Callable[..., Any], field: str = "lake") -> Callable[[Function], Function]:
    """Decorate a function of an optional part with what it is where there is none (`jit` compiles one of the two).

    There is none either if a year has nothing as its `field`.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def chosen(part: Any, *arguments: Any) -> Any:
            if not part or not getattr(part, field, True):
                return _as_float(without(part, *arguments))
            return function(part, *(np.float64(each) if type(each) is float else each for each in arguments))

        chosen.without_part, chosen.field = without, field  # type: ignore[attr-defined]
        return cast(Function, chosen)

    return decorate
