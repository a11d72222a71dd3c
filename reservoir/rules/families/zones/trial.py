"""Operate many dispatch charts over the training years at once, and value each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.hydro.power import most_power_mw, releases_for_power
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.record_operation import RecordArrays, record_of, stored_value_per_hm3
from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.families.zones.chart import ON_CURVE, Charts
from reservoir.rules.families.zones.operation import Followed, Releases, Value, operate_charts

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
