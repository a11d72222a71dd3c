"""A year of a reservoir as a problem: its releases are the variables, and in a cyclic year its start storage."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.curves.approximation import FINE, Approximation, approximate
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import EXACT_MARGIN, YearLimits, always_repairable, year_limits
from reservoir.hydro.objective import Operation, benefits_and_violations, operate
from reservoir.hydro.plant import Plant, exact_plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.stacked_limits import StackedLimits
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.reservoir.fitness import RepairableContext, ReservoirContext
from reservoir.problems.reservoir.plant_source import STEP_FILE, plant_constants, plant_source
from reservoir.problems.reservoir.rows import kernel_rows
from reservoir.problems.reservoir.storage_coding import StorageCoding

#: Reachable bounds of float32 solvers are drawn in by this part of the largest storage, some units in the last place.
FLOAT32_MARGIN = 1e-6


@dataclass(frozen=True)
class ReservoirModel:
    """A reservoir in the two forms that solvers need; shared by all its years."""

    reservoir: Reservoir
    exact: Plant
    approximation: Approximation

    @classmethod
    def of(cls, reservoir: Reservoir) -> ReservoirModel:
        """Compile the curves and fit their forms; raises InputError where they cannot be fitted."""
        return cls(reservoir, exact_plant(reservoir), approximate(reservoir))

    @cached_property
    def fine(self) -> Approximation:
        """Closer forms, which cost more."""
        return approximate(self.reservoir, FINE)


@dataclass(frozen=True)
class ReservoirYear:
    """One year of a reservoir (implements `Problem`).

    Parameters
    ----------
    model : ReservoirModel
        The reservoir.
    limits : YearLimits
        Inflow and bounds of the year.
    label : str
        Name of the year.
    rng_stream_id : int
        Calendar year in which it begins: names its random numbers.
    """

    model: ReservoirModel
    limits: YearLimits
    label: str
    rng_stream_id: int

    @property
    def dimension(self) -> int:
        """Steps, and one more in a cyclic year."""
        return self.limits.steps + int(self.limits.cyclic)

    @cached_property
    def lower(self) -> FloatArray:
        """Lower bounds of the releases, m3/s, and of the start, hm3, in a cyclic year."""
        start = [self.limits.start_bounds_hm3[0]] if self.limits.cyclic else []
        return np.concatenate([self.limits.release_lower_m3s, start])

    @cached_property
    def upper(self) -> FloatArray:
        """Upper bounds of the releases, m3/s, and of the start, hm3, in a cyclic year."""
        start = [self.limits.start_bounds_hm3[1]] if self.limits.cyclic else []
        return np.concatenate([self.limits.release_upper_m3s, start])

    @cached_property
    def exact_year(self) -> YearArrays:
        """The year in float64."""
        return self.limits.arrays()

    @property
    def penalty_gwh(self) -> float:
        """Penalty factor (eq. 21)."""
        return self.model.reservoir.penalty_gwh

    @property
    def program_key(self) -> Hashable:
        """Years of one reservoir with equally many steps share a program."""
        return id(self.model), self.limits.steps, self.limits.cyclic

    def operate(self, position: FloatArray) -> Operation:
        """Run the year in float64 (`hydro.objective.operate`)."""
        steps = self.limits.steps
        start = float(position[steps]) if self.limits.cyclic else None
        return operate(self.model.exact, self.exact_year, position[:steps], start)

    def certify(self, position: FloatArray) -> Certified:
        """Benefit, violation and fitness in float64."""
        operation = self.operate(position)
        return Certified(
            operation.fitness_gwh(self.penalty_gwh), operation.benefit_gwh, float(operation.violation.sum())
        )

    @staticmethod
    def stacked_certificates(years: Sequence[ReservoirYear], positions: Sequence[FloatArray]) -> list[Certified]:
        """`certify` for a position of each year, of years of one signature."""
        limits, model = StackedLimits.of([year.limits for year in years]), years[0].model
        releases, starts = np.split(np.concatenate(positions).reshape(len(years), -1), [years[0].limits.steps], axis=1)
        start = starts[:, 0] if limits.cyclic else None
        benefits, violations = benefits_and_violations(model.exact, limits.arrays(EXACT_MARGIN), releases, start)
        fitness = benefits - years[0].penalty_gwh * violations
        return [
            Certified(*worth) for worth in zip(fitness.tolist(), benefits.tolist(), violations.tolist(), strict=True)
        ]

    def compiled_context(self) -> ReservoirContext | RepairableContext:
        """The year and the plant's forms in float32."""
        year = self.limits.arrays(FLOAT32_MARGIN, np.float32)
        forms, constants = self.model.approximation, (np.float32(0.5), np.float32(GWH_PER_MW_VOLUME))
        if always_repairable(self.limits, self.limits.arrays(FLOAT32_MARGIN)):
            return RepairableContext(forms.unheld_plant, year, 1 / year.hm3_per_m3s, *constants)
        return ReservoirContext(forms.plant, year, np.float32(self.penalty_gwh), *constants)

    def compiled_coding(self) -> tuple[StorageCoding, int]:
        """Storages as variables in place of releases, all of them feasible, and how many there are to choose."""
        limits = self.limits
        closed = not limits.cyclic and limits.storage_lower_hm3[-1] == limits.storage_upper_hm3[-1]
        lower, upper = (np.float32(bound) for bound in limits.start_bounds_hm3)
        return StorageCoding(limits.arrays(FLOAT32_MARGIN, np.float32), lower, upper), limits.steps - int(closed)

    def kernel_context(self) -> NDArray[np.float32]:
        """Row of ``kernels/problems/reservoir/reservoir_year.cl``."""
        return self.stacked_contexts([self])[0]

    @staticmethod
    def stacked_contexts(years: Sequence[ReservoirYear]) -> NDArray[np.float32]:
        """`kernel_context` of years of one signature, a row each."""
        return ReservoirYear.kernel_rows(years, FLOAT32_MARGIN).astype(np.float32)

    @staticmethod
    def kernel_rows(years: Sequence[ReservoirYear], margin: float) -> FloatArray:
        """The same in float64, with one margin or another."""
        return kernel_rows(StackedLimits.of([year.limits for year in years]), margin, years[0].penalty_gwh)

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Curves as source, and the file that reads them."""
        plant = (self.model.fine if fine else self.model.approximation).plant
        constants = {"STEPS": self.limits.steps, "CYCLIC": int(self.limits.cyclic), **plant_constants(plant)}
        return KernelProblem(plant_source(plant), (STEP_FILE, "problems/reservoir/reservoir_year.cl"), constants)


def reservoir_problems(reservoir: Reservoir, inflow: Inflow) -> list[ReservoirYear]:
    """Every water year of a record as a problem.

    Raises
    ------
    InputError
        If reservoir and record begin their water years in different months, or the curves cannot be approximated.
    """
    check_first_month(reservoir, inflow)
    model = ReservoirModel.of(reservoir)
    calendar = inflow.calendar
    years = zip(year_limits(reservoir, inflow), calendar.labels, calendar.start_years, strict=True)
    return [ReservoirYear(model, limits, label, start) for limits, label, start in years]


def check_first_month(reservoir: Reservoir, inflow: Inflow) -> None:
    """Refuse a record whose water years begin in another month than the reservoir's."""
    if inflow.calendar.first_month != reservoir.first_month:
        theirs, ours = (MONTH_NAMES[month - 1] for month in (inflow.calendar.first_month, reservoir.first_month))
        raise InputError(
            Mistake(
                f"the record's water years begin in {theirs}, the reservoir's in {ours}",
                expected="one first month for both",
                mend="set first_month in the reservoir file, or read the record with the reservoir's first month",
                file=inflow.source,
            )
        )
