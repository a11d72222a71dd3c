"""What reservoirs of the zoo differ in: drawn at random within ranges that real reservoirs have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from reservoir.hydro.reservoir_kinds import YearEnd


class Regime(StrEnum):
    """How the inflow of a river varies within a year."""

    SNOW = "snow"
    """Most of the water comes as snow melts, in two or three months; years differ little."""
    MONSOON = "monsoon"
    """A wet season of four months."""
    ARID = "arid"
    """Floods of a few weeks in some years, next to nothing between them."""


class Start(StrEnum):
    """How full a reservoir is when a horizon begins."""

    EMPTY = "near empty"
    HALF = "half full"
    FULL = "near full"


#: Parts of the active storage that are in store at each start.
_FILLED = {Start.EMPTY: (0.0, 0.1), Start.HALF: (0.3, 0.7), Start.FULL: (0.9, 1.0)}


@dataclass(frozen=True)
class Traits:
    """One reservoir's traits, as parts of its mean inflow and its head.

    Parameters
    ----------
    mean_inflow_m3s, head_m : float
        Mean inflow; gross head of the full reservoir.
    storage_ratio : float
        Active storage as a part of the mean annual inflow.
    head_share : float
        Part of the head that is lost between the full and the empty reservoir.
    capacity_ratio : float
        Hydraulic capacity at rated head, in mean inflows.
    tailrace_share : float
        Rise of the tailrace from no release to the hydraulic capacity, as a part of the head.
    hump : float
        Part of the best efficiency that is lost where the head differs by 40 % from the best one.
    least_release_share : float
        Least release as a part of the mean inflow.
    flood_share : float
        Part of the active storage that is kept empty in the wet season; 0 without a flood limit.
    regime : Regime
    persistence : float
        Correlation of the inflow of a year with that of the year before.
    year_end : YearEnd
    start : Start
    filled : float
        Part of the active storage in store when a horizon begins.
    evaporation_mm : float
        Net evaporation of a year.
    """

    mean_inflow_m3s: float
    head_m: float
    storage_ratio: float
    head_share: float
    capacity_ratio: float
    tailrace_share: float
    hump: float
    least_release_share: float
    flood_share: float
    regime: Regime
    persistence: float
    year_end: YearEnd
    start: Start
    filled: float
    evaporation_mm: float


#: Ends of a horizon that are drawn.
_YEAR_ENDS = (YearEnd.FIXED, YearEnd.FREE, YearEnd.CYCLIC)


def draw_traits(random: np.random.Generator) -> Traits:
    """Draw one reservoir's traits, independent of each other; sizes are even on a logarithmic scale."""

    def log_uniform(least: float, most: float) -> float:
        return float(np.exp(random.uniform(np.log(least), np.log(most))))

    regime = list(Regime)[random.integers(len(Regime))]
    start = list(Start)[random.integers(len(Start))]
    evaporates = regime is Regime.ARID and random.random() < 0.5
    return Traits(
        mean_inflow_m3s=log_uniform(3, 3000),
        head_m=log_uniform(10, 300),
        storage_ratio=log_uniform(0.02, 3),
        head_share=log_uniform(0.02, 0.6),
        capacity_ratio=log_uniform(0.8, 5),
        tailrace_share=log_uniform(0.002, 0.15),
        hump=random.uniform(0.02, 0.15),
        least_release_share=random.uniform(0.0, 0.6) if random.random() < 0.8 else 0.0,
        flood_share=random.uniform(0.03, 0.3) if random.random() < 0.4 else 0.0,
        regime=regime,
        persistence=random.uniform(0.3, 0.7) if random.random() < 0.5 else 0.0,
        year_end=_YEAR_ENDS[random.integers(len(_YEAR_ENDS))],
        start=start,
        filled=random.uniform(*_FILLED[start]),
        evaporation_mm=random.uniform(600, 2200) if evaporates else 0.0,
    )
