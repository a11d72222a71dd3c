"""The best chart of the training years: nearest to the plan first, then moved boundary by boundary.

First every month's boundaries are put where the outputs come nearest to the plan's power in least squares. Four outputs
follow a plan that knows the future badly, so boundaries and outputs are then moved one by one for the energy that the
chart itself makes in the training years, operated one after the other (parameterisation, simulation, optimisation:
Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.zones.chart import CURVES, ON_CURVE, ZONES, Chart, Charts
from reservoir.rules.families.zones.trial import Trial

#: Of the plan's outputs below and above the guaranteed one, where the reduced and the increased output start.
START_QUANTILES = (0.2, 0.5, 0.8)
_BOUNDARIES = 25
_SWEEPS = 8
#: A sweep that gains less than this part of the energy is the last.
_LEAST_GAIN = 1e-5


def best_chart(trial: Trial) -> Chart:
    """The chart of highest value that the search finds from its starts."""
    found = (_searched(trial, _nearest_to_plan(trial, quantile)) for quantile in START_QUANTILES)
    return max(found, key=lambda each: each[0])[1]


def _nearest_to_plan(trial: Trial, quantile: float) -> Chart:
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
    return Chart(np.stack(curves, axis=1), levels)


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
    place, found = _BOUNDARIES - 1, []
    for best in reversed(choices):
        place = best[place]
        found.append(candidates[place])
    return np.array(found[::-1])


def _searched(trial: Trial, chart: Chart) -> tuple[float, Chart]:
    """Move boundaries and outputs one by one, as long as a sweep gains `_LEAST_GAIN`; its value, GWh, and the chart."""
    value = -np.inf
    for _ in range(_SWEEPS):
        before = value
        for move in _moves(trial):
            charts = move(chart)
            values_gwh, _ = trial.operate(charts)
            best = int(values_gwh.argmax())
            value, chart = float(values_gwh[best]), charts[best]
        if value - before <= _LEAST_GAIN * abs(value):
            break
    return value, chart


def _moves(trial: Trial) -> Iterator[Callable[[Chart], Charts]]:
    """What is moved at a time: a whole curve, a month's three boundaries, one boundary, or an output.

    Each takes a chart, and gives it back with all that differ from it in this.
    """
    steps = range(trial.training.steps)
    promised = [ZONES.index("guaranteed")] if Targets.of(trial.training).guaranteed else []
    yield from (partial(_curve_shifted, trial, curve) for curve in range(CURVES))
    yield from (partial(_month_shifted, trial, step) for step in steps)
    yield from (partial(_boundary_moved, trial, curve, step) for curve in range(CURVES) for step in steps)
    yield from (
        partial(_output_moved, zone) for zone in range(CURVES) if zone not in promised
    )  # the full output is the most


def _curve_shifted(trial: Trial, curve: int, chart: Chart) -> Charts:
    shifts = np.linspace(-0.2, 0.2, _BOUNDARIES) * (trial.storages_hm3[-1] - trial.storages_hm3[0])
    return _with_curve(trial, chart, curve, chart.curves[curve] + shifts[:, None])


def _month_shifted(trial: Trial, step: int, chart: Chart) -> Charts:
    lowest, highest = trial.starts_hm3[:, step]
    shifts = np.linspace(-0.3, 0.3, _BOUNDARIES) * (highest - lowest)
    curves = np.repeat(chart.curves[None], _BOUNDARIES, axis=0)
    curves[:, :, step] = np.clip(chart.curves[:, step] + shifts[:, None], lowest, highest)
    return chart.with_curves(curves)


def _boundary_moved(trial: Trial, curve: int, step: int, chart: Chart) -> Charts:
    lowest, highest = trial.starts_hm3[:, step]
    near = chart.curves[curve, step] + np.array([-0.02, -0.01, 0.01, 0.02]) * (highest - lowest)
    values = np.concatenate([np.linspace(lowest, highest, _BOUNDARIES), near])
    moved = np.repeat(chart.curves[curve][None], len(values), axis=0)
    moved[:, step] = values
    return _with_curve(trial, chart, curve, moved)


def _with_curve(trial: Trial, chart: Chart, curve: int, moved: FloatArray) -> Charts:
    """Charts with a curve replaced, kept between its neighbours or the storage bounds."""
    fence = np.concatenate([trial.starts_hm3[:1], chart.curves, trial.starts_hm3[1:]])
    curves = np.repeat(chart.curves[None], len(moved), axis=0)
    curves[:, curve] = np.clip(moved, fence[curve], fence[curve + 2])
    return chart.with_curves(curves)


def _output_moved(zone: int, chart: Chart) -> Charts:
    values = np.arange(chart.levels[zone - 1] + 1 if zone else 0, chart.levels[zone + 1])
    levels = np.repeat(chart.levels[None], len(values), axis=0)
    levels[:, zone] = values
    return chart.with_levels(levels)
