"""Years of a system as problems: the variables are storages at the ends of steps, stacked reservoir by reservoir.

A variable lies between 0 and 1. It is a part of what can be reached (`Coding.RELATIVE`), or of the limits, brought
within what can be reached (`Coding.ABSOLUTE`); upstream first, for only then what flows in below is known.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.benefit import objective_per_stage_benefit
from reservoir.hydro.compiled_year import steps_in, year_at
from reservoir.hydro.conditions import released
from reservoir.hydro.horizon_limits import START_MARGIN, open_limits, with_ends
from reservoir.hydro.jit import compiled
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import Operation
from reservoir.hydro.record_rows import terms_of
from reservoir.hydro.rows import (
    RELEASE_LOWER,
    START,
    STORAGE_LOWER,
    STORAGE_UPPER,
    TERMS,
    YearRows,
    filled_years,
)
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation, operate_system
from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.reservoir.record import RecordProblems, allowed_failures, joined_labels, promising
from reservoir.problems.reservoir.year import (
    FLOAT32_MARGIN,
    ReservoirModel,
    ReservoirYears,
    ends_in_reach,
    release_to_end,
)
from reservoir.problems.stacked import (
    KIND_OF,
    Curves,
    Links,
    SystemContext,
    draft_towards,
    start_range,
)
from reservoir.problems.stacked_kernel import system_contexts, system_kernel


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
    #: Compiled code loops over the variables, whatever their number.
    looped: ClassVar[bool] = True

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
        fixed = [each.is_run_of_river for each in self.system.reservoirs]
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
    def power_target_mw(self) -> FloatArray:
        """Power of all plants of which less is a shortage, shape (years, steps)."""
        return self.terms["power_target"]

    def with_terms(self, **terms: ArrayLike) -> SystemYears:
        """With other terms of the sum of all plants in place of those of their names, of shapes that broadcast."""
        others = {name: np.broadcast_to(term, self.hm3_per_m3s.shape) for name, term in terms.items()}
        return replace(self, terms={**self.terms, **others})

    @property
    def program_key(self) -> Hashable:
        """Years of one system with equally many steps share a program."""
        return id(self.system), self.steps, self.coding

    def linked(self, place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> ReservoirYears:
        """Years of one reservoir with what links bring and the level of the lake below, and the ends it prescribes."""
        limits = self.years[place].limits.linked(arriving_m3s, tailwater_m)
        if self.system.reservoirs[place].initial_storage_hm3 is None:
            starts = np.empty((len(self), 2))
            _start_ranges(limits.arrays(), np.array(START_MARGIN * limits.capacity_hm3), starts)
            return replace(self.years[place], limits=limits.changed(start_bounds_hm3=starts))
        return replace(self.years[place], limits=with_ends(self.system.reservoirs[place], limits))

    @property
    def lossy(self) -> bool:
        """Whether some reservoir has losses or demands, or is backed up: solvers in float32 reckon with all or none."""
        return any(bool(each.limits.lake) for each in self.years)

    def unlinked(self, place: int) -> Limits:
        """Limits of one reservoir with its end and its local inflow, as solvers in float32 fill in what links bring."""
        limits = self._ended(place)
        return limits.with_conditions() if self.lossy else limits

    def _ended(self, place: int) -> Limits:
        reservoir, limits = self.system.reservoirs[place], self.years[place].limits
        start, end = reservoir.initial_storage_hm3, reservoir.final_storage_hm3
        if start is None:
            return limits
        if not any(self.system.into(place)):
            return self.linked(place, None, None).limits
        if reservoir.year_end is YearEnd.FIXED and end is not None:
            limits = limits.ending_within(end, end)
        return limits.begun_at(start)

    def compiled_context(self, *, fine: bool = False) -> SystemContext:
        """Of one year: all that `stacked` reads, in float32."""
        system, models = self.system, [each.model for each in self.years]
        limits = [self.unlinked(place) for place in range(len(models))]
        forms = [(each.fine if fine else each.approximation).plant[:4] for each in models]
        lakes = [each.lake if self.loses(place) else () for place, each in enumerate(models)]
        years = [each.arrays(FLOAT32_MARGIN, np.float32, ((), ())) for each in limits]
        capacity = np.array([each.capacity_hm3[0] for each in limits])
        terms = filled_years({"inflow": np.zeros((1, self.steps)), **self.terms})
        links = self.links
        shape, single = (len(models), self.steps), np.float32
        return SystemContext(
            curves=Curves.of([(*plant, *lake) for plant, lake in zip(forms, lakes, strict=True)]),
            lake=(0,) if self.lossy else (),
            priced=years[0].priced,
            reservoirs=self.places,
            rows=np.stack([each.rows[0, 0] for each in years]),
            numbers=np.stack([each.numbers[0, 0] for each in years]),
            inflow=np.stack([each.inflow[0] for each in years]),
            ends=np.stack([(each.storage_lower[0, -1], each.storage_upper[0, -1]) for each in years]),
            installed_mw=np.array([each.installed_mw for each in system.reservoirs], single),
            slack=np.outer(capacity, (FLOAT32_MARGIN, START_MARGIN)).astype(single),
            end_value=np.array(self.end_values, single),
            terms=np.array(terms.rows[0, 0], single),
            links=links,
            penalty=single(self.penalty),
            per_stage_benefit=single(objective_per_stage_benefit(years[0])),
            absolute=self.coding is Coding.ABSOLUTE,
            storage=np.zeros((len(models), self.steps + 1), single),
            release=np.zeros(shape, single),
            flow=np.zeros((len(links.places), self.steps), single),
            total=np.zeros((2, self.steps), single),
        )

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The curves of all plants, and the file that loops over reservoirs."""
        return system_kernel(self, fine=fine)

    def kernel_contexts(self) -> NDArray[np.float32]:
        """Rows of ``kernels/problems/system/system_year.cl``."""
        return system_contexts(self, self.coding is Coding.ABSOLUTE)

    def kernel_context(self) -> NDArray[np.float32]:
        """The row of one year."""
        return np.asarray(self.kernel_contexts()[0])

    def loses(self, place: int) -> bool:
        """Whether a reservoir loses water."""
        limits = self.years[place].limits
        seeps = self.system.reservoirs[place].seepage_m3s is not None
        return bool(limits.lake) and (seeps or bool(np.any(limits.evaporation_mm)))

    @property
    def links(self) -> Links:
        """The links between reservoirs, as compiled code and kernels read them."""
        return stacked_links(self.system)

    @property
    def places(self) -> NDArray[np.int64]:
        """What is said of each reservoir (`stacked.FIRST` and those behind it)."""
        said = []
        for place, (own, each) in enumerate(zip(self.variables, self.system.reservoirs, strict=True)):
            below, linked = self.system.backed_up_by(place), any(self.system.into(place))
            cyclic = each.initial_storage_hm3 is None
            said.append((*own, cyclic, linked, -1 if below is None else below))
        return np.array(said, np.int64)

    @property
    def end_values(self) -> list[float]:
        """What a hm3 at the end of each reservoir's year is worth, in the unit of the objective."""
        valued = [each.year_end is YearEnd.VALUED for each in self.system.reservoirs]
        reservoirs = zip(valued, self.system.reservoirs, strict=True)
        return [(each.end_value_gwh_per_hm3 or 0.0) if worth else 0.0 for worth, each in reservoirs]

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

    def positions_of(self, operation: SystemOperation, coding: Coding = Coding.RELATIVE) -> FloatArray:
        """Positions that operate like this, relative to what can be reached, shape (years, dimension)."""
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
            _parts(years.exact_year, np.ascontiguousarray(storage), coding is Coding.ABSOLUTE, parts)
            found[:, first + has_start : stop] = parts
        return found

    def fitness_of(self, operation: SystemOperation) -> FloatArray:
        """Benefit less violation cost (eq. 21), and what is left in store is worth, shape (years,)."""
        fitness = operation.fitness(self.penalty)
        for value, own in zip(self.end_values, operation.of_reservoirs, strict=True):
            if value:
                fitness = fitness + value * (own.storage_hm3[:, -1] - own.storage_hm3[:, 0])
        return fitness

    def certify(self, positions: FloatArray) -> Certified:
        """Benefit, violation and fitness of a position of each year in float64."""
        operation = self.operate(positions)
        numbers = self.fitness_of(operation), operation.benefit, operation.violation_sum
        fitness, benefit, violation = (each[0] if self.is_one else each for each in numbers)
        return Certified(fitness, benefit, violation, operation)


