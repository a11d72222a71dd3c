"""What planning costs a year, from a thousand years to many: the whole command, as a user types it."""

from __future__ import annotations

from pathlib import Path

from reservoir.bench.experiment import names_named, numbers_named
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.scale.figures import scale_figures
from reservoir.bench.scale.findings import ScaleFindings, scale_checks, scale_tables
from reservoir.bench.scale.runs import MEMBER_YEARS, METHOD, ScaleSetup, scale_runs
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.solvers import SOLVERS

YEARS, QUICK_YEARS = "1000,3000,10000,30000,100000", "100,200"
#: Solvers of the claims.
USUAL = "lshade,clpso"
_CAPTION = (
    "Above: seconds of the whole command `reservoir plan` by years of the ensemble (medians), and the straight line "
    "through them; years are on a logarithmic axis. Below: where the seconds go."
)


def run(
    reservoir: Reservoir,
    record: Inflow,
    *,
    budget: RunBudget,
    years: str | None = None,
    solvers: str | None = None,
    reference: bool = True,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Plan synthetic ensembles that are like a record.

    Parameters
    ----------
    years : str, optional
        Numbers of years with commas between them, multiples of `MEMBER_YEARS`.
    solvers : str, optional
        Names with commas between them.
    reference : bool
        Compare every year with dynamic programming, as `reservoir plan` does.
    """
    asked = years or budget.usual(YEARS, QUICK_YEARS)
    problem, expected = "these are no numbers of years of whole members", f"multiples of {MEMBER_YEARS}"
    counts = numbers_named(asked, lambda count: count > 0 and not count % MEMBER_YEARS, problem, expected, "years")
    setup = ScaleSetup.of(
        budget,
        progress,
        reservoir=reservoir,
        record=record,
        years=counts,
        solvers=names_named(solvers or USUAL, SOLVERS, "there is no such solver", "solvers"),
        reference=reference,
        devices=budget.device,
    )
    found = ScaleFindings(setup, scale_runs(setup))
    return setup.result(
        f"Cost of a year, on {setup.device.name}",
        caveats=(f"The inflow is synthetic ({METHOD}), made from {Path(record.source).name or 'a record'}.",),
        headlines={solver: _headline(found, solver) for solver in found.solvers},
        checks=scale_checks(found),
        tables=scale_tables(found),
        data={"runs": found.runs, "points": found.points},
        figures=scale_figures(found),
        captions={"scale": _CAPTION},
        years=list(counts),
        reference=reference,
    )


def _headline(found: ScaleFindings, solver: str) -> str:
    line, last = found.line(solver), found.points[found.points["solver"] == solver].iloc[-1]
    each = f"{1000 * line.year_seconds:.3g} ms a year and {line.fixed_seconds:.1f} s for any plan"
    return f"{last['years']:,.0f} years in {last['seconds']:.1f} s, {last['memory_mb']:,.0f} MB; {each}"
