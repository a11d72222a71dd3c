"""The experiment's first part: populations by sweep, beside those that the original program finds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.linkage.cases import SPIN, TITLES, Case
from reservoir.bench.linkage.sweep import Point, Trial, sweep
from reservoir.bench.result import ResultTable
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress
from reservoir.solvers import solve

#: Population and evaluations that single sweeps of the original program gave, by kind and size.
GOLDEN: dict[tuple[str, int], tuple[float, float]] = {
    ("mk", 50): (70, 4282),
    ("mk", 100): (85, 10117),
    ("mk", 200): (88, 21230),
    ("ftrap", 60): (115, 18547),
    ("ftrap", 120): (96, 46998),
    ("ftrap", 240): (163, 136237),
    ("cyc", 40): (109, 5601),
    ("cyc", 100): (126, 16382),
    ("cyc", 200): (193, 50178),
    (SPIN, 36): (10, 606),
    (SPIN, 100): (81, 25249),
    (SPIN, 196): (92, 64456),
}
#: Runs one after another that must all find the optimum.
CONSECUTIVE = 10
#: Part by which a mean may differ from what the original program gave.
TOLERANCE = 0.25


def sweep_all(cases: Sequence[Case], sweeps: int, seed: int, progress: StageProgress) -> pd.DataFrame:
    """A row for each case and sweep: population, evaluations, mixing_evaluations, generations, and false_optima."""
    rows, done = [], 0
    for case in cases:
        for number in range(sweeps):
            progress("sweeps", done, len(cases) * sweeps)
            false: list[int] = []
            point = sweep(_trial(case, seed + number, false))
            rows.append(_row(case, number, point, sum(false)))
            done += 1
    progress("sweeps", done, done)
    return pd.DataFrame(rows)


def _row(case: Case, number: int, point: Point, false: int) -> dict[str, object]:
    return {
        "kind": case.kind,
        "problem": case.label,
        "bits": case.bits,
        "sweep": number,
        "population": point.population,
        "evaluations": point.evaluations,
        "mixing_evaluations": point.mixing,
        "generations": point.generations,
        "false_optima": false,
    }


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


def by_size(sweeps: pd.DataFrame) -> pd.DataFrame:
    """Means and standard deviations of all sweeps of a kind and size."""
    return _summary(sweeps, ["kind", "bits"])


def _summary(sweeps: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    groups = sweeps.groupby(keys, sort=False)
    means = groups[["population", "evaluations", "mixing_evaluations", "generations"]].mean()
    spread = groups[["population", "evaluations"]].std(ddof=1).add_suffix("_deviation")
    return means.join(spread).join(groups.size().rename("sweeps")).reset_index()


def _rows(frame: pd.DataFrame) -> Iterable[Any]:
    """Rows with the columns as attributes."""
    return frame.itertuples()


def sweep_tables(sweeps: pd.DataFrame) -> list[ResultTable]:
    """Populations and evaluations beside the original program's, and those of each spin glass."""
    glasses = sweeps[sweeps["kind"] == SPIN]
    tables = [_beside_the_original(sweeps)]
    return [*tables, _of_glasses(glasses)] if len(glasses) else tables


def _beside_the_original(sweeps: pd.DataFrame) -> ResultTable:
    rows = []
    for each in _rows(by_size(sweeps)):
        population, evaluations = GOLDEN.get((each.kind, each.bits), (np.nan, np.nan))
        rows.append(
            {
                "problem": TITLES[each.kind],
                "bits": each.bits,
                "sweeps": each.sweeps,
                "population": _spread(each.population, each.population_deviation),
                "original": population,
                "ratio": each.population / population,
                "evaluations": _spread(each.evaluations, each.evaluations_deviation),
                "original evaluations": evaluations,
                "ratio of evaluations": each.evaluations / evaluations,
                "of mixing": each.mixing_evaluations,
                "generations": each.generations,
            }
        )
    notes = (
        f"Mean ± standard deviation of sweeps; a population counts if {CONSECUTIVE} runs one after another find the "
        "optimum. Evaluations are those until the optimum is found, hill climbing included, as the original program "
        "reports them; beside them those of mixing alone.",
        "The original program's numbers are single sweeps, which vary by a fifth. Its spin glasses are other instances "
        "than the bundled ones: only their sizes are the same. Glasses of one size differ by several times, as the "
        "next table shows, so that neither agreement nor difference with them proves anything; they are not among the "
        "checks.",
    )
    return ResultTable("Populations by sweep", pd.DataFrame(rows), notes, _FORMATS)


def _of_glasses(sweeps: pd.DataFrame) -> ResultTable:
    rows = [
        {
            "problem": each.problem,
            "sweeps": each.sweeps,
            "population": _spread(each.population, each.population_deviation),
            "evaluations": _spread(each.evaluations, each.evaluations_deviation),
            "of mixing": each.mixing_evaluations,
            "generations": each.generations,
        }
        for each in _rows(_summary(sweeps, ["problem"]))
    ]
    return ResultTable("Spin glasses one by one", pd.DataFrame(rows), (), _FORMATS)


_FORMATS = {
    "original": ",.0f",
    "ratio": ".2f",
    "original evaluations": ",.0f",
    "ratio of evaluations": ".2f",
    "of mixing": ",.0f",
    "generations": ".1f",
}


def _spread(mean: float, deviation: float) -> str:
    return f"{mean:,.0f}" if np.isnan(deviation) else f"{mean:,.0f} ± {deviation:,.0f}"


def sweep_checks(sweeps: pd.DataFrame) -> list[Check]:
    """Means of traps beside the original program's, and optima that were reported and are none."""
    checks = []
    for each in _rows(by_size(sweeps)):
        if each.kind != SPIN and (each.kind, each.bits) in GOLDEN:
            population, evaluations = GOLDEN[each.kind, each.bits]
            about = f"{TITLES[each.kind]}, {each.bits} bits"
            apart = abs(each.population / population - 1), abs(each.evaluations / evaluations - 1)
            checks.append(Check(f"{about}: population beside the original's, part apart", apart[0], TOLERANCE))
            checks.append(Check(f"{about}: evaluations beside the original's, part apart", apart[1], TOLERANCE))
    checks.append(Check("optima reported that are none", float(sweeps["false_optima"].sum()), 0.0))
    return checks
