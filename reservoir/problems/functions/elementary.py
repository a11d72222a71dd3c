"""Elementary functions for compiled code in the precision of their argument.

In float64 they are the library's. In float32 they are polynomials of least error, which loops turn into vector
instructions, where the library's functions would be a call for each number; the same as in
``kernels/common/math/elementary.cl``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from reservoir.hydro.jit import inlined, overload

#: Of sin(pi x) / x in powers of x^2, |x| <= 1/2, highest first; relative error 6e-9.
_SINE = tuple(np.float32(each) for each in (0.077560387, -0.5982421264, 2.550069726, -5.167709685, 3.141592637))
_HALF, _QUARTER, _TWO = np.float32(0.5), np.float32(0.25), np.float32(2)


@inlined
def _sine_near(x: np.float32) -> np.float32:
    """sin(pi x), |x| <= 1/2, float32."""
    square = x * x
    value = _SINE[0]
    for place in range(1, len(_SINE)):
        value = value * square + _SINE[place]
    return value * x


def squared_sine_of_half_turns(x: float | np.floating) -> float:
    """sin(pi x)^2 = (1 - cos(2 pi x)) / 2."""
    raise NotImplementedError("call this from compiled code")


@overload(squared_sine_of_half_turns)
def _squared_sine_of_half_turns(x: Any) -> Callable[..., Any]:
    def short(x: np.float32) -> np.float32:
        sine = _sine_near(x - np.floor(x + _HALF))
        return sine * sine

    def exact(x: float) -> float:
        return math.sin(math.pi * (x - np.floor(x + 0.5))) ** 2

    return short if x == types.float32 else exact


def sine_of_turns(x: float | np.floating) -> float:
    """sin(2 pi x)."""
    raise NotImplementedError("call this from compiled code")


@overload(sine_of_turns)
def _sine_of_turns(x: Any) -> Callable[..., Any]:
    def short(x: np.float32) -> np.float32:
        turn = x - np.floor(x + _HALF)
        if turn > _QUARTER:
            turn = _HALF - turn
        elif turn < -_QUARTER:
            turn = -_HALF - turn
        return _sine_near(_TWO * turn)

    def exact(x: float) -> float:
        return math.sin(2 * math.pi * (x - np.floor(x + 0.5)))

    return short if x == types.float32 else exact
