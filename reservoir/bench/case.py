"""The case study of Yu et al. 2020 (Complexity 6589658, section 5) on any reservoir, and how its speed scales.

Both engines run in turn (Tables 5 to 7), so that both see the same machine; then the size of the work and the layout of
the device are changed one by one, and the speed is compared with what the device's arithmetic allows (`scaling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reservoir.bench import scaling
from reservoir.bench.experiment import QUICK_WARNING, DeviceStudy, RunBudget
from reservoir.bench.figures import log_axis
from reservoir.bench.models import host_time_rows, phase_seconds
from reservoir.bench.result import ExperimentResult
from reservoir.bench.scaling import DEVICE_ENGINE, NOT_MEASURED, ArithmeticLimit, operations_per_move, rule
from reservoir.bench.tables import ResultTable, Row, p_value, seconds_of, select, summary
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import list_devices
from reservoir.planning.checks import TOTAL_GAP, YEAR_GAP, Check, largest
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.sentences import chosen, listed
from reservoir.planning.solving import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.planning.solving import relative_gap
from reservoir.planning.validation import SIGNIFICANCE, SPREAD
from reservoir.report.figures import style
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted, quantity

ENGINES = (SEQUENTIAL, DEVICE_ENGINE)
QUICK_GENERATIONS = 500
#: Random numbers: the product's own streams, and the paper's scheme, made on the host and shared (section 4.3).
STREAM, PAPER = "stream", "host"
#: Runs with the paper's random numbers: only where their time goes is of interest.
PAPER_RUNS = 5
#: Device seconds of a generation on a large GPU while every year has a unit of its own: 12 ms for 10,000 of 40
#: particles, 12 months.
GENERATION_SECONDS, CASE_PARTICLES, CASE_DIMENSION = 1.2e-6, 40, 12
#: Years that fill a device.
MANY_YEARS = 10_000
#: Energy in the unit of the paper.
GWH_PER_1E8_KWH = 100.0


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseStudy(DeviceStudy):
    """What is run: the years of a plan, whose own run builds the program and is not counted; with what settings.

    Tables: ``runs`` of the engines; and ``scaling``, the points, beside the limit of the device's arithmetic.
    """

    paper = "case"
    plan: Plan
    settings: Mapping[str, Any]
    limit: ArithmeticLimit = NOT_MEASURED

    @property
    def moves_limit(self) -> float:
        """Particle moves a second that the device's arithmetic allows."""
        return self.limit.best / operations_per_move(self.plan.problems.each[0])

    @property
    def reference_gwh(self) -> float:
        """Fitness of the reference optima of all years together."""
        return float(sum(self.plan.references.fitness.tolist()))

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        plan, first = self.plan, self.plan.problems.each[0]
        of_reservoir, of_inflow = (
            {"sha256": each.sha256, "caveat": each.caveat} for each in (plan.reservoir, plan.inflow)
        )
        return super().origin() | {
            "reservoir": {"name": plan.reservoir.name} | of_reservoir,
            "inflow": {"first": plan.inflow.labels[0], "last": plan.inflow.labels[-1]} | of_inflow,
            "settings": dict(plan.solutions.settings[0]),
            "arithmetic_limit": {
                "instructions_per_second": self.limit.best,
                "instructions_per_move": operations_per_move(first),
                "counted": rule(first),
            },
        }


def run(reservoir: Reservoir, inflow: Inflow, *, budget: RunBudget, peers: bool = False) -> ExperimentResult:
    """Run the experiment on the first device; how a case is shared among all of its kind is measured, too.

    Options: see `reservoir.cli.bench`.
    """
    device = DeviceStudy.of(budget).device
    settings: dict[str, Any] = budget.usual({}, {"generations": QUICK_GENERATIONS})
    asked = {"solver": DEVICE_ENGINE, "seed": budget.seed, "device": str(device.index), **settings}
    plan = optimise(reservoir, inflow, horizon=YEAR, engine_only=True, progress=budget.progress, **asked)
    study = CaseStudy(budget=budget, device=device, plan=plan, settings=settings)
    runs = _runs(study)
    study = replace(study, limit=scaling.measure_limit(study))
    alike = [each for each in list_devices() if (each.platform, each.kind) == (device.platform, device.kind)]
    own: dict[str, Any] = {"record": plan.problems.batches[0], "moves_limit": study.moves_limit}
    own |= {"kin": [each for each in alike if each != device]}
    points = scaling.measure_scaling(scaling.ScalingStudy(budget=budget, device=device, **own))
    study = study.measured({"runs": runs, "scaling": points})
    title = f"{plan.reservoir.name}, {plan.inflow.years} years, on {device.name}"
    checked: dict[str, Any] = {"checks": case_checks, "claims": case_claims}
    result = study.result(title, _headlines, _tables, _figures, caveats=plan.caveats, **checked)
    return _with_peers(result, study) if peers else result


