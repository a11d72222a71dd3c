"""What water is worth at a schedule: multipliers of its balances that come closest to the conditions of an optimum.

At an optimum a m3/s more in a step is worth what its release makes, and a hm3 more at the end of a step costs what it
brings later. Where power has a kink, or a limit is met, that is a range. The multipliers of all reservoirs are found by
a linear program that misses these ranges by the least; good schedules miss none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.system import Carried
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.system import SystemYears
from reservoir.solvers.plant_steps import FloatArray, PlantSteps
from reservoir.solvers.slp.highs import maximised
from reservoir.solvers.slp.program import Builder

#: Points between which derivatives are told are this part of what is released or stored apart, and a bound is met that
#: is nearer than that.
_APART = 1e-6


def multipliers(batch: SystemYears, schedule: SystemOperation) -> FloatArray:
    """What a m3/s more in each step is worth, in the unit of the objective, shape (reservoirs, steps).

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
    """
    made, steps = Builder(1), batch.steps
    places = range(len(batch.years))
    worth = [made.columns(steps, -np.inf, np.inf) for _ in places]
    for place in places:
        storage = schedule.of_reservoirs[place].storage_hm3[:, 1:]
        _conditions(made, batch, PlantSteps.of(batch, schedule, place), place, storage, worth)
    found = maximised(made.programs(), 0).point
    return np.zeros((len(places), steps)) if found is None else found[np.stack(worth)]


def _conditions(
    made: Builder,
    batch: SystemYears,
    steps: PlantSteps,
    place: int,
    storage: FloatArray,
    worth: list[NDArray[np.intp]],
) -> None:
    """Rows of one reservoir, from its storages at the ends of steps."""
    limits, release, mean, count = steps.years.limits, steps.release_m3s, steps.mean_storage_hm3, batch.steps
    volume = batch.hm3_per_m3s

    def benefit(storage: FloatArray, flow: FloatArray) -> FloatArray:
        return steps.per_mw * steps.power_mw(storage, flow)

    near = _APART * (limits.release_upper_m3s + 1.0)
    here = benefit(mean, release)
    more, less = (benefit(mean, release + near) - here) / near, (here - benefit(mean, release - near)) / near
    low = np.where(release < limits.release_upper_m3s - near, np.minimum(more, less), -np.inf)
    high = np.where(release > limits.release_lower_m3s + near, np.maximum(more, less), np.inf)
    _between(made, low, high, [(worth[place], 1.0), *_handed_on(batch, place, worth)])

    apart = _APART * (limits.capacity_hm3[:, np.newaxis] + 1.0)
    up, down = (sign * (benefit(mean + sign * apart, release) - here) / apart for sign in (1.0, -1.0))
    lost = 0.5 * (steps.loss_hm3(mean + apart) - steps.loss_hm3(mean - apart)) / apart
    low, high = 0.5 * np.minimum(up, down), 0.5 * np.maximum(up, down)
    cyclic = batch.system.reservoirs[place].year_end is YearEnd.CYCLIC
    after = np.roll(np.arange(count), -1)
    later = np.where((after > 0) | cyclic, 1.0, 0.0)
    low, high = low + later * low[:, after], high + later * high[:, after]
    low[:, -1] += batch.end_values[place]
    high[:, -1] += batch.end_values[place]
    low = np.where(storage < limits.storage_upper_hm3 - apart, low, -np.inf)
    high = np.where(storage > limits.storage_lower_hm3 + apart, high, np.inf)
    per_hm3 = float(volume.mean())
    costs = per_hm3 / volume * (1.0 + 0.5 * lost)
    brings = -per_hm3 / volume[:, after] * later * (1.0 - 0.5 * lost[:, after])
    _between(made, per_hm3 * low, per_hm3 * high, [(worth[place], costs), (worth[place][after], brings)])


def _handed_on(batch: SystemYears, place: int, worth: list[NDArray[np.intp]]) -> list[tuple[NDArray[np.intp], Any]]:
    """What a m3/s of a release is worth where links take it: columns and factors, a step of the release each."""
    terms, volume, system = [], batch.hm3_per_m3s, batch.system
    wraps = system.reservoirs[place].year_end is YearEnd.CYCLIC
    for link in system.links:
        carried, share = link.part_and_share
        if link.source != system.names[place] or link.target is None or carried is Carried.SPILLED:
            continue
        for later, part in link.parts:
            at = np.roll(np.arange(batch.steps), -later)
            there = np.ones(batch.steps) if wraps else (np.arange(batch.steps) + later < batch.steps) * 1.0
            factor = there * share * part * (1.0 - link.lost_share) * volume / volume[:, at]
            terms.append((worth[system.names.index(link.target)][at], -factor))
    return terms


def _between(made: Builder, low: FloatArray, high: FloatArray, terms: list[tuple[NDArray[np.intp], Any]]) -> None:
    """Rows between bounds, which may be missed at a price."""
    missed = [made.columns(low.shape[1], 0.0, np.inf, -1.0) for _ in range(2)]
    made.rows(low, high, *terms, (missed[0], 1.0), (missed[1], -1.0))
