"""The joint plan of several reservoirs: searched in stages, operated in float64, with tables a reservoir and a sum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.hydro.system_operation import SystemOperation
from reservoir.hydro.unit_system import SI, UnitSystem, UnitText
from reservoir.planning.firm_power import firm_power_of_problems
from reservoir.planning.infeasible_years import infeasible_notes, infeasible_problems
from reservoir.planning.notes import commitment_notes
from reservoir.planning.operated_record import FloatArray
from reservoir.planning.operated_system import OperatedSystem
from reservoir.planning.parts import PARTS_STAGE, PartStore, search_in_parts
from reservoir.planning.planned_record import Proofs
from reservoir.planning.search import Method
from reservoir.planning.solving import NotedStop, StageProgress, require_settings, silent_stage
from reservoir.planning.start import PlanStart, plan_start
from reservoir.planning.stopwatch import Stopwatch
from reservoir.planning.system_search import AUTO, RUN, search_system, solver_here, stages_here
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import system_problems
from reservoir.solvers import SOLVERS, Solutions, Stop, settings_of
from reservoir.solvers.engine import callers_own
from reservoir.solvers.slp.misses import LeastMisses


@dataclass(frozen=True)
class SystemProofs(Proofs):
    """Proven bounds of a joint plan's problems.

    Parameters
    ----------
    prices : tuple of ndarray, shape (3, reservoirs, steps)
        Of each problem: of a m3/s that links bring to each reservoir, in the unit of the objective; and the least and
        the most that it may be at the schedule (`reservoir.certificate.price_ranges`).
    """

    prices: tuple[FloatArray, ...] = ()


@dataclass(frozen=True, eq=False)
class SystemPlan(OperatedSystem):
    """The best joint operation found of every year, recomputed in float64.

    Parameters
    ----------
    system : System
        With what is under way at the start of every year.
    inflows : SiteInflows
        Local inflow of each reservoir.
    problems : RecordProblems
        A year each, or a longer horizon.
    operation : SystemOperation
        A row for each year of the record.
    solutions : Solutions
        The schedule of each problem that the plan holds.
    sources : tuple of str
        The solver that each problem's schedule is of.
    notes : tuple of str
        What the user should know about this plan.
    seconds : mapping of str to float
        Wall time of each stage.
    stopped : str
        Where a callback ended the run, in words; empty if it did not.
    starts : mapping of str to PlanStart
        Month and storage with which each reservoir's scenarios begin; empty for whole water years.
    units : UnitSystem
        In which files, figures and sentences show results.
    infeasible : mapping of str to LeastMisses
        Problems of which it is proved that no schedule keeps their limits, by label.
    proofs : SystemProofs or None
        What is proved of the problems (`reservoir.planning.system_proof`).
    """

    system: System
    inflows: SiteInflows
    problems: RecordProblems
    operation: SystemOperation
    solutions: Solutions
    sources: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    stopped: str = ""
    starts: Mapping[str, PlanStart] = field(default_factory=dict)
    units: UnitSystem = SI
    infeasible: Mapping[str, LeastMisses] = field(default_factory=dict)
    proofs: SystemProofs | None = None
    year_table = "system_years"
    #: What is not kept of a firm power is not known.
    firm_bounds: ClassVar[None] = None

    def __repr__(self) -> str:
        energy = float(self.kept_energy_gwh.sum())
        return f"<SystemPlan of {self.system.name}: {energy:,.6g} GWh in {self.inflow.years} {self.year_word}s>"

    @property
    def horizon(self) -> Horizon:
        """What was planned as one problem."""
        return self.problems.horizon

    @cached_property
    def firm_power_mw(self) -> FloatArray:
        """The power that all steps of each problem give, or the share the objective asks for, shape (problems,)."""
        return firm_power_of_problems(self.problems, self.operation)

    @property
    def year_word(self) -> str:
        """What a row of the plan is: a year, or a scenario where the plan begins from a given month."""
        return "scenario" if self.starts else "year"

    @property
    def problem_word(self) -> str:
        """What a problem of the plan is: a row of it, or a horizon of several."""
        return self.year_word if len(self.problems) == self.inflow.years else "horizon"

    def better_known(self, gap: float) -> NDArray[np.bool_]:
        """Whether a better schedule is known of a problem, as of a single reservoir's plan: of none."""
        return np.zeros(len(self.problems), np.bool_)

    @property
    def fed(self) -> tuple[str, ...]:
        """The reservoirs that links lead to."""
        return tuple(name for place, name in enumerate(self.system.names) if any(self.system.into(place)))

    @property
    def prices_per_hm3(self) -> FloatArray:
        """What water that comes to each reservoir is worth, shape (3, years, reservoirs, steps).

        By the proofs, and the least and the most that it may be at the schedules, in the unit of the objective; of
        reservoirs that no link leads to it bounds nothing.
        """
        assert self.proofs is not None
        years, names, steps = self.inflow.years, self.system.names, self.inflow.steps
        prices = np.concatenate(self.proofs.prices, axis=2).reshape(3, len(names), years, steps)
        return np.asarray(prices.swapaxes(1, 2) / self.inflow.calendar.hm3_per_m3s[:, np.newaxis])

    @cached_property
    def impossible_problems(self) -> NDArray[np.bool_]:
        """Whether it is proved that no schedule keeps the limits of each problem, shape (problems,)."""
        return np.isin(np.array(self.problems.labels, str), list(self.infeasible))

    @property
    def source(self) -> NDArray[np.object_]:
        """The solver that each year's schedule is of, shape (years,)."""
        return np.array(self.sources, object)[self.problems.of_year]

    @property
    def source_counts(self) -> dict[str, int]:
        """How many years each solver's schedules are of."""
        return {str(name): int((self.source == name).sum()) for name in dict.fromkeys(self.source.tolist())}

    def save(self, folder: str | Path, *, force: bool = False, figures: bool = True, format: str | None = None) -> Path:
        """Write tables, figures and the report to a folder, see `reservoir.save_plan`."""
        import reservoir  # files are written above this folder: the package knows where

        return reservoir.save_plan(self, folder, force=force, figures=figures, format=format)


