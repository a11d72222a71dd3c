"""What the runs say: Tables 5, 6 and 7 of Yu et al. 2020, the gap to dynamic programming, and every claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.bench.case.runs import DEVICE_ENGINE, ENGINES, PAPER, STREAM, CaseSetup, counted_runs
from reservoir.bench.experiment import select
from reservoir.bench.host_time import host_time_table
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.samples import p_value, summary
from reservoir.planning.checks import TOTAL_GAP, YEAR_GAP, Check, largest
from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.plan import Plan
from reservoir.planning.solver_choice import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.planning.validation import SIGNIFICANCE, SPREAD

#: Two cores of a CPU in vectors against one thread of compiled scalar code.
SPEED_UP = 8.0
#: Device seconds of a generation on a large GPU while every year has a unit of its own: 12 ms for 10,000 of 40
#: particles, 12 months.
GENERATION_SECONDS, CASE_PARTICLES, CASE_DIMENSION = 1.2e-6, 40, 12
#: Moves a second where years fill the device.
MANY_YEARS, MANY_YEARS_MOVES = 10_000, 25e9
#: Devices that share an ensemble, as a part of so many times one.
SHARING = 0.9


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


def worst_run(runs: pd.DataFrame) -> tuple[pd.Series[Any], str]:
    """The run with the year that is furthest from the reference optimum; which year that is, and its seed."""
    worst = runs.sort_values("worst_gap").iloc[-1]
    return worst, f"{worst['worst_year']}, seed {worst['seed']}"


def total_gap(runs: pd.DataFrame, reference_gwh: float) -> float:
    """How far the total of a run is from that of the reference optima, as a part of it, at most."""
    return largest((runs["fitness_gwh"] / reference_gwh - 1).abs())


def case_checks(setup: CaseSetup, runs: pd.DataFrame, points: pd.DataFrame) -> Iterator[Check]:
    """Claims that this device and this budget can be held to."""
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        yield Check(f"{engine}: sum of relative violations, {len(mine)} runs", sum(mine["violation"]), 0.0)
    if not setup.budget.quick:
        yield from _quality(setup, runs)
        yield from _speed(setup, runs, points)


def _quality(setup: CaseSetup, runs: pd.DataFrame) -> Iterator[Check]:
    reference = sum(setup.plan.references.fitness.tolist())
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        worst, where = worst_run(mine)
        yield Check(f"{engine}: gap to dp, worst year of {len(mine)} runs ({where})", worst["worst_gap"], YEAR_GAP)
        yield Check(f"{engine}: gap to dp, worst total of {len(mine)} runs", total_gap(mine, reference), TOTAL_GAP)
        if len(mine) > 1:
            spread = float(mine["benefit_gwh"].std(ddof=1) / mine["benefit_gwh"].mean())
            yield Check(f"{engine}: coefficient of variation of the totals", spread, SPREAD)
    p = t_test(runs)
    if np.isfinite(p):
        yield Check("two-tailed t-test between the engines' totals, p-value", p, SIGNIFICANCE, at_least=True)


def _speed(setup: CaseSetup, runs: pd.DataFrame, points: pd.DataFrame) -> Iterator[Check]:
    plan, device = setup.plan, setup.device
    if setup.small_cpu:
        title = f"{DEVICE_ENGINE} on {device.compute_units} cores: speed-up over one thread"
        yield Check(title, speed_up(runs), SPEED_UP, at_least=True)
    own_unit = plan.inflow.years <= device.compute_units and plan.problems.each[0].dimension <= CASE_DIMENSION
    if setup.large_gpu and own_unit and plan.solutions.settings[0]["particles"] <= CASE_PARTICLES:
        generations = plan.solutions[0].generations
        milliseconds = 1e3 * counted_runs(runs, DEVICE_ENGINE)["device_seconds"].median()
        title = f"{plan.inflow.years} years, {generations:,} generations: device time, ms"
        yield Check(title, milliseconds, 1e3 * GENERATION_SECONDS * generations)
    if setup.large_gpu:
        years = select(points, sweep="years")
        least = -largest(-years[years["years"] >= MANY_YEARS]["moves_per_second"]) / 1e9
        title = f"particle moves per second with {MANY_YEARS:,} years or more, 1e9"
        yield Check(title, least, MANY_YEARS_MOVES / 1e9, at_least=True)
    shared = select(points, sweep="devices").set_index("devices")["moves_per_second"]
    for count in shared.index[1:]:
        share = float(shared[count] / shared.iloc[0] / count)
        title = f"{count} devices: parallel efficiency, by device time"
        yield Check(title, share, SHARING, at_least=True)


#: Energy in the unit of the paper.
GWH_PER_1E8_KWH = 100.0

#: Quantities of Table 5: name, column, unit of the column in that of the table, format.
_QUANTITIES = (
    ("execution time, ms", "seconds", 1e-3, ",.2f"),
    ("total best benefit, GWh", "benefit_gwh", 1.0, ",.2f"),
    ("total best benefit, 1e8 kWh", "benefit_gwh", GWH_PER_1E8_KWH, ",.4f"),
    ("total violation (relative)", "violation", 1.0, ".3g"),
)


def table_5(runs: pd.DataFrame) -> ResultTable:
    """Execution time, benefit and violation of both engines over their runs."""
    rows = []
    for title, column, unit, form in _QUANTITIES:
        for engine in ENGINES:
            values = counted_runs(runs, engine)[column] / unit
            rows.append({"quantity": title, "engine": engine} | summary(values, form))
    count = len(counted_runs(runs, DEVICE_ENGINE))
    note = f"{count} runs of each engine, alternating, each with its own seed; the first run of each is not counted."
    return result_table("Execution time, benefit and violation (after Table 5)", rows, note)


def table_6(runs: pd.DataFrame) -> ResultTable:
    """The t-test and the speed-up with its spread."""
    lower, upper = np.percentile(speed_ups(runs), (25, 75))
    row = {"two-tailed t-test, p": t_test(runs), "speed-up": speed_up(runs)}
    row |= {"its lower quartile": lower, "its upper quartile": upper}
    note = (
        f"Speed-up: median seconds of {SEQUENTIAL} (compiled, one thread) divided by those of {DEVICE_ENGINE}; "
        "quartiles: of the ratios of consecutive runs. The t-test assumes equal variances."
    )
    return result_table("t-test and speed-up (after Table 6)", [row], note, form=".2f")


def table_7(runs: pd.DataFrame) -> ResultTable:
    """Where the host's time goes, ms: the first run of the process, and the mean of those that follow."""
    schemes = {"own streams": STREAM, "the paper's scheme": PAPER}
    note = (
        "Host time, ms. Context and program are reused between runs, so only the first run creates them (the driver "
        "may have the program in its cache). The host waits for the kernel between phases 4 and 5; if this takes "
        "longer than the device time, the driver was still compiling. Phase 6 releases kernel, buffers and queue. "
        "The rest is outside the phases: converting the years to the kernel's format. With own streams the device "
        "generates the random numbers."
    )
    chosen = {title: select(runs, engine=DEVICE_ENGINE, random=random) for title, random in schemes.items()}
    return host_time_table("random numbers", chosen, note, rest=True)


