"""Numbers that stand in a record where no value is known: the codes of services and programs, told from flows.

HEC-DSS writes -901, -902 and the lowest float32, the gauging services -999 and its like, CDEC -9998, NetCDF 9.96921e36,
models 1e20 or 1e30, old tables 9999, integers their lowest number. Others show by where they stand: errors of a
reservoir's balance vary, and are no larger than all that flows in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]

#: 99, 999, 9999.99 and their like, each also as float32 has it.
_NINES = [10.0**digits - 1 for digits in range(2, 13)]
_NINES += [round(10.0**digits - 10.0**-more, more) for digits in range(2, 8) for more in range(1, 5)]
#: Positive codes beside these: of Hydromet, of Chinese meteorological tables and of integers.
_OTHERS = [998_877.0, 32_744.0, 32_766.0, 32_767.0, 2_147_483_647.0]
_REPEATED = [float(digit * count) for digit in "123456789" for count in range(4, 8)]
_BELOW_NINES = [10.0**digits - below for digits in range(4, 7) for below in range(2, 6)]
#: Negative numbers, without their signs, that no balance gives by chance.
_NEGATIVE = [901.0, 902.0, 6_999.0, 32_768.0, 2_147_483_648.0, 123_456.0, 666.0, 777.0, 888.0, 888.8, 888.88]
_NEGATIVE += [*_NINES, *_OTHERS, *_REPEATED, *_BELOW_NINES]
#: No flow and no volume is so large in any unit: the Amazon carries 5e11 m3 a month. Programs take 1e20 to the largest
#: float32, or the largest float64; what lies between is a slip.
_LARGEST, _LARGEST_FLOAT32, _LARGEST_FLOAT64 = 1e15, 1e40, 1.7e308
#: From how many times the largest other value a positive code stands out, however often it stands there; a short one
#: may be a flood of a small river, and is no news among other values.
_STANDS_OUT, _SHORT_STANDS_OUT, _SHORT = 2.0, 5.0, 100.0
#: A flow is followed by one that differs by less than this part of it; a code in a row is not.
_NEAR = 0.25
#: Different numbers that may be codes, and from how many times all others these stand out by their size alone.
_PEAKS, _FAR = 4, 10.0
#: A negative value below so many times the largest inflow is no error of a balance.
_BEYOND_BALANCE = 10.0
#: Equal negative values one after another, and in the whole record if there are no others, that are no errors of a
#: balance either; so many of a few steps of rounding.
_RUN, _ALL_EQUAL, _LONG_RUN, _ROUNDING_STEPS = 3, 5, 10, 5.0


class Codes(NamedTuple):
    """Which values of a record are codes, of its shape.

    Parameters
    ----------
    sure : ndarray of bool
        No flows.
    doubtful : ndarray of bool
        Flows that are written like a code.
    """

    sure: BoolArray
    doubtful: BoolArray


def _known(codes: list[float]) -> NDArray[np.float64]:
    given = np.array(codes)
    single = given.astype(np.float32).astype(np.float64)
    return np.unique(np.append(given, single[(np.abs(single - given) < 0.005) & (single % 10 != 0)]))


_POSITIVE_CODES, _NEGATIVE_CODES = _known([*_NINES, *_OTHERS, *_BELOW_NINES]), -_known(_NEGATIVE)


def is_known_code(value: float) -> bool:
    """Whether a number means that there is no value, whatever stands beside it."""
    return bool(_is_known(np.array(value)))


def _is_known(values: NDArray[np.float64]) -> BoolArray:
    size = np.abs(values)
    huge = ((size >= _LARGEST) & (size < _LARGEST_FLOAT32)) | (size >= _LARGEST_FLOAT64)
    return np.isfinite(values) & (huge | np.isin(values, _NEGATIVE_CODES))


def codes_among(values: NDArray[np.float64]) -> Codes:
    """Tell codes from flows, or volumes.

    Parameters
    ----------
    values : ndarray, shape (..., steps)
        In the unit of the file, in the order of time; one that is not finite is neither.
    """
    with np.errstate(invalid="ignore"):
        sure = _is_known(values)
        like = np.isin(values, _POSITIVE_CODES)
        others = values[np.isfinite(values) & ~sure & ~like]
        largest = float(others.max(initial=0.0))
        for code in np.unique(values[like]).tolist():
            places = values == code
            sure |= places & _stands_out(code, places, largest, values)
        sure |= _equal_peaks(values, ~sure & (values > 0))
        negative = (values < 0) & ~sure
        if largest > 0:
            sure |= (values < -_BEYOND_BALANCE * largest) & (values > -_LARGEST_FLOAT32)
        sure |= _equal_negatives(values, negative)
    return Codes(sure, like & ~sure & (values >= _SHORT))


def _stands_out(code: float, places: BoolArray, largest: float, values: NDArray[np.float64]) -> bool:
    """Whether a positive number like a code is one, beside the largest other value and those before and after."""
    if code > (_STANDS_OUT if code >= _SHORT else _SHORT_STANDS_OUT) * largest:
        return True
    if int(places.sum()) < 2 or code > largest:
        return code > largest and int(places.sum()) > 1
    first, second = places[..., :-1], places[..., 1:]
    beside = np.append(values[..., :-1][second & ~first], values[..., 1:][first & ~second])
    in_a_row = bool((first & second).any()) and not (np.abs(beside - code) <= _NEAR * code).any()
    return code >= _SHORT and in_a_row


def _equal_peaks(values: NDArray[np.float64], positive: BoolArray) -> BoolArray:
    """The few largest numbers that repeat, far above all others: no two floods are equal."""
    sizes, counts = np.unique(values[positive & np.isfinite(values)], return_counts=True)
    top = next((rank for rank in range(1, _PEAKS + 1) if rank < len(sizes) and counts[-rank] < _RUN), _PEAKS + 1) - 1
    ranks = range(1, min(top, len(sizes) - 1) + 1)
    far = [rank for rank in ranks if sizes[-rank] > max(_FAR * sizes[-rank - 1], _SHORT)]
    return positive & (values >= sizes[-far[-1]]) if far else np.zeros(values.shape, bool)


def _equal_negatives(values: NDArray[np.float64], negative: BoolArray) -> BoolArray:
    """Negative values that repeat as no errors of a balance do."""
    first = np.ones(values.shape, bool)
    first[..., 1:] = ~negative[..., 1:] | (values[..., 1:] != values[..., :-1])
    run = np.cumsum(first.ravel())
    alike = np.bincount(run)[run].reshape(values.shape)
    below = values[negative]
    one = len(below) >= _ALL_EQUAL and bool((below == below[0]).all())
    if not one and alike.max(initial=0) < _RUN:
        return np.zeros(values.shape, bool)
    sizes = np.unique(np.abs(values[np.isfinite(values)]))
    gaps = np.diff(sizes)
    resolution = float(gaps[gaps > 1e-9 * sizes[-1]].min(initial=np.inf))
    coarse = np.isfinite(resolution) & (np.abs(values) >= _ROUNDING_STEPS * resolution * (1 - 1e-9))
    repeated: BoolArray = negative & ((coarse & (one | (alike >= _RUN))) | (alike >= _LONG_RUN))
    return repeated
