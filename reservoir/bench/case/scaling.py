"""How speed depends on the size of the work and on the layout of the device: a row a point of `sweeps`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.case.engine_runs import DEVICE_ENGINE
from reservoir.bench.case.sweeps import Point, sweep_points
from reservoir.bench.result import ResultTable
from reservoir.bench.run_budget import RunBudget
from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import StageProgress
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import Solution, Solutions, solve
from reservoir.solvers.clpso.settings import SwarmSettings

#: Distance of the streams of random numbers of a year and its copy: more than there are years in any record.
STREAM_STEP = 10_000
#: Generations and years of the run that builds a point's program and finds out how fast it is, at most.
PROBE_GENERATIONS, PROBE_YEARS = 20, 1000
#: Generations of a point: enough that the first, whose particles are all over the place, do not count for much.
FEWEST_GENERATIONS, MOST_GENERATIONS = 50, SwarmSettings().generations
#: Of the table of points, also where a device refuses them all.
COLUMNS = (
    *("sweep", "value", "years", "particles", "devices", "generations", "lanes", "items", "swarms", "runs"),
    *("device_seconds", "wall_seconds", "moves_per_second", "evaluations_per_second", "part_of_limit", "refused"),
)


@dataclass(frozen=True)
class Bench:
    """What the points have in common.

    Parameters
    ----------
    years : sequence of ReservoirYear
        The record.
    devices : sequence of DeviceInfo
        The one that is measured, and then those that could share the work with it.
    moves_limit : float
        Particle moves a second that the first device's arithmetic allows.
    effort : RunBudget
    """

    years: Sequence[ReservoirYear]
    devices: Sequence[DeviceInfo]
    moves_limit: float
    effort: RunBudget


def measure_scaling(bench: Bench, progress: StageProgress) -> pd.DataFrame:
    """Measure every point; one that the device refuses keeps its reason."""
    points = list(sweep_points(len(bench.years), bench.devices[0], len(bench.devices), bench.effort))
    rows = []
    for done, point in enumerate(points):
        progress("scaling", done, len(points))
        rows.append(measure_point(bench, point))
    progress("scaling", len(points), len(points))
    return pd.DataFrame(rows, columns=COLUMNS)


def ensemble(years: Sequence[ReservoirYear], count: int) -> list[ReservoirYear]:
    """The record over and over until there are `count` years, each with random numbers of its own."""
    copies, rest = divmod(count, len(years))
    repeated = [
        replace(year, rng_stream_id=year.rng_stream_id + STREAM_STEP * copy)
        for copy in range(copies + (rest > 0))
        for year in years
    ]
    return repeated[:count]


def measure_point(bench: Bench, point: Point) -> dict[str, Any]:
    """A row of the table: the point, and medians of its runs."""
    where = ",".join(str(device.index) for device in bench.devices[: point.devices])
    problems = ensemble(bench.years, point.years)
    row: dict[str, Any] = {
        "sweep": point.sweep,
        "value": point.value,
        "years": point.years,
        "particles": point.particles,
        "devices": point.devices,
    }
    try:
        generations = point.generations or generations_for(problems, point, bench)
        runs = [
            _timed(_solved(problems, point, where, bench.effort.seed + repeat, generations))
            for repeat in range(bench.effort.repeats)
        ]
    except InputError as refusal:
        return row | {"refused": str(refusal)}
    return row | _speeds(runs, point, bench.moves_limit) | {"refused": ""}


def _solved(problems: Sequence[ReservoirYear], point: Point, where: str, seed: int, generations: int) -> Solutions:
    options = point.options() | {"generations": generations}
    return solve(problems, solver=DEVICE_ENGINE, seed=seed, device=where, **options)


def generations_for(problems: Sequence[ReservoirYear], point: Point, bench: Bench) -> int:
    """As many generations as fill the time of a point on one device, by a short run of some of its years."""
    some, where, effort = problems[:PROBE_YEARS], str(bench.devices[0].index), bench.effort
    _solved(some, point, where, effort.seed, 1)  # builds
    probe = _solved(some, point, where, effort.seed, PROBE_GENERATIONS)
    generation_seconds = (probe[0].device_seconds or 1e-9) / PROBE_GENERATIONS * len(problems) / len(some)
    return int(np.clip(effort.point_seconds / generation_seconds, FEWEST_GENERATIONS, MOST_GENERATIONS))


def _timed(solutions: Solutions) -> tuple[Solution, int]:
    """What is needed of a run: one of its solutions, and all evaluations; a hundred thousand years take memory."""
    return solutions[0], int(solutions.evaluations.sum())


def _speeds(runs: Sequence[tuple[Solution, int]], point: Point, moves_limit: float) -> dict[str, Any]:
    first = runs[0][0]
    device_seconds = statistics.median(solution.device_seconds or np.nan for solution, _ in runs)
    moves = point.years * point.particles * first.generations
    evaluations = statistics.median(count for _, count in runs)
    return {
        "generations": first.generations,
        **{name: first.settings[name] for name in ("lanes", "items", "swarms")},
        "runs": len(runs),
        "device_seconds": device_seconds,
        "wall_seconds": statistics.median(solution.wall_seconds for solution, _ in runs),
        "moves_per_second": moves / device_seconds,
        "evaluations_per_second": evaluations / device_seconds,
        "part_of_limit": moves / device_seconds / (moves_limit * point.devices),
    }


def scaling_table(points: pd.DataFrame, effort: RunBudget) -> ResultTable:
    """The points, for reading."""
    shown = pd.DataFrame(
        {
            "sweep": points["sweep"],
            "years": points["years"],
            "particles": points["particles"],
            "generations": points["generations"],
            "lanes": points["lanes"],
            "years a group": points["swarms"],
            "devices": points["devices"],
            "device, s": points["device_seconds"],
            "whole call, s": points["wall_seconds"],
            "moves, M/s": points["moves_per_second"] / 1e6,
            "feasible evaluations, M/s": points["evaluations_per_second"] / 1e6,
            "of the limit, %": 100 * points["part_of_limit"],
        }
    )
    whole = dict.fromkeys(("years", "particles", "generations", "lanes", "years a group", "devices"), ",.0f")
    formats = whole | {"moves, M/s": ",.1f", "feasible evaluations, M/s": ",.1f", "of the limit, %": ".1f"}
    runs = f"medians of {effort.repeats} runs" if effort.repeats > 1 else "one run"
    notes = (
        f"Moves a second: years x particles x generations / seconds of the device; {runs}. Where generations are not "
        f"the sweep, there are as many as take one device about {effort.point_seconds:g} s, {MOST_GENERATIONS:,} at "
        "most. Only moves that end within the bounds are evaluated. The record's years are repeated, each with random "
        "numbers of its own. The whole call holds the host's work in Python, year by year.",
        *(f"Refused: {reason}" for reason in dict.fromkeys(points["refused"]) if reason),
    )
    return ResultTable("Scaling", shown, notes, formats)
