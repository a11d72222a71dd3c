"""Solutions and references of a plan, as far as its folder tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.io.plan_folder.tables import REFERENCE_VIOLATION
from reservoir.planning.infeasible import feasible_years
from reservoir.problems.base import CertifiedBatch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions

FloatArray = NDArray[np.float64]


def solutions_of(
    years: ReservoirYears, positions: FloatArray, summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Solutions:
    """What the solver of the plan found, certified again from its releases."""
    certified = years.certify(positions)
    return _stated(
        positions,
        certified,
        origin["settings"],
        generations=summary["generations"].to_numpy(np.int64),
        evaluations=summary["evaluations"].to_numpy(np.int64),
        wall_seconds=float(origin["seconds"].get(origin["solver"], 0.0)),
        device_seconds=origin.get("device_seconds"),
        solver=str(origin["solver"]),
        device=str(origin["device"]),
    )


def references_of(
    years: ReservoirYears, solutions: Solutions, summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Solutions:
    """The reference optima, known by their energy and violation alone.

    A plan that was written before tables had the violation states the fitness in place of the energy, which is then
    unknown in years that cannot keep their limits.
    """
    if summary["reference_gwh"].isna().any() or not origin.get("reference"):
        return Solutions.of([])
    settings = dict(origin["reference"])
    solver = str(settings.pop("solver", "dp"))
    worths = summary["reference_gwh"].to_numpy(float)
    violations = np.asarray(summary.get(REFERENCE_VIOLATION, np.zeros(len(years))), np.float64)
    energies = worths
    if REFERENCE_VIOLATION not in summary:
        energies = np.where(feasible_years(years.limits, solutions.violation), worths, np.nan)
    none = np.zeros(len(years), np.int64)
    return _stated(
        np.full_like(solutions.position, np.nan),
        CertifiedBatch(worths - years.penalty_gwh * violations, energies, violations),
        settings,
        generations=none,
        evaluations=none,
        wall_seconds=float(origin["seconds"].get(solver, 0.0)),
        device_seconds=None,
        solver=solver,
        device="",
    )


def _stated(positions: FloatArray, worth: CertifiedBatch, settings: Mapping[str, Any], **stated: Any) -> Solutions:
    """Solutions of which a folder tells no more than this."""
    years = len(positions)
    return Solutions(
        position=positions,
        fitness=worth.fitness,
        benefit=worth.benefit,
        violation=worth.violation,
        settings=[settings] * years,
        trace_generations=[np.empty(0, np.int64)] * years,
        trace_fitness=np.empty((years, 0)),
        host_seconds_by_phase={},
        fitness_float32=np.full(years, np.nan),
        best_position_history=np.empty((years, 0, 0)),
        linkage=np.empty((years, 0, 0)),
        operation=worth.operation,
        **stated,
    )
