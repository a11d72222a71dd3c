"""Ring PSO as Mussi, Nashed and Cagnoni 2011 measured it: Figure 2, by the number of variables, drawn and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.data import bundled
from reservoir.bench.experiment import numbers_named, processor_name, select
from reservoir.bench.figures import BASE_LOOK, MAIN_LOOK, SECOND_LOOK, line, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.ring.findings import DEAR, REFERENCE, STANDARD, ZERO, RingFindings, mean_of_best, ring_checks
from reservoir.bench.ring.runs import BATCH, ENGINES, SEQUENTIAL, STANDARD_RUNS, RingSetup, all_runs
from reservoir.bench.run_budget import RunBudget
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.functions import FEWEST, MOST_OF_SUM
from reservoir.problems.sums import RING_FUNCTIONS
from reservoir.report.figures.style import sheet_figure
from reservoir.solvers.ring_pso.settings import ASYNC, SYNC, RingSettings

#: Powers of two as in the paper, and 10, of which more is known.
DIMENSIONS, QUICK_DIMENSIONS = (2, 4, 8, 10, 16, 32, 64, 128), (2, 10, 32)
GENERATIONS, QUICK_GENERATIONS = 10_000, 200
PARTICLES = 32
_LOOKS = {SEQUENTIAL: BASE_LOOK, SYNC: SECOND_LOOK, ASYNC: MAIN_LOOK}

Row = dict[str, Any]


def run(
    *,
    budget: RunBudget,
    dimensions: str | None = None,
    generations: int | None = None,
    particles: int = PARTICLES,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment; its runs are swarms of each engine, function and number of variables.

    Parameters
    ----------
    dimensions : str, optional
        Numbers of variables with commas between them.
    generations : int, optional
        10,000 if not given, as in the paper.
    particles : int
        Of a swarm.
    """
    asked = budget.usual(DIMENSIONS, QUICK_DIMENSIONS)
    if dimensions is not None:
        problem, expected = "is not a valid number of variables", f"{FEWEST} to {MOST_OF_SUM:,}"
        asked = numbers_named(dimensions, lambda each: FEWEST <= each <= MOST_OF_SUM, problem, expected, "--dimensions")
    generations = generations or budget.usual(GENERATIONS, QUICK_GENERATIONS)
    RingSettings(particles=particles, generations=generations)  # what is out of range is told at once
    setup = RingSetup.of(budget, progress, dimensions=asked, generations=generations, particles=particles)
    return ring_result(RingFindings(setup, *all_runs(setup)))


def ring_result(found: RingFindings) -> ExperimentResult:
    """What the runs come to."""
    setup, settings = found.setup, RingSettings().as_dict()
    return setup.result(
        f"Ring PSO on {setup.device.name}",
        headlines=_headlines(found),
        checks=ring_checks(found),
        tables=(_fitness(found), _times(found), _speed_ups(found), _standard(found)),
        data={"runs": found.runs, "times": found.times, "standard_pso_2006": found.standard},
        figures={"by_variables": _figure(found)},
        captions=bundled("ring")["captions"],
        dimensions=list(setup.dimensions),
        generations=setup.generations,
        particles=setup.particles,
        settings={name: settings[name] for name in ("inertia", "cognitive", "social", "wall")},
    )


def _headlines(found: RingFindings) -> dict[str, str]:
    most, swarms = found.setup.dimensions[-1], min(BATCH, found.setup.budget.runs)
    alone, many = (found.speed_up(DEAR, most, ASYNC, alone=each) for each in (True, False))
    beside_sync = alone / found.speed_up(DEAR, most, SYNC, alone=True)
    ratio = max(found.median_ratio(name, most) for name in RING_FUNCTIONS)
    return {
        "Speed": f"{RING_FUNCTIONS[DEAR].title}, {most} variables: async {beside_sync:,.1f} x sync; over the "
        f"sequential engine {alone:,.1f} x alone, {many:,.1f} x with {swarms} swarms per call",
        "Quality": f"async / sync, {most} variables: ratio of medians at most {ratio:,.2f}",
    }


def _shapes(found: RingFindings) -> Iterator[tuple[Row, tuple[str, int]]]:
    """The first columns of a row for each function in each number of variables, and which they are."""
    for function, dimension in found.setup.shapes:
        yield {"function": function.title, "variables": dimension}, (function.name, dimension)


