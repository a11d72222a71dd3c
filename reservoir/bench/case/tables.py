"""Tables 5, 6 and 7 of Yu et al. 2020, from runs of both engines, and their gap to dynamic programming."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.case.findings import speed_up, speed_ups, t_test, total_gap, worst_run
from reservoir.bench.case.runs import DEVICE_ENGINE, ENGINES, PAPER, SEQUENTIAL, STREAM, counted_runs
from reservoir.bench.experiment import select
from reservoir.bench.host_time import host_time_table
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.samples import summary
from reservoir.planning.checks import YEAR_GAP

#: Energy in the unit of the paper.
GWH_PER_1E8_KWH = 100.0

#: Quantities of Table 5: name, column, unit of the column in that of the table, format.
_QUANTITIES = (
    ("execution time, ms", "seconds", 1e-3, ",.2f"),
    ("total best benefit, GWh", "benefit_gwh", 1.0, ",.2f"),
    ("total best benefit, 1e8 kWh", "benefit_gwh", GWH_PER_1E8_KWH, ",.4f"),
    ("total violation (sum of parts)", "violation", 1.0, ".3g"),
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
    return result_table("Execution time, benefit and violation (after Table 5)", rows, note)


def table_6(runs: pd.DataFrame) -> ResultTable:
    """The t-test and the speed-up with its spread."""
    lower, upper = np.percentile(speed_ups(runs), (25, 75))
    row = {"two-tailed t-test, p": t_test(runs), "speed-up": speed_up(runs)}
    row |= {"its lower quartile": lower, "its upper quartile": upper}
    note = (
        f"Speed-up: median seconds of {SEQUENTIAL}, compiled and on one thread, over those of {DEVICE_ENGINE}; "
        "quartiles of the ratios of runs that stood next to each other. The t-test assumes equal variances."
    )
    return result_table("t-test and speed-up (after Table 6)", [row], note, form=".2f")


def table_7(runs: pd.DataFrame) -> ResultTable:
    """Where the host's time goes, ms: the first run of the process, and the mean of those that follow."""
    schemes = {"own streams": STREAM, "the paper's scheme": PAPER}
    note = (
        "Milliseconds of the host. Context and program are kept between runs, so that the first run alone makes them "
        "(a driver may still have the program of an earlier day). The kernel is waited for between phases 4 and 5; "
        "where that takes longer than the device was busy, the driver was still compiling. Segment 6 frees kernel, "
        "buffers and queue. The rest lies outside the phases: writing down the years as the kernel reads them. With "
        "own streams the device makes the numbers itself."
    )
    chosen = {title: select(runs, engine=DEVICE_ENGINE, random=random) for title, random in schemes.items()}
    return host_time_table("random numbers", chosen, note, rest=True)


def gap_table(runs: pd.DataFrame, years: int, reference_gwh: float) -> ResultTable:
    """How far the engines stay from the reference optimum."""
    rows = []
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        worst, where = worst_run(mine)
        row: dict[str, Any] = {"engine": engine, "mean gap of a year": mine["mean_gap"].mean()}
        row |= {"worst gap of a year": worst["worst_gap"], "in": where}
        row |= {f"runs with a year beyond {YEAR_GAP:g}": int((mine["worst_gap"] > YEAR_GAP).sum())}
        row |= {"worst gap of the total": total_gap(mine, reference_gwh)}
        rows.append(row | {"violation of all runs": mine["violation"].sum()})
    note = (
        f"A gap is the part of the reference optimum (dynamic programming, {reference_gwh:,.2f} GWh in {years} years) "
        "by which a result differs from it, either way."
    )
    gaps = {"*gap of a year": ".2e", "worst gap of the total": ".2e"}
    return result_table("Gap to dynamic programming", rows, note, **gaps)
