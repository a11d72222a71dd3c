"""Operate dispatch charts over consecutive years, compiled.

Charts that are compared differ little, and do the same in most months: what the first of them does is remembered, and
where another is at the same storage and chooses the same output, it is not worked out again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.elementwise import FloatArray, clip
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.record_operation import RecordArrays, generated
from reservoir.rules.families.zones.chart import IntArray


class Releases(NamedTuple):
    """Releases that make outputs, ``values`` of shape (outputs, storages), at even distances from `lowest`.

    A storage is above a curve where it is higher by more than `on_curve`.
    """

    lowest: Any
    per_unit: Any
    values: Any
    on_curve: Any


class Value(NamedTuple):
    """What counts beside the energy: the guaranteed energy of a year, a GWh short of it, and stored water."""

    guaranteed_gwh: Any
    shortfall_weight: Any
    end_value_per_hm3: Any


class Followed(NamedTuple):
    """What a chart does: ``storages`` of shape (years * steps + 1,), the others (years * steps,).

    ``levels`` are the places of the outputs chosen, ``energies`` and ``costs`` of storages outside their bounds in GWh.
    """

    storages: Any
    levels: Any
    energies: Any
    costs: Any


@compiled
def operate_charts(
    plant: Plant,
    record: RecordArrays,
    table: Releases,
    value: Value,
    curves: FloatArray,
    levels: IntArray,
    first: Followed,
    values_gwh: FloatArray,
) -> None:
    """Operate every chart from the start of each member; fills `first`, what the first chart does, and `values_gwh`.

    ``curves`` has shape (charts, curves, steps), ``levels`` (charts, zones), ``values_gwh`` (charts,).
    """
    steps = curves.shape[2]
    first.storages[0] = record.start
    for chart in range(len(levels)):
        storage, total, energy, costs = record.start, 0.0, 0.0, 0.0
        for step in range(len(record.inflow)):
            if record.restarts[step] > 0:
                total += value.end_value_per_hm3 * (storage - record.start)
                storage = record.start
            level = levels[chart, _zone(curves, chart, step % steps, storage - table.on_curve)]
            if chart == 0 or storage != first.storages[step] or level != first.levels[step]:
                made, end, cost = _step(plant, record, table, step, storage, level)
            else:
                made, end, cost = first.energies[step], first.storages[step + 1], first.costs[step]
            if chart == 0:
                first.levels[step], first.energies[step], first.storages[step + 1] = level, made, end
                first.costs[step] = cost
            storage = end
            energy += made
            costs += cost
            if step % steps == steps - 1:
                total += energy - value.shortfall_weight * max(value.guaranteed_gwh - energy, 0.0)
                energy = 0.0
        values_gwh[chart] = total + value.end_value_per_hm3 * (storage - record.start) - costs


@inlined
def _zone(curves: FloatArray, chart: int, month: int, storage: float) -> int:
    zone = 0
    for curve in range(curves.shape[1]):
        zone += storage > curves[chart, curve, month]
    return zone


@inlined
def _step(
    plant: Plant, record: RecordArrays, table: Releases, step: int, storage: float, level: int
) -> tuple[float, float, float]:
    """Energy of a step, storage at its end and cost of its violation, as the simulation of `ZonesRule` has them."""
    last = table.values.shape[1] - 1
    place = min(max((storage - table.lowest) * table.per_unit, 0.0), float(last))
    left = min(int(place), last - 1)
    low = table.values[level, left]
    wanted = low + (place - left) * (table.values[level, left + 1] - low)
    known, volume = record.expected_inflow[step], record.expected_hm3_per_m3s[step]
    least = release_to_reach(storage, record.storage_upper[step], known, volume)
    most = release_to_reach(storage, record.storage_lower[step], known, volume)
    asked = clip(clip(wanted, least, most), record.release_lower[step], record.release_upper[step])
    return generated(plant, record, step, storage, asked)
