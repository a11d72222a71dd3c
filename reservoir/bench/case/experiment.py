"""The case study of Yu et al. 2020 (Complexity 6589658, section 5) on any reservoir, and how its speed scales.

Both engines run in turn (Tables 5 to 7); then the size of the work and the layout of the device are changed one by one,
and the speed is compared with what the device's arithmetic allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from reservoir.bench.case.arithmetic import ArithmeticLimit, measure_limit, operations_per_move, rule
from reservoir.bench.case.runs import DEVICE_ENGINE, ENGINES, PAPER, STREAM, CaseSetup, counted_runs, engine_runs
from reservoir.bench.case.scaling import SWEEPS, ScalingSetup, measure_scaling, scaling_table
from reservoir.bench.data import bundled
from reservoir.bench.experiment import DeviceSetup, select
from reservoir.bench.figures import log_axis, panels, short
from reservoir.bench.host_time import host_time_table
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import QUICK_WARNING, RunBudget
from reservoir.bench.samples import p_value, summary
from reservoir.hydro.horizon import YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import list_devices
from reservoir.planning.checks import TOTAL_GAP, YEAR_GAP, Check, largest
from reservoir.planning.infeasible import chosen, counted, listed
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.solving import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.planning.validation import SIGNIFICANCE, SPREAD
from reservoir.report.figures.style import (
    DASHES,
    INFLOW,
    LIMITS,
    RELEASE,
    STORAGE,
    foot_texts,
    on_axes,
    plan_figure,
    sheet_figure,
    tint,
)
from reservoir.text.quantities import quantity

COLUMNS, PANEL_INCHES = 3, 2.05
_HEIGHT = 0.34
#: Part of a panel's width that a tick's label needs.
_TICK_SHARE = 0.12


def times_figure(runs: pd.DataFrame, foot: Sequence[str]) -> Figure:
    """Draw the times of the counted runs."""
    return sheet_figure(2.3, foot, on_axes("Execution time of a run", draw_times, runs))


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw a row for each engine, and one for the device's share of the first."""
    device, sequential = (counted_runs(runs, engine) for engine in (DEVICE_ENGINE, SEQUENTIAL))
    rows = (
        (SEQUENTIAL, 1e3 * sequential["seconds"].to_numpy(float), LIMITS),
        (DEVICE_ENGINE, 1e3 * device["seconds"].to_numpy(float), STORAGE),
        (f"{DEVICE_ENGINE}:\non the device", 1e3 * device["device_seconds"].to_numpy(float), RELEASE),
    )
    for place, (_, milliseconds, colour) in enumerate(rows):
        _draw_row(ax, place, milliseconds, colour)
    log_axis(ax, "x", ticks=30)
    ax.set_xlim(rows[2][1].min() / 1.6, rows[0][1].max() * 1.6)
    ax.set_xlabel("Time (ms)")
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    ax.set_ylim(len(rows) - 0.45, -0.75)
    ax.grid(visible=False, axis="y")
    return ax


def _draw_row(ax: Axes, place: int, milliseconds: np.ndarray, colour: str) -> None:
    """A box, the dots spread a little so that they can be told apart, and the median as a number."""
    ax.boxplot(
        milliseconds,
        positions=[place],
        widths=_HEIGHT,
        orientation="horizontal",
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": tint(colour, 0.25), "edgecolor": colour},
        medianprops={"color": colour, "lw": 1.8},
        whiskerprops={"color": colour},
        capprops={"color": colour},
    )
    spread = _HEIGHT * (np.modf(np.arange(len(milliseconds)) * 0.618)[0] - 0.5)
    ax.plot(milliseconds, place + spread, ls="none", marker="o", ms=2.5, color=colour, alpha=0.8)
    median = float(np.median(milliseconds))
    ax.text(
        median, place - _HEIGHT * 0.75, f"{quantity(median)} ms", ha="center", va="bottom", color=colour, fontsize=8
    )


