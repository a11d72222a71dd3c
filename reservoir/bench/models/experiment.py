"""CLPSO's models on the eight functions: Tables 3, 4 and 7 of Yu et al. 2020 (Complexity 6589658, section 5)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reservoir.bench.benchmark_functions import rotation
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.models.figures import CAPTIONS, model_figures
from reservoir.bench.models.findings import ModelFindings, model_checks
from reservoir.bench.models.runs import DIMENSION, PARTICLES, ModelSetup, engines, measure_throughput, model_runs
from reservoir.bench.models.tables import result_tables
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.functions import functions_named
from reservoir.report.folder import run_provenance
from reservoir.solvers.clpso.models import LANES


def run(
    *,
    effort: RunBudget,
    journal: Journal,
    functions: str | None = None,
    models: str | None = None,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    journal : Journal
        Runs that it has are not made again.
    functions, models : str, optional
        Names with commas between them; all if not given.
    """
    setup = ModelSetup.of(effort, progress, functions=functions_named(functions), engines=engines(models))
    about = {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()}
    journal.begin(setup.origin() | _origin(setup) | about)
    return model_result(ModelFindings(setup, *model_runs(setup, journal), measure_throughput(setup)))


def _origin(setup: ModelSetup) -> dict[str, Any]:
    settings = {"dimension": DIMENSION, "particles": PARTICLES, "generations": setup.generations}
    ran = {"functions": [each.name for each in setup.functions], "engines": [each.name for each in setup.engines]}
    return ran | {"settings": settings} | rotation(map(setup.problem, setup.functions))[1]


def model_result(found: ModelFindings) -> ExperimentResult:
    """What the runs come to."""
    setup = found.setup
    matrix, _ = rotation(map(setup.problem, setup.functions))
    return setup.result(
        f"CLPSO's models on benchmark functions, on {setup.device.name}",
        headlines=_headlines(found) if len(found.throughput) else {},
        checks=model_checks(found),
        tables=result_tables(found),
        data={"runs": found.runs, "convergence": _bands(found.traces)} | matrix | {"many_swarms": found.throughput},
        figures=model_figures(found),
        captions=CAPTIONS,
        **_origin(setup),
    )


def _headlines(found: ModelFindings) -> dict[str, str]:
    fastest, swarms = found.throughput["evaluations_per_device_second"].max(), int(found.speed_of(LANES)["swarms"])
    return {
        "Speed-up": f"{found.lanes_speed_up:.2f} times the sequential engine on one thread, {swarms} swarms on f5",
        "Fastest": f"{fastest / 1e6:,.1f} million evaluations of f5 a second of device time",
    }


def _bands(traces: pd.DataFrame) -> pd.DataFrame:
    """Traces of all runs by what a figure draws of them."""
    over = traces.groupby(["function", "engine", "generation"], sort=False)["best"]
    parts = {"tenth": 0.1, "median": 0.5, "nine_tenths": 0.9}
    return pd.DataFrame({name: over.quantile(part) for name, part in parts.items()}).reset_index()
