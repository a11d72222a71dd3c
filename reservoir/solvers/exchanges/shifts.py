"""Storages of neighbouring steps shifted together: exchanges of water between two steps, by tables.

Where there are no losses, two steps exchange a volume if the storages between them change by it and all else stays. A
step then is the giver, one between, or the taker; what it gains as such does not depend on the others. Tables of these
gains tell the best of all shifts by sums alone, and a shift changes the tables of its own steps only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reservoir.hydro.conditions import conditions_at, end_value
from reservoir.hydro.elementwise import clip
from reservoir.hydro.jit import compiled_part, inlined
from reservoir.hydro.step import release_to_reach
from reservoir.solvers.exchanges.exchange import Search, step_fitness

#: Volumes that storages are shifted by, as parts of the widest range of storages: the first, the last of large ones,
#: whose ratio is near 1 since a shift may gain by a large volume where it loses by less, and the last of all.
_FIRST, _LAST_LARGE, _LAST, _RATIO_OF_LARGE, _RATIO = 0.4, 0.003, 1e-8, 0.7, 0.1
#: Times that all volumes are tried, and what they must gain to be tried again, as a part of the fitness.
_MOST_SWEEPS, _LEAST_GAIN_OF_SWEEP = 5, 1e-7
#: Shifts by a volume, and doublings of one, at most.
_MOST_SHIFTS, _MOST_DOUBLINGS = 100, 6
#: Rounding of drafts, relative to their upper bound.
_ROUNDING = 1e-12
#: What a step is in a shift, as an axis of the tables.
_GIVER, _BETWEEN, _TAKER = 0, 1, 2
#: Lengths of the tables' first two axes: signs of the volume, and what a step is.
SIGNS, ROLES = 2, 3


@compiled_part
def shift_storages(search: Search, widest: float, total: float, least_gain: float, tables: Any) -> None:
    """Shift storages of the path by smaller and smaller volumes, again and again, as long as that gains.

    Parameters
    ----------
    search : Search
        Its path is changed: storages and values of the steps, then drafts.
    widest : float
        Widest range of the storages, hm3.
    total : float
        Fitness of the path, GWh.
    least_gain : float
        Of a shift, as a part of it.
    tables : ndarray, shape (2, 3, steps)
        Room for the gains of a step, GWh: by the sign of the volume, and what the step is in the shift.
    """
    path, steps = search.path, len(search.path.drafts)
    for _ in range(_MOST_SWEEPS):
        volume, gained = _FIRST * widest, 0.0
        while volume > _LAST * widest:
            gained += _shift_by(search, volume, least_gain * total, tables)
            volume *= _RATIO_OF_LARGE if volume > _LAST_LARGE * widest else _RATIO
        if gained <= _LEAST_GAIN_OF_SWEEP * total:
            break
    for step in range(steps):
        draft = _draft(search, step, path.storages[step], path.storages[step + 1])
        path.drafts[step] = clip(draft, search.year.release_lower[step], search.year.release_upper[step])


@compiled_part
def _shift_by(search: Search, volume: float, least_gain: float, tables: Any) -> float:
    """Make the best shift by a volume, or by some times as much, until none gains; returns the gain, GWh."""
    path, steps, gained = search.path, len(search.path.drafts), 0.0
    for step in range(steps):
        _tabulate(search, step, volume, tables)
    for _ in range(_MOST_SHIFTS):
        gain, giver, taker, sign = _best_shift(search, tables, volume)
        if not gain > least_gain:
            break
        gained += gain
        _shift(search, giver, taker, _expanded(search, giver, taker, volume if sign == 0 else -volume, gain))
        for ahead in range((taker - giver) % steps + 1 if taker < steps else steps - giver):
            step = (giver + ahead) % steps
            path.values[step] = _fitness_between(search, step, path.storages[step], path.storages[step + 1])
            _tabulate(search, step, volume, tables)
    return gained


@compiled_part
def _tabulate(search: Search, step: int, volume: float, tables: Any) -> None:
    """Gains of a step as giver, between and as taker of the volume, and of its negative."""
    for sign in range(SIGNS):
        less = volume if sign == 0 else -volume
        for role in range(ROLES):
            tables[sign, role, step] = _gain(search, step, role, less)


@inlined
def _gain(search: Search, step: int, role: int, volume: float) -> float:
    """What a step gains where a volume less is stored after the giver, hm3; minus infinity where limits forbid it."""
    path = search.path
    storage, end = path.storages[step], path.storages[step + 1]
    if role != _GIVER:
        storage -= volume
    if role != _TAKER:
        end -= volume
        if end < search.lower[step + 1] or end > search.upper[step + 1]:
            return -np.inf
    gain: float = _fitness_between(search, step, storage, end) - path.values[step]
    return gain


@compiled_part
def _best_shift(search: Search, tables: Any, volume: float) -> tuple[float, int, int, int]:
    """Gain, giver, taker and sign of the best shift; where the end is open, the number of steps may be the taker."""
    year, steps = search.year, len(search.path.drafts)
    open_end = not year.cyclic and search.lower[-1] < search.upper[-1]
    best, best_giver, best_taker, best_sign = -np.inf, 0, 0, 0
    for sign in range(SIGNS):
        of_end = _end_gain(search, volume if sign == 0 else -volume) if open_end else -np.inf
        for giver in range(steps):
            gain = tables[sign, _GIVER, giver]
            for ahead in range(1, steps):
                if not gain > -np.inf:
                    break
                taker = giver + ahead
                if taker >= steps:
                    if not year.cyclic:
                        break
                    taker -= steps
                found = gain + tables[sign, _TAKER, taker]
                if found > best:
                    best, best_giver, best_taker, best_sign = found, giver, taker, sign
                gain += tables[sign, _BETWEEN, taker]
            if open_end and gain + of_end > best:
                best, best_giver, best_taker, best_sign = gain + of_end, giver, steps, sign
    return best, best_giver, best_taker, best_sign


@inlined
def _end_gain(search: Search, volume: float) -> float:
    """What a volume less at the end is worth, GWh."""
    end = search.path.storages[-1]
    worth: float = end_value(search.year.conditions, end, end - volume)
    return worth


@compiled_part
def _expanded(search: Search, giver: int, taker: int, volume: float, gain: float) -> float:
    """The volume doubled as long as that gains more, hm3."""
    for _ in range(_MOST_DOUBLINGS):
        more = _gain_of(search, giver, taker, 2 * volume)
        if not more > gain:
            break
        volume, gain = 2 * volume, more
    return volume


@compiled_part
def _gain_of(search: Search, giver: int, taker: int, volume: float) -> float:
    """Gain of a shift, GWh."""
    steps = len(search.path.drafts)
    gain, step = _gain(search, giver, _GIVER, volume), giver
    while gain > -np.inf:
        step += 1
        if step == steps:
            if taker == steps:
                return gain + _end_gain(search, volume)
            step = 0
        if step == taker:
            return gain + _gain(search, step, _TAKER, volume)
        gain += _gain(search, step, _BETWEEN, volume)
    return gain


@compiled_part
def _shift(search: Search, giver: int, taker: int, volume: float) -> None:
    """Take a volume off the storages behind the giver, up to the taker."""
    storages, steps, step = search.path.storages, len(search.path.drafts), giver
    while step != taker:
        storages[step + 1] -= volume
        step += 1
        if step == steps:
            if taker == steps:
                break
            storages[0], step = storages[steps], 0


@inlined
def _fitness_between(search: Search, step: int, storage: float, end: float) -> float:
    """Fitness of a step between two storages, GWh; minus infinity if its draft would leave its bounds."""
    draft = _draft(search, step, storage, end)
    rounding = _ROUNDING * search.year.release_upper[step]
    if draft < search.year.release_lower[step] - rounding or draft > search.year.release_upper[step] + rounding:
        return -np.inf
    value: float = step_fitness(search, step, storage, end, draft)
    return value


@inlined
def _draft(search: Search, step: int, storage: float, end: float) -> float:
    year = search.year
    conditions = conditions_at(year.conditions, step)
    draft: float = release_to_reach(storage, end, year.inflow[step], year.hm3_per_m3s[step], conditions)
    return draft