def _runs(study: CaseStudy) -> pd.DataFrame:
    """Run both engines in turn, then the paper's random numbers; a row a run.

    The engines have different seeds: with the same, both would draw the same numbers.
    """
    plan, (first, runs), settings = study.plan, (study.budget.seed, study.budget.runs), study.settings
    study.solve(plan.problems.each[:1], SEQUENTIAL, generations=1)  # compiles
    calls: list[tuple[str, int, Mapping[str, Any], bool]] = []
    for run in range(runs):
        calls.append((DEVICE_ENGINE, first + run, settings, True))
        calls.append((SEQUENTIAL, first + runs + run, {**settings, "threads": 1}, True))
    for run in range(min(PAPER_RUNS, runs) + 1):
        calls.append((DEVICE_ENGINE, first + run, {**settings, "random": PAPER}, run > 0))
    rows = [_row(plan, plan.solutions, counted=False)]
    for engine, seed, options, counts in study.tracked("runs of the engines", calls):
        rows.append(_row(plan, study.solve(plan.problems.each, engine, seed=seed, **options), counted=counts))
    return pd.DataFrame(rows)


def _row(plan: Plan, solutions: Solutions, *, counted: bool) -> Row:
    first, gap = solutions[0], np.abs(relative_gap(solutions, plan.references))
    worst = int(gap.argmax())
    row: Row = {"engine": first.solver, "random": first.settings.get("random", STREAM)}
    row |= {"seed": first.settings["seed"], "counted": counted} | seconds_of(first)
    for name, attribute in (("benefit_gwh", "benefit"), ("fitness_gwh", "fitness"), ("violation", "violation")):
        row[name] = sum(getattr(solutions, attribute).tolist())
    row |= {"worst_gap": float(gap[worst]), "worst_year": plan.problems.each[worst].label}
    row |= {"mean_gap": float(gap.mean()), "generations": first.generations}
    row |= {"evaluations": int(solutions.evaluations.sum())}
    return row | phase_seconds(first.host_seconds_by_phase, np.nan)


def counted_runs(runs: pd.DataFrame, engine: str, random: str = STREAM) -> pd.DataFrame:
    """The runs of an engine that count."""
    return select(runs, counted=True, engine=engine, random=random)


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


def case_checks(study: CaseStudy) -> Iterator[Check]:
    """What a quick trial is held to, too: the constraints."""
    for engine in ENGINES:
        mine = counted_runs(study.data["runs"], engine)
        yield study.claim("violation", sum(mine["violation"]), engine=engine, runs=len(mine))


