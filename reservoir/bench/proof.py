"""Proven bounds against the schedules of all solvers, on random reservoirs and systems: none may be above; how close.

A proof is told the best schedule and drops what cannot be better: its bound is then never below that schedule, whatever
was wrong with it. The second, blind proof is told less than that schedule is worth, so that no schedule has helped to
lift its bound above the best: it must come from the bounds of the brackets alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from reservoir.bench.experiment import RunBudget, names_named
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import ResultTable, Row, select
from reservoir.bench.zoo import BOTH, ReservoirStudy, parts_named, short_gap
from reservoir.certificate.bound import PAIRS, Effort, Known, ProvenBound, compile_ahead, prove_bound
from reservoir.certificate.system import SystemBound, prove_system
from reservoir.errors import InputError, ReservoirError
from reservoir.hydro.objectives import Horizon
from reservoir.planning.checks import Check
from reservoir.planning.proof import LONGER_PAIRS
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.planning.system_plan import optimise_system
from reservoir.planning.system_search import AUTO, STAGES
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import system_problems
from reservoir.solvers import RESERVOIR_SOLVERS, SOLVERS, Solutions, settings_of
from reservoir.zoo import Part, zoo_system

#: By how much less than the best schedule a blind proof is told that one is worth, a part of it.
BELOW = 1e-4
#: Gaps that years are counted within; what rounding adds to a gap that was reached is a part of it.
GAPS, _ROUNDING = (1e-5, 1e-4, 1e-3), 1e-3
#: Years in all, those of each reservoir, and reservoirs of a part for solvers on the host, of which they get one year.
YEARS, QUICK_YEARS, YEARS_EACH, HOST_RESERVOIRS, HOST_YEARS = 200, 4, 10, 20, 1
#: Effort on random systems, of the settings that a solver has; random schedules that are held against a bound, too.
SYSTEM_EFFORT = {"evaluations": 20_000, "generations": 200}
RANDOM, RANDOM_SCHEDULES = "random", 20
#: Years of the one problem of a system with commitments: what one stores is for the next.
COMMITTED_YEARS = 2
#: What stands for a bound that is none: JSON has no infinity.
_NOTHING = 1e300


class SystemRun(NamedTuple):
    """A random system of a part, with commitments or without."""

    part: Part
    number: int
    committed: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class ProofStudy(ReservoirStudy):
    """What is run: that of `ReservoirStudy`, and how long proofs are.

    Tables: ``bounds``, a row for each year: both bounds, the best schedule, seconds and boxes; ``schedules``: solver,
    seed, fitness and violation; and ``refused``, calls that a solver refused, with the reason.

    Parameters
    ----------
    gap : float
        At which the proof of a year ends.
    seconds : float
        Most time of a proof, about, from when the code is compiled.
    systems, committed : int
        Random systems of each part: a year each; and with commitments, `COMMITTED_YEARS` years as one problem each.
    system_solvers : tuple of str
        Of systems, also `AUTO`.
    """

    paper = "proof"
    title = "Proven bounds against schedules, on {study.device.name}"
    gap: float
    seconds: float
    systems: int = 0
    committed: int = 0
    system_solvers: tuple[str, ...] = ()
    comparable: ClassVar[tuple[str, ...]] = (
        *("reservoirs", "years", "host_reservoirs", "gap", "seconds", "systems", "committed"),
        "system_solvers",
    )

    @property
    def named_runs(self) -> dict[str, Any]:
        """As of reservoirs, and the systems of each part."""
        systems = {
            f"{part.name.lower()} {family} {number}": SystemRun(part, number, family == "committed")
            for family in ("systems", "committed")
            for part, number in product(self.parts, range(getattr(self, family)))
        }
        return super().named_runs | systems

    def written(self) -> dict[str, pd.DataFrame]:
        """Years and schedules, with what is reckoned of them."""
        return {"years": self.proofs, "schedules": self.compared}

    def _row(self, run: Any) -> Row:
        if isinstance(run, SystemRun):
            return _system_row(self, run)
        case, problems, reference = self.case(run)
        calls, refused = [(HOST_REFERENCE, self.budget.seed, reference)], []
        for solver, seed, _, solutions in self.calls(case.number, problems):
            if isinstance(solutions, ReservoirError):
                refused.append({"solver": solver, "seed": seed, "refused": str(solutions)})
            else:
                calls.append((solver, seed, solutions))
        proofs = [
            _proved(self, problems, year, [solutions for _, _, solutions in calls if len(solutions) > year])
            for year in range(len(problems))
        ]
        schedules = [row for call in calls for row in _schedules(problems, *call)]
        return {"bounds": proofs, "schedules": schedules, "refused": refused}

    @cached_property
    def proofs(self) -> pd.DataFrame:
        """The years, with the gap of each to the bound, and the part by which the blind bound is above the best."""
        years = self.data["bounds"]
        for name in ("best", "blind_bound", "blind_infeasible", "blind_seconds"):
            if name not in years:
                years = years.assign(**{name: np.nan})
        gaps = {of: _part(_bound(years, of), years["best"], years["scale"]) for of in ("", "blind_")}
        return years.assign(gap=gaps[""], blind_gap=gaps["blind_"])

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Schedules that keep their limits, with the largest part by which each is above a bound of its year."""
        able = select(self.data["schedules"], violation=0)
        both = able.merge(self.proofs, on=["part", "number", "year"])
        above = [-_part(_bound(both, of), both["fitness"], both["scale"]) for of in ("", "blind_")]
        return both.assign(excess=above[0], blind_excess=above[1])

    @property
    def beyond(self) -> int:
        """How many schedules are above a bound of their year."""
        return int(_above(self.compared).sum())

    def by_part(self) -> pd.DataFrame:
        """A row for each part: shares within gaps, and seconds."""
        rows = []
        for part, years in self.proofs.groupby("part", sort=False):
            known, infeasible = years[years["best"].notna()], years["infeasible"].astype(bool)
            row: Row = {"part": part, "years": len(known)}
            row |= {within(gap): share_within(known, gap) for gap in GAPS}
            row |= {"worst gap": known["gap"].max(), "blind, median": known["blind_gap"].median()}
            row |= {"no schedule, proved": int(infeasible.sum())}
            row |= {"none known, not proved": int((years["best"].isna() & ~infeasible).sum())}
            statistics = {"median": "median", "mean": "mean", "most": "max"}
            row |= {f"seconds, {name}": known["seconds"].agg(each) for name, each in statistics.items()}
            rows.append(row | {"blind seconds, mean": known["blind_seconds"].mean()})
        return pd.DataFrame(rows)

    def by_solver(self) -> pd.DataFrame:
        """A row for each solver: schedules compared, and how close they come to a bound from below."""
        schedules = self.compared.assign(above=_above(self.compared)).groupby("solver", sort=False)
        columns = {"schedules": ("above", "size"), "largest excess": ("excess", "max")}
        columns |= {"blind, largest excess": ("blind_excess", "max"), "above a bound": ("above", "sum")}
        return schedules.agg(**columns).reset_index()

    def checks(self) -> Iterator[Check]:
        """What must hold: no schedule that keeps its limits is above a bound, whatever the effort."""
        yield self.claim("above", self.beyond, schedules=len(self.compared))

    def _headlines(self) -> dict[str, str]:
        compared = self.compared
        largest = {name: f"{compared[name].max():.1e}" for name in ("excess", "blind_excess")}
        lines = {
            "schedules": f"{len(compared):,} compared, {self.beyond} above a bound; largest (schedule - bound) / "
            f"schedule {largest['excess']}, of blind proofs {largest['blind_excess']}"
        }
        for part, of_part in self.proofs.groupby("part", sort=False):
            known = of_part[of_part["best"].notna()]
            shares = ", ".join(f"{share_within(known, gap):.1%} within {short_gap(gap)}" for gap in GAPS[:2])
            seconds = f"{known['seconds'].median():.2g} s a proof (median), {known['seconds'].mean():.2g} s (mean)"
            lines[f"{part} part"] = f"{len(known):,} years: {shares}; {seconds}"
        refused = self.data["refused"]
        for solver, calls in refused.groupby("solver", sort=False) if len(refused) else ():
            lines[f"{solver} refused"] = f"{len(calls)}, the first: {calls['refused'].iloc[0]}"
        return lines

    def _tables(self) -> Iterator[ResultTable]:
        yield self.table("by_part", self.by_part(), below=BELOW)
        yield self.table("by_solver", self.by_solver())
        yield self.table("refused", self.data["refused"])


