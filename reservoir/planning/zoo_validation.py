"""Validate all solvers on random reservoirs: each within the range that its registry entry states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reservoir.errors import ReservoirError
from reservoir.hydro.curves.approximation import POWER_TOLERANCE
from reservoir.hydro.horizon import Horizon
from reservoir.planning.checks import Check, largest, part_of
from reservoir.planning.infeasible import feasible_problems
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.solution_numbers import relative_gap
from reservoir.planning.solver_choice import HOST_REFERENCE
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers import SOLVERS, Solutions, solve, why_unusable
from reservoir.text.quantities import counted
from reservoir.zoo.zoo import zoo_case

#: Numbers of the reservoirs: one whose years end at a fixed storage, and one of cyclic years.
NUMBERS = (5, 12)
#: Years of each for solvers in OpenCL; and of the first alone for others, which compile for each and take longer.
YEARS, HOST_YEARS = 3, 1
#: What is said of a validation without it.
NOT_ASKED = "solvers on random reservoirs (--no-zoo)"
#: What the progress of this validation is told as.
STAGE = "random reservoirs"


@dataclass(frozen=True, eq=False)
class _Sample:
    """Years of a reservoir, and their reference optima."""

    problems: RecordProblems
    references: Solutions

    @classmethod
    def of(cls, number: int) -> _Sample:
        case = zoo_case(number, YEARS)
        problems = record_problems(case.reservoir, case.inflow, Horizon())
        return cls(problems, solve(problems.each, solver=HOST_REFERENCE))

    def measured(self, solver: str, seed: int, device: str | None) -> _Measured:
        """What a solver reaches in the years that can keep their limits."""
        years = YEARS if SOLVERS[solver].opencl else HOST_YEARS
        found = solve(self.problems.each[:years], solver=solver, seed=seed, device=device)
        feasible = np.flatnonzero(feasible_problems(self.problems, self.references.violation)[:years])
        gap = np.abs(relative_gap(found, Solutions.of(self.references[:years])))[feasible]
        violation = (found.violation - self.references.violation[:years])[feasible]
        float32 = [
            part_of(found.trace_fitness[place][-1] - found.fitness[place], found.fitness[place])
            for place in feasible.tolist()
            if len(found.trace_fitness[place])
        ]
        return _Measured(len(feasible), *(largest(each, 0.0) for each in (gap, violation, float32)))


@dataclass(frozen=True)
class _Measured:
    """Years, their worst gap, largest violation that the reference does not have, and error of the solver's fitness."""

    years: int
    gap: float
    violation: float
    float32_error: float

    def __add__(self, other: _Measured) -> _Measured:
        worst = zip(self._errors, other._errors, strict=True)
        return _Measured(self.years + other.years, *map(largest, worst))

    @property
    def _errors(self) -> tuple[float, float, float]:
        return self.gap, self.violation, self.float32_error


def validate_zoo(
    *, seed: int = 1, device: str | None = "auto", progress: StageProgress = silent_stage
) -> tuple[list[Check], list[str]]:
    """Solve some years of random reservoirs with every solver, with default settings.

    Returns
    -------
    checks : list of Check
        The worst gap of each solver, and of all solvers the largest violation and error of float32.
    left : list of str
        Solvers that were not checked, each with the reason.
    """
    names = [name for name in SOLVERS if name != HOST_REFERENCE]
    progress(STAGE, 0, len(names))
    samples = [_Sample.of(number) for number in NUMBERS]
    measured: dict[str, _Measured] = {}
    left = []
    for done, name in enumerate(names):
        progress(STAGE, done, len(names))
        reason = why_unusable(name)
        try:
            if not reason:
                chosen = samples if SOLVERS[name].opencl else samples[:1]
                first, *others = (sample.measured(name, seed, device) for sample in chosen)
                measured[name] = sum(others, first)
        except ReservoirError as error:  # a device may be too small for a solver
            reason = str(error)
        if reason:
            left.append(f"{name} on random reservoirs ({reason})")
    progress(STAGE, len(names), len(names))
    return list(_checks(measured)), left


def _checks(measured: dict[str, _Measured]) -> Iterator[Check]:
    for name, each in measured.items():
        yield Check(f"{STAGE}: {name}, worst gap to dp, {counted(each.years, 'year')}", each.gap, SOLVERS[name].zoo_gap)
    if measured:
        who = f"{STAGE}: largest of all solvers"
        violation = largest(each.violation for each in measured.values())
        yield Check(f"{who}, violation of limits that dp keeps", violation, 0.0)
        error = largest(each.float32_error for each in measured.values())
        yield Check(f"{who}, float32 fitness against float64", error, POWER_TOLERANCE)
