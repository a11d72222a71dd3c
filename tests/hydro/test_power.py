"""Power for whole arrays is the power that compiled code makes, and the release for a power makes it."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro import step
from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table, constant
from reservoir.hydro.jit import compiled_part
from reservoir.hydro.plant import exact_plant
from reservoir.hydro.power import generation, most_power_mw, releases_for_power

#: What one plant may be told by: a rate that falls with head, and two that bend.
CONVERSIONS = {
    ConversionKind.RATE: Table((30.0, 60.0, 100.0), (14.5, 7.1, 4.2)),
    ConversionKind.COEFFICIENT: Polynomial((6.1, 0.055, -2.9e-4), (30.0, 100.0)),
    ConversionKind.EFFICIENCY: Polynomial((0.62, 0.006, -3.2e-5), (30.0, 100.0)),
}


@compiled_part
def compiled_values(plant, storages, releases, values):
    for row in range(len(storages)):
        for column in range(len(releases)):
            head = step.head_at(plant, storages[row], releases[column])
            values[0, row, column] = head
            values[1, row, column] = step.turbined_at(plant, head, releases[column])
            values[2, row, column] = step.power_at(plant, storages[row], releases[column])


@pytest.fixture(scope="module", params=["xiaowan", *ConversionKind])
def plant(request, xiaowan, small):
    if request.param == "xiaowan":
        return xiaowan
    return replace(small, conversion_kind=request.param, conversion=CONVERSIONS[request.param])


def grid(plant):
    """Storages and releases, within their bounds and beyond."""
    storage = np.array([plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max()])
    release = np.array([plant.release_lower_m3s.min(), plant.release_upper_m3s.max()])
    return np.linspace(0.8 * storage[0], 1.2 * storage[1], 41), np.linspace(0.5 * release[0], 1.5 * release[1], 61)


def test_arrays_are_generated_as_compiled_code_generates_them(plant):
    storages, releases = grid(plant)
    values = np.empty((3, len(storages), len(releases)))
    compiled_values(exact_plant(plant), storages, releases, values)
    made = generation(plant, storages[:, None], releases[None])
    for found, expected in zip(made, values, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_a_number_is_generated_as_in_an_array(plant):
    storages, releases = grid(plant)
    made = generation(plant, storages, releases[7])
    one = generation(plant, storages[3], releases[7])
    assert [float(each) for each in one] == [float(each[3]) for each in made]


def test_no_more_is_turbined_than_is_released_and_nothing_where_nothing_is(plant):
    storages, releases = grid(plant)
    made = generation(plant, storages[:, None], releases[None])
    assert np.all(made.turbined_m3s <= releases * (1 + 1e-12))
    assert np.all(made.power_mw <= plant.installed_mw)
    none = generation(plant, storages, 0.0)
    assert not none.turbined_m3s.any()
    assert not none.power_mw.any()


def within(plant):
    storage = np.linspace(plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max(), 23)
    return storage, [most_power_mw(plant, each) for each in storage]


def test_the_release_for_a_power_makes_it(plant):
    storages, most = within(plant)
    least = generation(plant, storages, plant.release_lower_m3s.min()).power_mw
    for part in (0.0, 0.1, 0.5, 0.9, 0.999):
        for place, storage in enumerate(storages):
            wanted = least[place] + part * (most[place] - least[place])
            release = releases_for_power(plant, storages[place : place + 1], np.array([wanted]))[0, 0]
            assert float(generation(plant, storage, release).power_mw) == pytest.approx(wanted, rel=2e-3)


def test_a_power_beyond_all_is_met_by_the_release_of_most_power(plant):
    storages, most = within(plant)
    found = releases_for_power(plant, storages, np.array([10 * plant.installed_mw]))[0]
    np.testing.assert_allclose(generation(plant, storages, found).power_mw, most, rtol=1e-12)


def test_a_power_below_all_is_met_by_the_least_release(plant):
    storages, _ = within(plant)
    assert np.all(releases_for_power(plant, storages, np.array([0.0])) == plant.release_lower_m3s.min())


def test_more_power_takes_no_less_release(plant):
    storages, _ = within(plant)
    found = releases_for_power(plant, storages, np.linspace(0, plant.installed_mw, 50))
    assert found.shape == (50, len(storages))
    assert np.all(np.diff(found, axis=0) >= 0)


def test_the_smallest_release_is_taken_where_more_makes_no_more(small):
    """Turbines of 20 m3/s under a constant head make no more of 200 than of 20."""
    plant = replace(
        small,
        level=constant(462.0, (10.0, 130.0)),
        tailrace=constant(400.0, (0.0, 250.0)),
        conversion_kind=ConversionKind.COEFFICIENT,
        conversion=constant(8.0, (30.0, 100.0)),
        capacity_m3s=PowerLaw(20.0, 0.0, 0.0, 1.0, (30.0, 100.0)),
    )
    power = 8.0 * 62.0 * 20.0 / 1000
    step = np.ptp(np.array([plant.release_lower_m3s.min(), plant.release_upper_m3s.max()])) / 799
    ((found,),) = releases_for_power(plant, np.array([80.0]), np.array([power]))
    assert 20.0 <= found <= 20.0 + step
