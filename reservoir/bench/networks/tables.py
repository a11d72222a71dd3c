"""Tables 1 to 5 of Li and Liu 2017 from the runs, with the paper's own figures beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.experiment import select
from reservoir.bench.networks.findings import NetworkFindings
from reservoir.bench.networks.loads import (
    CALAZAN_SECONDS,
    FUNCTION_DIMENSION,
    PAPER_ITERATIONS,
    PAPER_TABLE_3,
    PAPER_TABLE_5_ERRORS,
    PARTICLES,
    TABLE_1,
    TABLE_2,
    TABLE_4,
    TABLE_5,
    Load,
)
from reservoir.bench.networks.runs import BASELINE, IN_STEPS, NO_LOCAL, TWO_LEVEL
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.samples import p_value, summary

_PAPER_GPU, _PAPER_CPU = "the paper's OpenCL (GT 630)", "the paper's C++ (two threads)"
_NOTES = {
    1: "A network 3-10-2 of 50 weights and 50 samples: the paper tells no more than the two numbers.",
    2: f"{PARTICLES:,} particles; 50 samples, as in Table 1, since the paper gives none here.",
}


def result_tables(found: NetworkFindings) -> Iterator[ResultTable]:
    """Those that were asked for."""
    tables = found.setup.tables
    if 1 in tables:
        yield _speeds(found, TABLE_1, "Particles (after Table 1)")
    if 2 in tables:
        yield _speeds(found, TABLE_2, "Networks (after Table 2)")
    if 3 in tables:
        yield _variants(select(found.runs, table=3))
    if 4 in tables:
        yield _functions(select(found.runs, table=4))
    if 5 in tables:
        yield _modelling(select(found.runs, table=5))
        yield _pairs(found)
    yield _searches(found)


def _milliseconds(runs: pd.DataFrame, engine: str, column: str = "seconds") -> float:
    """Median of an iteration."""
    mine = select(runs, engine=engine)
    return float(np.median(1e3 * mine[column] / mine["iterations"]))


def _speeds(found: NetworkFindings, loads: tuple[Load, ...], title: str) -> ResultTable:
    rows, setup, table = [], found.setup, loads[0].table
    for load in loads:
        mine = select(found.runs, table=table, load=load.title)
        ours, baseline = _milliseconds(mine, TWO_LEVEL), _milliseconds(mine, BASELINE)
        row = {"load": load.title, "OpenCL, ms an iteration": ours}
        row |= {"on the device": _milliseconds(mine, TWO_LEVEL, "device_seconds")}
        row |= {f"{BASELINE}, ms an iteration": baseline, "speed-up": baseline / ours}
        row |= {f"OpenCL, s for {PAPER_ITERATIONS:,}": ours * PAPER_ITERATIONS / 1e3}
        row |= {f"{_PAPER_GPU}, s": load.paper_opencl, f"{_PAPER_CPU}, s": load.paper_baseline}
        rows.append(row | {"the paper's speed-up": load.paper_baseline / load.paper_opencl})
    how = (
        f"Medians of calls of {setup.iterations[table]:,} iterations by OpenCL and {setup.baseline_iterations:,} by "
        f"the baseline ({setup.threads} threads); the time of {PAPER_ITERATIONS:,} follows from them."
    )
    return result_table(title, rows, _NOTES[table], how, **{"*speed-up": ",.1f"})


def _variants(runs: pd.DataFrame) -> ResultTable:
    base = select(runs, engine=BASELINE)["error"]
    rows = []
    for engine in (TWO_LEVEL, IN_STEPS, NO_LOCAL, BASELINE):
        mine = select(runs, engine=engine)
        seconds, error = PAPER_TABLE_3.get(engine, (np.nan, np.nan))
        rows.append(
            {"engine": engine, "seconds": float(mine["seconds"].median())}
            | {"on the device, s": float(mine["device_seconds"].median())}
            | {f"error: {name}": value for name, value in summary(mine["error"], ".5f").items()}
            | {"against the baseline, p": p_value(mine["error"], base) if engine != BASELINE else np.nan}
            | {"the paper's seconds": seconds, "the paper's error": error}
        )
    notes = (
        f"6-30-2, 100 samples, {PARTICLES:,} particles, {int(runs['iterations'].iloc[0]):,} iterations, "
        f"{runs['run'].max()} runs of each engine in turn. The paper's samples are not public: errors are not to be "
        "compared with its own, ratios of times are.",
        "'Two-level' runs all iterations up to an exchange in one kernel, which groups that do not wait for each other "
        "allow. Without a local level the best of the swarm is needed in every iteration, so that its kernels are "
        "queued one by one: most of that time is the host's.",
    )
    formats = {"seconds": ",.4f", "on the device, s": ",.4f", "against the baseline, p": ".2f"}
    return result_table("With and without a local level (after Table 3)", rows, *notes, **formats)


def _functions(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for load, calazan in zip(TABLE_4, CALAZAN_SECONDS, strict=True):
        mine = select(runs, load=load.title)
        ours = select(mine, engine=TWO_LEVEL)
        medians = ours[["seconds", "device_seconds", "error"]].median()
        row = {"function": load.title, "OpenCL, s": medians["seconds"], "on the device, s": medians["device_seconds"]}
        row |= {"iterations": int(ours["iterations"].iloc[0]), "value": medians["error"]}
        row |= {f"{BASELINE}, ms an iteration": _milliseconds(mine, BASELINE)}
        row |= {"OpenCL, ms an iteration": _milliseconds(mine, TWO_LEVEL), f"{_PAPER_GPU}, s": load.paper_opencl}
        rows.append(row | {"Calazan et al. 2013 (GTX 460), s": calazan})
    notes = (
        f"{FUNCTION_DIMENSION} variables and {PARTICLES:,} particles. The paper gives neither these nor iterations: "
        "its times cannot be compared with ours. f2 is as it prints it, with the indices of Rosenbrock's function "
        "swapped.",
        "With the paper's inertia of 1 and c1 = c2 = 2 a swarm does not settle, so that the limit of the velocity, on "
        "which the paper is silent, decides how near it comes.",
    )
    return result_table("Functions (after Table 4)", rows, *notes)


def _modelling(runs: pd.DataFrame) -> ResultTable:
    rows = []
    paper = {
        TWO_LEVEL: (TABLE_5.paper_opencl, PAPER_TABLE_5_ERRORS["OpenCL"]),
        BASELINE: (TABLE_5.paper_baseline, PAPER_TABLE_5_ERRORS["baseline"]),
    }
    for engine, (seconds, error) in paper.items():
        mine = select(runs, engine=engine)
        row: dict[str, Any] = {"engine": engine, "seconds": float(mine["seconds"].median())}
        row |= {"iterations": int(mine["iterations"].iloc[0]), "error, %": 100 * float(mine["error"].median())}
        rows.append(row | {"the paper's seconds": seconds, "the paper's error, %": 100 * error})
    note = (
        "6-30-2, 5000 samples, 1024 particles. The antenna's samples are not public; a synthetic response of six "
        "inputs and two outputs stands in, a one-port with two resonances (reservoir/bench/networks/response.py)."
    )
    return result_table("Modelling a response (after Table 5)", rows, note, **{"error, %": ".2f"})


def _pairs(found: NetworkFindings) -> ResultTable:
    setup, pairs = found.setup, found.pairs
    ours, baseline = (1e3 * pairs[f"{engine}_seconds"] / pairs["iterations"] for engine in (TWO_LEVEL, BASELINE))
    columns = {"pair": pairs["pair"], "OpenCL, ms an iteration": ours, f"{BASELINE}, ms an iteration": baseline}
    note = (
        f"Both engines in turn on the load of Table 5, {setup.baseline_iterations:,} iterations each; their ratio is "
        "what the acceptance table states. The baseline is compiled by numba, in float32, with vector instructions, "
        f"on {setup.threads} threads."
    )
    frame = pd.DataFrame(columns | {"speed-up": pairs["ratio"]})
    return result_table("Speed beside the baseline", frame, note, pair="d", **{"speed-up": ",.2f"})


def _searches(found: NetworkFindings) -> ResultTable:
    titles = {"device_seconds": "on the device, s", "gwh_a_year": "GWh a year", "years": "years on record"}
    note = (
        "The second stage of the ann rule: every particle is a network that operates all years on record in one work "
        "item or lane. The figure of GWh counts the water left at the end; it is of the years that were searched on."
    )
    said = (f"{caveat[:1].upper()}{caveat[1:]}." for caveat in found.caveats)
    formats = {"run": "d", "seconds": ",.3f", "on the device, s": ",.3f", "GWh a year": ",.1f"}
    frame = found.searches.rename(columns=titles)
    return result_table("Direct policy search on the bundled case", frame, note, *said, **formats)
