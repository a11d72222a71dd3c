"""A schedule by anyone, checked from its releases alone: what follows from them, which limits they do not keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.commitments import is_committed, missing_hm3, sides
from reservoir.hydro.conditions import KEPT
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import without_foresight
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import Operation, joined, operate
from reservoir.hydro.power import generation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import YearRows
from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.system import System
from reservoir.planning.checks import Check, proof_lines
from reservoir.planning.columns import table_of
from reservoir.planning.firm_power import firm_power_of_problems, promising_all
from reservoir.planning.operated_record import OperatedSteps
from reservoir.planning.plan import Plan
from reservoir.planning.search import stated_solutions
from reservoir.planning.sentences import Leeway, beyond_bounds, demand_shortfalls, storage_shortfall
from reservoir.planning.start import with_implied_end_value
from reservoir.problems.base import certify_all
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted, quantity

FloatArray = NDArray[np.float64]

RELEASE, START, SHORTAGE = "release_m3s", "storage_start_hm3", "shortage_m3s"
#: Columns whose numbers follow from the releases and the inflow; what is claimed of them is compared.
CLAIMS = (
    *("inflow_m3s", "storage_end_hm3", "energy_gwh", "power_mw", START, "level_m", "tailrace_m", "head_m"),
    *("turbined_m3s", "spill_m3s", "evaporation_hm3", "seepage_hm3", "withdrawal_m3s"),
)


@dataclass(frozen=True, eq=False)
class GivenSchedule:
    """What a file says of the steps of a record.

    Parameters
    ----------
    path : Path
    inflow : Inflow
        The years of the record that the file has.
    columns : mapping of str to ndarray, shape (years, steps)
        Releases, and whatever else the file has, in the program's units and by its names.
    half_digit : mapping of str to float
        Half of the last decimal of each column, in the program's unit.
    headings : mapping of str to str
        What the file calls each column.
    sizes : mapping of str to float
        One of each column's unit in the program's.
    not_read : tuple of str
        Headings of further columns, of which nothing is known.
    notes : tuple of str
        How its dates were read.
    rows : ndarray of int, shape (years * steps,), optional
        The row of the file of each step, the heading being the first; by default all that follow.
    """

    path: Path
    inflow: Inflow
    columns: Mapping[str, FloatArray]
    half_digit: Mapping[str, float]
    headings: Mapping[str, str]
    sizes: Mapping[str, float]
    not_read: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rows: NDArray[np.int64] | None = None

    def mistake(self, problem: str, name: str, year: int, step: int, expected: str, mend: str = "") -> Mistake:
        """A mistake at a number of the file, with its row as an editor shows it."""
        value = float(self.columns[name][year, step]) / self.sizes[name]
        place = year * self.inflow.steps + step
        row = place + 2 if self.rows is None else int(self.rows[place])  # the heading is row 1
        return Mistake(problem, expected, mend, str(self.path), row, self.headings[name], value)


#: Releases are rounded, to three decimals of m3/s at the coarsest and six at the finest: limits that are missed by less
#: than what that leaves open are kept.
FINEST_ROUNDING, COARSEST_ROUNDING = 5e-7, 5e-4
#: Numbers that are recomputed round off by this part of the largest.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class CheckedSchedule:
    """What the releases of a file come to.

    Parameters
    ----------
    plan : Plan or SystemPlan
        With releases that keep the limits exactly, within the rounding of the file; where the file's do not keep them,
        with others that do as far as possible.
    energy_gwh : float
        Of the file's releases.
    kept : ndarray of bool, shape (problems,)
        Whether the file's releases keep the limits of a problem.
    missed : tuple of str
        Limits that are not kept: year, step, quantity and amount.
    differences : tuple of Mistake
        Claims of the file that do not follow from its releases.
    not_read : tuple of str
        Columns of the file of which nothing is known.
    notes : tuple of str
        How its dates were read.
    """

    plan: Any
    energy_gwh: float
    kept: NDArray[np.bool_]
    missed: tuple[str, ...]
    differences: tuple[Mistake, ...]
    not_read: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def proven(self, plan: Any) -> CheckedSchedule:
        """The same with its plan and what was proved; a problem whose limits are not kept has no gap."""
        gap = np.where(self.kept, plan.proofs.gap, np.nan)
        return replace(self, plan=replace(plan, proofs=replace(plan.proofs, gap=gap)))

    def energy_sentence(self) -> str:
        """What the releases make."""
        years, energy = counted(self.plan.inflow.years, "year"), quantity(self.energy_gwh)
        return f"Recomputed from the releases: {energy} GWh in {years}"

    def checks(self) -> list[Check]:
        """What must hold."""
        return [
            Check("limits that the schedule does not keep", len(self.missed), 0),
            Check("numbers that do not follow from the releases", len(self.differences), 0),
            *proof_lines(self.plan),
        ]


def checked_schedule(
    reservoir: Reservoir, record: Inflow, given: GivenSchedule, horizon: Horizon | str | int | None = None
) -> CheckedSchedule:
    """Operate a record with the releases of a file, and compare what follows with what the file claims.

    Parameters
    ----------
    reservoir : Reservoir
    record : Inflow
        The whole record, which may decide what water left at the end is worth.
    given : GivenSchedule
        Of years of this record.
    horizon : Horizon, str or int, optional
        What was planned as one problem; by default as the reservoir says.
    """
    system = System.of(reservoir)
    record = system.on_calendar(record)
    valued = with_implied_end_value(reservoir, record)
    problems = record_problems(valued, system.on_calendar(given.inflow), system.asked_horizon(horizon))
    asked, slack = positions_of(problems, given), rounding_of(given)
    parts = zip(problems.batches, problems.split(asked), strict=True)
    positions = [each for batch, own in parts for each in within_rounding(batch, np.stack(list(own)), slack)]
    within_limits = problems.operate(positions)
    if problems.model.system.objective.is_firm:
        problems = promising_all(problems, firm_power_of_problems(problems, within_limits))
    none, worth = np.zeros(len(problems), np.int64), certify_all(problems.each, positions)
    made: dict[str, Any] = {"solver": "schedule", "device": "", "wall_seconds": 0.0, "device_seconds": None}
    made |= {name: getattr(worth, name) for name in ("fitness", "benefit", "violation", "operation")}
    solutions = stated_solutions(positions, {}, generations=none, evaluations=none, **made)
    plan = Plan(reservoir, problems.inflow, problems, within_limits, solutions, Solutions.of([]), (), {})
    verified = Verified.of(plan, given, asked, slack)
    kept = ~np.isin(np.arange(len(problems)), [problem for problem, _ in verified.missed])
    sentences = tuple(sentence for _, sentence in verified.missed)
    energy = float(verified.operation.energy_gwh.sum())
    return CheckedSchedule(plan, energy, kept, sentences, verified.differences, given.not_read, given.notes)


def rounding_of(given: GivenSchedule) -> float:
    """What the decimals of the releases leave open of each, m3/s."""
    return float(np.clip(given.half_digit[RELEASE], FINEST_ROUNDING, COARSEST_ROUNDING))


class Verified(NamedTuple):
    """What the releases of a file come to in one reservoir.

    Parameters
    ----------
    operation : Operation
        Of the file's releases, whatever limits say.
    missed : list of (int, str)
        Limits that are not kept: the problem, and a sentence.
    differences : tuple of Mistake
        Claims that do not follow.
    """

    operation: Operation
    missed: list[tuple[int, str]]
    differences: tuple[Mistake, ...]

    @classmethod
    def of(cls, plan: Plan, given: GivenSchedule, positions: list[FloatArray], slack_m3s: float) -> Verified:
        """Of a plan that has the releases as far as limits allow; `slack_m3s` is what rounding leaves open of each."""
        problems, shortage = plan.problems, shortage_of(given)
        as_given, more, less = (_as_given(problems, positions, shortage, by) for by in (0.0, slack_m3s, -slack_m3s))
        operated = replace(plan, operation=as_given)
        sound = _within(operated, slack_m3s)
        starts = list(_starts_outside(operated, given))
        known, leeway = {problem for problem, _ in starts}, _leeway(operated, given, slack_m3s)
        missed = [*starts, *_missed(operated, plan.operation, slack_m3s, sound, known, leeway)]
        differences = (
            *_needless_shortages(given, operated, slack_m3s),
            *_differences(given, plan.inflow, as_given, (more, less), np.logical_and(*sound)),
        )
        return cls(as_given, missed, differences)


def shortage_of(given: GivenSchedule) -> FloatArray:
    """What the file says that withdrawals are cut by, m3/s, shape (years, steps)."""
    return given.columns.get(SHORTAGE, np.zeros_like(given.columns[RELEASE]))


def positions_of(problems: RecordProblems, given: GivenSchedule) -> list[FloatArray]:
    """The releases of each problem, less what withdrawals were cut by, and the start of a cyclic one."""
    drafts = given.columns[RELEASE] - shortage_of(given)
    spans = problems.horizon.spans(problems.inflow.years)
    if not problems.cyclic:
        return [drafts[first:stop].ravel() for first, stop in spans]
    if START not in given.columns:
        problem = f"has no column {START}"
        expected = "the storage at the start of each year, because the year ends as it begins"
        raise InputError(problem, expected, "add the column", str(given.path), row=1)
    return [np.append(drafts[first:stop], given.columns[START][first, 0]) for first, stop in spans]


#: How often releases are moved, each time by what is then still missed.
_MOVED = 4


def within_rounding(batch: ReservoirYears, positions: FloatArray, slack_m3s: float) -> FloatArray:
    """Positions with releases moved where a demand is missed by what rounding leaves open of the release.

    Demands are the lowest power, and annual releases.
    """
    if not (batch.limits.demands_power or is_committed(batch.model.reservoir)):
        return positions
    steps = batch.limits.steps
    made, moved = batch.operate(positions), positions.copy()
    before, least, most = made.violation_sum, *(positions[..., :steps] + by * slack_m3s for by in (-2, 2))
    for _ in range(_MOVED):
        by = _lacking_power(batch, made, slack_m3s) + _lacking_volume(batch, made)
        if not by.any():
            break
        moved[..., :steps] = np.clip(moved[..., :steps] + by, least, most)
        made = batch.operate(moved)
    return np.where((made.violation_sum < before)[:, np.newaxis], moved, positions)


def _lacking_power(batch: ReservoirYears, made: Operation, slack_m3s: float) -> FloatArray:
    """By how much releases are to be raised for the lowest power, m3/s, shape (problems, steps)."""
    if not batch.limits.demands_power:
        return np.zeros_like(made.release_m3s)
    lowest = batch.limits.power_demanded_mw
    short = lowest - made.power_mw
    gain = _power_at(batch.model.reservoir, batch.exact_year, made, slack_m3s) - made.power_mw
    missed = (short > KEPT * lowest) & (gain > 0)
    return np.where(missed, slack_m3s * short / np.where(missed, gain, 1.0), 0.0)


def _lacking_volume(batch: ReservoirYears, made: Operation) -> FloatArray:
    """By how much all releases of a water year are to be moved for its commitments, m3/s, shape (problems, steps)."""
    reservoir, volumes = batch.model.reservoir, batch.limits.hm3_per_m3s
    if not is_committed(reservoir):
        return np.zeros_like(made.release_m3s)
    per_year = reservoir.step.per_year
    missing = sum(side * missing_hm3(reservoir, made, volumes, side) for side in sides(reservoir))
    by = missing / volumes.reshape(len(volumes), -1, per_year).sum(axis=-1)
    return np.repeat(by, per_year, axis=-1)


def _power_at(
    reservoir: Reservoir, years: YearRows, made: Operation, more_m3s: float, more_hm3: FloatArray | float = 0.0
) -> FloatArray:
    """Power of an operation with other releases and storages, MW, shape (years, steps)."""
    storage = (made.storage_hm3[:, 1:] + made.storage_hm3[:, :-1]) / 2
    release, of_step = np.maximum(made.release_m3s + more_m3s, 0.0), (slice(None), slice(None))
    return generation(reservoir, storage + more_hm3, release, years.by_field, of_step).power_mw


def _leeway(plan: Plan, given: GivenSchedule, slack_m3s: float) -> FloatArray:
    """What rounding leaves open of each step's demands, as of `Leeway`, shape (4, years, steps)."""
    bounds, operation = plan.problems.year_bounds, plan.operation
    power = np.zeros_like(operation.release_m3s)
    if bounds.demands_power:
        years = without_foresight(bounds, operation.storage_hm3[:, 0])
        slack_hm3 = _slack(plan, slack_m3s) * plan.inflow.calendar.hm3_per_m3s
        own = _power_at(plan.reservoir, years, operation, 0.0)
        for flow, volume in product((-1.01 * slack_m3s, 1.01 * slack_m3s), (-slack_hm3, slack_hm3)):
            power = np.fmax(power, _power_at(plan.reservoir, years, operation, flow, volume) - own)
    short = 1.01 * _open_shortage(given) if SHORTAGE in given.columns else 0.0
    annual = 1.01 * slack_m3s * plan.inflow.calendar.hm3_per_m3s.sum(axis=1, keepdims=True)
    return np.stack([np.broadcast_to(each, power.shape) for each in (short, power, 2.02 * slack_m3s, annual)])


