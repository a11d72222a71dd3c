"""Operate linear rules over consecutive years, compiled."""

from __future__ import annotations

from reservoir.hydro.elementwise import FloatArray, clip
from reservoir.hydro.jit import compiled
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.record_operation import RecordArrays, generated


@compiled
def operate_linear(
    plant: Plant, record: RecordArrays, rules: FloatArray, end_value_per_hm3: float, values: FloatArray
) -> None:
    """Operate every rule from the start of each member; fills `values`.

    Value, in the unit of the objective: the benefit of a rule and of the water stored at the end, less the cost of
    violations.
    ``rules`` has shape (rules, steps, 4): constant, and factors of start storage, inflow before and inflow now. A
    target is kept within the storage bounds, as in `LinearRule.release`.
    """
    steps = rules.shape[1]
    for rule in range(len(rules)):
        storage, benefit = record.start, 0.0
        for step in range(len(record.inflow)):
            month = step % steps
            if record.restarts[step] > 0:
                benefit += end_value_per_hm3 * (storage - record.start)
                storage = record.start
            target = rules[rule, month, 0] + rules[rule, month, 1] * storage
            target += (
                rules[rule, month, 2] * record.inflow_before[step] + rules[rule, month, 3] * record.inflow_now[step]
            )
            target = clip(target, record.storage_lower[step], record.storage_upper[step])
            wanted = release_to_reach(storage, target, record.expected_inflow[step], record.expected_hm3_per_m3s[step])
            asked = clip(wanted, record.release_lower[step], record.release_upper[step])
            made, storage, cost = generated(plant, record, step, storage, asked)
            benefit += made - cost
        values[rule] = benefit + end_value_per_hm3 * (storage - record.start)
