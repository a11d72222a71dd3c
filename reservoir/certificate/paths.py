"""Brackets of all pairs of cells, and the longest paths through them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.box import bracket_bound
from reservoir.certificate.stages import Stages
from reservoir.hydro.jit import compiled_as_written, part_as_written
from reservoir.hydro.plant import Plant

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_INFINITY = float("inf")


class Cells(NamedTuple):
    """Cells of storages at the start of each step and at the end of the last, one array for all.

    Parameters
    ----------
    first : ndarray, shape (steps + 2,)
        Place of the first cell of each time; last, their number.
    first_pair : ndarray, shape (steps + 1,)
        Place of the first pair of cells of each step, those of a start behind each other.
    lower, upper : ndarray, shape (cells,)
        Ends of the cells, hm3.
    value, slope : ndarray, shape (cells,)
        Value at the middle of each cell, and its slope over the storage.
    """

    first: IntArray
    first_pair: IntArray
    lower: FloatArray
    upper: FloatArray
    value: FloatArray
    slope: FloatArray


@compiled_as_written
def bound_pairs(plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray, start: int, stop: int) -> None:
    """Bound the brackets of some steps; pairs that are minus infinity stay so."""
    for step in range(start, stop):
        pair = cells.first_pair[step]
        for x in range(cells.first[step], cells.first[step + 1]):
            for y in range(cells.first[step + 1], cells.first[step + 2]):
                if brackets[pair] > -_INFINITY:
                    brackets[pair] = bracket_bound(
                        plant,
                        stages,
                        step,
                        (cells.lower[x], cells.upper[x]),
                        (cells.lower[y], cells.upper[y]),
                        cells.value[y] - cells.value[x],
                        (cells.slope[x], cells.slope[y]),
                    )
                pair += 1


@compiled_as_written
def longest_paths(
    cells: Cells,
    brackets: FloatArray,
    ends: FloatArray,
    cyclic: bool,
    before: FloatArray,
    after: FloatArray,
    through: FloatArray,
) -> None:
    """Length of the longest path through each pair of cells.

    Parameters
    ----------
    ends : ndarray, shape (cells at the start,)
        What is added to paths from each cell.
    cyclic : bool
        Whether paths end in the cell that they begin in.
    before, after : ndarray, shape (cells,)
        Room for the longest paths to and from a cell.
    through : ndarray, shape (pairs,)
        Filled.
    """
    through[:] = -_INFINITY
    first_cells = cells.first[1]
    for start in range(first_cells if cyclic else 1):
        before[:] = -_INFINITY
        after[:] = -_INFINITY
        last = cells.first[-2]
        if cyclic:
            before[start] = ends[start]
            after[last + start] = 0.0
        else:
            for cell in range(first_cells):
                before[cell] = ends[cell]
            after[last:] = 0.0
        _both_ways(cells, brackets, before, after, through)


@part_as_written
def _both_ways(cells: Cells, brackets: FloatArray, before: FloatArray, after: FloatArray, through: FloatArray) -> None:
    steps = len(cells.first_pair) - 1
    for step in range(steps - 1, -1, -1):
        pair = cells.first_pair[step]
        for x in range(cells.first[step], cells.first[step + 1]):
            for y in range(cells.first[step + 1], cells.first[step + 2]):
                after[x] = max(after[x], brackets[pair] + after[y])
                pair += 1
    for step in range(steps):
        pair = cells.first_pair[step]
        for x in range(cells.first[step], cells.first[step + 1]):
            reached = before[x]
            for y in range(cells.first[step + 1], cells.first[step + 2]):
                length = reached + brackets[pair]
                before[y] = max(before[y], length)
                through[pair] = max(through[pair], length + after[y])
                pair += 1
