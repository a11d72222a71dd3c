"""L-SHADE (Tanabe and Fukunaga 2014), multipopulation in OpenCL: its settings, and the sizes of its population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.solvers.settings import FirstPositionsSettings, device_size, number, switch

#: Of years of systems: members of the first population, at most, and evaluations for each reservoir.
MEMBERS_OF_SYSTEMS, EVALUATIONS_OF_RESERVOIR = 400, 100_000


@dataclass(frozen=True)
class LshadeSettings(FirstPositionsSettings):
    """Settings of L-SHADE: those of Tanabe and Fukunaga 2014, but for two.

    Their p = 0.11 and archive of 2.6 populations left a year of the bundled record in a neighbouring local optimum in
    17 of 1000 runs of 40,000 evaluations (an H200); 0.2 and one population, near what the algorithm's successors take
    (Brest et al. 2017, jSO: 0.25 and 1), in none of 1000, and in 1 of 1000 runs of 30,000.

    Parameters
    ----------
    evaluations : int
        After which the population has shrunk to its end; the last generation may add a few.
    members_per_dimension : int
        Size of the first population, in dimensions.
    fewest_members : int
        Size of the last.
    memory : int
        H, pairs of factors that are remembered.
    best_fraction : float
        p, part of the population that members learn from.
    archive_fraction : float
        Size of the archive, in populations.
    exchange_interval : int
        Every so many generations, members exchange amounts of two variables instead of breeding, where the problem has
        variables that can (releases of a year's months); 0 for never, as in the paper.
    polish : bool
        Whether the best schedule of a reservoir year is improved on the host, by exchanges of water between months in
        float64 (`reservoir.solvers.exchanges`); not that of a long horizon, or if the change of release is limited.
    trace_points : int
        How many values of the convergence trace are kept, at most.
    """

    evaluations: int = number(30_000, 1, 10**9)
    members_per_dimension: int = number(18, 1, 1000)
    fewest_members: int = number(4, 4, 10**4)
    memory: int = number(6, 1, 1000)
    best_fraction: float = number(0.2, 1e-6, 1.0)
    archive_fraction: float = number(1.0, 0.0, 100.0)
    exchange_interval: int = number(5, 0, 10**6)
    polish: bool = switch(False)
    trace_points: int = number(200, 1, 10**5)

    @staticmethod
    def of_systems(reservoirs: int, steps: int, dimension: int) -> dict[str, Any]:
        """Settings for years of systems where they are others: of many variables, those of the paper but for its 18 D.

        Five reservoirs need more evaluations than one; what they are found within is in ``docs/engines``.
        """
        return {
            "members_per_dimension": max(1, min(18, MEMBERS_OF_SYSTEMS // dimension)),
            "best_fraction": 0.11,
            "archive_fraction": 2.6,
            "evaluations": EVALUATIONS_OF_RESERVOIR * reservoirs * max(1, steps // MONTHS_PER_YEAR),
        }

    def first_members(self, dimension: int) -> int:
        """Size of the first population."""
        return max(self.members_per_dimension * dimension, self.fewest_members)

    def archive(self, dimension: int) -> int:
        """Members that the archive can hold."""
        return round(self.archive_fraction * self.first_members(dimension)) + 1

    def sizes(self, dimension: int) -> NDArray[np.int32]:
        """Members of the first population, then of every generation: fewer, linearly in the evaluations made."""
        first = self.first_members(dimension)
        sizes, made = [first], first
        while made < self.evaluations or len(sizes) < 2:
            part = made / self.evaluations if len(sizes) > 1 else 0.0
            sizes.append(round(first + (self.fewest_members - first) * part))
            made += sizes[-1]
        return np.array(sizes, np.int32)


@dataclass(frozen=True)
class DeviceLshadeSettings(LshadeSettings):
    """Settings of L-SHADE on a device.

    Parameters
    ----------
    lanes, items : int, optional
        Members in a work item's vector, and work items of a population; chosen for the device if not given. A result
        does not depend on them beyond rounding.
    """

    lanes: int | None = device_size()
    items: int | None = device_size()
