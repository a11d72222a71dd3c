"""Head, power discharge, power and energy at any storages and releases, with exact curves, for whole arrays at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.conditions import NO_CONDITIONS, while_operating
from reservoir.hydro.plant import plant_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import head_at, power_at_head, turbined_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME

FloatArray = NDArray[np.float64]

#: Releases that are tried for a power.
_RELEASES = 800


class Generation(NamedTuple):
    """Head (m), power discharge (m3/s) and power (MW) of a step; arrays of one shape."""

    head_m: FloatArray
    turbined_m3s: FloatArray
    power_mw: FloatArray


def generation(
    reservoir: Reservoir, mean_storage_hm3: ArrayLike, release_m3s: ArrayLike, year: Any = NO_CONDITIONS, step: Any = 0
) -> Generation:
    """Generate with a release at a step's mean storage (Yu et al. 2020, eq. 7-9).

    Parameters
    ----------
    reservoir : Reservoir
    mean_storage_hm3, release_m3s : array-like
        Of shapes that broadcast.
    year, step : YearRows, int or tuple, optional
        Losses and demands, as functions of `conditions` take them.
    """
    plant, release = plant_of(reservoir), np.asarray(release_m3s, np.float64)
    mean_storage = np.asarray(mean_storage_hm3, np.float64)
    head = np.asarray(head_at(plant, mean_storage, release, year, step))
    with np.errstate(divide="ignore"):  # where a head makes no power, the installed capacity limits nothing
        turbined = while_operating(year, mean_storage, np.asarray(turbined_at(plant, head, release, year, step)))
    power = while_operating(year, mean_storage, np.asarray(power_at_head(plant, head, release, year, step)))
    return Generation(head, np.asarray(turbined), np.asarray(power))


def releases_for_power(reservoir: Reservoir, storage_hm3: FloatArray, power_mw: FloatArray) -> FloatArray:
    """Smallest release (m3/s) that makes each power at each storage, shape (powers, storages).

    Where no release within the reservoir's bounds makes a power, the release of most power.
    """
    releases = _releases(reservoir)
    made = generation(reservoir, storage_hm3[:, None], releases[None]).power_mw
    found = np.empty((len(power_mw), len(storage_hm3)))
    for place, row in enumerate(made):
        best = int(row.argmax())
        rising = np.maximum.accumulate(row[: best + 1])
        found[:, place] = np.interp(power_mw, rising + 1e-9 * np.arange(best + 1), releases[: best + 1])
    return found


def most_power_mw(reservoir: Reservoir, storage_hm3: float) -> float:
    """The most power that a release within the reservoir's bounds makes at a storage."""
    return float(generation(reservoir, storage_hm3, _releases(reservoir)).power_mw.max())


def _releases(reservoir: Reservoir) -> FloatArray:
    return np.linspace(reservoir.release_lower_m3s.min(), reservoir.release_upper_m3s.max(), _RELEASES)


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