def _open_shortage(given: GivenSchedule) -> float:
    """What its decimals leave open of a shortage, m3/s."""
    return float(np.clip(given.half_digit[SHORTAGE], FINEST_ROUNDING, COARSEST_ROUNDING))


def _as_given(
    problems: RecordProblems, positions: list[FloatArray], shortage: FloatArray, moved_by: float
) -> Operation:
    """What releases come to that no limit changes, all of them moved by a flow; a row for each year."""
    cut = problems.split([shortage[first:stop].ravel() for first, stop in problems.horizon.spans(len(shortage))])
    parts = zip(problems.batches, problems.split(positions), cut, strict=True)
    steps = problems.inflow.steps
    return joined(
        [
            unlimited(batch, np.stack(list(position)), np.stack(list(short)), moved_by).in_years(steps)
            for batch, position, short in parts
        ]
    )


def unlimited(batch: ReservoirYears, positions: FloatArray, shortage: FloatArray, moved_by: float = 0.0) -> Operation:
    """What releases of problems come to, less what withdrawals are cut by, that no limit changes."""
    limits, (drafts, starts) = batch.limits, np.split(positions, [batch.limits.steps], axis=-1)
    start = starts[:, 0] if limits.initial_storage_hm3 is None else limits.initial_storage_hm3
    years = without_foresight(limits, np.array(start, np.float64))
    none = np.full(years.reach_lower.shape, np.inf)
    release = (drafts + shortage + moved_by).clip(min=0)
    # Nor are releases cut to the water that is there: that they ask for more is for the limits of storages to tell.
    dead = np.full_like(years.dead, -np.inf)
    free: dict[str, Any] = {"reach_lower": -none, "reach_upper": none, "release_upper": none, "dead": dead}
    years = years._replace(cyclic=False)
    if not limits.lake:
        return operate(batch.model.exact, years.changed(**free, release_lower=0.0), release)
    withdrawal = years.withdrawal
    # With these as least drafts, releases are those of the file, whatever is cut of withdrawals beside them.
    years = years.changed(**free, release_lower=release - withdrawal, ramp_up=np.inf, ramp_down=np.inf)
    return operate(batch.model.exact, years, release - np.minimum(shortage, withdrawal))


