"""Run a rule over a record: month by month, within the physical limits whatever the rule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at
from reservoir.hydro.given_releases import repaired, with_callable_curves, without_foresight
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation, operate
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import YearRows
from reservoir.hydro.step import enforce_limits
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.month_end import month_end
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import inflow_before, require_no_ramps
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
        target = None if self.limits.terms is None else self.limits.terms.of_steps.supply_target
        demanded = None if self.limits.conditions is None else self.limits.conditions.withdrawal_m3s
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
    limits = open_limits(model.reservoir, inflow)
    require_no_ramps(limits.conditions)
    members, least = inflow.member_count, limits.release_lower_m3s
    before = inflow_before(inflow.flow_m3s, inflow_before_m3s, members)
    years = without_foresight(limits, np.full(inflow.years, start_hm3))
    _prepare(rules, inflow.flow_m3s, before)
    asked = np.empty_like(inflow.flow_m3s)
    # Runs that do not wait for each other, by the places of their years: members, or years that start anew.
    runs = np.arange(inflow.years).reshape((members, -1) if continuous else (-1, 1))
    for column in range(runs.shape[1]):
        places = runs[:, column]
        decide = _decisions_together if members > 1 else _decisions
        told = Told(inflow.flow_m3s, before, least)
        asked[places] = decide([rules[place] for place in places], told, with_callable_curves(years, limits), places)
        if column + 1 < runs.shape[1]:
            alone = operate(model.exact, years.some(places), np.maximum(asked[places], least[places]))
            years.start[runs[:, column + 1]] = alone.storage_hm3[:, -1]
    # Asking for less than the least release cuts no withdrawal.
    operation = operate(model.exact, years, np.maximum(asked, least))
    moved = repaired(model.reservoir, operation, asked)
    carried = np.full(inflow.years, continuous)
    carried[runs[:, -1]] = False
    volumes = inflow.calendar.hm3_per_m3s
    return Simulation(model.reservoir, inflow.labels, operation, asked, moved, carried, volumes, limits, members)


class Told(NamedTuple):
    """What rules are told of each step, and the least release; arrays of shape (years, steps), m3/s."""

    inflow: FloatArray
    inflow_before: FloatArray
    least_release: FloatArray


def _prepare(rules: Sequence[Rule], inflow: FloatArray, before: FloatArray) -> None:
    """Tell each rule all that it will be asked, which may be worked out at once."""
    steps = np.arange(inflow.shape[1])
    for rule in {id(each): each for each in rules if isinstance(each, Rule)}.values():
        years = [year for year, each in enumerate(rules) if each is rule]
        now = inflow[years].ravel() if rule.forecast is Forecast.MONTH else None
        rule.prepare(np.tile(steps, len(years)), now, before[years].ravel())


def _decisions(rules: Sequence[Rule], told: Told, years: YearRows, places: IntArray) -> FloatArray:
    """Ask the rule of each year month by month, and follow the storage as the physical limits let it go."""
    asked = np.empty((len(places), told.inflow.shape[1]))
    for row, (rule, year) in enumerate(zip(rules, places, strict=True)):
        storage, of_year = float(years.start[year]), years.some((year, 0))
        dead = float(years.dead[year])
        columns = zip(*(each.tolist() for each in _months(told, years, year)), strict=True)
        for step, (now, earlier, least, *month) in enumerate(columns):
            known = now if rule.forecast is Forecast.MONTH else None
            asked[row, step] = rule.release(step, storage, known, earlier)
            inflow, volume, storages, releases = month
            wanted, of_step = max(float(asked[row, step]), least), conditions_at(of_year, step)
            _, storage = month_end(storage, wanted, inflow, volume, storages, releases, dead, of_step)
    return asked


def _decisions_together(rules: Sequence[Rule], told: Told, years: YearRows, places: IntArray) -> FloatArray:
    """As `_decisions`, every month of all years at once."""
    asked = np.empty((len(places), told.inflow.shape[1]))
    storage, decided = years.start[places], by_rule(rules)
    columns, by_field = [each[places] for each in _months(told, years)], years.some(places).by_field
    for step in range(asked.shape[1]):
        now, earlier, least, inflow, volume, storages, releases = (each[:, step] for each in columns)
        for rule, those in decided:
            known = now[those] if rule.forecast is Forecast.MONTH else None
            asked[those, step] = rule.releases(step, storage[those], known, earlier[those])
        wanted = np.clip(np.maximum(asked[:, step], least), releases[:, 0], releases[:, 1])
        bounds = (storages[:, 0], storages[:, 1]), (releases[:, 0], releases[:, 1])
        storage = enforce_limits(
            storage, wanted, inflow, volume, *bounds, years.dead[places], conditions_at(by_field, (slice(None), step))
        )[1]
    return asked


def by_rule(rules: Sequence[Rule]) -> list[tuple[Rule, IntArray]]:
    """Places of what each rule decides, at most `MOST_TOGETHER` at a time."""
    found: dict[int, list[int]] = {}
    for place, rule in enumerate(rules):
        found.setdefault(id(rule), []).append(place)
    return [
        (rules[places[0]], np.array(places[first : first + MOST_TOGETHER]))
        for places in found.values()
        for first in range(0, len(places), MOST_TOGETHER)
    ]


def _months(told: Told, years: YearRows, which: Any = slice(None)) -> tuple[FloatArray, ...]:
    """What rules are told, then net inflow, volume of a flow, and the bounds of storage and draft, by step."""
    physics = (
        years.inflow,
        years.hm3_per_m3s,
        np.stack([years.reach_lower, years.reach_upper], axis=-1),
        np.stack([years.release_lower, years.release_upper], axis=-1),
    )
    return tuple(each[which] for each in (*told, *physics))
