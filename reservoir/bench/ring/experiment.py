"""The experiment: runs, tables, figure and claims put together."""

from __future__ import annotations

from typing import Any

import pandas as pd

import reservoir
from reservoir.bench.effort import QUICK_WARNING, RunBudget
from reservoir.bench.machine import device_origin, processor_name
from reservoir.bench.record import Record
from reservoir.bench.ring.acceptance import DEAR, ring_checks
from reservoir.bench.ring.figures import CAPTION, ring_figure
from reservoir.bench.ring.findings import median_ratio, speed_up, values_of
from reservoir.bench.ring.runs import BATCH, Course, all_runs, standard_runs
from reservoir.bench.ring.tables import result_tables
from reservoir.errors import InputError, Mistake
from reservoir.opencl import choose_devices
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.sums.functions import FEWEST, MOST, RING_FUNCTIONS
from reservoir.solvers.ring_pso.engine import ASYNC, SYNC
from reservoir.solvers.ring_pso.settings import RingSettings

#: Powers of two as in the paper, and 10, of which more is known.
DIMENSIONS, QUICK_DIMENSIONS = (2, 4, 8, 10, 16, 32, 64, 128), (2, 10, 32)
GENERATIONS, QUICK_GENERATIONS = 10_000, 200
PARTICLES = 32


def run(
    *,
    effort: RunBudget,
    dimensions: str | None = None,
    generations: int | None = None,
    particles: int = PARTICLES,
    progress: StageProgress = silent_stage,
) -> Record:
    """Run the experiment.

    Parameters
    ----------
    effort : RunBudget
        Its runs are swarms of each engine, function and number of variables; times are medians of its repeats.
    dimensions : str, optional
        Numbers with commas between them.
    generations : int, optional
        10,000 if not given, as in the paper.
    particles : int
        Of a swarm.
    progress : callable

    Raises
    ------
    InputError
        If a number is out of range.
    DeviceError
        If there is no OpenCL device of that name.
    """
    usual = QUICK_DIMENSIONS if effort.quick else DIMENSIONS
    course = Course(
        choose_devices(effort.device)[0],
        effort,
        usual if dimensions is None else _dimensions(dimensions),
        generations or (QUICK_GENERATIONS if effort.quick else GENERATIONS),
        particles,
    )
    RingSettings(particles=particles, generations=course.generations)  # what is out of range is told at once
    runs, times = all_runs(course, progress)
    return _record(course, runs, times, standard_runs(course))


def _dimensions(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if not word.isdecimal() or not FEWEST <= int(word) <= MOST]
    if wrong:
        expected = f"{FEWEST} to {MOST:,}, with commas between"
        raise InputError(Mistake("is no number of variables", expected, column="--dimensions", value=wrong))
    return tuple(sorted({int(word) for word in words}))


def _record(course: Course, runs: pd.DataFrame, times: pd.DataFrame, standard: pd.DataFrame) -> Record:
    device, effort = course.device, course.effort
    foot = f"{course.particles} particles, {course.generations:,} generations, {effort.runs} runs · {device.name} "
    foot += f"({device.platform} {device.driver}); sequential: {processor_name()}"
    foot += f" · {QUICK_WARNING}" if effort.quick else ""
    return Record(
        title=f"Ring PSO on {device.name}",
        warnings=(QUICK_WARNING,) if effort.quick else (),
        headlines=_headlines(course, runs, times),
        checks=tuple(ring_checks(course, runs, times, standard)),
        tables=tuple(result_tables(course, runs, times, standard)),
        data={"runs": runs, "times": times, "standard_pso_2006": standard},
        figures={"by_variables": ring_figure(course.dimensions, runs, times, foot)},
        captions={"by_variables": CAPTION},
        origin=_origin(course),
    )


def _headlines(course: Course, runs: pd.DataFrame, times: pd.DataFrame) -> dict[str, str]:
    largest = course.dimensions[-1]
    alone, many = (speed_up(times, DEAR, largest, ASYNC, alone=each) for each in (True, False))
    sync = speed_up(times, DEAR, largest, SYNC, alone=True)
    ratio = max(
        median_ratio(*(values_of(runs, name, largest, mode) for mode in (ASYNC, SYNC))) for name in RING_FUNCTIONS
    )
    title = RING_FUNCTIONS[DEAR].title
    return {
        "Speed": f"{title}, {largest} variables: async {alone / sync:,.1f} x sync; beside the sequential engine "
        f"{alone:,.1f} x alone, {many:,.1f} x with {min(BATCH, course.effort.runs)} swarms a call",
        "Quality": f"async / sync, {largest} variables: ratio of medians at most {ratio:,.2f}",
    }


def _origin(course: Course) -> dict[str, Any]:
    settings = RingSettings().as_dict()
    return {
        "processor": processor_name(),
        "device": device_origin(course.device),
        "version": reservoir.__version__,
        "quick": course.effort.quick,
        "runs": course.effort.runs,
        "seed": course.effort.seed,
        "dimensions": list(course.dimensions),
        "generations": course.generations,
        "particles": course.particles,
        "settings": {name: settings[name] for name in ("inertia", "cognitive", "social", "wall")},
    }