@dataclass(frozen=True, eq=False)
class FirmestYears(SystemYears):
    """The same, worth the power that all plants together give in every step: what `slp` alone can plan.

    Parameters
    ----------
    failures : int
        Of how many steps the power does not count, those of the least.
    """

    failures: int = 0

    @property
    def end_values(self) -> list[float]:
        """Nothing."""
        return [0.0] * len(self.years)

    @staticmethod
    def of(batch: SystemYears, share: float) -> FirmestYears:
        """Of years whose own terms do not count, with the power that a share of the steps must give."""
        years = tuple(each.with_terms(power_value=0.0) for each in batch.years)
        failures = allowed_failures(batch.steps, share)
        return FirmestYears(batch.system, years, batch.terms, batch.coding, batch.is_one, failures)

    def failing(self, operation: SystemOperation) -> NDArray[np.bool_]:
        """The steps whose power does not count, shape (years, steps)."""
        power, fails = operation.power_mw, np.zeros(operation.hm3_per_m3s.shape, np.bool_)
        np.put_along_axis(fails, np.argsort(power, axis=1, kind="stable")[:, : self.failures], True, axis=1)
        return fails

    def fitness_of(self, operation: SystemOperation) -> FloatArray:
        """Power, MW, less violation cost."""
        power = np.where(self.failing(operation), np.inf, operation.power_mw)
        return np.asarray(power.min(axis=1) - self.penalty * operation.violation_sum)


