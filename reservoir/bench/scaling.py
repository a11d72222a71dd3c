"""How fast CLPSO is on a device: sweeps that change one thing at a time, beside what its arithmetic allows.

The limit is of multiply-adds a second as measured, over the instructions of a particle's move.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import EngFormatter

from reservoir.bench.experiment import DeviceStudy, bundled
from reservoir.bench.figures import log_axis, number_ticks, panels, short
from reservoir.bench.tables import ResultTable, Row, select
from reservoir.errors import InputError
from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.report.figures.style import DASHES, INFLOW, LIMITS, STORAGE, sheet_figure
from reservoir.solvers import Solutions, solve
from reservoir.solvers.clpso import SwarmSettings

DEVICE_ENGINE, PARTICLES = "clpso", 40
#: What is changed -> how a figure names it.
SWEEPS = {
    "years": "Years",
    "particles": "Particles per swarm",
    "generations": "Generations",
    "lanes": "Lanes of a vector",
    "swarms": "Years per work group",
    "devices": "Devices",
}
#: Vector widths tried on a CPU; elsewhere a work item has one number.
CPU_LANES = (1, 4, 8, 16)
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


#: The points of every sweep: years beside those of the record, and as many as fill a GPU; lanes are of a CPU.
FULL: dict[str, Any] = {
    "years": (200, 1000, 3000, 10_000, 30_000, 100_000),
    "particles": (16, 32, PARTICLES, 64, 128, 256, 512),
    "generations": (100, 300, 1000, 3000, 10_000, 30_000),
    "lanes": CPU_LANES,
    "swarms": (1, 2, 3, 4, 6),
    "many_years": 10_000,
}
#: Every other layout is another program, which takes a driver seconds to compile.
QUICK: dict[str, Any] = {"years": (200,), "particles": (16, PARTICLES), "generations": (100, 300), "lanes": (4, 16)}
QUICK |= {"swarms": (1, 2), "many_years": 200}


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


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingStudy(DeviceStudy):
    """What the points have in common: years of the record, devices that could share the work, and a limit.

    The limit is that of the particle moves a second which the arithmetic of the device that is measured allows.
    """

    paper = "case"
    record: ReservoirYears
    kin: Sequence[DeviceInfo] = ()
    moves_limit: float

    def points(self) -> Iterator[Point]:
        """All points, sweep after sweep."""
        sizes, record, cpu = self.budget.usual(FULL, QUICK), len(self.record), self.device.kind == "CPU"
        many = record if cpu else max(sizes["many_years"], record)
        for years in (record, *(each for each in sizes["years"] if each > record)):
            yield Point("years", years)
        for name, years in (("particles", many), ("generations", record), ("lanes", many), ("swarms", many)):
            for value in (1,) if name == "lanes" and not cpu else sizes[name]:
                changed: dict[str, Any] = {name: value}
                yield Point(name, years, **changed)
        for count in range(1, len(self.kin) + 2) if self.kin else ():
            yield Point("devices", max(sizes["years"][-1], record), devices=count)

    def solved(
        self, problems: Sequence[ReservoirYears], point: Point, generations: int, *, repeat: int = 0, devices: int = 1
    ) -> Solutions:
        """A run of a point."""
        layout = {name: getattr(point, name) for name in ("lanes", "swarms") if getattr(point, name) is not None}
        where = ",".join(str(each.index) for each in (self.device, *self.kin)[:devices])
        options = {"particles": point.particles, "generations": generations, **layout}
        return solve(problems, solver=DEVICE_ENGINE, seed=self.budget.seed + repeat, device=where, **options)

    def _measure(self) -> dict[str, pd.DataFrame]:
        """Measure every point; one that the device refuses keeps its reason."""
        rows = [self.measure_point(point) for point in self.tracked("scaling", self.points())]
        return {"scaling": pd.DataFrame(rows, columns=COLUMNS)}

    def measure_point(self, point: Point) -> Row:
        """A row of the table: the point, and medians of its runs."""
        problems = ensemble(self.record, point.years)
        about = asdict(point) | {"value": point.value, "refused": ""}
        row = {name: about[name] for name in ("sweep", "value", "years", "particles", "devices", "refused")}
        try:
            generations = point.generations or self.generations_for(problems, point)
            runs: list[Row] = []
            for repeat in range(self.budget.repeats):
                solutions = self.solved(problems, point, generations, repeat=repeat, devices=point.devices)
                first = solutions[0]
                seconds = {"device_seconds": first.device_seconds or np.nan, "wall_seconds": first.wall_seconds}
                runs.append(seconds | {"evaluations": int(solutions.evaluations.sum())})
        except InputError as refusal:
            return row | {"refused": str(refusal)}
        medians: Any = pd.DataFrame(runs).median().to_dict()
        evaluations = medians.pop("evaluations") / medians["device_seconds"]
        moves = point.years * point.particles * first.generations / medians["device_seconds"]
        row |= {"generations": first.generations, "runs": len(runs)} | medians
        row |= {name: first.settings[name] for name in ("lanes", "items", "swarms")}
        row |= {"moves_per_second": moves, "evaluations_per_second": evaluations}
        return row | {"part_of_limit": moves / (self.moves_limit * point.devices)}

    def generations_for(self, problems: Sequence[ReservoirYears], point: Point) -> int:
        """As many generations as fill the time of a point on one device, by a short run of some of its years."""
        some = problems[:PROBE_YEARS]
        self.solved(some, point, 1)  # builds
        probe = self.solved(some, point, PROBE_GENERATIONS)
        generation_seconds = (probe[0].device_seconds or 1e-9) / PROBE_GENERATIONS * len(problems) / len(some)
        return int(np.clip(self.budget.point_seconds / generation_seconds, FEWEST_GENERATIONS, MOST_GENERATIONS))


def ensemble(years: ReservoirYears, count: int) -> ReservoirYears:
    """The record over and over until there are `count` years, each with random numbers of its own."""
    copies, places = np.divmod(np.arange(count), len(years))
    repeated = years[places]
    return replace(repeated, rng_stream_ids=repeated.rng_stream_ids + STREAM_STEP * copies)


def scaling_table(study: DeviceStudy, points: pd.DataFrame) -> ResultTable:
    """The points, for reading."""
    count = study.budget.repeats
    repeats = f"medians of {count} runs" if count > 1 else "one run"
    refused = (f"Refused: {reason}" for reason in dict.fromkeys(points["refused"]) if reason)
    return study.table("scaling", points, *refused, repeats=repeats, most=MOST_GENERATIONS)


#: Multiply-adds that do not wait for each other: two units of four stages are kept busy, in half of sixteen registers.
CHAINS, UNROLLED = 8, 16
#: Work items for each compute unit: on a CPU one a thread, several times over; elsewhere as many as hide latency.
CPU_ITEMS, ITEMS, GROUP = 8, 4096, 256
#: A measurement takes at least so long on the device; the best of several counts.
LEAST_SECONDS, TRIES = 0.05, 5
_LONGEST_ROUNDS = 2**28


def measure_limit(study: DeviceStudy) -> dict[int, float]:
    """What a device's arithmetic units do at most: multiply-adds of one number a second, by the lanes of a vector.

    Raises
    ------
    DeviceError
        If the device refuses the kernel.
    """
    widths = CPU_LANES if study.device.kind == "CPU" else (1,)
    measured = study.tracked("arithmetic limit", widths)
    return {lanes: _instructions_per_second(study.device, lanes) for lanes in measured}


def _instructions_per_second(device: DeviceInfo, lanes: int) -> float:
    group = 1 if device.kind == "CPU" else min(GROUP, device.max_work_group_size)
    items = device.compute_units * (CPU_ITEMS if device.kind == "CPU" else ITEMS)
    constants = {"LANES": lanes, "CHAINS": CHAINS, "UNROLLED": UNROLLED}
    program = build(device, assemble(["common/vector/lanes.cl", "bench/multiply_add.cl"], constants))
    rounds, seconds = 256, _seconds(device, program, items, group, 256)
    while seconds < LEAST_SECONDS and rounds < _LONGEST_ROUNDS:
        rounds *= 2
        seconds = _seconds(device, program, items, group, rounds)
    best = min(seconds, *(_seconds(device, program, items, group, rounds) for _ in range(TRIES - 1)))
    return items * lanes * rounds * UNROLLED * CHAINS / best


def _seconds(device: DeviceInfo, program: BuiltProgram, items: int, group: int, rounds: int) -> float:
    factors = np.float32(0.999), np.float32(0.001)
    with Session(device) as session:
        session.allocate(sums=(items, np.float32))
        session.run(program, "multiply_add", items, group, np.int32(rounds), *factors, "sums")
        return session.device_seconds["multiply_add"]


#: CLPSO, eq. 1-3, in one dimension: xoshiro128+ takes 10 integer operations and 4 to become a number in a range.
PER_DIMENSION = {"random number": 14, "velocity": 5, "position": 1, "bounds test": 4}
#: A step of a year that repair always mends, eq. 6-9 and 16-19, without the curves.
PER_STEP = {"water balance": 2, "reach": 2, "repair": 2, "mean storage": 2, "head and power": 5, "energy": 1}
#: In a cyclic year the reach of a step follows the start storage.
CYCLIC_REACH = 6
#: Energy in GWh, comparison with the personal best, counters.
PER_MOVE = 5
#: A curve: to the polynomial's range, then one for each degree; or two entries of a table, joined.
POLYNOMIAL, EVEN_TABLE = 1, 10


def curve_operations(form: Form) -> int:
    """Instructions of one look at a curve."""
    return POLYNOMIAL + len(form.coefficients) - 1 if isinstance(form, PolynomialForm) else EVEN_TABLE


def operations_per_move(year: ReservoirYears) -> int:
    """Instructions of one move of one particle, and of the fitness of where it comes to."""
    curves = sum(_curves(year).values())
    step = sum(PER_STEP.values()) + curves + year.limits.cyclic * CYCLIC_REACH
    return year.dimension * sum(PER_DIMENSION.values()) + year.limits.steps * step + PER_MOVE


def rule(year: ReservoirYears) -> str:
    """How the count comes about, in words."""
    counts = {"per_dimension": _sum(PER_DIMENSION), "per_step": _sum(PER_STEP), "once": PER_MOVE}
    counts |= {"curves": ", ".join(f"{name} {count}" for name, count in _curves(year).items())}
    counts |= {"cyclic": f", {CYCLIC_REACH} more in a cyclic year" if year.limits.cyclic else ""}
    counts |= {"dimensions": year.dimension, "steps": year.limits.steps, "moves": operations_per_move(year)}
    return str(bundled("case")["notes"]["rule"][0].format(**counts))


def _curves(year: ReservoirYears) -> dict[str, int]:
    plant = year.model.approximation.plant
    return {name: curve_operations(getattr(plant, name)) for name in ("level", "tailrace", "conversion", "capacity")}


def _sum(parts: dict[str, int]) -> str:
    return f"{sum(parts.values())} ({', '.join(f'{name} {count}' for name, count in parts.items())})"


_PANELS, _PANEL_INCHES = 3, 2.05
#: Part of a panel's width that a tick's label needs.
_TICK_SHARE = 0.12


def scaling_figure(points: pd.DataFrame, moves_limit: float, foot: Sequence[str]) -> Figure:
    """Draw a panel for every sweep that has points."""
    done = points[points["moves_per_second"].notna()]
    sweeps = [sweep for sweep in SWEEPS if (done["sweep"] == sweep).any()]
    rows = max(1, -(-len(sweeps) // _PANELS))

    def draw(sheet: SubFigure) -> Axes | None:
        axes = panels(sheet, len(sweeps), _PANELS, "Per second", sharey=True)
        for ax, sweep in zip(axes, sweeps, strict=True):
            draw_sweep(ax, select(done, sweep=sweep), sweep, moves_limit)
        sheet.suptitle("Speed, one parameter varied at a time", x=0.01, ha="left", fontweight="bold", fontsize=10)
        return axes[0] if sweeps else None

    return sheet_figure(0.5 + _PANEL_INCHES * rows, foot, draw)


def draw_sweep(ax: Axes, points: pd.DataFrame, sweep: str, moves_limit: float) -> Axes:
    """Draw the points of a sweep, and the limit."""
    points = points.sort_values("value")
    span, limits = points["value"].to_numpy(), moves_limit * points["devices"].to_numpy()
    room = max((span[-1] / span[0]) ** 0.06, 1.15)
    widened = np.array([span[0] / room, *span, span[-1] * room])
    ax.plot(span, points["moves_per_second"], color=STORAGE, marker="o", label="particle moves")
    dotted: dict[str, Any] = {"marker": "s", "mfc": "white", "ls": (0, (1, 1))}
    ax.plot(span, points["evaluations_per_second"], color=INFLOW, label="feasible evaluations", **dotted)
    wide = limits[[0, *range(len(limits)), -1]]
    ax.plot(widened, wide, color=LIMITS, ls=DASHES, lw=1.2, label="arithmetic limit")
    number_ticks(ax, apart(span), base=10, form=short)
    ax.set_xlim(*widened[[0, -1]])
    log_axis(ax, ticks=12)
    ax.yaxis.set_major_formatter(EngFormatter(sep=" "))
    ax.set_xlabel(SWEEPS[sweep])
    return ax


def apart(values: np.ndarray) -> list[float]:
    """Those of ascending values that leave room for a label each on a logarithmic axis; the last is among them."""
    room = max((values[-1] / values[0]) ** _TICK_SHARE, 1.01)
    shown = [float(values[-1])]
    for value in values[-2::-1]:
        if shown[-1] / value >= room:
            shown.append(float(value))
    return shown[::-1]
