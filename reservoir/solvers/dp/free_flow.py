"""A reservoir whose inflow is in part free, at a price, and whose release is paid: for dynamic programming and proofs.

Links of a system bring what flows in freely; with a price on that water each reservoir is planned by itself. Compiled
code has a form of its own without it, which costs one reservoir nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.compiled_year import step_value
from reservoir.hydro.conditions import demanded, released, while_operating
from reservoir.hydro.elementwise import clip, curve_value, mean
from reservoir.hydro.jit import compiled, compiled_part, inlined, part_as_written
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import DEAD, RELEASE_LOWER, RELEASE_UPPER, TAILWATER, YearRows
from reservoir.hydro.step import head_at, power_at_head, turbined_at
from reservoir.problems.base import FloatArray

#: Mean storages at which the best release is told, and releases tried at each before a golden section between two.
NODES, TRIED = 97, 24
SHORTER, DIVISIONS = 0.3819660112501051, 20

#: Rows of prices of levels (`FreeFlow`): what a plant is paid for a metre by which the lake below is above its lowest,
#: and by how many it may be; what a lake is charged for a metre by which it is above its lowest, and that.
PAID, RISE, CHARGED, LOWEST_M = range(4)


class FreeFlow(NamedTuple):
    """The free flow of each step, and its prices.

    Parameters
    ----------
    lower, upper : ndarray, shape (steps,)
        What flows in freely, m3/s.
    price, paid, turbined, power : ndarray, shape (steps,)
        Of a m3/s that flows in freely, of one that is released, and of one that the turbines take and of a MW besides,
        in the unit of the objective.
    best : ndarray, shape (steps, nodes)
        The best release where nothing else limits it, by mean storage (`fill_best`); a hint.
    first, per_hm3 : ndarray, shape (1,)
        The storage of the first node, and nodes in a hm3.
    levels : ndarray, shape (4, steps), or ()
        Prices of levels, where a lake backs a plant up (`PAID`, `RISE`, `CHARGED`, `LOWEST_M`).
    kept : float
        What a hm3 is worth at the end, and costs at the start, of a cyclic year that is searched as if both were free.
    """

    lower: Any
    upper: Any
    price: Any
    paid: Any
    turbined: Any
    power: Any
    best: Any
    first: Any
    per_hm3: Any
    levels: Any = ()
    kept: Any = 0.0

    @classmethod
    def between(cls, flows: tuple[FloatArray, FloatArray], prices: Sequence[FloatArray], range_hm3: Any) -> FreeFlow:
        """Of bounds, prices, and the range of the mean storage; nothing is told of the best release yet."""
        first, last = range_hm3
        per_hm3 = (NODES - 1) / max(last - first, 1e-9)
        price, paid, turbined, power = prices
        hint = np.zeros((len(flows[0]), NODES)), np.array([first]), np.array([per_hm3])
        return cls(*flows, price, paid, turbined, power, *hint)


@part_as_written
def best_release(free: Any, step: int, mean_storage: float) -> float:
    """The best release at a mean storage where nothing else limits it: a hint."""
    at = (mean_storage - free.first[0]) * free.per_hm3[0]
    at = min(max(at, 0.0), free.best.shape[1] - 1.0)
    place = min(int(at), free.best.shape[1] - 2)
    left: float = free.best[step, place]
    release: float = left + (at - place) * (free.best[step, place + 1] - left)
    return release


@compiled
def fill_best(plant: Plant, year: YearRows, free: Any, penalty: float) -> None:
    """Find the best release of each step and mean storage."""
    for step in range(free.best.shape[0]):
        lower, upper = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
        width = (upper - lower) / (TRIED - 1)
        for node in range(free.best.shape[1]):
            storage = free.first[0] + node / free.per_hm3[0]
            found, most = lower, -np.inf
            for place in range(TRIED):
                release = lower + place * width
                value = _worth(plant, year, step, storage, storage, release, penalty, free)
                if value > most:
                    found, most = release, value
            low, high = max(found - width, lower), min(found + width, upper)
            left, right = low + SHORTER * (high - low), high - SHORTER * (high - low)
            of_left = _worth(plant, year, step, storage, storage, left, penalty, free)
            of_right = _worth(plant, year, step, storage, storage, right, penalty, free)
            for _ in range(DIVISIONS):
                if of_left > of_right:
                    high, right, of_right = right, left, of_left
                    left = low + SHORTER * (high - low)
                    of_left = _worth(plant, year, step, storage, storage, left, penalty, free)
                else:
                    low, left, of_left = left, right, of_right
                    right = high - SHORTER * (high - low)
                    of_right = _worth(plant, year, step, storage, storage, right, penalty, free)
            if max(of_left, of_right) > most:
                found = left if of_left > of_right else right
            free.best[step, node] = found


@inlined
def net_bounds(free: Any, year: YearRows, step: int) -> tuple[float, float]:
    """Bounds of the release less what flows in freely, m3/s."""
    lower, upper = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
    if len(free) > 0:
        return lower - free.upper[step], upper - free.lower[step]
    return lower, upper


@inlined
def below_dead(year: YearRows) -> float:
    """Up to where an end of a step is below dead storage, and not at it by rounding, hm3."""
    dead: float = year.numbers[DEAD]
    return dead - 1e-9 * (abs(dead) + 1.0)


@compiled_part
def best_flow(
    plant: Plant, year: YearRows, step: int, storage: float, end: float, net: float, penalty: float, free: Any
) -> tuple[float, float]:
    """The best release of a step that releases so much more than flows in freely, and what that is worth."""
    lower = max(year.rows[RELEASE_LOWER, step], net + free.lower[step])
    upper = min(year.rows[RELEASE_UPPER, step], net + free.upper[step])
    if end <= below_dead(year):  # where only losses lead
        upper = min(upper, -demanded(year, step))
    if not lower < upper:
        lower = upper = 0.5 * (lower + upper)
    best = min(max(best_release(free, step, 0.5 * (storage + end)), lower), upper)
    most = _worth(plant, year, step, storage, end, best, penalty, free)
    if lower < best:
        value = _worth(plant, year, step, storage, end, lower, penalty, free)
        if value > most:
            best, most = lower, value
    if best < upper:
        value = _worth(plant, year, step, storage, end, upper, penalty, free)
        if value > most:
            best, most = upper, value
    return best, most + free.price[step] * net


@compiled_part
def _worth(
    plant: Plant,
    year: YearRows,
    step: int,
    storage: float,
    end: float,
    release: float,
    penalty: float,
    free: Any,
) -> float:
    """Benefit of a release that is paid, and pays for all of itself, with the best level of the lake below."""
    worth: float = _at_levels(free.levels, plant, year, step, storage, end, release, penalty, free)[0]
    return worth


@compiled_part
def _at_levels(
    levels: Any,
    plant: Plant,
    year: YearRows,
    step: int,
    storage: float,
    end: float,
    release: float,
    penalty: float,
    free: Any,
) -> tuple[float, float, float]:
    """What a release is worth, and how much above their lowest the lakes are, below and here, where that has a price.

    Power falls with the level of the lake below from where the tailrace is no higher: it is best there, or at an end.
    """
    worth, rise, own = _at_lake(plant, year, step, step, storage, end, release, penalty, free), 0.0, 0.0
    if len(levels) == 0:
        return worth, rise, own
    paid, charged, most = levels[PAID, step], levels[CHARGED, step], levels[RISE, step]
    if paid > 0.0:
        rise = clip(curve_value(plant.tailrace, release) - year.rows[TAILWATER, step], 0.0, most)
        worth += paid * rise
        high = step + levels.shape[1]
        of_high = _at_lake(plant, year, step, high, storage, end, release, penalty, free) + paid * most
        if of_high > worth:
            worth, rise = of_high, most
    if charged > 0.0:
        own = curve_value(plant.level, mean(storage, end)) - levels[LOWEST_M, step]
        worth -= charged * own
    return worth, rise, own


@compiled_part
def _at_lake(
    plant: Plant,
    year: YearRows,
    step: int,
    column: int,
    storage: float,
    end: float,
    release: float,
    penalty: float,
    free: Any,
) -> float:
    """What a release is worth at the level of the lake below that a column of the year has."""
    benefit, unmet = step_value(plant, year, column, storage, end, release)
    worth: float = benefit - penalty * unmet + (free.paid[step] - free.price[step]) * release
    if free.turbined[step] != 0.0 or free.power[step] != 0.0:
        taken, power = turbined_and_power(plant, year, column, storage, end, release)
        worth += free.turbined[step] * taken + free.power[step] * power
    return worth


@compiled_part
def lake_levels(
    plant: Plant, year: YearRows, step: int, storage: float, end: float, release: float, penalty: float, free: Any
) -> tuple[float, float]:
    """How much above their lowest the lakes are in a step at prices of levels, below and here, m; else 0."""
    of_best = _at_levels(free.levels, plant, year, step, storage, end, release, penalty, free)
    return of_best[1], of_best[2]


def with_high_lake(year: YearRows, free: FreeFlow) -> YearRows:
    """The year, and behind its steps the same with the lake below as high as it may be, where its level has a price."""
    if not len(free.levels) or not np.any(free.levels[RISE]):
        return year
    high = year.rows.copy()
    high[TAILWATER] += free.levels[RISE]
    return year._replace(rows=np.concatenate([year.rows, high], axis=1))


@compiled_part
def turbined_and_power(
    plant: Plant, year: YearRows, step: int, storage: float, end: float, draft: float
) -> tuple[float, float]:
    """What the turbines take of a step, m3/s, and the power that it makes, MW."""
    stored, release = mean(storage, end), released(year, step, draft, year.rows[RELEASE_LOWER, step])
    head = head_at(plant, stored, release, year, step)
    taken = while_operating(year, stored, turbined_at(plant, head, release, year, step))
    return taken, while_operating(year, stored, power_at_head(plant, head, release, year, step))
