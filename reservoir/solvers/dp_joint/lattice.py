"""Joint storages of up to four reservoirs that lie as far apart in all of them, and the recursion over them.

Then a release is one of few, whatever links bring: what each makes is a table, and a transition a few sums.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled
from reservoir.hydro.rows import HM3_PER_M3S
from reservoir.problems.system import SystemYears
from reservoir.solvers.plant_steps import PlantSteps

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
#: Reservoirs at most; where there are fewer, those in front have one storage and release nothing.
RESERVOIRS = 4
#: Value of what cannot be.
NEVER = -1e30
#: A part of a spacing that is no more than rounding.
ROUNDING = 1e-6


class Lattice(NamedTuple):
    """Joint storages of years around trajectories, in storages apart from them.

    Parameters
    ----------
    shape : ndarray, shape (4,)
        Storages of each reservoir, in the year that has most.
    lowest, highest : ndarray, shape (years, 4, steps + 1)
        Those that limits allow at the start of each step and at the end of the last.
    least, most : ndarray, shape (years, 4, steps)
        Releases that limits allow, apart from the trajectory's.
    links : ndarray, shape (4, 4)
        1 where a reservoir, row, releases into another, column.
    made : ndarray, shape (years, 4, steps, sums of two storages, releases)
        Benefit by the places of both storages, added, and by the release less the least.
    ends : ndarray, shape (years, 4, storages)
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

    def of_year(self, place: int) -> Lattice:
        """That of one year, whose arrays have no axis of years."""
        rows = {name: getattr(self, name)[place] for name in self._fields if name not in ("shape", "links")}
        return self._replace(**rows)


def lattice_around(
    batch: SystemYears, plants: list[PlantSteps], centre: FloatArray, apart: FloatArray, reach: int | None
) -> tuple[Lattice, IntArray]:
    """The lattice around trajectories, and the place of these in it.

    Parameters
    ----------
    batch : SystemYears
    plants : list of PlantSteps
        Of all reservoirs, near the trajectories.
    centre : ndarray, shape (years, reservoirs, steps + 1)
        The trajectories, hm3.
    apart : ndarray, shape (years,)
        How far storages lie apart, hm3.
    reach : int or None
        Storages to either side; all that limits allow if None.

    Returns
    -------
    lattice : Lattice
    origin : ndarray, shape (years, 4)
    """
    years, count, steps = len(batch), len(plants), batch.steps
    bounds, origin = np.zeros((2, years, RESERVOIRS, steps + 1), np.int64), np.zeros((years, RESERVOIRS), np.int64)
    releases, tables = np.zeros((2, years, RESERVOIRS, steps), np.int64), list[FloatArray]()
    widest, spacing = np.zeros(RESERVOIRS, np.int64), apart[:, np.newaxis]
    shape, links = np.ones(RESERVOIRS, np.int64), np.zeros((RESERVOIRS, RESERVOIRS), np.int64)
    first, volumes = RESERVOIRS - count, list[FloatArray]()
    for place, plant in enumerate(plants):
        own, limits, middle = first + place, plant.years.limits, centre[:, place]
        volume = plant.rows.rows[HM3_PER_M3S]
        local = volume * batch.years[place].limits.inflow_m3s
        volumes.append(local - np.diff(middle, axis=1))
        for source, _ in batch.system.into(place):
            volumes[place] = volumes[place] + volumes[source]
            links[first + source, own] = 1
        ends = [limits.storage_lower_hm3, limits.storage_upper_hm3]
        if limits.cyclic:
            ends = [np.column_stack([each[:, :-1], middle[:, 0]]) for each in ends]
        low, high = np.zeros((2, years, steps + 1), np.int64)
        low[:, 1:] = np.ceil((ends[0] - middle[:, 1:]) / spacing - ROUNDING)
        high[:, 1:] = np.floor((ends[1] - middle[:, 1:]) / spacing + ROUNDING)
        between = low[:, -1] > high[:, -1]  # a fixed end between two of them
        nearest = np.rint((ends[0][:, -1] - middle[:, -1]) / apart).astype(np.int64)
        low[between, -1] = high[between, -1] = nearest[between]
        if reach is not None:
            low, high = np.maximum(low, -reach), np.minimum(high, reach)
        origin[:, own] = -low.min(axis=1)
        shape[own] = max((high.max(axis=1) - low.min(axis=1)).max(), 0) + 1
        bounds[:, :, own] = np.stack([low, high]) + origin[:, own, np.newaxis]
        out = [
            (each * volume - volumes[place]) / spacing for each in (limits.release_lower_m3s, limits.release_upper_m3s)
        ]
        widest[own] = shape[own] - 1 + links[:, own] @ widest  # no further do releases differ
        releases[0, :, own] = np.maximum(np.ceil(out[0] - ROUNDING), -widest[own])
        releases[1, :, own] = np.minimum(np.floor(out[1] + ROUNDING), widest[own])
        least, most = releases[:, :, own]
        spread = np.arange(2 * shape[own] - 1)[:, np.newaxis, np.newaxis, np.newaxis] - 2 * origin[:, own, np.newaxis]
        storage = 0.5 * (middle[:, 1:] + middle[:, :-1] + spread * spacing)
        flows = np.arange(int((most - least).max()) + 1)[:, np.newaxis, np.newaxis]
        release = (volumes[place] + spacing * (least + flows)) / volume
        tables.append(np.moveaxis(plant.per_mw * plant.power_mw(storage, release), (2, 3), (0, 1)))
    sizes = (max(each.shape[axis] for each in tables) for axis in (2, 3))
    made = np.zeros((years, RESERVOIRS, steps, *sizes))
    ends_worth = np.zeros((years, RESERVOIRS, int(shape.max())))
    for place, table in enumerate(tables):
        made[:, first + place, :, : table.shape[2], : table.shape[3]] = table
        ends_worth[:, first + place] = batch.end_values[place] * spacing * np.arange(shape.max())
    lattice = Lattice(shape, bounds[0], bounds[1], releases[0], releases[1], links, made, ends_worth)
    return lattice, origin


@compiled
def best_path(of: Lattice, values: FloatArray, later: FloatArray, choices: NDArray[np.int32], path: IntArray) -> int:
    """Fill in the best path, shape (4, steps + 1), from its start; returns the transitions that were tried.

    The lattice is that of one year. They are 0 where limits leave no path. `values` and `later` have room for all joint
    storages, `choices` for those of all steps.
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