def _part(value: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Which part of the way from one to the other; the middle where there is no way."""
    width = upper - lower
    return np.clip(np.divide(value - lower, width, out=np.full_like(value, 0.5), where=width > 0), 0.0, 1.0)


@compiled
def _start_ranges(years: YearRows, slack: FloatArray, starts: FloatArray) -> None:
    """Between which storages each cyclic year may start."""
    for index in range(len(starts)):
        starts[index, 0], starts[index, 1] = start_range(year_at(years, index), slack[index])


@compiled
def _releases(years: YearRows, parts: FloatArray, absolute: bool, wanted: FloatArray) -> None:
    """Releases that lead to the storages that variables stand for; what has no variable is the lowest in reach."""
    for index in range(len(wanted)):
        year = year_at(years, index)
        storage = before = year.numbers[START]
        for step in range(steps_in(year)):
            part = parts[index, step] if step < parts.shape[1] else 0.0
            wanted[index, step], draft, storage = draft_towards(year, step, storage, before, part, absolute)
            before = released(year, step, draft, year.rows[RELEASE_LOWER, step])


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
def _parts(years: YearRows, storages: FloatArray, absolute: bool, parts: FloatArray) -> None:
    """Which part of what can be reached, or of the limits, each storage is; the middle where there is no choice."""
    for index in range(len(parts)):
        year = year_at(years, index)
        start = year.numbers[START]
        for step in range(parts.shape[1]):
            lower, upper = ends_in_reach(year, step, storages[index, step], start)
            if absolute:
                lower, upper = year.rows[STORAGE_LOWER, step], year.rows[STORAGE_UPPER, step]
            part = (storages[index, step + 1] - lower) / (upper - lower) if upper > lower else 0.5
            parts[index, step] = min(max(part, 0.0), 1.0)


def highest_tailwater(system: System, place: int) -> float:
    """Highest level, m, of the lake below that backs a reservoir up; minus infinity without one."""
    below = system.backed_up_by(place)
    if below is None:
        return -math.inf
    lake = system.reservoirs[below]
    return float(lake.level(float(lake.storage_upper_hm3.max())))


def stacked_links(system: System) -> Links:
    """The links between reservoirs, as compiled code and kernels read them."""
    inner = [link for link in system.links if link.target is not None]
    places, numbers = np.zeros((len(inner), 5), np.int64), np.zeros((len(inner), 5), np.float32)
    for row, link in enumerate(inner):
        source, before = system.names.index(link.source), link.before_m3s or 0.0
        whole, later = divmod(link.travel_steps, 1.0)
        wraps = system.reservoirs[source].year_end is YearEnd.CYCLIC
        carried, share = link.part_and_share
        places[row] = source, system.names.index(str(link.target)), KIND_OF[carried], whole, wraps
        numbers[row] = share, 1.0 - link.lost_share, link.lost_m3s, link.of_release(before, before), later
    return Links(places, numbers)


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
    models = [ReservoirModel.of(each, highest_tailwater(system, place)) for place, each in enumerate(system.reservoirs)]
    for first, stop, length in horizon.equal_spans(inflows.years):
        named = labels[first:stop] if length == 1 else joined_labels(labels[first:stop], length)
        years = tuple(
            ReservoirYears(model, limits[first:stop].joined(length), named, streams[first:stop:length])
            for model, limits in zip(models, opened, strict=True)
        )
        of_sum = {name: term[first:stop].reshape(len(named), -1) for name, term in terms.items()}
        batch = SystemYears(system, years, of_sum)
        promised = system.objective.firm_power_mw
        share = system.objective.firm_share
        batches.append(batch if promised is None else promising(batch, np.full(len(batch), promised), share))
    return RecordProblems(horizon, inflows, tuple(batches))  # type: ignore[arg-type]
