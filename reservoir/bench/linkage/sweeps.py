"""The experiment's first part: populations by sweep, beside those that the original program finds.

The population that a problem needs is the size with the fewest evaluations at which all runs succeed, as Hsu and Yu
2015 find it, and Li and Yu 2017 after them: a size counts only if so many runs one after another all find the optimum.
Sizes grow by a step until the middle of three has the least mean of evaluations; then quarters of the interval are
tried until it is narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.data import bundled
from reservoir.bench.linkage.runs import SPIN, TITLES, Case
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.setup import Setup, select
from reservoir.planning.checks import Check
from reservoir.solvers import solve

#: Population and evaluations that single sweeps of the original program gave, by kind and size.
GOLDEN: dict[tuple[str, int], tuple[float, float]] = {
    (kind, bits): found for kind, sizes in bundled("linkage")["original"].items() for bits, found in sizes.items()
}
#: Runs one after another that must all find the optimum.
CONSECUTIVE = 10
#: Part by which a mean may differ from what the original program gave.
TOLERANCE = 0.25
#: The first size tried, the step from it to the next, and the largest; and the part of its middle that is narrow.
FIRST, STEP, LARGEST, NARROW = 10, 30, 20_000, 20


@dataclass(frozen=True)
class Point:
    """What runs of one size came to: means, infinite if a run missed the optimum; mixing is without hill climbing."""

    population: int
    evaluations: float
    mixing_evaluations: float
    generations: float


#: Runs of one size.
Trial = Callable[[int], Point]


def sweep(trial: Trial) -> Point:
    """The best point found; its evaluations are infinite if no size up to `LARGEST` always succeeds."""
    known: dict[int, Point] = {}

    def tried(population: int) -> Point:
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


def _narrowed(tried: Trial, left: Point, middle: Point, right: Point) -> Point:
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


@dataclass(frozen=True, kw_only=True)
class SweepSetup(Setup):
    """What is swept: the problems."""

    cases: Sequence[Case]


def sweep_all(setup: SweepSetup) -> pd.DataFrame:
    """A row for each case and sweep: population, evaluations, mixing_evaluations, generations, and false_optima."""
    rows: list[dict[str, Any]] = []
    for case, number in setup.tracked("sweeps", product(setup.cases, range(setup.budget.runs))):
        false: list[int] = []
        point = sweep(_trial(case, setup.budget.seed + number, false))
        about = {"kind": case.kind, "problem": case.label, "bits": case.bits, "sweep": number}
        rows.append(about | asdict(point) | {"false_optima": sum(false)})
    return pd.DataFrame(rows)


def _trial(case: Case, seed: int, false: list[int]) -> Trial:
    """Runs of one size; those that report an optimum that they have not are noted in `false`."""

    def trial(population: int) -> Point:
        problems = [case.problem(CONSECUTIVE * population + run) for run in range(CONSECUTIVE)]
        found = solve(problems, solver="dsmga2", seed=seed, population=population, linkage_generations=0)
        hits = np.array([each.settings["evaluations_to_optimum"] for each in found], float)
        false.append(
            sum(
                hit > 0 and each.fitness < problem.optimum - 1e-8
                for hit, each, problem in zip(hits, found, problems, strict=True)
            )
        )
        if not hits.all():
            return Point(population, np.inf, np.inf, np.inf)
        climbing = np.array([each.settings["climbing_evaluations"] for each in found], float)
        generations = float(np.mean([each.generations for each in found]))
        mixing = np.maximum(hits - climbing, 0)  # zero where hill climbing found it
        return Point(population, float(hits.mean()), float(mixing.mean()), generations)

    return trial


def sweep_result(setup: SweepSetup, sweeps: pd.DataFrame) -> ExperimentResult:
    """What the sweeps come to."""
    *_, largest = _means(sweeps, ["kind", "bits"])
    return setup.result(
        "DSMGA-II: population sizes by sweep",
        headlines={
            "Sweeps": f"{len(sweeps)} of {sweeps['problem'].nunique()} problems, {CONSECUTIVE} runs of each population",
            "Largest": f"{sweeps['problem'].iloc[-1]}: population {largest.population:,.0f}, "
            f"{largest.evaluations:,.0f} evaluations",
        },
        checks=() if setup.budget.quick else sweep_checks(sweeps),
        tables=_tables(sweeps),
        data={"sweeps": sweeps},
        consecutive_runs=CONSECUTIVE,
    )


def _means(sweeps: pd.DataFrame, keys: list[str]) -> list[Any]:
    """Means and standard deviations of all sweeps of a kind and size, or of a problem, with columns as attributes."""
    groups = sweeps.groupby(keys, sort=False)
    means = groups[["population", "evaluations", "mixing_evaluations", "generations"]].mean()
    spread = groups[["population", "evaluations"]].std(ddof=1).add_suffix("_deviation")
    return list(means.join(spread).join(groups.size().rename("sweeps")).reset_index().itertuples())


def _tables(sweeps: pd.DataFrame) -> Iterator[ResultTable]:
    """Populations and evaluations beside the original program's, and those of each spin glass."""
    rows: list[dict[str, Any]] = []
    for each in _means(sweeps, ["kind", "bits"]):
        population, evaluations = GOLDEN.get((each.kind, each.bits), (np.nan, np.nan))
        row = {"problem": TITLES[each.kind], "bits": each.bits, "sweeps": each.sweeps}
        row |= {"population": _spread(each, "population"), "original": population}
        row |= {"ratio": each.population / population, "evaluations": _spread(each, "evaluations")}
        row |= {"original evaluations": evaluations, "ratio of evaluations": each.evaluations / evaluations}
        rows.append(row | {"of mixing": each.mixing_evaluations, "generations": each.generations})
    notes = (
        f"Mean ± standard deviation of sweeps; a population is sufficient if {CONSECUTIVE} consecutive runs find the "
        "optimum. Evaluations: until the optimum is found, including hill climbing, as the original program reports "
        "them; of mixing: without hill climbing.",
        "The original program's numbers are single sweeps, which vary by about 20 %. Its spin glasses are different "
        "instances of the same sizes as the bundled ones. Glasses of one size differ by several times (next table), so "
        "a comparison with them proves nothing; they are not among the checks.",
    )
    ratios = {"ratio": ".2f", "ratio of evaluations": ".2f"}
    yield result_table("Populations by sweep", rows, *notes, **_FORMATS, **ratios)
    glasses = [
        {"problem": each.problem, "sweeps": each.sweeps, "population": _spread(each, "population")}
        | {"evaluations": _spread(each, "evaluations"), "of mixing": each.mixing_evaluations}
        | {"generations": each.generations}
        for each in _means(select(sweeps, kind=SPIN), ["problem"])
    ]
    if glasses:
        yield result_table("Individual spin glasses", glasses, **_FORMATS)


_FORMATS = {"original": ",.0f", "original evaluations": ",.0f", "of mixing": ",.0f", "generations": ".1f"}


def _spread(row: Any, column: str) -> str:
    mean, deviation = getattr(row, column), getattr(row, f"{column}_deviation")
    return f"{mean:,.0f}" if np.isnan(deviation) else f"{mean:,.0f} ± {deviation:,.0f}"


def sweep_checks(sweeps: pd.DataFrame) -> Iterator[Check]:
    """Means of traps beside the original program's, and optima that were reported and are none."""
    for each in _means(sweeps, ["kind", "bits"]):
        if each.kind != SPIN and (each.kind, each.bits) in GOLDEN:
            for name, known in zip(("population", "evaluations"), GOLDEN[each.kind, each.bits], strict=True):
                title = f"{TITLES[each.kind]}, {each.bits} bits: {name} relative difference from the original's"
                yield Check(title, abs(getattr(each, name) / known - 1), TOLERANCE)
    yield Check("false optima reported", float(sweeps["false_optima"].sum()), 0.0)
