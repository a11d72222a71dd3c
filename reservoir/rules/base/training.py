"""The optimised years that rules are fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake

if TYPE_CHECKING:
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
    hm3_per_m3s : ndarray
        hm3 that 1 m3/s carries in each step.
    member : ndarray of int, shape (years,)
        Place of the member of an ensemble that each year belongs to; all 0 of a record. The years of a member follow
        each other, and each begins anew.
    """

    model: ReservoirModel
    labels: Sequence[str]
    inflow_m3s: FloatArray
    inflow_before_m3s: FloatArray
    storage_start_hm3: FloatArray
    storage_end_hm3: FloatArray
    release_m3s: FloatArray
    power_mw: FloatArray
    hm3_per_m3s: FloatArray
    member: NDArray[np.int64]

    @classmethod
    def of(cls, plan: Plan) -> Training:
        """All years of a plan.

        Raises
        ------
        InputError
            If it has no whole water years, or its reservoir has conditions or an objective that rules do not know.
        """
        if not plan.objective.is_energy:
            problem = f"rules know energy only, and the plan optimises {plan.objective.title}"
            raise InputError(Mistake(problem, "a plan of energy", "plan with --objective energy"))
        require_no_conditions(plan.operation.has_conditions)
        if plan.start:
            problem = f"the plan begins in {plan.start}, and has no whole water years"
            raise InputError(Mistake(problem, "a plan of whole water years", "plan without --from"))
        plan.inflow.require_whole_members("the fit of rules")
        storage = plan.operation.storage_hm3
        return cls(
            plan.problems.model,
            plan.inflow.labels,
            plan.inflow.flow_m3s,
            inflow_before(plan.inflow.flow_m3s, members=plan.inflow.member_count),
            storage[:, :-1],
            storage[:, 1:],
            plan.operation.release_m3s,
            plan.operation.power_mw,
            plan.inflow.calendar.hm3_per_m3s,
            np.repeat(np.arange(plan.inflow.member_count), plan.inflow.years // plan.inflow.member_count),
        )

    def select(self, years: Sequence[int]) -> Training:
        """Some of the years, by their place."""
        chosen = list(years)
        taken = {
            field.name: getattr(self, field.name)[chosen]
            for field in fields(self)
            if field.name not in ("model", "labels")
        }
        return Training(self.model, tuple(self.labels[year] for year in chosen), **taken)

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


def require_no_conditions(has_conditions: bool) -> None:
    """Refuse what rules do not know.

    Raises
    ------
    InputError
        If the steps of a reservoir or of a record have losses or demands.
    """
    if has_conditions:
        problem = (
            "rules do not know losses, withdrawals, the plant factor, minimum power or level, ramping limits "
            "or a valued end yet"
        )
        raise InputError(Mistake(problem, "a reservoir and a record without them", "remove them to fit or run rules"))


def inflow_before(flow_m3s: FloatArray, first_m3s: float | None = None, members: int = 1) -> FloatArray:
    """Inflow of the step before each step of consecutive years, shape (years, steps).

    Before the very first step, of each of so many members, stands `first_m3s`, or the mean of the years' last steps
    where it is not known.
    """
    first = flow_m3s[:, -1].mean() if first_m3s is None else first_m3s
    before = np.full((members, flow_m3s.size // members), first)
    before[:, 1:] = flow_m3s.reshape(members, -1)[:, :-1]
    return before.reshape(flow_m3s.shape)
