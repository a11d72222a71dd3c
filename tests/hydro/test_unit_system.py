"""Tables and texts in the units of the United States say the same as those in SI."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.hydro.unit_system import SI, US, UnitSystem, UnitText, labelled

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
    pd.testing.assert_frame_equal(pd.DataFrame(SI.columns(TABLE)), TABLE)
    assert SI.stated(4662, "hm3") == "4,662 hm³"


def test_a_table_is_converted_with_the_names_of_its_columns() -> None:
    shown = US.columns(TABLE)
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
    assert UnitSystem.of_columns(US.columns(TABLE)) is US
    assert UnitSystem.of_columns(TABLE) is SI


@pytest.mark.parametrize(
    ("value", "unit", "form", "in_si", "in_us"),
    [
        (1249, "m3/s", "", "1,249 m³/s", "44,110 cfs"),
        (14557, "hm3", ",.0f", "14,557 hm³", "11,801,600 acre-ft"),
        (6289, "hm³", "", "6,289 hm³", "5,098,600 acre-ft"),
        (1240, "m", "g", "1240 m", "4,068 ft"),
        (705, "m", "g", "705 m", "2,313 ft"),
        (704.5, "m", ".2f", "704.50 m", "2,311.35 ft"),
        (0, "m3/s", "", "0 m³/s", "0 cfs"),
        (2e-5, "hm3", ",.3g", "2e-05 hm³", "0.01621 acre-ft"),
        (-2.0, "m", ".1f", "-2.0 m", "-6.562 ft"),
        (float("nan"), "hm3", ",.4g", "nan hm³", "nan acre-ft"),
    ],
)
def test_amounts_are_stated_in_either_system(value: float, unit: str, form: str, in_si: str, in_us: str) -> None:
    assert SI.stated(value, unit, form) == in_si
    assert US.stated(value, unit, form) == in_us
    assert US.number(value, unit, form) == in_us.split()[0]


@pytest.mark.parametrize(
    ("form", "unit", "in_us"),
    [
        ("Storage ({})", "hm³", "Storage (acre-ft)"),
        ("Water value ({})", "GWh per hm³", "Water value (MWh/acre-ft)"),
        ("Level ({})", "m", "Level (ft)"),
        ("{}", "hm³ a year", "acre-ft a year"),
        ("spill, {}", "hm3", "spill, acre-ft"),
        ("Power ({})", "MW", "Power (MW)"),
        ("{} a year", "m CNY", "m CNY a year"),
        ("Worth ({})", "million CNY per hm³", "Worth (million CNY per hm³)"),
    ],
)
def test_labels_have_the_unit_of_the_system(form: str, unit: str, in_us: str) -> None:
    label = labelled(form, unit)
    assert label == form.format(unit)  # as files have it
    assert SI.text(label) == form.format(unit.replace("m3", "m³"))
    assert US.text(label) == in_us
    shown = US.of_label(label)
    assert (shown.name in in_us) if shown else (label == in_us or unit == "hm³ a year")
    assert SI.of_label(label) is None


def test_a_number_of_the_user_comes_back_through_metres() -> None:
    for feet in (1720, 3936.5, 1720.1, 705.25):
        for form in (".7g", ",.2f"):
            assert US.stated(feet * 0.3048, "m", form) == f"{feet:,} ft"
    assert US.stated(50, "m3/s") == US.written(50, "m3s") == "1,766 cfs"


def test_a_sentence_is_made_in_the_units_that_it_is_read_in() -> None:
    caveat = "lowered by 12 m of 50 m3/s"
    sentence = UnitText(lambda units: f"{caveat}: {units.number(3, 'm3/s')} of the {units.stated(5, 'm3/s')} is there")
    assert sentence == f"{caveat}: 3 of the 5 m³/s is there"
    assert US.text(sentence) == f"{caveat}: 105.9 of the 176.6 cfs is there"
    for same in (str(sentence), f"{sentence}"):
        assert US.text(same) == US.text(sentence)
    assert json.loads(json.dumps([sentence])) == [str(sentence)]


def test_no_other_text_is_changed() -> None:
    """What the user wrote, whatever it looks like, and what was made of a sentence by other means."""
    sentence = UnitText(lambda units: f"{units.stated(12, 'm')} deep")
    for text in ("lowered by 12 m", "run 3 m", "m", "4,662 to 14,557 hm3", f"said: {sentence}", sentence.upper()):
        assert US.text(text) is text
    assert US.text(pickle.loads(pickle.dumps(sentence))) == "12 m deep"


def test_a_worth_of_water_has_the_volume_in_its_unit() -> None:
    assert SI.per_volume(2.0, "million CNY") == (2.0, "million CNY per hm³")
    value, unit = US.per_volume(2.0, "million CNY")
    assert value == pytest.approx(2.0 * US.size("storage_hm3"))
    assert unit == "million CNY per acre-ft"
    assert US.per_volume(2.0, "GWh") == US.amount(2.0, "gwh_per_hm3")


def test_other_systems_are_refused_with_those_there_are() -> None:
    assert UnitSystem.of("us") is US
    with pytest.raises(InputError, match="one of si, us"):
        UnitSystem.of("imperial")
