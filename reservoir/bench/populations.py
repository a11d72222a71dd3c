"""Populations of DSMGA-II: problems with what each needs, and the sweeps that find it, beside the original program's.

The population that a problem needs is the size with the fewest evaluations at which all runs succeed, as Hsu and Yu
2015 find it, and Li and Yu 2017 after them: a size counts only if so many runs one after another all find the optimum.
Sizes grow by a step until the middle of three has the least mean of evaluations; then quarters of the interval are
tried until it is narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reservoir import runtime
from reservoir.bench.experiment import Study, bundled
from reservoir.bench.tables import ResultTable, Row, select
from reservoir.planning.checks import Check
from reservoir.problems.bits import FAMILIES, BitProblem, read_spin_glass
from reservoir.solvers import solve

SPIN = "spin"
#: Titles of all kinds of problems.
TITLES = {**{name: family.title for name, family in FAMILIES.items()}, SPIN: "Ising spin glass"}
#: Populations by kind and size: means of sweeps.
POPULATIONS: dict[str, dict[int, int]] = bundled("linkage")["populations"]
#: Population and evaluations that single sweeps of the original program gave, by kind and size.
ORIGINAL: dict[tuple[str, int], tuple[float, float]] = {
    (kind, bits): told for kind, sizes in bundled("linkage")["original"].items() for bits, told in sizes.items()
}
#: Runs one after another that must all find the optimum.
CONSECUTIVE = 10
#: The first size tried, the step from it to the next, and the largest; and the part of its middle that is narrow.
FIRST, STEP, LARGEST, NARROW = 10, 30, 20_000, 20


@dataclass(frozen=True)
class Case:
    """A problem of a kind (see `TITLES`) and its population; the glass is a spin glass's."""

    kind: str
    label: str
    bits: int
    population: int
    glass: BitProblem | None = None

    @property
    def about(self) -> Row:
        """What it is told by."""
        return {"kind": self.kind, "problem": self.label, "bits": self.bits}

    def problem(self, rng_stream_id: int) -> BitProblem:
        """The problem with the random numbers of a stream."""
        if self.glass is not None:
            return replace(self.glass, rng_stream_id=rng_stream_id)
        return FAMILIES[self.kind].of(self.bits, rng_stream_id)


def trap_case(kind: str, bits: int) -> Case:
    """A trap of a kind and size; InputError where the kind has no such size."""
    return Case(kind, FAMILIES[kind].of(bits).label, bits, population_for(kind, bits))


def spin_cases(files: Sequence[Path]) -> list[Case]:
    """Spin glasses of files, by their spins."""
    glasses = sorted(map(read_spin_glass, files), key=lambda glass: (glass.dimension, glass.label))
    return [Case(SPIN, glass.label, glass.dimension, population_for(SPIN, glass.dimension), glass) for glass in glasses]


def bundled_glasses(*, first_only: bool) -> list[Path]:
    """Files of the bundled spin glasses, all or the first of each size."""
    files = sorted(path for path in runtime.package_folder("data").joinpath("spin").iterdir() if path.suffix != ".md")
    return [path for path in files if path.name.endswith("_1")] if first_only else files


def population_for(kind: str, bits: int) -> int:
    """An even population: as sweeps found, between those of the nearest sizes, or in proportion beyond the largest."""
    known = POPULATIONS[kind]
    largest = max(known)
    if bits > largest:
        return 2 * round(known[largest] * bits / largest / 2)
    population = round(float(np.interp(bits, list(known), list(known.values()))))
    return population + population % 2


@dataclass(frozen=True)
class SizeResult:
    """What runs of one size came to: means, infinite if a run missed the optimum; mixing is without hill climbing."""

    population: int
    evaluations: float
    mixing_evaluations: float
    generations: float


#: Runs of one size.
Trial = Callable[[int], SizeResult]


def sweep(trial: Trial) -> SizeResult:
    """The best point found; its evaluations are infinite if no size up to `LARGEST` always succeeds."""
    known: dict[int, SizeResult] = {}

    def tried(population: int) -> SizeResult:
        size = population + population % 2
        if size not in known:
            known[size] = trial(size)
        return known[size]

    left, middle, right = (tried(FIRST + place * STEP) for place in range(3))
    while not (middle.evaluations < left.evaluations and middle.evaluations <= right.evaluations):
        if left.evaluations <= middle.evaluations and left.evaluations < float("inf"):
            break  # already the first size is good enough
        if right.population + STEP > LARGEST:
            return middle
        left, middle, right = middle, right, tried(right.population + STEP)
    if middle.evaluations > left.evaluations:
        left, middle, right = left, left, middle
    return _narrowed(tried, left, middle, right)


