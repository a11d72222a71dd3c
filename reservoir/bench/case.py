"""The case study of Yu et al. 2020 (Complexity 6589658, section 5) on any reservoir, and how its speed scales.

Both engines run in turn (Tables 5 to 7), so that both see the same machine; then the size of the work and the layout of
the device are changed one by one, and the speed is compared with what the device's arithmetic allows (`scaling`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
from reservoir.bench.scaling import DEVICE_ENGINE, operations_per_move, rule
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

if TYPE_CHECKING:
    from reservoir.bench.peers import PeerRace

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

#: Quantities of Table 5: name, column, unit of the column in that of the table, format.
_QUANTITIES = (
    ("execution time, ms", "seconds", 1e-3, ",.2f"),
    ("total best benefit, GWh", "benefit_gwh", 1.0, ",.2f"),
    ("total best benefit, 1e8 kWh", "benefit_gwh", GWH_PER_1E8_KWH, ",.4f"),
    ("total violation (relative)", "violation", 1.0, ".3g"),
)


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseStudy(DeviceStudy):
    """What is run: the years of a plan, whose own run builds the program and is not counted; with what settings.

    Tables: ``runs`` of the engines; and ``scaling``, the points, beside the limit of the device's arithmetic
    (`scaling.measure_limit`). The race against other libraries is there if it was asked for.
    """

    paper = "case"
    title = "{study.plan.reservoir.name}, {study.plan.inflow.years} years, on {study.device.name}"
    plan: Plan
    settings: Mapping[str, Any]
    limit: Mapping[int, float] = field(default_factory=dict)
    race: PeerRace | None = None

    def caveats(self) -> tuple[str, ...]:
        """Those of the plan."""
        return self.plan.caveats

    @property
    def moves_limit(self) -> float:
        """Particle moves a second that the device's arithmetic allows."""
        return max(self.limit.values()) / operations_per_move(self.plan.problems.each[0])

    @property
    def reference_gwh(self) -> float:
        """Fitness of the reference optima of all years together."""
        return float(sum(self.plan.references.fitness.tolist()))

    @cached_property
    def counted(self) -> dict[str, pd.DataFrame]:
        """The runs of each engine that count; those with the paper's random numbers do not."""
        return {engine: select(self.data["runs"], counted=True, engine=engine, random=STREAM) for engine in ENGINES}

    def t_test(self) -> float:
        """Two-tailed t-test with equal variances between the totals of the engines, p; NaN for a single run."""
        return p_value(*(runs["benefit_gwh"] for runs in self.counted.values()))

    def speed_ups(self) -> NDArray[np.float64]:
        """Sequential seconds over device seconds of every pair of runs that stood next to each other, shape (runs,)."""
        sequential, device = (runs["seconds"].to_numpy() for runs in self.counted.values())
        return np.asarray(sequential / device)

    def speed_up(self) -> float:
        """Median seconds of the sequential engine over those of the OpenCL engine."""
        sequential, device = (runs["seconds"].median() for runs in self.counted.values())
        return float(sequential / device)

    @cached_property
    def gaps(self) -> list[Row]:
        """How far each engine stays from the reference optima."""
        return [self._gap(engine, runs) for engine, runs in self.counted.items()]

    def _gap(self, engine: str, runs: pd.DataFrame) -> Row:
        """How far runs stay from the reference optima: their number, and gaps of years and of the total, the worst."""
        worst = runs.sort_values("worst_gap").iloc[-1]
        row: Row = {"engine": engine, "runs": len(runs), "mean": runs["mean_gap"].mean(), "year": worst["worst_gap"]}
        row |= {"where": f"{worst['worst_year']}, seed {worst['seed']}"}
        row |= {"above": int((runs["worst_gap"] > YEAR_GAP).sum())}
        row |= {"total": largest((runs["fitness_gwh"] / self.reference_gwh - 1).abs())}
        return row | {"violation": runs["violation"].sum()}

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
                "instructions_per_second": max(self.limit.values()),
                "instructions_per_move": operations_per_move(first),
                "counted": rule(first),
            },
        }

    def _runs(self) -> pd.DataFrame:
        """Run both engines in turn, then the paper's random numbers; a row a run.

        The engines have different seeds: with the same, both would draw the same numbers.
        """
        plan, (first, runs), settings = self.plan, (self.budget.seed, self.budget.runs), self.settings
        self.solve(plan.problems.each[:1], SEQUENTIAL, generations=1)  # compiles
        calls: list[tuple[str, int, Mapping[str, Any], bool]] = []
        for run in range(runs):
            calls.append((DEVICE_ENGINE, first + run, settings, True))
            calls.append((SEQUENTIAL, first + runs + run, {**settings, "threads": 1}, True))
        for run in range(min(PAPER_RUNS, runs) + 1):
            calls.append((DEVICE_ENGINE, first + run, {**settings, "random": PAPER}, run > 0))
        rows = [_row(plan, plan.solutions, counted=False)]
        for engine, seed, options, counts in self.tracked("runs of the engines", calls):
            rows.append(_row(plan, self.solve(plan.problems.each, engine, seed=seed, **options), counted=counts))
        return pd.DataFrame(rows)

    def checks(self) -> Iterator[Check]:
        """What a quick trial is held to, too: the constraints."""
        for row in self.gaps:
            yield self.claim("violation", row["violation"], **row)

    def claims(self) -> Iterator[Check]:
        """Claims that this device and this budget can be held to."""
        plan, device, points = self.plan, self.device, self.data["scaling"]
        for row in self.gaps:
            yield self.claim("year", row["year"], YEAR_GAP, **row)
            yield self.claim("total", row["total"], TOTAL_GAP, **row)
            benefits = self.counted[row["engine"]]["benefit_gwh"]
            if len(benefits) > 1:
                yield self.claim("spread", benefits.std(ddof=1) / benefits.mean(), SPREAD, **row)
        if np.isfinite(p := self.t_test()):
            yield self.claim("alike", p, SIGNIFICANCE)
        if self.small_cpu:
            yield self.claim("speed_up", self.speed_up())
        own_unit = plan.inflow.years <= device.compute_units and plan.problems.each[0].dimension <= CASE_DIMENSION
        if self.large_gpu and own_unit and plan.solutions.settings[0]["particles"] <= CASE_PARTICLES:
            generations = plan.solutions[0].generations
            milliseconds = 1e3 * self.counted[DEVICE_ENGINE]["device_seconds"].median()
            about = {"years": plan.inflow.years, "generations": generations}
            yield self.claim("device", milliseconds, 1e3 * GENERATION_SECONDS * generations, **about)
        if self.large_gpu:
            years = select(points, sweep="years")
            least = -largest(-years[years["years"] >= MANY_YEARS]["moves_per_second"]) / 1e9
            yield self.claim("moves", least, years=MANY_YEARS)
        shared = select(points, sweep="devices").set_index("devices")["moves_per_second"]
        for count in shared.index[1:]:
            yield self.claim("shared", shared[count] / shared.iloc[0] / count, devices=count)

    def _headlines(self) -> dict[str, str]:
        points = self.data["scaling"]
        fastest = points[points["devices"] == 1]["moves_per_second"].max()
        return {
            "Speed-up": f"{self.speed_up():.2f} times the sequential engine on one thread",
            "Fastest": f"{fastest / 1e6:,.1f} million particle moves per second, {fastest / self.moves_limit:.0%} of "
            "the device's arithmetic limit",
        }

    def _tables(self) -> Iterator[ResultTable]:
        yield from (self.table_5(), self.table_6(), self.table_7(), self.gap_table())
        first = self.plan.problems.each[0]
        moves = operations_per_move(first)
        rows = [
            {"lanes of a vector": lanes, "instructions, 1e9/s": each / 1e9, "moves, M/s": each / moves / 1e6}
            for lanes, each in self.limit.items()
        ]
        yield self.table("limit", rows, rule(first))
        yield scaling.scaling_table(self, self.data["scaling"])
        if self.race is not None:
            yield ResultTable(self.race.title, self.race.frame(), self.race.notes)

    def written(self) -> dict[str, pd.DataFrame]:
        """What was measured, and the race."""
        race = {} if self.race is None else {"peers": self.race.frame()}
        return {**self.data, **race}

    def table_5(self) -> ResultTable:
        """Execution time, benefit and violation of both engines over their runs."""
        rows = [
            {"quantity": title, "engine": engine} | summary(runs[column] / unit, form)
            for title, column, unit, form in _QUANTITIES
            for engine, runs in self.counted.items()
        ]
        return self.table("table_5", rows, runs=len(self.counted[DEVICE_ENGINE]))

    def table_6(self) -> ResultTable:
        """The t-test and the speed-up with its spread."""
        lower, upper = np.percentile(self.speed_ups(), (25, 75))
        row = {"two-tailed t-test, p": self.t_test(), "speed-up": self.speed_up()}
        row |= {"its lower quartile": lower, "its upper quartile": upper}
        return self.table("table_6", [row], sequential=SEQUENTIAL, device=DEVICE_ENGINE)

    def table_7(self) -> ResultTable:
        """Where the host's time goes, ms: the first run of the process, and the mean of those that follow."""
        schemes, runs = {"own streams": STREAM, "the paper's scheme": PAPER}, self.data["runs"]
        of_schemes = {title: select(runs, engine=DEVICE_ENGINE, random=random) for title, random in schemes.items()}
        return self.table("table_7", host_time_rows("random numbers", of_schemes, rest=True))

    def gap_table(self) -> ResultTable:
        """How far the engines stay from the reference optimum, also with the paper's random numbers.

        It is an energy only in years that keep their limits: the others are left out of the energy that is printed.
        """
        plan, columns = self.plan, {"engine": "engine", "mean": "mean gap of a year", "year": "worst gap of a year"}
        columns |= {"where": "in", "above": f"runs with a year above {YEAR_GAP:g}", "total": "worst gap of the total"}
        columns |= {"violation": "violation of all runs"}
        feasible = plan.feasible_problems
        energy, lost = float(plan.references.benefit[feasible].sum()), chosen(plan.inflow.labels, ~feasible)
        named = f"{counted(len(lost))} ({listed(lost)})"
        penalised = f"; the limits of {named} cannot be kept: gaps there include the penalty" if lost else ""
        papers = select(self.data["runs"], counted=True, engine=DEVICE_ENGINE, random=PAPER)
        of_paper = self._gap(f"{DEVICE_ENGINE}, the paper's random numbers", papers)
        return self.table(
            "gap",
            pd.DataFrame([*self.gaps, of_paper])[list(columns)].rename(columns=columns),
            energy=energy,
            years=int(feasible.sum()),
            penalised=penalised,
        )

    def _figures(self) -> dict[str, Figure]:
        foot = style.foot_texts(self.plan, self.place + self.budget.usual("", f". {QUICK_WARNING}"))
        points = scaling.scaling_figure(self.data["scaling"], self.moves_limit, foot)
        figures = {"times": times_figure(self.counted, foot), "scaling": points}
        if self.race is not None:
            from reservoir.bench.peers import draw_peers

            height = 1.6 + 0.3 * int(self.race.frame()["total_seconds"].notna().sum())
            drawn = style.on_axes(self.race.title, draw_peers, self.race)
            figures["peers"] = style.plan_figure(self.plan, height, drawn)
        return figures


