"""DSMGA-II as Li and Yu 2017 measured it: sweeps, or runs with every way to build a model, and what they come to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter

from reservoir.bench.experiment import DeviceStudy, RunBudget, names_named, numbers_named, processor_name
from reservoir.bench.figures import BASE_LOOK, CHAINED, LOSSY_LOOK, MAIN_LOOK, lines, log_axis, number_ticks, panels
from reservoir.bench.populations import (
    ORIGINAL,
    SPIN,
    TITLES,
    Case,
    SweepStudy,
    bundled_glasses,
    spin_cases,
    trap_case,
)
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row, select
from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo, Session
from reservoir.planning.checks import Check, largest
from reservoir.report.figures.style import POWER, RELEASE, Look, sheet_figure
from reservoir.solvers.dsmga2 import DEVICE_MODELS, LOSSLESS, LOSSY, ON_DEMAND, SEQUENTIAL, Dsmga2Settings
from reservoir.solvers.dsmga2 import engine as dsmga2
from reservoir.solvers.dsmga2.engine import DeviceBuilder, HostBuilder
from reservoir.solvers.dsmga2.run import CLIMBING, EQUAL, HIT
from reservoir.text.quantities import quantity

#: In the order of the tables.
MODELS = (SEQUENTIAL, LOSSLESS, LOSSY, ON_DEMAND)
#: Evaluations are means of so many times as many runs as times are.
EVALUATION_RUNS = 10
#: Those whose evaluations are compared: the first stands for all that build whole sets, which go the same way.
EVALUATED = (ON_DEMAND, LOSSY)
#: Sizes of traps: multiples of the blocks of all three kinds.
SIZES, QUICK_SIZES = (60, 120, 240, 360, 480, 600), (60, 120)
#: What a problem is told by, and what a run comes to.
KEYS, COUNTS = ["kind", "problem", "bits"], ["evaluations", "mixing_evaluations", "generations", "found"]
_STAGES = {"matrix": "matrix_s", "linkage": "linkage_s", "building": "building_s", "total": "total_s"}
#: Runs from which the lossy engine's means of evaluations are held to the lossless one's.
FEWEST_RUNS = 50
#: What speeds on a large GPU are claimed of.
SPEED_CASE = ("ftrap", 600)
#: Bits from which the lossless stages are no slower than the sequential ones on a CPU.
CPU_BITS = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkageStudy(DeviceStudy):
    """What is run: the problems.

    Tables: ``runs`` that are timed, one at a time, on one thread of the host: kind, problem, bits, population, model,
    run, found, false_optimum, evaluations until the optimum, mixing_evaluations (hill climbing apart),
    climbing_evaluations, generations, set_length (mean of the loci of the last model's sets), and seconds: matrix_s
    (stage 1: selection, copies, matrix), linkage_s (stage 2: linkage sets and copies), mixing_s, total_s; and
    ``evaluations``, of runs of a case side by side, with the same columns but for seconds.
    """

    paper = "linkage"
    title = "DSMGA-II: model building on {study.device.name}"
    cases: Sequence[Case]

    def _measure(self) -> dict[str, pd.DataFrame]:
        return {"runs": self._timed_runs(), "evaluations": self._evaluated_runs()}

    def _timed_runs(self) -> pd.DataFrame:
        rows: list[Row] = []
        seed = self.budget.seed
        for case, model in self.tracked("runs", product(self.cases, MODELS)):
            settings = Dsmga2Settings(population=case.population, model=model, threads=1, linkage_generations=0)
            with _builder(case, settings, self.device) as builder:
                _timed(case, replace(settings, generations=1), builder, 0, seed)  # compiles
                rows += [_timed(case, settings, builder, number, seed) for number in range(self.budget.runs)]
        return pd.DataFrame(rows)

    def _evaluated_runs(self) -> pd.DataFrame:
        rows: list[Row] = []
        seed, device = self.budget.seed, str(self.device.index)
        for case in self.tracked("evaluations", self.cases):
            count = self.budget.runs * self.budget.usual(EVALUATION_RUNS, 1)
            problems = [case.problem(number) for number in range(count)]
            for model in EVALUATED:
                settings = Dsmga2Settings(population=case.population, model=model, linkage_generations=0)
                runs, *_ = dsmga2.run_all(problems, settings, seed=seed, device=device)
                rows += [case.about | {"model": model, "run": number} | _found(run) for number, run in enumerate(runs)]
        return pd.DataFrame(rows)

    @cached_property
    def times(self) -> Frame:
        """Milliseconds of stages and runs, and speed-ups over the sequential engine: medians over runs.

        Index: kind, problem, bits. Columns: ``matrix_ms:MODEL`` and ``linkage_ms:MODEL`` of a generation,
        ``total_ms:MODEL`` of a run, ``set_length:MODEL``, and speed-ups ``matrix_x:MODEL``, ``linkage_x:MODEL``,
        ``building_x:MODEL`` (both together) and ``total_x:MODEL``: how many times as long the sequential engine takes
        for the same run, seconds of a stage summed over its generations as in the paper. Runs that miss the optimum
        with either engine are left out: they go on until nothing moves.
        """
        runs = self.data["runs"]
        timed = runs.assign(building_s=runs["matrix_s"] + runs["linkage_s"]).set_index([*KEYS, "run"])
        base, columns = select(timed, model=SEQUENTIAL), {}
        for model in MODELS:
            mine = select(timed, model=model)
            both = mine["found"] & base["found"]
            mine, theirs = mine[both], base[both]
            columns[f"set_length:{model}"] = mine["set_length"]
            for stage, column in _STAGES.items():
                units = 1 if stage == "total" else mine["generations"]
                columns[f"{stage}_ms:{model}"] = 1e3 * mine[column] / units
                columns[f"{stage}_x:{model}"] = theirs[column] / mine[column]
        medians = {name: column.groupby(level=KEYS, sort=False).median() for name, column in columns.items()}
        return _of_all(medians, runs)

    @cached_property
    def evaluations(self) -> Frame:
        """Mean evaluations until the optimum, of the runs that found it.

        Index: kind, problem, bits. Columns, of the models that were evaluated, ``evaluations:MODEL``,
        ``mixing_evaluations:MODEL`` (hill climbing apart), ``generations:MODEL`` and ``found:MODEL``, the part of the
        runs that found it; and ``apart`` and ``mixing_apart``: how far the lossy model's evaluations are from the exact
        one's, as a part of them.
        """
        columns: dict[str, pd.Series[float]] = {}
        for model in EVALUATED:
            every = select(self.data["evaluations"], model=model)
            able = every[every["found"]].groupby(KEYS, sort=False)
            columns |= {f"{name}:{model}": able[name].mean() for name in COUNTS[:3]}
            columns[f"found:{model}"] = every.groupby(KEYS, sort=False)["found"].mean()
        frame = _of_all(columns, self.data["evaluations"])
        for name, column in (("apart", "evaluations"), ("mixing_apart", "mixing_evaluations")):
            frame[name] = frame[f"{column}:{LOSSY}"] / frame[f"{column}:{ON_DEMAND}"] - 1
        return frame

    def differing_runs(self, model: str) -> int:
        """Runs of a model that do not go as the sequential engine's."""
        runs = self.data["runs"].set_index(["problem", "run", "model"])[COUNTS]
        one, other = (pd.DataFrame(runs.xs(name, level="model")) for name in (SEQUENTIAL, model))
        return int((one != other.reindex(one.index)).any(axis=1).sum())

    def claims(self) -> Iterator[Check]:
        """Claims that this device and these runs can be held to."""
        runs, evaluated, means = self.data["runs"], self.data["evaluations"], self.evaluations
        yield self.claim("false", runs["false_optimum"].sum() + evaluated["false_optimum"].sum())
        for model in (LOSSLESS, ON_DEMAND):
            yield self.claim("differ", self.differing_runs(model), model=model)
        if evaluated["run"].nunique() >= FEWEST_RUNS:
            yield self.claim("apart", largest(means["apart"].abs()))
            yield self.claim("missed", largest(means[f"found:{ON_DEMAND}"] - means[f"found:{LOSSY}"]))
        times = by_kind_and_bits(self.times)
        if self.large_gpu and SPEED_CASE in times.index:
            row = times.loc[SPEED_CASE]
            for model in (LOSSLESS, LOSSY):
                yield self.claim("matrix", row[f"matrix_x:{model}"], model=model)
            yield self.claim("sets", row[f"linkage_x:{LOSSY}"], model=LOSSY)
        large = times[times.index.get_level_values("bits") >= CPU_BITS]
        if self.device.kind == "CPU" and len(large):
            for stage, title in (("matrix", "matrix"), ("linkage", "sets"), ("building", "both stages")):
                yield self.claim("cpu", -largest(-large[f"{stage}_x:{LOSSLESS}"]), bits=CPU_BITS, stage=title)

    def _headlines(self) -> dict[str, str]:
        of_case = [key for key in self.times.index if (key[0], key[2]) == SPEED_CASE]
        _, problem, _ = key = of_case[0] if of_case else self.times.index[-1]
        row = self.times.loc[key]
        return {
            "Stages": f"{problem}: matrix {row[f'matrix_x:{LOSSLESS}']:,.1f} x the sequential engine, linkage sets "
            f"{row[f'linkage_x:{LOSSLESS}']:,.1f} x lossless, {row[f'linkage_x:{LOSSY}']:,.1f} x lossy",
            "Whole runs": f"{problem}: lossless {row[f'total_x:{LOSSLESS}']:,.2f} x, "
            f"lossy {row[f'total_x:{LOSSY}']:,.2f} x, on demand {row[f'total_x:{ON_DEMAND}']:,.2f} x",
        }

    def _tables(self) -> Iterator[ResultTable]:
        def named(frame: Frame) -> pd.DataFrame:
            """A row for each problem, by its name."""
            rows = pd.DataFrame(frame).reset_index()
            problems = zip(rows["kind"], rows["problem"], strict=True)
            return rows.assign(problem=[name if name.startswith("SPIN") else TITLES[kind] for kind, name in problems])

        times = self.times.assign(population=self.data["runs"].groupby(KEYS, sort=False)["population"].first())
        yield self.table("stages", named(times))
        yield self.table("whole", named(times))
        yield self.table("evaluations", named(self.evaluations))

    def _figures(self) -> dict[str, Figure]:
        """All figures; points of problems of one kind and size are their means."""
        about = f"{self.budget.runs} timed runs, evaluations of {self.data['evaluations']['run'].nunique()} · "
        foot = self.foot(about, f"; sequential: {processor_name()}")
        times, means = by_kind_and_bits(self.times), by_kind_and_bits(self.evaluations)
        kinds = list(times.index.unique("kind"))

        def building(sheet: SubFigure) -> Axes:
            axes = sheet.subplots(2, 2, sharex=True)
            for row, model in zip(axes, (LOSSLESS, LOSSY), strict=True):
                for ax, stage in zip(row, ("matrix", "linkage"), strict=True):
                    for kind in [each for each in _KIND_LOOKS if each in kinds]:
                        column = times.loc[kind][[f"{stage}_x:{model}"]].set_axis([kind], axis=1)
                        lines(ax, column, _KIND_LOOKS, TITLES)
                    _dress(ax)
                row[0].set_ylabel(f"Speed-up, {model}")
            axes[0][0].set_title("Dependency structure matrix")
            axes[0][1].set_title("Linkage sets")
            for ax in axes[-1]:
                ax.set_xlabel("Bits")
            corner: Axes = axes[0][0]
            return corner

        def by_kind(frame: Frame, value: str, models: dict[str, str], label: str) -> Figure:
            """A panel for each kind of problem, with a line for each model under the name that it stands for."""

            def draw(sheet: SubFigure) -> Axes:
                axes = panels(sheet, len(kinds), min(2, len(kinds)), label)
                for ax, kind in zip(axes, kinds, strict=True):
                    columns = {f"{value}:{model}": name for model, name in models.items()}
                    of_kind = frame.loc[kind][list(columns)].rename(columns=columns)
                    lines(ax, of_kind, {name: _MODEL_LOOKS[name] for name in models.values()})
                    _dress(ax)
                    ax.set(title=TITLES[kind], xlabel="Bits")
                return axes[0]

            return sheet_figure(2.6 if len(kinds) < 3 else 5.0, foot, draw)

        return {
            "model_building": sheet_figure(5.4, foot, building),
            "whole_runs": by_kind(times, "total_x", {model: model for model in MODELS[1:]}, "Whole runs, speed-up"),
            "evaluations": by_kind(means, "evaluations", {ON_DEMAND: LOSSLESS, LOSSY: LOSSY}, "Evaluations"),
        }


def _of_all(columns: Mapping[str, pd.Series[float]], runs: pd.DataFrame) -> pd.DataFrame:
    """A row for each problem that ran, in order."""
    return pd.DataFrame(columns).reindex(pd.MultiIndex.from_frame(runs[KEYS].drop_duplicates()))


def by_kind_and_bits(frame: Frame) -> Frame:
    """Means over the problems of a kind and size."""
    return frame.groupby(level=["kind", "bits"], sort=False).mean()


def run(
    *,
    budget: RunBudget,
    sweep: bool = False,
    problems: str | None = None,
    sizes: str | None = None,
    spin: tuple[Path, ...] = (),
) -> ExperimentResult:
    """Run the experiment; its runs are sweeps of each problem, or runs of each problem and way to build a model.

    Options: see `reservoir.cli.bench`.
    """
    kinds = names_named(problems, TITLES, "there is no such kind of problem", "--problems")
    if spin and SPIN not in kinds:
        raise InputError(
            "is given, but spin is not among the problems", "spin in --problems", "add it", column="--spin"
        )
    if sizes is not None and kinds == (SPIN,):
        raise InputError("applies only to traps", "mk, ftrap or cyc in --problems", "add one of them", column="--sizes")
    asked = budget.usual(SIZES, QUICK_SIZES)
    if sizes is not None:
        asked = numbers_named(sizes, lambda bits: bits >= 1, "is not a valid size", "bits", "--sizes")
    of_kinds = {kind: asked for kind in kinds if kind != SPIN}
    if sweep and sizes is None:  # those of the original program
        known = {kind: tuple(bits for each, bits in ORIGINAL if each == kind) for kind in of_kinds}
        of_kinds = {kind: every[: budget.usual(None, 1)] for kind, every in known.items()}
    cases = [trap_case(kind, bits) for kind, every in of_kinds.items() for bits in every]
    if SPIN in kinds:
        glasses = spin_cases(spin or bundled_glasses(first_only=budget.quick or not sweep))
        cases += glasses[: 1 if budget.quick and not spin else None]
    if sweep:
        return SweepStudy.of(budget, cases=cases).measured().result()
    return LinkageStudy.of(budget, cases=cases).measured().result()


@contextmanager
def _builder(case: Case, settings: Dsmga2Settings, device: DeviceInfo) -> Iterator[HostBuilder | DeviceBuilder]:
    """What builds the models of all runs of a case: a device keeps its buffers from run to run."""
    if settings.model not in DEVICE_MODELS:
        yield HostBuilder(settings.model)
        return
    layout = dsmga2.model_layout(device, case.bits, settings.individuals, lossy=settings.model == LOSSY)
    with Session(device) as session:
        program = dsmga2.build_model_program(device, layout)
        yield DeviceBuilder(session, program, layout, 1, timed=True)


def _timed(case: Case, settings: Dsmga2Settings, builder: HostBuilder | DeviceBuilder, number: int, seed: int) -> Row:
    began = time.perf_counter()
    run = dsmga2.Run.of(case.problem(number), settings, seed)
    builder.seconds.clear()
    seconds = dsmga2.evolve([run], settings, builder, lambda run: None)
    total = time.perf_counter() - began
    row = case.about | {"model": settings.model, "run": number, "population": settings.individuals} | _found(run)
    row |= {"set_length": float(run.model.lengths.mean())}
    stages = {"matrix_s": dsmga2.MATRIX_STAGE, "linkage_s": dsmga2.LINKAGE_STAGE, "mixing_s": dsmga2.MIXING_STAGE}
    return row | {name: seconds[stage] for name, stage in stages.items()} | {"total_s": total}


def _found(run: dsmga2.Run) -> Row:
    tally, problem = run.population.tally, run.problem
    genes, _ = run.best
    reported, climbing = bool(tally[HIT]), int(tally[CLIMBING])
    spent = int(tally[HIT]) or run.evaluations
    right = problem.certify(genes[: run.loci].astype(float)).fitness >= run.population.optimum - EQUAL
    row = {"found": reported, "false_optimum": reported and not right, "evaluations": spent}
    row |= {"mixing_evaluations": max(spent - climbing, 0), "climbing_evaluations": climbing}
    return row | {"generations": run.generations}


_KIND_LOOKS = {"mk": MAIN_LOOK, "ftrap": LOSSY_LOOK, "cyc": Look(RELEASE, CHAINED, "^"), SPIN: BASE_LOOK}
_MODEL_LOOKS = {SEQUENTIAL: BASE_LOOK, LOSSLESS: MAIN_LOOK, LOSSY: LOSSY_LOOK, ON_DEMAND: Look(POWER, CHAINED, "^")}
#: Values further apart than this stand on a logarithmic axis.
_SPAN = 8


def _dress(ax: Axes) -> None:
    """Axes to fit what is drawn: bits as they are, values from zero, or logarithmic where they are far apart."""
    drawn = np.concatenate([np.asarray(each.get_xydata(), float) for each in ax.get_lines()])
    bits, values = np.unique(drawn[:, 0]), drawn[np.isfinite(drawn[:, 1]), 1]
    number_ticks(ax, bits if len(bits) < 8 else bits[::2])
    if len(values) and max(values) > _SPAN * min(values):
        log_axis(ax, subs=(1, 3) if max(values) > 100 * min(values) else (1, 2, 5), ticks=None)
    else:
        ax.set_ylim(bottom=0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: quantity(value)))
