"""Proven bounds against the schedules of all solvers, on random reservoirs: none may be above; how close, how fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.proof.runs import BELOW, ProofRuns, ProofSetup, proof_runs
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.setup import in_order, select
from reservoir.bench.tables import ResultTable, result_table
from reservoir.bench.zoo.findings import short_gap
from reservoir.bench.zoo.runs import usable_solvers
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.folder import run_provenance
from reservoir.zoo.zoo import Part

#: Gaps that years are counted within; what rounding adds to a gap that was reached is a part of it.
GAPS = (1e-5, 1e-4, 1e-3)
_ROUNDING = 1e-3

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class ProofFindings:
    """Runs, and numbers of them."""

    setup: ProofSetup
    runs: ProofRuns

    @cached_property
    def years(self) -> pd.DataFrame:
        """The years, with the gap of each to the bound, and the part by which the blind bound is above the best."""
        years = self.runs.years
        for name in ("best", "blind_bound", "blind_infeasible", "blind_seconds"):
            if name not in years:
                years = years.assign(**{name: np.nan})
        return years.assign(
            gap=_part(_bound(years, ""), years["best"], years["scale"]),
            blind_gap=_part(_bound(years, "blind_"), years["best"], years["scale"]),
        )

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Schedules that keep their limits, with the largest part by which each is above a bound of its year."""
        kept = self.runs.schedules[self.runs.schedules["violation"] == 0]
        both = kept.merge(self.years, on=["part", "number", "year"])
        above = [-_part(_bound(both, of), both["fitness"], both["scale"]) for of in ("", "blind_")]
        return both.assign(excess=above[0], blind_excess=above[1])

    @property
    def beyond(self) -> int:
        """How many schedules are above a bound of their year."""
        return int(_above(self.compared).sum())

    def by_part(self) -> pd.DataFrame:
        """A row for each part: shares within gaps, and seconds."""
        return pd.DataFrame([self._of_part(part) for part in in_order(self.years["part"])])

    def _of_part(self, part: str) -> Row:
        years = select(self.years, part=part)
        known = years[years["best"].notna()]
        row: Row = {"part": part, "years": len(known)}
        row |= {within(gap): share_within(known, gap) for gap in GAPS}
        row |= {"worst gap": known["gap"].max(), "blind, median": known["blind_gap"].median()}
        row |= {"no schedule, proved": int(years["infeasible"].astype(bool).sum())}
        row |= {"none known, not proved": int((years["best"].isna() & ~years["infeasible"].astype(bool)).sum())}
        seconds = known["seconds"]
        row |= {"seconds, median": seconds.median(), "seconds, mean": seconds.mean(), "seconds, most": seconds.max()}
        return row | {"blind seconds, mean": known["blind_seconds"].mean()}

    def by_solver(self) -> pd.DataFrame:
        """A row for each solver: schedules compared, and how close they come to a bound from below."""
        rows = []
        for solver in in_order(self.compared["solver"]):
            mine = select(self.compared, solver=solver)
            largest = {"largest excess": mine["excess"].max(), "blind, largest excess": mine["blind_excess"].max()}
            above = int(_above(mine).sum())
            rows.append({"solver": solver, "schedules": len(mine), **largest, "above a bound": above})
        return pd.DataFrame(rows)


def within(gap: float) -> str:
    """Name of a column of shares."""
    return f"within {short_gap(gap)}"


def share_within(years: pd.DataFrame, gap: float) -> float:
    """Share of the years that are proved to a gap; NaN of none."""
    return float((years["gap"] <= gap * (1 + _ROUNDING)).mean()) if len(years) else np.nan


def proof_checks(found: ProofFindings) -> Iterator[Check]:
    """What must hold: no schedule that keeps its limits is above a bound, whatever the effort."""
    yield Check(f"schedules above a proven bound of their year, of {len(found.compared):,}", found.beyond, 0)


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


BOTH = "both"
#: Years in all, those of each reservoir, and reservoirs of a part for solvers on the host, of which they get one year.
YEARS, QUICK_YEARS, YEARS_EACH, HOST_RESERVOIRS, HOST_YEARS = 200, 4, 10, 20, 1
_CAVEAT = "Invented reservoirs and inflows: shares of years depend on how they are drawn."
_SHARED = "Seconds: {} reservoirs at a time shared the processors."


