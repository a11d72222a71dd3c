"""Operate many dispatch charts over the training years at once, and value each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.elementwise import clip
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.power import most_power_mw, releases_for_power
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.record_operation import RecordArrays, generated, record_of, stored_value_per_hm3
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.zones.chart import ON_CURVE, Charts, IntArray


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


#: What a GWh short of a year's guaranteed energy costs the search, beside the GWh itself.
SHORTFALL_WEIGHT = 1.0
_STORAGES = 41
_OUTPUTS = 49


@dataclass(frozen=True, eq=False)
class Trial:
    """The training years, ready to be operated by many charts at once.

    Parameters
    ----------
    training : Training
    starts_hm3 : ndarray, shape (2, steps)
        Storage bounds at the start of each step.
    storages_hm3, outputs_mw : ndarray
        Storages and outputs of the table of releases.
    releases_m3s : ndarray, shape (outputs, storages)
        Releases of that table, from `releases_for_power`.
    record : RecordArrays
        The training years one after the other, from where the plan begins the first.
    value : Value
        What counts beside the energy.
    """

    training: Training
    starts_hm3: FloatArray
    storages_hm3: FloatArray
    outputs_mw: FloatArray
    releases_m3s: FloatArray
    record: RecordArrays
    value: Value

    @classmethod
    def of(cls, training: Training, forecast: Forecast) -> Trial:
        """Prepare the training years for charts that are told a forecast."""
        plant = training.model.reservoir
        bounds = plant.storage_bounds_hm3
        storages = np.linspace(bounds.min(), bounds.max(), _STORAGES)
        outputs = _outputs(training, float(storages[-1]))
        return cls(
            training,
            np.roll(bounds, 1, axis=1),
            storages,
            outputs,
            releases_for_power(plant, storages, outputs),
            record_of(training, Months.of(training), forecast),
            _value(training),
        )

    def operate(self, charts: Charts) -> tuple[FloatArray, FloatArray]:
        """Values of charts, GWh, and the storages of the first, shape (years * steps + 1,).

        Value: the energy of a chart and of the water stored at the end, less the shortfall of guaranteed energy and
        the cost of storages outside their bounds.
        """
        count = len(self.record.inflow)
        first = Followed(np.empty(count + 1), np.empty(count, np.int64), np.empty(count), np.empty(count))
        values_gwh = np.empty(len(charts.levels))
        plant, table = self.training.model.exact, self._table
        operate_charts(plant, self.record, table, self.value, charts.curves, charts.levels, first, values_gwh)
        return values_gwh, first.storages

    @property
    def _table(self) -> Releases:
        lowest, highest = float(self.storages_hm3[0]), float(self.storages_hm3[-1])
        return Releases(lowest, (_STORAGES - 1) / max(highest - lowest, 1e-9), self.releases_m3s, ON_CURVE * highest)


def _outputs(training: Training, highest_hm3: float) -> FloatArray:
    """Outputs to choose from: the plan's range up to the most that the plant reaches, and the guaranteed output."""
    most = most_power_mw(training.model.reservoir, highest_hm3)
    even = np.linspace(min(float(training.power_mw.min()), most), most, _OUTPUTS)
    return np.union1d(even, min(Targets.of(training).firm_mw, most))


def _value(training: Training) -> Value:
    # Of another objective than energy, the guaranteed energy is no part.
    guaranteed = 0.0 if training.limits.terms else float(training.model.reservoir.guaranteed_energy_gwh or 0.0)
    return Value(guaranteed, SHORTFALL_WEIGHT, stored_value_per_hm3(training))
