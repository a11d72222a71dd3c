"""How speed depends on the size of the work and on the layout of the device: sweeps that change one thing at a time."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.case.arithmetic import CPU_LANES
from reservoir.bench.case.runs import DEVICE_ENGINE
from reservoir.bench.setup import DeviceSetup
from reservoir.bench.tables import ResultTable, result_table
from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import Solution, Solutions, solve
from reservoir.solvers.clpso.settings import SwarmSettings

PARTICLES = 40
#: What is changed -> how a figure names it.
SWEEPS = {
    "years": "Years",
    "particles": "Particles per swarm",
    "generations": "Generations",
    "lanes": "Lanes of a vector",
    "swarms": "Years per work group",
    "devices": "Devices",
}
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
class Sizes:
    """The points of every sweep: years beside those of the record, and as many as fill a GPU; lanes are of a CPU."""

    years: tuple[int, ...] = (200, 1000, 3000, 10_000, 30_000, 100_000)
    particles: tuple[int, ...] = (16, 32, PARTICLES, 64, 128, 256, 512)
    generations: tuple[int, ...] = (100, 300, 1000, 3000, 10_000, 30_000)
    lanes: tuple[int, ...] = CPU_LANES
    swarms: tuple[int, ...] = (1, 2, 3, 4, 6)
    many_years: int = 10_000


#: Every other layout is another program, which takes a driver seconds to compile.
FULL, QUICK = Sizes(), Sizes((200,), (16, PARTICLES), (100, 300), (4, 16), (1, 2), 200)


@dataclass(frozen=True)
class Point:
    """A point of a sweep that changes a key of `SWEEPS`, on devices that share the years.

    Without generations there are as many as fill the time of a point; the layout, lanes and swarms, is the engine's own
    choice if it is None.
    """

    sweep: str
    years: int
    particles: int = PARTICLES
    generations: int | None = None
    lanes: int | None = None
    swarms: int | None = None
    devices: int = 1

    @property
    def value(self) -> int:
        """Where on its sweep's axis it lies."""
        return int(getattr(self, self.sweep))


@dataclass(frozen=True, kw_only=True)
class ScalingSetup(DeviceSetup):
    """What the points have in common: years of the record, devices that could share the work, and a limit.

    The limit is that of the particle moves a second which the arithmetic of the device that is measured allows.
    """

    years: Sequence[ReservoirYear]
    kin: Sequence[DeviceInfo] = ()
    moves_limit: float

    def points(self) -> Iterator[Point]:
        """All points, sweep after sweep."""
        sizes, record, cpu = self.budget.usual(FULL, QUICK), len(self.years), self.device.kind == "CPU"
        many = record if cpu else max(sizes.many_years, record)
        for years in (record, *(each for each in sizes.years if each > record)):
            yield Point("years", years)
        for name, years in (("particles", many), ("generations", record), ("lanes", many), ("swarms", many)):
            for value in (1,) if name == "lanes" and not cpu else getattr(sizes, name):
                changed: dict[str, Any] = {name: value}
                yield Point(name, years, **changed)
        for count in range(1, len(self.kin) + 2) if self.kin else ():
            yield Point("devices", max(sizes.years[-1], record), devices=count)

    def solved(
        self, problems: Sequence[ReservoirYear], point: Point, generations: int, *, repeat: int = 0, devices: int = 1
    ) -> Solutions:
        """A run of a point."""
        layout = {name: getattr(point, name) for name in ("lanes", "swarms") if getattr(point, name) is not None}
        where = ",".join(str(each.index) for each in (self.device, *self.kin)[:devices])
        options = {"particles": point.particles, "generations": generations, **layout}
        return solve(problems, solver=DEVICE_ENGINE, seed=self.budget.seed + repeat, device=where, **options)


def measure_scaling(setup: ScalingSetup) -> pd.DataFrame:
    """Measure every point; one that the device refuses keeps its reason."""
    rows = [measure_point(setup, point) for point in setup.tracked("scaling", setup.points())]
    return pd.DataFrame(rows, columns=COLUMNS)


