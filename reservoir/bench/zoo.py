"""All solvers on random reservoirs: how many years each leaves how far from dynamic programming, and on which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise, product
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.experiment import DeviceStudy, RunBudget, names_named
from reservoir.bench.figures import log_axis, panels
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import ResultTable, Row, in_order, select
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
from reservoir.solvers import SOLVERS, Solutions, runs_here
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

    def rows(self, row_of: Callable[[Self, Place], Row]) -> list[tuple[Row, Row]]:
        """Part and number of each reservoir, and its row, made where the journal has none (see `kept_rows`)."""
        places = list(product(self.parts, range(self.reservoirs)))
        named = {f"{part.name.lower()} {number}": (part, number) for part, number in places}
        rows = self.kept_rows("random reservoirs", named, row_of, self.jobs)
        about = ({"part": part.name.lower(), "number": number} for part, number in places)
        return list(zip(about, rows, strict=True))

    def case(self, place: Place) -> tuple[ZooCase, RecordProblems, Solutions]:
        """A random reservoir, its years, and their reference optima."""
        case = zoo_case(place[1], self.years, part=place[0])
        problems = record_problems(case.reservoir, case.inflow, Horizon())
        return case, problems, self.solve(problems.each, HOST_REFERENCE)

    def calls(self, number: int) -> Iterator[tuple[str, int, int]]:
        """Solver, seed, and years that it is given, the first, of each call on a reservoir beside the reference."""
        for solver in self.solvers:
            own = SOLVERS[solver]
            years = min(self.host_years, self.years) if number < self.host_reservoirs else 0
            years = self.years if own.opencl else years
            for run in range(self.budget.runs if own.seeded else 1) if years else ():
                yield solver, self.budget.seed + run, years

    def caveats(self) -> tuple[str, ...]:
        """What must be said before any result."""
        return self.notes("caveats")[: 1 + (self.jobs > 1)]


def parts_named(part: str) -> tuple[Part, ...]:
    """Parts of an option: ``tuning``, ``test`` or ``both``."""
    return tuple(Part) if part == BOTH else (Part[part.upper()],)


def usable_solvers(text: str | None) -> tuple[str, ...]:
    """Solvers that are compared with the reference: those named, or all that can run here."""
    known = [name for name in SOLVERS if name != HOST_REFERENCE]
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

    @property
    def ran(self) -> list[str]:
        """Solvers that solved a year, in order."""
        return in_order(self.data["years"]["solver"]) if len(self.data["years"]) else []

    @property
    def places(self) -> list[str]:
        """Parts that ran."""
        return in_order(self.data["reservoirs"]["part"])

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
            row |= {"worst gap": largest(able["gap"]), "its range": SOLVERS[solver].zoo_gap}
            row |= {"better than dp": -min(able["gap"].min(), 0.0) + 0.0}
            row |= {"years that violate": int(violates(able).sum()), "infeasible years": len(unable)}
            row |= {"of them worse": int(violates(unable).sum()), "refused": int((calls["refused"] != "").sum())}
            alone = solved["device_seconds"] if SOLVERS[solver].opencl else solved["seconds"]
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
    rows = study.rows(_run_reservoir)
    tables = {
        "reservoirs": pd.DataFrame([about | row["traits"] for about, row in rows]),
        "calls": pd.DataFrame([about | call for about, row in rows for call in row["calls"]]),
        "years": pd.DataFrame([about | year for about, row in rows for year in _years_of(row)]),
    }
    study, title = study.measured(tables), f"Random reservoirs, on {study.device.name}"
    shown: dict[str, Any] = {"data": tables | {"kinds": study.by_kind()}, "caveats": study.caveats(), "jobs": jobs}
    return study.result(title, _headlines, _tables, _figures, claims=zoo_claims, **shown)


def _run_reservoir(study: ZooStudy, place: Place) -> Row:
    """All solvers on one reservoir, as a row of JSON."""
    case, problems, references = study.case(place)
    columns: Row = {
        "year": list(problems.labels),
        "feasible": feasible_problems(problems, references.violation).tolist(),
        "reference_fitness": references.fitness.tolist(),
        "reference_violation": references.violation.tolist(),
    }
    (batch,) = problems.batches  # the first years are of the same model, whose programs are compiled once
    calls: list[Row] = [_call(HOST_REFERENCE, study.budget.seed, references)]
    solved: list[Row] = [{}]
    for solver, seed, years in study.calls(case.number):
        given = RecordProblems(problems.horizon, problems.inflow.span(0, years), (batch[:years],))
        call, numbers = _tried(study, solver, seed, given, references[:years])
        calls.append(call)
        solved.append(numbers)
    traits = {name: str(each) if isinstance(each, str) else each for name, each in asdict(case.traits).items()}
    return {"traits": traits, "columns": columns, "calls": calls, "found": solved}


def _tried(study: ZooStudy, solver: str, seed: int, problems: RecordProblems, references: Solutions) -> tuple[Row, Row]:
    """One call and its numbers by year; or why it was refused, for a device may be too small for a solver."""
    try:
        first = study.solve(problems.each, solver, seed=seed)
    except ReservoirError as error:
        return {"solver": solver, "seed": seed, "years": len(problems), "refused": str(error)}, {}
    plan, sources = first, [FIRST_RUN] * len(first)
    if solver not in REFERENCE_SOLVERS:  # a plan holds the best known
        method = Method(solver, seed, str(study.device.index), reference=True, engine_only=False, options={})
        plan, of_plan, _ = best_known(problems, first, references, method, silent_stage, None, Stopwatch())
        words = {solver: FIRST_RUN, second_run(solver): SECOND_RUN, references.solver: FROM_REFERENCE}
        sources = [words[each] for each in of_plan.of_problem] if of_plan else sources
    numbers: Row = {"fitness": first.fitness.tolist(), "violation": first.violation.tolist()}
    numbers |= {"plan_fitness": plan.fitness.tolist(), "plan_violation": plan.violation.tolist()}
    return _call(solver, seed, first), numbers | {"source": sources}


def _call(solver: str, seed: int, solutions: Solutions) -> Row:
    about: Row = {"solver": solver, "seed": seed, "years": len(solutions), "refused": ""}
    return about | {"seconds": solutions.wall_seconds, "device_seconds": solutions.device_seconds}


def _years_of(row: Row) -> Iterator[Row]:
    """A row for each year and call of a reservoir."""
    for call, numbers in zip(row["calls"], row["found"], strict=True):
        for place in range(len(numbers.get("fitness", ()))):
            of_year = {name: values[place] for name, values in (row["columns"] | numbers).items()}
            best = of_year["reference_fitness"]
            gaps = {of: (best - of_year[f"{of}fitness"]) / (abs(best) or 1.0) for of in ("", "plan_")}
            about = {"solver": call["solver"], "seed": call["seed"]}
            yield about | of_year | {f"{of}gap": gap for of, gap in gaps.items()}


def zoo_claims(study: ZooStudy) -> Iterator[Check]:
    """What must hold on every reservoir."""
    for row in study.by_solver().to_dict("records"):
        who, solver = f"{row['part']} part: {row['solver']}", row["solver"]
        if not row["years"]:
            continue
        if solver == STRONG:
            yield study.claim("share", row[beyond(KIND_GAP)], who=who, gap=short_gap(KIND_GAP))
            yield study.claim("worst", row["worst gap"], who=who)
        elif solver == DEVICE_REFERENCE:
            yield study.claim("reference", max(row["worst gap"], row["better than dp"]), REFERENCE_GAP, who=who)
        yield study.claim("violating", row["years that violate"], who=who)
    for part, plans in study.plans().groupby("part", sort=False):
        yield study.claim("plans", largest(plans["worst gap"]), YEAR_GAP, part=part)
        yield study.claim("plans_violating", plans["years that violate"].sum(), part=part)


def _headlines(study: ZooStudy) -> dict[str, str]:
    """A line for each solver, of the last part that ran."""
    last = study.places[-1]
    return {
        row["solver"]: f"{row[beyond(KIND_GAP)]:.2%} of {row['years']:,} years of the {last} part beyond "
        f"{short_gap(KIND_GAP)} of dp, worst {row['worst gap']:.1e}"
        for row in study.by_solver().to_dict("records")
        if row["part"] == last and row["years"]
    }


def _tables(study: ZooStudy) -> Iterator[ResultTable]:
    names = {"dp": HOST_REFERENCE, "year_gap": YEAR_GAP, "kind_gap": short_gap(KIND_GAP), "worst": WORST}
    yield study.table("by_solver", study.by_solver(), **names)
    yield study.table("plans", study.plans(), **names)
    yield study.table("by_kind", study.by_kind(), **names)
    yield study.table("worst", study.worst(), **names)
    calls = study.data["calls"]
    yield study.table("refused", calls[calls["refused"] != ""])


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


def _figures(study: ZooStudy) -> dict[str, Figure]:
    """All of them; none if no solver solved a year."""
    if not study.ran:
        return {}
    foot, kinds = study.foot("Invented reservoirs and inflows · "), study.by_kind()
    return {
        "gaps": sheet_figure(3.4, foot, lambda sheet: _gaps(sheet, study)),
        "kinds": sheet_figure(1.3 + 0.21 * len(kinds), foot, lambda sheet: _kinds(sheet, kinds, study.ran)),
    }


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
