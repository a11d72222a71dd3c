"""Rules under flood space that depends on snow: a program of its own weighs their decisions, from their files alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from reservoir import optimise
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.inflow import Inflow
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.problems.mlp import Perceptron
from reservoir.rules import Forecast, Training, fit
from reservoir.rules.advice import Situation, advise
from reservoir.rules.base.record_operation import followed_by, record_of
from reservoir.rules.base.rule import Months
from reservoir.rules.base.simulation import decisions, simulate
from reservoir.rules.families.ann import AnnRegressionRule, Scales, input_names
from reservoir.rules.families.ann_training import samples
from reservoir.rules.families.replan import fit as fit_replan
from reservoir.rules.families.replan import outlook
from tests.io.small_reservoir import SMALL

#: Highest storage, hm3, at the end of January to December with no snow and with 300 mm.
BARE = np.full(12, 120.0)
SNOWY = BARE - np.array([10, 25, 45, 60, 50, 30, 5, 0, 0, 0, 5, 5.0])
YEARS = 12


@pytest.fixture(scope="module")
def snow() -> np.ndarray:
    """One snow a year, much or little, and months that differ a little."""
    random = np.random.default_rng(4)
    return np.clip(random.choice([20.0, 290.0], (YEARS, 1)) + random.uniform(-30, 30, (YEARS, 12)), 0, None)


@pytest.fixture(scope="module")
def upper(snow) -> np.ndarray:
    """The limits that follow, by hand, shape (years, 12)."""
    part = np.minimum(snow / 300, 1)
    return BARE + part * (SNOWY - BARE)


@pytest.fixture(scope="module")
def plan(snow):
    lake = reservoir_of(SMALL.encode(), "small.toml")
    lake = replace(lake, flood_space=FloodSpace("snow", (0.0, 300.0), [BARE, SNOWY]))
    flows = np.random.default_rng(5).lognormal(3.0, 0.4, (YEARS, 12)) * np.array([1, 1, 1, 2, 3, 2, 1, 1, 1, 1, 1, 1])
    return optimise(lake, Inflow(flows, Calendar(1990, YEARS), flood_index=snow), solver="dp", horizon="record")


@pytest.fixture(scope="module")
def training(plan):
    return Training.of(plan)


class OtherProgram:
    """Weighs releases by the values of a water-value rule's file, with the lake's curves, written from equations."""

    def __init__(self, content: dict) -> None:
        self.content = content
        table = [line.partition("= ")[2] for line in SMALL.splitlines() if line.startswith(("storage_hm3", "level_m"))]
        storage, level = (np.array([float(each) for each in row.strip("[]").split(",")]) for row in table)
        self.level = PchipInterpolator(storage, level)

    def energy_gwh(self, start, release, end, hours: float) -> np.ndarray:
        head = self.level((start + end) / 2) - 362 - 0.16 * release**0.6
        return np.minimum(8.3 * np.minimum(release, 45) * head / 1000, 30) * hours / 1000

    def value(self, step: int, inflow: float, end: np.ndarray) -> np.ndarray:
        """What stored water is worth: its marginal values, added up."""
        classes, storages = self.content["inflow_classes_m3s"][step], self.content["storages_hm3"]
        at = np.clip(np.interp(inflow, classes, np.arange(len(classes))), 0, len(classes) - 1)
        left = min(int(at), len(classes) - 2)
        slopes = np.array(self.content["water_value_gwh_per_hm3"][step])
        slopes = slopes[:, left] + (at - left) * (slopes[:, left + 1] - slopes[:, left])
        fine = np.linspace(storages[0], storages[-1], 20_001)
        marginal = np.interp(fine, storages, slopes)
        added = np.append(0.0, np.cumsum((marginal[1:] + marginal[:-1]) / 2 * np.diff(fine)))
        return np.interp(end, fine, added)

    def lost_gwh(self, step: int, start: float, inflow: float, upper: float, asked: float) -> float:
        """How much more the best of all releases brings than the one asked for, as far as limits allow both."""
        volume = self.content["months"]["volume_per_flow"][step]
        most = [80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80][step]
        least = max(4.0, inflow + (start - upper) / volume)  # what would be above the limit is released
        largest = min(most, inflow + (start - 20) / volume)
        release = np.append(np.linspace(least, largest, 20_001), np.clip(asked, least, largest))
        end = start + (inflow - release) * volume
        brought = self.energy_gwh(start, release, end, volume * 1e6 / 3600) + self.value(step, inflow, end)
        return float(brought.max() - brought[-1])


def test_a_rule_weighs_the_limit_of_the_month_itself(plan, training, upper) -> None:
    rule = fit("water-value", training)
    other, run = OtherProgram(rule.to_dict()), simulate(rule, training.model, plan.inflow, 110.0)
    np.testing.assert_allclose(run.limits.storage_upper_hm3, upper)
    storage, lost, by_mean = run.operation.storage_hm3, [], []
    for year, step in np.ndindex(YEARS, 12):
        start, flow = float(storage[year, step]), float(plan.inflow.flow_m3s[year, step])
        known = step, start, flow, float(upper[year, step])
        if flow + (start - known[3]) / rule.months.volume_per_flow[step] > 80:
            continue  # the limit cannot be kept
        lost.append(other.lost_gwh(*known, float(run.asked_m3s[year, step])))
        by_mean.append(other.lost_gwh(*known, rule.release(step, start, flow, flow)))
    assert len(lost) > 0.9 * YEARS * 12
    assert max(lost) < 2e-3 < 0.05 < max(by_mean)  # of some 12 GWh a month


def test_all_that_asks_a_rule_tells_it_the_limit(plan, training, snow, upper) -> None:
    rule = fit("water-value", training)
    asked = decisions([rule] * YEARS, training)
    for year, step in ((0, 2), (3, 3), (7, 4)):
        start, flow = training.storage_start_hm3[year, step], training.inflow_m3s[year, step]
        told = rule.limited(upper[year, step : step + 1])
        alone = told.release(step, start, flow, training.inflow_before_m3s[year, step])
        assert asked[year, step] == alone
        situation = Situation(step, start, flow, training.inflow_before_m3s[year, step], float(snow[year, step]))
        assert advise(rule, plan.reservoir, situation).asked_m3s == pytest.approx(alone, rel=1e-9)


def test_a_network_releases_its_part_of_the_range_that_the_month_has(training, upper) -> None:
    inputs = len(input_names(Forecast.MONTH))
    network, position = Perceptron(inputs, 3, 1, bias=True), np.zeros(3 * (inputs + 2) + 1)
    position[-1] = 0.5  # half of the range, whatever is known
    rule = AnnRegressionRule.of(training, Forecast.MONTH, Scales.of(training), network, position)
    start, flow, limit, volume = np.array([110.0]), np.array([20.0]), 70.0, rule.months.volume_per_flow[3]
    released = rule.limited(np.array([limit])).releases(3, start, flow, flow)
    filling, emptying = 20 + (start - limit) / volume, np.minimum(20 + (start - 20) / volume, 80.0)
    np.testing.assert_allclose(released, np.clip(filling + 0.5 * (emptying - filling), 4, 80))
    # A plan that fills the lake to each year's own limit released the least that there was to release.
    parts = samples(training, Forecast.MONTH, Scales.of(training))[1]
    full = np.abs(training.storage_end_hm3 - upper) < 1e-6
    inside = full & (training.release_m3s > 4.0 + 1e-6) & (training.release_m3s < 80 - 1e-6)
    assert inside.sum() > 10
    np.testing.assert_allclose(parts[: YEARS * 12].reshape(YEARS, 12)[inside], 0, atol=0.02)


def test_years_behind_the_record_have_the_limits_of_the_year_that_is_most_like_them(training, upper) -> None:
    months = Months.of(training)
    record = record_of(training, months, Forecast.MONTH)
    more = followed_by(record, training.inflow_m3s[::-1] * 1.001, months, Forecast.MONTH)
    behind = more.year.storage_upper.reshape(-1, 12)
    np.testing.assert_allclose(behind, np.concatenate([upper, upper[::-1]]))


def test_an_outlook_has_the_limit_of_its_first_month_and_the_mean_later(plan, training, upper) -> None:
    rule = fit_replan(training, Forecast.MONTH)
    situation = Situation(1, 118.0, 25.0, 20.0, 300.0)
    ahead = outlook(rule, plan.reservoir, situation, 10.0, 6)
    expected = np.append(SNOWY[1], upper.mean(axis=0)[2:7])
    np.testing.assert_allclose(ahead.upper_hm3, expected)
    np.testing.assert_allclose(ahead.storage_hm3[:, 1], SNOWY[1])
    spare = ahead.release_m3s < np.array([80, 80, 80, 120, 200, 200]) - 1e-6
    assert (ahead.storage_hm3[:, 1:][spare] <= np.broadcast_to(expected, spare.shape)[spare] + 1e-6).all()
    bare = outlook(rule, plan.reservoir, replace(situation, flood_index=0.0), 10.0, 6)
    assert bare.storage_hm3[:, 1].min() > SNOWY[1] + 5
