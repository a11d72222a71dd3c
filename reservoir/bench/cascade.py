"""Joint plans of several reservoirs against known answers, and on random rivers against each other; and rules of two.

Every row of the one table of measurements is a call: a solver on an instance with a seed, what its schedule is worth in
float64, and what is known of the instance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from itertools import count
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.cascade_systems import lancang, linear_optimum, linear_system, pypsa_optimum
from reservoir.bench.experiment import DeviceStudy, RunBudget, bundled, names_named
from reservoir.bench.figures import log_axis, panels
from reservoir.bench.joint_table import STATES, JointTable
from reservoir.bench.peer_search import SearchBudget, search_year
from reservoir.bench.peers import INSTALL, PEERS
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row, select
from reservoir.bench.zoo import BOTH, parts_named, share_beyond, short_gap
from reservoir.errors import ReservoirError
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.checks import Check
from reservoir.planning.system_plan import SystemPlan, optimise_system
from reservoir.planning.system_search import AUTO
from reservoir.problems.system import system_problems
from reservoir.report.figures.style import LIMITS, POWER, RELEASE, SPILL, STORAGE, WET, sheet_figure
from reservoir.rules import Forecast
from reservoir.rules.base.system_training import SystemTraining
from reservoir.rules.evaluation import FOLDS, Sample
from reservoir.rules.families.separable import SEPARABLE, Separable, SystemRule
from reservoir.rules.system_bound import bound_of_rules
from reservoir.rules.system_evaluation import evaluate_system, fit_system
from reservoir.solvers import SOLVERS, more_effort, runs_here
from reservoir.zoo import Part, zoo_system

#: What is run.
LINEAR, LANCANG, HORIZONS, RANDOM, RULES = SETS = "linear", "lancang", "horizons", "random", "rules"
#: Random systems of each part, and in a quick trial; those of the proof of a whole part are asked for.
SYSTEMS, QUICK_SYSTEMS = 100, 2
#: The engine that the rest is held against with more effort, by so many times; and what finishes its schedules.
STRONG, TIMES, POLISH = "lshade-sequential", 4, "slp"
#: The engine that is asked for two reservoirs at most, or where an instance has settings for it.
JOINT = "dp-joint"
#: Gaps that systems are counted beyond, and what a plan may miss of the best that any engine found.
GAPS, MOST_SHORT = (1e-6, 1e-5, 1e-4, 1e-3), 1e-4
#: Bounds that references have are of grids, and not rounded outward; less violation than that is rounding.
GRID_ERROR, _SAME = 1e-5, 1e-6
#: Reservoirs of the large tree; and the year in which other libraries search.
TREE, PEER_YEAR = 20, 1976
#: Rules of the two reservoirs of a case: by the table of both storages, by one for each, and each for itself.
RULES_OF, JOINT_TABLE, ALONE = "lancang-2", "joint table", "each for itself"
#: Members whose best schedules bound what all rules bring on average.
MEMBERS = 20
#: Years, states of each reservoir in the table and blocks of years of a quick trial.
_QUICK_RULES = (4, 3, 2)
#: A set, and which of it.
Run = tuple[str, str]
Systems = tuple[System, SiteInflows]


@dataclass(frozen=True, kw_only=True, eq=False)
class CascadeStudy(DeviceStudy):
    """What is run.

    Table ``calls``: set, instance, number of reservoirs, solver, seed; ``value`` of the schedule (objective less
    violation cost), its violation, seconds; what is ``known`` of the instance and a ``bound``, where something is; and
    ``status``, why there is no value.

    Parameters
    ----------
    sets : tuple of str
        Of `SETS`.
    parts : tuple of Part
        Of the random systems.
    systems : int
        Random systems of each part.
    solvers : tuple of str
    peers : bool
        Whether other libraries take part.
    jobs : int
        Instances at a time, each in a process of its own.
    """

    paper = "cascade"
    title = "Several reservoirs, on {study.device.name}"
    sets: tuple[str, ...]
    parts: tuple[Part, ...]
    systems: int
    solvers: tuple[str, ...]
    peers: bool = False
    jobs: int = 1
    comparable: ClassVar[tuple[str, ...]] = ("sets", "systems", "solvers", "peers")

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        about = {name: getattr(self, name) for name in self.comparable}
        lists = {name: list(each) if isinstance(each, tuple) else each for name, each in about.items()}
        return super().origin() | lists | {"parts": [part.name.lower() for part in self.parts]}

    @property
    def runs(self) -> list[Run]:
        """Instances of the sets that were asked for; few in a quick trial."""
        words = bundled(self.paper)
        of_set: dict[str, list[str]] = {
            LINEAR: list(words["linear"]),
            LANCANG: [str(place) for place in range(len(words["lancang"]))],
            HORIZONS: list(words["horizons"]),
            RULES: [RULES_OF],
            RANDOM: [f"{part.name.lower()} {number}" for part in self.parts for number in range(self.systems)],
        }
        if self.budget.quick:
            of_set |= {LINEAR: of_set[LINEAR][:1], LANCANG: of_set[LANCANG][:1], HORIZONS: of_set[HORIZONS][-1:]}
        return [(name, instance) for name in self.sets for instance in of_set[name]]

    def _measure(self) -> dict[str, pd.DataFrame]:
        rows = self.kept_rows("systems", {" ".join(run): run for run in self.runs}, self.jobs)
        return {"calls": pd.DataFrame([call for row in rows for call in row["calls"]])}

    def _row(self, run: Run) -> Row:
        of_set, instance = run
        calls: Iterator[Row] = getattr(self, f"_{of_set}")(instance)
        return {"calls": [{"set": of_set} | call for call in calls]}

    def _linear(self, name: str) -> Iterator[Row]:
        data, given = bundled(self.paper)["linear"][name], linear_system(name)
        about: Row = {
            "instance": name,
            "reservoirs": len(given[0].names),
            "known": data["data"]["optimum"],
            "bound": None,
        }
        yield about | _told("linear program", lambda: linear_optimum(name))
        for solver in self.solvers:
            options = dict(data["settings"].get(solver.removesuffix("-sequential"), {}))
            for seed in self._seeds(solver, self.budget.runs):
                finish = solver.startswith("lshade")
                for row in self._finished(given, solver, seed, finish=finish, **options):
                    yield about | row
        if self.peers:
            yield about | _told("PyPSA", lambda: pypsa_optimum(name), missing=find_spec("pypsa") is None)
            yield about | _told("pywr", lambda: 0.0, missing=True) | {"status": self.notes("pywr")[0]}

    def _lancang(self, place: str) -> Iterator[Row]:
        reference = bundled(self.paper)["lancang"][int(place)]
        case, year, backwater = reference["case"], reference["year"], reference.get("backwater", False)
        given = lancang(case, year, backwater=backwater)
        about: Row = {"instance": f"{case} {year}{' backwater' * backwater}", "reservoirs": len(given[0].names)}
        about |= {"known": reference["best"], "bound": reference["bound"]}
        for solver in self.solvers:
            for seed in self._seeds(solver):
                yield about | self._planned(given, solver, seed)[1]
        if self.peers and (self.budget.quick or year == PEER_YEAR):
            budget = SearchBudget(near=1e-6, evaluations=10**9, seconds=self.budget.usual(60.0, 2.0))
            problem: Any = system_problems(*given, Horizon()).batches[0][0]
            for peer in (each for each in PEERS if not each.together):

                def searched(peer: Any = peer) -> float:
                    gap = search_year(peer, problem, reference["best"], [self.budget.seed], budget).gap
                    return float(reference["best"] * (1 - gap))

                yield about | _told(f"{peer.library} {peer.algorithm}", searched, missing=not peer.version)

    def _horizons(self, name: str) -> Iterator[Row]:
        asked = bundled(self.paper)["horizons"][name]
        given = lancang(asked["case"]) if "case" in asked else zoo_system(0, 1, part=Part.TEST, reservoirs=TREE)
        about: Row = {"instance": name, "reservoirs": len(given[0].names)}
        about |= {"known": asked.get("best"), "bound": asked.get("bound")}
        for solver in (each for each in self.solvers if each in (AUTO, POLISH)):
            yield about | self._planned(given, solver, self.budget.seed, horizon=asked["horizon"])[1]

    def _rules(self, case: str) -> Iterator[Row]:
        system, inflows = lancang(case)
        years, states, folds = _QUICK_RULES if self.budget.quick else (inflows.years, STATES, FOLDS)
        seconds, progress = dict.fromkeys((SEPARABLE, JOINT_TABLE, ALONE), 0.0), self.budget.progress
        tables = count()

        def fitted(who: str, training: SystemTraining, forecast: Forecast) -> SystemRule:
            began = time.perf_counter()
            rule = fit_system("sdp" if who == ALONE else SEPARABLE, training, forecast)
            if isinstance(rule, Separable) and who == JOINT_TABLE:

                def told(part: float, done: int = next(tables)) -> None:
                    progress(f"make {JOINT_TABLE}", done + part, 1 + folds)

                rule = JointTable.of(rule, training.system, states, told)
            seconds[who] += time.perf_counter() - began
            return rule

        plan = optimise_system(system, inflows.span(0, years), solver=POLISH, progress=progress)
        evaluation = evaluate_system(plan, folds=folds, families=seconds, progress=progress, fitter=fitted)
        for run in evaluation.runs:
            about: Row = {"instance": f"{case}, {run.sample}", "reservoirs": len(system.names), "solver": run.family}
            about |= {"seed": self.budget.seed, "value": run.charged, "violation": run.operation.violation_sum[0]}
            yield about | {"seconds": seconds[run.family], "known": run.best, "bound": None, "status": ""}
        rule, began = evaluation.rules[SEPARABLE], time.perf_counter()
        assert isinstance(rule, Separable)
        members, known = self.budget.usual(MEMBERS, 2), (evaluation.training.system, plan.inflows)
        bound = bound_of_rules(rule, *known, members, seed=self.budget.seed, progress=progress)
        made, about = float(bound.benefit.mean()), {"reservoirs": len(system.names), "solver": SEPARABLE, "status": ""}
        about |= {"seed": self.budget.seed, "value": made, "violation": 0.0, "bound": None}
        for said, (gap, _) in {"bound of all rules": bound.gap, "foresight": bound.foresight_gap}.items():
            about |= {"instance": f"{case}, {members} members, {said}", "known": made * (1.0 + gap)}
            yield about | {"seconds": time.perf_counter() - began}

    def _random(self, name: str) -> Iterator[Row]:
        part, number = name.split()
        given = zoo_system(int(number), 1, part=Part[part.upper()])
        about: Row = {"instance": name, "reservoirs": len(given[0].names), "known": None, "bound": None}
        for solver in self.solvers:
            for seed in self._seeds(solver):
                yield about | self._planned(given, solver, seed)[1]
        effort = self.budget.usual(TIMES, 1)
        settings: Any = {"evaluations": 100_000 * len(given[0].names)}
        more = more_effort(STRONG, settings, effort)
        for row in self._finished(given, STRONG, self.budget.seed, **more):
            yield about | row | {"solver": row["solver"].replace(STRONG, f"{STRONG} x{effort}")}

    def _seeds(self, solver: str, runs: int = 1) -> range:
        seeded = solver == AUTO or SOLVERS[solver].seeded
        return range(self.budget.seed, self.budget.seed + (runs if seeded else 1))

    def _finished(
        self, given: Systems, solver: str, seed: int, *, finish: bool = True, **options: Any
    ) -> Iterator[Row]:
        """A plan, and what linear programs in float64 make of it: a population works in single precision."""
        plan, row = self._planned(given, solver, seed, **options)
        yield row
        if plan is not None and finish:
            row = self._planned(given, POLISH, seed, initial=plan.operation)[1]
            yield row | {"solver": f"{solver}, then {POLISH}"}

    def _planned(
        self, given: Systems, solver: str, seed: int, horizon: str = "year", **options: Any
    ) -> tuple[SystemPlan | None, Row]:
        """A plan, or why there is none; and what it comes to, in all its years."""
        if self.budget.quick and solver != AUTO and "evaluations" in options:
            options["evaluations"] = min(options["evaluations"], 20_000)
        began, row = time.perf_counter(), {"solver": solver, "seed": seed, "value": None, "violation": None}
        if solver.startswith(JOINT) and len(given[0].names) > 2 and not options:
            return None, row | {"seconds": 0.0, "status": self.notes("joint")[0]}
        try:
            plan = optimise_system(
                *given, solver=solver, horizon=horizon, seed=seed, device=str(self.device.index), **options
            )
        except ReservoirError as refusal:
            return None, row | {"seconds": time.perf_counter() - began, "status": str(refusal)}
        row |= {"value": float(plan.solutions.fitness.sum()), "violation": float(plan.solutions.violation.max())}
        return plan, row | {"seconds": time.perf_counter() - began, "status": ""}

    @cached_property
    def calls(self) -> pd.DataFrame:
        """The calls that have a value, with what each falls short of the best that is known, as a part of it."""
        calls = self.data["calls"]
        calls = calls[calls["status"] == ""].astype({"value": float, "known": float, "bound": float})
        each = calls.groupby(["set", "instance"], sort=False)
        violates = (calls["violation"] > _SAME) & (each["violation"].transform("min") <= _SAME)
        able = calls["value"].where(~violates)
        known = calls["known"].fillna(able.groupby([calls["set"], calls["instance"]]).transform("max"))
        size = known.abs().where(known != 0, 1.0)
        return calls.assign(
            gap=(known - calls["value"]) / size,
            above=(calls["value"] - calls["bound"]) / size,
            violates=violates,
        )

    def by_solver(self, of_set: str, **chosen: Any) -> pd.DataFrame:
        """A row for each solver, and where seeds or instances matter for each instance."""
        calls = select(self.calls, set=of_set, **chosen)
        keys = ["solver"] if of_set == RANDOM else ["instance", "solver"]
        rows = []
        for key, some in calls.groupby(keys, sort=False):
            row: Row = dict(zip(keys, key, strict=True)) | {"calls": len(some), "best value": some["value"].max()}
            row |= {"gap, best": some["gap"].min(), "gap, worst": some["gap"].max()}
            if of_set == RANDOM:
                del row["best value"]
                row |= {f"beyond {short_gap(gap)}": share_beyond(some, gap) for gap in GAPS}
            rows.append(row | {"violate more": int(some["violates"].sum()), "seconds": some["seconds"].median()})
        return pd.DataFrame(rows)

    def checks(self) -> Iterator[Check]:
        """What must hold whatever the effort: no schedule is above a bound."""
        bounded = self.calls[self.calls["bound"].notna()]
        if len(bounded):
            yield self.claim("above", bounded["above"].max(), GRID_ERROR, schedules=len(bounded))

    @property
    def points(self) -> Frame:
        """Points of perfect foresight that rules of each kind lose in years that they have not seen."""
        of_rules = self.calls[self.calls["instance"] == f"{RULES_OF}, {Sample.HELD_OUT}"]
        return 100 * of_rules.set_index("solver")["gap"]

    def claims(self) -> Iterator[Check]:
        """What plans by ``auto``, engines on linear instances, and separable water values are held to."""
        if len(points := self.points):
            yield self.claim("rules", points[SEPARABLE] - points[JOINT_TABLE])
        words, linear = bundled(self.paper), select(self.calls, set=LINEAR)
        for name, data in words["linear"].items():
            for solver, few in linear[linear["instance"] == name].groupby("solver", sort=False):
                if solver.startswith(JOINT) or (solver.startswith("lshade") and solver.endswith(POLISH)):
                    within = float((few["gap"].abs() <= data["within"]).mean())
                    yield self.claim("linear", within, who=solver, name=name, within=data["within"])
                if solver.startswith(JOINT) and self.small_cpu:
                    yield self.claim("seconds", few["seconds"].median(), data["seconds"], instance=name, who=solver)
        own = select(self.calls, solver=AUTO)
        for row in select(own, set=LANCANG).to_dict("records"):
            closed = row["bound"] / row["known"] - 1 < _SAME
            yield self.claim("lancang", row["gap"], 1e-6 if closed else 1e-5, instance=row["instance"])
        for row in select(own, set=HORIZONS).to_dict("records"):
            asked = words["horizons"][row["instance"]]
            if "best" in asked:
                yield self.claim("horizon", row["gap"], instance=row["instance"])
            limits = asked["seconds"][:1] if self.small_cpu else asked["seconds"][1:] if self.large_gpu else []
            for limit in limits:
                yield self.claim("seconds", row["seconds"], limit, instance=row["instance"], who=AUTO)
        for part in self.parts:
            random = select(own, set=RANDOM)
            random = random[random["instance"].str.startswith(part.name.lower())]
            if len(random):
                yield self.claim("random", random["gap"].max(), MOST_SHORT, part=part.name.lower(), count=len(random))
                yield self.claim("violating", random["violates"].sum(), part=part.name.lower())

    def _headlines(self) -> Mapping[str, str]:
        own = select(self.calls, solver=AUTO if AUTO in self.solvers else self.solvers[0])
        lines = dict[str, str]()
        for of_set, some in own.groupby("set", sort=False):
            who, worst = some["solver"].iloc[0], some["gap"].max()
            lines[str(of_set)] = f"{len(some)} calls of {who}, at most {worst:.1e} below the best known"
        if len(points := self.points):
            lines[RULES] = ", ".join(f"{who} {lost:.2f} %" for who, lost in points.items()) + " below perfect foresight"
        return lines

    def _tables(self) -> Iterator[ResultTable]:
        for of_set in self.sets:
            rows = select(self.calls, set=RULES) if of_set == RULES else self.by_solver(of_set)
            yield self.table(of_set, rows, times=TIMES, strong=STRONG)
        yield self.table("refused", _refused(self.data["calls"]))

    def _figures(self) -> dict[str, Figure]:
        foot = self.foot("Invented reservoirs and inflows · ")
        shown = [name for name in (LINEAR, LANCANG, RANDOM) if len(select(self.calls, set=name))]
        if not shown:
            return {}
        return {"gaps": sheet_figure(3.4, foot, lambda sheet: _gaps(sheet, self.calls, shown))}


def _refused(calls: pd.DataFrame) -> pd.DataFrame:
    """Calls that have no value, by what they say: of one instance, or of how many."""
    keys, rows = ["set", "solver", "status"], list[Row]()
    for key, some in calls[calls["status"] != ""].groupby(keys, sort=False):
        named = some["instance"].iloc[0] if len(some) == 1 else f"{len(some)} instances"
        rows.append(dict(zip(keys, key, strict=True)) | {"instance": named})
    return pd.DataFrame(rows, columns=["set", "instance", "solver", "status"])


def _told(solver: str, value: Callable[[], float], *, missing: bool = False) -> Row:
    """What another program's call comes to, and how long it takes; or that it is not installed, or what it says."""
    began, row = time.perf_counter(), {"solver": solver, "seed": 0, "value": None, "violation": 0.0, "status": ""}
    if missing:
        row["status"] = f"not installed: {INSTALL}"
    else:
        try:
            row["value"] = value()
        except Exception as error:  # the rest goes on, whatever a library does
            row["status"] = f"failed: {type(error).__name__}: {error}"[:200]
    return row | {"seconds": time.perf_counter() - began}


