"""The optimised years that rules are fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.rules.base.other_starts import Decisions, OtherStarts, other_starts

if TYPE_CHECKING:
    from reservoir.hydro.limits import Limits
    from reservoir.hydro.objective import Operation
    from reservoir.hydro.record_conditions import RecordConditions
    from reservoir.planning.plan import Plan
    from reservoir.problems.reservoir.year import ReservoirModel

FloatArray = NDArray[np.float64]

#: Of an ensemble: that many years hold what a search can learn, and each more makes it longer.
MOST_SEARCHED_YEARS = 300


@dataclass(frozen=True, eq=False)
class Training:
    """Optimised years, any selection of a plan's; arrays of shape (years, steps).

    Parameters
    ----------
    model : ReservoirModel
        The reservoir.
    labels : sequence of str
        Names of the years.
    inflow_m3s, inflow_before_m3s : ndarray
        Mean inflow of each step and of the step before it. Before the first step of a record stands the mean of the
        record's last steps, since nothing is known of it.
    storage_start_hm3, storage_end_hm3 : ndarray
        Storage around each step.
    release_m3s, power_mw : ndarray
        What the plan does.
    loss_m3s : ndarray
        What the plan loses to evaporation, seepage and withdrawals, as a flow.
    hm3_per_m3s : ndarray
        hm3 that 1 m3/s carries in each step.
    limits : Limits
        Bounds of the steps, losses of the lake, demands on the plant and the terms of the objective.
    end_value_per_hm3 : float or None
        The plan's mean water value at the end of a year, in the unit of the objective; None of years planned by
        themselves for energy.
    member : ndarray of int, shape (years,)
        Place of the member of an ensemble that each year belongs to; all 0 of a record. The years of a member follow
        each other, and each begins anew.
    other_starts : OtherStarts or None
        What the plan would decide off its path, where storage carries over years.
    """

    model: ReservoirModel
    labels: Sequence[str]
    inflow_m3s: FloatArray
    inflow_before_m3s: FloatArray
    storage_start_hm3: FloatArray
    storage_end_hm3: FloatArray
    release_m3s: FloatArray
    power_mw: FloatArray
    loss_m3s: FloatArray
    hm3_per_m3s: FloatArray
    limits: Limits
    member: NDArray[np.int64]
    end_value_per_hm3: float | None = None
    other_starts: OtherStarts | None = None

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
            raise InputError(Mistake(problem, "a plan of whole water years", "plan without --from"))
        plan.inflow.require_months("the fit of rules")
        plan.inflow.require_whole_members("the fit of rules")
        limits = open_limits(plan.problems.model.reservoir, plan.inflow)
        require_no_ramps(limits.conditions)
        storage, members = plan.operation.storage_hm3, plan.inflow.member_count
        made = cls(
            plan.problems.model,
            plan.inflow.labels,
            plan.inflow.flow_m3s,
            inflow_before(plan.inflow.flow_m3s, members=members),
            storage[:, :-1],
            storage[:, 1:],
            plan.operation.release_m3s,
            plan.operation.power_mw,
            _losses_m3s(plan.operation, plan.inflow.calendar.hm3_per_m3s),
            plan.inflow.calendar.hm3_per_m3s,
            limits,
            np.repeat(np.arange(members), plan.inflow.years // members),
            _end_value(plan, limits),
        )
        if plan.horizon.is_year:
            return made
        return replace(made, other_starts=other_starts(made.model, limits, made.planned, made.member))

    @property
    def planned(self) -> Decisions:
        """What the plan decides in these years."""
        return Decisions(*(getattr(self, field.name) for field in fields(Decisions)))

    @property
    def decisions(self) -> Decisions:
        """What the plan decides, and behind it what it would decide from other starts."""
        return self.planned if self.other_starts is None else self.planned.followed_by(self.other_starts.decisions)

    def counts_of_decisions(self, of_years: FloatArray) -> FloatArray:
        """How much each year of `decisions` counts, from how much each of these years does, shape (decided years,)."""
        return of_years if self.other_starts is None else np.append(of_years, self.other_starts.counts(of_years))

    def select(self, years: Sequence[int]) -> Training:
        """Some of the years, by their place."""
        chosen = np.array(list(years), np.int64)
        taken = {
            field.name: getattr(self, field.name)[chosen]
            for field in fields(self)
            if field.name not in ("model", "labels", "end_value_per_hm3", "other_starts")
        }
        labels = tuple(self.labels[year] for year in chosen)
        others = None if self.other_starts is None else self.other_starts.within(chosen, self.years)
        return Training(self.model, labels, **taken, end_value_per_hm3=self.end_value_per_hm3, other_starts=others)

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


def _end_value(plan: Plan, limits: Limits) -> float | None:
    """Mean water value at the end of the years; None of years planned by themselves for energy."""
    if plan.horizon.is_year and limits.terms is None and limits.conditions is None:
        return None
    from reservoir.planning.water_values import water_values_of

    found = plan.water_values or water_values_of(plan.problems, plan.operation, plan.feasible_problems)
    ends = found.month_end_gwh_per_hm3[:, -1]
    known = ends[np.isfinite(ends)]
    return max(float(known.mean()), 0.0) if known.size else 0.0


def _losses_m3s(operation: Operation, hm3_per_m3s: FloatArray) -> FloatArray:
    """Evaporation, seepage and withdrawals of each step as a flow, shape (years, steps)."""
    return operation.withdrawal_m3s + (operation.evaporation_hm3 + operation.seepage_hm3) / hm3_per_m3s


def require_no_ramps(conditions: RecordConditions | None) -> None:
    """Refuse what rules do not know.

    Raises
    ------
    InputError
        If the release may change by so much only from step to step: perfect foresight, which rules are compared with,
        is found by dynamic programming, which does not know such a limit.
    """
    if conditions is not None and conditions.ramps:
        problem, expected = "rules do not know a limit of the change of the release", "a reservoir without one"
        raise InputError(Mistake(problem, expected, "remove the ramping limits to fit or run rules"))


def inflow_before(flow_m3s: FloatArray, first_m3s: float | None = None, members: int = 1) -> FloatArray:
    """Inflow of the step before each step of consecutive years, shape (years, steps).

    Before the very first step, of each of so many members, stands `first_m3s`, or the mean of the years' last steps
    where it is not known.
    """
    first = flow_m3s[:, -1].mean() if first_m3s is None else first_m3s
    before = np.full((members, flow_m3s.size // members), first)
    before[:, 1:] = flow_m3s.reshape(members, -1)[:, :-1]
    return before.reshape(flow_m3s.shape)
