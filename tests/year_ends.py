"""A reservoir with another kind of year end."""

from dataclasses import replace

from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import YearEnd


def cyclic(reservoir: Reservoir) -> Reservoir:
    """The same reservoir, with years that end as they began."""
    return replace(reservoir, year_end=YearEnd.CYCLIC, initial_storage_hm3=None, final_storage_hm3=None)


def free(reservoir: Reservoir) -> Reservoir:
    """The same reservoir, with years that may end anywhere."""
    return replace(reservoir, year_end=YearEnd.FREE, final_storage_hm3=None)
