"""The family that weighs energy now against a table of the value of storage."""

import json

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.power import generation
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.rules import Forecast, fit, rule_from_dict
from reservoir.rules.base.simulation import simulate


@pytest.fixture(scope="module")
def rule(training, forecast):
    return fit("water-value", training, forecast)


def known(rule, inflow):
    return inflow if rule.forecast is Forecast.MONTH else None


def test_inside_the_limits_a_hm3_more_now_makes_what_the_table_says(rule, training):
    """The marginal energy of the release and of the higher head against the table, where no bound holds the release."""
    plant, compared = training.model.reservoir, 0
    for step in range(12):
        volume = rule.months.volume_per_flow[step]
        lower, upper = plant.storage_bounds_hm3[:, step]
        for storage in np.linspace(lower + 0.3 * (upper - lower), upper, 6):
            inflow = rule.months.inflow_m3s[step]
            release = rule.release(step, storage, known(rule, inflow), inflow)
            least, most = plant.release_bounds_m3s[:, step]
            inside = lower + 300 < storage + (inflow - release) * volume < upper - 300
            if rule.forecast is Forecast.NONE or not inside or not least < release < most:
                continue

            def energy(draft, storage=storage, inflow=inflow, volume=volume):
                mean = storage + (inflow - draft) * volume / 2
                return float(generation(plant, mean, draft).power_mw) * volume * GWH_PER_MW_VOLUME

            below, above = ((energy(release + sign * 30) - energy(release)) / (sign * 30 * volume) for sign in (-1, 1))
            end = storage + (inflow - release) * volume
            worth = rule.water_value(step, end, inflow, inflow)
            slack = 0.02  # GWh per hm3
            assert above - slack <= worth <= below + slack
            compared += 1
    assert compared >= 10 or rule.forecast is Forecast.NONE


def test_it_does_nearly_what_stochastic_dynamic_programming_does(rule, training, ten_years):
    made = simulate(rule, training.model, ten_years, training.start_hm3).energy_gwh.sum()
    best = simulate(fit("sdp", training, rule.forecast), training.model, ten_years, training.start_hm3).energy_gwh.sum()
    assert made >= (0.995 if rule.forecast is Forecast.MONTH else 0.98) * best


def test_more_water_in_store_or_flowing_in_is_worth_no_more(rule):
    table = np.array(rule.water_value_gwh_per_hm3)
    assert table.shape == (12, len(rule.storages_hm3), len(rule.inflow_classes_m3s[0]))
    assert (table.mean(axis=(0, 2))[0] >= table.mean(axis=(0, 2))[-1]).all()
    assert (table >= -0.05 * table.max()).all()


def test_many_situations_at_once_are_decided_as_one_by_one(rule, training):
    storage = np.linspace(5000, 14557, 7)
    before, now = training.inflow_before_m3s[:7, 4], training.inflow_m3s[:7, 4]
    told = now if rule.forecast is Forecast.MONTH else None
    each = [rule.release(4, s, known(rule, n), b) for s, n, b in zip(storage, now, before, strict=True)]
    assert rule.releases(4, storage, told, before) == pytest.approx(each, rel=1e-9)


@pytest.mark.parametrize(
    ("key", "spoil"),
    [
        ("water_value_gwh_per_hm3", lambda table: table[0].pop()),
        ("water_value_gwh_per_hm3", lambda table: table[3][2].pop()),
        ("expected_inflow_m3s", lambda rows: rows[5].append(9e5)),
        ("storages_hm3", lambda grid: grid.__setitem__(1, grid[1] + 40)),
    ],
)
def test_tables_of_other_sizes_are_refused(rule, key, spoil):
    content = json.loads(json.dumps(rule.to_dict()))
    spoil(content[key])
    with pytest.raises(InputError) as refused:
        rule_from_dict(content)
    assert any(mistake.column.startswith(key) for mistake in refused.value.mistakes)
