"""Fitness of a reservoir's year in compiled code (Yu et al. 2020, eq. 21) and the data it reads."""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.compiled_year import (
    YearArrays,
    benefit_of,
    follow,
    follow_repairable,
    power_violation,
    steps_in,
)
from reservoir.hydro.conditions import end_value
from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.problems.fitness import Scratch, register_fitness


class ReservoirContext(NamedTuple):
    """What compiled solvers read, in float32."""

    plant: Plant
    year: YearArrays
    penalty: Any
    per_stage_benefit: Any


class RepairableContext(NamedTuple):
    """The same of a year that is always repairable: no violation, and curves that need not be held at their ends."""

    plant: Plant
    year: YearArrays
    flow_per_volume: Any
    per_stage_benefit: Any


def _fitness(context: ReservoirContext, position: RealArray, scratch: Scratch) -> float:
    releases, storages = _started(context.year, position, scratch)
    violation = follow(context.year, position, releases, storages)
    benefit = benefit_of(context.plant, context.year, releases, storages, context.per_stage_benefit)
    violation += power_violation(context.plant, context.year, releases, storages)
    change = end_value(context.year.conditions, storages[0], storages[steps_in(context.year)])
    fitness: float = benefit - context.penalty * violation + change
    return fitness


def _fitness_repairable(context: RepairableContext, position: RealArray, scratch: Scratch) -> float:
    releases, storages = _started(context.year, position, scratch)
    follow_repairable(context.year, context.flow_per_volume, position, releases, storages)
    return benefit_of(context.plant, context.year, releases, storages, context.per_stage_benefit)


@inlined
def _started(year: YearArrays, position: RealArray, scratch: Scratch) -> tuple[RealArray, RealArray]:
    releases, storages = scratch[0], scratch[1]
    storages[0] = position[steps_in(year)] if year.cyclic else year.start
    return releases, storages


def _repair(context: ReservoirContext, position: RealArray, scratch: Scratch) -> None:
    releases, lower, upper = scratch[0], context.year.release_lower, context.year.release_upper
    for step in range(steps_in(context.year)):
        position[step] = min(max(releases[step], lower[step]), upper[step])


register_fitness(ReservoirContext, _fitness, repair=_repair)
register_fitness(RepairableContext, _fitness_repairable, repair=_repair)
