"""The experiment: runs, tables, figures and claims put together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import reservoir
from reservoir import resources
from reservoir.bench.experiment import device_origin, processor_name
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.bench.tours.acceptance import tour_checks
from reservoir.bench.tours.figures import CAPTIONS, tour_figures
from reservoir.bench.tours.runs import ISLAND, SERIAL, Course, block_runs, counts, engine_runs, strong_runs
from reservoir.bench.tours.tables import TITLES, ByPopulation, median_ms, relative_errors, result_tables
from reservoir.errors import InputError, Mistake
from reservoir.opencl import choose_devices
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.tours.problem import tour_problem
from reservoir.solvers.island_ga.settings import IslandSettings

ITERATIONS, QUICK_ITERATIONS = 1000, 100
POPULATIONS = (1024, 2048, 4096, 8192, 16384, 32768)
QUICK_POPULATIONS = POPULATIONS[:2]


def run(
    *,
    effort: RunBudget,
    path: Path | None = None,
    optimum: int | None = None,
    iterations: int | None = None,
    populations: str | None = None,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    effort : RunBudget
        Its runs are those of every engine and population; Table 3's times are medians of its repeats.
    path : Path, optional
        A file of TSPLIB; the bundled att48 if not given.
    optimum : int, optional
        Length of the shortest tour; see `tour_problem`.
    iterations : int, optional
        Of every island; 1000 if not given, as in the paper.
    populations : str, optional
        Numbers with commas between them.
    progress : callable

    Raises
    ------
    InputError
        With every mistake in the file, or if a number is out of range.
    DeviceError
        If there is no OpenCL device of that name, or it cannot hold an island.
    """
    problem = tour_problem(path or resources.path("data", "tsp/att48.tsp"), optimum)
    usual = QUICK_POPULATIONS if effort.quick else POPULATIONS
    course = Course(
        choose_devices(effort.device)[0],
        effort,
        problem,
        iterations or (QUICK_ITERATIONS if effort.quick else ITERATIONS),
        usual if populations is None else _populations(populations),
    )
    runs = engine_runs(course, progress)
    blocks = block_runs(course, progress)
    strong = strong_runs(course, progress)
    return _record(course, runs, blocks, counts(course), strong)


def _populations(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if not word.isdecimal() or int(word) % ISLAND or not ISLAND <= int(word) <= 2**16]
    if wrong:
        expected = f"multiples of {ISLAND} up to {2**16:,}, with commas between"
        raise InputError(Mistake("is no population of whole islands", expected, column="--populations", value=wrong))
    return tuple(sorted({int(word) for word in words}))


def _record(
    course: Course, runs: pd.DataFrame, blocks: pd.DataFrame, counted: pd.DataFrame, strong: pd.DataFrame
) -> ExperimentResult:
    device, effort, problem = course.device, course.effort, course.problem
    foot = f"{problem.label}, {course.iterations:,} iterations · {device.name} ({device.platform} {device.driver})"
    foot += f"; serial: {processor_name()}" + (f" · {QUICK_WARNING}" if effort.quick else "")
    wall, errors = median_ms(runs), relative_errors(course, runs)
    return ExperimentResult(
        title=f"Genetic algorithms on islands: {problem.label} on {device.name}",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines=_headlines(wall, errors, strong),
        checks=tuple(tour_checks(course, runs, strong)),
        tables=tuple(result_tables(course, runs, blocks, counted, strong)),
        data={"runs": runs, "blocks": blocks, "synchronisations": counted, "other_operators": strong},
        figures=tour_figures(wall, errors, foot),
        captions=CAPTIONS,
        origin=_origin(course),
    )


def _headlines(wall: ByPopulation, errors: ByPopulation, strong: pd.DataFrame) -> dict[str, str]:
    largest = max(wall)
    times = wall[largest]
    beside = ", ".join(
        f"{times[name] / times['lim-is']:,.1f} x {TITLES[name]}"
        for name in (SERIAL, "tim", "sak", "slk")
        if name in times
    )
    milliseconds = 1e3 * strong["seconds"].median()
    return {
        "LIM-IS": f"{times['lim-is']:,.1f} ms with {largest:,} individuals; faster by: {beside}",
        "Error": ", ".join(f"{each['lim-is']:.3f} with {population:,}" for population, each in errors.items()),
        "Operators": f"{strong['length'].min():,} in {milliseconds:,.0f} ms by 2-opt moves and order crossover",
    }


def _origin(course: Course) -> dict[str, Any]:
    settings = IslandSettings().for_encoding(course.problem.encoding).as_dict()
    kept = ("selection_fraction", "crossover_fraction", "migrate_every", "migrants", "crossover", "mutation")
    return {
        "processor": processor_name(),
        "device": device_origin(course.device),
        "version": reservoir.__version__,
        "quick": course.effort.quick,
        "runs": course.effort.runs,
        "seed": course.effort.seed,
        "problem": course.problem.label,
        "cities": course.problem.dimension,
        "optimum": course.problem.optimum,
        "iterations": course.iterations,
        "populations": list(course.populations),
        "island_size": ISLAND,
        "settings": {name: settings[name] for name in kept},
    }
