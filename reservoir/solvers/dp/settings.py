"""How dynamic programming divides storage, on the host and on a device, and the problems it can solve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYear, ReservoirYears
from reservoir.solvers.base.setting_ranges import require_ranges

#: Smallest and largest value of each setting; whole numbers where they are whole.
_RANGES: dict[str, tuple[float, float]] = {
    "states": (2, 20_000),
    "most_states": (2, 20_000),
    "agreement": (1e-12, 1.0),
    "fine_states": (3, 20_000),
    "reach": (0.5, 1e6),
    "tolerance": (0.0, 1.0),
    "most_refinements": (1, 10_000),
    "start_states": (2, 20_000),
}


@dataclass(frozen=True)
class GridSettings:
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

    states: int = 201
    most_states: int = 1100
    agreement: float = 1e-6
    fine_states: int = 41
    reach: float = 6.0
    tolerance: float = 1e-8
    most_refinements: int = 40
    start_states: int = 25

    def __post_init__(self) -> None:
        """Refuse settings with which no grid can be made."""
        require_ranges(self, _RANGES)

    def as_dict(self) -> dict[str, Any]:
        """Settings for provenance."""
        return asdict(self)


def reservoir_years(problems: Sequence[Problem]) -> Sequence[ReservoirYear]:
    """The problems, if all of them are reservoir years.

    Raises
    ------
    InputError
        If one is not.
    """
    if isinstance(problems, ReservoirYears):
        return problems
    years = [problem for problem in problems if isinstance(problem, ReservoirYear)]
    others = [problem.label for problem in problems if not isinstance(problem, ReservoirYear)]
    if others:
        raise InputError(
            Mistake(
                f"dynamic programming needs a storage to divide, and {others[0]} has none",
                expected="years of a reservoir",
                mend="choose another solver",
            )
        )
    return years
