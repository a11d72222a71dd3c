"""Years of a system as problems: the variables are storages at the ends of steps, stacked reservoir by reservoir.

A variable lies between 0 and 1. It is a part of what can be reached (`Coding.RELATIVE`), or of the limits, brought
within what can be reached (`Coding.ABSOLUTE`); upstream first, for only then what flows in below is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.compiled_year import steps_in, year_at
from reservoir.hydro.horizon_limits import open_limits, with_ends
from reservoir.hydro.jit import compiled
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import Operation
from reservoir.hydro.record_rows import terms_of
from reservoir.hydro.rows import START, STORAGE_LOWER, STORAGE_UPPER, TERMS, YearRows
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation, operate_system
from reservoir.problems.base import Certified, FloatArray
from reservoir.problems.reservoir.record import RecordProblems, joined_labels
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears, ends_in_reach, release_to_end


class Coding(StrEnum):
    """What a variable is a part of."""

    RELATIVE = "relative"
    """Of what can be reached: best where the head counts."""
    ABSOLUTE = "absolute"
    """Of the limits: best where optima lie at them."""


class Variables(NamedTuple):
    """The variables of one reservoir: their places, and whether the first is the start of a cyclic year."""

    first: int
    stop: int
    has_start: bool


@dataclass(frozen=True, eq=False)
class SystemYears(Sequence["SystemYears"]):
    """Years of a system as arrays with a leading axis (implements `Batch`; ``years[i]`` is one: `Problem`).

    Parameters
    ----------
    system : System
        With all that is under way at the start of a year.
    years : tuple of ReservoirYears
        Of each reservoir, with its local inflow, nothing said of the ends.
    terms : mapping of str to ndarray, shape (years, steps)
        Terms of the objective that are of the sum of all plants.
    coding : Coding
    is_one : bool
        Whether it is one year: positions and results are without the axis of years.
    """

    system: System
    years: tuple[ReservoirYears, ...]
    terms: Mapping[str, FloatArray]
    coding: Coding = Coding.RELATIVE
    is_one: bool = False

    def __len__(self) -> int:
        return len(self.years[0])

    def __getitem__(self, index: Any) -> SystemYears:
        one = not isinstance(index, slice | np.ndarray)
        some = slice(place := range(len(self))[index], place + 1) if one else index
        terms = {name: term[some] for name, term in self.terms.items()}
        return replace(self, years=tuple(each[some] for each in self.years), terms=terms, is_one=one)

    @staticmethod
    def batch(years: Sequence[SystemYears]) -> SystemYears:
        """Single years of one program as arrays."""
        first = years[0]
        of_each = (ReservoirYears.batch([year.years[place][0] for year in years]) for place in range(len(first.years)))
        terms = {name: np.concatenate([year.terms[name] for year in years]) for name in first.terms}
        return replace(first, years=tuple(of_each), terms=terms, is_one=False)

    @property
    def model(self) -> SystemYears:
        """What knows the system."""
        return self

    @property
    def limits(self) -> Limits:
        """Those of the first reservoir, which has as many steps as any."""
        return self.years[0].limits

    @property
    def labels(self) -> Sequence[str]:
        """Names of the years."""
        return self.years[0].labels

    @property
    def label(self) -> str:
        """Name of the year, if it is one."""
        return self.labels[0]

    @property
    def rng_stream_ids(self) -> NDArray[np.int64]:
        """What names their random numbers."""
        return self.years[0].rng_stream_ids

    @property
    def rng_stream_id(self) -> int:
        """What names the random numbers of the year, if it is one."""
        return int(self.rng_stream_ids[0])

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.limits.steps

    @property
    def hm3_per_m3s(self) -> FloatArray:
        """Volume of a flow of 1 m3/s, shape (years, steps)."""
        return self.limits.hm3_per_m3s

    @property
    def penalty(self) -> float:
        """Penalty factor (eq. 21)."""
        return self.system.penalty

    @cached_property
    def variables(self) -> tuple[Variables, ...]:
        """The variables of each reservoir: none of a run-of-river plant, one less than steps where the end is fixed."""
        ends = [each.year_end for each in self.system.reservoirs]
        fixed = [each.storage_lower_hm3.min() == each.storage_upper_hm3.max() for each in self.system.reservoirs]
        counts = [0 if rigid else self.steps - (end is YearEnd.FIXED) for rigid, end in zip(fixed, ends, strict=True)]
        places = pairwise(np.cumsum([0, *counts]).tolist())
        return tuple(
            Variables(first, stop, end is YearEnd.CYCLIC and stop > first)
            for (first, stop), end in zip(places, ends, strict=True)
        )

    @property
    def dimension(self) -> int:
        """Number of variables."""
        return self.variables[-1].stop

    @property
    def lower(self) -> FloatArray:
        """Lower bounds: 0."""
        return np.zeros(self.dimension)

    @property
    def upper(self) -> FloatArray:
        """Upper bounds: 1."""
        return np.ones(self.dimension)

    @property
    def program_key(self) -> Hashable:
        """Years of one system with equally many steps share a program."""
        return id(self.system), self.steps, self.coding

    def linked(self, place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> ReservoirYears:
        """Years of one reservoir with what links bring and the level of the lake below, and the ends it prescribes."""
        limits = self.years[place].limits
        if arriving_m3s is not None:
            limits = limits.changed(inflow=limits.inflow_m3s + arriving_m3s)
        if tailwater_m is not None:
            limits = limits.changed(tailwater=tailwater_m)
        return replace(self.years[place], limits=with_ends(self.system.reservoirs[place], limits))

    def operate(self, positions: FloatArray) -> SystemOperation:
        """Run a position of each year in float64."""
        parts = np.atleast_2d(positions)

        def run(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
            first, stop, has_start = self.variables[place]
            years, own = self.linked(place, arriving_m3s, tailwater_m), parts[:, first:stop]
            if years.limits.cyclic:
                lowest, highest = years.limits.start_bounds_hm3.T
                start = lowest + (own[:, 0] if has_start else 0.0) * (highest - lowest)
                years, own = replace(years, limits=years.limits.starting_at(start)), own[:, 1:]
            wanted = np.empty((len(years), self.steps))
            _releases(years.exact_year, np.ascontiguousarray(own), self.coding is Coding.ABSOLUTE, wanted)
            return years.operate(wanted)

        return operate_system(self.system, self.hm3_per_m3s, run, self.terms)

    def operate_releases(self, releases_m3s: FloatArray, starts_hm3: FloatArray | None = None) -> SystemOperation:
        """Run releases of each year, shape (years, reservoirs, steps), from starts, shape (years, reservoirs).

        Starts count for cyclic years alone.
        """

        def run(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
            years = self.linked(place, arriving_m3s, tailwater_m)
            if years.limits.cyclic:
                assert starts_hm3 is not None
                years = replace(years, limits=years.limits.starting_at(starts_hm3[:, place]))
            return years.operate(np.ascontiguousarray(releases_m3s[:, place]))

        return operate_system(self.system, self.hm3_per_m3s, run, self.terms)

    def operate_storages(self, storages_hm3: FloatArray) -> SystemOperation:
        """Run each year with releases that lead to storages as far as can be, shape (years, reservoirs, steps + 1).

        The first storage counts in cyclic years alone.
        """

        def run(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
            years, storage = self.linked(place, arriving_m3s, tailwater_m), storages_hm3[:, place]
            if years.limits.cyclic:
                start = np.clip(storage[:, 0], *years.limits.start_bounds_hm3.T)
                years = replace(years, limits=years.limits.starting_at(start))
            wanted = np.empty((len(years), self.steps))
            _releases_towards(years.exact_year, np.ascontiguousarray(storage), wanted)
            return years.operate(wanted)

        return operate_system(self.system, self.hm3_per_m3s, run, self.terms)

    def positions_of(self, operation: SystemOperation) -> FloatArray:
        """Positions, relative to what can be reached, that operate like this, shape (years, dimension)."""
        found = np.zeros((len(self), self.dimension))
        for place, own in enumerate(operation.of_reservoirs):
            first, stop, has_start = self.variables[place]
            if first == stop:
                continue
            years, storage = self.linked(place, operation.arriving_m3s[place], None), own.storage_hm3
            if has_start:
                lowest, highest = years.limits.start_bounds_hm3.T
                found[:, first] = _part(storage[:, 0], lowest, highest)
                years = replace(years, limits=years.limits.starting_at(storage[:, 0]))
            parts = np.empty((len(self), stop - first - has_start))
            _parts(years.exact_year, np.ascontiguousarray(storage), parts)
            found[:, first + has_start : stop] = parts
        return found

    def fitness_of(self, operation: SystemOperation) -> FloatArray:
        """Benefit less violation cost (eq. 21), and what is left in store is worth, shape (years,)."""
        fitness = operation.fitness(self.penalty)
        for reservoir, own in zip(self.system.reservoirs, operation.of_reservoirs, strict=True):
            if reservoir.year_end is YearEnd.VALUED:
                change = own.storage_hm3[:, -1] - own.storage_hm3[:, 0]
                fitness = fitness + (reservoir.end_value_gwh_per_hm3 or 0.0) * change
        return fitness

    def certify(self, positions: FloatArray) -> Certified:
        """Benefit, violation and fitness of a position of each year in float64."""
        operation = self.operate(positions)
        numbers = self.fitness_of(operation), operation.benefit, operation.violation_sum
        fitness, benefit, violation = (each[0] if self.is_one else each for each in numbers)
        return Certified(fitness, benefit, violation, operation)


def _part(value: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Which part of the way from one to the other; the middle where there is no way."""
    width = upper - lower
    return np.clip(np.divide(value - lower, width, out=np.full_like(value, 0.5), where=width > 0), 0.0, 1.0)


