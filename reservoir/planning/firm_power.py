"""Firm power: the largest that every step of a problem, or a share of its steps, can give; then energy at it.

It lies between a power that a schedule gives and one that none gives. The second is proved, and the schedule that
follows the highest storages at a power just below it mostly gives all but a millionth of it (`certificate.kept_power`).
Where it does not, because more water can do harm or the change of the release is limited, or where no schedule keeps
the limits, the two are brought together by halving: a power is kept if the schedule of least shortage gives it, the sum
of squares of what the power of each step falls short of it. A power that the solver does not keep is not proved to be
none. Where a share of the steps may fail, a step that falls short costs 1 at most, and the failures are counted.

What a schedule gives is stated: nothing rests on the search but how high it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.operation import Operation
from reservoir.hydro.record_rows import energy_terms, shortage_terms
from reservoir.hydro.step import release_to_reach
from reservoir.planning.solving import StageProgress, silent_stage
from reservoir.problems.base import certify_all
from reservoir.problems.reservoir.record import (
    SLACK,
    RecordProblems,
    allowed_failures,
    cost_of_shortage,
    promised_in,
    promising,
)
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.runtime import processors
from reservoir.solvers import Solutions
from reservoir.solvers.solution import joined

if TYPE_CHECKING:
    from reservoir.certificate.kept_power import HighestPower
    from reservoir.hydro.system_operation import SystemOperation

FloatArray = NDArray[np.float64]


def firm_power_mw(power_mw: FloatArray, share: float) -> FloatArray:
    """The largest power that a share of the steps gives, shape (problems,).

    Parameters
    ----------
    power_mw : ndarray, shape (problems, steps)
    share : float
        From 0 to 1.
    """
    failures = allowed_failures(power_mw.shape[-1], share)
    return np.asarray(np.partition(power_mw, failures, axis=-1)[..., failures])


def firm_power_of_problems(problems: RecordProblems, operation: Operation | SystemOperation) -> FloatArray:
    """The power that the steps of each problem give, or the share of them that the objective asks for."""
    share = problems.model.system.objective.firm_share
    years = np.flatnonzero(np.diff(problems.of_year)) + 1
    return np.array([firm_power_mw(each.ravel(), share) for each in np.split(operation.power_mw, years)])


#: Storages are those of a power that is larger by this part: room for rounding.
_MORE = 1e-7


def promised_within(problems: RecordProblems, positions: Sequence[FloatArray]) -> RecordProblems:
    """The problems within the storages of schedules that give the power that they promise, as positions of each do."""
    parts = zip(problems.batches, problems.split(positions), strict=True)
    return replace(problems, batches=tuple(keeping_promise(*each) for each in parts))


def keeping_promise(batch: Any, positions: FloatArray | None = None) -> Any:
    """Problems within the storages of schedules that give the power that they promise; of a system within all.

    Positions give it; where a share of the steps may fail, those that fail in them are those that may.
    """
    target = batch.power_target_mw
    fails = np.zeros(target.shape, np.bool_) if positions is None else batch.operate(positions).power_mw < target
    within = within_power(batch, target[:, 0], fails) if isinstance(batch, ReservoirYears) else batch
    return promised_in(within, ~fails)


def within_power(batch: ReservoirYears, power_mw: FloatArray, fails: NDArray[np.bool_] | None = None) -> ReservoirYears:
    """Problems within the storages of schedules that give a power, shape (problems,), in all steps but those that fail.

    Where no schedule gives it, as they are.
    """
    from reservoir.certificate.kept_power import storages_keeping  # which takes a moment

    limits, none = batch.limits, np.zeros(batch.limits.steps, np.bool_)

    def tube(place: int) -> tuple[FloatArray, FloatArray] | None:
        may_fail = none if fails is None else fails[place]
        return storages_keeping(batch[place], float(power_mw[place]) * (1 + _MORE), may_fail)

    with ThreadPoolExecutor(processors()) as pool:
        tubes = list(pool.map(tube, range(len(batch))))
    lower, upper, starts = (
        np.array(each) for each in (limits.storage_lower_hm3, limits.storage_upper_hm3, limits.start_bounds_hm3)
    )
    for place, storages in enumerate(tubes):
        if storages is not None:
            lowest, highest = storages
            lower[place], upper[place] = np.maximum(lower[place], lowest[1:]), np.minimum(upper[place], highest[1:])
            upper[place] = np.maximum(lower[place], upper[place])
            if limits.cyclic:
                starts[place] = np.clip(starts[place], lowest[0], highest[0])
    within = limits.changed(storage_lower=lower, storage_upper=upper, start_bounds_hm3=starts)
    return replace(batch, limits=within)


def judged(problems: Sequence[ReservoirYears], solutions: Solutions) -> Solutions:
    """Solutions of problems as they were searched, or of the first of them, as solutions of the problems themselves."""
    if not solutions:
        return solutions
    problems = problems[: len(solutions)]
    made = certify_all(problems, solutions.position)
    numbers: dict[str, Any] = {name: getattr(made, name) for name in ("fitness", "benefit", "violation")}
    return replace(solutions, **numbers, operation=made.operation)


def no_worse_than(
    problems: Sequence[ReservoirYears], solutions: Solutions, positions: Sequence[FloatArray]
) -> Solutions:
    """Solutions, with these positions where they are worth more."""
    others = replace(solutions, position=joined([each[np.newaxis] for each in positions]))
    return better_of(np.arange(len(problems)), problems, solutions, others)


def again_within(
    problems: RecordProblems, solutions: Solutions, solve: Callable[[ReservoirYears], Solutions]
) -> Solutions:
    """Solutions of which those that miss a power which they must give are searched again where it is given."""
    objective = problems.model.system.objective
    for places, batch in problems.placed_batches:
        limits = batch.limits
        promises = objective.firm_power_mw is not None and objective.firm_share == 1 and limits.priced
        if not promises and not limits.demands_power:
            continue
        operation = batch.operate(np.stack([solutions.position[place] for place in places.tolist()]))
        missed = operation.violation_sum > 0
        if promises:
            missed |= firm_power_mw(operation.power_mw, 1.0) < limits.power_target[:, 0]
        if missed.any():
            some = batch[np.flatnonzero(missed)]
            within = keeping_promise(some) if promises else _keeping_lowest(some)
            solutions = better_of(places[missed], some, solutions, solve(within))
    return solutions


def _keeping_lowest(batch: ReservoirYears) -> ReservoirYears:
    """Problems within the storages of schedules that give the lowest power, which no energy is worth missing."""
    within, limits = within_power(batch, np.zeros(len(batch))), batch.limits
    if not limits.lake or limits.priced:
        return within
    lowest = limits.power_demanded_mw
    terms = energy_terms(limits.hm3_per_m3s, lowest, cost_of_shortage(lowest, batch.penalty, limits.steps))
    return replace(within, limits=within.limits.with_terms(terms))


def better_of(
    places: NDArray[np.intp], problems: Sequence[ReservoirYears], solutions: Solutions, others: Solutions
) -> Solutions:
    """Solutions, with others of some problems where those alone keep the limits, or are worth more."""
    others, before = judged(problems, others), solutions[places]
    better = (others.violation < before.violation) & (others.violation == 0)
    better |= (others.violation <= before.violation) & (others.fitness > before.fitness)
    return solutions.replaced(places[better], others[better]) if better.any() else solutions


#: Solves problems by dynamic programming.
Solve = Callable[[ReservoirYears], Solutions]

#: How the search is called where progress and time are told.
FIRM_POWER_STAGE = "firm power"
_MOST_TRIES = 60
#: The search ends where what is kept and what is not are closer than this part of it; acceptance asks for less.
ENOUGH, BRACKET = 1e-5, 1e-4
#: The same of powers that proofs try.
_PRECISION = 1e-7
#: Problems that are likely to give the smallest power of all.
_DRIEST = 4
#: Where some steps may fail: a step that is short by this part of the power fails.
_FAILED = 1e-3
#: Problems that plan.json names.
MOST_NAMED = 1000
#: Steps times failures, at most, that proofs go through: those of a record of days would take hours.
_MOST_TRACKS = 1_000_000


@dataclass(frozen=True, eq=False)
class FirmBounds:
    """The smallest power that is known not to be kept by each problem.

    Parameters
    ----------
    not_kept_mw : ndarray, shape (problems,)
    proved : ndarray of bool, shape (problems,)
        Whether that is proved; else the solver found no schedule that keeps it.
    """

    not_kept_mw: FloatArray
    proved: NDArray[np.bool_]

    def first(self, count: int) -> FirmBounds:
        """Those of the first problems."""
        return FirmBounds(self.not_kept_mw[:count], self.proved[:count])

    def width(self, kept_mw: FloatArray) -> FloatArray:
        """Part by which what is not kept is above what is kept, shape (problems,)."""
        return np.asarray((self.not_kept_mw - kept_mw) / np.maximum(self.not_kept_mw, 1e-12))

    def as_dict(self, kept_mw: FloatArray) -> dict[str, Any]:
        """For ``plan.json``: of each problem, or of the first of many."""
        columns = {"kept_mw": kept_mw, "not_kept_mw": self.not_kept_mw, "proved": self.proved}
        return {name: column[:MOST_NAMED].tolist() for name, column in columns.items()}


class FirmPower(NamedTuple):
    """The power of each problem, MW, shape (problems,), a position of each that gives it, and what is not kept."""

    power_mw: FloatArray
    positions: list[FloatArray]
    bounds: FirmBounds


def firm_power_of(problems: RecordProblems, solve: Solve, progress: StageProgress = silent_stage) -> FirmPower:
    """Search the firm power of each problem of a record; `solve` solves those whose objective is a shortage of it."""
    share = problems.model.system.objective.firm_share
    of_batches = [largest_firm_power(batch, share, solve, progress) for batch in problems.batches]
    powers, positions, bounds = zip(*of_batches, strict=True)
    not_kept, proved = ([getattr(each, name) for each in bounds] for name in ("not_kept_mw", "proved"))
    of_all = FirmBounds(np.concatenate(not_kept), np.concatenate(proved))
    return FirmPower(np.concatenate(powers), [position for rows in positions for position in rows], of_all)


def promising_all(problems: RecordProblems, power_mw: FloatArray) -> RecordProblems:
    """Problems that must give a power, shape (problems,), in the share of their steps that the objective says."""
    share = problems.model.system.objective.firm_share
    batches = [promising(batch, power_mw[places], share) for places, batch in problems.placed_batches]
    return replace(problems, batches=tuple(batches))


def largest_firm_power(
    batch: ReservoirYears, share: float, solve: Solve, progress: StageProgress = silent_stage, *, smallest: bool = False
) -> FirmPower:
    """Search the firm power of each problem.

    Where the smallest of all is asked for, problems that surely give more are left with what some schedule gave.
    """
    if batch.limits.priced and np.any(batch.limits.power_value < 0):  # what is firm is given at any price
        batch = replace(batch, limits=batch.limits.with_terms({}))
    failures, count = allowed_failures(batch.limits.steps, share), len(batch)
    progress(FIRM_POWER_STAGE, 0, count)
    proofs = _proofs(batch, failures, smallest=smallest)
    proved = np.array([each is not None for each in proofs])
    installed = float(batch.model.reservoir.installed_mw)
    high = np.array([installed if each is None else min(each.not_kept_mw, installed) for each in proofs])
    low, positions = np.full(count, -1.0), np.zeros((count, batch.dimension))
    places = np.flatnonzero(proved)
    if places.size:
        positions[places] = _following(batch[places], [each for each in proofs if each is not None])
        low[places] = _given(batch[places], positions[places], failures, within_limits=True)
    able = proved.copy()  # some schedule keeps the limits
    for _ in range(_MOST_TRIES):
        wide = high - low > ENOUGH * high
        open_ = np.flatnonzero(wide & (low < high.min()) if smallest else wide)
        if not open_.size:
            break
        tried = np.where(low[open_] < 0, high[open_], (low[open_] + high[open_]) / 2)
        closest = _of_least_shortage(batch[open_], tried, failures, solve)
        reached = _given(batch[open_], closest, failures, within_limits=able[open_])
        better, missed = reached > low[open_], reached < tried * (1 - SLACK / 4)
        positions[open_[better]], low[open_[better]] = closest[better], reached[better]
        fallen = open_[missed & (tried < high[open_])]
        high[open_[missed]], proved[fallen] = tried[missed], False
        high = np.maximum(high, low)
        progress(FIRM_POWER_STAGE, count - len(open_), count)
    return FirmPower(low.clip(min=0), [*positions], FirmBounds(high, proved))


def _proofs(batch: ReservoirYears, failures: int, *, smallest: bool) -> Sequence[HighestPower | None]:
    """Bounds of the power of each problem, by as many threads as there are processors; None where nothing is proved.

    Where the smallest of all is asked for, and no step may fail, problems that keep more than the driest ones are
    followed at a power that is just above.
    """
    from reservoir.certificate.kept_power import highest_power

    if batch.limits.steps * failures > _MOST_TRACKS:
        return [None] * len(batch)
    most = batch.model.reservoir.installed_mw * (1 + 2 * _PRECISION)  # which none can give
    each = max(processors() // len(batch), 1)
    bound = partial(highest_power, failures=failures, most_mw=most, threads=each)
    proofs: list[HighestPower | None] = [None] * len(batch)

    def prove(places: NDArray[np.intp], precision: float, least_mw: float = 0.0) -> None:
        """The bounds of some problems."""
        if places.size:
            found = pool.map(partial(bound, precision=precision, least_mw=least_mw), batch[places])
            for place, proof in zip(places.tolist(), found, strict=True):
                proofs[place] = proof

    with ThreadPoolExecutor(processors()) as pool:
        places = np.arange(len(batch))
        if smallest and not failures:
            volume = (batch.limits.inflow_m3s * batch.limits.hm3_per_m3s).sum(axis=1)
            driest, places = np.split(np.argsort(volume, kind="stable"), [_DRIEST])
            prove(driest, _PRECISION)
            known = [proof.not_kept_mw for proof in map(proofs.__getitem__, driest.tolist()) if proof]
            if len(known) == len(driest):
                prove(places, 1.0, min(known) * (1 + ENOUGH))
                places = np.array([place for place in places.tolist() if not proofs[place]], np.intp)
        prove(places, _PRECISION)
    return proofs


def _following(batch: ReservoirYears, proofs: Sequence[HighestPower]) -> FloatArray:
    """Positions that lead along storages."""
    years = batch.limits.arrays()._replace(lake=batch.limits.lake)
    storages = np.stack([each.storages_hm3 for each in proofs])
    volume, every = years.hm3_per_m3s, (slice(None), slice(None))
    drafts = release_to_reach(storages[:, :-1], storages[:, 1:], years.inflow, volume, years.by_field, every)
    return np.concatenate([drafts, storages[:, :1]], axis=1)[:, : batch.dimension]


def _given(
    batch: ReservoirYears, positions: FloatArray, failures: int, *, within_limits: NDArray[np.bool_] | bool
) -> FloatArray:
    """What positions give in all steps but some; nothing where they leave limits that they are to be within."""
    operation = batch.operate(positions)
    given = firm_power_mw(operation.power_mw, 1 - failures / batch.limits.steps)
    return np.where(within_limits & (operation.violation_sum > 0), -1.0, given)


def _of_least_shortage(batch: ReservoirYears, power_mw: FloatArray, failures: int, solve: Solve) -> FloatArray:
    """Positions whose power falls short of one by least, or in the fewest steps where some may fail."""
    target = np.repeat(power_mw[:, np.newaxis], batch.limits.steps, axis=1)
    terms = shortage_terms(target, _FAILED * target, 1.0) if failures else shortage_terms(target, target)
    batch = batch if failures else within_power(batch, power_mw)
    return np.array(solve(replace(batch, limits=batch.limits.with_terms(terms))).position)