def _narrowed(tried: Trial, left: SizeResult, middle: SizeResult, right: SizeResult) -> SizeResult:
    """The best within an interval, by trying the middles of its halves."""
    while (right.population - left.population) * NARROW > middle.population:
        lower = tried((left.population + middle.population) // 2)
        upper = tried((middle.population + right.population) // 2)
        if {lower.population, upper.population} <= {left.population, middle.population, right.population}:
            break
        if lower.evaluations < middle.evaluations and lower.evaluations <= upper.evaluations:
            left, middle, right = left, lower, middle
        elif upper.evaluations < middle.evaluations:
            left, middle, right = middle, upper, right
        else:
            left, middle, right = lower, middle, upper
    return middle


@dataclass(frozen=True, kw_only=True, eq=False)
class SweepStudy(Study):
    """What is swept: the problems.

    Table: ``sweeps``, a row for each case and sweep: population, evaluations, mixing_evaluations, generations, and
    false_optima.
    """

    paper = "linkage"
    title = "DSMGA-II: population sizes by sweep"
    cases: Sequence[Case]

    def origin(self) -> dict[str, Any]:
        """As of every study, and how many runs a size needs."""
        return super().origin() | {"consecutive_runs": CONSECUTIVE}

    def _measure(self) -> dict[str, pd.DataFrame]:
        rows: list[Row] = []
        for case, number in self.tracked("sweeps", product(self.cases, range(self.budget.runs))):
            false: list[int] = []
            point = sweep(_trial(case, self.budget.seed + number, false))
            rows.append(case.about | {"sweep": number} | asdict(point) | {"false_optima": sum(false)})
        return {"sweeps": pd.DataFrame(rows)}

    @cached_property
    def means(self) -> pd.DataFrame:
        """Means of all sweeps of a kind and size, and of single sweeps of the original program (``original_``)."""
        means = _means(self.data["sweeps"], ["kind", "bits"])
        known = [
            ORIGINAL.get((kind, bits), (np.nan, np.nan))
            for kind, bits in zip(means["kind"], means["bits"], strict=True)
        ]
        means[["original_population", "original_evaluations"]] = known
        return means.assign(title=means["kind"].map(TITLES))

    def _headlines(self) -> dict[str, str]:
        sweeps, largest = self.data["sweeps"], self.means.iloc[-1]
        needs = f"population {largest['population']:,.0f}, {largest['evaluations']:,.0f} evaluations"
        return {
            "Sweeps": f"{len(sweeps)} of {sweeps['problem'].nunique()} problems, {CONSECUTIVE} runs of each population",
            "Largest": f"{sweeps['problem'].iloc[-1]}: {needs}",
        }

    def _tables(self) -> Iterator[ResultTable]:
        yield self.table("sweeps", self.means, consecutive=CONSECUTIVE)
        yield self.table("glasses", _means(select(self.data["sweeps"], kind=SPIN), ["problem"]))

    def claims(self) -> Iterator[Check]:
        """Means of traps beside the original program's, and optima that were reported and are none."""
        for row in self.means.dropna(subset="original_population").to_dict("records"):
            for name in ("population", "evaluations") if row["kind"] != SPIN else ():
                apart = abs(row[name] / row[f"original_{name}"] - 1)
                yield self.claim("original", apart, kind=row["title"], bits=row["bits"], name=name)
        yield self.claim("false", self.data["sweeps"]["false_optima"].sum())


def _trial(case: Case, seed: int, false: list[int]) -> Trial:
    """Runs of one size; those that report an optimum that they have not are noted in `false`."""

    def trial(population: int) -> SizeResult:
        problems = [case.problem(CONSECUTIVE * population + run) for run in range(CONSECUTIVE)]
        solutions = solve(problems, solver="dsmga2", seed=seed, population=population, linkage_generations=0)
        hits = np.array([each.settings["evaluations_to_optimum"] for each in solutions], float)
        runs = zip(hits, solutions, problems, strict=True)
        false.append(sum(hit > 0 and each.fitness < problem.optimum - 1e-8 for hit, each, problem in runs))
        if not hits.all():
            return SizeResult(population, np.inf, np.inf, np.inf)
        climbing = np.array([each.settings["climbing_evaluations"] for each in solutions], float)
        generations = float(np.mean([each.generations for each in solutions]))
        mixing = np.maximum(hits - climbing, 0)  # zero where hill climbing found it
        return SizeResult(population, float(hits.mean()), float(mixing.mean()), generations)

    return trial


def _means(sweeps: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Means of all sweeps of a kind and size, or of a problem; two of them with their deviations as ``_text``, too."""
    groups = sweeps.groupby(keys, sort=False)
    means = groups[["population", "evaluations", "mixing_evaluations", "generations"]].mean()
    for name, deviations in groups[["population", "evaluations"]].std(ddof=1).items():
        pairs = zip(means[name], deviations, strict=True)
        means[f"{name}_text"] = [f"{mean:,.0f}" + ("" if np.isnan(off) else f" ± {off:,.0f}") for mean, off in pairs]
    return means.assign(sweeps=groups.size()).reset_index()
