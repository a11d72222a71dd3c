"""Figure 2 of Mussi, Nashed and Cagnoni 2011 as tables: fitness, times and speed-ups by the number of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.record import ResultTable
from reservoir.bench.ring.findings import (
    REFERENCE,
    STANDARD,
    errors_above,
    errors_from_standard,
    mean_of_best,
    milliseconds,
    speed_up,
    values_of,
)
from reservoir.bench.ring.runs import BATCH, ENGINES, SEQUENTIAL, STANDARD_RUNS, Course
from reservoir.problems.sums.functions import RING_FUNCTIONS
from reservoir.solvers.ring_pso.engine import ASYNC, SYNC


def result_tables(course: Course, runs: pd.DataFrame, times: pd.DataFrame, standard: pd.DataFrame) -> list[ResultTable]:
    """All of them."""
    return [_fitness(course, runs), _times(course, times), _speed_ups(course, times), _standard(standard)]


def _shapes(course: Course) -> list[tuple[str, int]]:
    return [(name, dimension) for name in RING_FUNCTIONS for dimension in course.dimensions]


def _head(name: str, dimension: int) -> dict[str, Any]:
    return {"function": RING_FUNCTIONS[name].title, "variables": dimension}


def _fitness(course: Course, runs: pd.DataFrame) -> ResultTable:
    rows = []
    for name, dimension in _shapes(course):
        values = {engine: values_of(runs, name, dimension, engine) for engine in ENGINES}
        row = _head(name, dimension)
        row |= {engine: mean_of_best(each) for engine, each in values.items()}
        row |= {f"median, {engine}": float(np.median(each)) for engine, each in values.items()}
        row["reference"] = REFERENCE[name].get(dimension)
        if dimension in REFERENCE[name] and not course.effort.quick:
            row["errors above"] = max(errors_above(values[engine], name, dimension) for engine in (SEQUENTIAL, SYNC))
        rows.append(row)
    resident = runs[runs["engine"] == ASYNC]["resident"].astype(bool)
    how = (
        "all particles of a call were at work at once"
        if resident.all()
        else "not all particles were at work at once, so that launches were cut into slices of one generation"
        if not resident.any()
        else "calls with few variables had all particles at work at once, the others were cut into slices"
    )
    notes = (
        f"Mean of the best 98 % of {course.effort.runs} runs of {course.generations:,} generations with "
        f"{course.particles} particles, and medians; float32, whose smallest values are taken for zero.",
        "Reference: the mean of 20 runs of an independent synchronous program; beside it, how many standard errors the "
        "worse of the sequential and the synchronous engine is above.",
        f"The asynchronous form: {how}.",
    )
    return ResultTable("Final fitness (after Figure 2, left)", pd.DataFrame(rows), notes, {"errors above": ".1f"})


def _times(course: Course, times: pd.DataFrame) -> ResultTable:
    rows = []
    for name, dimension in _shapes(course):
        row = _head(name, dimension)
        row |= {f"{engine}, ms": milliseconds(times, name, dimension, engine, alone=True) for engine in ENGINES}
        row |= {
            f"{engine}, ms of many": milliseconds(times, name, dimension, engine, alone=False)
            for engine in (SYNC, ASYNC)
        }
        rows.append(row)
    notes = (
        f"Milliseconds of a swarm of {course.generations:,} generations with everything that a call does but "
        f"compiling: alone, median of {course.effort.repeats}; and its share of a call that solves "
        f"{min(BATCH, course.effort.runs)} at once.",
        "The sequential engine is compiled code in float32 with vector instructions, on one thread.",
    )
    formats = {name: ",.1f" for name in rows[0] if "ms" in name}
    return ResultTable("Execution times (after Figure 2, middle)", pd.DataFrame(rows), notes, formats)


def _speed_ups(course: Course, times: pd.DataFrame) -> ResultTable:
    rows = []
    for name, dimension in _shapes(course):
        row = _head(name, dimension)
        for engine in (SYNC, ASYNC):
            row[engine] = speed_up(times, name, dimension, engine, alone=True)
            row[f"{engine}, many"] = speed_up(times, name, dimension, engine, alone=False)
        row["async / sync"] = row[ASYNC] / row[SYNC]
        rows.append(row)
    notes = (
        "Times as fast as the sequential engine: a swarm alone, and one of many that a call solves at once. The paper "
        'prints no times; its "up to about 300" is against its own sequential program, of which no more is known.',
    )
    formats = {name: ",.2f" for name in rows[0] if name not in ("function", "variables")}
    return ResultTable("Speed-ups (after Figure 2, right)", pd.DataFrame(rows), notes, formats)


def _standard(standard: pd.DataFrame) -> ResultTable:
    rows = []
    for name, (mean, deviation) in STANDARD.items():
        values = standard["value"][standard["function"] == name].to_numpy(float)
        rows.append(
            {
                "function": RING_FUNCTIONS[name].title,
                "mean": float(values.mean()),
                "standard deviation": float(values.std(ddof=1)) if len(values) > 1 else None,
                "published mean": mean,
                "published deviation": deviation,
                "errors apart": errors_from_standard(values, name) if len(values) > 1 else None,
            }
        )
    notes = (
        f"The sequential engine's stochastic star with Standard PSO 2006's values: 30 variables, 30,000 evaluations, "
        f"{STANDARD_RUNS} runs (fewer in a quick trial).",
    )
    return ResultTable("Standard PSO 2006", pd.DataFrame(rows), notes, {"errors apart": ".2f"})
