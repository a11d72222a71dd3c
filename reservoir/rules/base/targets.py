"""What an operation should reach, the energy of a year and the power of a month; by default firm power by simulation.

The standard policy releases what makes a power while water lasts (Maass et al. 1962, Design of Water-Resource Systems);
how much it can promise at a reliability is the classical firm yield (Loucks and van Beek 2017, Water Resource Systems
Planning and Management, ch. 4). It uses no forecast, so that a rule can reach it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import HOURS_PER_YEAR
from reservoir.hydro.elementwise import mean
from reservoir.hydro.plant import plant_of
from reservoir.hydro.power import most_power_mw, releases_for_power
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import power_at
from reservoir.rules.base.physics import month_end
from reservoir.rules.base.training import Training, made_once

#: Parts of the months that give the firm power, where nothing is guaranteed.
SHARE, STRICTER_SHARE = 0.90, 0.95
#: Where the targets come from, in words.
GUARANTEED_POWER = "the guaranteed power of the reservoir"
PROMISED_POWER = "the firm power of the objective"
GUARANTEED_ENERGY = "the guaranteed energy of the reservoir"
FIRM_POWER = f"firm power: the largest that the standard operating policy gives in {100 * SHARE:g} % of the months"


@dataclass(frozen=True)
class Targets:
    """Energy of a year (GWh) and power of a month (MW) that should be reached.

    ``firm_95_mw`` is the power at the stricter share of months. Both are the same where the reservoir's file
    guarantees a power or an energy, as ``guaranteed`` says; ``origin`` says where they come from. ``share`` is the part
    of the months in which rules are to give the power, where that is asked for.
    """

    annual_gwh: float
    firm_mw: float
    firm_95_mw: float
    guaranteed: bool
    origin: str
    share: float | None = None

    @property
    def has_stricter(self) -> bool:
        """Whether the stricter target is another."""
        return self.firm_95_mw != self.firm_mw

    @staticmethod
    @made_once
    def of(training: Training) -> Targets:
        """What rules are to promise, or what is guaranteed; without both, the firm power of the training years."""
        if (promise := training.promise) is not None:
            power = promise.power_mw
            return Targets(power * HOURS_PER_YEAR / 1000, power, power, False, promise.origin, promise.share)
        given = Targets.of_reservoir(training.model.reservoir)
        if given is not None:
            return given
        firm, stricter = firm_powers(training, (SHARE, STRICTER_SHARE))
        return Targets(firm * HOURS_PER_YEAR / 1000, firm, stricter, False, FIRM_POWER)

    @classmethod
    def of_reservoir(cls, reservoir: Reservoir) -> Targets | None:
        """The guaranteed power, that of the objective, or the guaranteed energy as steady power; None without one."""
        power, energy = reservoir.guaranteed_power_mw, reservoir.guaranteed_energy_gwh
        origin = GUARANTEED_POWER if power is not None else PROMISED_POWER
        power = reservoir.objective.firm_power_mw if power is None else power
        if power is not None:
            annual = power * HOURS_PER_YEAR / 1000 if energy is None else energy
            return cls(annual, power, power, True, origin)
        if energy is None:
            return None
        steady = energy * 1000 / HOURS_PER_YEAR
        return cls(energy, steady, steady, True, GUARANTEED_ENERGY)


FloatArray = NDArray[np.float64]

#: A month that gives all but this part of a power reaches it: a rule decides at the storage a month begins with.
TOLERANCE = 0.01
#: Storages of the table of releases, and powers that are tried at once, each time between two of the time before.
_STORAGES, _POWERS, _ROUNDS = 41, 33, 3


def firm_powers(training: Training, shares: Sequence[float]) -> list[float]:
    """Firm powers, MW, of the training years one after the other, from where the plan begins; each member from there.

    Parameters
    ----------
    training : Training
    shares : sequence of float
        Parts of the months that must reach each.
    """
    training = training.searched()
    most = most_power_mw(training.model.reservoir, float(training.model.reservoir.storage_upper_hm3.max()))
    bounds = [(0.0, most)] * len(shares)
    for _ in range(_ROUNDS):
        powers = np.stack([np.linspace(*each, _POWERS) for each in bounds])
        reached = _shares_reached(training, powers.ravel()).reshape(powers.shape)
        for place, share in enumerate(shares):
            kept = np.flatnonzero(reached[place] >= share)
            best = int(kept[-1]) if kept.size else 0
            bounds[place] = float(powers[place, best]), float(powers[place, min(best + 1, _POWERS - 1)])
    return [low for low, _ in bounds]


def _shares_reached(training: Training, powers_mw: FloatArray) -> FloatArray:
    """Part of the months in which the standard policy reaches each power that it aims at, shape (powers,)."""
    reservoir, members = training.model.reservoir, len(training.first_years)
    lower, upper = reservoir.storage_bounds_hm3
    storages = np.linspace(float(lower.min()), float(upper.max()), _STORAGES)
    releases = releases_for_power(reservoir, storages, powers_mw)
    per_hm3 = (_STORAGES - 1) / max(storages[-1] - storages[0], 1e-9)
    limits = training.limits.joined(training.years // members)
    by_field = limits.arrays()._replace(lake=limits.lake).by_field
    power_of, plant = np.arange(len(powers_mw)), plant_of(reservoir)
    storage, reached = np.full((members, len(powers_mw)), training.start_hm3), np.zeros((members, len(powers_mw)))
    for step in range(limits.steps):
        at = slice(None), step, np.newaxis
        place = np.clip((storage - storages[0]) * per_hm3, 0, _STORAGES - 1)
        left = np.minimum(place.astype(np.int64), _STORAGES - 2)
        wanted = releases[power_of, left] + (place - left) * (releases[power_of, left + 1] - releases[power_of, left])
        storage_bounds = limits.storage_lower_hm3[at], limits.storage_upper_hm3[at]
        release_bounds = limits.release_lower_m3s[at], limits.release_upper_m3s[at]
        inflow, volume, dead = limits.inflow_m3s[at], limits.hm3_per_m3s[at], limits.dead_hm3[:, np.newaxis]
        release, _, end = month_end(storage, wanted, inflow, volume, storage_bounds, release_bounds, dead, by_field, at)
        reached += power_at(plant, mean(storage, end), release, by_field, at) >= powers_mw * (1 - TOLERANCE)
        storage = end
    return np.asarray(reached.mean(axis=0) / limits.steps)
