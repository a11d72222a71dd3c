"""Genetic algorithms on islands, on the travelling salesman problem, as Alraslan and AlKurdi 2023 measured them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir import resources
from reservoir.bench.data import bundled
from reservoir.bench.experiment import numbers_named, processor_name
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, line, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.tours.findings import ITERATIONS, TITLES, TourFindings, median_ms, result_tables, tour_checks
from reservoir.bench.tours.runs import ISLAND, SERIAL, TourSetup, block_runs, counts, engine_runs, strong_runs
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.tours.problem import tour_problem
from reservoir.report.figures.looks import Look
from reservoir.report.figures.style import DRY, INFLOW, POWER, RELEASE, SPILL, sheet_figure
from reservoir.solvers.island_ga.settings import IslandSettings

QUICK_ITERATIONS = 100
POPULATIONS = (1024, 2048, 4096, 8192, 16384, 32768)
QUICK_POPULATIONS = POPULATIONS[:2]
_LOOKS = {
    SERIAL: BASE_LOOK,
    "tim": Look(POWER, CHAINED, "s"),
    "sak": Look(SPILL, (0, (3, 1.5)), "v"),
    "slk": Look(DRY, (0, (5, 1.5, 1, 1.5)), "P"),
    "lim-cg": Look(INFLOW, DASHED, "^"),
    "lim-is": MAIN_LOOK,
    "lim-async": Look(RELEASE, (0, (2, 1)), "X"),
}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 10
_OF_ERRORS = ("lim-is", "lim-async", "sak")


def run(
    *,
    budget: RunBudget,
    path: Path | None = None,
    optimum: int | None = None,
    iterations: int | None = None,
    populations: str | None = None,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment; its runs are those of every engine and population.

    Parameters
    ----------
    path : Path, optional
        A file of TSPLIB; the bundled att48 if not given.
    optimum : int, optional
        Length of the shortest tour; see `tour_problem`.
    iterations : int, optional
        Of every island; 1000 if not given, as in the paper.
    populations : str, optional
        Numbers with commas between them.
    """
    setup = TourSetup.of(
        budget,
        progress,
        problem=tour_problem(path or resources.path("data", "tsp/att48.tsp"), optimum),
        iterations=iterations or budget.usual(ITERATIONS, QUICK_ITERATIONS),
        populations=_populations(populations) if populations else budget.usual(POPULATIONS, QUICK_POPULATIONS),
    )
    runs, blocks, strong = engine_runs(setup), block_runs(setup), strong_runs(setup)
    return tour_result(TourFindings(setup, runs, blocks, counts(setup), strong))


def _populations(text: str) -> tuple[int, ...]:
    def valid(size: int) -> bool:
        return size % ISLAND == 0 and ISLAND <= size <= 2**16

    problem, expected = "is not a multiple of the island size", f"multiples of {ISLAND} up to {2**16:,}"
    return numbers_named(text, valid, problem, expected, "--populations")


def tour_result(found: TourFindings) -> ExperimentResult:
    """What the runs come to."""
    setup, problem = found.setup, found.setup.problem
    settings = IslandSettings().for_encoding(problem.encoding).as_dict()
    kept = ("selection_fraction", "crossover_fraction", "migrate_every", "migrants", "crossover", "mutation")
    return setup.result(
        f"Island genetic algorithms: {problem.label} on {setup.device.name}",
        headlines=_headlines(found),
        checks=tour_checks(found),
        tables=result_tables(found),
        data={
            "runs": found.runs,
            "blocks": found.blocks,
            "synchronisations": found.counted,
            "other_operators": found.strong,
        },
        figures=_figures(found),
        captions=bundled("tours")["captions"],
        problem=problem.label,
        cities=problem.dimension,
        optimum=problem.optimum,
        iterations=setup.iterations,
        populations=list(setup.populations),
        island_size=ISLAND,
        settings={name: settings[name] for name in kept},
    )


def _headlines(found: TourFindings) -> dict[str, str]:
    largest, times = list(median_ms(found.runs).items())[-1]
    others = [name for name in (SERIAL, "tim", "sak", "slk") if name in times]
    beside = ", ".join(f"{times[name] / times['lim-is']:,.1f} x {TITLES[name]}" for name in others)
    errors = found.relative_errors().items()
    strong = f"{found.strong['length'].min():,} in {1e3 * found.strong['seconds'].median():,.0f} ms"
    return {
        "LIM-IS": f"{times['lim-is']:,.1f} ms with {largest:,} individuals; speed-up over others: {beside}",
        "Error": ", ".join(f"{each['lim-is']:.3f} with {population:,}" for population, each in errors),
        "Operators": f"{strong} with 2-opt moves and order crossover",
    }


def _figures(found: TourFindings) -> dict[str, Figure]:
    """Times (Figure 6), speed-ups (Figure 7) and errors (Figure 8) by population."""
    setup = found.setup
    about = f"{setup.problem.label}, {setup.iterations:,} iterations · "
    foot = setup.foot(about, f"; serial: {processor_name()}")
    wall, errors = (
        pd.DataFrame.from_dict(each, orient="index") for each in (median_ms(found.runs), found.relative_errors())
    )
    errors = 100.0 * errors[[name for name in _OF_ERRORS if name in errors]]
    speed_ups = wall.rdiv(wall[SERIAL], axis=0).drop(columns=SERIAL)
    return {
        "times": _figure(wall, "Time of a run", "Time (ms)", foot),
        "speed_ups": _figure(speed_ups, "Speed-up over the serial engine", "Times as fast", foot),
        "errors": _figure(errors, "Relative error", "Relative error (%)", foot, log=False),
    }


def _figure(frame: pd.DataFrame, title: str, label: str, foot: str, *, log: bool = True) -> Figure:
    """A line for each engine."""

    def draw(sheet: SubFigure) -> Axes:
        ax = sheet.add_subplot()
        for name, look in _LOOKS.items():
            if name in frame:
                line(ax, frame.index, frame[name], look, TITLES[name], 4.5)
        ax.set_xscale("log", base=2)
        number_ticks(ax, frame.index.tolist())
        if log and frame.max().max() > _SPAN * frame.min().min():
            log_axis(ax)
        else:
            ax.set_ylim(bottom=0)
        ax.set(xlabel="Population", title=title, ylabel=label)
        return ax

    return sheet_figure(3.0, [foot], draw)
