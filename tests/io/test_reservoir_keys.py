"""The unit at the end of a key is read as a whole, or the key is refused with the units that are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from reservoir.errors import InputError
from reservoir.hydro.units import VOLUME_HM3
from reservoir.io.reservoir_toml.draft import KEYS
from reservoir.io.reservoir_toml.reader import read_reservoir
from tests.io.small_reservoir import SMALL

VOLUMES = ("hm3", "mm3", "mcm", "1e8m3", "1e4m3", "km3", "m3", "acre_ft", "kaf", "taf", "maf")
FLOWS = ("m3s", "ls", "cfs", "kcfs")
LENGTHS = ("m", "ft")
#: A unit that is none here, and the ways in which a known one may stand at its end.
UNKNOWN = (
    "dam3",
    "bcf",
    "tmcft",
    "mio_m3",
    "million_m3",
    "10_6_m3",
    "1000_acre_ft",
    "bn_m3",
    "m3_month",
    "hm3s",
    "xhm3",
)


def complaints(tmp_path: Path, old: str, new: str) -> list[str]:
    assert SMALL.count(old) == 1
    path = tmp_path / "r.toml"
    path.write_text(SMALL.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_reservoir(path)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize("stem", ["dead", "full"])
@pytest.mark.parametrize("unit", UNKNOWN)
def test_an_unknown_unit_of_volume_is_refused_with_those_known(tmp_path: Path, stem: str, unit: str) -> None:
    old = {"dead": "dead_hm3 = 20", "full": "full_hm3 = 120"}[stem]
    (said,) = complaints(tmp_path, old, f"{stem}_{unit} = 0.02")
    assert f"storage.{stem}_{unit}: " in said
    assert f'"{unit}" is not a known unit' in said
    assert all(f"{stem}_{known}" in said for known in VOLUMES)
    assert "convert" in said
    assert "write" not in said


# What stands in the file, what is written in its place, and every key that it may be.
OTHERS = [
    ("lower_m3s = 4", "lower_mgd = 4", [f"lower_{unit}" for unit in FLOWS]),
    ("lower_m3s = 4", "lower_l_s = 4", [f"lower_{unit}" for unit in FLOWS]),
    ("lower_m3s = 4", "lower_1000_cfs = 4", [f"lower_{unit}" for unit in FLOWS]),
    ("lower_m3s = 4", "lower_hm3 = 4", [f"lower_{unit}" for unit in FLOWS]),
    ("dead_hm3 = 20", "dead_m3s = 20", [f"dead_{unit}" for unit in VOLUMES]),
    ("hydraulic_capacity_m3s", "hydraulic_capacity_mgd", [f"hydraulic_capacity_{unit}" for unit in FLOWS]),
    ("storage_hm3 = [", "storage_tcf = [", [f"storage_{unit}" for unit in VOLUMES]),
    ("level_m = [", "level_yd = [", ["level_m", "level_ft"]),
    ("installed_capacity_mw = 30", "installed_capacity_hp = 40000", ["installed_capacity_mw", "installed_capacity_kw"]),
    ("normal_m = 445", "normal_in = 17520", ["normal_m", "normal_ft"]),
    ("normal_m = 445", "normal_m_asl = 445", ["normal_m"]),
    ("offset_m = 362", "offset_km = 0.362", [f"offset_{unit}" for unit in LENGTHS]),
    ("exponent = 0.6", "exponent = 0.6\norigin_gpm = 1", [f"origin_{unit}" for unit in FLOWS]),
    ("exponent = 0.6", "exponent = 0.6\n[objective]\npenalty_usd = 1", ["penalty_gwh", "penalty_mwh"]),
    ("hydraulic_capacity_m3s = 45", "guaranteed_energy_tj = 324", ["guaranteed_energy_gwh"]),
]


@pytest.mark.parametrize(("old", "new", "known"), OTHERS)
def test_an_unknown_unit_of_any_quantity_is_refused(tmp_path: Path, old: str, new: str, known: list[str]) -> None:
    (said,) = complaints(tmp_path, old, new)
    assert "is not a known unit" in said
    assert all(key in said for key in known)
    assert "write" not in said


@pytest.mark.parametrize("unit", ["dam3", "tcf", "bn m3", "1000 acre-ft/month", ""])
def test_an_unknown_unit_of_a_formula_is_refused(tmp_path: Path, unit: str) -> None:
    formula = f'kind = "polynomial"\nstorage_unit = "{unit}"\ncoefficients = [400, 1]'
    old = SMALL[SMALL.index('kind = "table"') : SMALL.index("[curves.tailrace]")]
    (said,) = complaints(tmp_path, old, formula + "\n")
    assert "curves.level.storage_unit: is not a known unit" in said
    assert all(known in said for known in VOLUME_HM3)


@pytest.mark.parametrize(
    ("written", "suggested"),
    [("ded_hm3", "dead_hm3"), ("ded_acre_ft", "dead_acre_ft"), ("deadd_m3", "dead_m3"), ("daed_mcm", "dead_mcm")],
)
def test_a_misspelt_key_keeps_its_unit_in_the_suggestion(tmp_path: Path, written: str, suggested: str) -> None:
    (said,) = complaints(tmp_path, "dead_hm3 = 20", f"{written} = 20")
    assert f"write {suggested} if that is meant" in said


def test_a_misspelt_key_in_an_unknown_unit_is_not_given_another(tmp_path: Path) -> None:
    (said,) = complaints(tmp_path, "dead_hm3 = 20", "ded_dam3 = 20000")
    assert '"dam3" is not a known unit' in said
    assert "write" not in said


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_unit_can_be_put_before_that_of_any_key(tmp_path: Path, key: str) -> None:
    row = KEYS[key]
    for unit in row.units:
        assert row.unit(row.written(unit)) is unit
        for before in ("mio", "1000", "10_6", "x"):
            assert row.unit(f"{row.stem}_{before}_{unit.suffix}") is None
            assert row.unit(f"{row.stem}_{before}{unit.suffix}") is None


def test_a_key_without_a_unit_is_told_all_of_them(tmp_path: Path) -> None:
    (said,) = complaints(tmp_path, "dead_hm3 = 20", "dead = 20")
    assert "write dead_hm3 if it is in hm3" in said
    assert all(f"dead_{unit}" in said for unit in VOLUMES)


def test_a_percentage_is_no_fraction(tmp_path: Path) -> None:
    said = complaints(tmp_path, "output_coefficient = 8.3", "efficiency_percent = 92")
    assert any("plant.efficiency_percent" in line and "0.92 for 92 %" in line for line in said)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ('"dead_hm³" = 20', "storage.dead_hm³"),
        ('"dead.hm3" = 20', "storage.dead.hm3"),
        ('"curves.level" = 5', "storage.curves.level"),
        ('"dead\\u001b_hm3" = 20', r"storage.dead\x1b_hm3"),
        (f'"{"a" * 900}" = 20', "storage.aaaa"),
        ("dead_hm3.of.the.lake = 20", "storage.dead_hm3"),
    ],
)
def test_odd_keys_are_named_and_harm_nothing(tmp_path: Path, written: str, named: str) -> None:
    said = complaints(tmp_path, "dead_hm3 = 20", written)
    assert any(f"{named}" in line for line in said)
    assert all(len(line) < 600 for line in said)


#: Every unit of volume as people spell it, and those of levels and flows beside them.
SPELT = [
    ("storage_unit", "hm3", ["hm³", "HM3", "million m3", "mio m3", "10^6 m³"]),
    ("storage_unit", "Mm3", ["Mm³", "mm3"]),
    ("storage_unit", "MCM", ["mcm", "Mcm"]),
    ("storage_unit", "1e8m3", ["亿m3", "亿立方米", "1E8M3"]),
    ("storage_unit", "1e4m3", ["万m3", "万立方米"]),
    ("storage_unit", "km3", ["km³", "KM3"]),
    ("storage_unit", "m3", ["m³", "M3", "cubic metres"]),
    ("storage_unit", "acre-ft", ["acre-feet", "acre feet", "acre_ft", "af", "AF", "acft"]),
    ("storage_unit", "kaf", ["KAF", "thousand acre-feet"]),
    ("storage_unit", "taf", ["TAF"]),
    ("storage_unit", "maf", ["MAF", "million acre-feet"]),
    ("level_unit", "ft", ["feet", "FT", "foot"]),
    ("level_unit", "m", ["metres", "M"]),
]


@pytest.mark.parametrize(("key", "name", "spelt"), [(key, name, one) for key, name, each in SPELT for one in each])
def test_the_unit_of_a_formula_is_read_as_people_spell_it(tmp_path: Path, key: str, name: str, spelt: str) -> None:
    old = SMALL[SMALL.index('kind = "table"') : SMALL.index("[curves.tailrace]")]
    size = {"storage_unit": VOLUME_HM3, "level_unit": {"m": 1.0, "ft": 0.3048}}[key][name]
    slope = 0.4 * size if key == "storage_unit" else 0.4 / size
    base = 401 if key == "storage_unit" else 401 / size
    path = tmp_path / "r.toml"
    formula = f'kind = "polynomial"\n{key} = "{spelt}"\ncoefficients = [{base}, {slope!r}]\n'
    path.write_text(SMALL.replace(old, formula), encoding="utf-8")
    assert float(read_reservoir(path).level(50.0)) == pytest.approx(421)


@pytest.mark.parametrize(
    ("old", "written", "right"),
    [
        ("dead_hm3 = 20", "dead_storage_hm3", "dead_hm3"),
        ("dead_hm3 = 20", "dead_volume_mcm", "dead_mcm"),
        ("dead_hm3 = 20", "minimum_storage_acre_ft", "dead_acre_ft"),
        ("full_hm3 = 120", "full_storage_mio_m3", "full_hm3"),
        ("full_hm3 = 120", "total_storage_hm3", "full_hm3"),
        ("lower_m3s = 4", "min_release_m3s", "lower_m3s"),
        ("lower_m3s = 4", "minimum_flow_cfs", "lower_cfs"),
        ("lower_m3s = 4", "ecological_flow_m3s", "lower_m3s"),
        ("installed_capacity_mw = 30", "installed_power_kw", "installed_capacity_kw"),
        ("hydraulic_capacity_m3s = 45", "max_turbine_flow_m3s", "hydraulic_capacity_m3s"),
    ],
)
def test_a_key_in_other_words_is_told_the_right_one(tmp_path: Path, old: str, written: str, right: str) -> None:
    (said,) = complaints(tmp_path, old, f"{written} = {old.partition(' = ')[2]}")
    assert f"{written}: is not a known key" in said
    assert f"write {right} if that is meant" in said
