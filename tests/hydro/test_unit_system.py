"""Tables and texts in the units of the United States say the same as those in SI."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.hydro.unit_system import SI, US, UnitSystem

TABLE = pd.DataFrame(
    {
        "year": ["1953"],
        "release_m3s": [100.0],
        "storage_end_hm3": [1.0],
        "level_m": [304.8],
        "energy_gwh": [5.0],
        "months_at_limit": [3],
        "water_value_gwh_per_hm3": [0.1],
    }
)


def test_si_leaves_tables_and_texts_as_they_are() -> None:
    assert SI.table(TABLE) is TABLE
    assert SI.text("4,662 to 14,557 hm3") == "4,662 to 14,557 hm3"


def test_a_table_is_converted_with_the_names_of_its_columns() -> None:
    shown = US.table(TABLE)
    assert list(shown) == [
        "year",
        "release_cfs",
        "storage_end_acre_ft",
        "level_ft",
        "energy_gwh",
        "months_at_limit",
        "water_value_mwh_per_acre_ft",
    ]
    np.testing.assert_allclose(shown["release_cfs"], 3531.4666721)
    np.testing.assert_allclose(shown["storage_end_acre_ft"], 810.71319379)
    np.testing.assert_allclose(shown["level_ft"], 1000)
    # 0.1 GWh from 1 hm3 is 100 MWh from 810.7 acre-feet.
    np.testing.assert_allclose(shown["water_value_mwh_per_acre_ft"], 100 / 810.71319379)
    assert shown["energy_gwh"][0] == 5


def test_columns_come_back() -> None:
    assert [US.program_column(US.column(name)) for name in TABLE] == list(TABLE)
    assert UnitSystem.of_columns(US.table(TABLE)) is US
    assert UnitSystem.of_columns(TABLE) is SI


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mean flow 1,249 m3/s", "mean flow 44,110 cfs"),
        ("4,662 to 14,557 hm3, the range", "3,779,500 to 11,801,600 acre-ft, the range"),
        ("the total spill is 6,289 hm³.", "the total spill is 5,098,600 acre-ft."),
        ("normal level 1240 m", "normal level 4,068 ft"),
        ("dead level 705 m", "dead level 2,313 ft"),
        ("level 704.50 m", "level 2,311.35 ft"),
        ("0 m3/s or more", "0 cfs or more"),
        ("by 2e-05 hm3", "by 0.01621 acre-ft"),
        ("3 of the 5 m3/s to be withdrawn", "105.9 of the 176.6 cfs to be withdrawn"),
        ("K = 9.425, 12 months, 5 MW, 30 GWh", "K = 9.425, 12 months, 5 MW, 30 GWh"),
        ("at least 2.5 m3/kWh there", "at least 2.5 m3/kWh there"),
        ("the 5 mm of rain", "the 5 mm of rain"),
        ("a change of −2.0 m", "a change of −6.562 ft"),
        ("column inflow_m3s", "column inflow_m3s"),
    ],
)
def test_amounts_in_texts_are_converted(text: str, said: str) -> None:
    assert US.text(text) == said


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Storage (hm³)", "Storage (acre-ft)"),
        ("Water value (GWh per hm³)", "Water value (MWh/acre-ft)"),
        ("value of one more hm³ in storage", "value of one more acre-ft in storage"),
        ("Level (m)", "Level (ft)"),
        ("hm³ a year", "acre-ft a year"),
        ("m³/s", "cfs"),
        ("Power (MW)", "Power (MW)"),
    ],
)
def test_units_of_labels_are_replaced(label: str, said: str) -> None:
    assert US.label(label) == said
    unit = US.of_label(label)
    assert (unit.name in said) if unit else (label == said)


def test_a_number_of_the_user_comes_back_through_metres() -> None:
    for feet in (1720, 3936.5, 1720.1, 705.25):
        for form in (".7g", ",.2f"):
            assert US.text(f"level {feet * 0.3048:{form}} m") == f"level {feet:,} ft"
    assert US.text("50 m3/s") == US.written(50, "m3s") == "1,766 cfs"


class Said(NamedTuple):
    """What a user wrote."""

    own_words: tuple[str, ...]


def test_the_words_of_the_user_are_kept() -> None:
    units = US.keeping(Said(("lowered by 12 m", "run 3 m", "m", "m CNY")), None)
    assert units == US
    for text, shown in {
        "Lowered by 12 m; the lake is 12 m deep": "Lowered by 12 m; the lake is 39.37 ft deep",
        "run 3 m: 1953 July: 5 hm3 short": "run 3 m: 1953 July: 4,054 acre-ft short",
        'column "Level 12 m" beside 12 m': 'column "Level 12 m" beside 39.37 ft',
        "34 m CNY a year": "34 m CNY a year",
        "Level (m)": "Level (ft)",
    }.items():
        assert units.label(text) == shown
    assert US.keeping(Said(("nothing",))) is US
    assert SI.keeping(Said(("12 m",))) is SI


def test_a_worth_of_water_has_the_volume_in_its_unit() -> None:
    assert SI.per_volume(2.0, "million CNY") == (2.0, "million CNY per hm3")
    value, unit = US.per_volume(2.0, "million CNY")
    assert value == pytest.approx(2.0 * US.size("storage_hm3"))
    assert unit == "million CNY per acre-ft"
    assert US.label("Worth (million CNY per hm³)") == "Worth (million CNY per hm³)"
    assert US.of_label("Worth (million CNY per hm³)") is None
    assert US.label("Worth (GWh per hm³)") == "Worth (MWh/acre-ft)"
    assert US.per_volume(2.0, "GWh") == US.amount(2.0, "gwh_per_hm3")


def test_the_unit_of_a_file_is_not_an_amount() -> None:
    assert US.text("values in m3/s (assumed); mean flow 2 hm3") == "values in m3/s (assumed); mean flow 1,621 acre-ft"


def test_other_systems_are_refused_with_those_there_are() -> None:
    assert UnitSystem.of("us") is US
    with pytest.raises(InputError, match="one of si, us"):
        UnitSystem.of("imperial")
