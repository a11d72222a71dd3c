"""Read a plan from its folder, and refuse one that was changed after it was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder.provenance import check_files, read_provenance
from reservoir.io.plan_folder.saved_record import saved_record
from reservoir.io.plan_folder.saved_tables import SavedTables, at_row, read_tables
from reservoir.io.plan_folder.stated_operation import stated_operation
from reservoir.io.plan_folder.tables import (
    AGAIN,
    ENGINE_GAP,
    FIGURES,
    PROVENANCE,
    REFERENCE_VIOLATION,
    RESERVOIR,
    SHORTAGE,
    SOURCE,
    WATER_VALUE,
    WATER_VALUES,
    changed,
    read_water_values,
    sha256_of,
)
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.planning.best_known import Sources, operation_of, stated_solutions
from reservoir.planning.checks import Check
from reservoir.planning.column_names import FIRM_POWER, REFERENCE_ENERGY, second_run
from reservoir.planning.firm_power import FirmBounds, promising_all
from reservoir.planning.infeasible import feasible_problems
from reservoir.planning.plan import Plan
from reservoir.planning.proofs import MOST_TOLD, PROVEN_BOUND, PROVEN_GAP, Proofs
from reservoir.planning.schedule import shown, year_columns
from reservoir.planning.start import PlanStart, implies_end_value, with_end_value
from reservoir.planning.water_values import LEVELS, WaterValues, table_months
from reservoir.problems.base import CertifiedBatch, certify_all
from reservoir.problems.reservoir.record import RecordProblems, record_problems
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


#: Energy that the schedule states and energy that follows from its releases differ by less than this part of the most
#: that a month makes, and this many GWh; storages by this many hm3: the tables have six decimals.
ENERGY_PART, ENERGY_GWH, STORAGE_HM3 = 1e-6, 1e-5, 1e-4


@dataclass(frozen=True, eq=False)
class SavedPlan:
    """A plan from its folder.

    Parameters
    ----------
    folder : Path
    plan : Plan
        Recomputed from the releases; its solutions have no convergence trace.
    origin : mapping
        Content of ``plan.json``.
    """

    folder: Path
    plan: Plan
    origin: Mapping[str, Any]

    @property
    def checks(self) -> list[Check]:
        """The acceptance table that was written with the plan."""
        return [
            Check(
                str(each["check"]),
                float("nan") if each["value"] is None else float(each["value"]),
                None if each["threshold"] is None else float(each["threshold"]),
                bool(each.get("at_least", False)),
            )
            for each in self.origin["checks"]
        ]


def read_plan(folder: Path) -> SavedPlan:
    """Read a plan's folder.

    Raises
    ------
    InputError
        If it is no such folder, if a file is missing or was changed, or if the schedule does not follow from the
        reservoir.
    """
    origin = read_provenance(folder)
    plant, horizon = _reservoir(folder, origin), _horizon(folder, origin)
    tables = read_tables(folder, origin)
    schedule, summary = tables.schedule, tables.summary
    start = _start(folder, origin, plant, horizon)
    if start:
        plant, horizon = start.begun, Horizon()
    inflow = saved_record(folder, tables, plant, origin)
    if any(list(summary.get(name, [])) != list(each) for name, each in year_columns(inflow).items()):
        raise changed(tables.summary_path, "has other years than schedule.csv")
    problems = _promising(record_problems(_with_end_value(folder, origin, plant), inflow, horizon), summary)
    solutions = solutions_of(problems, _positions(problems, schedule), summary, origin)
    references = references_of(problems, solutions, summary, origin)
    sources = sources_of(tables, problems, solutions, references, origin)
    notes, seconds = tuple(origin["notes"]), dict(origin["seconds"])
    operation, stopped = operation_of(problems, solutions), origin.get("stopped") or ""
    values = _water_values(folder, schedule, inflow)
    found = problems, operation, solutions, references
    units = UnitSystem.of(origin.get("units", {}).get("system", "si"))
    proofs = _proofs(problems, solutions.violation, summary, origin)
    firm_bounds = _firm_bounds(problems, origin)
    plan = Plan(plant, inflow, *found, notes, seconds, stopped, start, values, sources, units, proofs, firm_bounds)
    _check_follows(tables, plan)
    plan = replace(plan, operation=stated_operation(tables, plan.operation)) if tables.is_dataset else plan
    _check_figures(folder, origin)
    check_files(folder, origin)
    return SavedPlan(folder, plan, origin)


def _water_values(folder: Path, schedule: pd.DataFrame, inflow: Inflow) -> WaterValues | None:
    """Water values of a plan that has them."""
    if WATER_VALUE not in schedule:
        return None
    table, path = read_water_values(folder), folder / WATER_VALUES
    if table["month"].tolist() != np.repeat(table_months(inflow.calendar), LEVELS).tolist():
        raise changed(path, f"does not have {LEVELS} storages of each month")
    return WaterValues(schedule[WATER_VALUE].to_numpy(float).reshape(inflow.flow_m3s.shape), table)


def _horizon(folder: Path, origin: Mapping[str, Any]) -> Horizon:
    try:
        return Horizon.of(origin.get("horizon", Horizon()))
    except InputError as error:
        mistakes = [
            replace(each, mend=AGAIN, file=str(folder / PROVENANCE), column="horizon") for each in error.mistakes
        ]
        raise InputError(mistakes) from None


def _start(folder: Path, origin: Mapping[str, Any], plant: Reservoir, horizon: Horizon) -> PlanStart | None:
    """Where a plan begins that has no whole water years."""
    told = origin.get("start")
    if told is None:
        return None
    try:
        return PlanStart(str(told.get("month", "")), float(told.get("storage_hm3", "nan")), horizon, plant)
    except InputError as error:
        path = str(folder / PROVENANCE)
        raise InputError([replace(each, mend=AGAIN, file=path, column="start") for each in error.mistakes]) from None


def _proofs(
    problems: RecordProblems, violation: FloatArray, summary: pd.DataFrame, origin: Mapping[str, Any]
) -> Proofs | None:
    """What was proved of the problems, if anything."""
    told = origin.get("proof")
    if told is None or PROVEN_BOUND not in summary or PROVEN_GAP not in summary:
        return None
    first_years = np.unique(problems.of_year, return_index=True)[1]
    bound, gap = (summary[name].to_numpy(float)[first_years] for name in (PROVEN_BOUND, PROVEN_GAP))
    bound = shown(problems.model.reservoir.objective, bound)
    infeasible = {str(label): str(day) for label, day in dict(told["infeasible"]).items()}
    # Without a bound no schedule keeps the limits, or nothing is proved; those of the first are named.
    nothing = np.isnan(bound) & ~np.isin(np.array(problems.labels, str), list(infeasible))
    nothing &= len(infeasible) < MOST_TOLD
    bound = np.where(np.isnan(bound), np.where(nothing, np.inf, -np.inf), bound)
    return Proofs(bound, np.where(nothing & (violation == 0), np.inf, gap), float(told["gap_asked"]), infeasible)


def _firm_bounds(problems: RecordProblems, origin: Mapping[str, Any]) -> FirmBounds | None:
    """The powers that are not kept, of a plan for firm power whose file names all of them."""
    told = origin.get("firm_power", {})
    if not all(len(told.get(name, ())) == len(problems) for name in ("not_kept_mw", "proved")):
        return None
    return FirmBounds(np.array(told["not_kept_mw"], np.float64), np.array(told["proved"], np.bool_))


def _promising(problems: RecordProblems, summary: pd.DataFrame) -> RecordProblems:
    """The problems with the firm power that the plan states, if its objective asks for that."""
    if FIRM_POWER not in summary or not problems.model.reservoir.objective.is_firm:
        return problems
    first_years = np.unique(problems.of_year, return_index=True)[1]
    return promising_all(problems, summary[FIRM_POWER].to_numpy(float)[first_years])


def _with_end_value(folder: Path, origin: Mapping[str, Any], plant: Reservoir) -> Reservoir:
    """The reservoir, with the value of the end storage that the record implied."""
    value = origin.get("end_value_gwh_per_hm3")
    if implies_end_value(plant) and value is None:
        raise changed(folder / PROVENANCE, "has no end_value_gwh_per_hm3")
    return with_end_value(plant, value)


def _reservoir(folder: Path, origin: Mapping[str, Any]) -> Reservoir:
    path = folder / RESERVOIR
    if not path.is_file():
        if origin["reservoir"]["sha256"]:
            raise changed(path, "is missing")
        problem = "is missing: the reservoir was made in Python, and no reservoir file could contain it"
        mend = "plan.reservoir.to_toml() says why; save the plan again, or fit the rules in Python"
        raise InputError(Mistake(problem, mend=mend, file=str(path)))
    if sha256_of(path) != origin["reservoir"]["sha256"]:
        raise changed(path, "was changed after the plan was made")
    return read_reservoir(path)


def _positions(problems: RecordProblems, schedule: pd.DataFrame) -> list[FloatArray]:
    releases, starts = (schedule[name].to_numpy(float) for name in ("release_m3s", "storage_start_hm3"))
    if SHORTAGE in schedule:
        releases = releases - schedule[SHORTAGE].to_numpy(float)
    spans = problems.horizon.spans(problems.inflow.years)
    steps = problems.inflow.steps
    rows = [(first * steps, stop * steps) for first, stop in spans]
    ends = 1 if problems.cyclic else 0
    return [np.append(releases[first:stop], starts[first : first + ends]) for first, stop in rows]


def _check_follows(tables: SavedTables, plan: Plan) -> None:
    """Refuse the first storage or energy of each year that is not what the releases come to."""
    path, schedule = str(tables.schedule_path), tables.schedule
    energy = plan.operation.energy_gwh
    longest = -(
        -plan.problems.steps // plan.inflow.calendar.step.per_year
    )  # what the tables round adds up from year to year
    computed = (
        ("storage_start_hm3", "hm3", plan.operation.storage_hm3[:, :-1], STORAGE_HM3 * longest),
        ("energy_gwh", "GWh", energy, ENERGY_PART * float(np.abs(energy).max()) + ENERGY_GWH),
    )
    apart = np.stack(
        [
            ~(np.abs(schedule[name].to_numpy(float).reshape(follows.shape) - follows) <= most)
            for name, _, follows, most in computed
        ],
        axis=-1,
    )
    mistakes = []
    for year in np.flatnonzero(apart.any(axis=(1, 2))).tolist():
        step, which = (int(place[0]) for place in np.nonzero(apart[year]))
        name, unit, follows, _ = computed[which]
        row = year * plan.inflow.steps + step
        problem, expected = "does not match the releases and reservoir.toml", f"{follows[year, step]:,.6f}"
        found = float(schedule[name].iloc[row])
        mistake = Mistake(problem, f"{expected} {unit}", AGAIN, path, column=name, value=found)
        mistakes.append(at_row(mistake, schedule, row))
    if mistakes:
        raise InputError(worth_telling(mistakes, path))


def _check_figures(folder: Path, origin: Mapping[str, Any]) -> None:
    """Refuse a folder without the drawings that its report shows."""
    drawings = [folder / FIGURES / f"{name}.svg" for name in origin["figures"]]
    mistakes = [
        Mistake("is a link" if each.is_symlink() else "is missing", mend=AGAIN, file=str(each))
        for each in drawings
        if each.is_symlink() or not each.is_file()
    ]
    if mistakes:
        raise InputError(mistakes)
