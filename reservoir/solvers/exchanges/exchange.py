"""Exchanges of water between two steps of a schedule, on the exact curves in float64: one, and the best volume of one.

One step, the giver, releases a volume more or less; the steps behind it keep their releases, up to another, the taker,
which makes up for the volume. Steps that just fill the turbines can instead keep doing that (`fills`): at this kink of
the power, a change of two releases alone improves nothing. In a cyclic year the first step is behind the last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.compiled_year import step_value, violation_at
from reservoir.hydro.conditions import end_value
from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.jit import compiled_part, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import HM3_PER_M3S, INFLOW, RELEASE_LOWER, RELEASE_UPPER, YearRows
from reservoir.hydro.step import head_at, release_to_reach, storage_after, turbined_at

#: A step just fills the turbines if its draft is this close, relatively, to what they can take.
_NEARLY_FULL = 0.02
#: Rounding of drafts and storages, relative to their bounds.
_ROUNDING = 1e-13
#: More than any turbines can take, m3/s.
_UNLIMITED = 1e30
#: Iterations for a draft that fills the turbines, attempts to keep limits, and steps of a line search out and in.
_MOST_SECANTS, _MOST_SHORTENED, _MOST_EXPANSIONS, _MOST_SECTIONS = 12, 4, 30, 40
#: By what the volume grows in a line search, and the smaller part of the golden section.
_EXPANSION, _SECTION = 4.0, 0.381966011250105


#: Rows of a search's table: drafts (m3/s), values (fitness, GWh) and fullness of the best path so far, by steps, where
#: ``FULL`` is 1 where a step just fills the turbines, else 0; its storages (hm3), before the first step and after each;
#: drafts and storages of another path that is tried; and bounds of the storages.
DRAFT, STORAGE, VALUE, FULL, TRIED_DRAFT, TRIED_STORAGE, LOWER, UPPER = range(8)
#: How many there are.
TABLE_ROWS = 8


class Search(NamedTuple):
    """A year, and the table of its paths, of shape (rows, steps + 1): one array, as every other has the compiler toil.

    The taker of an exchange is at most ``reach`` steps behind the giver.
    """

    plant: Plant
    year: YearRows
    penalty: float
    table: Any
    reach: int


@compiled_part
def describe(search: Search) -> float:
    """Tell fitness and fullness of the path's steps; returns the sum of the absolute fitness, GWh."""
    table, total = search.table, 0.0
    for step in range(table.shape[1] - 1):
        _describe_step(search, step)
        total += abs(table[VALUE, step])
    return total


@compiled_part
def widest_range(search: Search) -> float:
    """Widest range of the storages, hm3."""
    widest = 0.0
    for point in range(search.table.shape[1]):
        widest = max(widest, search.table[UPPER, point] - search.table[LOWER, point])
    return widest


@compiled_part
def any_full(search: Search) -> bool:
    """Whether a step just fills the turbines."""
    count = 0.0
    for step in range(search.table.shape[1] - 1):
        count += search.table[FULL, step]
    return count > 0.0


@compiled_part
def _describe_step(search: Search, step: int) -> None:
    table = search.table
    storage, draft = table[STORAGE, step], table[DRAFT, step]
    table[VALUE, step] = step_fitness(search, step, storage, table[STORAGE, step + 1], draft)
    table[FULL, step] = abs(_excess(search, step, storage, draft)) <= _NEARLY_FULL * draft


