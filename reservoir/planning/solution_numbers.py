"""What solutions come to: the operation of the record, the energy of references, and gaps."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.objective import Operation
from reservoir.planning.operated_record import FloatArray
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions


def operation_of(problems: RecordProblems, solutions: Solutions) -> Operation:
    """What solutions come to in float64, a row for each year of the record."""
    if solutions.operation is None:
        return problems.operate(solutions.position)
    operation: Operation = solutions.operation
    return operation.in_years(problems.inflow.steps)


def relative_gap(solutions: Solutions, references: Solutions, least_scale: float = 0.0) -> FloatArray:
    """Part by which each solution's fitness falls short of its reference, shape (problems,).

    `least_scale` is `RecordProblems.least_gap_scale`.
    """
    found, best = solutions.fitness, references.fitness
    scale = np.where(best == 0, least_scale or 1.0, np.maximum(np.abs(best), least_scale))
    return np.asarray((best - found) / scale)


def reference_of_years(problems: RecordProblems, references: Solutions) -> tuple[FloatArray, FloatArray]:
    """Benefit and violation of the reference in each year; not a number, and zero, without one."""
    years = problems.inflow.years
    if not references:
        return np.full(years, np.nan), np.zeros(years)
    if problems.horizon.is_year:
        return references.benefit, references.violation
    operation = operation_of(problems, references)
    return operation.benefit, operation.violation_sum
