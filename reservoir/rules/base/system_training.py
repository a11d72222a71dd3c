"""What rules of several reservoirs are fitted to, a joint plan's years, and the record that rules operate together.

The inflow of a reservoir is all that flows in: its own, and what links bring by what was decided above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from reservoir.certificate.multipliers import multipliers
from reservoir.errors import InputError
from reservoir.hydro.limits import Limits, without_foresight
from reservoir.hydro.objectives import Goal, Horizon
from reservoir.hydro.operation import Operation, operate
from reservoir.hydro.system import System
from reservoir.hydro.system_operation import SystemOperation, operate_system
from reservoir.planning.system_plan import SystemPlan
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.problems.system import SystemYears, system_problems
from reservoir.rules.base.training import FloatArray, Training, inflow_before, require_no_ramps

#: Releases that are asked for of the reservoir at a place, told its years with all that flows in, shape (years, steps).
Decide = Callable[[int, Limits], FloatArray]


@dataclass(frozen=True, eq=False)
class SystemTraining:
    """Years of a joint plan, any selection of them.

    Parameters
    ----------
    system : System
        With what is under way at the start; every reservoir ends where the plan begins (`begun`).
    years : SystemYears
        With local inflow, nothing said of the ends.
    sites : tuple of Training
        Of each reservoir, with all that flows in by the plan.
    worth : ndarray, shape (years, reservoirs, steps)
        What a m3/s more in a step is worth at each reservoir, in the unit of the objective.
    """

    system: System
    years: SystemYears
    sites: tuple[Training, ...]
    worth: FloatArray

    @classmethod
    def of(cls, plan: SystemPlan) -> SystemTraining:
        """All years of a plan.

        Raises
        ------
        InputError
            If it has no whole water years of months or is of an ensemble, or the system has what rules do not know.
        """
        require_ruled(plan)
        operation, worth = plan.operation, _worth(plan)
        starts = operation.stacked("storage_hm3")[0, :, 0]
        system = plan.system.between(starts, starts)
        years: SystemYears = system_problems(system, plan.inflows, Horizon()).batches[0]  # type: ignore[assignment]
        sites = tuple(
            _site(years, place, operation.of_reservoirs[place], operation.arriving_m3s[place], worth[:, place])
            for place in range(len(system.reservoirs))
        )
        return cls(system, years, sites, worth)

    def __len__(self) -> int:
        return len(self.years)

    def select(self, years: Sequence[int]) -> SystemTraining:
        """Some of the years, by their place."""
        places = np.array(list(years), np.int64)
        sites = tuple(each.select(years) for each in self.sites)
        return SystemTraining(self.system, self.years[places], sites, self.worth[places])

    @property
    def starts_hm3(self) -> FloatArray:
        """Storage of each reservoir at the start of the first year."""
        return np.array([each.start_hm3 for each in self.sites])

    @property
    def local_m3s(self) -> FloatArray:
        """Local inflow, shape (years, reservoirs, steps)."""
        return np.stack([each.limits.inflow_m3s for each in self.years.years], axis=1)

    @property
    def local(self) -> list[Training]:
        """The years of each reservoir whose inflow is its local inflow: what the inflow model of all is fitted to."""
        return [with_inflow(site, flow) for site, flow in zip(self.sites, self.local_m3s.swapaxes(0, 1), strict=True)]

    @property
    def river(self) -> Training:
        """Years whose inflow is the local inflow of all together: what the classes are of."""
        return with_inflow(self.sites[-1], self.local_m3s.sum(axis=1))


def with_inflow(training: Training, inflow_m3s: FloatArray) -> Training:
    """The same years with other inflow; before the first of a run of years stands the mean of their last steps."""
    follows = np.append(False, training.inflow_before_m3s[1:, 0] == training.inflow_m3s[:-1, -1])
    before = inflow_before(inflow_m3s)
    before[~follows, 0] = inflow_m3s[:, -1].mean()
    return replace(training, inflow_m3s=inflow_m3s, inflow_before_m3s=before)


def require_ruled(plan: SystemPlan) -> None:
    """Refuse a joint plan that rules cannot be fitted to, by a sentence that names why."""
    system, goals = plan.system, plan.system.objective.weights
    if plan.starts:
        problem = "the plan begins in a month, and has no whole water years"
        raise InputError(problem, "a plan of whole water years", "plan without --from")
    plan.inflow.require_months("the fit of rules")
    if plan.inflow.member_count > 1:
        problem, mend = "rules of several reservoirs are not fitted to ensembles yet", "plan a record of the sites"
        raise InputError(problem, "a plan of a record", mend)
    others = [str(goal) for goal in goals if goal not in (Goal.ENERGY, Goal.REVENUE)]
    if system.objective.firm_power_mw is not None:
        others.append("a firm power that is promised")
    if others:
        problem = f"rules of several reservoirs do not know {' or '.join(others)} of all plants together yet"
        raise InputError(problem, "the goal energy or revenue", "plan the system for one of them", system.source)
    for each in system.reservoirs:
        require_no_ramps(each)


def _worth(plan: SystemPlan) -> FloatArray:
    """What a m3/s more is worth by the plan (`certificate.multipliers`), shape (years, reservoirs, steps)."""
    found = []
    for places, batch in plan.problems.placed_batches:
        years: SystemYears = batch  # type: ignore[assignment]
        made = years.operate(np.stack([plan.solutions[place].position for place in places]))
        ones = [np.array([place]) for place in range(len(places))]
        found += [multipliers(years[one], made[one])[: len(plan.system.reservoirs)] for one in ones]
    of_years = np.concatenate(found, axis=1).reshape(len(plan.system.reservoirs), -1, plan.inflow.steps)
    return np.maximum(of_years.swapaxes(0, 1), 0.0)


def _site(
    years: SystemYears, place: int, operation: Operation, arriving_m3s: FloatArray | None, worth: FloatArray
) -> Training:
    """The years of one reservoir."""
    own, system = years.years[place], years.system
    reservoir = own.model.reservoir
    if reservoir.penalty != system.penalty:
        reservoir = replace(reservoir, penalty=system.penalty)
    limits = own.limits.linked(arriving_m3s, None)
    volume, local = limits.hm3_per_m3s, own.limits.inflow_m3s
    return Training(
        inflow_m3s=limits.inflow_m3s,
        inflow_before_m3s=inflow_before(limits.inflow_m3s),
        storage_start_hm3=operation.storage_hm3[:, :-1],
        storage_end_hm3=operation.storage_hm3[:, 1:],
        storage_upper_hm3=limits.storage_upper_hm3,
        release_m3s=operation.release_m3s,
        power_mw=operation.power_mw,
        # All that is neither stored nor released.
        loss_m3s=limits.inflow_m3s - operation.release_m3s - np.diff(operation.storage_hm3, axis=1) / volume,
        hm3_per_m3s=volume,
        limits=limits,
        member=np.zeros(len(local), np.int64),
        model=ReservoirModel.of(reservoir),
        labels=years.labels,
        end_value_per_hm3=float((worth[:, -1] / volume[:, -1]).mean()),
    )


def operated_years(years: SystemYears, starts_hm3: FloatArray, decide: Decide) -> SystemOperation:
    """Consecutive years operated as one horizon by what is asked for, from storages at the start, shape (reservoirs,).

    Nothing is steered towards what later months need (`without_foresight`); each reservoir is asked about once all
    that flows in is known.
    """
    count, steps = years.hm3_per_m3s.shape

    def run(place: int, arriving_m3s: FloatArray | None, tailwater_m: FloatArray | None) -> Operation:
        given = [None if each is None else each.reshape(count, steps) for each in (arriving_m3s, tailwater_m)]
        own = years.years[place]
        limits = own.limits.linked(*given)
        asked = np.maximum(decide(place, limits), limits.release_lower_m3s).reshape(1, -1)
        return operate(own.model.exact, without_foresight(limits.joined(count), starts_hm3[[place]]), asked)

    terms = {name: term.reshape(1, -1) for name, term in years.terms.items()}
    return operate_system(years.system, years.hm3_per_m3s.reshape(1, -1), run, terms)