@compiled_part
def exchange(
    search: Search, giver: int, taker: int, volume: float, fills: bool, least_gain: float
) -> tuple[float, float, int]:
    """Try an exchange; drafts and storages of its steps are written to the trial.

    Parameters
    ----------
    search : Search
    giver, taker : int
        Steps. If the taker is the giver, the first step behind it that brings more than the least gain takes the
        volume. If it is the number of steps, the storage at the end of the last one changes.
    volume : float
        hm3.
    fills : bool
        Whether steps between the two that fill the turbines keep doing so.
    least_gain : float
        GWh.

    Returns
    -------
    gain : float
        GWh; minus infinity if limits do not allow the exchange, or if it does not bring more than the least gain.
    part : float
        Part of the volume that limits allow.
    taker : int
    """
    year, table = search.year, search.table
    steps, any_taker = table.shape[1] - 1, taker == giver
    open_end = not year.cyclic and table[LOWER, -1] < table[UPPER, -1]
    step, storage, gain, differs = giver, table[STORAGE, giver], 0.0, not (fills and any_taker)
    left = search.reach
    draft = table[DRAFT, giver] + volume / year.rows[HM3_PER_M3S, giver]
    while True:
        least, most = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
        part = _part_within(table[DRAFT, step], draft, least, most)
        draft = clip(draft, least, most)
        end = _end_of_step(search, step, storage, draft)
        part = min(part, _part_within(table[STORAGE, step + 1], end, table[LOWER, step + 1], table[UPPER, step + 1]))
        if part < 1.0:
            return -np.inf, part, taker
        gain += step_fitness(search, step, storage, end, draft) - table[VALUE, step]
        table[TRIED_DRAFT, step], table[TRIED_STORAGE, step + 1] = draft, end
        step, storage, left = step + 1, end, left - 1
        if step == steps:
            if open_end and differs and (any_taker or taker == steps):
                gain += end_value(year, table[STORAGE, steps], end)
                return gain if gain > least_gain else -np.inf, 1.0, steps
            step = 0
            if not year.cyclic:
                return -np.inf, 1.0, taker
        if step == giver or left < 0:
            return -np.inf, 1.0, taker
        if differs and (any_taker or taker == step):
            target = table[STORAGE, step + 1]
            least, most = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
            draft = release_to_reach(storage, target, year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], year, step)
            part = _part_within(table[DRAFT, step], draft, least, most)
            if part == 1.0:
                draft = clip(draft, least, most)
                found = gain + step_fitness(search, step, storage, target, draft) - table[VALUE, step]
                if found > least_gain:
                    table[TRIED_DRAFT, step], table[TRIED_STORAGE, step + 1] = draft, target
                    return found, 1.0, step
            if taker == step:
                return -np.inf, part, step
        differs = differs or table[FULL, step] > 0
        draft = table[DRAFT, step]
        if fills and table[FULL, step] > 0:
            draft = _filling_draft(search, step, storage)


@compiled_part
def exchange_best(
    search: Search, giver: int, taker: int, volume: float, fills: bool, gain: float, precision: float
) -> float:
    """Search for the best volume from one on that brings a gain, and change and describe the path; returns the gain.

    The search ends where less than the precision, GWh, can be gained on a line.
    """
    inner, of_inner = 0.0, 0.0
    for _ in range(_MOST_EXPANSIONS):
        of_outer, outer = _limited(search, giver, taker, _EXPANSION * volume, fills)
        if not of_outer > gain or outer == volume:
            break
        inner, of_inner, volume, gain = volume, gain, outer, of_outer
    for _ in range(_MOST_SECTIONS):
        if gain - min(of_inner, of_outer) <= precision:
            break
        outwards = abs(outer - volume) > abs(volume - inner)
        tried = volume + _SECTION * ((outer if outwards else inner) - volume)
        of_tried, tried = _limited(search, giver, taker, tried, fills)
        if of_tried > gain:
            volume, tried, gain, of_tried = tried, volume, of_tried, gain
            outwards = not outwards
        if outwards:
            outer, of_outer = tried, of_tried
        else:
            inner, of_inner = tried, of_tried
    gain, volume = _limited(search, giver, taker, volume, fills)
    if not gain > 0.0:
        return 0.0
    _take(search, giver, taker)
    return gain


