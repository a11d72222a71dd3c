"""Walks over horizons, by which a device finds the longest paths: one, or one for each cell that a cycle begins in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reservoir.certificate.pairs import Int32Array, Pairs
from reservoir.hydro.jit import compiled_as_written

#: What a kernel is told of a run, as ``kernels/certificate/longest_paths.cl`` says.
RUN_FIELDS = ("first_time", "steps", "start", "place")


class Runs(NamedTuple):
    """Runs of all horizons, those of one behind each other.

    Parameters
    ----------
    runs : ndarray of int32, shape (runs, 4)
        `RUN_FIELDS` of each.
    first_run : ndarray of int32, shape (horizons + 1,)
        Place of the first run of each horizon; last, their number.
    horizon : ndarray of int32, shape (cells,)
        Which horizon a cell is of.
    first_start, past_start : ndarray of int32, shape (cells,)
        The first cell from which a path leads to a cell, and the one past the last; not all between need lead there.
    """

    runs: Int32Array
    first_run: Int32Array
    horizon: Int32Array
    first_start: Int32Array
    past_start: Int32Array


def runs_of(pairs: Pairs, *, cyclic: bool) -> tuple[Runs, int]:
    """The runs of all horizons, and how many lengths of paths they find: one for each cell of each.

    Raises
    ------
    ValueError
        If these are more than a kernel can index.
    """
    begin = pairs.first[pairs.first_time].astype(np.int64)
    cells = np.diff(begin)
    starts = pairs.first[pairs.first_time[:-1] + 1] - begin[:-1] if cyclic else np.ones(len(cells), np.int64)
    first_run = np.cumsum([0, *starts])
    of = np.repeat(np.arange(len(cells)), starts)
    places = np.cumsum([0, *cells[of]])
    if places[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{places[-1]:,} lengths of paths, more than a kernel can index")
    start = begin[of] + np.arange(len(of)) - first_run[of] if cyclic else np.full(len(of), -1)
    steps = np.diff(pairs.first_time) - 1
    runs = np.stack([pairs.first_time[of], steps[of], start, places[:-1] - begin[of]], axis=1)
    horizon = np.repeat(np.arange(len(cells), dtype=np.int32), cells)
    starts_of = np.full((2, len(pairs.lower)), [[len(pairs.lower)], [0]], np.int32)
    _find_starts(pairs.first_end, pairs.first_pair, *starts_of)
    return Runs(runs.astype(np.int32), first_run.astype(np.int32), horizon, *starts_of), int(places[-1])


@compiled_as_written
def _find_starts(
    first_end: Int32Array, first_pair: Int32Array, first_start: Int32Array, past_start: Int32Array
) -> None:
    for x in range(len(first_end)):
        for y in range(first_end[x], first_end[x] + first_pair[x + 1] - first_pair[x]):
            first_start[y] = min(first_start[y], x)
            past_start[y] = x + 1