def run(
    *,
    budget: RunBudget,
    sets: str | None = None,
    part: str = BOTH,
    solvers: str | None = None,
    systems: int | None = None,
    peers: bool = False,
    jobs: int = 1,
) -> ExperimentResult:
    """Run the experiment; instances that the journal has are not solved again. Options: see `reservoir.cli.bench`."""
    able = [AUTO, *(name for name, solver in SOLVERS.items() if solver.systems)]
    if solvers is None:  # those that are made for systems
        made = [name for name in able[1:] if SOLVERS[name].coded or not SOLVERS[name].alone]
        able = [AUTO, *(name for name in made if runs_here(name))]
    study = CascadeStudy.of(
        budget,
        sets=names_named(sets, SETS, "there is no such set of instances", "--sets"),
        parts=parts_named(part),
        systems=systems or budget.usual(SYSTEMS, QUICK_SYSTEMS),
        solvers=names_named(solvers, able, "no solver of that name takes several reservoirs", "--solvers"),
        peers=peers,
        jobs=jobs,
    )
    return study.measured().result(jobs=jobs)


_LINES = "-", "--", ":", "-."
_COLOURS = (STORAGE, RELEASE, POWER, SPILL, WET, LIMITS)
_LEAST_GAP, _LARGEST_GAP = 1e-12, 1.0


