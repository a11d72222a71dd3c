"""Years of systems by engines of general problems: which coding of the variables, and positions in one of them.

What a variable is a part of (`problems.system.Coding`) decides how good a search is: parts of what can be reached are
best where the head counts, parts of the limits where optima lie at them, as of linear objectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.problems.base import Problem, as_batch, by_program_key, take
from reservoir.solvers.engine import Progress, silent
from reservoir.solvers.settings import Settings, choice
from reservoir.solvers.solution import Solutions, engine_results, objects, to_solutions

AUTO, RELATIVE, ABSOLUTE = CODINGS = "auto", "relative", "absolute"
#: Populations find optima of so many variables: thirty years of a reservoir's months, or a year of seven in weeks.
MOST_VARIABLES = 400
#: Part of an engine's effort that a trial of each coding is.
_TRIAL_PART = 10


@dataclass(frozen=True)
class CodingSettings(Settings):
    """How the variables of years of systems are coded.

    Parameters
    ----------
    coding : str
        What variables are parts of: ``relative``, of what can be reached, or ``absolute``, of the limits; ``auto`` is
        in each year the one that is better in a tenth of the evaluations.
    """

    coding: str = choice(AUTO, CODINGS, "coding")


#: Solves problems with an engine's options.
Run = Callable[[Sequence[Problem], Mapping[str, Any], Progress], Solutions]


def _behind(progress: Progress, before: int, total: int) -> Progress:
    """Tells of some problems behind others that are solved."""
    return lambda count, _: progress(before + count, total)


def is_coded(problem: Problem) -> bool:
    """Whether a problem is a year of a system."""
    return hasattr(problem, "coding")


def solve_coded(
    problems: Sequence[Problem], coding: str, options: Mapping[str, Any], effort: str, run: Run, progress: Progress
) -> Solutions:
    """Solve years of systems; positions, and those that populations begin with, are relative to what can be reached.

    Parameters
    ----------
    problems : sequence of Problem
    coding : str
        One of `CODINGS`.
    options : mapping
        Settings of the engine.
    effort : str
        The one that says how much it works.
    run : callable
    progress : callable
    """
    groups, done, total = by_program_key(problems), dict[int, Solutions](), len(problems)
    for places in groups.values():
        batch = replace(as_batch(take(problems, places)), is_one=False)  # type: ignore[type-var]
        own = dict(options)
        if own.get("first") is not None:
            own["first"] = np.array([np.atleast_2d(own["first"][place]) for place in places], np.float64)
        search = _CodedSearch(batch, own, effort, run, _behind(progress, len(done), total))
        solutions = search.in_the_better() if coding == AUTO else search.in_one(coding)
        if len(groups) == 1:
            return solutions
        done |= zip(places, solutions, strict=False)
        if len(solutions) < len(places):  # a caller stopped it
            break
    return Solutions.of([done[place] for place in takewhile(done.__contains__, range(total))])


@dataclass(frozen=True)
class _CodedSearch:
    """Years of one program, an engine's options, and what runs it."""

    batch: Any  # SystemYears
    options: Mapping[str, Any]
    effort: str
    run: Run
    progress: Progress

    def in_one(self, coding: str) -> Solutions:
        """All years in one coding."""
        return self._relative(self._solved(coding, np.arange(len(self.batch)), self.options, self.progress))

    def in_the_better(self) -> Solutions:
        """Each year in the coding that is better in a trial."""
        every = np.arange(len(self.batch))
        less = {**self.options, self.effort: max(1, int(self.options[self.effort]) // _TRIAL_PART)}
        best, other = (self._solved(name, every, less, silent) for name in (RELATIVE, ABSOLUTE))
        count = min(len(best), len(other))
        best, other, stopped = best[:count], other[:count], count < len(every)
        evaluations = best.evaluations + other.evaluations
        better = np.flatnonzero(other.fitness > best.fitness)
        seconds = best.wall_seconds + other.wall_seconds
        device_seconds = [best.device_seconds, other.device_seconds]
        best, done = best.replaced(better, other[better]), 0
        for name, places in ((RELATIVE, np.setdiff1d(every, better)), (ABSOLUTE, better)):
            if stopped or not len(places):
                continue
            solved = self._solved(name, places, self.options, _behind(self.progress, done, len(every)))
            done, places = done + len(places), places[: len(solved)]  # a caller may have stopped it: trials are left
            evaluations[places] += solved.evaluations
            gained = np.flatnonzero(solved.fitness > best.fitness[places])
            best = best.replaced(places[gained], solved[gained])
            seconds, device_seconds = seconds + solved.wall_seconds, [*device_seconds, solved.device_seconds]
        busy = None if None in device_seconds else sum(device_seconds)  # type: ignore[arg-type]
        best = replace(best, evaluations=evaluations, wall_seconds=seconds, device_seconds=busy)
        return self._relative(best)

    def _solved(
        self, coding: str, places: NDArray[np.intp], options: Mapping[str, Any], progress: Progress
    ) -> Solutions:
        """Some years in one coding, which is among the settings of their solutions."""
        years = self._coded(coding, places)
        first = options.get("first")
        if first is not None and coding == ABSOLUTE:
            relative = self._coded(RELATIVE, places)
            columns = [relative.operate(first[places, member]) for member in range(first.shape[1])]
            given: ArrayLike = np.stack([relative.positions_of(each, years.coding) for each in columns], axis=1)
            options = {**options, "first": given}
        elif first is not None:
            options = {**options, "first": first[places]}
        solutions = self.run(years, options, progress)
        settings = [{**each, "coding": coding} for each in solutions.settings]
        return replace(solutions, settings=objects(settings, len(settings)))

    def _coded(self, coding: str, places: NDArray[np.intp]) -> Any:
        return replace(self.batch[places], coding=type(self.batch.coding)(coding), is_one=False)

    def _relative(self, solutions: Solutions) -> Solutions:
        """The same with positions relative to what can be reached, and what they come to."""
        positions = np.array(solutions.position, np.float64)
        codings = np.array([each["coding"] for each in solutions.settings])
        places = np.flatnonzero(codings == ABSOLUTE)
        if len(places):
            years = self._coded(ABSOLUTE, places)
            positions[places] = years.positions_of(years.operate(positions[places]))
        certified = self._coded(RELATIVE, np.arange(len(positions))).certify(positions)
        return replace(
            solutions,
            position=positions,
            fitness=certified.fitness,
            benefit=certified.benefit,
            violation=certified.violation,
            operation=certified.operation,
        )


def nothing_to_choose(problems: Sequence[Problem], solver: str) -> Solutions:
    """Solutions of years without a variable, such as those of run-of-river plants."""
    results = engine_results(position=np.zeros((len(problems), 0)), of_all={})
    return to_solutions(problems, results, solver=solver, device="", settings={}, wall_seconds=0.0)
