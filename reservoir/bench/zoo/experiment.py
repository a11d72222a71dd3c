"""All solvers on random reservoirs: how many years each leaves how far from dynamic programming, and on which."""

from __future__ import annotations

from typing import Any

from reservoir.bench.data import bundled
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.zoo.figures import zoo_figures
from reservoir.bench.zoo.findings import KIND_GAP, ZooFindings, beyond, short_gap, zoo_checks
from reservoir.bench.zoo.runs import (
    HOST_RESERVOIRS,
    HOST_YEARS,
    QUICK_HOST_RESERVOIRS,
    QUICK_HOST_YEARS,
    QUICK_RESERVOIRS,
    QUICK_YEARS,
    RESERVOIRS,
    YEARS,
    ZooSetup,
    usable_solvers,
    zoo_runs,
)
from reservoir.bench.zoo.tables import result_tables
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.folder import run_provenance
from reservoir.zoo.zoo import Part

BOTH = "both"
_CAVEAT = "Invented reservoirs and inflows: shares of years depend on how they are drawn."
_SHARED = "Seconds: {} reservoirs at a time shared the device and the processors."


def run(
    *,
    budget: RunBudget,
    journal: Journal,
    part: str = BOTH,
    solvers: str | None = None,
    reservoirs: int | None = None,
    years: int | None = None,
    host_reservoirs: int | None = None,
    host_years: int | None = None,
    jobs: int = 1,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    journal : Journal
        Reservoirs that it has are not solved again.
    part : str
        ``tuning``, ``test`` or ``both``.
    solvers : str, optional
        Names with commas between them; all that can run here if not given.
    reservoirs, years : int, optional
        Reservoirs of each part, and years of each record.
    host_reservoirs, host_years : int, optional
        Of them, for solvers that run on the host.
    jobs : int
        Reservoirs at a time, each in a process of its own.
    """
    setup = ZooSetup.of(
        budget,
        progress,
        parts=tuple(Part) if part == BOTH else (Part[part.upper()],),
        solvers=usable_solvers(solvers),
        reservoirs=reservoirs or budget.usual(RESERVOIRS, QUICK_RESERVOIRS),
        years=years or budget.usual(YEARS, QUICK_YEARS),
        host_reservoirs=host_reservoirs or budget.usual(HOST_RESERVOIRS, QUICK_HOST_RESERVOIRS),
        host_years=host_years or budget.usual(HOST_YEARS, QUICK_HOST_YEARS),
        jobs=jobs,
    )
    about = {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()}
    journal.begin(setup.origin() | _origin(setup) | about)
    return zoo_result(ZooFindings(setup, zoo_runs(setup, journal)))


def _origin(setup: ZooSetup) -> dict[str, Any]:
    names = ("reservoirs", "years", "host_reservoirs", "host_years")
    sizes = {name: getattr(setup, name) for name in names}
    return {"parts": [part.name.lower() for part in setup.parts], "solvers": list(setup.solvers)} | sizes


def zoo_result(found: ZooFindings) -> ExperimentResult:
    """What the runs come to."""
    runs = found.runs
    return found.setup.result(
        f"Random reservoirs, on {found.setup.device.name}",
        caveats=(_CAVEAT, _SHARED.format(found.setup.jobs))[: 1 + (found.setup.jobs > 1)],
        headlines=_headlines(found),
        checks=zoo_checks(found),
        tables=result_tables(found),
        data={"reservoirs": runs.reservoirs, "calls": runs.calls, "years": runs.years, "kinds": found.by_kind()},
        figures=zoo_figures(found),
        captions=bundled("zoo")["captions"],
        **_origin(found.setup),
        jobs=found.setup.jobs,
    )


def _headlines(found: ZooFindings) -> dict[str, str]:
    """A line for each solver, of the last part that ran."""
    last = found.parts[-1]
    return {
        row["solver"]: f"{row[beyond(KIND_GAP)]:.2%} of {row['years']:,} years of the {last} part beyond "
        f"{short_gap(KIND_GAP)} of dp, worst {row['worst gap']:.1e}"
        for row in found.by_solver().to_dict("records")
        if row["part"] == last and row["years"]
    }