def _gaps(sheet: SubFigure, calls: pd.DataFrame, shown: list[str]) -> Axes:
    """A panel for each set: the share of calls of each solver that fall short by more."""
    axes = panels(sheet, len(shown), len(shown), "Calls (%)", sharex=True, sharey=True)
    names = list(calls[calls["set"].isin(shown)]["solver"].unique())  # rules are in a table alone
    for ax, of_set in zip(axes, shown, strict=True):
        for place, name in enumerate(names):
            gaps = np.sort(select(calls, set=of_set, solver=name)["gap"].clip(_LEAST_GAP, _LARGEST_GAP).to_numpy(float))
            larger = 100 * (1.0 - np.arange(1, len(gaps) + 1) / max(len(gaps), 1))
            ends = np.concatenate([[_LEAST_GAP], gaps]), np.concatenate([[100.0], larger])
            style: Row = {"color": _COLOURS[place % len(_COLOURS)], "ls": _LINES[place // len(_COLOURS) % len(_LINES)]}
            ax.step(*ends, where="post", lw=1.2, label=name, **style)
        log_axis(ax, "x", subs=(1.0,), ticks=7, form=short_gap)
        ax.set_xlim(_LEAST_GAP, _LARGEST_GAP)
        ax.set(xlabel="Gap to the best known", title=of_set.capitalize())
    return axes[0]
