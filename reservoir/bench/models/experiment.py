"""The experiment: runs, tables, figures and claims put together."""

from __future__ import annotations

from typing import Any

import pandas as pd

import reservoir
from reservoir.bench.benchmark_functions import rotation_frames, rotation_origin
from reservoir.bench.experiment import device_origin, processor_name
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.models.acceptance import model_checks
from reservoir.bench.models.engines import engines, on_a_device
from reservoir.bench.models.figures import CONVERGENCE_CAPTION, TIMES_CAPTION, convergence_figure, times_figure
from reservoir.bench.models.findings import findings_table
from reservoir.bench.models.runs import DIMENSION, PARTICLES, Course, model_runs
from reservoir.bench.models.tables import others_table, table_3, table_4, table_7, throughput_table
from reservoir.bench.models.throughput import FUNCTION, lanes_speed_up, measure_throughput, speed_of
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.opencl import choose_devices
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
    effort : RunBudget
    journal : Journal
        Runs that it has are not made again.
    functions, models : str, optional
        Names with commas between them; all if not given.
    progress : callable

    Raises
    ------
    InputError
        If a name is unknown.
    DeviceError
        If there is no OpenCL device of that name.
    OutputError
        If the journal belongs to a call of other settings.
    """
    course = Course(functions_named(functions), engines(models), choose_devices(effort.device)[0], effort)
    origin = _origin(course)
    journal.begin(origin | {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()})
    runs, traces = model_runs(course, journal, progress)
    present = on_a_device(course.engines)
    asked_for_speed = LANES in present and any(each.name == FUNCTION for each in course.functions)
    throughput = measure_throughput(course, progress) if asked_for_speed else None
    return _record(course, runs, traces, throughput, origin)


def _record(
    course: Course, runs: pd.DataFrame, traces: pd.DataFrame, throughput: pd.DataFrame | None, origin: dict[str, Any]
) -> ExperimentResult:
    device, effort = course.device, course.effort
    foot = (
        f"{DIMENSION} dimensions, {PARTICLES} particles, {course.generations:,} generations, {effort.runs} runs · "
        f"{device.name} ({device.platform} {device.driver})" + (f" · {QUICK_WARNING}" if effort.quick else "")
    )
    data = {"runs": runs, "convergence": _bands(traces)} | rotation_frames(course.problems)
    tables = [table_3(runs), table_4(runs), others_table(runs), findings_table(runs)]
    tables += [table_7(runs, present)] if (present := on_a_device(course.engines)) else []
    if throughput is not None:
        data["many_swarms"] = throughput
        tables.append(throughput_table(throughput))
    return ExperimentResult(
        title=f"CLPSO's models on benchmark functions, on {device.name}",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines=_headlines(throughput),
        checks=tuple(model_checks(course, runs, throughput)),
        tables=tuple(tables),
        data=data,
        figures={"convergence": convergence_figure(traces, foot), "times": times_figure(runs, foot)},
        captions={"convergence": CONVERGENCE_CAPTION, "times": TIMES_CAPTION},
        origin=origin,
    )


def _headlines(throughput: pd.DataFrame | None) -> dict[str, str]:
    if throughput is None:
        return {}
    fastest, times = throughput["evaluations_per_device_second"].max() / 1e6, lanes_speed_up(throughput)
    swarms = int(speed_of(throughput, LANES)["swarms"])
    return {
        "Speed-up": f"{times:.2f} times the sequential engine on one thread, {swarms} swarms on f5",
        "Fastest": f"{fastest:,.1f} million evaluations of f5 a second of device time",
    }


def _bands(traces: pd.DataFrame) -> pd.DataFrame:
    """Traces of all runs by what a figure draws of them."""
    over = traces.groupby(["function", "engine", "generation"], sort=False)["best"]
    parts = {"tenth": 0.1, "median": 0.5, "nine_tenths": 0.9}
    return pd.DataFrame({name: over.quantile(part) for name, part in parts.items()}).reset_index()


def _origin(course: Course) -> dict[str, Any]:
    effort = course.effort
    return {
        "processor": processor_name(),
        "device": device_origin(course.device),
        "version": reservoir.__version__,
        "quick": effort.quick,
        "runs": effort.runs,
        "seed": effort.seed,
        "functions": [each.name for each in course.functions],
        "engines": [each.name for each in course.engines],
        "settings": {"dimension": DIMENSION, "particles": PARTICLES, "generations": course.generations},
    } | rotation_origin(course.problems)
