"""Run a rule over a record: month by month, within the physical limits whatever the rule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import some_years
from reservoir.hydro.given_releases import repaired, without_foresight
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation, operate
from reservoir.hydro.step import enforce_limits
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.month_end import month_end
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import inflow_before, require_no_conditions

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Situations that are decided at once: enough to be fast, few enough for a processor's cache.
MOST_TOGETHER = 2_000


@dataclass(frozen=True, eq=False)
class Simulation:
    """What a rule did over a record.

    Parameters
    ----------
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
    members : int
        Members of an ensemble that the years belong to, each of as many years; 1 of a record.
    """

    labels: Sequence[str]
    operation: Operation
    asked_m3s: FloatArray
    repaired: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    hm3_per_m3s: FloatArray
    members: int = 1

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
    require_no_conditions(limits.conditions is not None)
    members = inflow.member_count
    before = inflow_before(inflow.flow_m3s, inflow_before_m3s, members)
    years = without_foresight(limits, np.full(inflow.years, start_hm3))
    _prepare(rules, inflow.flow_m3s, before)
    asked = np.empty_like(inflow.flow_m3s)
    # Runs that do not wait for each other, by the places of their years: members, or years that start anew.
    runs = np.arange(inflow.years).reshape((members, -1) if continuous else (-1, 1))
    for column in range(runs.shape[1]):
        places = runs[:, column]
        decide = _decisions_together if members > 1 else _decisions
        asked[places] = decide([rules[place] for place in places], limits, before, places, years.start)
        if column + 1 < runs.shape[1]:
            alone = operate(model.exact, some_years(years, places), asked[places])
            years.start[runs[:, column + 1]] = alone.storage_hm3[:, -1]
    operation = operate(model.exact, years, asked)
    moved = repaired(model.reservoir, operation, asked)
    carried = np.full(inflow.years, continuous)
    carried[runs[:, -1]] = False
    volumes = inflow.calendar.hm3_per_m3s
    return Simulation(inflow.labels, operation, asked, moved, carried, volumes, members)


def _prepare(rules: Sequence[Rule], inflow: FloatArray, before: FloatArray) -> None:
    """Tell each rule all that it will be asked, which may be worked out at once."""
    steps = np.arange(inflow.shape[1])
    for rule in {id(each): each for each in rules if isinstance(each, Rule)}.values():
        years = [year for year, each in enumerate(rules) if each is rule]
        now = inflow[years].ravel() if rule.forecast is Forecast.MONTH else None
        rule.prepare(np.tile(steps, len(years)), now, before[years].ravel())


def _decisions(
    rules: Sequence[Rule], limits: Limits, before: FloatArray, places: IntArray, starts: FloatArray
) -> FloatArray:
    """Ask the rule of each year month by month, and follow the storage as the physical limits let it go."""
    asked = np.empty((len(places), limits.steps))
    for row, (rule, year) in enumerate(zip(rules, places, strict=True)):
        storage = float(starts[year])
        columns = zip(*(each.tolist() for each in _months(limits[year], before[year])), strict=True)
        for step, (now, earlier, *month) in enumerate(columns):
            known = now if rule.forecast is Forecast.MONTH else None
            asked[row, step] = rule.release(step, storage, known, earlier)
            _, storage = month_end(storage, float(asked[row, step]), now, *month)
    return asked


def _decisions_together(
    rules: Sequence[Rule], limits: Limits, before: FloatArray, places: IntArray, starts: FloatArray
) -> FloatArray:
    """As `_decisions`, every month of all years at once."""
    asked = np.empty((len(places), limits.steps))
    storage, decided = starts[places], by_rule(rules)
    columns = [each[places] for each in _months(limits, before)]
    for step in range(limits.steps):
        now, earlier, volume, storages, releases = (each[:, step] for each in columns)
        for rule, those in decided:
            known = now[those] if rule.forecast is Forecast.MONTH else None
            asked[those, step] = rule.releases(step, storage[those], known, earlier[those])
        wanted = np.clip(asked[:, step], releases[:, 0], releases[:, 1])
        bounds = (storages[:, 0], storages[:, 1]), (releases[:, 0], releases[:, 1])
        storage = enforce_limits(storage, wanted, now, volume, *bounds)[1]
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


def _months(limits: Limits, before: FloatArray) -> tuple[FloatArray, ...]:
    """Inflow, inflow before, volume of a flow, and the bounds of storage and release, by step."""
    return (
        limits.inflow_m3s,
        before,
        limits.hm3_per_m3s,
        np.stack([limits.storage_lower_hm3, limits.storage_upper_hm3], axis=-1),
        np.stack([limits.release_lower_m3s, limits.release_upper_m3s], axis=-1),
    )
