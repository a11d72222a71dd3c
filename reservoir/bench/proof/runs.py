"""The runs of the experiment: all solvers on the years of each reservoir, and two proofs of each year.

A proof is told the best schedule and drops what cannot be better: its bound is then never below that schedule, whatever
was wrong with it. The second, blind proof is told less than that schedule is worth, so that no schedule has helped to
lift its bound above the best: it must come from the bounds of the brackets alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.journal import Journal
from reservoir.bench.zoo.rows import Place, Row, rows_of_reservoirs
from reservoir.bench.zoo.runs import ZooSetup
from reservoir.certificate.bound import PAIRS, Effort, Known, ProvenBound, compile_ahead, prove_bound
from reservoir.errors import ReservoirError
from reservoir.hydro.horizon import Horizon
from reservoir.planning.proof import LONGER_PAIRS
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers import Solutions
from reservoir.zoo.zoo import zoo_case

#: By how much less than the best schedule a blind proof is told that one is worth, a part of it.
BELOW = 1e-4


@dataclass(frozen=True, kw_only=True)
class ProofSetup(ZooSetup):
    """What is run: that of `ZooSetup`, and how long proofs are.

    Parameters
    ----------
    gap : float
        At which the proof of a year ends.
    seconds : float
        Most time of a proof, about, from when the code is compiled.
    """

    gap: float
    seconds: float

    def sizes(self) -> dict[str, Any]:
        """As `ZooSetup.sizes`."""
        return super().sizes() | {"gap": self.gap, "seconds": self.seconds}


@dataclass(frozen=True, eq=False)
class ProofRuns:
    """What all runs found.

    Parameters
    ----------
    years : DataFrame
        A row for each year: both bounds, the best schedule, seconds and boxes.
    schedules : DataFrame
        A row for each schedule: solver, seed, fitness and violation.
    refused : DataFrame
        A row for each call that a solver refused, with the reason.
    """

    years: pd.DataFrame
    schedules: pd.DataFrame
    refused: pd.DataFrame


def proof_runs(setup: ProofSetup, journal: Journal) -> ProofRuns:
    """Make all runs that the journal has not."""
    found = rows_of_reservoirs(setup, journal, _run_reservoir)
    tables = (
        pd.DataFrame([named | each for named, row in found for each in row[name]])
        for name in ("years", "schedules", "refused")
    )
    return ProofRuns(*tables)


def _run_reservoir(setup: ProofSetup, place: Place) -> Row:
    """All solvers and proofs of one reservoir, as a row of JSON."""
    case = zoo_case(place[1], setup.years, part=place[0])
    problems = record_problems(case.reservoir, case.inflow, Horizon())
    reference = setup.solve(problems.each, HOST_REFERENCE)
    calls, refused = [(HOST_REFERENCE, setup.budget.seed, reference)], []
    for solver in setup.solvers:
        years = setup.years_of(solver, case.number)
        for seed in setup.seeds_of(solver) if years else []:
            try:
                calls.append((solver, seed, setup.solve(problems.each[:years], solver, seed=seed)))
            except ReservoirError as error:
                refused.append({"solver": solver, "seed": seed, "refused": str(error)})
    years_found = [
        _proved(setup, problems, year, [found for _, _, found in calls if len(found) > year])
        for year in range(len(problems))
    ]
    schedules = [row for call in calls for row in _schedules(problems, *call)]
    return {"years": years_found, "schedules": schedules, "refused": refused}


def _schedules(problems: RecordProblems, solver: str, seed: int, found: Solutions) -> Iterator[Row]:
    rows = zip(problems.labels, found.fitness.tolist(), found.violation.tolist(), strict=False)
    for label, fitness, violation in rows:
        yield {"solver": solver, "seed": seed, "year": str(label), "fitness": fitness, "violation": violation}


def _proved(setup: ProofSetup, problems: RecordProblems, place: int, found: list[Solutions]) -> Row:
    """Both proofs of a year, near the best of its schedules."""
    year, scale = problems.each[place], problems.least_gap_scale
    kept = [each for each in found if each.violation[place] == 0]
    best = max(kept or found, key=lambda each: float(each.fitness[place]))
    fitness = float(best.fitness[place]) if kept else None
    storages = year.operate(np.asarray(best.position[place])).storage_hm3
    compile_ahead([Known(year, storages, fitness)])

    def proof(told: float | None, pairs: int) -> tuple[ProvenBound, float]:
        effort, began = Effort(setup.gap, setup.seconds, 1, scale, pairs), time.perf_counter()
        return prove_bound(year, storages, told, effort), time.perf_counter() - began

    bound, seconds = proof(fitness, LONGER_PAIRS)
    row: Row = {"year": str(year.label), "best": fitness, "scale": scale, **_told("", bound, seconds)}
    if fitness is None:
        return row
    below = BELOW * max(abs(fitness), scale)
    return row | _told("blind_", *proof(fitness - below - setup.gap * max(abs(fitness), scale), PAIRS))


def _told(of: str, bound: ProvenBound, seconds: float) -> Row:
    """A bound in JSON, which has no infinity."""
    told = None if bound.infeasible else bound.bound
    row = {"bound": told, "infeasible": bound.infeasible, "seconds": seconds, "boxes": bound.boxes}
    return {f"{of}{name}": value for name, value in row.items()}
