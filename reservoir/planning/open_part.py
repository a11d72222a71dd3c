"""Search again where a proof leaves a better schedule possible: between the storages that it could not rule out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from reservoir.certificate.bound import ProvenBound
from reservoir.hydro.calendar import some_labels
from reservoir.hydro.commitments import is_committed
from reservoir.planning.columns import AFTER_PROOF
from reservoir.planning.commitments import drawn_in
from reservoir.planning.firm_power import judged
from reservoir.planning.planned_record import Plan, operation_of
from reservoir.planning.search import better_references, references_of
from reservoir.planning.sentences import listed
from reservoir.planning.solving import StageProgress
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.text.quantities import counted

#: Gains below this part of the gap that is asked for are none.
LEAST_GAIN = 1e-3


def searched_again(
    plan: Plan, left_open: Mapping[int, ProvenBound], gap: float, progress: StageProgress, device: str | None
) -> Plan:
    """The plan with schedules that dynamic programming finds where a proof leaves better ones possible.

    Its grids are between the storages of all schedules that are better by the gap. It knows no limits to the change of
    the release, and no commitments: plans with these stay as they are.

    Parameters
    ----------
    plan : Plan
    left_open : mapping of int to ProvenBound
        Of the problems to search, by place.
    gap : float
        That was asked for.
    progress : callable
        Told the search as a stage.
    device : str or None
        See `reservoir.opencl.choose_devices`.
    """
    problems, places = plan.problems, np.array(list(left_open))
    if problems.ramps or is_committed(plan.reservoir):
        return plan
    some = problems.some(places)
    within = [_between(year, bound) for year, bound in zip(some, left_open.values(), strict=True)]
    tried = judged(some, references_of(within, plan.solutions.solver, device, progress, None, Stopwatch()))
    before = plan.solutions[places]
    gained = (tried.fitness - before.fitness) / np.maximum(np.abs(before.fitness), problems.least_gap_scale or 1e-300)
    no_more, less = tried.violation <= before.violation, tried.violation < before.violation
    better = np.flatnonzero(less | (no_more & (gained > LEAST_GAIN * gap)))
    if not better.size:
        return plan
    found = replace(plan.solutions.replaced(places[better], tried[better]), solver=AFTER_PROOF)
    solutions, sources = better_references(plan.solutions, found, plan.sources)
    labels = some_labels(problems.labels, places[better])
    note = found_note(labels, plan.problem_word, tried.solver, float(gained[better].max()))
    operation = operation_of(problems, solutions)
    return replace(plan, solutions=solutions, sources=sources, operation=operation, notes=(*plan.notes, note))


def found_note(labels: Sequence[str], one: str, solvers: str, gained: float) -> str:
    """What a proof led to: of which problems, by which solvers, and the largest gain, as a part of the fitness."""
    return (
        f"The proof left better schedules possible of {counted(len(labels), one)} ({listed(labels)}): {solvers} found "
        f"them in what was left, better by {gained:.1e} at most."
    )


def _between(year: ReservoirYears, bound: ProvenBound) -> ReservoirYears:
    """A year within the storages that are told at the starts of steps."""
    if bound.corridor is None:
        return year
    lower, upper = (np.roll(each, -1) for each in bound.corridor)
    if not year.limits.cyclic:  # else it ends where it starts
        lower[-1], upper[-1] = -np.inf, np.inf
    return replace(year, limits=drawn_in(year.limits, lower, upper))
