"""What years of a system miss of their limits at least, whatever is done: a linear program of water alone, and a proof.

Every operation of a year is a point of it: losses lie between bounds, turbines take anything up to the most that they
take at any head, and a lowest power and slow changes of the release are left out. So what it misses at least, no
operation avoids; what it does not miss may be impossible all the same. All columns are volumes, hm3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.commitments import LEAST, MOST, counts_turbined, sides, surely_hm3
from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.horizon_limits import with_ends
from reservoir.hydro.limits import Limits
from reservoir.hydro.system import Link
from reservoir.hydro.units import HM3_PER_KM2_MM
from reservoir.problems.system import SystemYears
from reservoir.solvers.plant_steps import FloatArray
from reservoir.solvers.slp.highs import maximised, proven_most
from reservoir.solvers.slp.program import Builder, Columns

Places = NDArray[np.intp]
#: What may be missed, each with a column a step.
BELOW, ABOVE, RELEASE, WITHDRAWAL, COMMITMENT, LICENCE = KINDS = (
    "storage below",
    "storage above",
    "minimum release",
    "withdrawal",
    "annual release",
    "largest annual release",
)
#: Points of a curve between which it is taken to change no more than between neighbours.
_POINTS = 257
#: A miss smaller than this part of the largest storage is rounding.
_ROUNDING = 1e-7


class Miss(NamedTuple):
    """What is missed of a limit at, or in, a step of a reservoir."""

    kind: str
    place: int
    step: int
    hm3: float


class LeastMisses(NamedTuple):
    """What a year misses at least, and an operation of the program that misses no more, the largest miss first.

    No operation misses less than ``least_hm3`` in all; where it does may differ.
    """

    least_hm3: float
    misses: tuple[Miss, ...]


class _Water(NamedTuple):
    """Columns of a reservoir, and those of each kind of miss."""

    columns: Columns
    missed: tuple[Places, ...]


def least_misses(years: SystemYears) -> Iterator[LeastMisses | None]:
    """What each year misses at least; None of a year of which nothing is proved.

    Parameters
    ----------
    years : SystemYears
        Years of a system.
    """
    made, waters = Builder(len(years)), list[_Water]()
    limits = [_ends(years, place) for place in range(len(years.years))]
    most = sum(each.capacity_hm3 + np.abs(each.inflow_m3s * each.hm3_per_m3s).sum(axis=1) for each in limits)
    for place, each in enumerate(limits):
        waters.append(_reservoir(made, years, place, each, np.reshape(most, (-1, 1)), waters))
    programs = made.programs()
    tolerance = _ROUNDING * max(float(each.capacity_hm3.max()) for each in limits)
    # An empty lake loses less than is reckoned, but then its storage is below its limit by as much.
    lowest = [each.storage_lower_hm3.min(axis=1) for each in limits if each.lake]
    emptied = np.min([np.full(len(years), np.inf), *(np.where(each > 0, each, np.inf) for each in lowest)], axis=0)
    for year in range(len(years)):
        found = maximised(programs, year)
        least = 0.0 if found.prices is None else -proven_most(programs, year, found.prices)
        least = min(least, float(emptied[year]))
        if found.point is None or not least > tolerance:
            yield None
            continue
        every = (
            Miss(kind, place, step, float(found.point[column]))
            for place, water in enumerate(waters)
            for kind, columns in zip(KINDS, water.missed, strict=True)
            for step, column in enumerate(columns)
        )
        misses = sorted((miss for miss in every if miss.hm3 > tolerance), key=lambda miss: -miss.hm3)
        yield LeastMisses(least, tuple(misses))


def _ends(years: SystemYears, place: int) -> Limits:
    """Limits of a reservoir with its end; losses alone may take a lake lower than where links brought something."""
    reservoir, limits = years.system.reservoirs[place], years.years[place].limits
    return limits if reservoir.initial_storage_hm3 is None else with_ends(reservoir, limits)


def _reservoir(
    made: Builder, years: SystemYears, place: int, limits: Limits, most_hm3: FloatArray, above: list[_Water]
) -> _Water:
    """Columns of a reservoir and its balance of water, with what reservoirs above send it."""
    count, volume = years.steps, limits.hm3_per_m3s
    least_release, most_release = volume * limits.release_lower_m3s, volume * limits.release_upper_m3s
    demanded = volume * limits.withdrawal_m3s if limits.lake else 0.0
    (first_least, first_most), (least, most) = (
        limits.start_bounds_hm3.T,
        (limits.storage_lower_hm3, limits.storage_upper_hm3),
    )
    storage = made.columns(count + 1, np.column_stack([first_least, least]), np.column_stack([first_most, most]))
    if limits.cyclic:
        made.rows(0.0, 0.0, (storage[:1], 1.0), (storage[-1:], -1.0))
    missed = below, beyond, lacking, short = tuple(
        made.columns(count, 0.0, each, -1.0) for each in (most_hm3, most_hm3, least_release, demanded)
    )
    release = made.columns(count, 0.0, most_release)
    made.rows(least_release, most_release + least_release, (release, 1.0), (lacking, 1.0))
    turbined = made.columns(count, 0.0, volume * _extremes(years.years[place].model.reservoir.capacity_m3s)[1])
    made.rows(0.0, most_release, (release, 1.0), (turbined, -1.0))
    least_lost, most_lost = lost_between(limits)
    gained = volume * limits.net_inflow_m3s
    ends = (storage[1:], 1.0), (below, -1.0), (beyond, 1.0), (storage[:-1], -1.0)
    counted = turbined if counts_turbined(years.system.reservoirs[place]) else release
    missed = *missed, *(_committed(made, years, place, counted, most_release, side) for side in (LEAST, MOST))
    balance = made.rows(gained - most_lost, gained - least_lost, *ends, (release, 1.0), (short, -1.0))
    made.add(balance[1:], below[:-1], 1.0)
    made.add(balance[1:], beyond[:-1], -1.0)
    for source, link in years.system.into(place):
        made.add(balance, _arriving(made, years, source, link, above[source].columns), -1.0)
    return _Water(Columns(storage, release, turbined, release[:0]), missed)


def _committed(
    made: Builder, years: SystemYears, place: int, counted: Places, most_release: FloatArray, side: float
) -> Places:
    """Columns of what is missing, in its last step, of what a water year is surely committed to; of others none."""
    reservoir = years.system.reservoirs[place]
    if side not in sides(reservoir):
        return counted[:0]
    each, volume = reservoir.step.per_year, surely_hm3(reservoir, side)
    last = np.arange(years.steps) % each == each - 1
    most = most_release.reshape(len(years), -1, each).sum(axis=-1) + volume
    missing = made.columns(years.steps, 0.0, np.where(last, volume if side == LEAST else most.max(), 0.0), -1.0)
    rows = made.rows(side * volume, most, (missing[last], 1.0))
    made.add(np.repeat(rows, each), counted, side)
    return missing


def _arriving(made: Builder, years: SystemYears, place: int, link: Link, source: Columns) -> Places:
    """Columns of what a link brings from the reservoir at a place."""
    volume, count = years.hm3_per_m3s, years.steps
    wraps = years.system.reservoirs[place].year_end is YearEnd.CYCLIC
    whole, most_m3s = replace(link, lost_m3s=0.0), years.years[place].limits.release_upper_m3s + 0.0 * volume
    carried = np.maximum(link.of_release(most_m3s, 0.0), link.of_release(most_m3s, most_m3s))
    begun, most = (volume * whole.arriving_m3s(flow, volume, wraps=wraps) for flow in (0.0 * volume, carried))
    flow = made.columns(count, 0.0, most)
    rows = made.rows(begun, begun, (flow, 1.0))
    for later, part in link.parts:
        to = np.arange(count) if wraps else np.arange(later, count)
        for columns, factor in source.carried(link):
            made.add(rows[to], columns[(to - later) % count], -part * (1.0 - link.lost_share) * factor)
    if not link.lost_m3s:
        return flow
    # max(flow - lost, 0) is not below that line, nor above the one from nothing to the most.
    lost, arriving = link.lost_m3s * volume, made.columns(count, 0.0, most)
    slope = np.divide(np.maximum(most - lost, 0.0), most, out=np.zeros_like(most), where=most > 0)
    made.rows(-lost, most, (arriving, 1.0), (flow, -1.0))
    made.rows(-most, 0.0, (arriving, 1.0), (flow, -slope))
    return arriving


def lost_between(limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Least and most evaporation and seepage of each step at any storage, hm3, shape (years, steps).

    At least nothing where a lake may be empty: it loses no more than there is.
    """
    if not limits.lake:
        nothing = np.zeros_like(limits.inflow_m3s)
        return nothing, nothing
    evaporation, volume = limits.evaporation_mm * HM3_PER_KM2_MM, limits.hm3_per_m3s
    area, seepage = (_extremes(curve) for curve in limits.lake)
    by_area = [evaporation * each for each in area]
    least, most = (volume * each for each in seepage)
    least_lost = np.minimum(*by_area) + least
    never_empty = limits.storage_lower_hm3.min(axis=1, keepdims=True) > 0
    return np.where(never_empty, least_lost, np.minimum(least_lost, 0.0)), np.maximum(*by_area) + most


def _extremes(curve: Curve) -> tuple[float, float]:
    """Bounds of a curve's values, wherever it is asked: it is held at the ends of its domain."""
    values = curve(np.linspace(*curve.domain, _POINTS))
    between = np.abs(np.diff(values)).max()
    return float(values.min() - between), float(values.max() + between)