@compiled_part
def _limited(search: Search, giver: int, taker: int, volume: float, fills: bool) -> tuple[float, float]:
    """Gain of exchanging a volume, or as much of it as limits allow; and this volume."""
    gain = -np.inf
    for _ in range(_MOST_SHORTENED):
        gain, part, _ = exchange(search, giver, taker, volume, fills, -np.inf)
        if not 0.0 < part < 1.0:
            break
        volume *= part
    return gain, volume


@compiled_part
def _take(search: Search, giver: int, taker: int) -> None:
    """Copy the trial's steps from giver to taker to the path, and describe them."""
    table, steps = search.table, search.table.shape[1] - 1
    step = giver
    for _ in range(steps):
        table[DRAFT, step], table[STORAGE, step + 1] = table[TRIED_DRAFT, step], table[TRIED_STORAGE, step + 1]
        if step == taker or step + 1 == taker == steps:
            break
        step = (step + 1) % steps
        if step == 0:
            table[STORAGE, 0] = table[STORAGE, steps]
    _describe_step(search, giver)
    while giver != step:
        giver = (giver + 1) % steps
        _describe_step(search, giver)


@compiled_part
def step_fitness(search: Search, step: int, storage: float, end: float, draft: float) -> float:
    """Fitness of a step, GWh."""
    energy, unmet_here = step_value(search.plant, search.year, step, storage, end, draft)
    value: float = energy - search.penalty * (violation_at(search.year, step, end, end) + unmet_here)
    return value


@compiled_part
def _end_of_step(search: Search, step: int, storage: float, draft: float) -> float:
    year = search.year
    end: float = storage_after(storage, year.rows[INFLOW, step], draft, year.rows[HM3_PER_M3S, step], year, step)
    return end


@compiled_part
def _excess(search: Search, step: int, storage: float, draft: float) -> float:
    """By how much a draft is more than the turbines can take, m3/s."""
    head = head_at(search.plant, mean(storage, _end_of_step(search, step, storage, draft)), draft)
    excess: float = draft - turbined_at(search.plant, head, _UNLIMITED, search.year, step)
    return excess


@compiled_part
def _filling_draft(search: Search, step: int, storage: float) -> float:
    """Draft that just fills the turbines, near that of the path and within its bounds: by secants."""
    least, most = search.year.rows[RELEASE_LOWER, step], search.year.rows[RELEASE_UPPER, step]
    draft: float = search.table[DRAFT, step]
    before, of_before, slope = 0.0, 0.0, 1.0
    for number in range(_MOST_SECANTS):
        excess = _excess(search, step, storage, draft)
        if number > 0:
            slope = (excess - of_before) / (draft - before)
        if slope == 0.0:
            break
        before, of_before = draft, excess
        draft = clip(draft - excess / slope, least, most)
        if abs(draft - before) <= _ROUNDING * most:
            break
    return draft


@compiled_part
def _part_within(before: float, after: float, lowest: float, highest: float) -> float:
    """What part of a change stays within bounds, as if it were on a line; 1 where all does, but for rounding."""
    rounding, part = _ROUNDING * abs(highest), 1.0
    if after < lowest - rounding:
        part = (lowest - before) / (after - before)
    if after > highest + rounding:
        part = (highest - before) / (after - before)
    return part


