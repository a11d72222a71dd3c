"""The linear program of a system near its schedules: balances of water, and tangents of what plants make of it.

Columns are storages, releases, power and the gain of head of each reservoir and step; rows that a year shares with all
others differ by their numbers alone, so that a program begins where the one before it ended.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.commitments import committed_hm3, counts_turbined, sides
from reservoir.hydro.elementwise import curve_value, mean
from reservoir.hydro.rows import CAPACITY, DEAD, HM3_PER_M3S, INFLOW, PER_MISSING, PER_SHORTAGE, UNLIMITED, filled_years
from reservoir.hydro.step import violation_scale
from reservoir.hydro.system import Link
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.system import FirmestYears, SystemYears
from reservoir.solvers.plant_steps import EVERYWHERE, FloatArray, PlantSteps

#: Tangents of power by release, the last two of them the local one and that of spilling, and of power by storage.
RELEASE_CUTS, HEAD_CUTS = 8, 3
#: Tangents of what the sum of all plants is worth: at parts of its largest, and so far from the schedule.
EVEN, NEAR = np.linspace(0.0, 1.0, 5), np.array([-1e-2, -1e-3, 1e-3, 1e-2])
#: A slope is told between points this part of a range apart; a tangent that cuts off the schedule by more than this
#: part of the largest power is left out.
_APART, _SLACK = 1e-4, 1e-9
#: Committed volumes are aimed at with so much more, a part of them: room for rounding.
_ROOM = 1e-6
#: The same of the sum at the schedule, beside `_APART`: it mostly lies at a kink, the power that it must give.
_NEARER = 1e-3
#: What water from nothing costs, in penalties of a storage that misses its limits by as much.
_OF_NOTHING = 10.0


class Cuts(NamedTuple):
    """Lines above a function, value <= slope x + level, shape (cuts, years, steps); those left out have level inf."""

    slope: FloatArray
    level: FloatArray

    @classmethod
    def of(cls, points: FloatArray, apart: FloatArray, function: Callable[[FloatArray], FloatArray]) -> Cuts:
        """Through points, with the slope to others that are `apart` from them."""
        values = function(points)
        slope = (function(points + apart) - values) / apart
        return cls(slope, values - slope * points)

    def above(self, x: FloatArray, value: FloatArray, slack: FloatArray | float) -> Cuts:
        """Without those that cut off a point."""
        cuts_off = self.slope * x + self.level < value - slack
        return self._replace(level=np.where(cuts_off, np.inf, self.level))

    def and_(self, other: Cuts) -> Cuts:
        """Both."""
        return Cuts(*(np.concatenate(each) for each in zip(self, other, strict=True)))


class PlantCuts(NamedTuple):
    """Power <= `by_release` + `of_head` x gain of head; that <= `by_storage`; and by storage of the lake below."""

    by_release: Cuts
    of_head: FloatArray
    by_storage: Cuts
    by_storage_below: FloatArray


def _releases(steps: PlantSteps, storage: FloatArray, release: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least release, and the largest that the turbines take at a mean storage."""
    least, most = steps.years.limits.release_lower_m3s, steps.years.limits.release_upper_m3s
    kink = release
    for _ in range(4):
        kink = np.minimum(steps.turbines_m3s(storage, kink), most)
    return np.minimum(least, kink), np.maximum(kink, least + _APART * (most + 1.0))