def within(gap: float) -> str:
    """Name of a column of shares."""
    return f"within {short_gap(gap)}"


def share_within(years: pd.DataFrame, gap: float) -> float:
    """Share of the years that are proved to a gap; NaN of none."""
    return float((years["gap"] <= gap * (1 + _ROUNDING)).mean()) if len(years) else np.nan


def _above(compared: pd.DataFrame) -> pd.Series[bool]:
    """Schedules that are not at or below a bound of their year, or not known to be; not all years have a blind one."""
    return ~(compared["excess"] <= 0) | (compared["blind_excess"] > 0)


def _bound(years: pd.DataFrame, of: str) -> pd.Series[float]:
    """The bounds; minus infinity where it is proved that no schedule keeps the limits."""
    bound = years[f"{of}bound"].astype(float)
    return bound.mask(years[f"{of}infeasible"] == True, -np.inf)  # noqa: E712 - NaN where there is no such proof


def _part(bound: pd.Series[float], fitness: pd.Series[float], scale: pd.Series[float]) -> pd.Series[float]:
    """By how much a bound is above a fitness, as a part of the fitness."""
    size = fitness.astype(float).abs().clip(lower=scale)
    return (bound - fitness.astype(float)) / size.where(size > 0, 1.0)


def run(
    *,
    budget: RunBudget,
    part: str = BOTH,
    solvers: str | None = None,
    years: int | None = None,
    gap: float = 1e-5,
    prove_seconds: float = 10.0,
    jobs: int = 1,
    systems: int = 0,
    committed: int = 0,
) -> ExperimentResult:
    """Run the experiment; reservoirs that the journal has are not solved and proved again.

    Options: see `reservoir.cli.bench`.
    """
    parts, count = parts_named(part), years or budget.usual(YEARS, QUICK_YEARS)
    known = [*(name for name in SOLVERS if name != HOST_REFERENCE), AUTO]
    named = names_named(solvers, known, "there is no such solver", "--solvers")
    of_systems = [name for name in named if name == AUTO or SOLVERS[name].systems]
    if (systems or committed) and not of_systems:
        able, mend = "one that plans systems", "name one such as slp, or leave out --systems and --committed"
        raise InputError("no solver that is named plans systems", able, mend, column="--solvers", value=solvers)
    years_each = min(YEARS_EACH, max(count // len(parts), 1))
    study = ProofStudy.of(
        budget,
        parts=parts,
        solvers=tuple(name for name in named if name in RESERVOIR_SOLVERS),
        system_solvers=tuple(of_systems),
        reservoirs=-(-count // (years_each * len(parts))),
        years=years_each,
        host_reservoirs=budget.usual(HOST_RESERVOIRS, 1),
        host_years=HOST_YEARS,
        jobs=jobs,
        gap=gap,
        seconds=prove_seconds,
        systems=systems,
        committed=committed,
    )
    return study.measured().result(jobs=jobs)


def _schedules(problems: RecordProblems, solver: str, seed: int, solutions: Solutions) -> Iterator[Row]:
    rows = zip(problems.labels, solutions.fitness.tolist(), solutions.violation.tolist(), strict=False)
    for label, fitness, violation in rows:
        yield {"solver": solver, "seed": seed, "year": str(label), "fitness": fitness, "violation": violation}


def _proved(study: ProofStudy, problems: RecordProblems, place: int, solutions: list[Solutions]) -> Row:
    """Both proofs of a year, near the best of its schedules."""
    year, scale = problems.each[place], problems.least_gap_scale
    able = [each for each in solutions if each.violation[place] == 0]
    best = max(able or solutions, key=lambda each: float(each.fitness[place]))
    fitness = float(best.fitness[place]) if able else None
    storages = year.operate(np.asarray(best.position[place])).storage_hm3
    compile_ahead([Known(year, storages, fitness)])

    def proof(of: str, known: float | None, pairs: int) -> Row:
        """A bound in JSON, which has no infinity."""
        effort, began = Effort(study.gap, study.seconds, 1, scale, pairs), time.perf_counter()
        bound: ProvenBound = prove_bound(year, storages, known, effort)
        seconds, value = time.perf_counter() - began, None if bound.infeasible else bound.bound
        row = {"bound": value, "infeasible": bound.infeasible, "seconds": seconds, "boxes": bound.boxes}
        return {f"{of}{name}": each for name, each in row.items()}

    row: Row = {"year": str(year.label), "best": fitness, "scale": scale, **proof("", fitness, LONGER_PAIRS)}
    if fitness is None:
        return row
    size = max(abs(fitness), scale)
    return row | proof("blind_", fitness - BELOW * size - study.gap * size, PAIRS)


def _system_row(study: ProofStudy, run: SystemRun) -> Row:
    """Schedules of a problem of a random system, and both proofs."""
    horizon = Horizon(None) if run.committed else Horizon()
    years = COMMITTED_YEARS if run.committed else 1
    system, inflows = zoo_system(run.number, years, part=run.part, committed=run.committed)
    problems = system_problems(system, inflows, horizon)
    year: Any = problems.batches[0]
    random = np.random.default_rng([study.budget.seed, run.number])
    tried = [(RANDOM, random.random(year.dimension)) for _ in range(RANDOM_SCHEDULES)]
    seed, refused, found = study.budget.seed, list[Row](), list[Solutions]()
    for solver in study.system_solvers:
        if not _is_quick(solver) and run.number >= study.host_reservoirs:
            continue
        how: dict[str, Any] = {"seed": seed, "device": str(study.device.index), **_effort_of(solver)}
        try:
            plan = optimise_system(system, inflows, solver=solver, horizon=horizon, **how)
        except ReservoirError as refusal:
            refused.append({"solver": solver, "seed": seed, "refused": str(refusal)})
        else:
            found.append(plan.solutions[0])
            tried.append((solver, found[-1].position))
    if run.committed and found:  # few schedules keep all: those near the best may
        near = min(found, key=lambda each: (each.violation, -each.fitness)).position
        of_random = zip(tried[:RANDOM_SCHEDULES], np.linspace(0.0, 1.0, RANDOM_SCHEDULES) ** 2, strict=True)
        tried[:RANDOM_SCHEDULES] = [(RANDOM, near + share * (each - near)) for (_, each), share in of_random]
    made = [(solver, year.operate(position[np.newaxis])) for solver, position in tried]
    label, about = str(year.labels[0]), {"seed": seed, "year": str(year.labels[0])}
    schedules: list[Row] = [
        {
            "solver": solver,
            **about,
            "fitness": float(year.fitness_of(each)[0]),
            "violation": float(each.violation_sum[0]),
        }
        for solver, each in made
    ]
    able = [place for place, row in enumerate(schedules) if row["violation"] == 0]
    best = max(able or range(len(made)), key=lambda place: schedules[place]["fitness"])
    fitness = schedules[best]["fitness"] if able else None

    def stated(of: str, began: float, proven: SystemBound) -> Row:
        infeasible = proven.bound == -np.inf
        row = {"bound": None if infeasible else min(proven.bound, _NOTHING), "infeasible": infeasible}
        boxes = sum(each.boxes for each in proven.of_reservoirs)
        row |= {"seconds": time.perf_counter() - began, "boxes": boxes}
        return {f"{of}{name}": each for name, each in row.items()}

    began = time.perf_counter()
    told = prove_system(year, made[best][1], study.gap, study.seconds)
    row: Row = {"year": label, "best": fitness, "scale": problems.least_gap_scale, **stated("", began, told)}
    if fitness is not None:
        below, began = BELOW * max(abs(fitness), problems.least_gap_scale), time.perf_counter()
        row |= stated("blind_", began, prove_system(year, made[best][1], study.gap, study.seconds, below=below))
    return {"bounds": [row], "schedules": schedules, "refused": refused}


def _is_quick(solver: str) -> bool:
    """Whether a solver runs on all random systems: on a device, or it is no population on the host."""
    return solver == AUTO or SOLVERS[solver].opencl or not SOLVERS[solver].seeded


def _effort_of(solver: str) -> dict[str, int]:
    """Settings of a solver for random systems."""
    known = {name for each in (STAGES if solver == AUTO else (solver,)) for name in settings_of(each)}
    return {name: value for name, value in SYSTEM_EFFORT.items() if name in known}
