"""Brackets of all pairs of cells, and the longest paths through them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.brackets import bracket_bound
from reservoir.certificate.stages import Stages
from reservoir.hydro.jit import compiled_as_written, part_as_written
from reservoir.hydro.plant import Plant

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_INFINITY = float("inf")


class Cells(NamedTuple):
    """Cells of storages at the start of each step and at the end of the last, one array for all.

    A path may lead from a cell to a band of cells behind each other: pair `p` of cell `x` ends in cell
    ``first_end[x] + p - first_pair[x]``.

    Parameters
    ----------
    first : ndarray, shape (steps + 2,)
        Place of the first cell of each time; last, their number.
    first_end : ndarray, shape (cells that a step starts in,)
        Place of the first cell that a path may lead to from each.
    first_pair : ndarray, shape (cells that a step starts in + 1,)
        Place of the first pair of each of these cells; last, the number of pairs.
    lower, upper : ndarray, shape (cells,)
        Ends of the cells, hm3.
    value, slope : ndarray, shape (cells,)
        Value at the middle of each cell, and its slope over the storage.
    """

    first: IntArray
    first_end: IntArray
    first_pair: IntArray
    lower: FloatArray
    upper: FloatArray
    value: FloatArray
    slope: FloatArray


@compiled_as_written
def bound_pairs(plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray, start: int, stop: int) -> None:
    """Bound the brackets of some steps; pairs that are minus infinity stay so."""
    for step in range(start, stop):
        for x in range(cells.first[step], cells.first[step + 1]):
            to_end = cells.first_end[x] - cells.first_pair[x]
            for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
                if brackets[pair] > -_INFINITY:
                    y = pair + to_end
                    brackets[pair] = bracket_bound(
                        plant,
                        stages,
                        step,
                        (cells.lower[x], cells.upper[x]),
                        (cells.lower[y], cells.upper[y]),
                        cells.value[y] - cells.value[x],
                        (cells.slope[x], cells.slope[y]),
                    )


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
    starts = len(cells.first_end)
    for x in range(starts - 1, -1, -1):
        to_end, best = cells.first_end[x] - cells.first_pair[x], after[x]
        for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
            best = max(best, brackets[pair] + after[pair + to_end])
        after[x] = best
    for x in range(starts):
        to_end, reached = cells.first_end[x] - cells.first_pair[x], before[x]
        if reached == -_INFINITY:
            continue
        for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
            y, length = pair + to_end, reached + brackets[pair]
            before[y] = max(before[y], length)
            through[pair] = max(through[pair], length + after[y])
