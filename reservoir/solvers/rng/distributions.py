"""Normal and Cauchy numbers from uniform ones, in compiled code: as ``kernels/common/rng/distributions.cl``."""

from __future__ import annotations

import math

import numpy as np

from reservoir.hydro.jit import inlined

#: Of powers of the square of turns, and of odd powers of a ratio, the highest first.
_COSINE = tuple(map(np.float32, (-25.018335, 60.15002, -85.453934, 64.939354, -19.739208, 1.0)))
_LOGARITHM = tuple(map(np.float32, (1 / 9, 1 / 7, 1 / 5, 1 / 3, 1.0)))
#: Bits of the square root of 1/2, and by how much they fall short of those of 1.
_ROOT_BITS, _TO_ONE = np.uint32(0x3F3504F3), np.uint32(0x004AFB0D)
_FRACTION_BITS, _FRACTION = np.uint32(23), np.uint32(0x7FFFFF)


@inlined
def cosine_of_turns(turns: np.float32) -> np.float32:
    """Cosine of 2 pi `turns`, which are 0 to 1/2: a polynomial with an error under 2e-7."""
    nearest = min(turns, np.float32(0.5) - turns)
    square = nearest * nearest
    value = _COSINE[0]
    for coefficient in _COSINE[1:]:
        value = value * square + coefficient
    return -value if turns > np.float32(0.25) else value


@inlined
def logarithm(x: np.float32) -> np.float32:
    """Natural logarithm of a normal number.

    The exponent, and the series of the inverse hyperbolic tangent for the rest, which lies between the square roots of
    1/2 and of 2.
    """
    bits = np.uint32(np.float32(x).view(np.uint32) + _TO_ONE)
    exponent = np.float32(np.int32(bits >> _FRACTION_BITS)) - np.float32(127)
    rest = np.uint32((bits & _FRACTION) + _ROOT_BITS).view(np.float32)
    ratio = (rest - np.float32(1)) / (rest + np.float32(1))
    square = ratio * ratio
    series = _LOGARITHM[0]
    for coefficient in _LOGARITHM[1:]:
        series = series * square + coefficient
    return exponent * np.float32(math.log(2)) + np.float32(2) * ratio * series


@inlined
def normal(radial: np.float32, angle: np.float32) -> np.float32:
    """A standard normal number of two in [0, 1) (Box and Muller 1958)."""
    square = np.float32(-2) * logarithm(np.float32(1) - radial)
    number: np.float32 = np.sqrt(max(square, np.float32(0))) * cosine_of_turns(min(angle, np.float32(1) - angle))
    return number


@inlined
def cauchy(part: np.float32) -> np.float32:
    """A standard Cauchy number of one in (0, 1), by the inverse of its distribution; useless in the last thousandth."""
    half = np.float32(0.5)
    from_middle = max(part - half, half - part)
    tangent = cosine_of_turns(np.float32(0.25) - half * from_middle) / cosine_of_turns(half * from_middle)
    return -tangent if part < half else tangent