def run(reservoir: Reservoir, inflow: Inflow, *, budget: RunBudget, peers: bool = False) -> ExperimentResult:
    """Run the experiment on the first device; how a case is shared among all of its kind is measured, too.

    Options: see `reservoir.cli.bench`.
    """
    device = DeviceStudy.of(budget).device
    settings: dict[str, Any] = budget.usual({}, {"generations": QUICK_GENERATIONS})
    asked = {"solver": DEVICE_ENGINE, "seed": budget.seed, "device": str(device.index), **settings}
    plan = optimise(reservoir, inflow, horizon=YEAR, engine_only=True, progress=budget.progress, **asked)
    study = CaseStudy(budget=budget, device=device, plan=plan, settings=settings)
    runs = study._runs()
    study = replace(study, limit=scaling.measure_limit(study))
    alike = [each for each in list_devices() if (each.platform, each.kind) == (device.platform, device.kind)]
    own: dict[str, Any] = {"record": plan.problems.batches[0], "moves_limit": study.moves_limit}
    own |= {"kin": [each for each in alike if each != device]}
    points = scaling.ScalingStudy(budget=budget, device=device, **own).measured().data
    race = None
    if peers:
        from reservoir.bench.peers import time_peers

        race = time_peers(list(plan.problems.each), plan.references, budget=budget)
    return replace(study, data={"runs": runs, **points}, race=race).result()


