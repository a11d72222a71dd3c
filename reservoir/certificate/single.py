"""What a device without double precision is given: numbers in float32, rounded outwards, and values on such cells.

Ends of cells are moved outwards to float32, so that cells overlap a little. The value on a cell is a line of its own,
in float32, about the middle of that: what the line in float64 is more, on the cell, is added to brackets in float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.cells import Pairs
from reservoir.hydro.jit import compiled_as_written

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]

#: Smaller numbers are moved to 0, or from it: a device may flush what is less than 2^-126 to 0, and sums of such.
#: A float32 itself.
_SMALLEST = 2.0**-100
#: More than what float64 rounds in some ten operations, as a part of their numbers: here, and in `add_differences`.
_ROUNDING = 4e-15
_INFINITY = float("inf")


class SingleCells(NamedTuple):
    """Cells as a kernel in float32 reads them, and what is added to brackets.

    Parameters
    ----------
    lower, upper, value, slope : ndarray of float32, shape (cells,)
        As in `Pairs`.
    least, most : ndarray, shape (cells,)
        Between what the value in float64 is more than that in float32, on the cell.
    """

    lower: Float32Array
    upper: Float32Array
    value: Float32Array
    slope: Float32Array
    least: FloatArray
    most: FloatArray


def downwards(numbers: FloatArray) -> Float32Array:
    """The largest float32 that are not above some numbers; none so small that a device may flush it to 0."""
    with np.errstate(over="ignore", under="ignore"):
        found = numbers.astype(np.float32)
        found = np.where(found > numbers, np.nextafter(found, np.float32(-np.inf)), found)
    small = np.where(numbers < 0, np.float32(-_SMALLEST), np.float32(0.0))
    return np.where(np.abs(numbers) < _SMALLEST, small, found)


def upwards(numbers: FloatArray) -> Float32Array:
    """The smallest float32 that are not below some numbers; none so small that a device may flush it to 0."""
    return -downwards(-numbers)


def outwards(numbers: FloatArray) -> Float32Array:
    """Intervals in float32 that contain some numbers; shape (..., 2)."""
    return np.stack([downwards(numbers), upwards(numbers)], axis=-1)


def single_cells(pairs: Pairs) -> SingleCells:
    """Cells in float32, with the same values or values that differ by little."""
    lower, upper = downwards(pairs.lower), upwards(pairs.upper)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        value, slope = pairs.value.astype(np.float32), pairs.slope.astype(np.float32)
        middle = 0.5 * (pairs.lower + pairs.upper)
        # As the kernel makes it: no more than one of its two operations rounds, to nearest.
        apart = slope * ((np.float32(0.5) * (lower + upper)).astype(np.float64) - middle)
        half = np.maximum(pairs.upper - middle, middle - pairs.lower)
        more, spread = pairs.value - value, np.abs(pairs.slope - slope) * half
        spread += _ROUNDING * (np.abs(more) + np.abs(apart) + spread)
        return SingleCells(lower, upper, value, slope, more + apart - spread, more + apart + spread)


@compiled_as_written
def add_differences(
    first_end: Int32Array, first_pair: Int32Array, least: FloatArray, most: FloatArray, brackets: FloatArray
) -> None:
    """Add to the brackets of all pairs by how much values in float64 rise more than those in float32."""
    for x in range(len(first_end)):
        to_end = first_end[x] - first_pair[x]
        for pair in range(first_pair[x], first_pair[x + 1]):
            if brackets[pair] > -_INFINITY:
                bound = brackets[pair] + (most[pair + to_end] - least[x])
                brackets[pair] = bound if bound < _INFINITY else _INFINITY  # also what is no number
