"""Proven bounds against the schedules of all solvers, on random reservoirs: none may be above; how close, how fast."""

from __future__ import annotations

from typing import Any

from reservoir.bench.experiment import in_order
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.proof.findings import GAPS, ProofFindings, proof_checks, share_within, within
from reservoir.bench.proof.runs import BELOW, ProofSetup, proof_runs
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.zoo.findings import short_gap
from reservoir.bench.zoo.runs import usable_solvers
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.folder import run_provenance
from reservoir.zoo.zoo import Part

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