def scaling_figure(points: pd.DataFrame, moves_limit: float, foot: Sequence[str]) -> Figure:
    """Draw a panel for every sweep that has points."""
    done = points[points["moves_per_second"].notna()]
    sweeps = [sweep for sweep in SWEEPS if (done["sweep"] == sweep).any()]
    rows = max(1, -(-len(sweeps) // COLUMNS))

    def draw(sheet: SubFigure) -> Axes | None:
        axes = panels(sheet, len(sweeps), COLUMNS, "Per second", sharey=True)
        for ax, sweep in zip(axes, sweeps, strict=True):
            draw_sweep(ax, select(done, sweep=sweep), sweep, moves_limit)
        sheet.suptitle("Speed, one parameter varied at a time", x=0.01, ha="left", fontweight="bold", fontsize=10)
        return axes[0] if sweeps else None

    return sheet_figure(0.5 + PANEL_INCHES * rows, foot, draw)


def draw_sweep(ax: Axes, points: pd.DataFrame, sweep: str, moves_limit: float) -> Axes:
    """Draw the points of a sweep, and the limit."""
    points = points.sort_values("value")
    span, limits = points["value"].to_numpy(), moves_limit * points["devices"].to_numpy()
    room = max((span[-1] / span[0]) ** 0.06, 1.15)
    widened = np.array([span[0] / room, *span, span[-1] * room])
    ax.plot(span, points["moves_per_second"], color=STORAGE, marker="o", label="particle moves")
    dotted: dict[str, Any] = {"marker": "s", "mfc": "white", "ls": (0, (1, 1))}
    ax.plot(span, points["evaluations_per_second"], color=INFLOW, label="feasible evaluations", **dotted)
    wide = limits[[0, *range(len(limits)), -1]]
    ax.plot(widened, wide, color=LIMITS, ls=DASHES, lw=1.2, label="arithmetic limit")
    ax.set_xscale("log")
    ax.set_xlim(*widened[[0, -1]])
    ax.xaxis.set_major_locator(FixedLocator(apart(span)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    log_axis(ax, ticks=12)
    ax.yaxis.set_major_formatter(EngFormatter(sep=" "))
    ax.set_xlabel(SWEEPS[sweep])
    return ax


def apart(values: np.ndarray) -> list[float]:
    """Those of ascending values that leave room for a label each on a logarithmic axis; the last is among them."""
    room = max((values[-1] / values[0]) ** _TICK_SHARE, 1.01)
    shown = [float(values[-1])]
    for value in values[-2::-1]:
        if shown[-1] / value >= room:
            shown.append(float(value))
    return shown[::-1]


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


QUICK_GENERATIONS = 500


def run(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    budget: RunBudget,
    peers: bool = False,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment on the first device; how a case is shared among all of its kind is measured, too.

    Parameters
    ----------
    peers : bool
        Race other libraries on the same years, too.
    """
    device = DeviceSetup.of(budget, progress).device
    settings: dict[str, Any] = budget.usual({}, {"generations": QUICK_GENERATIONS})
    asked = {"solver": DEVICE_ENGINE, "seed": budget.seed, "device": str(device.index), **settings}
    plan = optimise(reservoir, inflow, horizon=YEAR, engine_only=True, progress=progress, **asked)
    setup = CaseSetup(budget=budget, progress=progress, device=device, plan=plan, settings=settings)
    runs, limit = engine_runs(setup), measure_limit(setup)
    kin = [each for each in list_devices() if (each.platform, each.kind) == (device.platform, device.kind)]
    scaling = ScalingSetup(
        budget=budget,
        progress=progress,
        device=device,
        years=plan.problems.each,
        kin=[each for each in kin if each != device],
        moves_limit=limit.best / operations_per_move(plan.problems.each[0]),
    )
    found = case_result(setup, runs, measure_scaling(scaling), limit)
    return _with_peers(found, setup) if peers else found


def case_result(setup: CaseSetup, runs: pd.DataFrame, points: pd.DataFrame, limit: ArithmeticLimit) -> ExperimentResult:
    """What runs, points and limit come to."""
    plan, first = setup.plan, setup.plan.problems.each[0]
    moves_limit = limit.best / operations_per_move(first)
    foot = foot_texts(plan, setup.place + setup.budget.usual("", f". {QUICK_WARNING}"))
    reference_gwh = sum(plan.references.fitness.tolist())
    fastest = points[points["devices"] == 1]["moves_per_second"].max()
    reservoir, inflow = ({"sha256": each.sha256, "caveat": each.caveat} for each in (plan.reservoir, plan.inflow))
    return setup.result(
        f"{plan.reservoir.name}, {plan.inflow.years} years, on {setup.device.name}",
        caveats=plan.caveats,
        headlines={
            "Speed-up": f"{speed_up(runs):.2f} times the sequential engine on one thread",
            "Fastest": f"{fastest / 1e6:,.1f} million particle moves per second, {fastest / moves_limit:.0%} of the "
            "device's arithmetic limit",
        },
        checks=case_checks(setup, runs, points),
        tables=(
            *(table(runs) for table in (table_5, table_6, table_7)),
            gap_table(runs, plan, reference_gwh),
            _limit_table(setup, limit),
            scaling_table(setup, points),
        ),
        data={"runs": runs, "scaling": points},
        figures={"times": times_figure(runs, foot), "scaling": scaling_figure(points, moves_limit, foot)},
        captions=bundled("case")["captions"],
        reservoir={"name": plan.reservoir.name} | reservoir,
        inflow={"first": plan.inflow.labels[0], "last": plan.inflow.labels[-1]} | inflow,
        settings=dict(plan.solutions.settings[0]),
        arithmetic_limit={
            "instructions_per_second": limit.best,
            "instructions_per_move": operations_per_move(first),
            "counted": rule(first),
        },
    )


def _limit_table(setup: CaseSetup, limit: ArithmeticLimit) -> ResultTable:
    first = setup.plan.problems.each[0]
    moves = operations_per_move(first)
    rows = [
        {"lanes of a vector": lanes, "instructions, 1e9/s": each / 1e9, "moves, M/s": each / moves / 1e6}
        for lanes, each in limit.instructions_per_second.items()
    ]
    method = "Measured with a kernel of independent float32 multiply-adds; the maximum is the device's limit."
    return result_table("Arithmetic limit", rows, method, rule(first), form=",.1f", **{"lanes of a vector": "d"})


def _with_peers(found: ExperimentResult, setup: CaseSetup) -> ExperimentResult:
    """Add the race against other libraries."""
    from reservoir.bench.peers import draw_peers, time_peers

    plan, budget = setup.plan, setup.budget
    asked: dict[str, Any] = {"seed": budget.seed, "device": budget.device, "quick": budget.quick}
    race = time_peers(list(plan.problems.each), plan.references, progress=setup.progress, **asked)
    frame = race.frame()
    drawn, height = on_axes(race.title, draw_peers, race), 1.6 + 0.3 * int(frame["total_seconds"].notna().sum())
    return replace(
        found,
        tables=(*found.tables, ResultTable(race.title, frame, race.notes)),
        data={**found.data, "peers": frame},
        figures={**found.figures, "peers": plan_figure(plan, height, drawn)},
        captions={**found.captions, "peers": race.title},
    )