def gap_table(runs: pd.DataFrame, plan: Plan, reference: float) -> ResultTable:
    """How far the engines stay from the reference optimum, whose fitness is `reference` in all years together.

    It is an energy only in years that keep their limits: the others are left out of the energy that is printed.
    """
    rows = []
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        worst, where = worst_run(mine)
        row: dict[str, Any] = {"engine": engine, "mean gap of a year": mine["mean_gap"].mean()}
        row |= {"worst gap of a year": worst["worst_gap"], "in": where}
        row |= {f"runs with a year above {YEAR_GAP:g}": int((mine["worst_gap"] > YEAR_GAP).sum())}
        row |= {"worst gap of the total": total_gap(mine, reference)}
        rows.append(row | {"violation of all runs": mine["violation"].sum()})
    feasible = plan.feasible_problems
    energy, years = float(plan.references.benefit[feasible].sum()), int(feasible.sum())
    lost = chosen(plan.inflow.labels, ~feasible)
    named = f"{counted(len(lost))} ({listed(lost)})"
    penalised = f"; the limits of {named} cannot be kept: gaps there include the penalty"
    note = (
        "Gap: absolute difference to the reference optimum of dynamic programming, relative to it "
        f"({energy:,.2f} GWh in {years} years{penalised if lost else ''})."
    )
    gaps = {"*gap of a year": ".2e", "worst gap of the total": ".2e"}
    return result_table("Gap to dynamic programming", rows, note, **gaps)
