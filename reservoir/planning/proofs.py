"""What is proved of a plan's problems, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Problems that plan.json names.
MOST_TOLD = 1000


@dataclass(frozen=True, eq=False)
class Proofs:
    """Proven bounds of a plan's problems.

    Parameters
    ----------
    bound : ndarray, shape (problems,)
        No schedule that keeps the limits has a larger fitness; where it is proved that none keeps them, none that lacks
        only water for the least release, and minus infinity where nothing is known of these; infinity where nothing
        could be proved.
    gap : ndarray, shape (problems,)
        Part of the bound by which the plan's schedule is below it, infinity where nothing could be proved; NaN where it
        is none of those that are bounded.
    asked : float
        Gap that was asked for.
    infeasible : mapping of str to str
        Problems of which it is proved that no schedule keeps the limits, by label: first day of the step by whose end
        they cannot be kept; empty if that is not known.
    """

    bound: FloatArray
    gap: FloatArray
    asked: float
    infeasible: Mapping[str, str] = field(default_factory=dict)

    @property
    def finite_bound(self) -> FloatArray:
        """The bounds, NaN where no schedule keeps the limits, and where nothing could be proved."""
        return np.where(np.isfinite(self.bound), self.bound, np.nan)

    @property
    def finite_gap(self) -> FloatArray:
        """The gaps, NaN where none is known."""
        return np.where(np.isfinite(self.gap), self.gap, np.nan)

    @property
    def worst_gap(self) -> float:
        """Largest gap; NaN if no schedule keeps its limits."""
        known = self.gap[~np.isnan(self.gap)]
        return float(known.max()) if known.size else float("nan")

    @property
    def reached(self) -> int:
        """Problems whose gap is as small as was asked for, but for rounding."""
        return int((self.gap <= self.asked * (1 + 1e-3)).sum())

    def as_dict(self) -> dict[str, Any]:
        """For ``plan.json``."""
        worst = self.worst_gap
        return {
            "gap_asked": self.asked,
            "problems": len(self.bound),
            "reached": self.reached,
            "worst_gap": worst if np.isfinite(worst) else None,
            "infeasible": dict(list(self.infeasible.items())[:MOST_TOLD]),
        }