def _within(plan: Plan, slack_m3s: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether releases, and storages at the ends of steps, are within their limits, shape (years, steps)."""
    problems, bounds, operation = plan.problems, plan.problems.year_bounds, plan.operation
    release, storage = operation.release_m3s, operation.storage_hm3
    lower, upper = plan.reservoir.release_bounds_m3s
    outside, most = np.maximum(lower - release, release - upper), float(plan.reservoir.release_upper_m3s.max())
    ends = storage[:, 1:]
    beyond = np.maximum(bounds.storage_lower_hm3 - ends, ends - bounds.storage_upper_hm3)
    if problems.cyclic:
        last = np.array([problems.ends_with(year) for year in range(len(ends))])
        first = np.array([problems.first_year(year) for year in range(len(ends))])
        beyond[last, -1] = np.abs(ends[last, -1] - storage[first[last], 0])
    slack_hm3 = _slack(plan, slack_m3s) * plan.inflow.calendar.hm3_per_m3s
    return outside <= 1.01 * slack_m3s + REPAIR_TOLERANCE * most, beyond <= slack_hm3


def _starts_outside(plan: Plan, given: GivenSchedule) -> Iterator[tuple[int, str]]:
    """Starts of cyclic problems that are beyond the limits of the storage at their end, which is the same."""
    problems, bounds = plan.problems, plan.problems.year_bounds
    for year in filter(problems.ends_with, range(plan.inflow.years)) if problems.cyclic else ():
        first = problems.first_year(year)
        start, open_to = float(plan.operation.storage_hm3[first, 0]), 1.01 * given.half_digit[START]
        lower, upper = (float(each[year, -1]) for each in (bounds.storage_lower_hm3, bounds.storage_upper_hm3))
        if not lower - open_to <= start <= upper + open_to:
            what = "the storage at the start, and so at the end,"
            sentence = beyond_bounds(what, start, (lower, upper), "hm3", plan)
            yield int(problems.of_year[year]), f"{plan.inflow.labels[first]}: {sentence}"


def _missed(
    plan: Plan,
    within_limits: Operation,
    slack_m3s: float,
    sound: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    known: set[int],
    leeway: FloatArray,
) -> Iterator[tuple[int, str]]:
    """Limits that the releases of a plan as given do not keep: the problem, and a sentence.

    Of a problem that is not `known` to miss one that no schedule has its releases, where that is all.
    """
    calendar, of_year = plan.inflow.calendar, plan.problems.of_year
    release, storage = sound
    release_bounds = plan.reservoir.release_bounds_m3s
    for year, step in np.ndindex(*release.shape):
        own = Leeway(*leeway[:, year, step].tolist())
        words = [each.sentence for each in demand_shortfalls(plan, year, step, own)]
        if not release[year, step]:
            lower, upper = (float(bound[step]) for bound in release_bounds)
            flow = float(plan.operation.release_m3s[year, step])
            words.append(beyond_bounds("the release", flow, (lower, upper), "m3/s", plan))
        if not storage[year, step]:
            words += [each.sentence for each in storage_shortfall(plan, year, step)]
        for each in words:
            known.add(int(of_year[year]))
            yield int(of_year[year]), f"{plan.inflow.labels[year]} {calendar.step_names[step]}: {each}"
    same = np.abs(within_limits.release_m3s - plan.operation.release_m3s) <= 2 * _slack(plan, slack_m3s)
    for year in np.flatnonzero(~same.all(axis=1)).tolist():
        if int(of_year[year]) not in known:
            yield int(of_year[year]), f"{plan.inflow.labels[year]}: no schedule within the limits has these releases"


def _slack(plan: Plan, slack_m3s: float) -> FloatArray:
    """What the rounding of the releases so far leaves open of that of a step, m3/s, shape (years, steps)."""
    steps, problems = plan.inflow.steps, plan.problems
    before = [(year - problems.first_year(year)) * steps for year in range(plan.inflow.years)]
    rounded = np.array(before)[:, np.newaxis] + np.arange(2, steps + 2)
    most = float(plan.reservoir.release_upper_m3s.max())
    return np.asarray(slack_m3s * rounded + REPAIR_TOLERANCE * most, np.float64)


def _needless_shortages(given: GivenSchedule, plan: Plan, slack_m3s: float) -> Iterator[Mistake]:
    """Shortages of no withdrawal, and beside a release from which it could be taken: they do not belong together."""
    if SHORTAGE not in given.columns:
        return
    shortage, release = given.columns[SHORTAGE], given.columns[RELEASE]
    limits, (lower, _) = plan.problems.year_bounds, plan.reservoir.release_bounds_m3s
    withdrawal = limits.withdrawal_m3s if limits.lake else np.zeros_like(release)
    open_to, size = _open_shortage(given), given.sizes[SHORTAGE]
    for year, step in np.argwhere(shortage > open_to).tolist():
        most, least = float(withdrawal[year, step]), float(lower[step])
        if shortage[year, step] > most + open_to:
            expected = f"at most {most / size:,.6g}, the withdrawal"
            yield given.mistake("is more than is to be withdrawn", SHORTAGE, year, step, expected)
        elif release[year, step] > least + slack_m3s + open_to:
            short = f"{shortage[year, step] / size:,.6g}"
            problem = f"does not follow beside a shortage of {short}: withdrawals are cut at the least release only"
            expected = f"{least / given.sizes[RELEASE]:,.6g}, its lower limit, or no shortage"
            yield given.mistake(problem, RELEASE, year, step, expected)


def _differences(
    given: GivenSchedule,
    inflow: Inflow,
    follows: Operation,
    around: tuple[Operation, Operation],
    sound: NDArray[np.bool_],
) -> Iterator[Mistake]:
    """Claims that are further from what follows than what the decimals of the file leave open.

    Steps outside their limits say nothing of how large numbers are, and so of how they round.
    """
    computed, more, less = (table_of("steps", OperatedSteps(inflow, each)) for each in (follows, *around))
    for name in (RELEASE, *CLAIMS):  # a plant without storage releases what comes
        if name not in given.columns or name not in computed:
            continue
        open_to = np.abs(more[name] - less[name]) + given.half_digit[name] * 1.01
        allowed = open_to + _ROUNDING * float(np.abs(computed[name][sound]).max(initial=0.0))
        for year, step in np.argwhere(~(np.abs(given.columns[name] - computed[name]) <= allowed)).tolist():
            expected = f"{float(computed[name][year, step]) / given.sizes[name]:,.6f}"
            yield given.mistake("does not follow from the releases", name, year, step, expected)
