"""The best dispatch chart of the training years: nearest to the plan first, then moved boundary by boundary.

First every month's boundaries are put where the outputs come nearest to the plan's power in least squares. Four outputs
follow a plan that knows the future badly, so boundaries and outputs are then moved one by one for the energy that the
chart itself makes in the training years, operated one after the other (parameterisation, simulation, optimisation:
Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170).

Charts that are compared differ little, and do the same in most months: what the first of them does is remembered, and
where another is at the same storage and chooses the same output, it is not worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import clip
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.power import most_power_mw, releases_for_power
from reservoir.hydro.rows import RELEASE_UPPER, STORAGE_LOWER, STORAGE_UPPER
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.record_operation import RecordArrays, generated, record_of
from reservoir.rules.base.rule import Forecast, Months
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import FloatArray, Training, parts_of_fit, tell_part
from reservoir.rules.families.zones import CURVES, ON_CURVE, ZONES, ZonesRule

IntArray = NDArray[np.int64]

#: What a GWh short of a year's guaranteed energy costs the search, beside the GWh itself.
SHORTFALL_WEIGHT = 1.0
_STORAGES, _OUTPUTS = 41, 49
#: The least of a table's outputs is no more than this part of the largest.
_LARGEST_LEAST = 0.99
#: Of the plan's outputs below and above the guaranteed one, where the reduced and the increased output start.
START_QUANTILES = (0.2, 0.5, 0.8)
_BOUNDARIES, _SWEEPS = 25, 8
#: A sweep that gains less than this part of the energy is the last.
_LEAST_GAIN = 1e-5


def fit(training: Training, forecast: Forecast) -> ZonesRule:
    """Fit boundaries and outputs to the plan, then improve them by the energy of the training years."""
    training = training.searched()
    trial = Trial.of(training, forecast)
    (curves,), (levels,) = best_chart(trial)
    lower, upper = training.model.reservoir.storage_bounds_hm3
    return ZonesRule.fitted(
        training,
        forecast,
        storage_lower_hm3=lower,
        storage_upper_hm3=upper,
        curves_hm3=curves,
        outputs_mw=trial.outputs_mw[levels],
        storage_hm3=trial.storages_hm3,
        release_m3s=trial.releases_m3s[levels],
    )


class Charts(NamedTuple):
    """Boundaries, shape (charts, curves, steps), and places of outputs among a trial's, shape (charts, zones)."""

    curves: FloatArray
    levels: IntArray

    def followed_by(self, curves: FloatArray, levels: IntArray) -> Charts:
        """One chart, and behind it others of these boundaries or these outputs."""
        count = max(len(curves), len(levels))
        further = (np.repeat(each, count // len(each), axis=0) for each in (curves, levels))
        return Charts._make(np.concatenate(both) for both in zip(self, further, strict=True))


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
    guaranteed_gwh : float
        Energy of a year of which what is missing is charged for.
    """

    training: Training
    starts_hm3: FloatArray
    storages_hm3: FloatArray
    outputs_mw: FloatArray
    releases_m3s: FloatArray
    record: RecordArrays
    guaranteed_gwh: float

    @classmethod
    def of(cls, training: Training, forecast: Forecast) -> Trial:
        """Prepare the training years for charts that are told a forecast."""
        plant = training.model.reservoir
        bounds = plant.storage_bounds_hm3
        storages = np.linspace(bounds.min(), bounds.max(), _STORAGES)
        # From the plan's range up to the most that the plant reaches, and the guaranteed output.
        most = most_power_mw(plant, float(storages[-1]))
        # Of a plan at that most in every step there is still a range to choose from.
        even = np.linspace(min(float(training.power_mw.min()), _LARGEST_LEAST * most), most, _OUTPUTS)
        outputs = np.union1d(even, min(Targets.of(training).firm_mw, most))
        # Of another objective than energy, the guaranteed energy is no part.
        guaranteed = 0.0 if training.limits.priced else float(plant.guaranteed_energy_gwh or 0.0)
        return cls(
            training,
            np.roll(bounds, 1, axis=1),
            storages,
            outputs,
            releases_for_power(plant, storages, outputs),
            record_of(training, Months.of(training), forecast),
            guaranteed,
        )

    def operate(self, charts: Charts) -> tuple[FloatArray, FloatArray]:
        """Values of charts, GWh, and the storages of the first, shape (years * steps + 1,).

        Value: the energy of a chart and of the water stored at the end, less the shortfall of guaranteed energy and
        the cost of storages outside their bounds.
        """
        count = len(self.record.restarts)
        first = Followed(np.empty(count + 1), np.empty(count, np.int64), np.empty(count), np.empty(count))
        values_gwh = np.empty(len(charts.levels))
        lowest, highest = float(self.storages_hm3[0]), float(self.storages_hm3[-1])
        per_hm3 = (_STORAGES - 1) / max(highest - lowest, 1e-9)
        table = Releases(lowest, per_hm3, self.releases_m3s, ON_CURVE * highest)
        operate_charts(
            self.training.model.exact,
            self.record,
            table,
            self.guaranteed_gwh,
            charts.curves,
            charts.levels,
            first,
            values_gwh,
        )
        return values_gwh, first.storages


def best_chart(trial: Trial) -> Charts:
    """The chart of highest value that the search finds from its starts."""
    starts = (_nearest_to_plan(trial, quantile) for quantile in parts_of_fit(START_QUANTILES))
    return max((_searched(trial, start) for start in starts), key=itemgetter(0))[1]


def _nearest_to_plan(trial: Trial, quantile: float) -> Charts:
    """The chart nearest to the plan, its outputs below and above the guaranteed one being a quantile of the plan's."""
    training, outputs = trial.training, trial.outputs_mw
    power = training.power_mw
    last = len(outputs) - 1
    guaranteed = int(np.clip(np.abs(outputs - Targets.of(training).firm_mw).argmin(), 1, last - 2))
    levels = np.array([0, guaranteed, guaranteed + 1, last])
    for zone, least, most in ((0, 0, guaranteed), (2, guaranteed + 1, last)):
        between = power[(power >= outputs[least]) & (power < outputs[most - 1])]
        wanted = float(np.quantile(between, quantile)) if between.size else outputs[least]
        levels[zone] = np.clip(np.abs(outputs - wanted).argmin(), least, most - 1)
    curves = [_boundaries(trial, step, outputs[levels]) for step in range(training.steps)]
    return Charts(np.stack(curves, axis=1)[None], levels[None])


def _boundaries(trial: Trial, step: int, outputs: FloatArray) -> FloatArray:
    """Boundaries of a step of least squared error of power; of several equal ones the highest, which saves water.

    The error is a sum of one term a boundary, so that the best in order are found one after the other.
    """
    decided = trial.training.decisions
    storage, power = decided.storage_start_hm3[:, step], decided.power_mw[:, step]
    candidates = np.linspace(trial.starts_hm3[0, step], trial.starts_hm3[1, step], _BOUNDARIES)
    errors = (power[None] - outputs[:, None]) ** 2
    above = storage[None] - ON_CURVE * trial.storages_hm3[-1] > candidates[:, None]
    least, choices = np.zeros(_BOUNDARIES), []
    for change in errors[1:] - errors[:-1]:
        total = least + above @ change
        best = [place - int(np.argmin(total[: place + 1][::-1])) for place in range(_BOUNDARIES)]
        choices.append(best)
        least = total[best]
    place, boundaries = _BOUNDARIES - 1, []
    for best in reversed(choices):
        place = best[place]
        boundaries.append(candidates[place])
    return np.array(boundaries[::-1])


def _searched(trial: Trial, chart: Charts) -> tuple[float, Charts]:
    """Move boundaries and outputs one by one, as long as a sweep gains `_LEAST_GAIN`; its value, GWh, and the chart."""
    value = -np.inf
    moves = list(_moves(trial))
    for sweep in range(_SWEEPS):
        before = value
        for place, move in enumerate(moves):
            tell_part((sweep + place / len(moves)) / _SWEEPS)
            charts = move(chart)
            values_gwh, _ = trial.operate(charts)
            best = int(values_gwh.argmax())
            value, only = float(values_gwh[best]), slice(best, best + 1)
            chart = Charts(charts.curves[only], charts.levels[only])
        if value - before <= _LEAST_GAIN * abs(value):
            break
    return value, chart


def _moves(trial: Trial) -> Iterator[Callable[[Charts], Charts]]:
    """What is moved at a time: a whole curve, a month's three boundaries, one boundary, or an output.

    Each takes a chart, and gives it back with all that differ from it in this.
    """
    (lowest, highest), steps = trial.starts_hm3, range(trial.training.steps)

    def with_curve(chart: Charts, curve: int, moved: FloatArray) -> Charts:
        """Charts with a curve replaced, kept between its neighbours or the storage bounds."""
        fence = np.concatenate([lowest[None], chart.curves[0], highest[None]])
        curves = np.repeat(chart.curves, len(moved), axis=0)
        curves[:, curve] = np.clip(moved, fence[curve], fence[curve + 2])
        return chart.followed_by(curves, chart.levels)

    def curve_shifted(curve: int, chart: Charts) -> Charts:
        shifts = np.linspace(-0.2, 0.2, _BOUNDARIES) * (trial.storages_hm3[-1] - trial.storages_hm3[0])
        return with_curve(chart, curve, chart.curves[0, curve] + shifts[:, None])

    def month_shifted(step: int, chart: Charts) -> Charts:
        shifts = np.linspace(-0.3, 0.3, _BOUNDARIES) * (highest[step] - lowest[step])
        curves = np.repeat(chart.curves, _BOUNDARIES, axis=0)
        curves[:, :, step] = np.clip(chart.curves[0, :, step] + shifts[:, None], lowest[step], highest[step])
        return chart.followed_by(curves, chart.levels)

    def boundary_moved(curve: int, step: int, chart: Charts) -> Charts:
        near = chart.curves[0, curve, step] + np.array([-0.02, -0.01, 0.01, 0.02]) * (highest[step] - lowest[step])
        values = np.concatenate([np.linspace(lowest[step], highest[step], _BOUNDARIES), near])
        moved = np.repeat(chart.curves[:, curve], len(values), axis=0)
        moved[:, step] = values
        return with_curve(chart, curve, moved)

    def output_moved(zone: int, chart: Charts) -> Charts:
        values = np.arange(chart.levels[0, zone - 1] + 1 if zone else 0, chart.levels[0, zone + 1])
        levels = np.repeat(chart.levels, len(values), axis=0)
        levels[:, zone] = values
        return chart.followed_by(chart.curves, levels) if len(levels) else chart

    yield from (partial(curve_shifted, curve) for curve in range(CURVES))
    yield from (partial(month_shifted, step) for step in steps)
    yield from (partial(boundary_moved, curve, step) for curve in range(CURVES) for step in steps)
    promised = [ZONES.index("guaranteed")] if Targets.of(trial.training).guaranteed else []
    # The full output is the most.
    yield from (partial(output_moved, zone) for zone in range(CURVES) if zone not in promised)


class Releases(NamedTuple):
    """Releases that make outputs, ``values`` of shape (outputs, storages), at even distances from `lowest`.

    A storage is above a curve where it is higher by more than `on_curve`.
    """

    lowest: Any
    per_unit: Any
    values: Any
    on_curve: Any


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
    guaranteed_gwh: float,
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
        for step in range(len(record.restarts)):
            if record.restarts[step] > 0:
                total += record.water_value * (storage - record.start)
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
                total += energy - SHORTFALL_WEIGHT * max(guaranteed_gwh - energy, 0.0)
                energy = 0.0
        values_gwh[chart] = total + record.water_value * (storage - record.start) - costs


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
    rows, last = record.year.rows, table.values.shape[1] - 1
    place = min(max((storage - table.lowest) * table.per_unit, 0.0), float(last))
    left = min(int(place), last - 1)
    low = table.values[level, left]
    wanted = low + (place - left) * (table.values[level, left + 1] - low)
    known, volume = record.expected_inflow[step], record.expected_hm3_per_m3s[step]
    least = release_to_reach(storage, rows[STORAGE_UPPER, step], known, volume)
    most = release_to_reach(storage, rows[STORAGE_LOWER, step], known, volume)
    asked = clip(clip(wanted, least, most), record.release_lower[step], rows[RELEASE_UPPER, step])
    return generated(plant, record, step, storage, asked)
