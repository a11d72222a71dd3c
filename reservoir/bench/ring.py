"""Ring PSO as Mussi, Nashed and Cagnoni 2011 measured it: Figure 2, by the number of variables, drawn and as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike

from reservoir.bench.experiment import DeviceStudy, RunBudget, bundled, numbers_named, processor_name
from reservoir.bench.figures import BASE_LOOK, MAIN_LOOK, SECOND_LOOK, lines, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row, by, seconds_of, select
from reservoir.planning.checks import Check, largest
from reservoir.problems.functions import FEWEST, MOST_OF_SUM, RING_FUNCTIONS, Function, FunctionProblem
from reservoir.report.figures.style import sheet_figure
from reservoir.solvers import Solutions, solve
from reservoir.solvers.ring_pso import ASYNC, STAR, SYNC, RingSettings

SEQUENTIAL = "sequential"
#: Engines by name: what the solver is asked for.
ENGINES: dict[str, dict[str, Any]] = {
    SEQUENTIAL: {"solver": "ring-pso-sequential"},
    **{mode: {"solver": "ring-pso", "mode": mode} for mode in (SYNC, ASYNC)},
}
TITLES = {name: function.title for name, function in RING_FUNCTIONS.items()}
#: What runs are told apart by.
SHAPE = ("function", "dimension", "engine")
#: Powers of two as in the paper, and 10, of which more is known.
DIMENSIONS, QUICK_DIMENSIONS = (2, 4, 8, 10, 16, 32, 64, 128), (2, 10, 32)
#: Generations of the paper, which claims are of.
GENERATIONS, QUICK_GENERATIONS, PARTICLES = 10_000, 200, 32
#: Swarms that a call solves at once where quality is measured: a large GPU has them at work together.
BATCH = 100
#: Part of the runs whose mean is told: "the 98 best results out of 100 runs".
BEST_FRACTION = 0.98
#: Means of the best 98 % of 20 runs of an independent program, synchronous, by function and variables.
REFERENCE: dict[str, dict[int, float]] = bundled("ring")["reference"]
REFERENCE_RUNS = 20
#: Published means and standard deviations of Standard PSO 2006, of so many variables, evaluations and runs.
STANDARD: dict[str, tuple[float, float]] = bundled("ring")["standard_2006"]
STANDARD_DIMENSION, STANDARD_EVALUATIONS, STANDARD_RUNS = 30, 30_000, 50
#: Values below this are zero, for all that float32 can tell.
ZERO = 1e-6
#: A dear function, of whose speed is claimed.
DEAR, DEAR_DIMENSION = "rastrigin", 128
_LOOKS = {SEQUENTIAL: BASE_LOOK, SYNC: SECOND_LOOK, ASYNC: MAIN_LOOK}


def mean_of_best(values: ArrayLike) -> float:
    """Mean of the best 98 % of the runs."""
    values = np.sort(values)
    return float(values[: max(1, math.ceil(BEST_FRACTION * len(values)))].mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class RingStudy(DeviceStudy):
    """What is run: numbers of variables, and generations and particles of a swarm.

    Tables: ``runs`` with their values; ``times`` of calls, a swarm alone and many at once; ``standard_pso_2006``.
    """

    paper = "ring"
    title = "Ring PSO on {study.device.name}"
    dimensions: tuple[int, ...]
    generations: int
    particles: int

    @property
    def together(self) -> int:
        """Swarms of a call that solves many."""
        return min(BATCH, self.budget.runs)

    def _swarms(
        self, engine: str, function: Function, dimension: int, first: int, count: int, generations: int | None = None
    ) -> Solutions:
        """One call, that solves the problems of so many streams of random numbers at once."""
        problems = [FunctionProblem(function, dimension, stream) for stream in range(first, first + count)]
        swarm: Row = {"particles": self.particles, "generations": generations or self.generations}
        return self.solve(problems, **ENGINES[engine], **swarm)

    def _measure(self) -> dict[str, pd.DataFrame]:
        runs: list[Row] = []
        times: list[Row] = []
        # First swarm and swarms of each call: many for their quality, then one for the time that it takes alone.
        calls = [(first, min(BATCH, self.budget.runs - first), False) for first in range(0, self.budget.runs, BATCH)]
        calls += [(stream, 1, True) for stream in range(self.budget.repeats)]
        shapes = product(RING_FUNCTIONS.values(), self.dimensions)
        for shape in self.tracked(lambda shape: f"{shape[0].title}, {shape[1]} variables", shapes):
            for engine in ENGINES:
                self._swarms(engine, *shape, 0, 1, 2)  # compiles; not counted
                about = {"function": shape[0].name, "dimension": shape[1], "engine": engine}
                for first, count, alone in calls:
                    solutions = self._swarms(engine, *shape, first, count)
                    times.append(about | {"swarms": count, "alone": alone} | seconds_of(solutions[0]))
                    for place, solution in enumerate(() if alone else solutions, start=first + 1):
                        row = {"run": place, "value": -solution.fitness, "resident": solution.settings.get("resident")}
                        runs.append(about | row)
        standard = self._standard_runs()
        return {"runs": pd.DataFrame(runs), "times": pd.DataFrame(times), "standard_pso_2006": standard}

    def _standard_runs(self) -> pd.DataFrame:
        """Standard PSO 2006 on the functions whose values are published."""
        settings = RingSettings.standard_2006(STANDARD_DIMENSION, STANDARD_EVALUATIONS).as_dict() | {"topology": STAR}
        count = self.budget.usual(STANDARD_RUNS, min(STANDARD_RUNS, self.budget.runs))
        rows = []
        for name in STANDARD:
            problems = [FunctionProblem(RING_FUNCTIONS[name], STANDARD_DIMENSION, stream) for stream in range(count)]
            solutions = solve(problems, solver="ring-pso-sequential", seed=self.budget.seed, **settings)
            rows += [
                {"function": name, "run": run, "value": -solution.fitness, "evaluations": solution.evaluations}
                for run, solution in enumerate(solutions, start=1)
            ]
        return pd.DataFrame(rows)

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        asked = {"dimensions": list(self.dimensions), "generations": self.generations, "particles": self.particles}
        settings = RingSettings().as_dict()
        names = ("inertia", "cognitive", "social", "wall")
        return super().origin() | asked | {"settings": {name: settings[name] for name in names}}

    @cached_property
    def statistics(self) -> dict[str, Frame]:
        """Of the runs, by function and number of variables, a column for each engine.

        ``mean`` of the best 98 %, ``median``, and ``above``: by how many standard errors the mean exceeds the
        reference: 0 for what is zero in both, NaN without a reference or of a single run.
        """
        names = {"mean": mean_of_best, "median": "median", "std": "std", "size": "size"}
        values = {name: by(self.data["runs"], *SHAPE, value="value", statistic=each) for name, each in names.items()}
        mean = values["mean"]
        known = pd.Series([REFERENCE[name].get(count, np.nan) for name, count in mean.index], mean.index)
        error = values["std"] * np.sqrt(1 / REFERENCE_RUNS + 1 / values["size"])
        zero = mean.le(known.clip(lower=ZERO), axis=0)
        return values | {"above": (mean.sub(known, axis=0) / error).mask(zero, 0.0)}

    @cached_property
    def milliseconds(self) -> dict[bool, Frame]:
        """Medians of a swarm alone in a call (True), and of its share of a call with many, as `statistics`."""
        calls = self.data["times"].assign(ms=lambda calls: 1e3 * calls["seconds"] / calls["swarms"])
        return {alone: by(select(calls, alone=alone), *SHAPE, value="ms") for alone in (True, False)}

    @cached_property
    def speed_ups(self) -> dict[bool, Frame]:
        """How many times as fast as the sequential engine, whose swarms are solved one after another."""
        one = self.milliseconds[True][SEQUENTIAL]
        return {alone: frame[[SYNC, ASYNC]].rdiv(one, axis=0) for alone, frame in self.milliseconds.items()}

    def median_ratios(self) -> Frame:
        """The asynchronous medians beside the synchronous ones; what is zero in both is as good."""
        medians = self.statistics["median"].clip(lower=ZERO)
        return medians[ASYNC] / medians[SYNC]

    @cached_property
    def standard(self) -> pd.DataFrame:
        """Standard PSO 2006 by function: its values, the published ones, and standard errors between the means."""
        of_functions = self.data["standard_pso_2006"].groupby("function")["value"]
        values = of_functions.agg(["mean", "std", "size"]).loc[[*STANDARD]]
        values[["published mean", "published deviation"]] = [*STANDARD.values()]
        apart = (values["mean"] - values["published mean"]).abs()
        error = np.hypot(values["published deviation"], values["std"]) / np.sqrt(values["size"])
        return values.assign(apart=(apart / error).mask(apart <= ZERO, 0.0))

    def claims(self) -> Iterator[Check]:
        """Claims that this device and this budget can be held to."""
        if self.budget.runs < 2 or self.generations < GENERATIONS:
            return
        above, ratios = self.statistics["above"], self.median_ratios()
        for engine in (SEQUENTIAL, SYNC):
            for name, reference in REFERENCE.items():
                known = [dimension for dimension in reference if dimension in self.dimensions]
                if known:
                    worst = largest(above.loc[name][engine][known])
                    yield self.claim("above", worst, engine=engine, function=TITLES[name])
        for name, title in TITLES.items():
            yield self.claim("medians", largest(ratios[name]), function=title)
        yield self.claim("standard", largest(self.standard["apart"]))
        if self.large_gpu and DEAR_DIMENSION in self.dimensions:
            alone, many = (self.speed_ups[each].loc[DEAR, DEAR_DIMENSION] for each in (True, False))
            values = {"sync": alone[ASYNC] / alone[SYNC], "many": many[ASYNC], "alone": alone[ASYNC]}
            dear = f"{TITLES[DEAR]}, {DEAR_DIMENSION} variables"
            yield from (self.claim(name, value, dear=dear) for name, value in values.items())

    def _headlines(self) -> dict[str, str]:
        most = self.dimensions[-1]
        alone, many = (self.speed_ups[each].loc[DEAR, most] for each in (True, False))
        ratio = self.median_ratios().xs(most, level="dimension").max()
        return {
            "Speed": f"{TITLES[DEAR]}, {most} variables: async {alone[ASYNC] / alone[SYNC]:,.1f} x sync; "
            f"over the sequential engine {alone[ASYNC]:,.1f} x alone, {many[ASYNC]:,.1f} x with {self.together} swarms "
            "per call",
            "Quality": f"async / sync, {most} variables: ratio of medians at most {ratio:,.2f}",
        }

    def _tables(self) -> Iterator[ResultTable]:
        def of(name: str, columns: Row, **values: str) -> ResultTable:
            """A table with a row for each function and number of variables."""
            frame = pd.DataFrame(columns).rename(TITLES, level="function").rename_axis(["function", "variables"])
            return self.table(name, frame, **values)

        mean, median, above = (self.statistics[name] for name in ("mean", "median", "above"))
        columns = {engine: mean[engine] for engine in ENGINES} | {f"median, {each}": median[each] for each in ENGINES}
        columns["reference"] = pd.Series([REFERENCE[name].get(count) for name, count in mean.index], mean.index)
        if not self.budget.quick and above.notna().any(axis=None):
            columns["errors above"] = above[[SEQUENTIAL, SYNC]].max(axis=1)
        resident = select(self.data["runs"], engine=ASYNC)["resident"].astype(bool)
        how = (
            "all particles of a call ran concurrently"
            if resident.all()
            else "not all particles ran concurrently, so launches were divided into slices of one generation"
            if not resident.any()
            else "in calls with few variables all particles ran concurrently, the others were divided into slices"
        )
        yield of("fitness", columns, how=how)
        alone, many = self.milliseconds[True], self.milliseconds[False]
        columns = {f"{engine}, ms": alone[engine] for engine in ENGINES}
        columns |= {f"{engine}, ms of many": many[engine] for engine in (SYNC, ASYNC)}
        yield of("times", columns)
        alone, many = self.speed_ups[True], self.speed_ups[False]
        columns = {SYNC: alone[SYNC], f"{SYNC}, many": many[SYNC], ASYNC: alone[ASYNC], f"{ASYNC}, many": many[ASYNC]}
        columns["async / sync"] = alone[ASYNC] / alone[SYNC]
        yield of("speed_ups", columns)
        yield self.table("standard", self.standard.rename(TITLES).reset_index())

    def _figures(self) -> dict[str, Figure]:
        """Three panels for each function."""

        def draw(sheet: SubFigure) -> Axes:
            every = sheet.subplots(len(RING_FUNCTIONS), 3, sharex=True)
            for axes, (name, title) in zip(every, TITLES.items(), strict=True):
                self._draw_row(axes, name)
                axes[0].set_ylabel(title.replace("High-conditioned e", "E"))
            for ax, title in zip(every[0], ("Mean of the best 98 %", "Time (ms)", "Speed-up"), strict=True):
                ax.set_title(title)
            for ax in every[-1]:
                ax.set_xlabel("Variables")
            upper: Axes = every[0][1]
            return upper

        about = f"{self.particles} particles, {self.generations:,} generations, {self.budget.runs} runs · "
        return {"by_variables": sheet_figure(8.2, self.foot(about, f"; sequential: {processor_name()}"), draw)}

    def _draw_row(self, axes: Any, name: str) -> None:
        means, times = self.statistics["mean"].clip(lower=ZERO), self.milliseconds[True]
        for ax, frame in zip(axes, (means, times), strict=False):
            lines(ax, frame.loc[name], _LOOKS, size=3, lw=1.2)
        alone, many = (self.speed_ups[each].loc[name] for each in (True, False))
        for engine in (SYNC, ASYNC):
            lines(axes[2], alone[[engine]], _LOOKS, size=3, lw=1.2)
            axes[2].plot(many.index, many[engine], color=_LOOKS[engine].colour, ls=(0, (3, 2)), lw=1.0)
        for ax in axes:
            log_axis(ax, subs=(1,), ticks=6, form="{:g}".format)
            number_ticks(ax, (each for each in self.dimensions if each != 10), base=2)


def run(
    *,
    budget: RunBudget,
    dimensions: str | None = None,
    generations: int | None = None,
    particles: int = PARTICLES,
) -> ExperimentResult:
    """Run the experiment; its runs are swarms of each engine, function and number of variables.

    Options: see `reservoir.cli.bench`.
    """
    asked = budget.usual(DIMENSIONS, QUICK_DIMENSIONS)
    if dimensions is not None:
        problem, expected = "is not a valid number of variables", f"{FEWEST} to {MOST_OF_SUM:,}"
        asked = numbers_named(dimensions, lambda each: FEWEST <= each <= MOST_OF_SUM, problem, expected, "--dimensions")
    generations = generations or budget.usual(GENERATIONS, QUICK_GENERATIONS)
    RingSettings(particles=particles, generations=generations)  # what is out of range is told at once
    study = RingStudy.of(budget, dimensions=asked, generations=generations, particles=particles)
    return study.measured().result()