def case_claims(study: CaseStudy) -> Iterator[Check]:
    """Claims that this device and this budget can be held to."""
    plan, device, runs, points = study.plan, study.device, study.data["runs"], study.data["scaling"]
    for engine in ENGINES:
        mine = counted_runs(runs, engine)
        (worst, where), about = worst_run(mine), {"engine": engine, "runs": len(mine)}
        yield study.claim("year", worst["worst_gap"], YEAR_GAP, where=where, **about)
        yield study.claim("total", total_gap(mine, study.reference_gwh), TOTAL_GAP, **about)
        if len(mine) > 1:
            spread = mine["benefit_gwh"].std(ddof=1) / mine["benefit_gwh"].mean()
            yield study.claim("spread", spread, SPREAD, engine=engine)
    p = t_test(runs)
    if np.isfinite(p):
        yield study.claim("alike", p, SIGNIFICANCE)
    if study.small_cpu:
        yield study.claim("speed_up", speed_up(runs))
    own_unit = plan.inflow.years <= device.compute_units and plan.problems.each[0].dimension <= CASE_DIMENSION
    if study.large_gpu and own_unit and plan.solutions.settings[0]["particles"] <= CASE_PARTICLES:
        generations = plan.solutions[0].generations
        milliseconds = 1e3 * counted_runs(runs, DEVICE_ENGINE)["device_seconds"].median()
        about = {"years": plan.inflow.years, "generations": generations}
        yield study.claim("device", milliseconds, 1e3 * GENERATION_SECONDS * generations, **about)
    if study.large_gpu:
        years = select(points, sweep="years")
        least = -largest(-years[years["years"] >= MANY_YEARS]["moves_per_second"]) / 1e9
        yield study.claim("moves", least, years=MANY_YEARS)
    shared = select(points, sweep="devices").set_index("devices")["moves_per_second"]
    for count in shared.index[1:]:
        yield study.claim("shared", shared[count] / shared.iloc[0] / count, devices=count)


def _headlines(study: CaseStudy) -> dict[str, str]:
    points = study.data["scaling"]
    fastest = points[points["devices"] == 1]["moves_per_second"].max()
    return {
        "Speed-up": f"{speed_up(study.data['runs']):.2f} times the sequential engine on one thread",
        "Fastest": f"{fastest / 1e6:,.1f} million particle moves per second, {fastest / study.moves_limit:.0%} of the "
        "device's arithmetic limit",
    }


def _tables(study: CaseStudy) -> Iterator[ResultTable]:
    yield from (table_5(study), table_6(study), table_7(study), gap_table(study))
    first = study.plan.problems.each[0]
    moves = operations_per_move(first)
    rows = [
        {"lanes of a vector": lanes, "instructions, 1e9/s": each / 1e9, "moves, M/s": each / moves / 1e6}
        for lanes, each in study.limit.instructions_per_second.items()
    ]
    yield study.table("limit", rows, rule(first))
    yield scaling.scaling_table(study, study.data["scaling"])


#: Quantities of Table 5: name, column, unit of the column in that of the table, format.
_QUANTITIES = (
    ("execution time, ms", "seconds", 1e-3, ",.2f"),
    ("total best benefit, GWh", "benefit_gwh", 1.0, ",.2f"),
    ("total best benefit, 1e8 kWh", "benefit_gwh", GWH_PER_1E8_KWH, ",.4f"),
    ("total violation (relative)", "violation", 1.0, ".3g"),
)


def table_5(study: CaseStudy) -> ResultTable:
    """Execution time, benefit and violation of both engines over their runs."""
    runs = study.data["runs"]
    rows = [
        {"quantity": title, "engine": engine} | summary(counted_runs(runs, engine)[column] / unit, form)
        for title, column, unit, form in _QUANTITIES
        for engine in ENGINES
    ]
    return study.table("table_5", rows, runs=len(counted_runs(runs, DEVICE_ENGINE)))


def table_6(study: CaseStudy) -> ResultTable:
    """The t-test and the speed-up with its spread."""
    runs = study.data["runs"]
    lower, upper = np.percentile(speed_ups(runs), (25, 75))
    row = {"two-tailed t-test, p": t_test(runs), "speed-up": speed_up(runs)}
    row |= {"its lower quartile": lower, "its upper quartile": upper}
    return study.table("table_6", [row], sequential=SEQUENTIAL, device=DEVICE_ENGINE)


def table_7(study: CaseStudy) -> ResultTable:
    """Where the host's time goes, ms: the first run of the process, and the mean of those that follow."""
    schemes, runs = {"own streams": STREAM, "the paper's scheme": PAPER}, study.data["runs"]
    of_schemes = {title: select(runs, engine=DEVICE_ENGINE, random=random) for title, random in schemes.items()}
    return study.table("table_7", host_time_rows("random numbers", of_schemes, rest=True))