def optimise_system(
    system: System,
    inflows: SiteInflows,
    *,
    solver: str | None = None,
    horizon: Horizon | str | int | None = None,
    start: object = None,
    start_levels_m: Mapping[str, float] | None = None,
    start_storages_hm3: Mapping[str, float] | None = None,
    seed: int = 1,
    device: str | None = "auto",
    seconds: float | None = None,
    initial: SystemOperation | None = None,
    progress: StageProgress = silent_stage,
    stop: Stop | None = None,
    parts: PartStore | None = None,
    cluster: str | None = None,
    **options: Any,
) -> SystemPlan:
    """Find the best joint operation of every year of a record of several sites.

    Parameters
    ----------
    system : System
    inflows : SiteInflows
        Local inflow of each reservoir.
    solver : str, optional
        A name of `reservoir.solvers.SOLVERS` that can take systems; by default ``auto``: sequential linear programming,
        dynamic programming of one reservoir after another, then a population, each from what the last one found.
    horizon : Horizon, str or int, optional
        What is planned as one problem: ``"year"``, ``"record"`` or a number of years; by default as the system says.
    start : str, optional
        Month in which the plan begins, such as ``"2026-11"``, from the level or the storage of each reservoir.
    start_levels_m, start_storages_hm3 : mapping of str to float, optional
        By the name of a reservoir; together they name each once.
    seed : int
        The same seed on the same device gives the same plan.
    device : str, optional
        See `reservoir.opencl.choose_device`.
    seconds : float, optional
        Of ``auto``: after so many, no further stage begins.
    initial : SystemOperation, optional
        What the search begins with; the plan is no worse.
    progress : callable
        Told the stage, how many problems are done and how many there are.
    stop : callable, optional
        Asked with an `IntermediateResult`; if it returns True, the plan has what is found so far.
    parts : PartStore, optional
        Keeps the parts that a cluster searched, such as a `reservoir.PartsFolder`; in memory by default.
    cluster : str, optional
        Where parts of the problems are searched, see `reservoir.optimise`: without `seconds`, `initial` and `stop`.
    **options
        Settings of the solver.

    Raises
    ------
    InputError
        If system and record do not fit each other, or the solver cannot take systems.
    DeviceError
        If the device asked for is missing or too small.
    """
    watch, name = Stopwatch(), solver or AUTO
    with watch("prepare"):
        require_able(name)
        asked = system.asked_horizon(horizon)
        inflows = inflows.each(system.on_calendar)
        starts = _starts(system, start, start_levels_m or {}, start_storages_hm3 or {}, asked)
        if starts:
            system = replace(
                system,
                reservoirs=tuple(starts[each.name].begun for each in system.reservoirs),
                first_month=next(iter(starts.values())).begun.first_month,
            )
            inflows = SiteInflows({site: starts[site].traces(record) for site, record in inflows.items()})
            asked = Horizon()
        problems = system_problems(system, inflows, asked)
    progress, noted = callers_own(progress), NotedStop(stop) if stop else None
    notes = tuple[str, ...]()
    if name == AUTO:
        stages = stages_here(None if cluster else device)  # which may be one of the workers
        require_settings({*stages, *stages.values()}, options, RUN)
    else:
        name, notes = solver_here(name, device)
        known = settings_of(name) if notes else options
        options = {each: value for each, value in options.items() if each in known}
    method = Method(name, seed, device, reference=False, engine_only=False, options=options)
    if cluster:
        if noted or initial is not None or seconds is not None:
            problem, expected = "a cluster searches problems by themselves", "a search without seconds, initial or stop"
            raise InputError(problem, expected, "leave out the cluster", column="cluster", value=cluster)
        from reservoir.planning.cluster import cluster_workers

        with watch(PARTS_STAGE), cluster_workers(cluster) as workers:
            found = search_in_parts(problems, method, progress, parts or PartStore(), workers)
    else:
        found = search_system(problems, method, progress, watch, stop=noted, seconds=seconds, initial=initial)
    problems = found.problems
    with watch("certify"):
        operation: Any = problems.operate(found.solutions.position)
        infeasible = infeasible_problems(problems, found.solutions.violation)
    planned, of_each = operation.system, zip(system.reservoirs, operation.of_reservoirs, strict=True)
    about_commitments = [
        *(f"{name}: {left_out}" for name, start in starts.items() if (left_out := start.leaves_out)),
        *(note for each, own in of_each for note in commitment_notes(each, own, problems.inflow, f"{each.name}: ")),
    ]
    plan = SystemPlan(
        planned,
        inflows.span(0, problems.inflow.years),
        problems,
        operation,
        found.solutions,
        found.sources,
        (
            *(*inflows.notes, *_reservoir_notes(system), *_under_way_notes(system, planned)),
            *(*notes, *found.notes, *about_commitments),
        ),
        watch.seconds,
        found.stopped,
        starts,
        infeasible=infeasible,
    )
    of_years = infeasible_notes(planned, problems, infeasible, plan.problem_word)
    return replace(plan, notes=(*plan.notes, *of_years)) if infeasible else plan


