"""A reservoir file is read as it is meant, or every mistake in it is stated at once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind, ReferenceLevels, YearEnd
from reservoir.hydro.calendar import HOURS_PER_YEAR, MONTHS_PER_YEAR
from reservoir.hydro.curves.curve import Polynomial, PowerLaw, Table
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3, key_suffix
from reservoir.io.reservoir_toml.draft import KEYS
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.system_file import read_system
from tests.io.small_reservoir import LEVEL, SMALL, TAILRACE

DATA = Path(__file__).parents[2] / "data"


def read(tmp_path: Path, text: str) -> Reservoir:
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    return read_reservoir(path)


def changed(old: str, new: str) -> str:
    assert SMALL.count(old) == 1
    return SMALL.replace(old, new)


def complaints(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert all(mistake.file == str(tmp_path / "r.toml") for mistake in caught.value.mistakes)
    return [str(mistake).replace(str(tmp_path), "") for mistake in caught.value.mistakes]


def test_a_sound_file_is_read_as_written(tmp_path: Path) -> None:
    reservoir = read(tmp_path, SMALL)
    assert reservoir.name == "small"
    assert reservoir.year_end is YearEnd.FIXED
    assert (reservoir.initial_storage_hm3, reservoir.final_storage_hm3) == (110, 110)
    assert reservoir.conversion_kind is ConversionKind.COEFFICIENT
    assert reservoir.marks == ReferenceLevels(normal_m=445)
    assert reservoir.storage_lower_hm3.tolist() == [20] * 12
    assert reservoir.storage_upper_hm3.tolist() == [120] * 12
    assert reservoir.release_lower_m3s.tolist() == [4] * 12
    assert reservoir.release_upper_m3s[5] == 200
    assert reservoir.level(60) == 429
    assert reservoir.tailrace(32) == pytest.approx(362 + 0.16 * 8)
    assert reservoir.conversion(60) == 8.3
    assert reservoir.capacity_m3s(60) == 45


def test_the_penalty_is_a_year_at_full_power_unless_given(tmp_path: Path) -> None:
    assert read(tmp_path, SMALL).penalty == 30 * HOURS_PER_YEAR / 1000
    assert read(tmp_path, SMALL + "[objective]\npenalty_gwh = 5\n").penalty == 5
    assert read(tmp_path, SMALL + "[objective]\npenalty_gwh = 0\n").penalty == 0


def test_without_a_hydraulic_capacity_every_release_fits_the_turbines(tmp_path: Path) -> None:
    assert read(tmp_path, changed("hydraulic_capacity_m3s = 45\n", "")).capacity_m3s(60) == 200


def test_source_and_hash_are_of_the_bytes(tmp_path: Path) -> None:
    reservoir = read(tmp_path, SMALL)
    assert reservoir.source == str(tmp_path / "r.toml")
    assert reservoir.sha256 == hashlib.sha256(SMALL.encode()).hexdigest()


def test_arrays_cannot_be_written(tmp_path: Path) -> None:
    reservoir = read(tmp_path, SMALL)
    for name in ("storage_lower_hm3", "storage_upper_hm3", "release_lower_m3s", "release_upper_m3s"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(reservoir, name)[0] = 1


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert read_reservoir(tmp_path / "r.toml").name == "small"


@pytest.mark.parametrize(("year_end", "initial"), [("cyclic", None), ("free", 110)])
def test_an_open_end_has_no_final_storage(tmp_path: Path, year_end: str, initial: float | None) -> None:
    given_storage = "" if initial is None else f"initial_hm3 = {initial}\n"
    text = changed('"fixed"', f'"{year_end}"').replace("initial_hm3 = 110\n", given_storage)
    reservoir = read(tmp_path, text)
    assert (reservoir.initial_storage_hm3, reservoir.final_storage_hm3) == (initial, None)


def test_formulas_hold_where_they_are_needed(tmp_path: Path) -> None:
    reservoir = read(tmp_path, SMALL)
    assert reservoir.tailrace.domain == (4, 200)
    lowest, highest = 412 - float(reservoir.tailrace(200)), 445 - float(reservoir.tailrace(4))
    assert reservoir.conversion.domain == reservoir.capacity_m3s.domain == (lowest, highest)


def test_every_kind_of_curve_is_read(tmp_path: Path) -> None:
    level = '[curves.level]\nkind = "polynomial"\ncoefficients = [401.0, 0.57, -0.00169]\n'
    capacity = '[curves.capacity]\nkind = "power"\nfactor = 5.2\nexponent = 0.5\n'
    reservoir = read(tmp_path, changed("hydraulic_capacity_m3s = 45\n", "").replace(LEVEL, level) + capacity)
    kinds = [type(curve) for curve in (reservoir.level, reservoir.tailrace, reservoir.capacity_m3s)]
    assert kinds == [Polynomial, PowerLaw, PowerLaw]
    assert reservoir.level.domain == (20, 120)
    assert reservoir.capacity_m3s(64) == pytest.approx(41.6)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("plant.output_coefficient", ConversionKind.COEFFICIENT),
        ("plant.efficiency", ConversionKind.EFFICIENCY),
        ("curves.output_coefficient", ConversionKind.COEFFICIENT),
        ("curves.efficiency", ConversionKind.EFFICIENCY),
        ("curves.conversion_rate", ConversionKind.RATE),
    ],
)
def test_power_may_be_given_in_five_ways(tmp_path: Path, key: str, kind: ConversionKind) -> None:
    section, _, name = key.partition(".")
    plant = f"{name} = 0.85\n" if section == "plant" else ""
    law = "factor = 430\nexponent = -1" if name == "conversion_rate" else "factor = 0.85\nexponent = 0.01"
    curve = f'[{key}]\nkind = "power"\n{law}\n' if section == "curves" else ""
    assert read(tmp_path, changed("output_coefficient = 8.3\n", plant) + curve).conversion_kind is kind


# What is wrong: the text that is changed, what it becomes, the key that is named, and words of the message.
BROKEN = [
    ("dead_hm3 = 20", "dead_hm3 = 200", "storage.dead_hm3", ["no active storage", "found 200", "less than", "120 hm3"]),
    ("dead_hm3 = 20", "dead_1e8m3 = 2.0", "storage.dead_1e8m3", ["found 2.0", "1.2 x 1e8m3"]),
    ("dead_hm3 = 20\n", "", "storage.dead_hm3", ["is missing", "add dead_hm3 = ...", "[storage]"]),
    ("dead_hm3 = 20", "dead = 20", "storage.dead", ["not a known key", "found 20", "write dead_hm3"]),
    ("dead_hm3 = 20", "dead_hm3 = -1", "storage.dead_hm3", ["out of range", "of at least 0"]),
    ("dead_hm3 = 20", 'dead_mcm = "low"', "storage.dead_mcm", ["is not a number", 'found "low"']),
    ("dead_hm3 = 20", "dead_hm3 = true", "storage.dead_hm3", ["is not a number", "found True"]),
    ("full_hm3 = 120", "full_hm3 = inf", "storage.full_hm3", ["is not a finite number", "found inf"]),
    ("full_hm3 = 120", "full_hm3 = 120\nfull_mcm = 120", "storage.full_mcm", ["same quantity as full_hm3", "remove"]),
    (
        "full_hm3 = 120",
        "full_hm3 = 120\nlower_hm3 = 10",
        "storage.lower_hm3",
        ["is outside the storage range in every month"],
    ),
    (
        "full_hm3 = 120",
        f"full_hm3 = 120\nlower_hm3 = [{'50, ' * 12}]\nupper_hm3 = [{'120, ' * 10}49, 120]",
        "storage.lower_hm3",
        ["above storage.upper_hm3 in Nov"],
    ),
    ('"fixed"', '"open"', "storage.year_end", ['found "open"', '"fixed" (default), "cyclic", "free" or "valued"']),
    ('"fixed"', '"cyclic"', "storage.initial_hm3", ['contradicts year_end = "cyclic"', "remove it"]),
    ('"fixed"', '"free"\nfinal_hm3 = 30', "storage.final_hm3", ['contradicts year_end = "free"']),
    ("initial_hm3 = 110\n", "", "storage.initial_hm3", ["is missing", '"fixed"']),
    (
        "initial_hm3 = 110",
        "initial_acre_ft = 110000",
        "storage.initial_acre_ft",
        ["outside the storage range", "acre-ft (full)"],
    ),
    (
        "initial_hm3 = 110",
        f"initial_hm3 = 110\nfinal_hm3 = 119\nupper_hm3 = [{'120, ' * 11}115]",
        "storage.final_hm3",
        ["not allowed at the end of Dec", "20 hm3 to 115 hm3"],
    ),
    ("lower_m3s = 4", "lower_m3s = 90", "release.lower_m3s", ["above release.upper_m3s in Jan, Feb, Mar, Apr, Oct"]),
    ("lower_m3s = 4", "lower_cfs = -4", "release.lower_cfs", ["below 0 in every month", "found -4"]),
    (
        "lower_m3s = 4",
        "lower_hm3 = 4",
        "release.lower_hm3",
        ["not a known key", '"hm3" is not a known unit', "one of lower_m3s"],
    ),
    ("upper_m3s = [80, ", "upper_m3s = [", "release.upper_m3s", ["has 11 values", "list of twelve"]),
    ("upper_m3s = [80, ", 'upper_m3s = ["a", ', "release.upper_m3s", ["value 1 of the list", 'found "a"']),
    ("[80, 80, 80, 80, 120, 200, 200, 200, 120, 80, 80, 80]", "4", "release", ["leaves nothing to plan"]),
    (
        "installed_capacity_mw = 30",
        "installed_capacity_mw = 0",
        "plant.installed_capacity_mw",
        ["a number of at least 0.0001 MW"],
    ),
    (
        "installed_capacity_mw = 30",
        "installed_capacity_mw = 30\nguaranteed_energy_gwh = 300",
        "plant.guaranteed_energy_gwh",
        ["more than the plant can generate", "262.98 GWh"],
    ),
    (
        "output_coefficient = 8.3",
        "output_coefficient = 9.9",
        "plant.output_coefficient",
        ["9.80665", "without losses", "9.81 x efficiency", "plant_factor"],
    ),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        '[curves.output_coefficient]\nkind = "table"\nhead_m = [40, 90]\ncoefficient = [8, 10.1]\n',
        "curves.output_coefficient.coefficient",
        ["is out of range at point 2", "plant_factor"],
    ),
    ("output_coefficient = 8.3", "efficiency = 92", "plant.efficiency", ["0.92 for 92 %"]),
    ("output_coefficient = 8.3\n", "", "plant", ["no conversion from water to power", "plant.efficiency"]),
    (
        "output_coefficient = 8.3",
        "output_coefficient = 8.3\nefficiency = 0.9",
        "plant.efficiency",
        ["contradicts plant.output_coefficient"],
    ),
    ("normal_m = 445", "normal_m = 4450", "marks.normal_m", ["far from the levels of the lake", "the same datum"]),
    ("normal_m = 445", "dead_m = 41.2", "marks.dead_m", ["far from the levels of the lake", "305 m to 547.2 m"]),
    ("normal_m = 445", "flood_months = [6, 13]", "marks.flood_months", ["value 2 of the list", "found 13"]),
    ("normal_m = 445", "guaranteed_energy_gwh = 9", "marks.guaranteed_energy_gwh", ["move it below the line [plant]"]),
    ("normal_m = 445", 'caveat = "x"', "marks.caveat", ["to the top of the file"]),
    ("first_month = 1", "first_month = 13", "first_month", ["out of range", "1 to 12"]),
    ("first_month = 1", "first_month = 1.5", "first_month", ["not a whole number"]),
    ('name = "small"', 'name = "my lake"', "name", ["file names", 'found "my lake"']),
    ('name = "small"', "name = 5", "name", ["is not text", "in quotes"]),
    ('name = "small"\n', "", "name", ["is missing"]),
    ("[release]", "[releases]", "releases", ["not a known key", "write release"]),
    ("[release]", "[[release]]", "release", ["is not a section", "[release]"]),
    (LEVEL, "", "curves.level", ["is missing", "level by storage"]),
    ("[10, 20, 40,", "[10, 40, 40,", "curves.level.storage_hm3", ["point 2 (40 hm3) to point 3 (40 hm3)"]),
    ("[10, 20, 40,", "[10, 20,", "curves.level.storage_hm3", ["has 7 values, but level_m has 8"]),
    ("[10, 20, 40,", "[21, 22, 40,", "curves.level", ["covers only 21 hm3 to 130 hm3", "20 hm3 to 120 hm3"]),
    (
        "[405, 412, 422,",
        "[405, 422, 412,",
        "curves.level.level_m",
        ["point 2 (20 hm3: 422 m) to point 3", "a level that increases with the storage"],
    ),
    (LEVEL, '[curves.level]\nkind = "table"\nstorage_hm3 = [9]\nlevel_m = [9]\n', "curves.level.storage_hm3", ["two"]),
    ('kind = "table"', 'kind = "table"\nfactor = 1', "curves.level.factor", ['is not used with kind = "table"']),
    ('kind = "table"', 'kind = "line"', "curves.level.kind", ['found "line"', '"table", "polynomial" or "power"']),
    ('kind = "power"\n', "", "curves.tailrace.kind", ["is missing"]),
    (
        "exponent = 0.6",
        "exponent = -0.6",
        "curves.tailrace",
        ["decreases from 4 m3/s", "does not decrease with the release"],
    ),
    ("exponent = 0.6", "exponent = 0", "curves.tailrace.exponent", ["a constant", '"polynomial"']),
    ("exponent = 0.6", "exponent = 99", "curves.tailrace.exponent", ["out of range"]),
    ("exponent = 0.6", "exponent = 0.6\norigin_m3s = 5", "curves.tailrace.origin_m3s", ["at most 4 m3/s"]),
    ("exponent = 0.6", "exponent = 0.6\ndomain_m3s = [9, 8]", "curves.tailrace.domain_m3s", ["lower one first"]),
    (
        "exponent = 0.6",
        'exponent = 0.6\nrelease_unit = "gpm"',
        "curves.tailrace.release_unit",
        ["m3/s, l/s, cfs, kcfs"],
    ),
    ("offset_m = 362", "offset_m = 420", "curves.tailrace", ["not above the tailrace", "the same datum"]),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        'output_coefficient = 8.3\n[curves.capacity]\nkind = "table"\nhead_m = [40, 90]\ncapacity_m3s = [50, -40]\n',
        "curves.capacity.capacity_m3s",
        ["is out of range at point 2 (90 m: -40 m3/s)", "a capacity of 0 or more"],
    ),
    (
        "hydraulic_capacity_m3s = 45\n",
        'hydraulic_capacity_m3s = 45\n[curves.capacity]\nkind = "polynomial"\ncoefficients = [40]\n',
        "plant.hydraulic_capacity_m3s",
        ["contradicts curves.capacity"],
    ),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        '[curves.conversion_rate]\nkind = "table"\nhead_m = [40, 60, 90]\nrate_m3_per_kwh = [10, 7, 7]\n',
        "curves.conversion_rate.rate_m3_per_kwh",
        ["does not decrease from point 2 (60 m: 7 m3/kWh) to point 3", "decreases with the head"],
    ),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        '[curves.conversion_rate]\nkind = "table"\nhead_m = [40, 90]\nrate_m3_per_kwh = [9, 4.5]\n',
        "curves.conversion_rate.rate_m3_per_kwh",
        ["more energy than the water contains at point 1", "9.1774"],
    ),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        '[curves.output_coefficient]\nkind = "table"\nhead_m = [40, 70]\ncoefficient = [8, 8.1]\n',
        "curves.output_coefficient",
        ["covers only 40 m to 70 m", "all heads of these storages and releases"],
    ),
    (
        "output_coefficient = 8.3\nhydraulic_capacity_m3s = 45\n",
        '[curves.efficiency]\nkind = "polynomial"\ncoefficients = [80, 0.1]\n',
        "curves.efficiency",
        ["out of range", "0.92 for 92 %"],
    ),
]


@pytest.mark.parametrize(("old", "new", "key", "words"), BROKEN)
def test_a_mistake_is_named_with_its_key_and_what_to_do(
    tmp_path: Path, old: str, new: str, key: str, words: list[str]
) -> None:
    said = complaints(tmp_path, changed(old, new))
    about = [line for line in said if line.startswith(f"/r.toml, {key}: ")]
    assert about, said
    assert any(all(word in line for word in words) for line in about), about


@pytest.mark.parametrize(("old", "new", "key", "words"), BROKEN)
def test_one_mistake_is_stated_once(tmp_path: Path, old: str, new: str, key: str, words: list[str]) -> None:
    assert len(complaints(tmp_path, changed(old, new))) == 1


def test_all_mistakes_are_stated_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = SMALL
    for old, new in [
        ("first_month = 1", "first_month = 0"),
        ("output_coefficient = 8.3", "output_coefficient = 83"),
        ("[marks]", "[marks]\ncolour = 1"),
        ("dead_hm3 = 20", "dead_hm3 = 20\ndead_m3 = 2e7"),
        ("initial_hm3 = 110", "initial_hm3 = 10"),
        ("lower_m3s = 4", "lower_m3s = -4"),
        ("[405, 412, 422,", "[405, 422, 412,"),
        ("factor = 0.16\n", ""),
    ]:
        text = text.replace(old, new)
    keys = [line.split(": ")[0].removeprefix("/r.toml, ") for line in complaints(tmp_path, text)]
    assert keys == [
        "first_month",
        "plant.output_coefficient",
        "marks.colour",
        "storage.dead_m3",
        "storage.initial_hm3",
        "release.lower_m3s",
        "curves.level.level_m",
        "curves.tailrace.factor",
    ]


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        (changed("full_hm3 = 120", "full_hm3 = 1,200"), 14, "has extra text after the value"),
        (changed("full_hm3 = 120", "full_hm3 = "), 14, "has no value"),
        (changed("full_hm3 = 120", "full_hm3 = 120\nfull_hm3 = 130"), 15, "repeats a key"),
        (changed("[marks]", "[plant]"), 9, "repeats a section"),
        (changed("[marks]", "[marks"), 9, "is not TOML"),
        (SMALL + 'description = "lake', 32, "closing quote"),
    ],
)
def test_a_syntax_error_is_shown_with_its_row(tmp_path: Path, text: str, row: int, words: str) -> None:
    (said,) = complaints(tmp_path, text)
    assert said.startswith(f"/r.toml, row {row}: ")
    assert words in said
    assert text.splitlines()[row - 1].strip() in said


def test_a_file_that_cannot_be_read_is_described(tmp_path: Path) -> None:
    wrong, empty = tmp_path / "wrong.toml", tmp_path / "empty.toml"
    wrong.write_bytes(b'name = "a"\ndescription = "\xe9"\n')
    empty.write_text("# nothing but a comment\n")
    for path, words in [
        (tmp_path / "none.toml", "does not exist"),
        (tmp_path, "is a folder"),
        (wrong, "row 2: the line is not UTF-8"),
        (empty, "is empty"),
    ]:
        with pytest.raises(InputError, match=words):
            read_reservoir(path)


VOLUME_KEYS = ("dead", "full", "initial", "storage")
FLOW_KEYS = ("lower", "upper", "hydraulic_capacity")


def in_units(volume: str, flow: str) -> str:
    """Write the small reservoir in other units."""

    def written(match: re.Match[str], unit: str, size: float) -> str:
        numbers = re.sub(r"[\d.]+", lambda number: repr(float(number[0]) / size), match[2])
        return f"{match[1]}_{key_suffix(unit)} = {numbers}\n"

    text = re.sub(
        rf"\b({'|'.join(VOLUME_KEYS)})_hm3 = (.*)\n", lambda match: written(match, volume, VOLUME_HM3[volume]), SMALL
    )
    return re.sub(rf"\b({'|'.join(FLOW_KEYS)})_m3s = (.*)\n", lambda match: written(match, flow, FLOW_M3S[flow]), text)


@pytest.mark.parametrize("volume", VOLUME_HM3)
@pytest.mark.parametrize("flow", FLOW_M3S)
def test_a_reservoir_is_the_same_in_every_unit(tmp_path: Path, volume: str, flow: str) -> None:
    one, other = read(tmp_path, SMALL), read(tmp_path, in_units(volume, flow))
    for name in ("storage_lower_hm3", "storage_upper_hm3", "release_lower_m3s", "release_upper_m3s"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-11)
    assert other.initial_storage_hm3 == pytest.approx(one.initial_storage_hm3, rel=1e-11)
    storages, releases, heads = np.linspace(20, 120, 41), np.linspace(4, 200, 41), np.linspace(50, 80, 41)
    np.testing.assert_allclose(other.level(storages), one.level(storages), rtol=1e-11)
    np.testing.assert_allclose(other.tailrace(releases), one.tailrace(releases), rtol=1e-11)
    np.testing.assert_allclose(other.capacity_m3s(heads), one.capacity_m3s(heads), rtol=1e-11)


@given(volume=st.integers(1, 10**8))
def test_a_volume_in_two_decimal_units_is_one_number(tmp_path_factory: pytest.TempPathFactory, volume: int) -> None:
    folder = tmp_path_factory.mktemp("units")
    text = SMALL.replace(LEVEL, f'[curves.level]\nkind = "polynomial"\ncoefficients = [400, {1 / volume}]\n')
    text = text.replace("normal_m = 445\n", "").replace("initial_hm3 = 110", f"initial_hm3 = {volume}")
    text = text.replace("dead_hm3 = 20", "dead_hm3 = 0").replace("full_hm3 = 120", f"full_m3 = {volume}000000")
    reservoir = read(folder, text)
    assert reservoir.initial_storage_hm3 == reservoir.storage_upper_hm3[0] == volume


@pytest.mark.parametrize("unit", VOLUME_HM3)
def test_a_level_formula_may_be_in_any_unit_of_storage(tmp_path: Path, unit: str) -> None:
    size, x = VOLUME_HM3[unit], np.linspace(20, 120, 41)
    head = f'[curves.level]\nstorage_unit = "{unit}"\n'
    cubic = f'kind = "polynomial"\ncoefficients = [401.0, {0.57 * size!r}, {-0.00169 * size**2!r}, 0.0]\n'
    law = f'kind = "power"\noffset_m = 390\nfactor = {4.6 * size**0.52!r}\nexponent = 0.52\norigin_hm3 = 1\n'
    text = changed("normal_m = 445\n", "")
    np.testing.assert_allclose(
        read(tmp_path, text.replace(LEVEL, head + cubic)).level(x), 401 + 0.57 * x - 0.00169 * x**2
    )
    np.testing.assert_allclose(read(tmp_path, text.replace(LEVEL, head + law)).level(x), 390 + 4.6 * (x - 1) ** 0.52)


@pytest.mark.parametrize("unit", FLOW_M3S)
def test_a_tailrace_formula_may_be_in_any_unit_of_flow(tmp_path: Path, unit: str) -> None:
    law = f'kind = "power"\nrelease_unit = "{unit}"\noffset_m = 362\nfactor = {0.16 * FLOW_M3S[unit] ** 0.6!r}\n'
    text = SMALL.replace(TAILRACE, f"[curves.tailrace]\n{law}exponent = 0.6\n")
    x = np.linspace(4, 200, 41)
    np.testing.assert_allclose(read(tmp_path, text).tailrace(x), 362 + 0.16 * x**0.6)


ODD_NUMBERS = ["-1", "0", "1", "1e-300", "1e308", "nan", "-inf", "0x10", "9" * 400]
ODD_LISTS = ["[]", "[1]", "[2, 1]", "[[1]]", "[nan, 1]", "[1e300, 1e301]", f"[{'1e300, ' * 12}]", '["a", "b"]']
ODD_THINGS = ['"x"', "''", "{}", "{a_m3 = 1}", "true", "1979-05-27"]
ODD_VALUES = st.sampled_from([*ODD_NUMBERS, *ODD_LISTS, *ODD_THINGS])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_spoilt_file_gives_a_reservoir_or_plain_words(tmp_path: Path, data: st.DataObject) -> None:
    lines = SMALL.splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        row = data.draw(st.integers(0, len(lines) - 1))
        key, equals, _ = lines[row].partition(" = ")
        new = [
            f"{key}{equals}{data.draw(ODD_VALUES)}" if equals else "",
            "",
            data.draw(st.sampled_from(SMALL.splitlines())),
        ]
        lines[row] = data.draw(st.sampled_from(new))
    try:
        read(tmp_path, "\n".join(lines))
    except InputError as error:
        assert error.mistakes
        assert not re.search(r"(?i)pydantic|input should|\btuple|\bdict|\bnone\b|float_|validation", str(error))


def bundled(name: str) -> Reservoir:
    return read_reservoir(DATA / name)


@pytest.mark.parametrize(("file", "rate"), [("reservoir", 1.7683), ("reservoir-observed", 1.8832)])
def test_xiaowan_is_as_published(file: str, rate: float) -> None:
    xiaowan = bundled(f"xiaowan/{file}.toml")
    assert [float(xiaowan.level(storage)) for storage in (4662, 13808, 14557)] == [1166, 1236, 1240]
    assert xiaowan.marks == ReferenceLevels(1240, 1236, 1166, (6, 7, 8, 9))
    assert (xiaowan.installed_mw, xiaowan.guaranteed_energy_gwh, xiaowan.penalty) == (4200, 19000, 36800)
    assert (xiaowan.initial_storage_hm3, xiaowan.final_storage_hm3) == (14557, 14557)
    assert xiaowan.storage_upper_hm3.tolist() == [14557] * 5 + [13808] * 4 + [14557] * 3
    assert xiaowan.release_upper_m3s.tolist() == [3000] * 5 + [4000] + [6000] * 3 + [4000] + [3000] * 2
    assert (xiaowan.conversion_kind, float(xiaowan.conversion(216))) == (ConversionKind.RATE, rate)
    assert float(xiaowan.capacity_m3s(216)) == 2160
    assert all(type(curve) is Table for curve in (xiaowan.level, xiaowan.tailrace, xiaowan.conversion))
    assert xiaowan.caveat


def test_every_bundled_case_has_its_files() -> None:
    cases = tomllib.loads((DATA / "cases.toml").read_text(encoding="utf-8"))
    assert cases["default"] in cases["cases"]
    for name, case in cases["cases"].items():
        assert read_system(DATA / case["folder"] / case["reservoir"]).name == name
        assert (DATA / case["folder"] / case["inflow"]).is_file()


def test_the_bundled_inflow_says_that_it_is_synthetic() -> None:
    lines = (DATA / "xiaowan" / "inflow.csv").read_text(encoding="utf-8").splitlines()
    assert "# caveat: synthetic inflow, not the historical record" in lines
    years = [line.split(",") for line in lines if line[0].isdigit()]
    assert [int(year[0]) for year in years] == list(range(1953, 2015))
    assert all(len(year) == 1 + MONTHS_PER_YEAR for year in years)


def test_the_template_is_a_reservoir_and_explains_every_key() -> None:
    assert bundled("template.toml").name == "NAME"
    text = (DATA / "template.toml").read_text(encoding="utf-8")
    for key in KEYS:
        assert re.search(rf"\b{key.rpartition('.')[2]}\b", text), key


def template_alternatives() -> list[str]:
    """Write the template once for each kind of curve in it, with that one in force."""
    head, *sections = re.split(r"(?m)^(?=(?:# )?\[)", (DATA / "template.toml").read_text(encoding="utf-8"))
    texts = []
    for index, section in enumerate(sections):
        title, body = section.removeprefix("# ").split("]", 1)
        for form in re.split(r"(?m)^(?=(?:# )?kind)", body)[1:]:
            keys = re.findall(r"(?m)^(?:# )?((?:kind|[a-z_0-9]+) = [^#\n]*)", form)
            others = "".join(other for other in sections[:index] + sections[index + 1 :])
            name = title.removeprefix("[curves.")
            if name == "capacity":
                others = re.sub(r"(?m)^hydraulic_capacity_m3s.*\n", "", others)
            elif name not in ("level", "tailrace", "area", "seepage"):
                others = re.sub(r"(?m)^output_coefficient.*\n", "", others)
            texts.append(head + others + "\n" + title + "]\n" + "\n".join(keys) + "\n")
    return texts


def test_the_template_holds_every_kind_of_curve() -> None:
    assert len(template_alternatives()) == 3 + 3 + 4 + 2 + 2 + 2


@pytest.mark.parametrize("text", template_alternatives())
def test_every_alternative_of_the_template_works(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).name == "NAME"
