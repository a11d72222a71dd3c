"""The optimised years that rules are fitted to: all, or some of them to decide in the others.

Where storage carries over years, a plan is one long path, and a rule that is fitted to it alone has never seen the
storages that it gets to itself. There the record is cut into spans of some years; each begins empty or full, and leads
back to the plan at its end (`OtherStarts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.commitments import require_uncommitted

if TYPE_CHECKING:
    from reservoir.hydro.limits import Limits
    from reservoir.hydro.operation import Operation
    from reservoir.hydro.reservoir import Reservoir
    from reservoir.planning.plan import Plan
    from reservoir.problems.reservoir.year import ReservoirModel


FloatArray = NDArray[np.float64]

#: A month beyond its storage bounds by less than this part of the largest storage is a rounding.
ROUNDING = 1e-9
#: Years of a span: of fewer, all would be a way back to the plan; of more, most would be the plan.
SPAN_YEARS = 5


@dataclass(frozen=True, eq=False)
class Decisions:
    """Optimised years, as a rule is fitted to them; arrays of shape (years, steps).

    Parameters
    ----------
    inflow_m3s, inflow_before_m3s : ndarray
        Mean inflow of each step and of the step before it. Before the first step of a record stands the mean of the
        record's last steps, since nothing is known of it.
    storage_start_hm3, storage_end_hm3 : ndarray
        Storage around each step.
    storage_upper_hm3 : ndarray
        The highest storage that is allowed at the end of each step.
    release_m3s, power_mw : ndarray
        What the plan does.
    """

    inflow_m3s: FloatArray
    inflow_before_m3s: FloatArray
    storage_start_hm3: FloatArray
    storage_end_hm3: FloatArray
    storage_upper_hm3: FloatArray
    release_m3s: FloatArray
    power_mw: FloatArray

    def chosen(self, years: NDArray[np.integer] | NDArray[np.bool_]) -> Decisions:
        """Some of the years."""
        return Decisions(*(getattr(self, name)[years] for name in _DECIDED))

    def followed_by(self, other: Decisions) -> Decisions:
        """These years and others behind them."""
        return Decisions(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in _DECIDED))


_DECIDED = tuple(field.name for field in fields(Decisions))


@dataclass(frozen=True, eq=False)
class OtherStarts:
    """Years of spans that begin off the plan.

    Parameters
    ----------
    decisions : Decisions
    span : ndarray of int, shape (years, SPAN_YEARS)
        Places, among the years of the plan, of those that were optimised together with a year.
    """

    decisions: Decisions
    span: NDArray[np.int64]

    def within(self, years: NDArray[np.int64], of: int) -> OtherStarts:
        """Those that know no other years than the chosen ones, by the places that these then have.

        Parameters
        ----------
        years : ndarray of int, shape (chosen,)
        of : int
            Number of all years.
        """
        place = np.full(of, -1)
        place[years] = np.arange(len(years))
        span = place[self.span]
        known: NDArray[np.bool_] = np.asarray((span >= 0).all(axis=1))
        return OtherStarts(self.decisions.chosen(known), span[known])


def other_starts(model: ReservoirModel, limits: Limits, plan: Decisions, member: NDArray[np.int64]) -> OtherStarts:
    """Optimise every span from the lowest and from the highest storage; one that cannot keep the limits is left out.

    Parameters
    ----------
    model : ReservoirModel
    limits : Limits
        Of the plan's years, nothing said of their ends.
    plan : Decisions
    member : ndarray of int, shape (years,)
    """
    from reservoir.rules.base.foresight import operated  # which loads solvers

    years_of_members = np.split(np.arange(len(member)), np.flatnonzero(np.diff(member)) + 1)
    first = [years[at] for years in years_of_members for at in range(0, len(years) - SPAN_YEARS + 1, SPAN_YEARS)]
    spans = np.array(first, np.int64).reshape(-1, 1) + np.arange(SPAN_YEARS)
    if not len(spans):
        return OtherStarts(plan.chosen(np.arange(0)), spans)
    horizons = limits[spans.ravel()].joined(SPAN_YEARS)
    ends = plan.storage_end_hm3[spans[:, -1], -1]
    low, high = (
        _from_start(operated(model, horizons, list(map(str, first)), np.full(len(ends), start), ends), plan, spans)
        for start in model.reservoir.storage_bounds_hm3[:, -1].tolist()
    )
    return OtherStarts(low.decisions.followed_by(high.decisions), np.concatenate([low.span, high.span]))


def _from_start(operation: Operation, plan: Decisions, spans: NDArray[np.int64]) -> OtherStarts:
    """The spans that keep the limits from a start, operated by dynamic programming."""
    kept = np.repeat((operation.violation == 0).all(axis=1), SPAN_YEARS)
    years = operation.in_years(plan.inflow_m3s.shape[1])
    decisions = replace(
        plan.chosen(spans.ravel()),
        storage_start_hm3=years.storage_hm3[:, :-1],
        storage_end_hm3=years.storage_hm3[:, 1:],
        release_m3s=years.release_m3s,
        power_mw=years.power_mw,
    )
    return OtherStarts(decisions.chosen(kept), np.repeat(spans, SPAN_YEARS, axis=0)[kept])


#: Of an ensemble: that many years hold what a search can learn, and each more makes it longer.
MOST_SEARCHED_YEARS = 300


@dataclass(frozen=True)
class Promise:
    """Mean power (MW) that a rule is to give in a share of the months, and where the power comes from, in words."""

    power_mw: float
    share: float
    origin: str


@dataclass(frozen=True, eq=False)
class Training(Decisions):
    """Optimised years, any selection of a plan's: its `Decisions`, and further arrays of shape (years, steps).

    Parameters
    ----------
    loss_m3s : ndarray
        What the plan loses to evaporation, seepage and withdrawals, as a flow.
    hm3_per_m3s : ndarray
        hm3 that 1 m3/s carries in each step.
    limits : Limits
        Bounds of the steps, losses of the lake, demands on the plant and the terms of the objective.
    member : ndarray of int, shape (years,)
        Place of the member of an ensemble that each year belongs to; all 0 of a record. The years of a member follow
        each other, and each begins anew.
    model : ReservoirModel
        The reservoir.
    labels : sequence of str
        Names of the years.
    end_value_per_hm3 : float or None
        The plan's mean water value at the end of a year, in the unit of the objective; None of years planned by
        themselves for energy.
    other_starts : OtherStarts or None
        What the plan would decide off its path, where storage carries over years.
    promise : Promise or None
        What a rule is to give (`reservoir.rules.reliability`).
    """

    loss_m3s: FloatArray
    hm3_per_m3s: FloatArray
    limits: Limits
    member: NDArray[np.int64]
    model: ReservoirModel
    labels: Sequence[str]
    end_value_per_hm3: float | None = None
    other_starts: OtherStarts | None = None
    promise: Promise | None = None

    @classmethod
    def of(cls, plan: Plan) -> Training:
        """All years of a plan.

        Raises
        ------
        InputError
            If it has no whole water years of months, or its reservoir limits the change of the release.
        """
        # Compiled code is loaded for fitting alone: an operator with a rule does not wait for it.
        from reservoir.hydro.horizon_limits import open_limits

        if plan.start:
            problem = f"the plan begins in {plan.start}, and has no whole water years"
            raise InputError(problem, "a plan of whole water years", "plan without --from")
        plan.inflow.require_months("the fit of rules")
        plan.inflow.require_whole_members("the fit of rules")
        limits = open_limits(plan.problems.model.system, plan.inflow)
        require_no_ramps(plan.problems.model.reservoir)
        operation, members, hm3_per_m3s = plan.operation, plan.inflow.member_count, plan.inflow.calendar.hm3_per_m3s
        lost_m3s = (operation.evaporation_hm3 + operation.seepage_hm3) / hm3_per_m3s
        lost_m3s = lost_m3s - (plan.inflow.flow_m3s - limits.inflow_m3s)  # what was recorded is no inflow for rules
        made = cls(
            inflow_m3s=limits.inflow_m3s,
            inflow_before_m3s=inflow_before(limits.inflow_m3s, members=members),
            storage_start_hm3=operation.storage_hm3[:, :-1],
            storage_end_hm3=operation.storage_hm3[:, 1:],
            storage_upper_hm3=limits.storage_upper_hm3,
            release_m3s=operation.release_m3s,
            power_mw=operation.power_mw,
            loss_m3s=operation.withdrawal_m3s + lost_m3s,
            hm3_per_m3s=hm3_per_m3s,
            limits=limits,
            member=np.repeat(np.arange(members), plan.inflow.years // members),
            model=plan.problems.model,
            labels=plan.inflow.labels,
            end_value_per_hm3=_end_value(plan, limits),
        )
        if plan.horizon.is_year:
            return made
        return replace(made, other_starts=other_starts(made.model, limits, made, made.member))

    @property
    def decisions(self) -> Decisions:
        """What the plan decides, and behind it what it would decide from other starts."""
        return self if self.other_starts is None else self.followed_by(self.other_starts.decisions)

    def counts_of_decisions(self, of_years: FloatArray) -> FloatArray:
        """How much each year of `decisions` counts, shape (decided years,); off the plan, as the least of its span."""
        of_spans = [] if self.other_starts is None else of_years[self.other_starts.span].min(axis=1, initial=np.inf)
        return np.append(of_years, of_spans)

    def select(self, years: Sequence[int]) -> Training:
        """Some of the years, by their place."""
        places = np.array(list(years), np.int64)
        return replace(
            self,
            **{
                name: getattr(self, name)[places] for name in (*_DECIDED, "loss_m3s", "hm3_per_m3s", "limits", "member")
            },
            labels=tuple(self.labels[year] for year in places),
            other_starts=None if self.other_starts is None else self.other_starts.within(places, self.years),
        )

    def searched(self) -> Training:
        """The years that a rule is searched on, which operates them thousands of times.

        All of a record; of an ensemble of more than `MOST_SEARCHED_YEARS`, as many whole members, evenly spread.
        """
        members = self.first_years
        most = max(1, MOST_SEARCHED_YEARS * len(members) // self.years)
        if len(members) <= most:
            return self
        chosen = self.member[members[np.linspace(0, len(members) - 1, most).round().astype(np.int64)]]
        return self.select(np.flatnonzero(np.isin(self.member, chosen)).tolist())

    @property
    def first_years(self) -> NDArray[np.int64]:
        """Places of the years that each member begins with; of a record, of its first year."""
        return np.flatnonzero(np.diff(self.member, prepend=-1))

    @property
    def years(self) -> int:
        """Number of years."""
        return len(self.labels)

    @property
    def start_hm3(self) -> float:
        """Storage at the start of the first year: what runs over all years start with."""
        return float(self.storage_start_hm3[0, 0])

    @property
    def steps(self) -> int:
        """Steps in a year."""
        return int(self.inflow_m3s.shape[1])


#: Told which part of a fit is done.
_PART_TOLD: ContextVar[Callable[[float], None]] = ContextVar("part told")


def tell_part(part: float) -> None:
    """Tell, in a fit or a simulation, which part of it is done, from 0 to 1; no-op where nobody listens."""
    if tell := _PART_TOLD.get(None):
        tell(part)


@contextmanager
def parts_told(tell: Callable[[float], None]) -> Iterator[None]:
    """Listen to the fits during a block."""
    token = _PART_TOLD.set(tell)
    try:
        yield
    finally:
        _PART_TOLD.reset(token)


@contextmanager
def part_of_fit(place: int, count: int) -> Iterator[None]:
    """One of so many equal parts of a fit, which tells its own parts."""
    whole = _PART_TOLD.get(None)
    if whole is None:
        yield
        return
    whole(place / count)
    with parts_told(lambda part: whole((place + part) / count)):
        yield


Item = TypeVar("Item")


def parts_of_fit(items: Sequence[Item], count: int = 0) -> Iterator[Item]:
    """What a fit goes through, each item as one of so many equal parts of it, or of as many as items."""
    for place, item in enumerate(items):
        with part_of_fit(place, count or len(items)):
            yield item


Made = TypeVar("Made", bound=Callable[..., Any])


def made_once(make: Made) -> Made:
    """Make what several families ask of the same training years once; it is kept as long as the years are."""
    kept: WeakKeyDictionary[Any, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()

    @wraps(make)
    def of(training: Any, *further: Any) -> Any:
        made = kept.setdefault(training, {})
        if further not in made:
            made[further] = make(training, *further)
        return made[further]

    return cast(Made, of)


def _end_value(plan: Plan, limits: Limits) -> float | None:
    """Mean water value at the end of the years; None of years planned by themselves for energy."""
    if plan.horizon.is_year and not (limits.priced or limits.lake):
        return None
    from reservoir.planning.water_values import water_values_of

    values = plan.water_values or water_values_of(plan.problems, plan.operation, plan.feasible_problems)
    ends = values.month_end_gwh_per_hm3[:, -1]
    known = ends[np.isfinite(ends)]
    return max(float(known.mean()), 0.0) if known.size else 0.0


def require_no_ramps(reservoir: Reservoir) -> None:
    """Refuse what rules do not know.

    Raises
    ------
    InputError
        If the release may change by so much only from step to step: perfect foresight, which rules are compared with,
        is found by dynamic programming, which does not know such a limit; or if it is to release a volume in each year.
    """
    require_uncommitted(reservoir, "rules do")
    if reservoir.ramp_up_m3s is not None or reservoir.ramp_down_m3s is not None:
        problem, expected = "rules do not know a limit of the change of the release", "a reservoir without one"
        raise InputError(problem, expected, "remove the ramping limits to fit or run rules")


def inflow_before(flow_m3s: FloatArray, first_m3s: float | None = None, members: int = 1) -> FloatArray:
    """Inflow of the step before each step of consecutive years, shape (years, steps).

    Before the very first step, of each of so many members, stands `first_m3s`, or the mean of the years' last steps
    where it is not known.
    """
    first = flow_m3s[:, -1].mean() if first_m3s is None else first_m3s
    before = np.full((members, flow_m3s.size // members), first)
    before[:, 1:] = flow_m3s.reshape(members, -1)[:, :-1]
    return before.reshape(flow_m3s.shape)


def blocks(years: int, folds: int) -> list[range]:
    """Cut years into blocks of consecutive years, as equal as can be; as many folds as years leave one out at a time.

    Raises
    ------
    InputError
        If there are not between 2 and `years` folds.
    """
    if not 2 <= folds <= years:
        raise InputError("is not a valid number of folds", f"2 to {years}, the number of years", value=folds)
    edges = np.linspace(0, years, folds + 1).round().astype(int)
    return [range(int(first), int(last)) for first, last in pairwise(edges)]


def parts_of(training: Training, folds: int) -> list[range]:
    """Cut training years into blocks of consecutive ones; an ensemble of enough members into blocks of whole members.

    Raises
    ------
    InputError
        If there are not between 2 and as many folds as years.
    """
    first = training.first_years
    if len(first) < max(folds, 2):
        return blocks(training.years, folds)
    edges = [*first.tolist(), training.years]
    return [range(edges[part.start], edges[part.stop]) for part in blocks(len(first), folds)]


def outside(years: int, block: range) -> list[int]:
    """The years that are not in a block."""
    return [year for year in range(years) if year not in block]
