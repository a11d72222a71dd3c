"""What water is worth at a schedule: multipliers of its balances that come closest to the conditions of an optimum.

At an optimum a m3/s more in a step is worth what its release makes, and a hm3 more at the end of a step costs what it
brings later. Where power has a kink, or a limit is met, that is a range. The multipliers of all reservoirs are found by
a linear program that misses these ranges by the least; good schedules miss none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.shortages import Shortage
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.commitments import committed_hm3, counts_turbined, sides, spare_hm3
from reservoir.hydro.system import Link
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.system import SystemYears
from reservoir.solvers.plant_steps import FloatArray, PlantSteps
from reservoir.solvers.slp.highs import maximised
from reservoir.solvers.slp.program import Builder

#: Columns of commitments, by the place of a reservoir and the side of its volume.
Owed = dict[tuple[int, float], NDArray[np.intp]]
#: Points between which derivatives are told are this part of what is released or stored apart, and a bound is met that
#: is nearer than that.
_APART = 1e-6
#: By how much higher a lake is told to be for what its level costs, m.
_HIGHER_M = 1e-3
#: A commitment binds of which no more than this part is spare.
_BINDING = 1e-5


def multipliers(batch: SystemYears, schedule: SystemOperation) -> FloatArray:
    """What a m3/s more in each step is worth, in the unit of the objective, shape (reservoirs, steps).

    Below that, a row for each shortage of a sum (`shortages`): what more of the sum is worth; and for each side of each
    reservoir's commitments one: what it costs that its water year is to release a hm3 more, or may release one less.
    Then, for each plant that a lake backs up: what a metre less of that lake's level is worth to it. Last, for each
    reservoir whose year is cyclic, in equal rows: what a hm3 is worth that is in store at its start and at its end.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
    """
    made, worth, sums, owed = conditions(batch, schedule)
    found, levels = maximised(made.programs(), 0).point, _level_prices(batch, schedule, sums).values()
    if found is None:
        found = np.zeros(1 + max(int(each.max()) for each in (*worth, *(of.more for of in sums), *owed.values())))
    of_water = [found[columns] for columns in worth]
    of_sums = (each.least + found[each.more] for each in sums)
    of_owed = (found[columns] for columns in owed.values())
    ends = [0.5 * sum(each[step] / batch.hm3_per_m3s[0, step] for step in (0, -1)) for each in of_water]
    kept = (np.full(batch.steps, ends[place]) for place in cyclic_places(batch))
    return np.stack([*of_water, *of_sums, *of_owed, *levels, *kept])


def cyclic_places(batch: SystemYears) -> list[int]:
    """Reservoirs that end where they start, which may be anywhere."""
    each = zip(batch.system.reservoirs, batch.years, strict=True)
    anywhere = [reservoir.initial_storage_hm3 is None and years.limits.cyclic for reservoir, years in each]
    return np.flatnonzero(anywhere).tolist()


def conditions(
    batch: SystemYears, schedule: SystemOperation
) -> tuple[Builder, list[NDArray[np.intp]], list[OfSum], Owed]:
    """The linear program of what `multipliers` finds, and columns: of reservoirs, sums, and commitments."""
    made, steps = Builder(1), batch.steps
    places, sums = range(len(batch.years)), list[OfSum]()
    for each in Shortage.all_of(batch):
        low, high = each.prices((schedule.power_mw if each.of_power else schedule.leaving_m3s)[0])
        sums.append(OfSum(each.of_power, low, made.columns(steps, 0.0, high - low)))
    worth, owed = [made.columns(steps, -np.inf, np.inf) for _ in places], Owed()
    levels = _level_prices(batch, schedule, sums)
    for place, reservoir in enumerate(batch.system.reservoirs):
        own = schedule.of_reservoirs[place]
        for side in sides(reservoir):
            spare = spare_hm3(reservoir, own, batch.hm3_per_m3s, side)[0]
            binds = spare <= _BINDING * committed_hm3(reservoir, own.storage_hm3, side)[0]
            columns = made.columns(len(binds), 0.0, np.where(binds, np.inf, 0.0))
            owed[place, side] = columns.repeat(steps // len(binds))
        plant = PlantSteps.of(batch, schedule, place)
        level = sum(price for (_, below), price in levels.items() if below == place)
        _conditions(made, batch, plant, place, own.storage_hm3[:, 1:], level, worth, sums, owed)
    return made, worth, sums, owed


def _level_prices(
    batch: SystemYears, schedule: SystemOperation, sums: list[OfSum]
) -> dict[tuple[int, int], FloatArray]:
    """What a metre less of the lake below is worth to each plant that it backs up, shape (steps,) each."""
    prices = {}
    for place, below in batch.system.backed_up:
        steps = PlantSteps.of(batch, schedule, place)
        higher = steps.backed_up(schedule.of_reservoirs[below].mean_level_m + _HIGHER_M)
        here, there = (each.power_mw(steps.mean_storage_hm3, steps.release_m3s) for each in (steps, higher))
        per_mw = steps.per_mw + sum(each.least for each in sums if each.of_power)
        prices[place, below] = (per_mw * (here - there) / _HIGHER_M)[0].clip(min=0.0)
    return prices


class OfSum(NamedTuple):
    """The least price of a sum, of power or of what leaves the system, and columns of how much more it is."""

    of_power: bool
    least: FloatArray
    more: NDArray[np.intp]


def _conditions(
    made: Builder,
    batch: SystemYears,
    steps: PlantSteps,
    place: int,
    storage: FloatArray,
    level: FloatArray | float,
    worth: list[NDArray[np.intp]],
    sums: list[OfSum],
    owed: Owed,
) -> None:
    """Rows of one reservoir, from its storages at the ends of steps and what a metre of its level costs others."""
    limits, release, mean, count = steps.years.limits, steps.release_m3s, steps.mean_storage_hm3, batch.steps
    volume, of_power = batch.hm3_per_m3s, [each for each in sums if each.of_power]
    per_mw = steps.per_mw + sum(each.least for each in of_power)

    def benefit(storage: FloatArray, flow: FloatArray) -> FloatArray:
        return np.asarray(per_mw * steps.power_mw(storage, flow) - level * steps.level_m(storage))

    def rise(up: tuple[FloatArray, FloatArray], down: tuple[FloatArray, FloatArray], apart: Any) -> FloatArray:
        return np.asarray((steps.power_mw(*up) - steps.power_mw(*down)) / apart)

    near = _APART * (limits.release_upper_m3s + 1.0)
    here = benefit(mean, release)
    more, less = (benefit(mean, release + near) - here) / near, (here - benefit(mean, release - near)) / near
    low = np.where(release < limits.release_upper_m3s - near, np.minimum(more, less), -np.inf)
    high = np.where(release > limits.release_lower_m3s + near, np.maximum(more, less), np.inf)
    turbined = np.where(release < steps.most_turbined_m3s(mean, release), 1.0, 0.0)[0]
    leaving = 1.0 - sum(link.of_release(1.0, turbined) for link in batch.system.links if _is_from(batch, link, place))
    priced = [(each.more, -rise((mean, release + near), (mean, release - near), 2.0 * near)) for each in of_power]
    priced += [(each.more, -leaving) for each in sums if not each.of_power]
    paid = sum(each.least * leaving for each in sums if not each.of_power)
    counted = turbined if counts_turbined(batch.system.reservoirs[place]) else 1.0
    priced += [(columns, -side * counted * volume) for (of, side), columns in owed.items() if of == place]
    terms = [(worth[place], 1.0), *_handed_on(batch, place, worth, turbined), *priced]
    _between(made, low + paid, high + paid, terms)

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
    of_hm3 = [-0.5 * per_hm3 * rise((mean + apart, release), (mean - apart, release), 2.0 * apart) for _ in of_power]
    priced = [(each.more, by) for each, by in zip(of_power, of_hm3, strict=True)]
    priced += [(each.more[after], later * by[:, after]) for each, by in zip(of_power, of_hm3, strict=True)]
    brings = -per_hm3 / volume[:, after] * later * (1.0 - 0.5 * lost[:, after])
    _between(made, per_hm3 * low, per_hm3 * high, [(worth[place], costs), (worth[place][after], brings), *priced])


def _is_from(batch: SystemYears, link: Link, place: int) -> bool:
    """Whether a link brings what a reservoir releases to another."""
    return link.source == batch.system.names[place] and link.target is not None


def _handed_on(
    batch: SystemYears, place: int, worth: list[NDArray[np.intp]], turbined: FloatArray
) -> list[tuple[NDArray[np.intp], Any]]:
    """What a m3/s of a release is worth where links take it: columns and factors, a step of the release each.

    ``turbined`` is how much of a m3/s more the turbines take in each step.
    """
    terms, volume, system = [], batch.hm3_per_m3s, batch.system
    wraps = system.reservoirs[place].year_end is YearEnd.CYCLIC
    for link in system.links:
        if not _is_from(batch, link, place):
            continue
        share = link.of_release(1.0, turbined)
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
