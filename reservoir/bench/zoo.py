"""All solvers on random reservoirs: how many years each leaves how far from dynamic programming, and on which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise, product
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.experiment import DeviceStudy, RunBudget, names_named
from reservoir.bench.figures import log_axis, panels
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import ResultTable, Row, select
from reservoir.errors import ReservoirError
from reservoir.hydro.objectives import Horizon
from reservoir.planning.checks import YEAR_GAP, Check, largest
from reservoir.planning.columns import second_run
from reservoir.planning.plan import silent_stage
from reservoir.planning.planned_record import feasible_problems
from reservoir.planning.search import Method, best_known
from reservoir.planning.solving import DEVICE_REFERENCE, HOST_REFERENCE, REFERENCE_SOLVERS
from reservoir.planning.stopwatch import Stopwatch
from reservoir.planning.validation import REFERENCE_GAP
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.report.figures import style
from reservoir.report.figures.style import LIMITS, sheet_figure
from reservoir.solvers import RESERVOIR_SOLVERS, Solutions, runs_here
from reservoir.zoo import Part, ZooCase, zoo_case

#: Reservoirs and years of each part; and those of solvers on the host, which take many times as long.
RESERVOIRS, YEARS, QUICK_RESERVOIRS, QUICK_YEARS = 200, 30, 20, 5
HOST_RESERVOIRS, HOST_YEARS, QUICK_HOST_RESERVOIRS, QUICK_HOST_YEARS = 20, 5, 4, 1
#: Where the schedule of a year in a plan comes from: the solver's first run, its second with more effort, or dp.
FIRST_RUN, SECOND_RUN, FROM_REFERENCE = "first run", "second run", "reference"
#: Gaps that years are counted beyond, and the one by which kinds of reservoirs are compared.
GAPS, KIND_GAP = (1e-5, 1e-4, 1e-3, 1e-2), 1e-3
#: The solver that must hold on every reservoir.
STRONG = "lshade"
#: Reservoirs that are listed for each solver, the worst.
WORST = 5
BOTH = "both"
#: A reservoir: the part, and its number there.
Place = tuple[Part, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class ReservoirStudy(DeviceStudy):
    """An experiment with a row of a journal for each random reservoir.

    Parameters
    ----------
    parts : tuple of Part
    solvers : tuple of str
        Without the reference.
    reservoirs, years : int
        Reservoirs of each part, and years of each record.
    host_reservoirs, host_years : int
        Of them, the first, for solvers that run on the host.
    jobs : int
        Reservoirs at a time, each in a process of its own.
    """

    parts: tuple[Part, ...]
    solvers: tuple[str, ...]
    reservoirs: int
    years: int
    host_reservoirs: int
    host_years: int
    jobs: int = 1
    #: Sizes without which runs are not comparable.
    comparable: ClassVar[tuple[str, ...]] = ("reservoirs", "years", "host_reservoirs", "host_years")

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        about = {"parts": [part.name.lower() for part in self.parts], "solvers": list(self.solvers)}
        return super().origin() | about | {name: getattr(self, name) for name in self.comparable}

    @property
    def named_runs(self) -> dict[str, Any]:
        """What each row is of, by its part and number."""
        places = product(self.parts, range(self.reservoirs))
        return {f"{part.name.lower()} {number}": (part, number) for part, number in places}

    def _measure(self) -> dict[str, pd.DataFrame]:
        """Tables of the rows that each reservoir has of them, with its part and number."""
        named = self.named_runs
        tables: dict[str, list[Row]] = {}
        rows = self.kept_rows("random reservoirs", named, self.jobs)
        for name, row in zip(named, rows, strict=True):
            part, number = name.rsplit(" ", 1)
            for table, of_reservoir in row.items():
                about = {"part": part, "number": int(number)}
                tables.setdefault(table, []).extend(about | each for each in of_reservoir)
        return {table: pd.DataFrame(every) for table, every in tables.items()}

    def case(self, place: Place) -> tuple[ZooCase, RecordProblems, Solutions]:
        """A random reservoir, its years, and their reference optima."""
        case = zoo_case(place[1], self.years, part=place[0])
        problems = record_problems(case.reservoir, case.inflow, Horizon())
        return case, problems, self.solve(problems.each, HOST_REFERENCE)

    def calls(
        self, number: int, problems: RecordProblems
    ) -> Iterator[tuple[str, int, int, Solutions | ReservoirError]]:
        """Calls on a reservoir beside the reference: solver, seed, how many of the first years it is given, solutions.

        Or why it refused them, for a device may be too small for a solver.
        """
        for solver in self.solvers:
            own = RESERVOIR_SOLVERS[solver]
            years = min(self.host_years, self.years) if number < self.host_reservoirs else 0
            years = self.years if own.opencl else years
            for seed in range(self.budget.seed, self.budget.seed + (self.budget.runs if own.seeded else 1)):
                if years:
                    try:
                        yield solver, seed, years, self.solve(problems.each[:years], solver, seed=seed)
                    except ReservoirError as refusal:
                        yield solver, seed, years, refusal

    def caveats(self) -> tuple[str, ...]:
        """What must be said before any result."""
        return self.notes("caveats")[: 1 + (self.jobs > 1)]


def parts_named(part: str) -> tuple[Part, ...]:
    """Parts of an option: ``tuning``, ``test`` or ``both``."""
    return tuple(Part) if part == BOTH else (Part[part.upper()],)


def usable_solvers(text: str | None) -> tuple[str, ...]:
    """Solvers that are compared with the reference: those named, or all that can run here."""
    known = [name for name in RESERVOIR_SOLVERS if name != HOST_REFERENCE]
    if text is not None:
        return names_named(text, known, "there is no such solver", "--solvers")
    return tuple(name for name in known if runs_here(name))


@dataclass(frozen=True, kw_only=True, eq=False)
class ZooStudy(ReservoirStudy):
    """All solvers on random reservoirs.

    Tables: ``reservoirs``: part, number, and traits; ``calls`` of a solver: seconds, and why it refused the reservoir;
    and ``years`` of each solver and seed: gap to the reference and violation, the same of a plan by this solver, where
    its schedule comes from, and the reference's numbers.
    """

    paper = "zoo"
    title = "Random reservoirs, on {study.device.name}"

    def written(self) -> dict[str, pd.DataFrame]:
        """What was measured, and the shares of the kinds."""
        return {**self.data, "kinds": self.by_kind()}

    def _row(self, run: Place) -> Row:
        case, problems, references = self.case(run)
        (batch,) = problems.batches  # the first years are of the same model, whose programs are compiled once
        calls: list[Row] = [_call(HOST_REFERENCE, self.budget.seed, references)]
        years: list[Any] = []
        columns: Row = {"year": list(problems.labels), "feasible": feasible_problems(problems, references.violation)}
        columns |= {"reference_fitness": references.fitness, "reference_violation": references.violation}
        for solver, seed, count, first in self.calls(case.number, problems):
            if isinstance(first, ReservoirError):
                calls.append({"solver": solver, "seed": seed, "years": count, "refused": str(first)})
                continue
            given = RecordProblems(problems.horizon, problems.inflow.span(0, count), (batch[:count],))
            plan, sources = self._planned(solver, seed, given, first, references[:count])
            rows = pd.DataFrame(
                {"solver": solver, "seed": seed}
                | {name: values[:count] for name, values in columns.items()}
                | {"fitness": first.fitness, "violation": first.violation}
                | {"plan_fitness": plan.fitness, "plan_violation": plan.violation, "source": sources}
            )
            best = rows["reference_fitness"]
            for of in ("", "plan_"):
                rows[f"{of}gap"] = (best - rows[f"{of}fitness"]) / best.abs().replace(0.0, 1.0)
            calls.append(_call(solver, seed, first))
            years += rows.to_dict("records")
        traits = {name: str(each) if isinstance(each, str) else each for name, each in asdict(case.traits).items()}
        return {"reservoirs": [traits], "calls": calls, "years": years}

    def _planned(
        self, solver: str, seed: int, problems: RecordProblems, first: Solutions, references: Solutions
    ) -> tuple[Solutions, list[str]]:
        """What a plan by the solver holds, and where each year is from: a plan holds the best known."""
        if solver in REFERENCE_SOLVERS:
            return first, [FIRST_RUN] * len(first)
        method = Method(solver, seed, str(self.device.index), reference=True, engine_only=False, options={})
        plan, of_plan, _ = best_known(problems, first, references, method, silent_stage, None, Stopwatch())
        words = {solver: FIRST_RUN, second_run(solver): SECOND_RUN, references.solver: FROM_REFERENCE}
        return plan, [words[each] for each in of_plan.of_problem] if of_plan else [FIRST_RUN] * len(first)

    @property
    def ran(self) -> list[str]:
        """Solvers that solved a year, in order."""
        return list(self.data["years"]["solver"].unique()) if len(self.data["years"]) else []

    @property
    def places(self) -> list[str]:
        """Parts that ran."""
        return list(self.data["reservoirs"]["part"].unique())

    def of_years(self, *, feasible: bool, **chosen: Any) -> pd.DataFrame:
        """Years that can keep their limits, or cannot, by part or solver."""
        return select(self.data["years"], feasible=feasible, **chosen)

    def by_solver(self) -> pd.DataFrame:
        """A row for each solver and part: shares, gaps, violations, seconds."""
        rows = []
        for solver, part in product(self.ran, self.places):
            able, unable = (self.of_years(feasible=each, solver=solver, part=part) for each in (True, False))
            calls = select(self.data["calls"], solver=solver, part=part)
            solved = select(calls, refused="")
            row: Row = {"solver": solver, "part": part, "reservoirs": solved["number"].nunique(), "years": len(able)}
            row |= {beyond(gap): share_beyond(able, gap) for gap in GAPS}
            row |= {"worst gap": largest(able["gap"]), "its range": RESERVOIR_SOLVERS[solver].zoo_gap}
            row |= {"better than dp": -min(able["gap"].min(), 0.0) + 0.0}
            row |= {"years that violate": int(violates(able).sum()), "infeasible years": len(unable)}
            row |= {"of them worse": int(violates(unable).sum()), "refused": int((calls["refused"] != "").sum())}
            alone = solved["device_seconds"] if RESERVOIR_SOLVERS[solver].opencl else solved["seconds"]
            row |= {"seconds a year": (alone / solved["years"]).median()}
            rows.append(row | {"seconds to compile": (solved["seconds"] - solved["device_seconds"]).median()})
        return pd.DataFrame(rows)

    def plans(self) -> pd.DataFrame:
        """A row for each solver and part: what plans by the solver hold, and where it comes from."""
        rows = []
        for solver, part in product(self.ran, self.places):
            years = select(self.data["years"], solver=solver, part=part)
            row: Row = {"solver": solver, "part": part, "years": len(years)}
            row |= {name: (years["source"] == name).mean() for name in (FIRST_RUN, SECOND_RUN, FROM_REFERENCE)}
            row |= {"worst gap": largest(select(years, feasible=True)["plan_gap"])}
            rows.append(row | {"years that violate": int(violates(years, "plan_").sum())})
        return pd.DataFrame(rows)

    def by_kind(self) -> pd.DataFrame:
        """Share of years beyond `KIND_GAP`: a row for each class of reservoirs, a column for each solver."""
        reservoirs, rows = self.data["reservoirs"], []
        years = self.of_years(feasible=True).merge(reservoirs, on=["part", "number"])
        classes = {(kind, name): chosen for kind, name, chosen in classes_of(years)}
        for kind, name, chosen in classes_of(reservoirs):
            mine = years[classes[kind, name]] if (kind, name) in classes else years[:0]
            shares = {solver: share_beyond(select(mine, solver=solver), KIND_GAP) for solver in self.ran}
            rows.append({"kind": kind, "class": name, "reservoirs": int(chosen.sum())} | shares)
        return pd.DataFrame(rows)

    def worst(self) -> pd.DataFrame:
        """The reservoirs on which each solver is worst, with their traits; none on which it is within `YEAR_GAP`."""
        gaps = self.of_years(feasible=True).groupby(["solver", "part", "number"], sort=False)["gap"]
        share = gaps.agg(lambda gap: float((gap > KIND_GAP).mean()))
        worst = pd.DataFrame({"beyond": share, "worst gap": gaps.max()}).reset_index()
        worst = worst[worst["worst gap"] > YEAR_GAP].sort_values("worst gap", ascending=False, kind="stable")
        listed = [select(worst, solver=solver).head(WORST) for solver in self.ran]
        worst = pd.concat(listed) if listed else worst
        return worst.merge(self.data["reservoirs"], on=["part", "number"], how="left")

    def claims(self) -> Iterator[Check]:
        """What must hold on every reservoir."""
        for row in self.by_solver().to_dict("records"):
            who, solver = f"{row['part']} part: {row['solver']}", row["solver"]
            if not row["years"]:
                continue
            if solver == STRONG:
                yield self.claim("share", row[beyond(KIND_GAP)], who=who, gap=short_gap(KIND_GAP))
                yield self.claim("worst", row["worst gap"], who=who)
            elif solver == DEVICE_REFERENCE:
                yield self.claim("reference", max(row["worst gap"], row["better than dp"]), REFERENCE_GAP, who=who)
            yield self.claim("violating", row["years that violate"], who=who)
        for part, plans in self.plans().groupby("part", sort=False):
            yield self.claim("plans", largest(plans["worst gap"]), YEAR_GAP, part=part)
            yield self.claim("plans_violating", plans["years that violate"].sum(), part=part)

    def _headlines(self) -> dict[str, str]:
        """A line for each solver, of the last part that ran."""
        last = self.places[-1]
        return {
            row["solver"]: f"{row[beyond(KIND_GAP)]:.2%} of {row['years']:,} years of the {last} part beyond "
            f"{short_gap(KIND_GAP)} of dp, worst {row['worst gap']:.1e}"
            for row in self.by_solver().to_dict("records")
            if row["part"] == last and row["years"]
        }

    def _tables(self) -> Iterator[ResultTable]:
        names = {"dp": HOST_REFERENCE, "year_gap": YEAR_GAP, "kind_gap": short_gap(KIND_GAP), "worst": WORST}
        yield self.table("by_solver", self.by_solver(), **names)
        yield self.table("plans", self.plans(), **names)
        yield self.table("by_kind", self.by_kind(), **names)
        yield self.table("worst", self.worst(), **names)
        calls = self.data["calls"]
        yield self.table("refused", calls[calls["refused"] != ""])

    def _figures(self) -> dict[str, Figure]:
        """All of them; none if no solver solved a year."""
        if not self.ran:
            return {}
        foot, kinds = self.foot("Invented reservoirs and inflows · "), self.by_kind()
        return {
            "gaps": sheet_figure(3.4, foot, lambda sheet: _gaps(sheet, self)),
            "kinds": sheet_figure(1.3 + 0.21 * len(kinds), foot, lambda sheet: _kinds(sheet, kinds, self.ran)),
        }


#: Traits whose values are classes; those that a reservoir has or not; and those that are numbers, with the largest
#: values of their classes and the format of these.
_NAMED = {"regime": "inflow", "year_end": "end of the year", "start": "start of the year"}
_HAD = {
    "flood_share": "flood limit",
    "evaporation_mm": "evaporation",
    "persistence": "persistence of wet and dry years",
}
_CLASSES: dict[str, tuple[str, tuple[float, ...], str]] = {
    "storage_ratio": ("active storage, mean annual inflows", (0.1, 0.5, 1.5), "g"),
    "head_share": ("share of the head that depends on storage", (0.1, 0.3), ".0%"),
    "capacity_ratio": ("hydraulic capacity, mean inflows", (1.5, 3.0), "g"),
    "least_release_share": ("least release, parts of the mean inflow", (0.1, 0.3), ".0%"),
}


def classes_of(reservoirs: pd.DataFrame) -> Iterator[tuple[str, str, pd.Series[bool]]]:
    """Each kind, each of its classes, and which reservoirs belong to it; classes without reservoirs are left out.

    Parameters
    ----------
    reservoirs : DataFrame
        A row for each reservoir, with its traits.
    """
    for trait, kind in _NAMED.items():
        for value in sorted(reservoirs[trait].unique()):
            yield kind, value, reservoirs[trait] == value
    for trait, (kind, bounds, form) in _CLASSES.items():
        place = np.searchsorted(bounds, reservoirs[trait].to_numpy(float))
        ends = [format(bound, form) for bound in bounds]
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        for number, name in enumerate([f"≤ {ends[0]}", *between, f"> {ends[-1]}"]):
            if (place == number).any():
                yield kind, name, pd.Series(place == number, reservoirs.index)
    for trait, kind in _HAD.items():
        for has, name in ((False, "no"), (True, "yes")):
            if ((reservoirs[trait] > 0) == has).any():
                yield kind, name, (reservoirs[trait] > 0) == has


def short_gap(gap: float) -> str:
    """A gap in little room: ``1e-3``."""
    return f"{gap:g}" if gap == 1 else f"{gap:.0e}".replace("e-0", "e-")


def share_beyond(years: pd.DataFrame, gap: float) -> float:
    """Share of years that fall short of the reference by more; NaN of none."""
    return float((~(years["gap"] <= gap)).mean()) if len(years) else np.nan


def beyond(gap: float) -> str:
    """Name of a column of such shares."""
    return f"beyond {short_gap(gap)}"


def violates(years: pd.DataFrame, of: str = "") -> pd.Series[bool]:
    """Years that violate limits more than the reference does; of ``plan_``, those of plans."""
    return ~(years[f"{of}violation"] <= (1 + YEAR_GAP) * years["reference_violation"])


def run(
    *,
    budget: RunBudget,
    part: str = BOTH,
    solvers: str | None = None,
    reservoirs: int | None = None,
    years: int | None = None,
    host_reservoirs: int | None = None,
    host_years: int | None = None,
    jobs: int = 1,
) -> ExperimentResult:
    """Run the experiment; reservoirs that the journal has are not solved again. Options: see `reservoir.cli.bench`."""
    study = ZooStudy.of(
        budget,
        parts=parts_named(part),
        solvers=usable_solvers(solvers),
        reservoirs=reservoirs or budget.usual(RESERVOIRS, QUICK_RESERVOIRS),
        years=years or budget.usual(YEARS, QUICK_YEARS),
        host_reservoirs=host_reservoirs or budget.usual(HOST_RESERVOIRS, QUICK_HOST_RESERVOIRS),
        host_years=host_years or budget.usual(HOST_YEARS, QUICK_HOST_YEARS),
        jobs=jobs,
    )
    return study.measured().result(jobs=jobs)


def _call(solver: str, seed: int, solutions: Solutions) -> Row:
    about: Row = {"solver": solver, "seed": seed, "years": len(solutions), "refused": ""}
    return about | {"seconds": solutions.wall_seconds, "device_seconds": solutions.device_seconds}


#: Colours of solvers; those on the host have that of the device's and are dotted.
_COLOURS = {
    "lshade": style.STORAGE,
    "clpso": style.RELEASE,
    "dp-opencl": LIMITS,
    "ann-pso": style.POWER,
    "island-ga": style.SPILL,
    "ring-pso": style.DRY,
    "dsmga2": style.WET,
}
_HOST_NAMES = ("-sequential", "-parallel")
_LEAST_GAP, _LARGEST_GAP, _LEAST_SHARE = 1e-7, 1.0, 1e-4
_CELL = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
#: Shares above are as dark as the darkest, and below the number is black.
_DARKEST, _BLACK_BELOW = 0.5, 0.3


def _gaps(sheet: SubFigure, study: ZooStudy) -> Axes:
    """A panel for each part, and a line for each solver."""
    axes = panels(sheet, len(study.places), len(study.places), "Years (%)", sharex=True, sharey=True)
    for ax, part in zip(axes, study.places, strict=True):
        for solver in study.ran:
            _draw_gaps(ax, study.of_years(feasible=True, solver=solver, part=part)["gap"].to_numpy(float), solver)
        ax.axvline(KIND_GAP, color=LIMITS, lw=0.8)
        log_axis(ax, "x", subs=(1.0,), form=short_gap)
        log_axis(ax, "y", subs=(1.0,), form=lambda share: f"{100 * share:g}")
        ax.set_xlim(_LEAST_GAP, _LARGEST_GAP)
        ax.set_ylim(_LEAST_SHARE, 1.0)
        ax.set(xlabel="Gap to dp", title=f"Years beyond a gap, {part} part")
    return axes[0]


def _draw_gaps(ax: Axes, gaps: Any, solver: str) -> None:
    """Share of years with a larger gap, over the gap."""
    if not len(gaps):
        return
    ordered = np.sort(gaps.clip(_LEAST_GAP, _LARGEST_GAP))
    larger = 1.0 - np.arange(1, len(ordered) + 1) / len(ordered)
    base = next((solver.removesuffix(each) for each in _HOST_NAMES if solver.endswith(each)), solver)
    line: Any = (0, (1, 1.2)) if base != solver else "-"
    ends = np.concatenate([[_LEAST_GAP], ordered]), np.concatenate([[1.0], larger])
    ax.step(*ends, where="post", color=_COLOURS.get(base, style.NORMAL), ls=line, lw=1.3, label=solver)


def _kinds(sheet: SubFigure, frame: pd.DataFrame, solvers: list[str]) -> None:
    """A cell for each class of reservoirs and solver; a class's name is behind that of its kind at the first of it."""
    shares, ax = frame[solvers].to_numpy(float), sheet.add_subplot()
    row, column = np.nonzero(~np.isnan(shares))
    cells: Any = _CELL + np.stack([column, row], axis=1)[:, None]
    drawn = PolyCollection(cells, array=shares[row, column], cmap="Blues", edgecolor="white", lw=0.5)
    drawn.set_clim(0, _DARKEST)
    ax.add_collection(drawn)
    for place, name in zip(row, column, strict=True):
        share = shares[place, name]
        centred: Row = {"ha": "center", "va": "center", "color": "black" if share < _BLACK_BELOW else "white"}
        ax.text(name + 0.5, place + 0.5, f"{100 * share:.3g}", fontsize=6.5, **centred)
    first = ~frame["kind"].duplicated()
    names = frame["class"].mask(first, frame["kind"] + ":  " + frame["class"])
    ax.set_xticks(np.arange(len(solvers)) + 0.5, solvers, rotation=35, ha="right", fontsize=7)
    ax.set_yticks(np.arange(len(frame)) + 0.5, names.to_list(), fontsize=6.5)
    ax.set_xlim(0, len(solvers))
    ax.set_ylim(len(frame), 0)
    ax.grid(visible=False)
    ax.set_facecolor(style.OUTSIDE)
    ax.set_title(f"Years beyond {short_gap(KIND_GAP)} of dp, in % of the years of a kind")