@compiled
def _releases(years: YearRows, parts: FloatArray, absolute: bool, wanted: FloatArray) -> None:
    """Releases that lead to the storages that variables stand for; what has no variable is the lowest in reach."""
    for index in range(len(wanted)):
        year = year_at(years, index)
        start = year.numbers[START]
        storage = start
        for step in range(steps_in(year)):
            lower, upper = ends_in_reach(year, step, storage, start)
            part = parts[index, step] if step < parts.shape[1] else 0.0
            target = lower + part * (upper - lower)
            if absolute:
                least, most = year.rows[STORAGE_LOWER, step], year.rows[STORAGE_UPPER, step]
                target = min(max(least + part * (most - least), lower), upper)
            wanted[index, step], storage = release_to_end(year, step, storage, target)


@compiled
def _releases_towards(years: YearRows, storages: FloatArray, wanted: FloatArray) -> None:
    """Releases that lead as near to storages as limits and what comes later allow."""
    for index in range(len(wanted)):
        year = year_at(years, index)
        start = year.numbers[START]
        storage = start
        for step in range(steps_in(year)):
            lower, upper = ends_in_reach(year, step, storage, start)
            target = min(max(storages[index, step + 1], lower), upper)
            wanted[index, step], storage = release_to_end(year, step, storage, target)