def gap_table(study: CaseStudy) -> ResultTable:
    """How far the engines stay from the reference optimum.

    It is an energy only in years that keep their limits: the others are left out of the energy that is printed.
    """
    rows, plan = [], study.plan
    for engine in ENGINES:
        mine = counted_runs(study.data["runs"], engine)
        worst, where = worst_run(mine)
        row: Row = {"engine": engine, "mean gap of a year": mine["mean_gap"].mean()}
        row |= {"worst gap of a year": worst["worst_gap"], "in": where}
        row |= {f"runs with a year above {YEAR_GAP:g}": int((mine["worst_gap"] > YEAR_GAP).sum())}
        row |= {"worst gap of the total": total_gap(mine, study.reference_gwh)}
        rows.append(row | {"violation of all runs": mine["violation"].sum()})
    feasible = plan.feasible_problems
    energy, lost = float(plan.references.benefit[feasible].sum()), chosen(plan.inflow.labels, ~feasible)
    named = f"{counted(len(lost))} ({listed(lost)})"
    penalised = f"; the limits of {named} cannot be kept: gaps there include the penalty" if lost else ""
    return study.table("gap", rows, energy=energy, years=int(feasible.sum()), penalised=penalised)


def _figures(study: CaseStudy) -> dict[str, Figure]:
    foot = style.foot_texts(study.plan, study.place + study.budget.usual("", f". {QUICK_WARNING}"))
    points = scaling.scaling_figure(study.data["scaling"], study.moves_limit, foot)
    return {"times": times_figure(study.data["runs"], foot), "scaling": points}


def times_figure(runs: pd.DataFrame, foot: Sequence[str]) -> Figure:
    """Draw the times of the counted runs."""
    return style.sheet_figure(2.3, foot, style.on_axes("Execution time of a run", draw_times, runs))


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw a row for each engine, and one for the device's share of the first."""
    device, sequential = (counted_runs(runs, engine) for engine in (DEVICE_ENGINE, SEQUENTIAL))
    rows = (
        (SEQUENTIAL, 1e3 * sequential["seconds"].to_numpy(float), style.LIMITS),
        (DEVICE_ENGINE, 1e3 * device["seconds"].to_numpy(float), style.STORAGE),
        (f"{DEVICE_ENGINE}:\non the device", 1e3 * device["device_seconds"].to_numpy(float), style.RELEASE),
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


_HEIGHT = 0.34


def _draw_row(ax: Axes, place: int, milliseconds: np.ndarray, colour: str) -> None:
    """A box, the dots spread a little so that they can be told apart, and the median as a number."""
    lines: Row = {f"{part}props": {"color": colour} for part in ("whisker", "cap")}
    lines |= {"boxprops": {"facecolor": style.tint(colour, 0.25), "edgecolor": colour}}
    lines |= {"medianprops": {"color": colour, "lw": 1.8}}
    shown: Row = {"showfliers": False, "manage_ticks": False, "patch_artist": True, "orientation": "horizontal"}
    ax.boxplot(milliseconds, positions=[place], widths=_HEIGHT, **shown, **lines)
    spread = _HEIGHT * (np.modf(np.arange(len(milliseconds)) * 0.618)[0] - 0.5)
    ax.plot(milliseconds, place + spread, ls="none", marker="o", ms=2.5, color=colour, alpha=0.8)
    median = float(np.median(milliseconds))
    above, words = place - _HEIGHT * 0.75, f"{quantity(median)} ms"
    ax.text(median, above, words, ha="center", va="bottom", color=colour, fontsize=8)


def _with_peers(result: ExperimentResult, study: CaseStudy) -> ExperimentResult:
    """Add the race against other libraries."""
    from reservoir.bench.peers import draw_peers, time_peers

    plan, race = study.plan, time_peers(list(study.plan.problems.each), study.plan.references, budget=study.budget)
    frame = race.frame()
    drawn, height = style.on_axes(race.title, draw_peers, race), 1.6 + 0.3 * int(frame["total_seconds"].notna().sum())
    return replace(
        result,
        tables=(*result.tables, ResultTable(race.title, frame, race.notes)),
        data={**result.data, "peers": frame},
        figures={**result.figures, "peers": style.plan_figure(plan, height, drawn)},
        captions={**result.captions, "peers": race.title},
    )
