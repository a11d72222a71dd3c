"""How dynamic programming divides storage, on the host and on a device, and the problems it can solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYear, ReservoirYears
from reservoir.solvers.base.settings import Settings, number, run_option


@dataclass(frozen=True)
class GridSettings(Settings):
    """How finely storage is divided.

    Parameters
    ----------
    states : int
        Storages of the first grid, between the lowest and highest that can be reached.
    most_states : int
        The whole is repeated from a first grid half as fine again, until the year's fitness changes by less than
        `agreement` or the first grid has more than this.
    agreement : float
        See `most_states`; a part of the fitness.
    fine_states : int
        Storages of each finer grid.
    reach : float
        Half width of a finer grid, in spacings of the one before.
    tolerance : float
        Refinement ends when it changes the year's fitness by less than this part of it, twice running.
    most_refinements : int
        Refinement ends after so many grids at the latest.
    start_states : int
        Starts tried in a cyclic year before the search between the neighbours of the best.
    """

    states: int = number(201, 2, 20_000)
    most_states: int = number(1100, 2, 20_000)
    agreement: float = number(1e-6, 1e-12, 1.0)
    fine_states: int = number(41, 3, 20_000)
    reach: float = number(6.0, 0.5, 1e6)
    tolerance: float = number(1e-8, 0.0, 1.0)
    most_refinements: int = number(40, 1, 10_000)
    start_states: int = number(25, 2, 20_000)


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

    lanes: int | None = run_option(None)
    items: int | None = run_option(None)
    double: bool | None = run_option(None)


def first_grids(settings: GridSettings) -> list[int]:
    """States of every first grid that may be tried."""
    grids = [settings.states]
    while grids[-1] < settings.most_states:
        grids.append(grids[-1] * 3 // 2)
    return grids


def reservoir_years(problems: Sequence[Problem]) -> Sequence[ReservoirYear]:
    """The problems, if all of them are reservoir years.

    Raises
    ------
    InputError
        If one is not, or limits how fast the release changes: a storage alone does not tell the release before.
    """
    if isinstance(problems, ReservoirYears):
        return _without_ramps(problems)
    years = [problem for problem in problems if isinstance(problem, ReservoirYear)]
    others = [problem.label for problem in problems if not isinstance(problem, ReservoirYear)]
    if others:
        raise InputError(
            Mistake(
                f"dynamic programming needs a reservoir storage as its state, and {others[0]} has none",
                expected="years of a reservoir",
                mend="choose another solver",
            )
        )
    return _without_ramps(years)


def _without_ramps(years: Sequence[ReservoirYear]) -> Sequence[ReservoirYear]:
    conditions = years[0].limits.conditions if len(years) else None
    if conditions is not None and conditions.ramps:
        raise InputError(
            Mistake(
                "dynamic programming cannot limit the change of the release from month to month",
                expected="no release.ramp_up_m3s and release.ramp_down_m3s",
                mend="choose the solver clpso, lshade or clpso-sequential, with --horizon year",
            )
        )
    return years