def _fitness(found: RingFindings) -> ResultTable:
    setup, rows = found.setup, []
    for row, (name, dimension) in _shapes(found):
        values = {engine: found.values(name, dimension, engine) for engine in ENGINES}
        row |= {engine: mean_of_best(each) for engine, each in values.items()}
        row |= {f"median, {engine}": float(np.median(each)) for engine, each in values.items()}
        row["reference"] = REFERENCE[name].get(dimension)
        if dimension in REFERENCE[name] and not setup.budget.quick:
            row["errors above"] = max(found.errors_above(name, dimension, each) for each in (SEQUENTIAL, SYNC))
        rows.append(row)
    resident = select(found.runs, engine=ASYNC)["resident"].astype(bool)
    how = (
        "all particles of a call ran concurrently"
        if resident.all()
        else "not all particles ran concurrently, so launches were divided into slices of one generation"
        if not resident.any()
        else "in calls with few variables all particles ran concurrently, the others were divided into slices"
    )
    notes = (
        f"Mean of the best 98 % of {setup.budget.runs} runs of {setup.generations:,} generations with "
        f"{setup.particles} particles, and medians; float32, whose smallest values are treated as zero.",
        "Reference: mean of 20 runs of an independent synchronous program. Errors above: by how many standard errors "
        "the worse of the sequential and the synchronous engine exceeds it.",
        f"The asynchronous form: {how}.",
    )
    return result_table("Final fitness (after Figure 2, left)", rows, *notes, **{"errors above": ".1f"})


def _times(found: RingFindings) -> ResultTable:
    setup, rows = found.setup, []
    for row, shape in _shapes(found):
        row |= {f"{engine}, ms": found.milliseconds(*shape, engine, alone=True) for engine in ENGINES}
        row |= {f"{engine}, ms of many": found.milliseconds(*shape, engine, alone=False) for engine in (SYNC, ASYNC)}
        rows.append(row)
    notes = (
        f"Milliseconds of a swarm of {setup.generations:,} generations, whole call without compilation: alone, median "
        f"of {setup.budget.repeats}; of many: its share of a call that solves {min(BATCH, setup.budget.runs)} at once.",
        "The sequential engine is compiled code in float32 with vector instructions, on one thread.",
    )
    return result_table("Execution times (after Figure 2, middle)", rows, *notes, form=",.1f", variables=",d")


def _speed_ups(found: RingFindings) -> ResultTable:
    rows = []
    for row, shape in _shapes(found):
        for engine in (SYNC, ASYNC):
            row[engine] = found.speed_up(*shape, engine, alone=True)
            row[f"{engine}, many"] = found.speed_up(*shape, engine, alone=False)
        rows.append(row | {"async / sync": row[ASYNC] / row[SYNC]})
    note = (
        "Speed-up over the sequential engine: a swarm alone, and one of many that a call solves at once. The paper "
        'prints no times; its "up to about 300" refers to its own sequential program, which is not published.'
    )
    return result_table("Speed-ups (after Figure 2, right)", rows, note, form=",.2f", variables=",d")


def _standard(found: RingFindings) -> ResultTable:
    rows = []
    for name, (mean, deviation) in STANDARD.items():
        values = found.standard_values(name)
        several = len(values) > 1
        row: Row = {"function": RING_FUNCTIONS[name].title, "mean": float(values.mean())}
        row |= {"standard deviation": float(values.std(ddof=1)) if several else None}
        row |= {"published mean": mean, "published deviation": deviation}
        rows.append(row | {"standard errors apart": found.errors_from_standard(name) if several else None})
    note = (
        "The sequential engine with the stochastic star topology and the parameters of Standard PSO 2006: 30 "
        f"variables, 30,000 evaluations, {STANDARD_RUNS} runs (fewer in a quick trial)."
    )
    return result_table("Standard PSO 2006", rows, note, **{"standard errors apart": ".2f"})


def _figure(found: RingFindings) -> Figure:
    """Three panels for each function."""
    setup = found.setup

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(len(RING_FUNCTIONS), 3, sharex=True)
        for row, (name, function) in zip(panels, RING_FUNCTIONS.items(), strict=True):
            _draw_row(row, found, name)
            row[0].set_ylabel(function.title.replace("High-conditioned e", "E"))
        for ax, title in zip(panels[0], ("Mean of the best 98 %", "Time (ms)", "Speed-up"), strict=True):
            ax.set_title(title)
        for ax in panels[-1]:
            ax.set_xlabel("Variables")
        upper: Axes = panels[0][1]
        return upper

    about = f"{setup.particles} particles, {setup.generations:,} generations, {setup.budget.runs} runs · "
    return sheet_figure(8.2, [setup.foot(about, f"; sequential: {processor_name()}")], draw)


def _draw_row(axes: Any, found: RingFindings, name: str) -> None:
    dimensions = found.setup.dimensions

    def curve(ax: Axes, engine: str, value: Callable[..., float]) -> None:
        line(ax, dimensions, [value(name, each, engine) for each in dimensions], _LOOKS[engine], engine, 3, lw=1.2)

    for engine in ENGINES:
        curve(axes[0], engine, lambda *shape: max(mean_of_best(found.values(*shape)), ZERO))
        curve(axes[1], engine, partial(found.milliseconds, alone=True))
        if engine != SEQUENTIAL:
            curve(axes[2], engine, partial(found.speed_up, alone=True))
            share = [found.speed_up(name, each, engine, alone=False) for each in dimensions]
            axes[2].plot(dimensions, share, color=_LOOKS[engine].colour, ls=(0, (3, 2)), lw=1.0)
    for ax in axes:
        ax.set_xscale("log", base=2)
        log_axis(ax, subs=(1,), ticks=6, form="{:g}".format)
        number_ticks(ax, (each for each in dimensions if each != 10))
