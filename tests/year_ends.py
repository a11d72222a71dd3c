"""A reservoir with another kind of year end."""

from dataclasses import replace

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.reservoir import Reservoir


def cyclic(reservoir: Reservoir) -> Reservoir:
    """The same reservoir, with years that end as they began."""
    return replace(reservoir, year_end=YearEnd.CYCLIC, initial_storage_hm3=None, final_storage_hm3=None)


def free(reservoir: Reservoir) -> Reservoir:
    """The same reservoir, with years that may end anywhere."""
    return replace(reservoir, year_end=YearEnd.FREE, final_storage_hm3=None)


def valued(reservoir: Reservoir, gwh_per_hm3: float) -> Reservoir:
    """The same reservoir, with years that may end anywhere, and water in store that is worth energy."""
    return replace(reservoir, year_end=YearEnd.VALUED, final_storage_hm3=None, end_value_gwh_per_hm3=gwh_per_hm3)
