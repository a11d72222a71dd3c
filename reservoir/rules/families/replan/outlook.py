"""The months to come under many futures: what a decision leads to if the rule goes on deciding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import demanded, released
from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import enforce_limits
from reservoir.rules.advice import Situation
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.replan.rule import Replan

#: Full is a storage of at least this part of the range of storages, and spill more than this part of a release.
_FULL, _SPILL = 0.995, 5e-4
#: Firm power is made that is missed by no more than this part.
_FIRM = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Outlook:
    """Futures from the month that is decided on, in arrays of shape (members, months).

    Parameters
    ----------
    steps, calendar_month : ndarray of int, shape (months,)
        Steps of the water year, from 0, and their calendar months.
    storage_hm3 : ndarray, shape (members, months + 1)
    release_m3s, spill_m3s, power_mw : ndarray, shape (members, months)
    highest_hm3 : float
        The highest storage that the reservoir may have in any month, and the lowest.
    lowest_hm3 : float
    firm_mw : float or None
        Power that the reservoir's file promises.
    """

    steps: NDArray[np.int64]
    calendar_month: NDArray[np.int64]
    storage_hm3: FloatArray
    release_m3s: FloatArray
    spill_m3s: FloatArray
    power_mw: FloatArray
    highest_hm3: float
    lowest_hm3: float
    firm_mw: float | None

    @property
    def refill_probability(self) -> float:
        """Part of the futures in which the reservoir is full at the end of some month."""
        full = self.lowest_hm3 + _FULL * (self.highest_hm3 - self.lowest_hm3)
        return float((self.storage_hm3[:, 1:].max(axis=1) >= full).mean())

    @property
    def spill_probability(self) -> float:
        """Part of the futures in which water passes the turbines by in some month."""
        return float((self.spill_m3s > _SPILL * self.release_m3s).any(axis=1).mean())

    @property
    def firm_probability(self) -> float | None:
        """Part of the futures in which every month makes the firm power; None where none is promised."""
        return None if self.firm_mw is None else float((self.power_mw >= _FIRM * self.firm_mw).all(axis=1).mean())


def outlook(rule: Replan, plant: Reservoir, situation: Situation, release_m3s: float, months: int) -> Outlook:
    """Follow the futures of a decision.

    The release of the first month is the one decided, as far as each future's limits allow; those of later months are
    decided in each future by what is known there, with the values of `Replan.end`.

    Parameters
    ----------
    rule : Replan
    plant : Reservoir
    situation : Situation
    release_m3s : float
        Of the first month.
    months : int
        Including the first.
    """
    inflow = _inflows(rule, situation, months)
    steps = (situation.step + np.arange(months)) % rule.tables.steps
    storages = np.full((rule.members, months + 1), situation.storage_hm3)
    releases, spills, powers = (np.empty((rule.members, months)) for _ in range(3))
    before = np.full(rule.members, situation.inflow_before_m3s)
    wanted = np.full(rule.members, release_m3s)
    for at, step in enumerate(steps.tolist()):
        storage, now = storages[:, at], inflow[:, at]
        if at > 0:
            wanted = rule.end.releases(step, storage, now if rule.end.forecast is Forecast.MONTH else None, before)
        storage_bounds, release_bounds = plant.storage_bounds_hm3[:, step], plant.release_bounds_m3s[:, step]
        conditions = rule.end.physics.conditions(step)
        held, demand = np.clip(wanted, *release_bounds), demanded(conditions)
        drafts = release_bounds[0] - demand, release_bounds[1]
        volume, gain = rule.months.volume_per_flow[step], now - demand
        dead = float(plant.storage_lower_hm3.min())
        draft, end = enforce_limits(storage, held, gain, volume, tuple(storage_bounds), drafts, dead, conditions)
        releases[:, at], storages[:, at + 1] = released(conditions, draft, drafts[0]), end
        made = generation(plant, (storage + end) / 2, releases[:, at], conditions)
        spills[:, at], powers[:, at] = releases[:, at] - made.turbined_m3s, made.power_mw
        before = now
    promised = Targets.of_reservoir(plant)
    lowest, highest = plant.storage_bounds_hm3
    return Outlook(
        steps,
        plant.months[steps],
        storages,
        releases,
        np.maximum(spills, 0.0),
        powers,
        float(highest.max()),
        float(lowest.min()),
        None if promised is None else promised.firm_mw,
    )


def _inflows(rule: Replan, situation: Situation, months: int) -> FloatArray:
    """Inflow of each month, shape (members, months): the forecast first, if the rule is told one."""
    if rule.forecast is Forecast.NONE:
        return rule.futures(situation.step, (situation.inflow_before_m3s,), months)
    known = situation.inflow_m3s, situation.inflow_before_m3s
    first = np.full((rule.members, 1), situation.inflow_m3s)
    return np.concatenate([first, rule.futures(situation.step, known, months - 1)], axis=1)
