"""Genetic algorithms on islands, on the travelling salesman problem, as Alraslan and AlKurdi 2023 measured them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir import resources
from reservoir.bench.data import bundled
from reservoir.bench.experiment import numbers_named, processor_name, select
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, line, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.tours.runs import (
    ENGINES,
    ISLAND,
    SERIAL,
    STRONG,
    STRONG_ITERATIONS,
    WAITING,
    TourSetup,
    block_runs,
    counts,
    engine_runs,
    strong_runs,
)
from reservoir.planning.checks import Check, largest
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.tours import tour_problem
from reservoir.report.figures.style import DRY, INFLOW, POWER, RELEASE, SPILL, Look, sheet_figure
from reservoir.solvers.island_ga.settings import IslandSettings

#: How engines are called in tables.
TITLES = {name: name.upper().replace("ASYNC", "async") for name in ENGINES} | {SERIAL: "serial"}
TITLES |= {name: name.replace("tim", "TIM").replace("sak", "SAK") for name in WAITING}
#: Relative error of the paper's operators on att48 by population, of an independent program.
ERRORS: dict[int, float] = bundled("tours")["errors"]
#: Milliseconds of 1000 iterations in the paper, by engine and population; and by scheme, items of a block, population.
TIMES_MS, BLOCKS_MS = bundled("tours")["times_ms"], bundled("tours")["blocks_ms"]
#: The problem that they are of, its optimum, and iterations of a run that claims hold for.
KNOWN, ITERATIONS = ("att48", 10628), 1000
#: How many times as long as LIM others take on a large GPU, and the population that the last is of.
RATIOS, RATIO_POPULATION = {"sak": 1.5, "slk": 1.5, "tim": 4.5, SERIAL: 27.0}, 16384
#: Seconds in which other operators reach the optimum.
STRONG_SECONDS = 1.0

#: A number of each engine, by population.
ByPopulation = dict[int, dict[str, float]]


def by_population(runs: pd.DataFrame, values: pd.Series[float], statistic: str) -> ByPopulation:
    """A statistic of each engine's runs, by population and engine in the order of `TITLES`."""
    told = values.groupby([runs["population"], runs["engine"]]).agg(statistic)
    return {
        int(population): {name: float(told[population, name]) for name in TITLES if (population, name) in told.index}
        for population in sorted(runs["population"].unique())
    }


def median_ms(runs: pd.DataFrame, column: str = "seconds") -> ByPopulation:
    """Median milliseconds."""
    return by_population(runs, 1e3 * runs[column], "median")


@dataclass(frozen=True, eq=False)
class TourFindings:
    """Tables of runs: of all engines, by blocks, counted, and with other operators (see `runs`)."""

    setup: TourSetup
    runs: pd.DataFrame
    blocks: pd.DataFrame
    counted: pd.DataFrame
    strong: pd.DataFrame

    @property
    def reference(self) -> int:
        """Length that errors are stated against: the optimum, or the best that any run found."""
        return self.setup.problem.optimum or int(self.runs["length"].min())

    @property
    def strong_reference(self) -> int:
        """The same for the other operators."""
        return self.setup.problem.optimum or int(self.strong["length"].min())

    def relative_errors(self) -> ByPopulation:
        """Mean relative error (eq. 1)."""
        return by_population(self.runs, (self.runs["length"] - self.reference) / self.reference, "mean")


def tour_checks(found: TourFindings) -> Iterator[Check]:
    """Claims that this problem, device and budget can be held to; a quick trial claims nothing."""
    setup, problem = found.setup, found.setup.problem
    if setup.budget.quick:
        return
    if setup.iterations >= ITERATIONS and (problem.label, problem.optimum) == KNOWN:
        yield from _quality(found)
    times = median_ms(found.runs).get(RATIO_POPULATION)
    if setup.large_gpu and times is not None:
        for name, least in RATIOS.items():
            title = f"time of {TITLES[name]} / LIM-IS, population {RATIO_POPULATION:,}"
            yield Check(title, times.get(name, math.nan) / times["lim-is"], least, at_least=True)


def _quality(found: TourFindings) -> Iterator[Check]:
    errors = {population: each["lim-is"] for population, each in found.relative_errors().items()}
    known = [population for population in ERRORS if population in errors]
    for population in known:
        title = f"mean relative error of LIM-IS, population {population:,}"
        yield Check(title, errors[population], ERRORS[population])
    ratios = [errors[larger] / errors[smaller] for smaller, larger in pairwise(known)]
    if ratios:
        yield Check("mean relative error over that of the next smaller population, largest", largest(ratios), 1.0)
    reached = float((found.strong["length"] == found.strong_reference).mean())
    yield Check("other operators: fraction of runs that reach the optimum", reached, 1.0, at_least=True)
    yield Check("other operators: longest run, s", largest(found.strong["seconds"]), STRONG_SECONDS)


