"""Dispatch chart (调度图): storages that part reduced, guaranteed, increased and full output, month by month.

The chart of Chinese practice: the storage at the start of a month falls in a zone, and the zone says the output. It is
fitted twice. First every month's boundaries are put where the outputs come nearest to the plan's power in least
squares. Four outputs follow a plan that knows the future badly, so boundaries and outputs are then moved one by one
for the energy that the chart itself makes in the training years, operated one after the other (parameterisation,
simulation, optimisation: Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.approximation import specific_power_curve
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.objective import GWH_PER_MW_VOLUME
from reservoir.rules.foresight import water_value_gwh
from reservoir.rules.monthly import Months
from reservoir.rules.rule import Forecast
from reservoir.rules.training import FloatArray, Training
from reservoir.solvers.reservoir_year import ReservoirModel

IntArray = NDArray[np.int64]

FAMILY = "zones"
ZONES = ("reduced", "guaranteed", "increased", "full")
CURVES = len(ZONES) - 1
#: What a GWh short of a year's guaranteed energy costs the search, beside the GWh itself.
SHORTFALL_WEIGHT = 1.0
#: A storage higher than a curve by less than this part of the largest lies on it: a full lake must not be in a zone or
#: in the one above as rounding will have it.
ON_CURVE = 1e-6
#: Of the plan's outputs below and above the guaranteed one, where the reduced and the increased output start.
START_QUANTILES = (0.2, 0.5, 0.8)
_STORAGES = 41
_RELEASES = 800
_OUTPUTS = 49
_BOUNDARIES = 25
_SWEEPS = 8
#: A sweep that gains less than this part of the energy is the last.
_WORTHWHILE = 1e-5
_HOURS_PER_YEAR = 8766


@dataclass(frozen=True)
class ZonesRule:
    """A dispatch chart.

    Parameters
    ----------
    curves_hm3 : three tuples of float
        Storage at the start of each step above which the output is guaranteed, increased and full; never crossing.
    outputs_mw : tuple of four float
        Output of each zone of `ZONES`, rising.
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    storage_hm3 : tuple of float
        Storages of the table of releases.
    release_m3s : four tuples of float
        Release that makes each zone's output at those storages; that of most output where none makes it.
    """

    reservoir: str
    forecast: Forecast
    months: Months
    curves_hm3: tuple[tuple[float, ...], ...]
    outputs_mw: tuple[float, ...]
    storage_lower_hm3: tuple[float, ...]
    storage_upper_hm3: tuple[float, ...]
    storage_hm3: tuple[float, ...]
    release_m3s: tuple[tuple[float, ...], ...]

    family = FAMILY

    def zone(self, step: int, storage_hm3: float) -> str:
        """Name of the zone that a storage at the start of a step falls in; on a curve, the zone below it."""
        return ZONES[self._zone(step, storage_hm3)]

    def _zone(self, step: int, storage_hm3: float) -> int:
        return bisect_left([curve[step] for curve in self.curves_hm3], storage_hm3 - ON_CURVE * self.storage_hm3[-1])

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release that makes the zone's output at the start storage, and keeps the end within the storage bounds."""
        table = self.release_m3s[self._zone(step, storage_hm3)]
        wanted = float(np.interp(storage_hm3, self.storage_hm3, table))
        least, most = (
            self.months.release_to_reach(step, storage_hm3, bound[step], inflow_now_m3s)
            for bound in (self.storage_upper_hm3, self.storage_lower_hm3)
        )
        allowed = min(max(wanted, least), most)
        return min(max(allowed, self.months.release_lower_m3s[step]), self.months.release_upper_m3s[step])

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it."""
        return {
            "family": FAMILY,
            "reservoir": self.reservoir,
            "forecast": str(self.forecast),
            "months": self.months.to_dict(),
            "curves_hm3": [list(curve) for curve in self.curves_hm3],
            "outputs_mw": list(self.outputs_mw),
            "storage_lower_hm3": list(self.storage_lower_hm3),
            "storage_upper_hm3": list(self.storage_upper_hm3),
            "storage_hm3": list(self.storage_hm3),
            "release_m3s": [list(table) for table in self.release_m3s],
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ZonesRule:
        """Read back what `to_dict` gave.

        Raises
        ------
        InputError
            With every mistake in it: missing months, numbers that are none, curves that cross or leave the bounds.
        """
        _check(content)
        return cls(
            content["reservoir"],
            Forecast(content["forecast"]),
            Months.from_dict(content["months"]),
            _tuples(content["curves_hm3"]),
            tuple(content["outputs_mw"]),
            tuple(content["storage_lower_hm3"]),
            tuple(content["storage_upper_hm3"]),
            tuple(content["storage_hm3"]),
            _tuples(content["release_m3s"]),
        )


def fit(training: Training, forecast: Forecast) -> ZonesRule:
    """Fit boundaries and outputs to the plan, then improve them by the energy of the training years."""
    trial = _Trial.of(training, forecast)
    found = (_searched(trial, _nearest_to_plan(training, trial, quantile)) for quantile in START_QUANTILES)
    _, chart = max(found, key=lambda each: each[0])
    bounds = trial.bounds_hm3
    return ZonesRule(
        training.model.reservoir.name,
        forecast,
        trial.months,
        _tuples(chart.curves.tolist()),
        tuple(trial.outputs_mw[chart.levels].tolist()),
        tuple(bounds[0].tolist()),
        tuple(bounds[1].tolist()),
        tuple(trial.storages_hm3.tolist()),
        _tuples(trial.releases_m3s[chart.levels].tolist()),
    )


def output_releases(model: ReservoirModel, storages_hm3: FloatArray, outputs_mw: FloatArray) -> FloatArray:
    """Smallest release (m3/s) that makes each output at each storage, shape (outputs, storages).

    Where no release makes an output, the release of most output.
    """
    plant = model.reservoir
    releases = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), _RELEASES)
    power = _power(model, storages_hm3[:, None], releases[None])
    found = np.empty((len(outputs_mw), len(storages_hm3)))
    for place, row in enumerate(power):
        best = int(row.argmax())
        rising = np.maximum.accumulate(row[: best + 1])
        found[:, place] = np.interp(outputs_mw, rising + 1e-9 * np.arange(best + 1), releases[: best + 1])
    return found


def _power(model: ReservoirModel, storage: FloatArray, release: FloatArray) -> FloatArray:
    plant = model.reservoir
    head = plant.level(storage) - plant.tailrace(release)
    discharge = np.minimum(release, plant.capacity_m3s(head))
    return np.asarray(np.minimum(specific_power_curve(plant)(head) * discharge, plant.installed_mw))


@dataclass(frozen=True, eq=False)
class _Chart:
    """Boundaries, shape (curves, steps), and places of the outputs among a trial's outputs, shape (zones,)."""

    curves: FloatArray
    levels: IntArray