#: Volumes that storages are shifted by, as parts of the widest range of storages: the first, the last of large ones,
#: whose ratio is near 1 since a shift may gain by a large volume where it loses by less, and the last of all.
_FIRST, _LAST_LARGE, _LAST, _RATIO_OF_LARGE, _RATIO = 0.4, 0.003, 1e-8, 0.7, 0.1
#: Times that all volumes are tried, and what they must gain to be tried again, as a part of the fitness.
_MOST_SWEEPS, _LEAST_GAIN_OF_SWEEP = 5, 1e-7
#: Shifts by a volume, and doublings of one, at most.
_MOST_SHIFTS, _MOST_DOUBLINGS = 100, 6
#: Rounding of drafts, relative to their upper bound.
_PART_OF_ROUNDING = 1e-12
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
    table, steps = search.table, search.table.shape[1] - 1
    for _ in range(_MOST_SWEEPS):
        volume, gained = _FIRST * widest, 0.0
        while volume > _LAST * widest:
            gained += _shift_by(search, volume, least_gain * total, tables)
            volume *= _RATIO_OF_LARGE if volume > _LAST_LARGE * widest else _RATIO
        if gained <= _LEAST_GAIN_OF_SWEEP * total:
            break
    for step in range(steps):
        draft = _draft(search, step, table[STORAGE, step], table[STORAGE, step + 1])
        table[DRAFT, step] = clip(draft, search.year.rows[RELEASE_LOWER, step], search.year.rows[RELEASE_UPPER, step])


@compiled_part
def _shift_by(search: Search, volume: float, least_gain: float, tables: Any) -> float:
    """Make the best shift by a volume, or by some times as much, until none gains; returns the gain, GWh."""
    table, steps, gained = search.table, search.table.shape[1] - 1, 0.0
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
            table[VALUE, step] = _fitness_between(search, step, table[STORAGE, step], table[STORAGE, step + 1])
            _tabulate(search, step, volume, tables)
    return gained


@compiled_part
def _tabulate(search: Search, step: int, volume: float, tables: Any) -> None:
    """Gains of a step as giver, between and as taker of the volume, and of its negative."""
    for sign in range(SIGNS):
        less = volume if sign == 0 else -volume
        tables[sign, _GIVER, step] = _gain(search, step, 0.0, less)
        tables[sign, _BETWEEN, step] = _gain(search, step, less, less)
        tables[sign, _TAKER, step] = _gain(search, step, less, 0.0)


@compiled_part
def _gain(search: Search, step: int, less_before: float, less_after: float) -> float:
    """What a step gains with so much less in store before and after it, hm3; minus infinity where limits forbid it."""
    table = search.table
    storage, end = table[STORAGE, step] - less_before, table[STORAGE, step + 1] - less_after
    if less_after != 0.0 and (end < table[LOWER, step + 1] or end > table[UPPER, step + 1]):
        return -np.inf
    gain: float = _fitness_between(search, step, storage, end) - table[VALUE, step]
    return gain


@compiled_part
def _best_shift(search: Search, tables: Any, volume: float) -> tuple[float, int, int, int]:
    """Gain, giver, taker and sign of the best shift; where the end is open, the number of steps may be the taker."""
    year, table = search.year, search.table
    steps = table.shape[1] - 1
    open_end = not year.cyclic and table[LOWER, -1] < table[UPPER, -1]
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
    end = search.table[STORAGE, -1]
    worth: float = end_value(search.year, end, end - volume)
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
    steps = search.table.shape[1] - 1
    gain, step = _gain(search, giver, 0.0, volume), giver
    while gain > -np.inf:
        step += 1
        if step == steps:
            if taker == steps:
                return gain + _end_gain(search, volume)
            step = 0
        if step == taker:
            return gain + _gain(search, step, volume, 0.0)
        gain += _gain(search, step, volume, volume)
    return gain


@compiled_part
def _shift(search: Search, giver: int, taker: int, volume: float) -> None:
    """Take a volume off the storages behind the giver, up to the taker."""
    storages, steps, step = search.table[STORAGE], search.table.shape[1] - 1, giver
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
    least, most = search.year.rows[RELEASE_LOWER, step], search.year.rows[RELEASE_UPPER, step]
    rounding = _PART_OF_ROUNDING * most
    if draft < least - rounding or draft > most + rounding:
        return -np.inf
    value: float = step_fitness(search, step, storage, end, draft)
    return value


@inlined
def _draft(search: Search, step: int, storage: float, end: float) -> float:
    year = search.year
    draft: float = release_to_reach(storage, end, year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], year, step)
    return draft