def _row(plan: Plan, solutions: Solutions, *, counted: bool) -> Row:
    first, gap = solutions[0], np.abs(relative_gap(solutions, plan.references, plan.problems.least_gap_scale))
    worst = int(gap.argmax())
    row: Row = {"engine": first.solver, "random": first.settings.get("random", STREAM)}
    row |= {"seed": first.settings["seed"], "counted": counted} | seconds_of(first)
    for name, attribute in (("benefit_gwh", "benefit"), ("fitness_gwh", "fitness"), ("violation", "violation")):
        row[name] = sum(getattr(solutions, attribute).tolist())
    row |= {"worst_gap": float(gap[worst]), "worst_year": plan.problems.each[worst].label}
    row |= {"mean_gap": float(gap.mean()), "generations": first.generations}
    row |= {"evaluations": int(solutions.evaluations.sum())}
    return row | phase_seconds(first.host_seconds_by_phase, np.nan)


def times_figure(runs: Mapping[str, pd.DataFrame], foot: Sequence[str]) -> Figure:
    """Draw the times of the runs of each engine that count."""
    return style.sheet_figure(2.3, foot, style.on_axes("Execution time of a run", draw_times, runs))


def draw_times(ax: Axes, runs: Mapping[str, pd.DataFrame]) -> Axes:
    """Draw a row for each engine, and one for the device's share of the first."""
    sequential, device = (runs[engine] for engine in ENGINES)
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
