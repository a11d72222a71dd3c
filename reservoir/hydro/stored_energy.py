"""Energy that stored water would make."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.plant import plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import head_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME

#: Storages between which the power of water is integrated.
_POINTS = 201


def stored_energy_gwh(
    reservoir: Reservoir, from_hm3: ArrayLike, to_hm3: ArrayLike, release_m3s: ArrayLike
) -> NDArray[np.float64]:
    """Energy (GWh) that the water between two storages would make, drawn down at a release; negative if `to` is higher.

    The integral over storage of the power of 1 m3/s at the head of that storage. The arguments are broadcast.
    """
    ends = np.asarray(from_hm3, np.float64), np.asarray(to_hm3, np.float64)
    storages = np.ascontiguousarray(np.linspace(*ends, _POINTS, axis=-1))
    plant = plant_of(reservoir)
    head = head_at(plant, storages, np.asarray(release_m3s)[..., np.newaxis])
    rate = plant.conversion(head)
    integral = (np.diff(storages) * (rate[..., 1:] + rate[..., :-1]) / 2).sum(axis=-1)  # numpy 1 has no `trapezoid`
    return np.asarray(-integral * GWH_PER_MW_VOLUME)
