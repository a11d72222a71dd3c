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
from reservoir.opencl import choose_devices
from reservoir.planning.firm_power import (
    FIRM_POWER_STAGE,
    firm_power_of_problems,
    no_worse_than,
    promised_within,
    promising_all,
)
from reservoir.planning.infeasible_years import infeasible_notes, infeasible_problems
from reservoir.planning.operated_record import FloatArray
from reservoir.planning.operated_system import OperatedSystem
from reservoir.planning.solving import (
    FIRST,
    NotedStop,
    StageProgress,
    begun,
    require_settings,
    silent_stage,
    stop_sentence,
)
from reservoir.planning.start import PlanStart, plan_start
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.base import take
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import FirmestYears, system_problems
from reservoir.solvers import SOLVERS, Solutions, Stop, settings_of, solve, solver_named, usable, why_unusable
from reservoir.solvers.codings import MOST_VARIABLES
from reservoir.solvers.engine import callers_own
from reservoir.solvers.slp.misses import LeastMisses

#: The solver that runs others, one after another.
AUTO = "auto"
#: What the solvers are that it runs, in a sentence.
RUN = "auto runs"
#: What it runs: each begins with the best so far, and the best is kept.
STAGES = ("slp", "dpsa", "lshade", "dpsa")
#: Those of which compiled code is as fast as a device that is no GPU.
ON_GPUS = ("dpsa",)
#: What finishes, in float64, schedules that a population leaves a rounding beside a limit; and the violation that is no
#: more than rounding.
FINISH, ROUNDING = "slp", 1e-6


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
    search = _Search(problems, seed, device, progress, noted, watch, seconds)
    if initial is not None:
        search.begin_with(initial)
    search.promise_power()
    notes = tuple[str, ...]()
    if name == AUTO:
        stages = stages_here(device)
        require_settings({*stages, *stages.values()}, options, RUN)
        notes = search.in_stages(options)
    else:
        name, notes = solver_here(name, device)
        known = settings_of(name) if notes else options
        search.improve(name, {each: value for each, value in options.items() if each in known})
    search.keep_promises()
    with watch("certify"):
        problems = search.problems
        operation: Any = problems.operate(search.best.position)
        infeasible = infeasible_problems(problems, search.best.violation)
    planned = operation.system
    plan = SystemPlan(
        planned,
        inflows.span(0, problems.inflow.years),
        problems,
        operation,
        search.best,
        tuple(search.sources),
        (*inflows.notes, *_reservoir_notes(system), *_under_way_notes(system, planned), *notes),
        watch.seconds,
        search.stopped,
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


def stages_here(device: str | None) -> dict[str, str]:
    """The stages of auto that there are, by name, with the solver that runs each on this machine, or a device of it."""

    def there(stage: str) -> str:
        on_cpu = usable(stage) == stage and stage in ON_GPUS and choose_devices(device)[0].kind == "CPU"
        return solver_named(stage).host_solver if on_cpu else usable(stage)

    return {stage: there(stage) for stage in dict.fromkeys(STAGES) if stage in SOLVERS}


def solver_here(name: str, device: str | None) -> tuple[str, tuple[str, ...]]:
    """The solver, or that which replaces it on this machine unless a particular device was asked for, and a note."""
    reason = "" if device not in (None, "auto") else why_unusable(name)
    if not reason:
        return name, ()
    other = usable(name)
    return other, (f"{reason}. {other} ran on all CPU cores instead of {name}.",)


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
        unknown = next((name for name in names if name not in system.names), None)
        if unknown is not None:
            problem = "is no reservoir of the system" if unknown else "is of no reservoir"
            mend = "name the reservoir that it is of: NAME=NUMBER"
            raise InputError(problem, f"one of {', '.join(system.names)}", mend, column=column, value=unknown or None)
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


class _Search:
    """The best positions so far, and how they were found."""

    def __init__(
        self,
        problems: RecordProblems,
        seed: int,
        device: str | None,
        progress: StageProgress,
        stop: NotedStop | None,
        watch: Stopwatch,
        seconds: float | None,
    ) -> None:
        self.problems, self.progress, self.stop, self.watch = problems, progress, stop, watch
        self.seed, self.device, self.seconds = seed, device, seconds
        self.best = Solutions.of([])
        self.sources: list[str] = []
        self.stopped = ""
        self._first: list[FloatArray] = []
        self._firm: Any = None

    def begin_with(self, operation: SystemOperation) -> None:
        """Begin with what an operation of the record's years does."""
        for places, batch in self.problems.placed_batches:
            years: Any = batch
            first = int(np.flatnonzero(self.problems.of_year == places[0])[0])
            rows = operation[first : first + len(places) * years.steps // self.problems.inflow.steps]
            self._first += list(years.positions_of(rows.as_horizons(len(places)))[:, np.newaxis])

    def promise_power(self) -> None:
        """Find the firm power of each problem, or which steps may fail to give one; from here on it is promised."""
        objective = self.problems.model.system.objective
        if not objective.is_firm and (objective.firm_power_mw is None or objective.firm_share == 1):
            return
        with self.watch(FIRM_POWER_STAGE):
            years: Any = self.problems.batches
            firmest: Any = tuple(FirmestYears.of(batch, objective.firm_share) for batch in years)
            on_progress = begun(self.progress, FIRM_POWER_STAGE, len(self.problems))
            firmest, first = replace(self.problems, batches=firmest).each, self._first or None
            found: Any = solve(firmest, solver=FINISH, first=first, progress=on_progress)
            if objective.is_firm:
                power = firm_power_of_problems(self.problems, self.problems.operate(found.position))
                self.problems = promising_all(self.problems, power)
            self.problems = promised_within(self.problems, found.position)
            first = [position[np.newaxis] for position in found.position]
            self._firm = solve(self.problems.each, solver=FINISH, first=first).position
        self._first = [position[np.newaxis] for position in self._firm]

    def keep_promises(self) -> None:
        """Where a solver gives less than what gave the firm power, keep that."""
        if self._firm is None:
            return
        before, count = self.best, len(self.best)
        self.best = no_worse_than(self.problems.each, before, self._firm[:count])
        kept = (self.best.fitness != before.fitness).tolist()
        self.sources = [FINISH if firm else source for firm, source in zip(kept, self.sources, strict=True)]

    def in_stages(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Run `STAGES`, as far as they can run here; a setting goes to each stage that has it."""
        notes, here = [], stages_here(self.device)
        for stage in STAGES:
            if stage not in here or self.stopped or self._late():
                continue
            solver = here[stage]
            if SOLVERS[stage].coded and self.problems.batches[0].dimension > MOST_VARIABLES:
                notes.append(f"{stage} is not for horizons of so many steps.")
                continue
            if solver != stage and stage not in ON_GPUS:
                notes.append(f"{why_unusable(stage)}. {solver} ran on all CPU cores instead of {stage}.")
            known = settings_of(solver)
            self.improve(solver, {name: value for name, value in options.items() if name in known})
        return tuple(dict.fromkeys(notes))

    def _late(self) -> bool:
        """Whether the time is over; the first stage runs whatever it takes."""
        return bool(self.best) and self.seconds is not None and sum(self.watch.seconds.values()) >= self.seconds

    def improve(self, solver: str, options: Mapping[str, Any]) -> None:
        """Run a solver from what the last one found, and keep what is better.

        A population may leave the best for a schedule that is worse only until it is finished.
        """
        given = {**options}
        if FIRST in settings_of(solver) and self._first:
            given[FIRST] = self._first
        with self.watch(solver):
            on_progress = begun(self.progress, solver, len(self.problems))
            found = solve(
                self.problems.each,
                solver=solver,
                seed=self.seed,
                device=self.device,
                progress=on_progress,
                stop=self.stop,
                **given,
            )
        if self.best and solver != FINISH:
            found = self._finished(found)
        self._first = [position[np.newaxis] for position in found.position]
        if not self.best:
            self.best, self.sources = found, [solver] * len(found)
            self.stopped = stop_sentence(solver, len(found), len(self.problems), self.stop)
            if self.stopped:
                self._leave_out()
            return
        count, less = len(found), self._less_violated(found)
        better = np.flatnonzero((less < 0) | ((less == 0) & (found.fitness > self.best.fitness[:count])))
        self.best = self.best.replaced(better, found[better])
        for place in better.tolist():
            self.sources[place] = solver
        if count < len(self.problems):
            self.stopped = stop_sentence(solver, count, len(self.problems), self.stop)

    def _finished(self, found: Solutions) -> Solutions:
        """The same, and those that are worth more than the best so far but violate limits more, finished."""
        more = (found.fitness > self.best.fitness[: len(found)]) & (self._less_violated(found) > 0)
        places = np.flatnonzero(more)
        if not len(places):
            return found
        with self.watch(FINISH):
            years, first = take(self.problems.each, places.tolist()), [found.position[each][None] for each in places]
            return found.replaced(places, solve(years, solver=FINISH, device=self.device, first=first))

    def _less_violated(self, found: Solutions) -> FloatArray:
        """Below 0 where limits are kept, or nearly, that the best so far violates more; above 0 where it is the other.

        Where neither keeps them it is 0: the objective says what a violation costs.
        """
        best = self.best.violation[: len(found)]
        return np.where(np.minimum(found.violation, best) > ROUNDING, 0.0, found.violation - best)

    def _leave_out(self) -> None:
        """The record as far as it is planned."""
        years = int(np.searchsorted(self.problems.of_year, len(self.best)))
        batch: Any = self.problems.batches[0]
        inflows: Any = self.problems.inflow
        self.problems = RecordProblems(self.problems.horizon, inflows.span(0, years), (batch[: len(self.best)],))
