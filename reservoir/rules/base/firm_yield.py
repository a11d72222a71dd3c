"""Firm power by simulation: the largest that the standard operating policy gives in a share of the months.

The standard policy releases what makes the power while water lasts (Maass et al. 1962, Design of Water-Resource
Systems); how much it can promise at a reliability is the classical firm yield (Loucks and van Beek 2017, Water Resource
Systems Planning and Management, ch. 4). It uses no forecast, so that a rule can reach it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at, released
from reservoir.hydro.elementwise import mean
from reservoir.hydro.given_releases import callable_curves
from reservoir.hydro.plant import plant_of
from reservoir.hydro.power import most_power_mw, releases_for_power
from reservoir.hydro.step import enforce_limits, power_at
from reservoir.rules.base.training import Training

FloatArray = NDArray[np.float64]

#: A month that gives all but this part of a power reaches it: a rule decides at the storage a month begins with.
TOLERANCE = 0.01
#: Storages of the table of releases, and powers that are tried at once, each time between two of the time before.
_STORAGES, _POWERS, _ROUNDS = 41, 33, 3


def firm_power_at(training: Training, share: float) -> float:
    """Firm power, MW, of the training years one after the other, from where the plan begins; each member from there.

    Parameters
    ----------
    training : Training
    share : float
        Part of the months that must reach it.
    """
    training = training.searched()
    low, high = 0.0, most_power_mw(training.model.reservoir, float(training.model.reservoir.storage_upper_hm3.max()))
    for _ in range(_ROUNDS):
        powers = np.linspace(low, high, _POWERS)
        kept = np.flatnonzero(_shares_reached(training, powers) >= share)
        best = int(kept[-1]) if kept.size else 0
        low, high = float(powers[best]), float(powers[min(best + 1, _POWERS - 1)])
    return low


def _shares_reached(training: Training, powers_mw: FloatArray) -> FloatArray:
    """Part of the months in which the standard policy reaches each power that it aims at, shape (powers,)."""
    reservoir = training.model.reservoir
    lower, upper = reservoir.storage_bounds_hm3
    storages = np.linspace(float(lower.min()), float(upper.max()), _STORAGES)
    releases = releases_for_power(reservoir, storages, powers_mw)
    per_hm3 = (_STORAGES - 1) / max(storages[-1] - storages[0], 1e-9)
    members = len(training.first_years)
    years = callable_curves(training.limits.joined(training.years // members))
    each, plant = np.arange(len(powers_mw)), plant_of(reservoir)
    storage, reached = np.full((members, len(powers_mw)), training.start_hm3), np.zeros((members, len(powers_mw)))
    for step in range(years.inflow.shape[1]):
        place = np.clip((storage - storages[0]) * per_hm3, 0, _STORAGES - 1)
        left = np.minimum(place.astype(np.int64), _STORAGES - 2)
        wanted = releases[each, left] + (place - left) * (releases[each, left + 1] - releases[each, left])
        inflow, volume, least, most, lowest, highest, least_release = (
            column[:, step, np.newaxis]
            for column in (
                years.inflow,
                years.hm3_per_m3s,
                years.release_lower,
                years.release_upper,
                years.storage_lower,
                years.storage_upper,
                training.limits.release_lower_m3s.reshape(members, -1),
            )
        )
        conditions = conditions_at(years.by_field, (slice(None), step, np.newaxis))
        asked = np.clip(wanted, least_release, most)
        bounds, dead = ((lowest, highest), (least, most)), years.dead[:, np.newaxis]
        draft, end = enforce_limits(storage, asked, inflow, volume, *bounds, dead, conditions)
        power = power_at(plant, mean(storage, end), released(conditions, draft, least), conditions)
        reached += power >= powers_mw * (1 - TOLERANCE)
        storage = end
    return np.asarray(reached.mean(axis=0) / years.inflow.shape[1])