#: Steps of an iteration: selection, breeding, evaluation.
_STEPS = 3
_LIGHT = "lim-is"
_RESIDENT = {None: None, True: "yes", False: "no: in slices"}
#: Engines whose time on the device alone is told, too.
_ALONE = ("tim", "sak", "slk", _LIGHT)

Row = dict[str, Any]


def result_tables(found: TourFindings) -> list[ResultTable]:
    """All of them."""
    tables = (_synchronisations, _blocks, _configurations, _times, _ratios, _errors, _strong)
    return [table(found) for table in tables]


def _synchronisations(found: TourFindings) -> ResultTable:
    iterations = found.setup.iterations
    migrations, steps = max(iterations // 50, 1), iterations * _STEPS
    paper = {
        "sak": (steps, steps, 0),
        "slk": (1, steps, 0),
        "tim": (iterations, iterations, steps),
        "lim-cg": (1, migrations, steps),
        "lim-is": (2 * migrations, migrations, steps),
    }
    rows: list[Row] = []
    for counted in found.counted.to_dict("records"):
        launches, grid = counted["launches"], counted["grid_meetings"]
        row = {"scheme": TITLES[counted["engine"]], "islands": counted["islands"], "kernel launches": launches}
        row |= {"barriers of the grid": grid, "global synchronisations": launches - 1 + grid}
        row |= {"barriers of a group": counted["group_meetings"]}
        said = paper.get(counted["engine"], (None, None, None))
        rows.append(row | dict(zip(("paper: launches", "paper: global", "paper: of a group"), said, strict=True)))
    notes = [
        f"Counted in a run of {iterations:,} iterations: launches by the program, barriers by the kernels, without the "
        "kernel that selects the best individual at the end. Every launch except the first waits for the previous one, "
        "which synchronises all groups, as does a barrier of the grid.",
        f"The paper's columns follow from its formulas with {_STEPS} steps and {migrations} migrations; its iteration "
        "has more steps with a barrier than ours, which breeds and evaluates a child in one step.",
    ]
    missing = sorted(set(ENGINES) - {SERIAL} - set(found.counted["engine"]))
    if missing:
        notes.append(
            f"Not counted, since they cannot run on this device: {', '.join(TITLES[name] for name in missing)}."
        )
    return result_table("Synchronisations and launches (after Table 1)", rows, *notes)


def _blocks(found: TourFindings) -> ResultTable:
    wall, rows = median_ms(found.runs), []
    for block in sorted(found.blocks["block"].unique().tolist()):
        for population, own in median_ms(select(found.blocks, block=block)).items():
            serial = wall[population][SERIAL]
            row = {"block": block, "grid": population // ISLAND, "population": population, "serial, ms": serial}
            for scheme in BLOCKS_MS:
                said = BLOCKS_MS[scheme].get(block, {}).get(population)
                row[f"{TITLES[scheme]}, ms"] = f"{own[scheme]:,.2f}" if scheme in own else "refused"
                row[f"{TITLES[scheme]}, speed-up"] = serial / own[scheme] if scheme in own else None
                row[f"{TITLES[scheme]}, paper's speed-up"] = TIMES_MS[SERIAL][population] / said if said else None
            rows.append(row)
    how = (
        "A block is a work group with an island of 128; a child is bred by a sub-group of the device "
        f"({found.setup.device.sub_group_size} items), as in the paper's pseudo-code 3. "
        f"Medians of {found.setup.budget.repeats} runs."
    )
    if found.setup.device.kind == "CPU":
        how += " On a CPU a work group runs on one thread, so more than one item brings no gain."
    formats = {"serial, ms": ",.1f", "*speed-up": ",.1f"}
    return result_table("Blocks and grids (after Table 3)", rows, how, *_refusals(found.setup, ("lim-cg",)), **formats)


def _configurations(found: TourFindings) -> ResultTable:
    runs = found.runs
    shapes = runs[runs["engine"].isin([name for name in ENGINES if name != SERIAL]) & (runs["run"] == 1)]
    shapes = shapes.sort_values(["engine", "population"])
    columns = {"population": "population", "grid": "work_groups", "block": "items", "items per child": "team"}
    rows = [
        {"scheme": TITLES[shape["engine"]]}
        | {title: shape[name] for title, name in columns.items()}
        | {"all concurrent": _RESIDENT[shape["resident"]]}
        for shape in shapes.to_dict("records")
    ]
    note = (
        "As chosen by the program for this device. Islands have 128 individuals; SAK and SLK have one population. Only "
        "LIM-async depends on whether all groups run concurrently: it then runs in one launch."
    )
    return result_table("Configurations (after Table 4)", rows, note)


def _times(found: TourFindings) -> ResultTable:
    device = median_ms(found.runs, "device_seconds")
    rows = [
        {"population": population}
        | {TITLES[name]: times[name] for name in times}
        | {f"{TITLES[name]} on the device": device[population][name] for name in _ALONE if name in times}
        for population, times in median_ms(found.runs).items()
    ]
    notes = (
        f"Milliseconds of {found.setup.iterations:,} iterations, whole call without compilation, medians of "
        f"{found.setup.budget.runs} runs. Dash: refused.",
        '"Waiting": the host waits for every launch before the next, as the papers\' programs do. Otherwise launches '
        "are queued ahead, which is faster; the ratios refer to these times. "
        '"On the device": kernel time only.',
        *_refusals(found.setup, tuple(ENGINES)),
    )
    return result_table("Execution times (after Table 5)", rows, *notes, form=",.2f", population=",d")


def _ratios(found: TourFindings) -> ResultTable:
    rows = []
    for population, times in median_ms(found.runs).items():
        row: Row = {"population": population}
        for name in (name for name in times if name != _LIGHT):
            row[f"{TITLES[name]} / LIM-IS"] = times[name] / times[_LIGHT]
            said = TIMES_MS.get(name, {}).get(population)
            if said:
                row[f"paper: {TITLES[name]}"] = said / TIMES_MS[_LIGHT][population]
        rows.append(row)
    note = (
        "Time of each scheme relative to LIM-IS, here and from the paper's Table 5. The paper's serial program takes "
        "about 20 times as long as the one here, which explains most of its 27-fold speed-up."
    )
    return result_table("Times relative to LIM-IS (after Figure 7)", rows, note, form=",.2f", population=",d")


def _errors(found: TourFindings) -> ResultTable:
    rows = [
        {"population": population} | {TITLES[name]: error for name, error in errors.items() if name not in WAITING}
        for population, errors in found.relative_errors().items()
    ]
    optimum = found.setup.problem.optimum
    against = f"the optimum, {optimum:,}" if optimum else f"the best of all runs, {found.reference:,}"
    notes = (
        f"Mean of {found.setup.budget.runs} runs of |cost - reference| / reference (eq. 1); reference: {against}.",
        "Serial, TIM, LIM-CG and LIM-IS draw the same random numbers and find the same tours; LIM-async depends on the "
        "order in which islands finish. SAK and SLK have one population, which shares its best immediately.",
    )
    return result_table("Relative error (after Figure 8)", rows, *notes, form=".4f", population=",d")


def _strong(found: TourFindings) -> ResultTable:
    strong, reference = found.strong, found.strong_reference
    milliseconds = 1e3 * strong["seconds"]
    row: Row = {"population": int(strong["population"].iloc[0])}
    row |= {"iterations": min(STRONG_ITERATIONS, found.setup.iterations), "runs": len(strong)}
    row |= {"at the reference": int((strong["length"] == reference).sum())}
    row |= {"mean relative error": float((strong["length"] / reference - 1).mean())}
    row |= {"median time, ms": float(milliseconds.median()), "longest, ms": float(milliseconds.max())}
    note = (
        f"LIM-IS with order crossover (Davis 1985) for {STRONG['crossover_fraction']:.0%} of an island, and a mutation "
        "that makes the best 2-opt move, or a double bridge if no move improves. These operators find shorter tours "
        "than the paper's in a fraction of the iterations."
    )
    return result_table("Other operators", [row], note, **{"mean relative error": ".5f", "*, ms": ",.1f"})


def _refusals(setup: TourSetup, names: tuple[str, ...]) -> tuple[str, ...]:
    """Populations that engines were refused for, and the device's words once."""
    by_engine: dict[str, list[str]] = {}
    for name, population in setup.refusals:
        if name in names:
            by_engine.setdefault(name, []).append(f"{population:,}")
    if not by_engine:
        return ()
    found = "; ".join(f"{TITLES[name]} with {', '.join(sizes)}" for name, sizes in by_engine.items())
    return (
        f"Refused: {found}: their groups wait for each other, and this device does not run all of them concurrently.",
    )


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