def ensemble(years: Sequence[ReservoirYear], count: int) -> list[ReservoirYear]:
    """The record over and over until there are `count` years, each with random numbers of its own."""
    copies = -(-count // len(years))
    repeated = (
        replace(year, rng_stream_id=year.rng_stream_id + STREAM_STEP * copy) for copy in range(copies) for year in years
    )
    return list(repeated)[:count]


def measure_point(setup: ScalingSetup, point: Point) -> dict[str, Any]:
    """A row of the table: the point, and medians of its runs."""
    problems = ensemble(setup.years, point.years)
    about = asdict(point) | {"value": point.value, "refused": ""}
    row = {name: about[name] for name in ("sweep", "value", "years", "particles", "devices", "refused")}
    try:
        generations = point.generations or generations_for(setup, problems, point)
        runs = []
        for repeat in range(setup.budget.repeats):
            found = setup.solved(problems, point, generations, repeat=repeat, devices=point.devices)
            # Of a run one solution is kept, and all evaluations: a hundred thousand years take memory.
            runs.append((found[0], int(found.evaluations.sum())))
    except InputError as refusal:
        return row | {"refused": str(refusal)}
    return row | _speeds(runs, point, setup.moves_limit)


def generations_for(setup: ScalingSetup, problems: Sequence[ReservoirYear], point: Point) -> int:
    """As many generations as fill the time of a point on one device, by a short run of some of its years."""
    some = problems[:PROBE_YEARS]
    setup.solved(some, point, 1)  # builds
    probe = setup.solved(some, point, PROBE_GENERATIONS)
    generation_seconds = (probe[0].device_seconds or 1e-9) / PROBE_GENERATIONS * len(problems) / len(some)
    return int(np.clip(setup.budget.point_seconds / generation_seconds, FEWEST_GENERATIONS, MOST_GENERATIONS))


def _speeds(runs: Sequence[tuple[Solution, int]], point: Point, moves_limit: float) -> dict[str, Any]:
    first = runs[0][0]
    seconds = statistics.median(solution.device_seconds or np.nan for solution, _ in runs)
    moves = point.years * point.particles * first.generations / seconds
    evaluations = statistics.median(count for _, count in runs) / seconds
    layout = {name: first.settings[name] for name in ("lanes", "items", "swarms")}
    row = {"generations": first.generations, **layout, "runs": len(runs), "device_seconds": seconds}
    row |= {"wall_seconds": statistics.median(solution.wall_seconds for solution, _ in runs)}
    row |= {"moves_per_second": moves, "evaluations_per_second": evaluations}
    return row | {"part_of_limit": moves / (moves_limit * point.devices)}


def scaling_table(setup: DeviceSetup, points: pd.DataFrame) -> ResultTable:
    """The points, for reading."""
    shown = points[["sweep", "years", "particles", "generations", "lanes", "swarms", "devices"]].assign(
        **{
            "device, s": points["device_seconds"],
            "whole call, s": points["wall_seconds"],
            "moves, M/s": points["moves_per_second"] / 1e6,
            "feasible evaluations, M/s": points["evaluations_per_second"] / 1e6,
            "of the limit, %": 100 * points["part_of_limit"],
        }
    )
    formats = {"device, s": ".4g", "whole call, s": ".4g", "*, M/s": ",.1f", "of the limit, %": ".1f"}
    repeats = setup.budget.repeats
    notes = (
        "Moves per second: years x particles x generations / device seconds; "
        f"{f'medians of {repeats} runs' if repeats > 1 else 'one run'}. Unless varied, the number of generations is "
        f"chosen so that one device takes about {setup.budget.point_seconds:g} s, at most {MOST_GENERATIONS:,}. Only "
        "moves that end within the bounds are evaluated. The years of the record are repeated, each with its own "
        "random numbers. The whole call includes the host's work in Python, year by year.",
        *(f"Refused: {reason}" for reason in dict.fromkeys(points["refused"]) if reason),
    )
    return result_table("Scaling", shown.rename(columns={"swarms": "years per group"}), *notes, form=",.0f", **formats)