@compiled
def _parts(years: YearRows, storages: FloatArray, parts: FloatArray) -> None:
    """Which part of what can be reached each storage is; the middle where there is no choice."""
    for index in range(len(parts)):
        year = year_at(years, index)
        start = year.numbers[START]
        for step in range(parts.shape[1]):
            lower, upper = ends_in_reach(year, step, storages[index, step], start)
            part = (storages[index, step + 1] - lower) / (upper - lower) if upper > lower else 0.5
            parts[index, step] = min(max(part, 0.0), 1.0)


def system_problems(system: System, inflows: SiteInflows, horizon: Horizon) -> RecordProblems:
    """Cut a record of several sites into problems of a system.

    Raises
    ------
    InputError
        If system and record do not fit each other.
    """
    inflows = SiteInflows({name: system.on_calendar(inflows[name]) for name in system.names})
    system, horizon = system.under_way(list(inflows.values())), horizon.within(inflows.calendar)
    batches, labels, streams = [], inflows.first.labels, inflows.first.rng_stream_ids
    opened, terms = [], dict[str, FloatArray]()
    for place, (reservoir, inflow) in enumerate(zip(system.reservoirs, inflows.values(), strict=True)):
        backed_up = system.backed_up_by(place) is not None
        limits = open_limits(System.of(reservoir), inflow, conditions=backed_up)
        every = terms_of(system, inflow)
        if every:  # what power is worth is of each plant, the rest of the sum of all
            nothing = np.zeros_like(every["power_value"])
            own = dict.fromkeys(TERMS, nothing) | {name: every[name] for name in ("power_value", "power_cost_most")}
            limits, terms = limits.with_terms(own), {**every, "power_value": nothing}
        opened.append(limits)
    for first, stop, length in horizon.equal_spans(inflows.years):
        named = labels[first:stop] if length == 1 else joined_labels(labels[first:stop], length)
        years = tuple(
            ReservoirYears(
                ReservoirModel.of(reservoir), limits[first:stop].joined(length), named, streams[first:stop:length]
            )
            for reservoir, limits in zip(system.reservoirs, opened, strict=True)
        )
        of_sum = {name: term[first:stop].reshape(len(named), -1) for name, term in terms.items()}
        batches.append(SystemYears(system, years, of_sum))
    return RecordProblems(horizon, inflows, tuple(batches))  # type: ignore[arg-type]
