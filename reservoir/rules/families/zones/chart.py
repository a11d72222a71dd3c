"""What a dispatch chart is made of: its zones and the boundaries between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ZONES = ("reduced", "guaranteed", "increased", "full")
CURVES = len(ZONES) - 1
#: A storage higher than a curve by less than this part of the largest lies on it: a full lake must not be in a zone or
#: in the one above as rounding will have it.
ON_CURVE = 1e-6


@dataclass(frozen=True, eq=False)
class Charts:
    """Many charts: boundaries, shape (charts, curves, steps), and outputs as in `Chart`, shape (charts, zones)."""

    curves: FloatArray
    levels: IntArray

    def __getitem__(self, place: int) -> Chart:
        return Chart(self.curves[place], self.levels[place])


@dataclass(frozen=True, eq=False)
class Chart:
    """Boundaries, shape (curves, steps), and places of the outputs among a trial's outputs, shape (zones,)."""

    curves: FloatArray
    levels: IntArray

    def with_curves(self, curves: FloatArray) -> Charts:
        """Follow this chart by charts of other boundaries, shape (others, curves, steps)."""
        stacked = np.concatenate([self.curves[None], curves])
        return Charts(stacked, np.repeat(self.levels[None], len(stacked), axis=0))

    def with_levels(self, levels: IntArray) -> Charts:
        """Follow this chart by charts of other outputs, shape (others, zones)."""
        stacked = np.concatenate([self.levels[None], levels])
        return Charts(np.repeat(self.curves[None], len(stacked), axis=0), stacked)
