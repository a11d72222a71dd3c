"""The storage at a level: a level curve read backwards."""

from __future__ import annotations

from reservoir.errors import InputError, Mistake
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitText

#: The level curve's domain halved so often is a rounding.
_HALVINGS = 60


def storage_at_level(plant: Reservoir, level_m: float, column: str = "--level") -> float:
    """Storage (hm3) at a level.

    Parameters
    ----------
    plant : Reservoir
    level_m : float
    column : str
        The argument or option that it is, for messages.

    Raises
    ------
    InputError
        If the level curve does not reach there.
    """
    low, high = plant.level.domain
    lowest, highest = float(plant.level(low)), float(plant.level(high))
    if not lowest <= level_m <= highest:
        expected = UnitText(
            lambda units: (
                f"{units.number(lowest, 'm', '.2f')} to {units.stated(highest, 'm', '.2f')}, the range of the level "
                f"curve of {plant.name}"
            )
        )
        mend = "give a level in this range"
        raise InputError(Mistake("is outside the level curve", expected, mend, column=column, value=level_m))
    # By bisection, for an operator waits: importing a library's root finder takes longer than all the rest.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if float(plant.level(middle)) >= level_m else (middle, high)
    return high
