"""The experiment: runs, tables, figures and claims put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import reservoir
from reservoir.bench.experiment import device_origin, processor_name
from reservoir.bench.networks.acceptance import network_checks
from reservoir.bench.networks.figures import ERRORS_CAPTION, TIMES_CAPTION, errors_figure, times_figure
from reservoir.bench.networks.loads import TABLES
from reservoir.bench.networks.policy_search import measure_policy_search
from reservoir.bench.networks.runs import BASELINE, NO_LOCAL, TWO_LEVEL, Course, all_runs, chosen, speed_pairs
from reservoir.bench.networks.tables import result_tables
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.errors import InputError, Mistake
from reservoir.opencl import choose_devices
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings

#: Iterations by table, and of the baseline where its time alone counts.
ITERATIONS = {1: 2000, 2: 2000, 3: 1000, 4: 1000, 5: 2000}
QUICK_ITERATIONS = {1: 100, 2: 100, 3: 100, 4: 100, 5: 20}
BASELINE_ITERATIONS, QUICK_BASELINE_ITERATIONS = 100, 10
THREADS = 2


def run(
    *,
    effort: RunBudget,
    tables: str | None = None,
    iterations: int | None = None,
    iterations_3: int | None = None,
    iterations_5: int | None = None,
    baseline_iterations: int | None = None,
    threads: int = THREADS,
    random: str = "stream",
    swarm: Mapping[str, Any] | None = None,
    reach: float = 1.0,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    effort : RunBudget
        Its runs are those of Table 3; times are medians of its repeats.
    tables : str, optional
        Numbers with commas between them; all if not given.
    iterations, iterations_3, iterations_5 : int, optional
        Of Tables 1, 2 and 4, of Table 3 and of Table 5; `ITERATIONS` if not given.
    baseline_iterations : int, optional
        Of the baseline where its time alone counts.
    threads : int
        Of the baseline.
    random : str
        One of `number_schemes.NUMBER_SCHEMES`.
    swarm : mapping, optional
        Other fields of `TwoLevelSettings`; the paper's values for those that are not given.
    reach : float
        First weights are drawn from -reach to reach.
    progress : callable

    Raises
    ------
    InputError
        If there is no such table or scheme, or a number is out of range.
    DeviceError
        If there is no OpenCL device of that name.
    """
    usual = QUICK_ITERATIONS if effort.quick else ITERATIONS
    asked = {1: iterations, 2: iterations, 3: iterations_3, 4: iterations, 5: iterations_5}
    course = Course(
        choose_devices(effort.device)[0],
        effort,
        _tables(tables),
        {table: asked[table] or usual[table] for table in TABLES},
        baseline_iterations or (QUICK_BASELINE_ITERATIONS if effort.quick else BASELINE_ITERATIONS),
        threads,
        random,
        dict(swarm or {}),
        reach,
    )
    TwoLevelSettings(**course.swarm)  # what is out of range is told before anything runs
    runs, traces = all_runs(course, progress)
    pairs = speed_pairs(course, progress) if 5 in course.tables else pd.DataFrame()
    searches, caveats = measure_policy_search(course, progress)
    return _record(course, runs, traces, pairs, searches, caveats)


def _tables(names: str | None) -> tuple[int, ...]:
    if names is None:
        return TABLES
    found = sorted({name.strip() for name in names.split(",")})
    unknown = [name for name in found if name not in map(str, TABLES)]
    if unknown:
        raise InputError(
            Mistake("there is no such table", "1 to 5, with commas between", column="--tables", value=unknown)
        )
    return tuple(map(int, found))


def _record(
    course: Course,
    runs: pd.DataFrame,
    traces: pd.DataFrame,
    pairs: pd.DataFrame,
    searches: pd.DataFrame,
    caveats: tuple[str, ...],
) -> ExperimentResult:
    device, effort = course.device, course.effort
    foot = (
        f"{device.name} ({device.platform} {device.driver}); baseline: {course.threads} threads of {processor_name()}"
    )
    foot += f" · {QUICK_WARNING}" if effort.quick else ""
    figures, captions = {}, {}
    if 1 in course.tables:
        figures["times"], captions["times"] = times_figure(runs, foot), TIMES_CAPTION
    if 3 in course.tables:
        figures["errors"], captions["errors"] = errors_figure(traces, foot), ERRORS_CAPTION
    data = {"runs": runs, "errors": traces, "speed": pairs, "policy_search": searches}
    return ExperimentResult(
        title=f"Networks trained by particle swarms, on {device.name}",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines=_headlines(course, runs, pairs, searches),
        checks=tuple(network_checks(course, runs, pairs, searches)),
        tables=tuple(result_tables(course, runs, pairs, searches, caveats)),
        data={name: frame for name, frame in data.items() if len(frame)},
        figures=figures,
        captions=captions,
        origin=_origin(course),
    )


def _headlines(course: Course, runs: pd.DataFrame, pairs: pd.DataFrame, searches: pd.DataFrame) -> dict[str, str]:
    found = {}
    if len(pairs):
        words = f"{np.median(pairs['ratio']):,.2f} times the baseline on {course.threads} threads"
        found["Speed"] = f"{words} (6-30-2, 5000 samples, 1024 particles)"
    if 3 in course.tables:
        seconds = {each: chosen(runs, 3, each)["seconds"].median() for each in (TWO_LEVEL, NO_LOCAL, BASELINE)}
        found["Two levels"] = f"{seconds[NO_LOCAL] / seconds[TWO_LEVEL]:,.1f} times as fast as without a local level"
    generations = int(searches["generations"].iloc[0])
    found["Policy search"] = f"{searches['seconds'].median():,.2f} s for {generations:,} generations of 512 networks"
    return found


def _origin(course: Course) -> dict[str, Any]:
    settings = TwoLevelSettings(**course.swarm).as_dict()
    varied = ("particles", "generations")
    return {
        "processor": processor_name(),
        "device": device_origin(course.device),
        "version": reservoir.__version__,
        "quick": course.effort.quick,
        "runs": course.effort.runs,
        "seed": course.effort.seed,
        "tables": list(course.tables),
        "iterations": {f"table {table}": course.iterations[table] for table in course.tables},
        "baseline_iterations": course.baseline_iterations,
        "threads": course.threads,
        "random": course.random,
        "settings": {name: value for name, value in settings.items() if name not in varied} | {"reach": course.reach},
    }
