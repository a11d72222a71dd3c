"""Between what each price of water may lie among the multipliers of a schedule (`multipliers`).

The least is what a m3/s more would bring, the most what a m3/s less would cost. Most conditions of an optimum are no
ranges but numbers, which leave one price after another no choice; two linear programs each find the others' least and
most that all conditions allow. What the schedule misses of a condition is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array
from scipy.sparse.csgraph import connected_components

from reservoir.certificate.multipliers import conditions
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.system import SystemYears
from reservoir.solvers.plant_steps import FloatArray
from reservoir.solvers.slp.highs import maximised
from reservoir.solvers.slp.program import Programs

#: A condition whose range is narrower than this part of what it adds up is a number: derivatives are told so far apart.
_NARROW = 1e-5


def price_ranges(batch: SystemYears, schedule: SystemOperation) -> FloatArray:
    """Least and most that a m3/s more in each step may be worth, shape (2, reservoirs, steps).

    In the unit of the objective; infinite where nothing bounds it, and NaN where there are no multipliers.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
    """
    made, worth, _, _ = conditions(batch, schedule)
    programs, prices = made.programs(), np.stack(worth)
    point = maximised(programs, 0).point
    if point is None:
        return np.full((2, *prices.shape), np.nan)
    ranges = np.stack([point, point])
    for columns, around in _choices(programs, point):
        basis = None
        for place in np.flatnonzero(np.isin(columns, prices)):
            for end, sign in enumerate((-1.0, 1.0)):
                cost = sign * (np.arange(len(columns)) == place)
                solved = maximised(around._replace(cost=cost[np.newaxis]), 0, basis, presolve=False)
                ranges[end, columns[place]] += sign * (np.inf if solved.point is None else solved.value)
                basis = solved.basis or basis
    return ranges[:, prices]


def _choices(programs: Programs, point: FloatArray) -> Iterator[tuple[NDArray[np.intp], Programs]]:
    """Columns that have a choice together, and programs of how far they may be from a point."""
    rows = csc_array((programs.values[0], programs.places, programs.starts), copy=True)
    rows.eliminate_zeros()
    columns = np.flatnonzero(programs.cost[0] == 0)  # all but what is missed
    rows, point = rows[:, columns], point[columns]
    between = [bound[0] - rows @ point for bound in programs.rows]
    low, high = between[0].clip(max=0.0), between[1].clip(min=0.0)
    least, most = (bound[0, columns] - point for bound in programs.columns)
    numbers = rows[high - low <= _NARROW * (abs(rows) @ abs(point))]
    free = np.flatnonzero(~_without_choice(numbers, most - least <= _NARROW * abs(point)))
    _, group = connected_components(abs(rows[:, free].T) @ abs(rows[:, free]), directed=False)
    for each in np.unique(group):
        own = free[group == each]
        among = np.unique(rows[:, own].indices)
        part = rows[among][:, own].tocsc()
        arrays = part.indptr.astype(np.int32), part.indices.astype(np.int32), part.data[np.newaxis], np.empty((1, 0))
        of_columns, of_rows = (
            (lower[None, at], upper[None, at]) for lower, upper, at in ((least, most, own), (low, high, among))
        )
        yield columns[own], Programs(*arrays, of_columns, of_rows)


def _without_choice(numbers: csc_array, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which columns have none: rows that are numbers leave one column after another alone."""
    within = abs(numbers.sign())
    while True:
        alone = within @ (~known).astype(np.float64) == 1.0
        further = (within.T @ alone > 0) & ~known
        if not further.any():
            return known
        known = known | further
