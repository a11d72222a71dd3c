"""The best schedule that a run knows of each problem: the engine's, that of a second run, or the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.planning.gap_limits import beyond_limits, gap_limits, violates_more
from reservoir.planning.given_releases import FIRST
from reservoir.planning.solver_choice import is_swept
from reservoir.planning.source_names import second_run
from reservoir.planning.stages import StageProgress, solved
from reservoir.planning.stopping import NotedStop, stop_sentence
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions, more_effort

_NONE = Solutions.of([])
#: How many times the work of the first run a second run makes for a problem; for a long horizon, about.
TIMES, SWEPT_TIMES = 4, 2
#: Added to the seed of a second run: 2**64 over the plastic number (the real root of x**3 = x + 1), made odd.
_SEED_STEP = 0xC13FA9A902A63001


@dataclass(frozen=True, eq=False)
class Sources:
    """Where the schedules of a plan come from.

    Parameters
    ----------
    of_problem : tuple of str
        The source of each problem: the solver, its `second_run`, or the solver of the reference.
    engine : Solutions
        The best that the solver found for each problem, in the second run or in the first.
    settings, second_settings : mapping
        Of the first run and of the second.
    """

    of_problem: tuple[str, ...]
    engine: Solutions
    settings: Mapping[str, Any]
    second_settings: Mapping[str, Any]


def best_known(
    problems: RecordProblems,
    first: Solutions,
    references: Solutions,
    *,
    solver: str,
    seed: int,
    device: str | None,
    options: Mapping[str, Any],
    progress: StageProgress,
    stop: NotedStop | None,
    watch: Stopwatch,
) -> tuple[Solutions, Sources | None, str]:
    """Solve problems again that are not close enough to their reference, and take its schedule where that fails.

    The second run is one call with `TIMES` the work and another seed; nothing of the reference enters it. Of both runs
    the better schedule is kept.

    Parameters
    ----------
    problems : RecordProblems
    first, references : Solutions
        Of each problem: the solver's, and the reference optima.
    solver, seed, device, options
        Of the first run.
    progress : callable
        Told the second run as a stage.
    stop : NotedStop, optional
        May end the second run; what it did not solve has the reference's schedule.
    watch : Stopwatch
        Times the second run.

    Returns
    -------
    solutions : Solutions
        The best known; what is not of a problem is that of `first`. Generations and evaluations are of both runs.
    sources : Sources or None
        None if all of `first` is close enough: then it is returned.
    told : str
        Where the callback ended the second run, or why it failed, in words; empty if it did neither.
    """
    limits = gap_limits(solver, problems)
    places = np.flatnonzero(beyond_limits(first, references, limits, problems.least_gap_scale))
    if not places.size:
        return first, None, ""
    stage, swept = second_run(solver), is_swept(solver, problems)
    more = more_effort(solver, options, SWEPT_TIMES if swept else TIMES, swept=swept)
    if more.get(FIRST) is not None:
        more[FIRST] = [more[FIRST][place] for place in places]
    again = problems.some(places)
    other_seed = (seed + _SEED_STEP) % 2**64
    second, told = _NONE, ""
    try:
        with watch(stage):
            second = solved(again, solver, other_seed, device, progress, more | {"stop": stop}, stage=stage)
        told = stop_sentence(stage, len(second), len(places), stop, f"the others have schedules of {references.solver}")
    except InputError as error:  # no mistake of the caller: a device without room for so much work, for example
        problem = error.mistakes[0].problem
        told = f"The second run of {solver} failed ({problem}): the schedules of {references.solver} were taken."
    engine, from_second = first, places[:0]
    if second:
        engine, from_second = _better(first, second, references, places[: len(second)], limits[0])
    beyond = np.flatnonzero(beyond_limits(engine, references, limits, problems.least_gap_scale))
    of_problem = np.full(len(problems), solver, object)
    of_problem[from_second], of_problem[beyond] = stage, references.solver
    held = engine.replaced(beyond, references.some(beyond))
    held = replace(held, generations=engine.generations, evaluations=engine.evaluations)
    second_settings = second.settings[0] if second else {}
    return held, Sources(tuple(of_problem), engine, first.settings[0], second_settings), told


def _better(
    first: Solutions, second: Solutions, references: Solutions, places: NDArray[np.intp], limit: float
) -> tuple[Solutions, NDArray[np.intp]]:
    """The better of both runs, of which the second solved some `places`; and the places where that is the second's.

    A schedule that does not violate more than its reference is better than one that does; else the higher fitness is.
    """
    both = first.replaced(places, second)
    outside, outside_again = (violates_more(each, references, limit) for each in (first, both))
    fitter = np.nan_to_num(both.fitness, nan=-np.inf) > np.nan_to_num(first.fitness, nan=-np.inf)
    better = (outside & ~outside_again) | ((outside == outside_again) & fitter)
    taken = np.flatnonzero(better)
    generations, evaluations = first.generations.copy(), first.evaluations.copy()
    generations[places] += second.generations
    evaluations[places] += second.evaluations
    best = first.replaced(taken, second.some(np.searchsorted(places, taken)))
    return replace(best, generations=generations, evaluations=evaluations), taken
