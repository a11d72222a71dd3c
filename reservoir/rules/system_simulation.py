"""Let a rule of a system operate a record of several sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import RECORD, Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.simulation import SystemSimulation, simulate_system
from reservoir.problems.system import SystemYears, system_problems
from reservoir.rules.base.simulation import asked_releases
from reservoir.rules.base.system_training import operated_years
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.separable import Separable, SystemRule
from reservoir.rules.families.separable_operation import joint_releases


def asked_by(rules: Sequence[SystemRule], years: SystemYears, starts_hm3: FloatArray) -> FloatArray:
    """Releases that rules, one a year, ask for in consecutive years, shape (years, reservoirs, steps).

    A rule for each reservoir sees all that flows in there: what links bring by the decisions above.

    Parameters
    ----------
    rules : sequence of SystemRule
        All of one family.
    years : SystemYears
        With local inflow.
    starts_hm3 : ndarray, shape (reservoirs,)
        Storages at the start of the first year.
    """
    if isinstance(rules[0], Separable):
        return joint_releases(rules, years, starts_hm3)  # type: ignore[arg-type] # all are of one family
    names, asked = years.system.names, dict[int, FloatArray]()

    def decide(place: int, limits: Limits) -> FloatArray:
        if place not in asked:  # asked about once more for the lake below, whose level changes no decision
            own = [rule[names[place]] for rule in rules]  # type: ignore[index]
            asked[place] = asked_releases(own, years.years[place].model, limits, float(starts_hm3[place]))
        return asked[place]

    operated_years(years, starts_hm3, decide)
    return np.stack([asked[place] for place in range(len(names))], axis=1)


def simulate_system_rule(
    rule: SystemRule,
    system: System,
    inflows: SiteInflows,
    *,
    horizon: Horizon | str | int = RECORD,
    starts_hm3: Mapping[str, float] | None = None,
) -> SystemSimulation:
    """Operate a record with a rule: as `simulate_system` does with the releases that it asks for.

    Parameters
    ----------
    rule : SystemRule
    system : System
    inflows : SiteInflows
        Of months; each member of an ensemble begins anew.
    horizon : Horizon, str or int
        Years through which the storage is carried over; with each, rules begin anew.
    starts_hm3 : mapping of str to float, optional
        Storages at the start of each horizon; by default the reservoirs' initial storages.

    Raises
    ------
    InputError
        If system and record do not fit each other, or a reservoir has no storage to start with.
    """
    inflows.first.require_months("the simulation of a rule")
    given, starts = dict(starts_hm3 or {}), list[float]()
    for each in system.reservoirs:
        start = given.get(each.name, each.initial_storage_hm3)
        if start is None:
            problem = f"{each.name} has no initial storage (its year_end is {each.year_end.value})"
            raise InputError(problem, "a storage in hm3", f"give one of {each.name}", column="start_hm3")
        starts.append(float(start))
    begin = np.array(starts)
    problems: Any = system_problems(system.between(begin, begin), inflows, Horizon())
    years: SystemYears = problems.batches[0]
    spans = Horizon.of(horizon).within(inflows.calendar).spans(inflows.years)
    asked = np.concatenate([asked_by([rule] * (stop - first), years[first:stop], begin) for first, stop in spans])
    releases = {name: asked[:, place] for place, name in enumerate(system.names)}
    storages = dict(zip(system.names, starts, strict=True))
    return simulate_system(system, inflows, releases, horizon=horizon, starts_hm3=storages, said="rule's release")
