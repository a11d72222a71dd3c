"""The recursion over joint storages of up to four reservoirs, on storages that lie as far apart in all of them.

Then a release is one of few, whatever links bring: what each makes is a table, and a transition a few sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: Reservoirs at most; where there are fewer, those in front have one storage and release nothing.
RESERVOIRS = 4
#: Value of what cannot be.
NEVER = -1e30


class Lattice(NamedTuple):
    """Joint storages of a year around a trajectory, in storages apart from it.

    Parameters
    ----------
    shape : ndarray, shape (4,)
        Storages of each reservoir.
    lowest, highest : ndarray, shape (4, steps + 1)
        Those that limits allow at the start of each step and at the end of the last.
    least, most : ndarray, shape (4, steps)
        Releases that limits allow, apart from the trajectory's.
    links : ndarray, shape (4, 4)
        1 where a reservoir, row, releases into another, column.
    made : ndarray, shape (4, steps, sums of two storages, releases)
        Benefit by the places of both storages, added, and by the release less the least.
    ends : ndarray, shape (4, storages)
        What each is worth at the end.
    """

    shape: IntArray
    lowest: IntArray
    highest: IntArray
    least: IntArray
    most: IntArray
    links: IntArray
    made: FloatArray
    ends: FloatArray


@compiled
def best_path(of: Lattice, values: FloatArray, later: FloatArray, choices: NDArray[np.int32], path: IntArray) -> int:
    """Fill in the best path, shape (4, steps + 1), from its start; returns the transitions that were tried.

    They are 0 where limits leave no path. `values` and `later` have room for all joint storages, `choices` for those of
    all steps.
    """
    size1, size2, size3 = of.shape[1], of.shape[2], of.shape[3]
    steps, tried = of.least.shape[1], 0
    for at0 in range(of.shape[0]):
        for at1 in range(size1):
            for at2 in range(size2):
                for at3 in range(size3):
                    allowed = of.lowest[0, steps] <= at0 <= of.highest[0, steps]
                    allowed = allowed and of.lowest[1, steps] <= at1 <= of.highest[1, steps]
                    allowed = allowed and of.lowest[2, steps] <= at2 <= of.highest[2, steps]
                    allowed = allowed and of.lowest[3, steps] <= at3 <= of.highest[3, steps]
                    worth = of.ends[0, at0] + of.ends[1, at1] + of.ends[2, at2] + of.ends[3, at3]
                    later[at0, at1, at2, at3] = worth if allowed else NEVER
    for step in range(steps - 1, -1, -1):
        low, high, least, most = of.lowest[:, step], of.highest[:, step], of.least[:, step], of.most[:, step]
        low_end, high_end = of.lowest[:, step + 1], of.highest[:, step + 1]
        values[:] = NEVER
        for at0 in range(low[0], high[0] + 1):
            for at1 in range(low[1], high[1] + 1):
                for at2 in range(low[2], high[2] + 1):
                    for at3 in range(low[3], high[3] + 1):
                        best, choice = NEVER, 0
                        for to0 in range(max(low_end[0], at0 - most[0]), min(high_end[0], at0 - least[0]) + 1):
                            out0 = at0 - to0
                            of0 = of.made[0, step, at0 + to0, out0 - least[0]]
                            in1 = at1 + of.links[0, 1] * out0
                            for to1 in range(max(low_end[1], in1 - most[1]), min(high_end[1], in1 - least[1]) + 1):
                                out1 = in1 - to1
                                of1 = of0 + of.made[1, step, at1 + to1, out1 - least[1]]
                                in2 = at2 + of.links[0, 2] * out0 + of.links[1, 2] * out1
                                for to2 in range(max(low_end[2], in2 - most[2]), min(high_end[2], in2 - least[2]) + 1):
                                    out2 = in2 - to2
                                    of2 = of1 + of.made[2, step, at2 + to2, out2 - least[2]]
                                    in3 = at3 + of.links[0, 3] * out0 + of.links[1, 3] * out1 + of.links[2, 3] * out2
                                    first = max(low_end[3], in3 - most[3])
                                    last = min(high_end[3], in3 - least[3])
                                    row, made = later[to0, to1, to2], of.made[3, step]
                                    for to3 in range(first, last + 1):
                                        value = of2 + made[at3 + to3, in3 - to3 - least[3]] + row[to3]
                                        if value > best:
                                            best, choice = value, ((to0 * size1 + to1) * size2 + to2) * size3 + to3
                                    tried += max(last + 1 - first, 0)
                        values[at0, at1, at2, at3] = best
                        choices[step, ((at0 * size1 + at1) * size2 + at2) * size3 + at3] = choice
        later, values = values, later
    at = ((path[0, 0] * size1 + path[1, 0]) * size2 + path[2, 0]) * size3 + path[3, 0]
    if later[path[0, 0], path[1, 0], path[2, 0], path[3, 0]] <= 0.5 * NEVER:
        return 0
    for step in range(steps):
        at = choices[step, at]
        path[3, step + 1] = at % size3
        path[2, step + 1] = at // size3 % size2
        path[1, step + 1] = at // (size3 * size2) % size1
        path[0, step + 1] = at // (size3 * size2 * size1)
    return tried
