"""A reservoir's steps as tables: what the dynamic programming of an ensemble reads instead of curves.

The tables are made with the functions of ``hydro/step.py`` in float64; neither the kernel nor the compiled code knows
any physics beside the water balance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Storages outside their bounds by less than this part of the largest are within: float32 tells no more.
ROUNDING = 1e-6

#: Numbers of a step that are the same at every storage, in the order of `StepTables.scalars`.
SCALARS = (
    "volume",
    "per_volume",
    "draft_lower",
    "draft_upper",
    "storage_lower",
    "storage_upper",
    "cost_below",
    "cost_above",
    "dead",
    "least",
    "nothing",
    "cost_short",
    "cost_missing",
)


@dataclass(frozen=True, eq=False)
class StepTables:
    """The steps of a water year.

    Parameters
    ----------
    storage_hm3 : tuple of float
        Lowest and highest of the storages that values are known at, which are evenly apart.
    states : int
        How many of them.
    scalars : ndarray, shape (steps, 13)
        Of each step: hm3 that 1 m3/s carries and its reciprocal, bounds of the draft (m3/s) and of the storage at its
        end (hm3), and the cost of a hm3 below and above them, in the unit of the objective. Of water that is not there
        (`hydro.step.there_is`): dead storage (hm3), the least draft and the draft that takes no water (m3/s), and what
        a m3/s costs that a draft is cut by below its lower bound down to the least one, and below that.
    losses_hm3 : ndarray, shape (steps, means)
        Evaporation and seepage, by mean storage, evenly from the lowest to the highest; zeros where there are none.
    benefit : ndarray, shape (steps, means, drafts)
        Benefit less the cost of unmet demands, by mean storage and by draft, evenly between 0 and `most_draft_m3s`.
    most_draft_m3s : float
    """

    storage_hm3: tuple[float, float]
    states: int
    scalars: FloatArray
    losses_hm3: FloatArray
    benefit: FloatArray
    most_draft_m3s: float

    @property
    def steps(self) -> int:
        """Steps of a water year."""
        return len(self.scalars)

    @property
    def grid_hm3(self) -> FloatArray:
        """Storages that values are known at."""
        return np.linspace(*self.storage_hm3, self.states)

    def in_float32(self) -> TableArrays:
        """As solvers read them."""
        low, high = self.storage_hm3
        _, means, drafts = self.benefit.shape
        return TableArrays(
            np.float32(low),
            np.float32((high - low) / (self.states - 1)),
            np.float32((self.states - 1) / (high - low)),
            np.float32((means - 1) / (high - low)),
            np.float32((drafts - 1) / self.most_draft_m3s),
            np.float32(ROUNDING * max(abs(low), abs(high))),
            bool(self.losses_hm3.any()),
            self.states,
            means,
            drafts,
            np.ascontiguousarray(self.scalars, np.float32),
            *(np.ascontiguousarray(each, np.float32).reshape(-1) for each in (self.losses_hm3, self.benefit)),
        )


class TableArrays(NamedTuple):
    """`StepTables` in float32.

    ``lowest``, ``spacing`` and ``states_per_hm3`` say where the storages begin and how far apart they are;
    ``means_per_hm3`` and ``drafts_per_m3s`` the same of the tables. A storage is within its bounds if it is outside by
    no more than ``rounding`` hm3. ``lossy`` tells whether any water is lost. ``losses`` and ``benefit`` hold the tables
    of all steps one behind the other, of ``means`` storages and ``drafts`` drafts.
    """

    lowest: Any
    spacing: Any
    states_per_hm3: Any
    means_per_hm3: Any
    drafts_per_m3s: Any
    rounding: Any
    lossy: bool
    states: int
    means: int
    drafts: int
    scalars: Any
    losses: Any
    benefit: Any
