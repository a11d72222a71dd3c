"""Run a rule over a record: month by month, within the physical limits whatever the rule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, without_foresight
from reservoir.hydro.objective import Operation, operate, repaired
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import YearRows
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.physics import month_end
from reservoir.rules.base.rule import Rule
from reservoir.rules.base.training import Training, inflow_before, require_no_ramps
from reservoir.rules.base.violations import Violations

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A shortage of supply by less than this part of the largest demand is none.
KEPT_SUPPLY = 1e-6
#: Situations that are decided at once: enough to be fast, few enough for a processor's cache.
MOST_TOGETHER = 2_000


@dataclass(frozen=True, eq=False)
class Simulation:
    """What a rule did over a record.

    Parameters
    ----------
    reservoir : Reservoir
    labels : sequence of str
        Names of the years.
    operation : Operation
        What the years came to.
    asked_m3s : ndarray, shape (years, steps)
        Releases that the rule asked for.
    repaired : ndarray of bool, shape (years, steps)
        Where the physical limits did not allow them.
    carried : ndarray of bool, shape (years,)
        Whether the next year starts with the storage that the year ends with.
    hm3_per_m3s : ndarray, shape (years, steps)
        hm3 that 1 m3/s carries in each step.
    limits : Limits
        Of the years, nothing said of their ends.
    members : int
        Members of an ensemble that the years belong to, each of as many years; 1 of a record.
    """

    reservoir: Reservoir
    labels: Sequence[str]
    operation: Operation
    asked_m3s: FloatArray
    repaired: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    hm3_per_m3s: FloatArray
    limits: Limits
    members: int = 1

    @property
    def supply_reliability(self) -> float:
        """Part of the months that deliver the withdrawal and the release that are asked of them; NaN where none is.

        A month also fails that has too little water for the least release.
        """
        target = self.limits.supply_target if self.limits.priced else None
        demanded = self.limits.withdrawal_m3s if self.limits.lake else None
        given = [each for each in (target, demanded) if each is not None and each.any()]
        short = self.operation.shortage_m3s + self.operation.missing_m3s
        if not given and not short.any():
            return float("nan")
        if short.any():
            given.append(self.limits.release_lower_m3s)
        if target is not None:
            short = short + np.maximum(target - self.operation.release_m3s, 0.0)
        return float((short <= KEPT_SUPPLY * max(float(each.max()) for each in given)).mean())

    @cached_property
    def violations(self) -> Violations:
        """Storages outside their bounds, and demands not met."""
        return Violations.of_operation(self.limits, self.reservoir, self.operation)

    @cached_property
    def energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return self.operation.annual_energy_gwh

    @property
    def end_storage_hm3(self) -> FloatArray:
        """Storage at the end of each year, shape (years,)."""
        return self.operation.storage_hm3[:, -1]


def simulate(
    rule: Rule | Sequence[Rule],
    model: ReservoirModel,
    inflow: Inflow,
    start_hm3: float,
    *,
    continuous: bool = True,
    inflow_before_m3s: float | None = None,
) -> Simulation:
    """Run a rule over every year of a record, or of every member of an ensemble.

    Parameters
    ----------
    rule : Rule, or sequence of Rule, one a year
        What decides; a rule a year is what cross-validation needs.
    model : ReservoirModel
        The reservoir.
    inflow : Inflow
        Consecutive years, or whole members.
    start_hm3 : float
        Storage at the start of the record, or of every member.
    continuous : bool
        Carry the storage from a year to the next; otherwise every year starts at `start_hm3`.
    inflow_before_m3s : float, optional
        Inflow of the step before the record, or before every member.
    """
    inflow.require_whole_members("the simulation of a rule")
    rules = list(rule) if isinstance(rule, Sequence) else [rule] * inflow.years
    limits, members = open_limits(model.system, inflow), inflow.member_count
    require_no_ramps(model.reservoir)
    before = inflow_before(inflow.flow_m3s, inflow_before_m3s, members)
    years = without_foresight(limits, np.full(inflow.years, start_hm3))
    for one, those in _by_rule(rules):
        now = inflow.flow_m3s[those].ravel()
        one.prepare(np.tile(np.arange(inflow.steps), len(those)), one.known(now), before[those].ravel())
    asked = np.empty_like(inflow.flow_m3s)
    # Runs that do not wait for each other, by the places of their years: members, or years that start anew.
    runs = np.arange(inflow.years).reshape((members, -1) if continuous else (-1, 1))
    for at, column in enumerate(runs.T):
        lake = years._replace(lake=limits.lake)
        # The losses of members are found together, to the last bit of the slowest; the years of a record stand alone.
        for places in [column] if members > 1 else column[:, np.newaxis]:
            asked[places] = _decided([rules[place] for place in places], limits, lake, before, places)
        if at + 1 < runs.shape[1]:
            # Asking for less than the least release cuts no withdrawal.
            wanted = np.maximum(asked[column], limits.release_lower_m3s[column])
            years.start[runs[:, at + 1]] = operate(model.exact, years.some(column), wanted).storage_hm3[:, -1]
    operation = operate(model.exact, years, np.maximum(asked, limits.release_lower_m3s))
    moved = repaired(model.reservoir, operation, asked)
    carried = np.full(inflow.years, continuous)
    carried[runs[:, -1]] = False
    volumes = inflow.calendar.hm3_per_m3s
    return Simulation(model.reservoir, inflow.labels, operation, asked, moved, carried, volumes, limits, members)


def _decided(
    rules: Sequence[Rule], limits: Limits, years: YearRows, before: FloatArray, places: IntArray
) -> FloatArray:
    """Releases that rules, one a year, ask for in years side by side, as their storages go; shape (places, steps)."""
    asked = np.empty((len(places), limits.steps))
    storage, groups = years.start[places], _in_groups(rules)
    by_field, dead = years.some(places).by_field, years.dead[places]
    for step in range(limits.steps):
        at = places, step
        inflow, earlier = limits.inflow_m3s[at], before[at]
        for rule, those in groups:
            asked[those, step] = rule.releases(step, storage[those], rule.known(inflow[those]), earlier[those])
        storages = years.reach_lower[at], years.reach_upper[at]
        releases = limits.release_lower_m3s[at], limits.release_upper_m3s[at]
        of_step = conditions_at(by_field, (slice(None), step))
        volume = limits.hm3_per_m3s[at]
        storage = month_end(storage, asked[:, step], inflow, volume, storages, releases, dead, of_step)[2]
    return asked


def decisions(rules: Sequence[Rule], training: Training) -> FloatArray:
    """Releases that rules, one a year, ask for in the situations that the training years hold, shape (years, steps)."""
    asked = np.empty_like(training.inflow_m3s)
    for rule, years in _in_groups(rules, MOST_TOGETHER if len(training.first_years) > 1 else 1):
        for step in range(training.steps):
            known = rule.known(training.inflow_m3s[years, step])
            before = training.inflow_before_m3s[years, step]
            asked[years, step] = rule.releases(step, training.storage_start_hm3[years, step], known, before)
    return asked


def _by_rule(rules: Sequence[Rule]) -> list[tuple[Rule, IntArray]]:
    """Places of what each rule decides."""
    places: dict[int, list[int]] = {}
    for place, rule in enumerate(rules):
        places.setdefault(id(rule), []).append(place)
    return [(rules[those[0]], np.array(those)) for those in places.values()]


def _in_groups(rules: Sequence[Rule], most: int = MOST_TOGETHER) -> list[tuple[Rule, IntArray]]:
    """Places of what each rule decides, so many at a time."""
    return [
        (rule, places[first : first + most])
        for rule, places in _by_rule(rules)
        for first in range(0, len(places), most)
    ]