def run(
    *,
    budget: RunBudget,
    journal: Journal,
    part: str = BOTH,
    solvers: str | None = None,
    years: int | None = None,
    gap: float = 1e-5,
    prove_seconds: float = 10.0,
    jobs: int = 1,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    journal : Journal
        Reservoirs that it has are not solved and proved again.
    part : str
        ``tuning``, ``test`` or ``both``.
    solvers : str, optional
        Names with commas between them; all that can run here if not given.
    years : int, optional
        Years of all parts together, of which each reservoir has ten; up to whole reservoirs of each part.
    gap, prove_seconds : float
        At which the proof of a year ends, and after how long at the latest.
    jobs : int
        Reservoirs at a time, each in a process of its own.
    """
    parts, count = tuple(Part) if part == BOTH else (Part[part.upper()],), years or budget.usual(YEARS, QUICK_YEARS)
    each = min(YEARS_EACH, max(count // len(parts), 1))
    setup = ProofSetup.of(
        budget,
        progress,
        parts=parts,
        solvers=usable_solvers(solvers),
        reservoirs=-(-count // (each * len(parts))),
        years=each,
        host_reservoirs=budget.usual(HOST_RESERVOIRS, 1),
        host_years=HOST_YEARS,
        jobs=jobs,
        gap=gap,
        seconds=prove_seconds,
    )
    about = {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()}
    journal.begin(setup.origin() | _origin(setup) | about)
    return proof_result(ProofFindings(setup, proof_runs(setup, journal)))


def _origin(setup: ProofSetup) -> dict[str, Any]:
    sizes = {name: getattr(setup, name) for name in ("reservoirs", "years", "host_reservoirs", "gap", "seconds")}
    return {"parts": [part.name.lower() for part in setup.parts], "solvers": list(setup.solvers)} | sizes


def proof_result(found: ProofFindings) -> ExperimentResult:
    """What the runs come to."""
    jobs = found.setup.jobs
    return found.setup.result(
        f"Proven bounds against schedules, on {found.setup.device.name}",
        caveats=(_CAVEAT, _SHARED.format(jobs))[: 1 + (jobs > 1)],
        headlines=_headlines(found),
        checks=proof_checks(found),
        tables=[table for table in _tables(found) if len(table.frame)],
        data={"years": found.years, "schedules": found.compared},
        **_origin(found.setup),
        jobs=jobs,
    )


def _headlines(found: ProofFindings) -> dict[str, str]:
    compared, years = found.compared, found.years
    largest = {name: f"{compared[name].max():.1e}" for name in ("excess", "blind_excess")}
    lines = {
        "schedules": f"{len(compared):,} compared, {found.beyond} above a bound; largest (schedule - bound) / schedule "
        f"{largest['excess']}, of blind proofs {largest['blind_excess']}"
    }
    for part in in_order(years["part"]):
        known = years[(years["part"] == part) & years["best"].notna()]
        shares = ", ".join(f"{share_within(known, gap):.1%} within {short_gap(gap)}" for gap in GAPS[:2])
        seconds = f"{known['seconds'].median():.2g} s a proof (median), {known['seconds'].mean():.2g} s (mean)"
        lines[f"{part} part"] = f"{len(known):,} years: {shares}; {seconds}"
    return lines


def _tables(found: ProofFindings) -> list[ResultTable]:
    shares = dict.fromkeys(map(within, GAPS), ".1%")
    forms = shares | {"worst gap": ".1e", "blind, median": ".1e"}
    notes = [
        "Years with a schedule that keeps their limits; shares of them whose best schedule is so close to the bound.",
        f"A blind proof is told {BELOW:g} less than the best schedule is worth, so that its bound cannot rest on that "
        "schedule; *blind, median* is by how much that bound is above the best.",
        "*None known, not proved*: no solver found a schedule that keeps the limits, and that there is none is not "
        "proved. Seconds on one core.",
    ]
    excess = {"largest excess": ".1e", "blind, largest excess": ".1e"}
    note = "(Schedule - bound) / schedule, of schedules that keep their limits: a bound holds where it is not above 0."
    return [
        result_table("By part", found.by_part(), *notes, **forms),
        result_table("By solver", found.by_solver(), note, **excess),
        result_table("Refused", found.runs.refused),
    ]
