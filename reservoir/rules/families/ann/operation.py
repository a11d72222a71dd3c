"""Operate consecutive years by a network, compiled: as ``kernels/problems/reservoir/ann_operation.cl`` does."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from reservoir.hydro.benefit import stage_benefit, terms_at
from reservoir.hydro.conditions import conditions_at, released, unmet, unmet_power
from reservoir.hydro.elementwise import RealArray, clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import feasible_releases, limited, power_at, steered, unmet_minimum
from reservoir.problems.fitness import register_fitness


class OperationContext(NamedTuple):
    """What compiled code reads, in float64 or float32; arrays of shape (steps,).

    What `RecordArrays` has bears the same names there. ``known_inputs`` has shape (steps, inputs - 1), ``m3s_per_hm3``
    are the m3/s that carry 1 hm3 in a step, ``expected_m3s_per_hm3`` those that the rule reckons with. A device is
    handed the same by these names (``HEAD`` and `row_layout` of the problem), and conditions and terms as further rows.
    """

    plant: Plant
    known_inputs: Any
    restarts: Any
    inflow: Any
    hm3_per_m3s: Any
    m3s_per_hm3: Any
    expected_inflow: Any
    expected_m3s_per_hm3: Any
    least_draft: Any
    release_lower: Any
    release_upper: Any
    storage_lower: Any
    storage_upper: Any
    cost_below: Any
    cost_above: Any
    start: Any
    water_value: Any
    storage_low: Any
    storage_scale: Any
    per_year: Any
    penalty: Any
    dead: Any
    per_missing: Any
    per_stage_benefit: Any
    conditions: Any
    terms: Any
    hidden: int


@inlined
def _decided(network: RealArray, hidden: int, storage: float, known: RealArray) -> float:
    """Output of the network; zero and one are written so that they keep the precision of the rest."""
    zero = storage - storage
    one = zero + 1
    inputs = len(known) + 1
    output: float = network[hidden * (inputs + 2)]
    for unit in range(hidden):
        at = unit * (inputs + 2)
        active = network[at + inputs] + network[at] * storage
        for i in range(inputs - 1):
            active += network[at + 1 + i] * known[i]
        output += network[at + inputs + 1] / (one + math.exp(-active))
    return output


def _fitness(context: OperationContext, position: RealArray, scratch: object) -> float:
    storage = context.start
    benefit = cost = left = storage - storage
    zero, one = benefit, benefit + 1
    for step in range(len(context.inflow)):
        if context.restarts[step] > zero:
            left += (storage - context.start) * context.water_value
            storage = context.start
        conditions, terms = conditions_at(context.conditions, step), terms_at(context.terms, step)
        inflow, per_flow = context.inflow[step], context.hm3_per_m3s[step]
        releases = context.release_lower[step], context.release_upper[step]
        lowest, highest = storages = context.storage_lower[step], context.storage_upper[step]
        expected, flow = context.expected_inflow[step], context.expected_m3s_per_hm3[step]
        filling, emptying = feasible_releases(storage, expected, flow, storages, releases)
        scaled = (storage - context.storage_low) * context.storage_scale - one
        part = clip(_decided(position, context.hidden, scaled, context.known_inputs[step]), zero, one)
        asked = filling + part * (emptying - filling)
        target, excess = steered(storage, asked, inflow, per_flow, storages, conditions)
        wanted = asked + excess * context.m3s_per_hm3[step]
        drafts = context.least_draft[step], context.release_upper[step]
        draft, end = limited(storage, wanted, target, inflow, per_flow, drafts, context.dead, conditions)
        release = released(conditions, draft, context.least_draft[step])
        cost += max(lowest - max(end, context.dead), zero) * context.cost_below[step]
        cost += max(end - highest, zero) * context.cost_above[step]
        power = power_at(context.plant, mean(storage, end), release, conditions)
        cost += context.penalty * (unmet(conditions, draft, release, release) + unmet_power(conditions, power))
        cost += context.penalty * unmet_minimum(draft, drafts[0], context.per_missing * per_flow)
        benefit += stage_benefit(terms, power, release, per_flow)
        storage = end
    left += (storage - context.start) * context.water_value
    fitness: float = (benefit * context.per_stage_benefit + left - cost) * context.per_year
    return fitness


register_fitness(OperationContext, _fitness)

_operated = inlined(_fitness)


@compiled
def operate_networks(context: OperationContext, networks: RealArray, fitness: RealArray) -> None:
    """Fill `fitness`, the mean benefit of a year, with what each network makes; networks: (networks, numbers)."""
    for place in range(len(networks)):
        fitness[place] = _operated(context, networks[place], 0)
