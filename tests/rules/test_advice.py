"""This month's release: the rule's, within the limits, and what came of it in years alike."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.plant import storage_at_level
from reservoir.rules import Forecast, fit
from reservoir.rules.advice import LEAST_SPREAD, Situation, advise, alike, step_of_month
from reservoir.rules.base.simulation import simulate

LEVELS = {
    "table": Table((10.0, 20.0, 40.0, 80.0, 130.0), (405.0, 412.0, 422.0, 435.0, 447.2)),
    "table with a level stretch": Table((10.0, 20.0, 40.0, 130.0), (405.0, 412.0, 412.0, 447.2)),
    "polynomial": Polynomial((400.0, 0.55, -0.0012), (10.0, 130.0)),
    "power law": PowerLaw(380.0, 9.0, 0.0, 0.4, (10.0, 130.0)),
}


@pytest.mark.parametrize("name", LEVELS)
def test_the_storage_at_a_level_has_that_level(small, name):
    plant = replace(small, level=LEVELS[name])
    for storage in np.linspace(10.0, 130.0, 41):
        level = float(plant.level(storage))
        found = storage_at_level(plant, level)
        assert float(plant.level(found)) == pytest.approx(level, abs=1e-6)
        if not 20.0 <= storage <= 40.0 or "stretch" not in name:
            assert found == pytest.approx(storage, abs=1e-6)


def test_the_bundled_reservoir_is_full_at_its_normal_level(xiaowan):
    assert storage_at_level(xiaowan, xiaowan.marks.normal_m) == pytest.approx(14557.0, abs=1e-6)


@pytest.mark.parametrize("level", [404.0, 481.0, float("nan")])
def test_a_level_that_the_curve_does_not_reach_is_refused_with_those_it_does(small, level):
    with pytest.raises(InputError, match=r"405\.38 to 451\.22 m"):
        storage_at_level(small, level)


@pytest.mark.parametrize("forecast", Forecast)
@pytest.mark.parametrize("family", ["guide-curve", "linear", "standard"])
@pytest.mark.parametrize("storage", [5_000.0, 11_000.0, 14_557.0])
def test_advice_is_the_first_month_of_a_simulation(training, ten_years, family, forecast, storage):
    rule, plant = fit(family, training, forecast), training.model.reservoir
    run = simulate(rule, training.model, ten_years, storage, inflow_before_m3s=500.0)
    first = run.operation[0]
    advice = advise(rule, plant, Situation(0, storage, ten_years.flow_m3s[0, 0], 500.0))
    assert advice.asked_m3s == run.asked_m3s[0, 0]
    assert advice.repaired == run.repaired[0, 0]
    for found, expected in (
        (advice.release_m3s, first.release_m3s),
        (advice.turbined_m3s, first.turbined_m3s),
        (advice.end_level_m, first.level_m),
        (advice.head_m, first.head_m),
        (advice.power_mw, first.power_mw),
        (advice.energy_gwh, first.energy_gwh),
        (advice.end_storage_hm3, first.storage_hm3[1:]),
    ):
        assert found == pytest.approx(expected[0], rel=1e-9)
    assert advice.spill_m3s == pytest.approx(first.release_m3s[0] - first.turbined_m3s[0], abs=1e-6)


class Asking:
    """A rule that asks for one release."""

    forecast = Forecast.NONE

    def __init__(self, months, wanted):
        self.months, self.wanted = months, wanted

    def release(self, step, storage, now, before):
        assert now is None
        return self.wanted


@pytest.mark.parametrize(("wanted", "repaired"), [(600.0, False), (1e6, True), (-1.0, True)])
def test_what_the_limits_do_not_allow_is_said(training, wanted, repaired):
    rule = Asking(fit("linear", training).months, wanted)
    advice = advise(rule, training.model.reservoir, Situation(0, 12_000.0, 500.0, 500.0))
    assert (advice.asked_m3s, advice.repaired, advice.within_bounds) == (wanted, repaired, True)


@pytest.mark.parametrize(("storage", "flow"), [(3_000.0, 0.0), (14_557.0, 1e5)])
def test_bounds_that_no_release_keeps_are_said(training, storage, flow):
    plant = training.model.reservoir
    advice = advise(fit("guide-curve", training), plant, Situation(0, storage, flow, 500.0))
    assert not advice.within_bounds
    starts_below = storage < plant.storage_lower_hm3.min()
    assert advice.starts_below_dead == starts_below
    assert advice.release_m3s == (0.0 if starts_below else plant.release_upper_m3s[0])
    assert advice.missing_m3s == (plant.release_lower_m3s[0] if starts_below else 0.0)


@pytest.mark.parametrize(("start", "lower", "within"), [(0.0, 0.0, True), (-2.0, 0.0, False), (0.0, 50.0, False)])
def test_a_lake_that_losses_alone_take_below_dead_storage_is_within_bounds(training, start, lower, within):
    """But not one that was below before, nor one that does not reach a bound above dead storage."""
    plant = training.model.reservoir
    dead = float(plant.storage_lower_hm3.min())
    bounds = plant.storage_lower_hm3 + np.where(np.arange(12) == 0, lower, 0.0)
    leaking = replace(plant, storage_lower_hm3=bounds, seepage_m3s=Polynomial((5.0,), plant.level.domain))
    advice = advise(Asking(fit("linear", training).months, 0.0), leaking, Situation(0, dead + start, 0.0, 500.0))
    assert advice.release_m3s == 0
    assert advice.end_storage_hm3 < dead
    assert advice.within_bounds == within
    assert advice.starts_below_dead == (start < 0)


def test_months_are_found_in_a_water_year(small, xiaowan):
    assert [step_of_month(small, month) for month in (6, 12, 1, 5)] == [0, 6, 7, 11]
    assert step_of_month(xiaowan, 6) == 5


def schedule(storages, inflows, releases):
    """One June a year, and a May that nobody asked for."""
    years = [str(2001 + year) for year in range(len(storages))]
    june = {"year": years, "month": 6, "storage_start_hm3": storages, "inflow_m3s": inflows, "release_m3s": releases}
    may = {**june, "month": 5, "release_m3s": -1.0}
    return pd.concat([pd.DataFrame(may), pd.DataFrame(june)], ignore_index=True)


#: All that is asked of a reservoir here.
LAKE = SimpleNamespace(storage_lower_hm3=np.zeros(12), storage_upper_hm3=np.full(12, 10.0))


def test_the_years_alike_are_the_nearest_in_storage_and_inflow():
    table = schedule(np.arange(10.0), np.tile([10.0, 20.0], 5), np.arange(10.0) * 100)
    found = alike(table, LAKE, 6, Situation(0, 1.0, 10.0, 0.0))
    # A standard deviation of the storages is 2.9, of the inflows 5: those of 20 m3/s are two away.
    assert found.labels == ("2001", "2003")
    assert (found.lowest_m3s, found.median_m3s, found.highest_m3s) == (0, 100, 200)
    assert (found.nearest, found.storage_apart_hm3, found.inflow_apart_m3s) == ("2001", -1.0, 0.0)


def test_a_storage_that_no_planned_year_began_with_is_like_none_and_the_nearest_is_named():
    table = schedule(np.full(8, 8.0), np.arange(8.0), np.arange(8.0))
    near, far = (alike(table, LAKE, 6, Situation(0, storage, 7.0, 0.0)) for storage in (8.0, 1.0))
    assert near.labels == ("2006", "2007", "2008")
    assert far.labels == ()
    assert np.isnan([far.lowest_m3s, far.median_m3s, far.highest_m3s]).all()
    assert (far.nearest, far.storage_apart_hm3) == ("2008", 7.0)
    assert far.nearest_distance == pytest.approx(7.0 / (LEAST_SPREAD * 10.0))


def test_at_most_a_part_of_a_long_record_is_quoted():
    years = 62
    table = schedule(np.arange(years) / 62, np.zeros(years), np.zeros(years))
    found = alike(table, LAKE, 6, Situation(0, 30.0 / 62, 0.0, 0.0))
    assert found.labels == tuple(str(2001 + year) for year in range(26, 35))


def test_the_plans_own_month_is_among_those_alike(plan):
    table = plan.schedule()
    row = table[(table["month"] == 7) & (table["year"] == "1957")].iloc[0]
    situation = Situation(6, row["storage_start_hm3"], row["inflow_m3s"], 0.0)
    assert "1957" in alike(table, plan.reservoir, 7, situation).labels


def test_a_year_is_simulated_from_the_same_advice_in_any_record(training, ten_years):
    """Advice knows nothing of the record: only the situation counts."""
    rule, plant = fit("linear", training), training.model.reservoir
    other = Inflow(ten_years.flow_m3s[::-1].copy(), ten_years.calendar)
    flow = float(other.flow_m3s[0, 0])
    run = simulate(rule, training.model, other, 12_000.0, inflow_before_m3s=450.0)
    assert advise(rule, plant, Situation(0, 12_000.0, flow, 450.0)).asked_m3s == run.asked_m3s[0, 0]
