"""Solutions and references of a plan, as far as its folder contains them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.io.plan_folder.saved_tables import SavedTables, at_row
from reservoir.io.plan_folder.tables import AGAIN, ENGINE_GAP, REFERENCE_VIOLATION, SOURCE
from reservoir.planning.best_known import Sources
from reservoir.planning.column_names import REFERENCE_ENERGY
from reservoir.planning.infeasible import feasible_problems
from reservoir.planning.objective_columns import shown
from reservoir.planning.source_names import second_run
from reservoir.planning.stated_solutions import stated_solutions
from reservoir.problems.base import CertifiedBatch, certify_all
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions

FloatArray = NDArray[np.float64]


def solutions_of(
    problems: RecordProblems, positions: list[FloatArray], summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Solutions:
    """What the solver of the plan found, certified again from its releases."""
    certified = certify_all(problems.each, positions)
    first_years = np.unique(problems.of_year, return_index=True)[1]
    return stated_solutions(
        positions,
        certified,
        origin["settings"],
        generations=summary["generations"].to_numpy(np.int64)[first_years],
        evaluations=summary["evaluations"].to_numpy(np.int64)[first_years],
        wall_seconds=float(origin["seconds"].get(origin["solver"], 0.0)),
        device_seconds=origin.get("device_seconds"),
        solver=str(origin["solver"]),
        device=str(origin["device"]),
    )


def references_of(
    problems: RecordProblems, solutions: Solutions, summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Solutions:
    """The reference optima, known by their energy and violation alone.

    A plan that was written before tables had the violation states the fitness in place of the energy, which is then
    unknown in years that cannot keep their limits.
    """
    if summary[REFERENCE_ENERGY].isna().any() or not origin.get("reference"):
        return Solutions.of([])
    settings = dict(origin["reference"])
    solver = str(settings.pop("solver", "dp"))
    stated = shown(problems.model.reservoir.objective, summary[REFERENCE_ENERGY].to_numpy(float))
    of_years = np.asarray(summary.get(REFERENCE_VIOLATION, np.zeros(len(stated))), np.float64)
    energies, violations = (np.asarray(np.bincount(problems.of_year, each), np.float64) for each in (stated, of_years))
    fitness = energies - problems.model.reservoir.penalty * violations
    if REFERENCE_VIOLATION not in summary:
        energies = np.where(feasible_problems(problems, solutions.violation), energies, np.nan)
    none = np.zeros(len(problems), np.int64)
    return stated_solutions(
        [np.full_like(each, np.nan) for each in solutions.position],
        CertifiedBatch(fitness, energies, violations),
        settings,
        generations=none,
        evaluations=none,
        wall_seconds=float(origin["seconds"].get(solver, 0.0)),
        device_seconds=None,
        solver=solver,
        device="",
    )


def sources_of(
    tables: SavedTables,
    problems: RecordProblems,
    solutions: Solutions,
    references: Solutions,
    origin: Mapping[str, Any],
) -> Sources | None:
    """Whose the schedules are; None if all are of the solver's first run, as in plans of earlier versions.

    Of the solver's own schedules that the plan does not hold, the fitness alone is known, from its gap.

    Raises
    ------
    InputError
        If a source is neither the solver nor its second run nor the reference, or not that of the whole problem.
    """
    solver, of_year, summary = solutions.solver, problems.of_year, tables.summary
    if SOURCE not in summary or (summary[SOURCE] == solver).all():
        return None
    of_problem = summary[SOURCE].to_numpy(object)[np.unique(of_year, return_index=True)[1]]
    known = [solver, second_run(solver), *([references.solver] if references else [])]
    wrong = np.flatnonzero(~np.isin(summary[SOURCE], known) | (of_problem[of_year] != summary[SOURCE]))
    if wrong.size:
        row = int(wrong[0])
        found, path = str(summary[SOURCE].iloc[row]), str(tables.summary_path)
        problem, expected = "is not a source of this plan", f"one of {'; '.join(known)}"
        mistake = Mistake(problem, expected, AGAIN, path, column=SOURCE, value=found)
        raise InputError(at_row(mistake, summary, row))
    taken = np.flatnonzero(of_problem == references.solver) if references else np.empty(0, np.intp)
    gap = np.asarray(summary.get(ENGINE_GAP, np.full(len(summary), np.nan)), np.float64)
    fitness, unknown = _fitness(references, problems, gap)[taken], np.full(len(taken), np.nan)
    nowhere = np.empty((len(taken), 0))
    own = replace(solutions.some(taken), position=nowhere, fitness=fitness, benefit=unknown, violation=unknown)
    second = (origin.get("second_run") or {}).get("settings", {})
    return Sources(tuple(of_problem), solutions.replaced(taken, own), origin["settings"], second)


def _fitness(references: Solutions, problems: RecordProblems, gap: FloatArray) -> FloatArray:
    """Fitness of each problem, from the gap that each of its years states."""
    best, of_problem = references.fitness, gap[np.unique(problems.of_year, return_index=True)[1]]
    scale = np.where(best == 0, problems.least_gap_scale or 1.0, np.maximum(np.abs(best), problems.least_gap_scale))
    return np.asarray(best - of_problem * scale)
