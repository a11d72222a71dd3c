"""Run a rule over a record: month by month, within the physical limits whatever the rule asks for.

A storage outside its bounds, or a demand not met, is what no repair of a release could keep (`Violations`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import unmet, unmet_power
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, without_foresight
from reservoir.hydro.operation import Operation, operate, repaired
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import YearRows
from reservoir.hydro.step import unmet_minimum, violation_scale
from reservoir.planning.operated_record import OperatedRecord
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.physics import month_end
from reservoir.rules.base.rule import Rule
from reservoir.rules.base.training import ROUNDING, Training, inflow_before, parts_of_fit, require_no_ramps

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A shortage of supply by less than this part of the largest demand is none.
KEPT_SUPPLY = 1e-6
#: Situations that are decided at once: enough to be fast, few enough for a processor's cache.
MOST_TOGETHER = 2_000


def beyond_bounds(reservoir: Reservoir, ends_hm3: FloatArray, upper_hm3: FloatArray | None = None) -> FloatArray:
    """How far each storage is above (+) or below (-) its bounds, hm3; 0 within them and for a rounding.

    Below dead storage only losses go, which no decision changes: that far down it is no violation.

    Parameters
    ----------
    reservoir : Reservoir
    ends_hm3 : ndarray, shape (years, steps)
        Storage at the end of each step.
    upper_hm3 : ndarray, optional
        Highest storages, of the steps or of every year's; by default those that the reservoir has in every year.
    """
    lower, upper = reservoir.storage_bounds_hm3
    upper = upper if upper_hm3 is None else upper_hm3
    decided = np.maximum(ends_hm3, reservoir.storage_lower_hm3.min())
    beyond = np.maximum(ends_hm3 - upper, 0.0) - np.maximum(lower - decided, 0.0)
    # What is no number is no rounding either.
    return np.where(np.abs(beyond) <= ROUNDING * float(upper.max()), 0.0, beyond)


@dataclass(frozen=True)
class Violations:
    """Storages outside their bounds, and demands not met, over a record.

    ``months`` end outside, the worst of them by ``largest_hm3``; ``relative`` is the sum of the violations relative to
    the bounds (eq. 20), and to what is demanded. In ``unmet_months`` a withdrawal, the lowest power or the least
    release is not delivered.
    """

    months: int
    largest_hm3: float
    relative: float
    unmet_months: int = 0

    @classmethod
    def of_operation(cls, limits: Limits, reservoir: Reservoir, operation: Operation) -> Violations:
        """Those of years operated within limits, a row for each year."""
        stored, years = cls.of(reservoir, operation.storage_hm3[:, 1:], limits.storage_upper_hm3), limits.arrays()
        release, draft = operation.release_m3s, operation.draft_m3s
        of_step = years.by_field, (slice(None), slice(None))
        per_missing = years.per_missing[:, np.newaxis] * years.hm3_per_m3s
        # Relative shortage of withdrawal, lowest power and least release; 0 without a demand.
        missed = unmet(*of_step, draft, release, release) + unmet_power(*of_step, operation.power_mw)
        missed = np.broadcast_to(missed + unmet_minimum(draft, years.release_lower, per_missing), release.shape)
        return replace(stored, relative=stored.relative + float(missed.sum()), unmet_months=int((missed > 0).sum()))

    @classmethod
    def of(cls, reservoir: Reservoir, ends_hm3: FloatArray, upper_hm3: FloatArray | None = None) -> Violations:
        """Those of storages at the end of each step, shape (years, steps); see `beyond_bounds`."""
        beyond = beyond_bounds(reservoir, ends_hm3, upper_hm3)
        lower, upper = reservoir.storage_bounds_hm3
        upper = upper if upper_hm3 is None else upper_hm3
        bound = np.where(beyond > 0, upper, lower)
        relative = np.abs(beyond) / violation_scale(bound, float(upper.max()))
        return cls(int((beyond != 0).sum()), float(np.abs(beyond).max()), float(relative.sum()))


@dataclass(frozen=True, eq=False)
class Simulation(OperatedRecord):
    """What a rule did over a record.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    operation : Operation
        What the years came to.
    asked_m3s : ndarray, shape (years, steps)
        Releases that the rule asked for.
    repaired : ndarray of bool, shape (years, steps)
        Where the physical limits did not allow them.
    continuous : bool
        Whether the storage is carried from year to year, within each member of an ensemble.
    limits : Limits
        Of the years, nothing said of their ends.
    notes : tuple of str
    """

    reservoir: Reservoir
    inflow: Inflow
    operation: Operation
    asked_m3s: FloatArray
    repaired: NDArray[np.bool_]
    continuous: bool
    limits: Limits
    notes: tuple[str, ...] = ()
    step_table: ClassVar[str] = "simulation"

    @property
    def supply_reliability(self) -> float:
        """Part of the months that deliver the withdrawal and the release that are asked of them; NaN where none is.

        A month also fails that has too little water for the least release.
        """
        target = self.limits.supply_target if self.limits.priced else None
        demanded = self.limits.withdrawal_m3s if self.limits.lake else None
        given = [flow for flow in (target, demanded) if flow is not None and flow.any()]
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
    before = inflow_before(limits.inflow_m3s, inflow_before_m3s, members)
    # Runs that do not wait for each other, by the places of their years: members, or years that start anew.
    runs = np.arange(inflow.years).reshape((members, -1) if continuous else (-1, 1))
    asked, operation = _operated(rules, model, limits, limits.inflow_m3s, before, start_hm3, runs, members)
    moved = repaired(model.reservoir, operation, asked)
    return Simulation(model.reservoir, inflow, operation, asked, moved, continuous, limits)


def operated_training(rule: Rule, training: Training) -> Operation:
    """The training years operated by a rule one after the other, from where the plan begins; each member from there."""
    flow, members = training.inflow_m3s, len(training.first_years)
    runs, limits = np.arange(training.years).reshape(members, -1), training.limits
    known = flow, training.inflow_before_m3s, training.start_hm3
    return _operated([rule] * training.years, training.model, limits, *known, runs, members)[1]


def asked_releases(rules: Sequence[Rule], model: ReservoirModel, limits: Limits, start_hm3: float) -> FloatArray:
    """Releases that rules, one a year, ask for in consecutive years with all that flows in, shape (years, steps)."""
    flow, runs = limits.inflow_m3s, np.arange(len(rules))[np.newaxis]
    return _operated(rules, model, limits, flow, inflow_before(flow), start_hm3, runs, 1)[0]


def _operated(
    rules: Sequence[Rule],
    model: ReservoirModel,
    limits: Limits,
    flow_m3s: FloatArray,
    before: FloatArray,
    start_hm3: float,
    runs: IntArray,
    members: int,
) -> tuple[FloatArray, Operation]:
    """Releases that rules, one a year, ask for in runs of years, shape (runs, years), and what they come to."""
    years, by_index = without_foresight(limits, np.full(len(rules), start_hm3)), bool(model.reservoir.flood_space)
    _prepare(rules, flow_m3s, before)
    asked = np.empty_like(flow_m3s)
    for at, column in enumerate(runs.T):
        lake = years._replace(lake=limits.lake)
        # Losses are found together, to the last bit of the slowest: of members, but not of the years of a record.
        for places in [column] if members > 1 or not limits.lake else column[:, np.newaxis]:
            asked[places] = _decided([rules[place] for place in places], limits, lake, before, places, by_index)
        if at + 1 < runs.shape[1]:
            # Asking for less than the least release cuts no withdrawal.
            wanted = np.maximum(asked[column], limits.release_lower_m3s[column])
            years.start[runs[:, at + 1]] = operate(model.exact, years.some(column), wanted).storage_hm3[:, -1]
    return asked, operate(model.exact, years, np.maximum(asked, limits.release_lower_m3s))


def _decided(
    rules: Sequence[Rule], limits: Limits, years: YearRows, before: FloatArray, places: IntArray, by_index: bool
) -> FloatArray:
    """Releases that rules, one a year, ask for in years side by side, as their storages go; shape (places, steps).

    With `by_index`, flood space depends on more than the month, and rules are told each month's own limit.
    """
    asked = np.empty((len(places), limits.steps))
    storage, groups = years.start[places], _in_groups(rules)
    by_field, dead = years.some(places).by_field, years.dead[places]
    for step in range(limits.steps):
        at = places, step
        inflow, earlier = limits.inflow_m3s[at], before[at]
        for rule, those in groups:
            told = rule.limited(limits.storage_upper_hm3[at][those]) if by_index else rule
            asked[those, step] = told.releases(step, storage[those], rule.known(inflow[those]), earlier[those])
        storages = years.reach_lower[at], years.reach_upper[at]
        releases = limits.release_lower_m3s[at], limits.release_upper_m3s[at]
        volume, of_step = limits.hm3_per_m3s[at], (slice(None), step)
        storage = month_end(storage, asked[:, step], inflow, volume, storages, releases, dead, by_field, of_step)[2]
    return asked


def decisions(rules: Sequence[Rule], training: Training) -> FloatArray:
    """Releases that rules, one a year, ask for in the situations that the training years hold, shape (years, steps)."""
    asked, by_index = np.empty_like(training.inflow_m3s), bool(training.model.reservoir.flood_space)
    _prepare(rules, training.inflow_m3s, training.inflow_before_m3s)
    for rule, years in _in_groups(rules):
        for step in range(training.steps):
            known = rule.known(training.inflow_m3s[years, step])
            before = training.inflow_before_m3s[years, step]
            told = rule.limited(training.storage_upper_hm3[years, step]) if by_index else rule
            asked[years, step] = told.releases(step, training.storage_start_hm3[years, step], known, before)
    return asked


def _prepare(rules: Sequence[Rule], inflow_m3s: FloatArray, before_m3s: FloatArray) -> None:
    """Let rules, one a year, work out at once what they will be asked for."""
    for rule, years in parts_of_fit(_in_groups(rules, len(rules))):
        steps = np.tile(np.arange(inflow_m3s.shape[1]), len(years))
        rule.prepare(steps, rule.known(inflow_m3s[years].ravel()), before_m3s[years].ravel())


def _in_groups(rules: Sequence[Rule], most: int = MOST_TOGETHER) -> list[tuple[Rule, IntArray]]:
    """Places of what each rule decides, no more than so many at a time."""
    places: dict[int, list[int]] = {}
    for place, rule in enumerate(rules):
        places.setdefault(id(rule), []).append(place)
    return [
        (rules[those[0]], np.array(those[first : first + most]))
        for those in places.values()
        for first in range(0, len(those), most)
    ]
