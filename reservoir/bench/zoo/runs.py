"""The runs of the experiment: each solver on the years of each reservoir, beside dynamic programming on the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from reservoir.bench.experiment import DeviceSetup, names_named
from reservoir.bench.journal import Journal
from reservoir.bench.zoo.rows import Place, Row, rows_of_reservoirs
from reservoir.errors import ReservoirError
from reservoir.hydro.horizon import Horizon
from reservoir.planning.best_known import best_known
from reservoir.planning.column_names import second_run
from reservoir.planning.infeasible import feasible_problems
from reservoir.planning.plan import silent_stage
from reservoir.planning.solving import HOST_REFERENCE, REFERENCE_SOLVERS
from reservoir.planning.stopwatch import untimed
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers import SOLVERS, Solutions, runs_here
from reservoir.zoo.zoo import Part, zoo_case

#: Reservoirs and years of each part; and those of solvers on the host, which take many times as long.
RESERVOIRS, YEARS, QUICK_RESERVOIRS, QUICK_YEARS = 200, 30, 20, 5
HOST_RESERVOIRS, HOST_YEARS, QUICK_HOST_RESERVOIRS, QUICK_HOST_YEARS = 20, 5, 4, 1


#: Where the schedule of a year in a plan comes from: the solver's first run, its second with more effort, or dp.
FIRST_RUN, SECOND_RUN, FROM_REFERENCE = "first run", "second run", "reference"


@dataclass(frozen=True, kw_only=True)
class ZooSetup(DeviceSetup):
    """What is run.

    Parameters
    ----------
    parts : tuple of Part
    solvers : tuple of str
        Without the reference.
    reservoirs, years : int
        Reservoirs of each part, and years of each record.
    host_reservoirs, host_years : int
        Of them, the first, for solvers that run on the host.
    jobs : int
        Reservoirs at a time, each in a process of its own.
    """

    parts: tuple[Part, ...]
    solvers: tuple[str, ...]
    reservoirs: int
    years: int
    host_reservoirs: int
    host_years: int
    jobs: int = 1

    def sizes(self) -> dict[str, Any]:
        """What `of` makes the same setup from in another process, but for the progress."""
        names = ("budget", "parts", "solvers", "reservoirs", "years", "host_reservoirs", "host_years")
        return {name: getattr(self, name) for name in names} | {"progress": silent_stage}

    def years_of(self, solver: str, number: int) -> int:
        """How many years of a reservoir a solver is given, the first; 0 for none."""
        if SOLVERS[solver].opencl:
            return self.years
        return min(self.host_years, self.years) if number < self.host_reservoirs else 0

    def seeds_of(self, solver: str) -> list[int]:
        """Seeds of the runs of a solver; a single one if it needs none."""
        runs = self.budget.runs if SOLVERS[solver].seeded else 1
        return [self.budget.seed + run for run in range(runs)]


@dataclass(frozen=True, eq=False)
class ZooRuns:
    """What all runs found.

    Parameters
    ----------
    reservoirs : DataFrame
        A row for each reservoir: part, number, and its traits.
    calls : DataFrame
        A row for each call of a solver: seconds, and why the solver refused the reservoir.
    years : DataFrame
        A row for each year, solver and seed: gap to the reference and violation, the same of a plan by this solver,
        where its schedule comes from, and the reference's numbers.
    """

    reservoirs: pd.DataFrame
    calls: pd.DataFrame
    years: pd.DataFrame


def usable_solvers(text: str | None) -> tuple[str, ...]:
    """Solvers that are compared with the reference: those named, or all that can run here."""
    known = [name for name in SOLVERS if name != HOST_REFERENCE]
    if text is not None:
        return names_named(text, known, "there is no such solver", "--solvers")
    return tuple(name for name in known if runs_here(name))


def zoo_runs(setup: ZooSetup, journal: Journal) -> ZooRuns:
    """Make all runs that the journal has not."""
    found = [named | row for named, row in rows_of_reservoirs(setup, journal, _run_reservoir)]
    return ZooRuns(
        pd.DataFrame([_place(row) | row["traits"] for row in found]),
        pd.DataFrame([_place(row) | each for row in found for each in row["calls"]]),
        pd.DataFrame([_place(row) | each for row in found for each in _years_of(row)]),
    )


def _place(row: Row) -> Row:
    return {name: row[name] for name in ("part", "number")}


def _run_reservoir(setup: ZooSetup, place: Place) -> Row:
    """All solvers on one reservoir, as a row of JSON."""
    case = zoo_case(place[1], setup.years, part=place[0])
    problems = record_problems(case.reservoir, case.inflow, Horizon())
    references = setup.solve(problems.each, HOST_REFERENCE)
    columns: Row = {
        "year": list(problems.labels),
        "feasible": feasible_problems(problems, references.violation).tolist(),
        "reference_fitness": references.fitness.tolist(),
        "reference_violation": references.violation.tolist(),
    }
    calls = [_call(HOST_REFERENCE, setup.budget.seed, references)]
    found: list[Row] = [{}]
    for solver in setup.solvers:
        years = setup.years_of(solver, case.number)
        if not years:
            continue
        given, best = _first_years(problems, years), Solutions.of(references[:years])
        for seed in setup.seeds_of(solver):
            call, numbers = _tried(setup, solver, seed, given, best)
            calls.append(call)
            found.append(numbers)
    traits = {name: str(each) if isinstance(each, str) else each for name, each in asdict(case.traits).items()}
    return {"traits": traits, "columns": columns, "calls": calls, "found": found}


def _first_years(problems: RecordProblems, years: int) -> RecordProblems:
    """The first years of a record, in one batch of the same model, whose programs are compiled once."""
    (batch,) = problems.batches
    return RecordProblems(problems.horizon, problems.inflow.span(0, years), (batch[:years],))


def _tried(setup: ZooSetup, solver: str, seed: int, problems: RecordProblems, references: Solutions) -> tuple[Row, Row]:
    """One call and its numbers by year; or why it was refused, for a device may be too small for a solver."""
    try:
        first = setup.solve(problems.each, solver, seed=seed)
    except ReservoirError as error:
        return {"solver": solver, "seed": seed, "years": len(problems), "refused": str(error)}, {}
    held, sources = _held(setup, solver, seed, problems, first, references)
    numbers: Row = {"fitness": first.fitness.tolist(), "violation": first.violation.tolist()}
    numbers |= {"plan_fitness": held.fitness.tolist(), "plan_violation": held.violation.tolist()}
    return _call(solver, seed, first), numbers | {"source": sources}


def _held(
    setup: ZooSetup, solver: str, seed: int, problems: RecordProblems, first: Solutions, references: Solutions
) -> tuple[Solutions, list[str]]:
    """What a plan by the solver holds in each year, and where that comes from: a plan holds the best known."""
    if solver in REFERENCE_SOLVERS:
        return first, [FIRST_RUN] * len(first)
    call: Row = {"solver": solver, "seed": seed, "device": str(setup.device.index), "options": {}}
    call |= {"progress": silent_stage, "stop": None, "watch": untimed}
    held, sources, _ = best_known(problems, first, references, **call)
    words = {solver: FIRST_RUN, second_run(solver): SECOND_RUN, references.solver: FROM_REFERENCE}
    return held, [words[each] for each in (sources.of_problem if sources else (solver,) * len(first))]


def _call(solver: str, seed: int, found: Solutions) -> Row:
    about: Row = {"solver": solver, "seed": seed, "years": len(found), "refused": ""}
    return about | {"seconds": found.wall_seconds, "device_seconds": found.device_seconds}


def _years_of(row: Row) -> Iterator[Row]:
    """A row for each year and call of a reservoir."""
    for call, found in zip(row["calls"], row["found"], strict=True):
        for place in range(len(found.get("fitness", ()))):
            of_year = {name: values[place] for name, values in (row["columns"] | found).items()}
            best = of_year["reference_fitness"]
            gaps = {
                name: (best - of_year[of]) / (abs(best) or 1.0)
                for name, of in (("gap", "fitness"), ("plan_gap", "plan_fitness"))
            }
            yield {"solver": call["solver"], "seed": call["seed"]} | of_year | gaps