def _reservoir_notes(system: System) -> Sequence[str]:
    return [f"{each.name}: {note}" for each in system.reservoirs for note in each.notes]


def _under_way_notes(given: System, planned: System) -> Sequence[str]:
    """What is under way at the start where the file does not say it: a sentence a link."""

    def sentence(link: Link) -> UnitText:
        return UnitText(
            lambda units: (
                f"The release of {link.source} before the first {given.step.noun} is taken to be "
                f"{units.stated(link.before_m3s or 0.0, 'm3/s')}, the mean that the record brings there. Fix: give its "
                f"link to {link.target} before_m3s."
            )
        )

    pairs = zip(given.links, planned.links, strict=True)
    return [sentence(filled) for link, filled in pairs if link.before_m3s is None and filled.before_m3s is not None]


def require_able(solver: str) -> None:
    """Refuse a solver that takes one reservoir, by a sentence that names those that can take several."""
    able = (AUTO, *(name for name, entry in SOLVERS.items() if entry.systems))
    if solver not in able:
        problem = f"the solver {solver} plans one reservoir" if solver in SOLVERS else "there is no such solver"
        expected = f"one that plans several: {', '.join(able)}"
        raise InputError(problem, expected, "choose one of them", column="solver", value=solver)


def _starts(
    system: System, month: object, levels_m: Mapping[str, float], storages_hm3: Mapping[str, float], horizon: Horizon
) -> dict[str, PlanStart]:
    """The start of each reservoir; of none without a month."""
    given = {**levels_m, **storages_hm3}
    if month is None and not given:
        return {}
    for column, names in (("start_levels_m", levels_m), ("start_storages_hm3", storages_hm3)):
        system.require_named(names, column)
    if twice := [name for name in levels_m if name in storages_hm3]:
        problem = f"is given beside the level of {', '.join(twice)}"
        raise InputError(problem, "one of the two", "give the level or the storage", column="start_storages_hm3")
    unsaid = [each.name for each in system.reservoirs if each.name not in given and not each.is_run_of_river]
    if month is not None and unsaid:
        problem = f"nothing is given of {', '.join(unsaid)}"
        expected = "a level or a storage of each reservoir"
        mend = f"give start_levels_m or start_storages_hm3 for {', '.join(unsaid)}"
        raise InputError(problem, expected, mend, column="start", value=str(month))
    starts = {}
    for each in system.reservoirs:
        level, storage = levels_m.get(each.name), storages_hm3.get(each.name)
        if each.is_run_of_river and level is None:
            storage = each.initial_storage_hm3
        start = plan_start(month, level, storage, horizon, each)
        assert start is not None
        starts[each.name] = start
    return starts
