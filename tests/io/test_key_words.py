"""Words for the quantities of a reservoir, in headers and rows of sheets, mean keys of a reservoir file."""

from __future__ import annotations

import pytest

from reservoir.hydro.attributes import ATTRIBUTES
from reservoir.io.key_words import keys_meant, named_without_unit


@pytest.mark.parametrize("row", [row for row in ATTRIBUTES if "." in row.key], ids=lambda row: row.key)
def test_every_key_is_known_by_itself_and_with_its_section(row):
    for name in (row.name, f"{row.section.partition('.')[0]}_{row.name}"):
        if row.name not in ("energy", "revenue", "firm_power", "span", "penalty"):  # no quantities of a sheet
            assert row.key in [meant.row.key for meant in keys_meant(name, section=row.section)], name


@pytest.mark.parametrize(
    ("text", "unit", "key", "written"),
    [
        ("Installed capacity (MW)", "", "plant.installed_capacity_mw", "installed_capacity_mw"),
        ("Installed capacity", "kW", "plant.installed_capacity_mw", "installed_capacity_kw"),
        ("装机容量", "MW", "plant.installed_capacity_mw", "installed_capacity_mw"),
        ("Turbine discharge, cfs", "", "plant.hydraulic_capacity_m3s", "hydraulic_capacity_cfs"),
        ("Efficiency", "%", "plant.efficiency", "efficiency"),
        ("K", "", "plant.output_coefficient", "output_coefficient"),
        ("Dead storage [million m3]", "", "storage.dead_hm3", "dead_hm3"),
        ("总库容(亿m3)", "", "storage.full_hm3", "full_1e8m3"),
        ("死库容", "万m3", "storage.dead_hm3", "dead_1e4m3"),
        ("Environmental flow", "m³/s", "release.lower_m3s", "lower_m3s"),
        ("Max. release (l/s)", "", "release.upper_m3s", "upper_ls"),
        ("Net evaporation (inches)", "", "losses.evaporation_mm", "evaporation_in"),
        ("Energy price (EUR/MWh)", "", "objective.price_per_mwh", "price_per_mwh"),
        ("死水位(m)", "", "marks.dead_m", "dead_m"),
    ],
)
def test_words_with_a_unit_mean_one_key(text, unit, key, written):
    first = keys_meant(text, unit)[0]
    assert (first.row.key, first.written, first.by_level) == (key, written, False)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Max level (m)", ["storage.full_hm3", "storage.upper_hm3"]),
        ("Minimum pool elevation (ft)", ["storage.dead_hm3", "storage.lower_hm3"]),
        ("Initial level (m)", ["storage.initial_hm3"]),
    ],
)
def test_a_level_may_stand_for_a_storage(text, keys):
    assert [meant.row.key for meant in keys_meant(text)] == keys
    assert all(meant.by_level for meant in keys_meant(text))


@pytest.mark.parametrize(
    "text", ["Dam height (m)", "Live storage (hm3)", "Min release", "Min release (ML/d)", "1953", ""]
)
def test_other_words_and_other_units_mean_none(text):
    assert keys_meant(text) == []


def test_a_quantity_without_a_known_unit_is_known_as_such():
    assert named_without_unit("Min release (ML/d)").key == "release.lower_m3s"
    assert named_without_unit("Dam height (ft)") is None