@dataclass(frozen=True, eq=False)
class _Trial:
    """The training years, ready to be operated by many charts at once.

    ``bounds_hm3`` holds the storage bounds at the end of each step, ``starts_hm3`` those at its start; ``first_hm3`` is
    where each year of the plan begins.
    """

    training: Training
    months: Months
    known_m3s: FloatArray
    bounds_hm3: FloatArray
    starts_hm3: FloatArray
    first_hm3: FloatArray
    storages_hm3: FloatArray
    outputs_mw: FloatArray
    releases_m3s: FloatArray
    stored_gwh_per_hm3: float

    @classmethod
    def of(cls, training: Training, forecast: Forecast) -> _Trial:
        plant, model, months = training.model.reservoir, training.model, Months.of(training)
        bounds = np.stack([plant.by_step(plant.storage_lower_hm3), plant.by_step(plant.storage_upper_hm3)])
        lowest, highest = float(bounds.min()), float(bounds.max())
        storages, outputs = np.linspace(lowest, highest, _STORAGES), _outputs(training, highest)
        mean_inflow = np.broadcast_to(months.inflow_m3s, training.inflow_m3s.shape)
        value = water_value_gwh(model, highest, lowest, float(training.release_m3s.mean())) / max(
            highest - lowest, 1e-9
        )
        return cls(
            training,
            months,
            training.inflow_m3s if forecast is Forecast.MONTH else mean_inflow,
            bounds,
            np.roll(bounds, 1, axis=1),
            training.storage_start_hm3[:, 0],
            storages,
            outputs,
            output_releases(model, storages, outputs),
            value,
        )

    def worth(self, curves: FloatArray, levels: IntArray, begun: FloatArray) -> FloatArray:
        """What charts are worth, GWh: energy, stored water at the end, less what is short of the guaranteed energy.

        Every year starts where the year before ends when that starts at `begun`: exact where `begun` is from
        `begun_by` the chart itself, near where it is from a chart that differs little, and all years are run at once.

        Parameters
        ----------
        curves : ndarray, shape (charts, curves, steps)
        levels : ndarray, shape (charts, zones)
        begun : ndarray, shape (years,)
            Storage at the start of each year.
        """
        carried = self._carried(curves, levels, np.broadcast_to(begun, (len(curves), len(begun))))
        storages, releases = self._follow(curves, levels, carried)
        power = _power(self.training.model, (storages[1:] + storages[:-1]) / 2, releases)
        energy = (power * self.training.volume_per_flow.T[:, None]).sum(axis=0) * GWH_PER_MW_VOLUME
        short = np.maximum((self.training.model.reservoir.guaranteed_energy_gwh or 0.0) - energy, 0.0)
        stored = self.stored_gwh_per_hm3 * (storages[-1, :, -1] - self.first_hm3[0])
        return np.asarray(energy.sum(axis=1) - SHORTFALL_WEIGHT * short.sum(axis=1) + stored)

    def begun_by(self, chart: _Chart) -> FloatArray:
        """Storage at the start of each year, the years one after the other from where the plan begins the first."""
        begun = self.first_hm3[None]
        for _ in range(self.training.years):
            before, begun = begun, self._carried(chart.curves[None], chart.levels[None], begun)
            if np.array_equal(before, begun):
                break
        return np.asarray(begun[0])

    def _carried(self, curves: FloatArray, levels: IntArray, begun: FloatArray) -> FloatArray:
        ends = self._follow(curves, levels, begun)[0][-1]
        first = np.broadcast_to(self.first_hm3[:1], (len(curves), 1))
        return np.concatenate([first, ends[:, :-1]], axis=1)

    def _follow(self, curves: FloatArray, levels: IntArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Storages (steps + 1, charts, years) and releases (steps, charts, years), as `simulate` would have them."""
        steps = self.training.steps
        storages, releases = np.empty((steps + 1, *start.shape)), np.empty((steps, *start.shape))
        storages[0] = start
        for step in range(steps):
            asked = self._asked(step, storages[step], curves[:, :, step], levels)
            releases[step], storages[step + 1] = self._repaired(step, storages[step], asked)
        return storages, releases

    def _asked(self, step: int, storage: FloatArray, curves: FloatArray, levels: IntArray) -> FloatArray:
        """`ZonesRule.release` for many charts and years."""
        zone = (storage[None] - ON_CURVE * self.storages_hm3[-1] > curves.T[:, :, None]).sum(axis=0)
        level = np.take_along_axis(levels, zone, axis=1)
        grid = self.storages_hm3
        place = np.clip((storage - grid[0]) / max(grid[-1] - grid[0], 1e-9) * (_STORAGES - 1), 0, _STORAGES - 1)
        left = np.minimum(place.astype(np.int64), _STORAGES - 2)
        low, high = self.releases_m3s[level, left], self.releases_m3s[level, left + 1]
        wanted = low + (place - left) * (high - low)
        known, volume = self.known_m3s[:, step], self.months.volume_per_flow[step]
        least, most = (known - (bound - storage) / volume for bound in self.bounds_hm3[::-1, step])
        return np.minimum(np.maximum(wanted, least), most)

    def _repaired(self, step: int, storage: FloatArray, asked: FloatArray) -> tuple[FloatArray, FloatArray]:
        inflow, volume = self.training.inflow_m3s[:, step], self.training.volume_per_flow[:, step]
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        end = np.clip(storage + (inflow - np.clip(asked, *bounds)) * volume, *self.bounds_hm3[:, step])
        release = np.clip(inflow - (end - storage) / volume, *bounds)
        return release, storage + (inflow - release) * volume


def _outputs(training: Training, highest_hm3: float) -> FloatArray:
    """Outputs to choose from: the plan's range up to the most that the plant reaches, and the guaranteed output."""
    plant = training.model.reservoir
    releases = np.linspace(plant.release_lower_m3s.min(), plant.release_upper_m3s.max(), _RELEASES)
    most = float(_power(training.model, np.array(highest_hm3), releases).max())
    even = np.linspace(min(float(training.power_mw.min()), most), most, _OUTPUTS)
    return np.union1d(even, min(_guaranteed_mw(training), most))


def _guaranteed_mw(training: Training) -> float:
    """The guaranteed energy as a steady output; without one, what the plan makes in nine months of ten."""
    guaranteed = training.model.reservoir.guaranteed_energy_gwh
    if guaranteed is not None:
        return guaranteed * 1000 / _HOURS_PER_YEAR
    return float(np.quantile(training.power_mw, 0.1))


def _nearest_to_plan(training: Training, trial: _Trial, quantile: float) -> _Chart:
    """Charts nearest to the plan, its outputs below and above the guaranteed one being a quantile of the plan's."""
    power, outputs = training.power_mw, trial.outputs_mw
    last = len(outputs) - 1
    guaranteed = int(np.clip(np.abs(outputs - _guaranteed_mw(training)).argmin(), 1, last - 2))
    levels = np.array([0, guaranteed, guaranteed + 1, last])
    for zone, least, most in ((0, 0, guaranteed), (2, guaranteed + 1, last)):
        between = power[(power >= outputs[least]) & (power < outputs[most - 1])]
        wanted = float(np.quantile(between, quantile)) if between.size else outputs[least]
        levels[zone] = np.clip(np.abs(outputs - wanted).argmin(), least, most - 1)
    curves = [_boundaries(trial, step, outputs[levels]) for step in range(training.steps)]
    return _Chart(np.stack(curves, axis=1), levels)


def _boundaries(trial: _Trial, step: int, outputs: FloatArray) -> FloatArray:
    """Boundaries of a step of least squared error of power; of several equal ones the highest, which saves water.

    The error is a sum of one term a boundary, so that the best in order are found one after the other.
    """
    storage, power = trial.training.storage_start_hm3[:, step], trial.training.power_mw[:, step]
    candidates = np.linspace(trial.starts_hm3[0, step], trial.starts_hm3[1, step], _BOUNDARIES)
    errors = (power[None] - outputs[:, None]) ** 2
    above = storage[None] - ON_CURVE * trial.storages_hm3[-1] > candidates[:, None]
    least, choices = np.zeros(_BOUNDARIES), []
    for change in errors[1:] - errors[:-1]:
        total = least + above @ change
        best = [place - int(np.argmin(total[: place + 1][::-1])) for place in range(_BOUNDARIES)]
        choices.append(best)
        least = total[best]
    place, found = _BOUNDARIES - 1, []
    for best in reversed(choices):
        place = best[place]
        found.append(candidates[place])
    return np.array(found[::-1])


def _searched(trial: _Trial, chart: _Chart) -> tuple[float, _Chart]:
    """Move boundaries and outputs one by one, as long as a sweep over all of them is worthwhile; what it is worth."""
    worth, begun = _exactly(trial, chart)
    for _ in range(_SWEEPS):
        before = worth
        for part in _parts(trial):
            curves, levels = _moves(trial, chart, *part)
            found = trial.worth(curves, levels, begun)
            best = int(found.argmax())
            if found[best] <= worth:
                continue
            moved = _Chart(curves[best], levels[best])
            moved_worth, moved_begun = _exactly(trial, moved)
            if moved_worth > worth:
                chart, worth, begun = moved, moved_worth, moved_begun
        if worth - before <= _WORTHWHILE * abs(worth):
            break
    return worth, chart


def _exactly(trial: _Trial, chart: _Chart) -> tuple[float, FloatArray]:
    """What a chart is worth with its years one after the other, and the storages at their starts."""
    begun = trial.begun_by(chart)
    return float(trial.worth(chart.curves[None], chart.levels[None], begun)[0]), begun


def _parts(trial: _Trial) -> Iterator[tuple[int | None, int | None, int | None]]:
    """What is moved at a time: curve, step and zone; a whole curve, a month's three boundaries, one, or an output."""
    steps = range(trial.training.steps)
    yield from ((curve, None, None) for curve in range(CURVES))
    yield from ((None, step, None) for step in steps)
    yield from ((curve, step, None) for curve in range(CURVES) for step in steps)
    yield from ((None, None, zone) for zone in range(CURVES))


def _moves(
    trial: _Trial, chart: _Chart, curve: int | None, step: int | None, zone: int | None
) -> tuple[FloatArray, IntArray]:
    """All charts that differ from one in one of `_parts`."""
    if zone is not None:
        return _output_moved(trial, chart, zone)
    if curve is None:
        assert step is not None
        return _month_shifted(trial, chart, step)
    return _curve_shifted(trial, chart, curve) if step is None else _boundary_moved(trial, chart, curve, step)


def _month_shifted(trial: _Trial, chart: _Chart, step: int) -> tuple[FloatArray, IntArray]:
    lowest, highest = trial.starts_hm3[:, step]
    shifts = np.linspace(-0.3, 0.3, _BOUNDARIES) * (highest - lowest)
    curves = np.repeat(chart.curves[None], _BOUNDARIES, axis=0)
    curves[:, :, step] = np.clip(chart.curves[:, step] + shifts[:, None], lowest, highest)
    return curves, np.repeat(chart.levels[None], _BOUNDARIES, axis=0)


def _curve_shifted(trial: _Trial, chart: _Chart, curve: int) -> tuple[FloatArray, IntArray]:
    shifts = np.linspace(-0.2, 0.2, _BOUNDARIES) * (trial.storages_hm3[-1] - trial.storages_hm3[0])
    return _with_curve(trial, chart, curve, chart.curves[curve] + shifts[:, None])


def _boundary_moved(trial: _Trial, chart: _Chart, curve: int, step: int) -> tuple[FloatArray, IntArray]:
    lowest, highest = trial.starts_hm3[:, step]
    near = chart.curves[curve, step] + np.array([-0.02, -0.01, 0.01, 0.02]) * (highest - lowest)
    values = np.concatenate([np.linspace(lowest, highest, _BOUNDARIES), near])
    moved = np.repeat(chart.curves[curve][None], len(values), axis=0)
    moved[:, step] = values
    return _with_curve(trial, chart, curve, moved)


def _with_curve(trial: _Trial, chart: _Chart, curve: int, moved: FloatArray) -> tuple[FloatArray, IntArray]:
    """Charts with a curve replaced, kept between its neighbours or the storage bounds."""
    fence = np.concatenate([trial.starts_hm3[:1], chart.curves, trial.starts_hm3[1:]])
    curves = np.repeat(chart.curves[None], len(moved), axis=0)
    curves[:, curve] = np.clip(moved, fence[curve], fence[curve + 2])
    return curves, np.repeat(chart.levels[None], len(moved), axis=0)


def _output_moved(trial: _Trial, chart: _Chart, zone: int) -> tuple[FloatArray, IntArray]:
    values = np.arange(chart.levels[zone - 1] + 1 if zone else 0, chart.levels[zone + 1])
    if ZONES[zone] == "guaranteed" and trial.training.model.reservoir.guaranteed_energy_gwh is not None:
        values = chart.levels[zone : zone + 1]  # promised, not fitted
    levels = np.repeat(chart.levels[None], len(values), axis=0)
    levels[:, zone] = values
    return np.repeat(chart.curves[None], len(values), axis=0), levels


def _tuples(rows: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in rows)


_MONTH_FIELDS = tuple(field.name for field in fields(Months))
_STEP_FIELDS = ("storage_lower_hm3", "storage_upper_hm3")


def _check(content: Mapping[str, Any]) -> None:
    """Raise every mistake of a rule's content at once."""
    mistakes = list(_shape_mistakes(content))
    if not mistakes:
        mistakes = [*_order_mistakes(content)]
    if mistakes:
        raise InputError(mistakes)


def _shape_mistakes(content: Mapping[str, Any]) -> Iterator[Mistake]:
    if not isinstance(content.get("reservoir"), str):
        yield Mistake("the reservoir's name is missing", column="reservoir", value=content.get("reservoir"))
    if content.get("forecast") not in tuple(Forecast):
        yield Mistake("is no forecast", ", ".join(Forecast), column="forecast", value=content.get("forecast"))
    months = content.get("months")
    for name in _MONTH_FIELDS:
        values = months.get(name) if isinstance(months, Mapping) else None
        yield from _number_mistakes(f"months.{name}", values, MONTHS_PER_YEAR)
    for name in _STEP_FIELDS:
        yield from _number_mistakes(name, content.get(name), MONTHS_PER_YEAR)
    yield from _number_mistakes("outputs_mw", content.get("outputs_mw"), len(ZONES))
    table = content.get("storage_hm3")
    yield from _number_mistakes("storage_hm3", table, None)
    points = len(table) if isinstance(table, list | tuple) else None
    for name, rows, columns in (("curves_hm3", CURVES, MONTHS_PER_YEAR), ("release_m3s", len(ZONES), points)):
        yield from _table_mistakes(name, content.get(name), rows, columns)


def _table_mistakes(name: str, table: Any, rows: int, columns: int | None) -> Iterator[Mistake]:
    if not isinstance(table, list | tuple) or len(table) != rows:
        found = len(table) if isinstance(table, list | tuple) else table
        yield Mistake("rows are missing or too many", f"{rows} lists of numbers", column=name, value=found)
        return
    for place, row in enumerate(table):
        yield from _number_mistakes(f"{name}[{place}]", row, columns)


def _number_mistakes(name: str, values: Any, count: int | None) -> Iterator[Mistake]:
    if not isinstance(values, list | tuple):
        yield Mistake("is no list of numbers", "a list of numbers", column=name, value=values)
        return
    if count is not None and len(values) != count:
        what = "months are missing or too many" if count == MONTHS_PER_YEAR else "numbers are missing or too many"
        yield Mistake(what, f"{count} numbers", column=name, value=len(values))
    for place, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            yield Mistake("is no finite number", column=f"{name}[{place}]", value=value)


def _order_mistakes(content: Mapping[str, Any]) -> Iterator[Mistake]:
    """Curves that cross or leave the bounds, by calendar month, and outputs and storages that do not rise."""
    lower, upper = (np.roll(np.array(content[name], float), 1) for name in _STEP_FIELDS)
    stack = np.vstack([lower, np.array(content["curves_hm3"], float), upper])
    names = ("the lower bound", *(f"curve {curve + 1}" for curve in range(CURVES)), "the upper bound")
    for place, step in np.argwhere(np.diff(stack, axis=0) < 0):
        month = content["months"]["calendar_month"][step]
        problem = f"in month {month} {names[place]} ({stack[place, step]:g} hm3) lies above {names[place + 1]}"
        expected = "curves that do not cross, within the storage bounds"
        yield Mistake(problem, expected, column=f"curves_hm3, step {step}", value=float(stack[place + 1, step]))
    if np.any(np.diff(content["outputs_mw"]) < 0):
        yield Mistake("the outputs fall from a zone to the next", "rising outputs", column="outputs_mw")
    if len(content["storage_hm3"]) < 2 or np.any(np.diff(content["storage_hm3"]) <= 0):
        yield Mistake("the storages do not rise", "two or more rising storages", column="storage_hm3")
