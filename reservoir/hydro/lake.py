"""Area and seepage of a lake by its storage."""

from __future__ import annotations

from reservoir.hydro.curves.curve import Curve, area_of_levels, constant
from reservoir.hydro.reservoir import Reservoir


def lake_area(reservoir: Reservoir) -> Curve:
    """Area of the lake (km2) by storage: as given, or the slope of the storage over the level."""
    return reservoir.area_km2 or area_of_levels(reservoir.level)


def lake_seepage(reservoir: Reservoir) -> Curve:
    """Water that seeps away (m3/s) by storage (hm3)."""
    return reservoir.seepage_m3s or constant(0.0, reservoir.level.domain)
