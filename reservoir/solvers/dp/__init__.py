"""Dynamic programming over storage: how it divides storage, on the host and on a device, and what it can solve.

The best start of a cyclic year is searched by starts side by side, then by closer ones around the best, again and
again (`best_starts`). Fitness by start has kinks, and where two are near, the best of a few starts need not be next to
the best of all: the second round looks as far as two neighbours away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.settings import Settings, device_size, number, switch


@dataclass(frozen=True)
class Grids:
    """How finely storage is divided in horizons of so many steps: every one of `GridSettings`, chosen."""

    states: int
    most_states: int
    agreement: float
    fine_states: int
    reach: float
    tolerance: float
    most_refinements: int
    start_states: int
    restart_width: float
    restart_gain: float
    most_restarts: int


#: What is not given: of a year, and of more steps. In long horizons the best trajectory of a narrow band is often not
#: the best one nearby: to start again from a wider band finds more than finer grids do.
_USUAL: dict[str, tuple[Any, Any]] = {
    "states": (201, 101),
    "most_states": (1100, 300),
    "agreement": (1e-6, 2e-6),
    "fine_states": (41, 21),
    "reach": (6.0, 5.0),
    "most_refinements": (40, 30),
    "most_restarts": (0, 12),
}


@dataclass(frozen=True)
class GridSettings(Settings):
    """How finely storage is divided. Where two defaults are stated, the second is that of more than 12 steps.

    Parameters
    ----------
    states : int, optional
        Storages of the first grid, between the lowest and highest that can be reached: 201, 101.
    most_states : int, optional
        The whole is repeated from a first grid half as fine again, until the fitness changes by less than `agreement`
        or the first grid has more than this: 1100, 300.
    agreement : float, optional
        See `most_states`; a part of the fitness: 1e-6, 2e-6.
    fine_states : int, optional
        Storages of each finer grid: 41, 21.
    reach : float, optional
        Half width of a finer grid, in spacings of the one before: 6, 5.
    tolerance : float
        Refinement ends when it changes the fitness by less than this part of it, twice running.
    most_refinements : int, optional
        Refinement ends after so many grids at the latest: 40, 30.
    start_states : int
        Starts tried in a cyclic year before the search between the neighbours of the best.
    restart_width : float
        Refinement starts again around the best trajectory, with grids this part as wide as the first time.
    restart_gain : float
        It does so until that gains less than this part of the fitness.
    most_restarts : int, optional
        It does so as often at most: 0, 12.
    """

    states: int | None = number(None, 2, 20_000)
    most_states: int | None = number(None, 2, 20_000)
    agreement: float | None = number(None, 1e-12, 1.0)
    fine_states: int | None = number(None, 3, 20_000)
    reach: float | None = number(None, 0.5, 1e6)
    tolerance: float = number(1e-8, 0.0, 1.0)
    most_refinements: int | None = number(None, 1, 10_000)
    start_states: int = number(25, 2, 20_000)
    restart_width: float = number(0.3, 1e-6, 1.0)
    restart_gain: float = number(1e-7, 0.0, 1.0)
    most_restarts: int | None = number(None, 0, 10_000)

    def grids(self, steps: int) -> Grids:
        """The grids of horizons of so many steps: what is given, and the defaults of such horizons."""
        given, is_long = {each.name: getattr(self, each.name) for each in fields(Grids)}, steps > MOST_STEPS_OF_YEAR
        return Grids(**{name: _USUAL[name][is_long] if value is None else value for name, value in given.items()})


@dataclass(frozen=True)
class DeviceGridSettings(GridSettings):
    """Settings of dynamic programming on a device.

    Parameters
    ----------
    lanes, items : int, optional
        States in a work item's vector and work items of a year; chosen for the device if not given. A result does not
        depend on them beyond rounding.
    double : bool, optional
        Whether to reckon in float64; if not given, where the device can.
    """

    lanes: int | None = device_size()
    items: int | None = device_size()
    double: bool | None = switch(None, run=True)


def first_grids(of: Grids) -> list[int]:
    """States of every first grid that may be tried."""
    grids = [of.states]
    while grids[-1] < of.most_states:
        grids.append(grids[-1] * 3 // 2)
    return grids


def reservoir_years(problems: Sequence[Problem]) -> Sequence[ReservoirYears]:
    """The problems, if all of them are reservoir years.

    Raises
    ------
    InputError
        If one is not, or limits how fast the release changes: a storage alone does not tell the release before.
    """
    if isinstance(problems, ReservoirYears):
        return _without_ramps(problems)
    years = [problem for problem in problems if isinstance(problem, ReservoirYears)]
    others = [problem.label for problem in problems if not isinstance(problem, ReservoirYears)]
    if others:
        raise InputError(
            f"dynamic programming needs a reservoir storage as its state, and {others[0]} has none",
            expected="years of a reservoir",
            mend="choose another solver",
        )
    return _without_ramps(years)


def _without_ramps(years: Sequence[ReservoirYears]) -> Sequence[ReservoirYears]:
    if len(years) and years[0].limits.ramps:
        raise InputError(
            "dynamic programming cannot limit the change of the release from month to month",
            expected="no release.ramp_up_m3s and release.ramp_down_m3s",
            mend="choose the solver clpso or lshade, or with --horizon year also clpso-sequential",
        )
    return years


FloatArray = NDArray[np.float64]

#: Starts between two neighbours of a round, one of them included.
_CLOSER = 4
#: Neighbours that lose no more than this part of the precision are close enough.
_LEAST_LOSS = 0.1


def best_starts(
    lowest: FloatArray,
    highest: FloatArray,
    states: int,
    precision: float,
    fitness_of: Callable[[NDArray[np.intp], FloatArray], FloatArray],
) -> FloatArray:
    """Search the starts of several years at once; what is found for a year does not depend on the others.

    Parameters
    ----------
    lowest, highest : ndarray, shape (years,)
        Between which each year's start is sought.
    states : int
        Starts of the first round.
    precision : float
        The search ends when the neighbours of every best start are this close to it, as a part of the highest, or when
        they lose next to nothing.
    fitness_of : callable
        Fitness of starts of shape (years, starts), in that shape; of the years at these places, which are searched
        still.

    Returns
    -------
    ndarray, shape (years,)
    """
    starts = np.linspace(lowest, highest, states, axis=1)
    found, left, neighbours = np.empty(len(starts)), np.arange(len(starts)), 2
    while left.size:
        fitness, each = fitness_of(left, starts), np.arange(len(left))
        best = fitness.argmax(axis=1)
        below, above = np.maximum(best - neighbours, 0), np.minimum(best + neighbours, starts.shape[1] - 1)
        low, high = starts[each, below], starts[each, above]
        most = fitness[each, best]
        lost = most - np.minimum(fitness[each, below], fitness[each, above])
        near = high - low <= 2 * neighbours * precision * highest[left]
        done = near | (lost <= _LEAST_LOSS * precision * np.abs(most))
        found[left[done]] = starts[each, best][done]
        left = left[~done]
        # The best so far is among them.
        starts = np.linspace(low[~done], high[~done], 2 * neighbours * _CLOSER + 1, axis=1)
        neighbours = 1
    return found
