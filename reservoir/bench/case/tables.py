"""Tables 5, 6 and 7 of Yu et al. 2020, from runs of both engines, and their gap to dynamic programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.bench.case.engine_runs import DEVICE_ENGINE, PAPER, SEGMENTS, SEQUENTIAL, STREAM, counted_runs
from reservoir.bench.result import ResultTable
from reservoir.bench.samples import p_value, summary
from reservoir.planning.checks import YEAR_GAP

ENGINES = (SEQUENTIAL, DEVICE_ENGINE)
#: Energy in the unit of the paper.
GWH_PER_1E8_KWH = 100.0

#: Quantities of Table 5: name, column, unit of the column in that of the table, format.
_QUANTITIES = (
    ("execution time, ms", "seconds", 1e-3, ",.2f"),
    ("total best benefit, GWh", "benefit_gwh", 1.0, ",.2f"),
    ("total best benefit, 1e8 kWh", "benefit_gwh", GWH_PER_1E8_KWH, ",.4f"),
    ("total violation (sum of parts)", "violation", 1.0, ".3g"),
)
#: Titles of the host_seconds_by_phase of Table 7, in the order of `SEGMENTS`.
SEGMENT_TITLES = (
    *("1 initial numbers", "2 queue, buffers, writes", "3 program", "4 kernel, arguments, enqueue"),
    *("5 read", "6 release", "waiting for the kernel"),
)


def table_5(runs: pd.DataFrame) -> ResultTable:
    """Execution time, benefit and violation of both engines over their runs."""
    rows = []
    for title, column, unit, form in _QUANTITIES:
        for engine in ENGINES:
            values = counted_runs(runs, engine)[column] / unit
            rows.append({"quantity": title, "engine": engine} | summary(values, form))
    count = len(counted_runs(runs, DEVICE_ENGINE))
    note = f"{count} runs of each engine, in turn, each with a seed of its own; the first run of each is not counted."
    return ResultTable("Execution time, benefit and violation (after Table 5)", pd.DataFrame(rows), (note,))


def t_test(runs: pd.DataFrame) -> float:
    """Two-tailed t-test with equal variances between the totals of the engines, p; NaN for a single run."""
    return p_value(*(counted_runs(runs, engine)["benefit_gwh"] for engine in ENGINES))


def speed_ups(runs: pd.DataFrame) -> NDArray[np.float64]:
    """Sequential seconds over device seconds of every pair of runs that stood next to each other, shape (runs,)."""
    sequential, device = (counted_runs(runs, engine)["seconds"].to_numpy() for engine in ENGINES)
    return np.asarray(sequential / device)


def speed_up(runs: pd.DataFrame) -> float:
    """Median seconds of the sequential engine over those of the OpenCL engine."""
    sequential, device = (counted_runs(runs, engine)["seconds"].median() for engine in ENGINES)
    return float(sequential / device)


def table_6(runs: pd.DataFrame) -> ResultTable:
    """The t-test and the speed-up with its spread."""
    lower, upper = np.percentile(speed_ups(runs), (25, 75))
    row = {
        "two-tailed t-test, p": t_test(runs),
        "speed-up": speed_up(runs),
        "its lower quartile": lower,
        "its upper quartile": upper,
    }
    note = (
        f"Speed-up: median seconds of {SEQUENTIAL}, compiled and on one thread, over those of {DEVICE_ENGINE}; "
        "quartiles of the ratios of runs that stood next to each other. The t-test assumes equal variances."
    )
    return ResultTable("t-test and speed-up (after Table 6)", pd.DataFrame([row]), (note,), dict.fromkeys(row, ".2f"))


def table_7(runs: pd.DataFrame) -> ResultTable:
    """Where the host's time goes, ms: the first run of the process, and the mean of those that follow."""
    rows = []
    for random, scheme in ((STREAM, "own streams"), (PAPER, "the paper's scheme")):
        mine = runs[(runs["engine"] == DEVICE_ENGINE) & (runs["random"] == random)]
        for counted, which in ((False, "first run"), (True, "mean of the others")):
            rows.append({"random numbers": scheme, "run": which} | _spent(mine[mine["counted"] == counted]))
    note = (
        "Milliseconds of the host. Context and program are kept between runs, so that the first run alone makes them "
        "(a driver may still have the program of an earlier day). The kernel is waited for between phases 4 and 5; "
        "where that takes longer than the device was busy, the driver was still compiling. Segment 6 frees kernel, "
        "buffers and queue. The rest lies outside the phases: writing down the years as the kernel reads them. With "
        "own streams the device makes the numbers itself."
    )
    formats = {name: ",.2f" for name in rows[0] if name not in ("random numbers", "run")}
    return ResultTable("Where the host's time goes (after Table 7)", pd.DataFrame(rows), (note,), formats)


def _spent(runs: pd.DataFrame) -> dict[str, float]:
    columns = [f"{name}_seconds" for name in SEGMENTS]
    spent = 1e3 * runs[columns].fillna(0.0).mean()
    total = 1e3 * runs["seconds"].mean()
    host_seconds_by_phase = dict(zip(SEGMENT_TITLES, spent.tolist(), strict=True))
    return host_seconds_by_phase | {
        "rest": total - float(spent.sum()),
        "whole call": total,
        "device": 1e3 * runs["device_seconds"].mean(),
    }


def worst_run(runs: pd.DataFrame) -> pd.Series[Any]:
    """The run with the year that is furthest from the reference optimum."""
    return runs.sort_values("worst_gap").iloc[-1]


def gap_table(runs: pd.DataFrame, years: int, reference_gwh: float) -> ResultTable:
    """How far the engines stay from the reference optimum."""
    rows = []
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        worst = worst_run(mine)
        rows.append(
            {
                "engine": engine,
                "mean gap of a year": mine["mean_gap"].mean(),
                "worst gap of a year": worst["worst_gap"],
                "in": f"{worst['worst_year']}, seed {worst['seed']}",
                f"runs with a year beyond {YEAR_GAP:g}": int((mine["worst_gap"] > YEAR_GAP).sum()),
                "worst gap of the total": (mine["fitness_gwh"] / reference_gwh - 1).abs().max(),
                "violation of all runs": mine["violation"].sum(),
            }
        )
    note = (
        f"A gap is the part of the reference optimum (dynamic programming, {reference_gwh:,.2f} GWh in {years} years) "
        "by which a result differs from it, either way."
    )
    formats = {name: ".2e" for name in rows[0] if "gap" in name}
    return ResultTable("Gap to dynamic programming", pd.DataFrame(rows), (note,), formats)
