"""Search the joint schedules of several reservoirs in stages, each from what the last one found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.commitments import is_committed
from reservoir.hydro.system_operation import SystemOperation
from reservoir.opencl import choose_devices
from reservoir.planning.commitments import KNOWING, within_commitments
from reservoir.planning.firm_power import (
    FIRM_POWER_STAGE,
    firm_power_of_problems,
    judged,
    no_worse_than,
    promised_within,
    promising_all,
)
from reservoir.planning.search import Method
from reservoir.planning.solving import FIRST, NotedStop, StageProgress, begun, stop_sentence
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.base import FloatArray, take
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.system import FirmestYears
from reservoir.solvers import SOLVERS, Solutions, settings_of, solve, solver_named, usable, why_unusable
from reservoir.solvers.codings import MOST_VARIABLES
from reservoir.solvers.solution import joined

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


class Found(NamedTuple):
    """The best schedule found of each problem of a system, or of the first, and how."""

    #: With the power that each promises.
    problems: RecordProblems
    solutions: Solutions
    #: The solver that each schedule is of.
    sources: tuple[str, ...]
    notes: tuple[str, ...]
    #: Where a callback ended the search, in words; empty if it did not.
    stopped: str = ""


def search_system(
    problems: RecordProblems,
    method: Method,
    progress: StageProgress,
    watch: Stopwatch,
    *,
    stop: NotedStop | None = None,
    seconds: float | None = None,
    initial: SystemOperation | None = None,
) -> Found:
    """Search the schedule of every problem of a system by a solver, or by `STAGES`.

    Parameters
    ----------
    problems : RecordProblems
    method : Method
        Its solver may be `AUTO`, of which settings go to each stage that has them.
    progress : callable
        Told each stage, how many problems are done and how many there are.
    watch : Stopwatch
        Times the stages.
    stop : NotedStop, optional
        May end the search.
    seconds : float, optional
        After so many, no further stage of `AUTO` begins.
    initial : SystemOperation, optional
        What the search begins with.
    """
    search = _Search(problems, method, progress, watch, stop, seconds)
    if initial is not None:
        search.begin_with(initial)
    search.promise_power()
    search.leave_room()
    notes = tuple[str, ...]()
    if method.solver == AUTO:
        notes = search.in_stages(method.options)
    elif not search.stopped:  # while schedules were found that keep commitments
        search.improve(method.solver, method.options)
    search.end_room()
    search.keep_promises()
    return Found(search.problems, search.best, tuple(search.sources), notes, search.stopped)


class _Search:
    """The best positions so far, and how they were found."""

    def __init__(
        self,
        problems: RecordProblems,
        method: Method,
        progress: StageProgress,
        watch: Stopwatch,
        stop: NotedStop | None,
        seconds: float | None,
    ) -> None:
        self.problems, self.progress, self.stop, self.watch = problems, progress, stop, watch
        self.seed, self.device, self.seconds = method.seed, method.device, seconds
        self.best = Solutions.of([])
        self.sources: list[str] = []
        self.stopped = ""
        self._first: list[FloatArray] = []
        self._firm: Any = None
        self._given: RecordProblems | None = None

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

    def leave_room(self) -> None:
        """Find schedules that keep commitments as far as can be; from here on, within the room that these leave."""
        if not any(map(is_committed, self.problems.model.system.reservoirs)):
            return
        self.improve(KNOWING, {})
        if not self.stopped:
            self._given = self.problems
            self._turn_to(within_commitments(self.problems, self.best.position))

    def end_room(self) -> None:
        """Leave the room, and let the storages at the ends of years go where they should."""
        if self._given is not None:
            self._turn_to(self._given)
            if not self.stopped:
                self.improve(KNOWING, {})

    def _turn_to(self, problems: RecordProblems) -> None:
        """Go on with other problems from the same schedules."""
        positions = list[FloatArray]()
        parts = zip(problems.batches, self.problems.batches, self.problems.split(self.best.position), strict=True)
        for batch, before, position in parts:
            years: Any = batch
            positions += [*years.positions_of(before.operate(position))]
        self.problems, self._first = problems, [position[np.newaxis] for position in positions]
        self.best = judged(problems.each, replace(self.best, position=joined(self._first)))

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
                self.problems = self.problems.span(0, len(self.best))  # the record as far as it is planned
            return
        count, less = len(found), self._less_violated(found)
        better = np.flatnonzero((less < 0) | ((less == 0) & (found.fitness > self.best.fitness[:count])))
        self.best = self.best.replaced(better, found[better])
        for place in better.tolist():
            self.sources[place] = solver
        every = len(self.problems)  # have schedules of earlier stages
        self.stopped = stop_sentence(solver, every, every, self.stop)

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
