"""Changed keys of a reservoir file are read as if the file said them."""

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.reservoir import differing_parts, reservoir_digests
from reservoir.io.reservoir_toml.changes import ReservoirKeys
from reservoir.zoo import zoo_case
from tests.golden.lake import LAKES

UPPER = [100, 95, 90, 90, 95, 100, 105, 110, 118, 120, 115, 110]


@pytest.fixture
def keys(tmp_path) -> ReservoirKeys:
    (tmp_path / "lake.toml").write_text(LAKES["plain"])
    return ReservoirKeys.of(reservoir.read_reservoir(tmp_path / "lake.toml"))


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"storage.upper_hm3": UPPER, "storage.initial_hm3": 100}, "storage_upper_hm3", UPPER),
        ({"storage.dead_hm3": 40}, "storage_lower_hm3", [40] * 12),
        ({"storage.dead_mcm": 40}, "storage_lower_hm3", [40] * 12),
        ({"storage.initial_hm3": 90, "storage.final_hm3": 95}, "final_storage_hm3", 95),
        ({"release.lower_m3s": 3}, "release_lower_m3s", [3] * 12),
        ({"plant.installed_capacity_mw": 15.5}, "installed_mw", 15.5),
        ({"plant.units": 2, "plant.unit_capacity_mw": 8}, "installed_mw", 16),
        ({"plant.power_lower_mw": 2}, "power_lower_mw", [2] * 12),
        ({"storage.year_end": "free"}, "final_storage_hm3", None),
    ],
)
def test_a_changed_key_changes_what_it_says(keys, changes, field, value):
    assert getattr(keys.changed(changes), field) == pytest.approx(value)


def test_another_way_to_say_the_same_replaces_what_the_file_says(keys):
    table = keys.changed({"curves.capacity": {"kind": "table", "head_m": [20, 120], "capacity_m3s": [30, 50]}})
    assert ReservoirKeys.of(table).changed({"plant.hydraulic_capacity_m3s": 40}).capacity_m3s(50.0) == 40
    units = ReservoirKeys(dict(keys.tree) | {"plant": {**keys.tree["plant"], "units": 2, "unit_capacity_mw": 9}}, "")
    assert units.changed({"plant.installed_capacity_mw": 17}).installed_mw == 17


def test_without_changes_it_is_the_same_reservoir_however_it_was_made(keys):
    made = zoo_case(1, 2).reservoir
    assert not differing_parts(ReservoirKeys.of(made).changed({}), reservoir_digests(made))
    less = keys.changed({"plant.power_lower_mw": 2})
    assert not differing_parts(
        ReservoirKeys.of(less).changed({"plant.power_lower_mw": None}), reservoir_digests(keys.changed({}))
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"storage.dead_hm3": 150}, ("dead_hm3 = 20", "dead_hm3 = 150")),
        ({"release.lower_m3s": -1}, ("lower_m3s = 4", "lower_m3s = -1")),
        ({"plant.installed_mw": 3}, ("[plant]", "[plant]\ninstalled_mw = 3")),
    ],
)
def test_a_bad_change_is_refused_in_the_words_of_the_reader(keys, changes, line, tmp_path):
    assert LAKES["plain"].count(line[0]) == 1
    (tmp_path / "lake.toml").write_text(LAKES["plain"].replace(*line))
    with pytest.raises(InputError) as of_file:
        reservoir.read_reservoir(tmp_path / "lake.toml")
    with pytest.raises(InputError) as of_change:
        keys.changed(changes)
    assert str(of_change.value) == str(of_file.value)
    np.testing.assert_array_equal(keys.changed({}).release_lower_m3s, 4)
