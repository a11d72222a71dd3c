"""Genetic algorithms on islands, on the travelling salesman problem, as Alraslan and AlKurdi 2023 measured them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reservoir import runtime
from reservoir.bench.experiment import DeviceStudy, RunBudget, bundled, numbers_named, processor_name
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, lines, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row, by, seconds_of
from reservoir.errors import DeviceError
from reservoir.opencl import DeviceInfo
from reservoir.planning.checks import Check, largest
from reservoir.problems.tours import TourProblem, tour_problem
from reservoir.report.figures.style import DRY, INFLOW, POWER, RELEASE, SPILL, Look, on_axes, sheet_figure
from reservoir.solvers import Solutions
from reservoir.solvers.island_ga import IslandSettings

#: Individuals of an island, as in the paper.
ISLAND = 128
#: Engine of the table's first column, the best of the paper, and all by name: what the solver is asked for beside the
#: population.
SERIAL, LIM_IS = "serial", "lim-is"
ENGINES: dict[str, dict[str, Any]] = {SERIAL: {"solver": "island-ga-sequential"}} | {
    name: {"scheme": name} for name in ("tim", "sak", "slk", "lim-cg", LIM_IS, "lim-async")
}
#: The same where the host waits for every launch, as the papers' programs do.
WAITING = {f"{name}, waiting": {"scheme": name, "wait_each": True} for name in ("tim", "sak")}
#: How engines are called in tables.
TITLES = {name: name.upper().replace("ASYNC", "async") for name in ENGINES} | {SERIAL: "serial"}
TITLES |= {name: name.replace("tim", "TIM").replace("sak", "SAK") for name in WAITING}
#: Operators that the paper does not have, and how long they are given.
STRONG: dict[str, Any] = {"crossover": "order", "mutation": "two-opt", "crossover_fraction": 0.35}
STRONG |= {"islands": 8, "island_size": ISLAND}
STRONG_ITERATIONS = 300
ITERATIONS, QUICK_ITERATIONS = 1000, 100
POPULATIONS = (1024, 2048, 4096, 8192, 16384, 32768)
#: Relative error of the paper's operators on att48 by population, of an independent program.
ERRORS: dict[int, float] = bundled("tours")["errors"]
#: Milliseconds of 1000 iterations in the paper, by engine and population; and by scheme, items of a block, population.
TIMES_MS, BLOCKS_MS = bundled("tours")["times_ms"], bundled("tours")["blocks_ms"]
#: The problem that they and claims of quality are of, with its optimum.
KNOWN = ("att48", 10628)
#: The population that claims of ratios of times are of.
RATIO_POPULATION = 16384


@dataclass(frozen=True, kw_only=True, eq=False)
class TourStudy(DeviceStudy):
    """What is run: iterations on the tours of a problem, by populations; and what the device refused, as it comes.

    Tables: ``runs`` of all engines; ``blocks``: runs by the items of a block; ``synchronisations``; and
    ``other_operators``: runs with them.
    """

    paper = "tours"
    title = "Island genetic algorithms: {study.problem.label} on {study.device.name}"
    problem: TourProblem
    iterations: int
    populations: tuple[int, ...]
    refusals: dict[tuple[str, int], str] = field(default_factory=dict)

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        problem, settings = self.problem, IslandSettings().for_encoding(self.problem.encoding).as_dict()
        names = ("selection_fraction", "crossover_fraction", "migrate_every", "migrants", "crossover", "mutation")
        about = {"problem": problem.label, "cities": problem.dimension, "optimum": problem.optimum}
        about |= {"iterations": self.iterations, "populations": list(self.populations), "island_size": ISLAND}
        return super().origin() | about | {"settings": {name: settings[name] for name in names}}

    def solved(self, seed: int, solver: str = "island-ga", **settings: Any) -> Solutions:
        """One run."""
        return self.solve([self.problem], solver, seed=seed, **settings)[0]

    def tried(self, name: str, population: int, seed: int, **settings: Any) -> Iterator[Solutions]:
        """One run on islands, or none where the device refuses it.

        A CPU may also have no thread left for a group that others wait for, now and then.
        """
        try:
            yield self.solved(seed, islands=population // ISLAND, island_size=ISLAND, **settings)
        except DeviceError as error:
            self.refusals[name, population] = str(error)

    def compiles(self, name: str, population: int, **settings: Any) -> bool:
        """Whether the device takes the engine; compiles it."""
        return any(True for _ in self.tried(name, population, 0, iterations=1, **settings))

    def reference(self, table: str = "runs") -> int:
        """Length that errors are stated against: the optimum, or the best of the runs."""
        return self.problem.optimum or int(self.data[table]["length"].min())

    def milliseconds(self, column: str = "seconds") -> Frame:
        """Medians by population, a column for each engine."""
        return self._by_population(1e3 * self.data["runs"][column], "median")

    @cached_property
    def relative_errors(self) -> Frame:
        """Mean relative error (eq. 1) by population, a column for each engine."""
        reference = self.reference()
        return self._by_population((self.data["runs"]["length"] - reference) / reference, "mean")

    def _by_population(self, values: pd.Series[float], statistic: str) -> Frame:
        runs = self.data["runs"].assign(value=values).sort_values("population", kind="stable")
        frame = by(runs, "population", "engine", value="value", statistic=statistic)
        return frame[[name for name in TITLES if name in frame]]

    def _measure(self) -> dict[str, pd.DataFrame]:
        runs, blocks, strong = self._engine_runs(), self._block_runs(), self._strong_runs()
        return {"runs": runs, "blocks": blocks, "synchronisations": self._counts(), "other_operators": strong}

    def _engine_runs(self) -> pd.DataFrame:
        """Every engine on every population, engines in turn; a row for each run."""
        engines, able, rows = ENGINES | WAITING, [], []
        shapes = product(self.populations, range(self.budget.runs))
        for population, run in self.tracked(lambda shape: f"population {shape[0]:,}", shapes):
            if run == 0:
                able = [name for name, asked in engines.items() if self.compiles(name, population, **asked)]
            for name in able:
                asked = {"iterations": self.iterations, **engines[name]}
                solutions = self.tried(name, population, self.budget.seed + run, **asked)
                rows += [_row(name, population, run + 1, solution) for solution in solutions]
        return pd.DataFrame(rows)

    def _block_runs(self) -> pd.DataFrame:
        """Table 3: LIM-CG and LIM-IS by items of a block, with a sub-group of the device for a child, as there."""
        rows: list[Row] = []
        shapes = product(blocks_of(self.device), self.populations)
        for block, population in self.tracked("Table 3", shapes):
            for scheme in ("lim-cg", LIM_IS):
                asked = {"items": block, "team": self.device.sub_group_size, "scheme": scheme}
                if not self.compiles(f"{scheme} {block}", population, **asked):
                    continue
                for run in range(self.budget.repeats):
                    seed = self.budget.seed + run
                    solutions = self.tried(scheme, population, seed, iterations=self.iterations, **asked)
                    rows += [_row(scheme, population, run + 1, solution) | {"block": block} for solution in solutions]
        return pd.DataFrame(rows)

    def _counts(self) -> pd.DataFrame:
        """Table 1: launches, and how often groups and the grid meet, counted by the program and by the kernels."""
        rows, least = [], min(self.populations)
        for name, asked in list(ENGINES.items())[1:]:
            islands = 1 if (name, least) in self.refusals else least // ISLAND
            settings: dict[str, Any] = {"islands": islands, "iterations": self.iterations, "counted": True}
            try:
                used = self.solved(self.budget.seed, island_size=ISLAND, **settings, **asked).settings
            except DeviceError:
                continue
            keys = ("launches", "grid_meetings", "group_meetings", "resident", "work_groups")
            rows.append({"engine": name, "islands": islands} | {key: used.get(key) for key in keys})
        return pd.DataFrame(rows)

    def _strong_runs(self) -> pd.DataFrame:
        """The optional operators, by the device's engine."""
        self.solved(0, iterations=1, **STRONG)  # compiles
        iterations, population, rows = min(STRONG_ITERATIONS, self.iterations), STRONG["islands"] * ISLAND, []
        for run in self.tracked("other operators", range(self.budget.runs)):
            solution = self.solved(self.budget.seed + run, iterations=iterations, **STRONG)
            rows.append(_row(LIM_IS, population, run + 1, solution))
        return pd.DataFrame(rows)

    def claims(self) -> Iterator[Check]:
        """Claims that this problem, device and budget can be held to."""
        if self.iterations >= ITERATIONS and (self.problem.label, self.problem.optimum) == KNOWN:
            errors, strong = self.relative_errors[LIM_IS], self.data["other_operators"]
            known = [population for population in ERRORS if population in errors.index]
            for population in known:
                yield self.claim("error", errors[population], ERRORS[population], population=population)
            ratios = [errors[larger] / errors[smaller] for smaller, larger in pairwise(known)]
            if ratios:
                yield self.claim("smaller", largest(ratios))
            yield self.claim("reached", (strong["length"] == self.reference("other_operators")).mean())
            yield self.claim("longest", largest(strong["seconds"]))
        times = self.milliseconds()
        if self.large_gpu and RATIO_POPULATION in times.index:
            of = times.loc[RATIO_POPULATION]
            for name in ("sak", "slk", "tim", SERIAL):
                yield self.claim(name, of.get(name, math.nan) / of[LIM_IS], population=RATIO_POPULATION)

    def _headlines(self) -> dict[str, str]:
        times, strong = self.milliseconds(), self.data["other_operators"]
        largest, last = times.index[-1], times.iloc[-1].dropna()
        others = [name for name in (SERIAL, "tim", "sak", "slk") if name in last]
        beside = ", ".join(f"{last[name] / last[LIM_IS]:,.1f} x {TITLES[name]}" for name in others)
        errors = self.relative_errors[LIM_IS].items()
        operators = f"{strong['length'].min():,} in {1e3 * strong['seconds'].median():,.0f} ms"
        return {
            "LIM-IS": f"{last[LIM_IS]:,.1f} ms with {largest:,} individuals; speed-up over others: {beside}",
            "Error": ", ".join(f"{error:.3f} with {population:,}" for population, error in errors),
            "Operators": f"{operators} with 2-opt moves and order crossover",
        }

    def _tables(self) -> Iterator[ResultTable]:
        wall, device, errors = self.milliseconds(), self.milliseconds("device_seconds"), self.relative_errors
        yield self._synchronisations()
        yield self._blocks(wall)
        runs = self.data["runs"]
        shapes = runs[runs["engine"].isin(list(ENGINES)[1:]) & (runs["run"] == 1)].sort_values(["engine", "population"])
        shapes = shapes.assign(engine=shapes["engine"].map(TITLES), resident=shapes["resident"].map(_RESIDENT))
        yield self.table("configurations", shapes)
        shown = device[[name for name in ("tim", "sak", "slk", LIM_IS) if name in wall]]
        shown = wall.rename(columns=TITLES).join(shown.rename(columns=TITLES).add_suffix(" on the device"))
        yield self.table("times", shown, *self._refusals(*ENGINES))
        columns = {}
        for name in wall.columns.drop(LIM_IS):
            columns[f"{TITLES[name]} / LIM-IS"] = wall[name] / wall[LIM_IS]
            paper = pd.DataFrame({"one": TIMES_MS.get(name, {}), "other": TIMES_MS[LIM_IS]}, wall.index).dropna()
            if len(paper):
                columns[f"paper: {TITLES[name]}"] = paper["one"] / paper["other"]
        yield self.table("ratios", pd.DataFrame(columns))
        shown = errors[[name for name in errors if name not in WAITING]].rename(columns=TITLES)
        optimum, best = self.problem.optimum, self.reference()
        against = f"the optimum, {optimum:,}" if optimum else f"the best of all runs, {best:,}"
        yield self.table("errors", shown, against=against)
        runs, reference = self.data["other_operators"], self.reference("other_operators")
        milliseconds = 1e3 * runs["seconds"]
        row: Row = {"population": int(runs["population"].iloc[0])}
        row |= {"iterations": min(STRONG_ITERATIONS, self.iterations), "runs": len(runs)}
        row |= {"at the reference": int((runs["length"] == reference).sum())}
        row |= {"mean relative error": float((runs["length"] / reference - 1).mean())}
        row |= {"median time, ms": float(milliseconds.median()), "longest, ms": float(milliseconds.max())}
        yield self.table("strong", [row], fraction=STRONG["crossover_fraction"])

    def _synchronisations(self) -> ResultTable:
        migrations, steps = max(self.iterations // 50, 1), self.iterations * _STEPS
        paper = {
            "sak": (steps, steps, 0),
            "slk": (1, steps, 0),
            "tim": (self.iterations, self.iterations, steps),
            "lim-cg": (1, migrations, steps),
            LIM_IS: (2 * migrations, migrations, steps),
        }
        counted = self.data["synchronisations"]
        formulas = pd.DataFrame(paper, ["paper_launches", "paper_global", "paper_group"]).T
        rows = counted.join(formulas, "engine").assign(scheme=counted["engine"].map(TITLES))
        missing = sorted(set(ENGINES) - {SERIAL} - set(counted["engine"]))
        names = ", ".join(TITLES[name] for name in missing)
        further = self.notes("not_counted", missing=names) if missing else ()
        return self.table("synchronisations", rows, *further, steps=_STEPS, migrations=migrations)

    def _blocks(self, wall: Frame) -> ResultTable:
        rows, runs = [], self.data["blocks"].assign(ms=1e3 * self.data["blocks"]["seconds"])
        for (block, population), times in by(runs, "block", "population", "engine", value="ms").iterrows():
            own, serial = times.dropna(), wall.loc[population, SERIAL]
            row = {"block": block, "grid": population // ISLAND, "population": population, "serial, ms": serial}
            for scheme, paper in BLOCKS_MS.items():
                paper_ms = paper.get(block, {}).get(population)
                row[f"{TITLES[scheme]}, ms"] = f"{own[scheme]:,.2f}" if scheme in own else "refused"
                row[f"{TITLES[scheme]}, speed-up"] = serial / own[scheme] if scheme in own else None
                row[f"{TITLES[scheme]}, paper's speed-up"] = (
                    TIMES_MS[SERIAL][population] / paper_ms if paper_ms else None
                )
            rows.append(row)
        on_cpu = self.notes("on_cpu")[0] if self.device.kind == "CPU" else ""
        return self.table("blocks", rows, *self._refusals("lim-cg"), on_cpu=on_cpu)

    def _refusals(self, *names: str) -> tuple[str, ...]:
        """Populations that engines were refused for, and the device's words once."""
        by_engine: dict[str, list[str]] = {}
        for name, population in self.refusals:
            if name in names:
                by_engine.setdefault(name, []).append(f"{population:,}")
        refused = "; ".join(f"{TITLES[name]} with {', '.join(sizes)}" for name, sizes in by_engine.items())
        return self.notes("refused", refused=refused) if refused else ()

    def _figures(self) -> dict[str, Figure]:
        """Times (Figure 6), speed-ups (Figure 7) and errors (Figure 8) by population."""
        foot = self.foot(f"{self.problem.label}, {self.iterations:,} iterations · ", f"; serial: {processor_name()}")
        wall, errors = self.milliseconds(), 100.0 * self.relative_errors
        speed_ups = wall.rdiv(wall[SERIAL], axis=0).drop(columns=SERIAL)
        errors = errors[[name for name in (LIM_IS, "lim-async", "sak") if name in errors]]

        def draw(ax: Axes, frame: pd.DataFrame, label: str, log: bool = True) -> Axes:
            lines(ax, frame, _LOOKS, TITLES)
            number_ticks(ax, frame.index.tolist(), base=2)
            if log and frame.max().max() > _SPAN * frame.min().min():
                log_axis(ax)
            else:
                ax.set_ylim(bottom=0)
            ax.set(xlabel="Population", ylabel=label)
            return ax

        shown: dict[str, Any] = {
            "times": ("Time of a run", draw, wall, "Time (ms)"),
            "speed_ups": ("Speed-up over the serial engine", draw, speed_ups, "Times as fast"),
            "errors": ("Relative error", draw, errors, "Relative error (%)", False),
        }
        return {name: sheet_figure(3.0, foot, on_axes(*figure)) for name, figure in shown.items()}


def run(
    *,
    budget: RunBudget,
    path: Path | None = None,
    optimum: int | None = None,
    iterations: int | None = None,
    populations: str | None = None,
) -> ExperimentResult:
    """Run the experiment; its runs are those of every engine and population. Options: see `reservoir.cli.bench`."""
    study = TourStudy.of(
        budget,
        problem=tour_problem(path or runtime.package_path("data", "tsp/att48.tsp"), optimum),
        iterations=iterations or budget.usual(ITERATIONS, QUICK_ITERATIONS),
        populations=_populations(populations) if populations else budget.usual(POPULATIONS, POPULATIONS[:2]),
    )
    return study.measured().result()


def _populations(text: str) -> tuple[int, ...]:
    def valid(size: int) -> bool:
        return size % ISLAND == 0 and ISLAND <= size <= 2**16

    problem, expected = "is not a multiple of the island size", f"multiples of {ISLAND} up to {2**16:,}"
    return numbers_named(text, valid, problem, expected, "--populations")


def _row(engine: str, population: int, run: int, solution: Solutions) -> Row:
    about = {"engine": engine, "population": population, "run": run} | seconds_of(solution)
    about |= {"length": -int(solution.fitness), "evaluations": solution.evaluations}
    defaults = {"work_groups": 1, "items": 1, "team": 1, "resident": None}
    return about | {name: solution.settings.get(name, default) for name, default in defaults.items()}


def blocks_of(device: DeviceInfo) -> tuple[int, ...]:
    """Items of a block: those of the paper that a GPU can have; on a CPU a thread has a block, of one item."""
    if device.kind == "CPU":
        return (1,)
    return tuple(block for block in (128, 256, 512, 1024) if block <= device.max_work_group_size)


#: Steps of an iteration: selection, breeding, evaluation.
_STEPS = 3
_RESIDENT = {None: None, True: "yes", False: "no: in slices"}


_LOOKS = {
    SERIAL: BASE_LOOK,
    "tim": Look(POWER, CHAINED, "s"),
    "sak": Look(SPILL, (0, (3, 1.5)), "v"),
    "slk": Look(DRY, (0, (5, 1.5, 1, 1.5)), "P"),
    "lim-cg": Look(INFLOW, DASHED, "^"),
    LIM_IS: MAIN_LOOK,
    "lim-async": Look(RELEASE, (0, (2, 1)), "X"),
}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 10
