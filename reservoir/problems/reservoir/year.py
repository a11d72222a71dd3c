"""Years of a reservoir as problems: releases are the variables, and in a cyclic year its start storage."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from reservoir.hydro.benefit import objective_per_stage_benefit
from reservoir.hydro.calendar import some_labels
from reservoir.hydro.commitments import with_misses
from reservoir.hydro.compiled_year import (
    benefit_of,
    follow,
    follow_repairable,
    lower_reach,
    power_violation,
    steps_in,
    upper_reach,
)
from reservoir.hydro.conditions import end_value
from reservoir.hydro.curves.approximation import (
    FINE,
    Approximation,
    Form,
    FormRanges,
    approximate,
    approximate_lake,
    padded,
)
from reservoir.hydro.elementwise import RealArray, clip
from reservoir.hydro.horizon_limits import year_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.jit import inlined
from reservoir.hydro.limits import Limits, always_repairable
from reservoir.hydro.operation import Operation, better_of, operate
from reservoir.hydro.plant import Plant, exact_plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import DEAD, HM3_PER_M3S, INFLOW, RELEASE_LOWER, RELEASE_UPPER, START, YearRows
from reservoir.hydro.step import release_to_reach, storage_after, there_is
from reservoir.hydro.system import System
from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.fitness import Scratch, register_fitness, register_position
from reservoir.problems.reservoir.plant_source import (
    STEP_FILES,
    plant_constants,
    plant_numbers,
    plant_source,
    within_constants,
)
from reservoir.problems.reservoir.rows import kernel_rows, year_layout


class ReservoirContext(NamedTuple):
    """What compiled solvers read, in float32."""

    plant: Plant
    year: YearRows
    penalty: Any
    per_stage_benefit: Any


class RepairableContext(NamedTuple):
    """The same of a year that is always repairable: no violation, and curves that need not be held at their ends."""

    plant: Plant
    year: YearRows
    flow_per_volume: Any
    per_stage_benefit: Any


def _fitness(context: ReservoirContext, position: RealArray, scratch: Scratch) -> float:
    releases, storages = _started(context.year, position, scratch)
    violation = follow(context.year, position, releases, storages)
    benefit = benefit_of(context.plant, context.year, releases, storages, context.per_stage_benefit)
    violation += power_violation(context.plant, context.year, releases, storages)
    change = end_value(context.year, storages[0], storages[steps_in(context.year)])
    fitness: float = benefit - context.penalty * violation + change
    return fitness


def _fitness_repairable(context: RepairableContext, position: RealArray, scratch: Scratch) -> float:
    releases, storages = _started(context.year, position, scratch)
    follow_repairable(context.year, context.flow_per_volume, position, releases, storages)
    return benefit_of(context.plant, context.year, releases, storages, context.per_stage_benefit)


@inlined
def _started(year: YearRows, position: RealArray, scratch: Scratch) -> tuple[RealArray, RealArray]:
    releases, storages = scratch[0], scratch[1]
    storages[0] = position[steps_in(year)] if year.cyclic else year.numbers[START]
    return releases, storages


def _repair(context: ReservoirContext, position: RealArray, scratch: Scratch) -> None:
    releases, rows = scratch[0], context.year.rows
    for step in range(steps_in(context.year)):
        position[step] = min(max(releases[step], rows[RELEASE_LOWER, step]), rows[RELEASE_UPPER, step])


register_fitness(ReservoirContext, _fitness, repair=_repair)
register_fitness(RepairableContext, _fitness_repairable, repair=_repair)


class StorageCoding(NamedTuple):
    """What compiled code reads, in float32."""

    year: YearRows
    start_lower: np.float32
    start_upper: np.float32


def _position(coding: StorageCoding, parts: RealArray, position: RealArray) -> None:
    year = coding.year
    storage, first = year.numbers[START], 0
    if year.cyclic:
        storage = coding.start_lower + parts[0] * (coding.start_upper - coding.start_lower)
        position[steps_in(year)] = storage
        first = 1
    start = storage
    for step in range(steps_in(year)):
        at = step + first
        part = parts[at] if at < len(parts) else parts[0] - parts[0]
        position[step], storage = _release_to(year, step, storage, start, part)


@inlined
def _release_to(year: YearRows, step: int, storage: float, start: float, part: float) -> tuple[float, float]:
    """Release of a step, and the storage that it leaves."""
    lower, upper = ends_in_reach(year, step, storage, start)
    target = lower + part * (upper - lower)
    return release_to_end(year, step, storage, target)


@inlined
def ends_in_reach(year: YearRows, step: int, storage: float, start: float) -> tuple[float, float]:
    """Lowest and highest storage at the end of a step that begins at one, from which the year can be completed."""
    per_flow, inflow = year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
    least = storage_after(storage, inflow, year.rows[RELEASE_UPPER, step], per_flow, year, step)
    most = storage_after(storage, inflow, year.rows[RELEASE_LOWER, step], per_flow, year, step)
    return max(lower_reach(year, step, start), least), min(upper_reach(year, step, start), most)


@inlined
def release_to_end(year: YearRows, step: int, storage: float, target: float) -> tuple[float, float]:
    """Release of a step that is to end at a storage, within its bounds, and the storage that it leaves."""
    per_flow, inflow = year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
    wanted = release_to_reach(storage, target, inflow, per_flow, year, step)
    release = clip(wanted, year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step])
    end = storage_after(storage, inflow, release, per_flow, year, step)
    _, end = there_is(storage, release, end, inflow, per_flow, year.numbers[DEAD], year, step)
    return release, end


register_position(StorageCoding, _position)


#: Reachable bounds of float32 solvers are drawn in by this part of the largest storage, some units in the last place.
FLOAT32_MARGIN = 1e-6


@dataclass(frozen=True)
class ReservoirModel:
    """A system of one reservoir in the two forms that solvers need; shared by all its years.

    A lake below backs it up to a highest level, `tailwater_m`, if there is one. Forms of the curves are on
    the first of `ranges` that its limits lie in, if any are given (`form_ranges`).
    """

    system: System
    exact: Plant
    tailwater_m: float = -math.inf
    ranges: tuple[FormRanges, ...] = ()

    @property
    def reservoir(self) -> Reservoir:
        """The reservoir."""
        return self.system.reservoir

    @staticmethod
    def of(reservoir: Reservoir, tailwater_m: float = -math.inf, ranges: tuple[FormRanges, ...] = ()) -> ReservoirModel:
        """Compile the curves, once a reservoir; their forms are fitted where they are asked for."""
        return _model_of(reservoir, tailwater_m, ranges)

    @cached_property
    def approximation(self) -> Approximation:
        """Forms of the curves; raises InputError where there are none that are close enough."""
        return approximate(self.reservoir, tailwater_m=self.tailwater_m, ranges=self.ranges)

    @cached_property
    def fine(self) -> Approximation:
        """Closer forms, which cost more."""
        return approximate(self.reservoir, FINE, self.tailwater_m, self.ranges)

    @cached_property
    def lake(self) -> tuple[Form, Form]:
        """Forms of area and seepage by storage."""
        return approximate_lake(self.reservoir, self.ranges)

    @property
    def compiled_lake(self) -> tuple[Form, Form]:
        """The same for compiled code (`padded`)."""
        area, seepage = map(padded, self.lake)
        return area, seepage


@lru_cache(maxsize=16)
def _model_of(reservoir: Reservoir, tailwater_m: float, ranges: tuple[FormRanges, ...]) -> ReservoirModel:
    return ReservoirModel(System.of(reservoir), exact_plant(reservoir), tailwater_m, ranges)


@dataclass(frozen=True, eq=False)
class ReservoirYears(Sequence["ReservoirYears"]):
    """Years of a reservoir as arrays with a leading axis (implements `Batch`).

    ``years[i]`` is one year: the same without the axis of years, as are its limits and results (implements `Problem`).

    Parameters
    ----------
    model : ReservoirModel
        The reservoir.
    limits : Limits
        Inflow and bounds of the years.
    labels : sequence of str
        Names of the years, slices of which are sequences too.
    rng_stream_ids : ndarray, shape (years,)
        What names their random numbers, see `Inflow.rng_stream_ids`.
    """

    model: ReservoirModel
    limits: Limits
    labels: Sequence[str]
    rng_stream_ids: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int | slice | NDArray[np.integer]) -> ReservoirYears:  # type: ignore[override]
        if isinstance(index, slice | np.ndarray):
            labels, streams = some_labels(self.labels, index), self.rng_stream_ids[index]
        else:
            labels, streams = (self.labels[index],), self.rng_stream_ids[index, np.newaxis]
        return ReservoirYears(self.model, self.limits[index], labels, streams)

    @staticmethod
    def batch(years: Sequence[ReservoirYears]) -> ReservoirYears:
        """Single years of one program as arrays."""
        limits, streams = Limits.of([year.limits for year in years]), [year.rng_stream_id for year in years]
        return ReservoirYears(years[0].model, limits, tuple(year.label for year in years), np.array(streams))

    @property
    def label(self) -> str:
        """Name of the year, if it is one."""
        return self.labels[0]

    @property
    def rng_stream_id(self) -> int:
        """What names the random numbers of the year, if it is one."""
        return int(self.rng_stream_ids[0])

    @property
    def power_target_mw(self) -> FloatArray:
        """Power of which less is a shortage, shape (years, steps)."""
        return self.limits.power_target

    def with_terms(self, **terms: ArrayLike) -> ReservoirYears:
        """With other terms of the objective in place of those of their names, of shapes that broadcast."""
        return replace(self, limits=self.limits.changed(**terms))

    @property
    def dimension(self) -> int:
        """Steps, and one more in a cyclic year."""
        return self.limits.steps + int(self.limits.cyclic)

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds of the releases, m3/s, and of the start, hm3, in a cyclic year."""
        return self._with_start(self.limits.release_lower_m3s, 0)

    @cached_property
    def upper(self) -> FloatArray:
        """Upper bounds of the releases, m3/s, and of the start, hm3, in a cyclic year."""
        return self._with_start(self.limits.release_upper_m3s, 1)

    def _with_start(self, releases: FloatArray, bound: int) -> FloatArray:
        starts = self.limits.start_bounds_hm3[..., bound : bound + 1]
        return np.concatenate([releases, starts], axis=-1) if self.limits.cyclic else np.array(releases)

    @cached_property
    def exact_year(self) -> YearRows:
        """The limits in float64, as compiled code reads them."""
        return self.limits.arrays()

    @cached_property
    def _saving_year(self) -> YearRows:
        return self.limits.arrays(saving=True)

    @property
    def penalty(self) -> float:
        """Penalty factor (eq. 21)."""
        return self.model.system.penalty

    @property
    def program_key(self) -> Hashable:
        """Years of one reservoir with equally many steps share a program."""
        limits = self.limits
        return id(self.model), limits.steps, limits.cyclic, bool(limits.lake), limits.priced

    def operate(self, positions: FloatArray) -> Operation:
        """Run a position of each year in float64 (`hydro.operation.operate`), with what misses its commitments."""
        return with_misses(self.model.reservoir, self._operate(positions), self.limits.hm3_per_m3s)

    def _operate(self, positions: FloatArray) -> Operation:
        releases, starts = np.split(positions, [self.limits.steps], axis=-1)
        if self.limits.reaches_down and not self.limits.cyclic:
            # Searches hold water back before such a lake comes up again, dynamic programming does not: the better.
            found, saved = (operate(self.model.exact, each, releases) for each in (self.exact_year, self._saving_year))
            return better_of(found, saved, np.asarray(self._fitness(saved) > self._fitness(found)))
        if not self.limits.cyclic:
            return operate(self.model.exact, self.exact_year, releases)
        if not self.limits.lake:
            return operate(self.model.exact, self.exact_year, releases, starts[..., 0])
        # How the reach of a cyclic year follows its start is a straight line, which losses are not quite: here exactly.
        return operate(self.model.exact, self.limits.starting_at(starts[..., 0]).arrays(), releases)

    def _fitness(self, operation: Operation) -> FloatArray:
        fitness, storage, year = operation.fitness(self.penalty), operation.storage_hm3, self.exact_year
        return np.asarray(fitness + year.end_value * (storage[..., -1] - storage[..., 0]) if year.lake else fitness)

    def certify(self, positions: FloatArray) -> Certified:
        """Benefit, violation and fitness of a position of each year in float64."""
        operation = self.operate(positions)
        fitness, benefit, violation = self._fitness(operation), operation.benefit, operation.violation_sum
        return Certified(fitness[()], benefit[()], violation[()], operation)  # numbers of one year

    def kernel_rows(self, margin: float, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
        """Rows of a kernel's contexts, with reachable bounds drawn in by `margin`."""
        return kernel_rows(self.limits, margin, self.penalty, plant_numbers(self.model.reservoir), dtype)

    def kernel_contexts(self) -> NDArray[np.float32]:
        """Rows of ``kernels/problems/reservoir/reservoir_year.cl``."""
        return self.kernel_rows(FLOAT32_MARGIN, np.float32)

    kernel_context = kernel_contexts

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Curves as source, and the file that reads them."""
        limits, forms = self.limits, self.model.fine if fine else self.model.approximation
        constants = {"STEPS": limits.steps, "CYCLIC": int(limits.cyclic), **plant_constants(terms=limits.priced)}
        constants |= {**year_layout(limits).constants(), **({"CONDITIONS": 1} if limits.lake else {})}
        (fitting,) = within_constants([(forms, self.model.lake if limits.lake else None)])
        source = plant_source(*fitting)
        return KernelProblem(source, (*STEP_FILES, "problems/reservoir/reservoir_year.cl"), constants)

    def compiled_context(self, *, fine: bool = False) -> ReservoirContext | RepairableContext:
        """Of one year: the year and the plant's forms in float32."""
        year = self._float32_year()
        per_stage_benefit = np.float32(objective_per_stage_benefit(year))
        forms = self.model.fine if fine else self.model.approximation
        if always_repairable(self.limits, self.limits.arrays(FLOAT32_MARGIN)):
            return RepairableContext(forms.unheld_plant, year, 1 / year.hm3_per_m3s, per_stage_benefit)
        return ReservoirContext(forms.compiled_plant, year, np.float32(self.penalty), per_stage_benefit)

    def _float32_year(self) -> YearRows:
        lake = self.model.compiled_lake if self.limits.lake else None
        return self.limits.arrays(FLOAT32_MARGIN, np.float32, lake)

    @property
    def exchange_weights(self) -> NDArray[np.float32]:
        """Volume of a m3/s in each step: releases may be exchanged by it, as ``exchange_weight`` of kernels has it."""
        return np.asarray(self.limits.arrays().hm3_per_m3s, np.float32)

    def compiled_coding(self) -> tuple[StorageCoding, int]:
        """Storages as variables in place of releases, all of them feasible, and how many there are to choose."""
        limits = self.limits
        closed = not limits.cyclic and limits.storage_lower_hm3[-1] == limits.storage_upper_hm3[-1]
        lower, upper = (np.float32(bound) for bound in limits.start_bounds_hm3)
        return StorageCoding(self._float32_year(), lower, upper), limits.steps - int(closed)


def reservoir_problems(reservoir: Reservoir, inflow: Inflow) -> ReservoirYears:
    """Every water year of a record as a problem.

    Raises
    ------
    InputError
        If reservoir and record begin their water years in different months, or the curves cannot be approximated.
    """
    model = ReservoirModel.of(reservoir)
    inflow = model.system.on_calendar(inflow)
    return ReservoirYears(model, year_limits(model.system, inflow), inflow.labels, inflow.rng_stream_ids)