def _release_cuts(
    steps: PlantSteps, storage: FloatArray, release: FloatArray, count: int
) -> tuple[Cuts, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Tangents below what the turbines take, and from there the line to the largest release; that kink, and power."""

    def power(flow: FloatArray) -> FloatArray:
        return steps.power_mw(storage, flow, capped=False)

    least, kink = _releases(steps, storage, release)
    most = np.maximum(steps.years.limits.release_upper_m3s, kink * (1 + _APART))
    points = least + (kink - least) * np.linspace(0.0, 1.0, count - 1).reshape(-1, 1, 1)
    cuts = Cuts.of(points, -_APART * kink, power)
    return cuts.and_(Cuts.of(kink[np.newaxis], (most - kink)[np.newaxis], power)), kink, power


def near_schedule(steps: PlantSteps, reach_hm3: FloatArray, below: PlantSteps | None) -> PlantCuts:
    """Tangents around a schedule, whose own point is met with its own slopes.

    Parameters
    ----------
    steps : PlantSteps
    reach_hm3 : ndarray, shape (years, 1)
        How far storages may move.
    below : PlantSteps, optional
        Of the lake below that backs the plant up.
    """
    storage, release = steps.mean_storage_hm3, steps.release_m3s
    cuts, kink, power = _release_cuts(steps, storage, release, RELEASE_CUTS - 1)
    value, slack = power(release), _SLACK * steps.plant.installed_mw
    sided = np.where(release <= kink * (1 + _SLACK), -1.0, 1.0) * _APART * 0.1 * kink
    local = Cuts.of(release[np.newaxis], sided[np.newaxis], power)
    cuts = cuts.above(release, value, slack).and_(local)

    def gain(mean_storage: FloatArray) -> FloatArray:
        return steps.power_mw(mean_storage, release, capped=False) - value

    spread = np.stack([np.zeros_like(storage), *np.broadcast_arrays(-reach_hm3 + 0 * storage, reach_hm3 + 0 * storage)])
    apart = _APART * reach_hm3 * np.array([1.0, 1.0, -1.0]).reshape(-1, 1, 1)
    by_storage = Cuts.of(storage + spread, apart, gain).above(storage, np.zeros_like(storage), slack)
    backed = np.zeros_like(storage)
    if below is not None:
        more = _APART * below.mean_storage_hm3
        level = curve_value(below.plant.level, below.mean_storage_hm3 + more)
        backed = (steps.backed_up(level).power_mw(storage, release, capped=False) - value) / more
    return PlantCuts(cuts, np.ones(RELEASE_CUTS), by_storage, backed)


def anywhere(steps: PlantSteps, lowest_hm3: FloatArray, highest_hm3: FloatArray) -> PlantCuts:
    """Tangents of all schedules, as McCormick's planes of head times flow: of the highest head, and of the lowest."""
    half = RELEASE_CUTS // 2
    above, kink, _ = _release_cuts(steps, highest_hm3, steps.release_m3s, half)
    low, _, power = _release_cuts(steps, lowest_hm3, steps.release_m3s, RELEASE_CUTS - half)

    def gain(mean_storage: FloatArray) -> FloatArray:
        return steps.power_mw(mean_storage, kink, capped=False) - power(kink)

    width = np.maximum(highest_hm3 - lowest_hm3, _APART * (highest_hm3 + 1.0))
    points = lowest_hm3 + width * np.linspace(0.0, 1.0, HEAD_CUTS).reshape(-1, 1, 1)
    by_storage = Cuts.of(points, _APART * width * np.array([1.0, 1.0, -1.0]).reshape(-1, 1, 1), gain)
    of_head = np.repeat([0.0, 1.0], [half, RELEASE_CUTS - half])
    return PlantCuts(above.and_(low), of_head, by_storage, np.zeros_like(width))


class Programs(NamedTuple):
    """Linear programs of years of one shape, to be maximised, as HiGHS takes them column by column.

    ``starts`` and ``places`` say which rows the ``values``, shape (years, numbers), are of; bounds and costs have shape
    (years, columns) and (years, rows).
    """

    starts: NDArray[np.int32]
    places: NDArray[np.int32]
    values: FloatArray
    cost: FloatArray
    columns: tuple[FloatArray, FloatArray]
    rows: tuple[FloatArray, FloatArray]


class Builder:
    """Collects columns and rows of a linear program of all years."""

    def __init__(self, years: int) -> None:
        self.years, self.width, self.height = years, 0, 0
        self.bounds, self.limits, self.entries = list[Any](), list[Any](), list[Any]()

    def _filled(self, value: Any, count: int) -> FloatArray:
        return np.full((self.years, count), value, np.float64)

    def columns(self, count: int, lower: Any, upper: Any, cost: Any = 0.0) -> NDArray[np.intp]:
        """Places of further columns."""
        self.bounds.append([self._filled(each, count) for each in (lower, upper, cost)])
        self.width += count
        return np.arange(self.width - count, self.width)

    def rows(self, lower: Any, upper: Any, *terms: tuple[NDArray[np.intp], Any]) -> NDArray[np.intp]:
        """Further rows: of each term, a column and a factor a row."""
        count = len(terms[0][0])
        self.limits.append([self._filled(each, count) for each in (lower, upper)])
        self.height += count
        places = np.arange(self.height - count, self.height)
        for columns, factors in terms:
            self.add(places, columns, factors)
        return places

    def add(self, rows: NDArray[np.intp], columns: NDArray[np.intp], factors: Any) -> None:
        """More terms of rows."""
        self.entries.append((rows, columns, self._filled(factors, len(rows))))

    def programs(self) -> Programs:
        """All of them."""
        rows, columns, values = (np.concatenate(each, axis=-1) for each in zip(*self.entries, strict=True))
        order = np.lexsort((rows, columns))
        rows, columns = rows[order], columns[order]
        fresh = np.flatnonzero(np.diff(rows, prepend=-1) | np.diff(columns, prepend=-1))
        values = np.add.reduceat(values[:, order], fresh, axis=1)
        start = np.searchsorted(columns[fresh], np.arange(self.width + 1)).astype(np.int32)
        lower, upper, cost = (np.concatenate(each, axis=1) for each in zip(*self.bounds, strict=True))
        least, most = (np.concatenate(each, axis=1) for each in zip(*self.limits, strict=True))
        return Programs(start, rows[fresh].astype(np.int32), values, cost, (lower, upper), (least, most))


class Columns(NamedTuple):
    """Places of the columns of a reservoir: storages at the start and at the ends of steps, releases and so on."""

    storage: NDArray[np.intp]
    release: NDArray[np.intp]
    turbined: NDArray[np.intp]
    power: NDArray[np.intp]

    def carried(self, link: Link) -> list[tuple[NDArray[np.intp], float]]:
        """Columns whose sum is what a link carries, with their factors."""
        both = (self.release, link.of_release(1.0, 0.0)), (self.turbined, link.of_release(0.0, 1.0))
        return [(columns, factor) for columns, factor in both if factor]


class _System(NamedTuple):
    """Schedules of a batch, the box around them (`linear_programs`), and what is made of them."""

    batch: SystemYears
    schedule: SystemOperation
    box: FloatArray | None
    elastic: bool
    spilling: bool
    made: Builder
    steps: tuple[PlantSteps, ...]
    columns: list[Columns]


def linear_programs(
    batch: SystemYears,
    schedule: SystemOperation,
    box: FloatArray | None,
    *,
    elastic: bool = False,
    spilling: bool = False,
) -> tuple[Programs, NDArray[np.intp]]:
    """Programs near schedules, or of all of them, and the places of storages, shape (reservoirs, steps + 1).

    Parameters
    ----------
    batch : SystemYears
    schedule : SystemOperation
    box : ndarray, shape (years,), or None
        How far storages may be from the schedule's, as a part of what is active; None for the relaxation.
    elastic : bool
        Whether limits of storage and release may be missed at a price.
    spilling : bool
        Whether plants spill more, or turbine less, in steps in which they turbine just what they can and release.
    """
    places = range(len(batch.system.reservoirs))
    steps = tuple(PlantSteps.of(batch, schedule, place) for place in places)
    of = _System(batch, schedule, box, elastic, spilling, Builder(len(batch)), steps, [])
    for place in places:
        of.columns.append(_reservoir(of, place))
    for place in places:
        _power(of, place)
    if isinstance(batch, FirmestYears):
        _least_of_sum(of, batch.failing(schedule))
    elif batch.terms:
        _sum_of_all(of)
    return of.made.programs(), np.stack([each.storage for each in of.columns])


def _storage_bounds(steps: PlantSteps) -> tuple[FloatArray, FloatArray]:
    """Least and largest storages at the start and at the end of steps, shape (years, steps + 1)."""
    limits = steps.years.limits
    least, most = limits.storage_lower_hm3, limits.storage_upper_hm3
    if limits.cyclic:
        return np.column_stack([limits.start_lower, least]), np.column_stack([limits.start_upper, most])
    return np.column_stack([limits.start_lower, least]), np.column_stack([limits.start_lower, most])


def _reservoir(of: _System, place: int) -> Columns:
    """Columns of a reservoir, its limits and its balance of water."""
    made, steps, limits, count = of.made, of.steps[place], of.steps[place].years.limits, of.batch.steps
    volume, storage = steps.rows.rows[HM3_PER_M3S], of.schedule.of_reservoirs[place].storage_hm3
    bounds = lower, upper = _storage_bounds(steps)
    lowest, highest = limits.release_lower_m3s, limits.release_upper_m3s
    if of.elastic:  # below dead storage nothing is released, and never more than the largest release
        lower, upper = lower.copy(), upper.copy()
        lower[:, 1:] = np.minimum(lower[:, 1:], steps.rows.numbers[DEAD])
        upper[:, 1:] = np.inf
    if of.box is not None:
        reach = of.box[:, np.newaxis] * _active(steps)
        least, most = np.maximum(lower, storage - reach), np.minimum(upper, storage + reach)
        lower, upper = np.minimum(least, most), np.maximum(least, most)
    worth = np.zeros_like(storage)
    worth[:, -1] = of.batch.end_values[place]
    worth[:, 0] -= worth[:, -1]
    storages = made.columns(count + 1, lower, upper, worth)
    releases = made.columns(count, -np.inf if of.elastic else lowest, highest)
    if of.elastic:
        scales = [violation_scale(bound[:, 1:], steps.rows.numbers[CAPACITY]) for bound in bounds]
        for bound, side, scale in zip(bounds, (1.0, -1.0), scales, strict=True):
            _penalised(made, storages[1:], side, bound[:, 1:], of.batch.penalty / scale)
        _releases_missed(of, steps, releases, volume / np.minimum(*scales))
    if limits.cyclic:
        made.rows(0.0, 0.0, (storages[:1], 1.0), (storages[-1:], -1.0))
    if limits.ramps:
        down, up = -limits.ramp_down[:, np.newaxis], limits.ramp_up[:, np.newaxis]
        made.rows(down, up, (releases[1:], 1.0), (releases[:-1], -1.0))
    links = [link for link in of.batch.system.links if link.source == of.batch.system.names[place]]
    turbined = releases[:0]
    if any(link.is_split for link in links) or counts_turbined(of.batch.system.reservoirs[place]):
        turbined = _turbined(of, steps, storages, releases)
    columns = Columns(storages, releases, turbined, made.columns(count, -np.inf, steps.most_mw, steps.per_mw))
    _balance(of, place, columns)
    _commitments(of, place, columns)
    return columns


def _releases_missed(of: _System, steps: PlantSteps, releases: NDArray[np.intp], per_flow: FloatArray) -> None:
    """What releases are less than the least costs penalties.

    Where none has a least release, only the withdrawal can be cut. Any less would be water from nothing, which costs
    more than storages that it could bring within their limits; `per_flow` is what these cost. It is no bound: losses
    may leave less water than there is.
    """
    made, limits, penalty = of.made, steps.years.limits, of.batch.penalty
    lowest, taken = limits.release_lower_m3s, limits.withdrawal_m3s if limits.lake else np.zeros_like(per_flow)
    per_missing = steps.rows.numbers[PER_MISSING] * steps.rows.rows[HM3_PER_M3S]
    per_shortage = steps.rows.rows[PER_SHORTAGE] if limits.lake else np.zeros_like(per_flow)
    unpriced = per_missing == 0
    _penalised(made, releases, 1.0, lowest, penalty * np.where(unpriced, per_shortage, per_missing))
    nothing = np.minimum(lowest, 0.0) - taken
    _penalised(made, releases, 1.0, nothing, np.where(unpriced, _OF_NOTHING * penalty * per_flow, 0.0))


def _commitments(of: _System, place: int, columns: Columns) -> None:
    """What water years release of what they are committed to at the levels of the schedule; misses cost penalties."""
    reservoir, volume = of.batch.system.reservoirs[place], of.steps[place].rows.rows[HM3_PER_M3S]
    counted = columns.turbined if counts_turbined(reservoir) else columns.release
    for side in sides(reservoir):
        wanted = committed_hm3(reservoir, of.schedule.of_reservoirs[place].storage_hm3, side)
        years = wanted.shape[1]
        short = of.made.columns(years, 0.0, np.inf, -of.batch.penalty / np.maximum(wanted, 1e-9))
        rows = of.made.rows(wanted * (side + _ROOM), np.inf, (short, 1.0))
        of.made.add(np.repeat(rows, of.batch.steps // years), counted, side * volume)


def _turbined(
    of: _System, steps: PlantSteps, storages: NDArray[np.intp], releases: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Columns of what is turbined: the release, or in steps that spill what the turbines take at the head of it.

    A step at the kink does what `spilling` says. In the relaxation, it is what lies between, as far as that is convex.
    """
    storage, release, highest = steps.mean_storage_hm3, steps.release_m3s, steps.years.limits.release_upper_m3s
    most = steps.most_turbined_m3s(storage, release)
    apart = _APART * _active(steps), _APART * (most + 1.0)
    by_storage = (steps.most_turbined_m3s(storage + apart[0], release) - most) / apart[0]
    by_release = (steps.most_turbined_m3s(storage, release + apart[1]) - most) / apart[1]
    level = most - by_storage * storage - by_release * release
    spills = release > most * (1.0 + (-_SLACK if of.spilling else _SLACK))
    part = np.where(spills, by_release, 1.0)
    if of.box is None:
        spills, part = np.zeros_like(spills), np.minimum(most / np.maximum(highest, _SLACK), 1.0)
    turbined = of.made.columns(len(releases), -np.inf, np.inf)
    of.made.rows(-np.inf, 0.0, (turbined, 1.0), (releases, -1.0))
    for lower, upper, of_storage, of_release in (
        (-np.inf, level, by_storage, by_release),
        (np.where(spills, level, 0.0), np.inf, np.where(spills, by_storage, 0.0), part),
    ):
        half = -0.5 * of_storage
        stored = [(storages[1:], half), (storages[:-1], half)]
        of.made.rows(lower, upper, (turbined, 1.0), (releases, -of_release), *stored)
    return turbined


def _penalised(made: Builder, columns: NDArray[np.intp], side: float, bound: FloatArray, price: Any) -> None:
    """What columns are below a bound, or with a side of -1 above it, costs a price."""
    beyond = made.columns(len(columns), 0.0, np.inf, -price)
    made.rows(side * bound, np.inf, (columns, side), (beyond, 1.0))


def _active(steps: PlantSteps) -> FloatArray:
    """What a reservoir can store, hm3, shape (years, 1)."""
    limits = steps.years.limits
    most = limits.storage_upper_hm3.max(axis=1)
    active = np.maximum(most - limits.storage_lower_hm3.min(axis=1), _APART * (most + 1.0))  # of a run-of-river plant
    return np.asarray(active)[:, np.newaxis]


def _balance(of: _System, place: int, columns: Columns) -> None:
    """Losses are linear at the schedule, and so is what links bring."""
    steps, count, system = of.steps[place], of.batch.steps, of.batch.system
    volume, storage = steps.rows.rows[HM3_PER_M3S], steps.mean_storage_hm3
    apart = _APART * (_active(steps) + 1.0)
    lost = steps.loss_hm3(storage)
    slope = (steps.loss_hm3(storage + apart) - lost) / apart
    gained = volume * steps.rows.rows[INFLOW] - lost + slope * storage  # with what links bring at the schedule
    moved = list[tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]]()
    for source, link in system.into(place):
        flow = of.schedule.flow_m3s(link)
        wraps = system.reservoirs[source].year_end is YearEnd.CYCLIC
        for later, part in link.parts:
            to = np.arange(count) if wraps else np.arange(later, count)
            at = (to - later) % count
            factor = part * (1.0 - link.lost_share) * volume[:, at]
            gained[:, to] -= factor * flow[:, at]
            moved += [
                (to, source_columns[at], factor * of_it) for source_columns, of_it in of.columns[source].carried(link)
            ]
    ends = (columns.storage[1:], 1.0 + slope / 2), (columns.storage[:-1], slope / 2 - 1.0)
    rows = of.made.rows(gained, gained, *ends, (columns.release, volume))
    for to, source_columns, factor in moved:
        of.made.add(rows[to], source_columns, -factor)


def _power(of: _System, place: int) -> None:
    """Tangents of the power of a plant."""
    made, steps, columns = of.made, of.steps[place], of.columns[place]
    below = of.batch.system.backed_up_by(place)
    if of.box is None:
        lower, upper = _storage_bounds(steps)
        cuts = anywhere(steps, mean(lower[:, :-1], lower[:, 1:]), mean(upper[:, :-1], upper[:, 1:]))
    else:
        cuts = near_schedule(steps, of.box[:, np.newaxis] * _active(steps), None if below is None else of.steps[below])
    gain = made.columns(of.batch.steps, -np.inf, np.inf)
    for slope, level, of_head in zip(*cuts.by_release, cuts.of_head, strict=True):
        terms = [(columns.power, 1.0), (columns.release, -slope), (gain, -of_head)]
        if below is not None:
            half = -0.5 * cuts.by_storage_below
            terms += [(of.columns[below].storage[1:], half), (of.columns[below].storage[:-1], half)]
            level = level - cuts.by_storage_below * of.steps[below].mean_storage_hm3
        made.rows(-np.inf, level, *terms)
    for slope, level in zip(*cuts.by_storage, strict=True):
        made.rows(
            -np.inf, level, (gain, 1.0), (columns.storage[1:], -0.5 * slope), (columns.storage[:-1], -0.5 * slope)
        )
    if steps.years.limits.demands_power:
        lowest = steps.years.limits.power_demanded_mw
        short = made.columns(of.batch.steps, 0.0, np.inf, -of.batch.penalty / np.maximum(lowest, 1e-3))
        made.rows(lowest, np.inf, (columns.power, 1.0), (short, 1.0))


def _least_of_sum(of: _System, fails: NDArray[np.bool_]) -> None:
    """The power of all plants that every step gives but those that fail, which is all that is worth something."""
    installed, count = of.batch.system.installed_mw, of.batch.steps
    least = np.repeat(of.made.columns(1, 0.0, installed, 1.0), count)
    of.made.rows(-installed * fails, np.inf, (least, -1.0), *((each.power, 1.0) for each in of.columns))


def _sum_of_all(of: _System) -> None:
    """What the power of all plants, and what leaves the system, are worth beyond each plant's own."""
    batch, made, schedule = of.batch, of.made, of.schedule
    rows = filled_years({"inflow": np.zeros_like(batch.hm3_per_m3s), **batch.terms}).by_field
    leaving = [(each.release, 1.0) for each in of.columns]
    for link in batch.system.links:
        if link.target is not None:
            source = of.columns[batch.system.names.index(link.source)]
            leaving += [(columns, -factor) for columns, factor in source.carried(link)]
    most_m3s = sum(float(steps.years.limits.release_upper_m3s.max()) for steps in of.steps)

    def of_power(x: FloatArray) -> FloatArray:
        return np.asarray(stage_benefit(rows, EVERYWHERE, x, np.full_like(x, UNLIMITED), batch.hm3_per_m3s))

    def of_release(x: FloatArray) -> FloatArray:
        return np.asarray(stage_benefit(rows, EVERYWHERE, np.full_like(x, UNLIMITED), x, batch.hm3_per_m3s))

    installed, plants = batch.system.installed_mw, [(each.power, 1.0) for each in of.columns]
    for terms, now, most, worth in (
        (plants, schedule.power_mw, installed, of_power),
        (leaving, schedule.leaving_m3s, most_m3s, of_release),
    ):
        points = np.stack([*(each + 0 * now for each in most * EVEN), *(now + each for each in most * NEAR)])
        apart, value = np.full_like(now, _APART * most), worth(now)
        cuts = Cuts.of(points, apart, worth).above(now, value, _SLACK * np.abs(value).max(axis=1, keepdims=True))
        cuts = cuts.and_(Cuts.of(now[np.newaxis], _NEARER * apart, worth))
        sum_of_all = made.columns(batch.steps, -np.inf, np.inf, 1.0)
        for slope, level in zip(*cuts, strict=True):
            made.rows(-np.inf, level, (sum_of_all, 1.0), *((columns, -factor * slope) for columns, factor in terms))
