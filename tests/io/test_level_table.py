"""A table of level, storage and area becomes a reservoir file, however its header names the units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.units import AREA_KM2, LENGTH_M, VOLUME_HM3
from reservoir.io.level_table import LevelTable, head_of, read_level_table
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.io.reservoir_toml.writer import write_template

TABLE = "level_m,storage_hm3,area_km2\n405,10,1.2\n422,40,2\n445,120,4.6\n"


def read(tmp_path: Path, text: str) -> LevelTable:
    path = tmp_path / "levels.csv"
    path.write_text(text, encoding="utf-8")
    return read_level_table(path)


def refused(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert all(mistake.mend for mistake in caught.value.mistakes)
    return [str(mistake) for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("title", "quantity", "unit"),
    [
        ("level_m", "level", "m"),
        ("Elevation (ft)", "level", "ft"),
        ("Elevation (ft NGVD29)", "level", "ft"),
        ("Pool elevation, feet", "level", "ft"),
        ("Water level [m a.s.l.]", "level", "m"),
        ("Lake level (m)", "level", "m"),
        ("水位(m)", "level", "m"),
        ("storage_hm3", "storage", "hm3"),
        ("Capacity (acre-feet)", "storage", "acre-ft"),
        ("Storage, AF", "storage", "acre-ft"),
        ("Storage (1000 acre-feet)", "storage", "kaf"),
        ("storage_taf", "storage", "taf"),
        ("Volume (Mm³)", "storage", "Mm3"),
        ("Volume (million m3)", "storage", "hm3"),
        ("Volume [10^6 m3]", "storage", "hm3"),
        ("库容(亿m3)", "storage", "1e8m3"),
        ("库容(万m³)", "storage", "1e4m3"),
        ("总库容（10⁴m³）", "storage", "1e4m3"),
        ("库容/10^8m3", "storage", "1e8m3"),
        ("Storage (×10^6 m3)", "storage", "hm3"),
        ("高程(m)", "level", "m"),
        ("水面面积(km2)", "area", "km2"),
        ("Gross storage (m3)", "storage", "m3"),
        ("area_km2", "area", "km2"),
        ("Surface area (acres)", "area", "acres"),
        ("Area (ha)", "area", "ha"),
        ("Area [km²]", "area", "km2"),
    ],
)
def test_a_head_is_understood(title: str, quantity: str, unit: str) -> None:
    assert head_of(title) == (quantity, unit)


@pytest.mark.parametrize(
    "title",
    [
        "level",
        "Storage",
        "Volume (billion m3)",
        "storage_tcf",
        "Storage (100 acre-ft)",
        "Volume (1,000 m3)",
        "Area (m2)",
        "level_yd",
    ],
)
def test_a_head_without_a_known_unit_names_none(title: str) -> None:
    head = head_of(title)
    assert head is not None
    assert head.unit == ""


@pytest.mark.parametrize("title", ["Date", "Remark", "Outlet flow (cfs)"])
def test_other_columns_are_passed_over(title: str) -> None:
    assert head_of(title) is None


def test_a_table_in_feet_and_acre_feet_is_the_table_in_metres(tmp_path: Path) -> None:
    rows = [(405, 10, 1.2), (422, 40, 2.0), (445, 120, 4.6)]
    sizes = LENGTH_M["ft"], VOLUME_HM3["acre-ft"], AREA_KM2["acres"]
    lines = [",".join(repr(value / size) for value, size in zip(row, sizes, strict=True)) for row in rows]
    us = "Elevation (ft),Storage (acre-feet),Area (acres)\n" + "\n".join(lines)
    si, other = (
        read_reservoir(write_template("lake", tmp_path / f"{name}.toml", read(tmp_path, text)))
        for name, text in (("si", TABLE), ("us", us))
    )
    at = np.linspace(10, 120, 50)
    np.testing.assert_allclose(other.level(at), si.level(at), rtol=1e-10)
    assert si.area_km2 is not None
    assert other.area_km2 is not None
    np.testing.assert_allclose(other.area_km2(at), si.area_km2(at), rtol=1e-10)
    np.testing.assert_allclose(si.level([10, 40, 120]), [405, 422, 445])
    assert (si.storage_lower_hm3.min(), si.storage_upper_hm3.max()) == (10, 120)
    assert "[curves.area]" in (tmp_path / "us.toml").read_text()


def test_titles_thousands_order_and_other_columns_are_read(tmp_path: Path) -> None:
    text = 'Lake X, survey 2011\nNo;Storage (m3);Remark;Level (m)\n2;"1.200.000,5";full;312,5\n1;800.000;;305,25\n'
    table = read(tmp_path, text)
    assert table.level.values == (305.25, 312.5)
    assert table.storage.values == (800_000, 1_200_000.5)
    assert table.area is None


def test_empty_levels_at_the_bottom_are_left_out_and_told(tmp_path: Path) -> None:
    table = read(tmp_path, "level_m,storage_hm3\n300,0\n301,0\n302,0\n310,5\n")
    assert table.level.values == (302, 310)
    assert table.notes == ("left out 2 levels at the bottom, where the storage is 0 too",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["row 1", "empty"]),
        ("a,b\n1,2\n", ["row 1", "no header names a level and a storage", "level_m,storage_hm3"]),
        ("level,storage_hm3\n1,2\n3,4\n", ["column level", "names no unit", "one of m, ft", "level_ft"]),
        ("level_m,storage_bcf\n1,2\n3,4\n", ["column storage_bcf", "acre-ft", "kaf"]),
        ("level_m,level_ft,storage_hm3\n1,2,3\n", ["second column of level"]),
        ("level_m,storage_hm3\n300,x\n310,5\n", ["row 2", "column storage_hm3", "is not a number", '"x"']),
        ("level_m,storage_hm3\n300,1\n310,\n320,9\n", ["row 3", "is empty"]),
        ("level_m,storage_hm3\n300,1\n310,5\n310,6\n", ["row 4", "column level_m", "does not lie above 310"]),
        ("level_m,storage_hm3\n300,1\n310,5\n320,4\n", ["row 4", "column storage_hm3"]),
        ("level_m,storage_hm3,area_ha\n300,1,9\n310,5,8\n", ["row 3", "column area_ha"]),
        ("level_m,storage_hm3\n300,1\n", ["1 row of numbers", "2 or more"]),
    ],
)
def test_a_broken_table_is_refused_by_row_and_column(tmp_path: Path, text: str, words: list[str]) -> None:
    said = "\n".join(refused(tmp_path, text))
    assert all(word in said for word in ["levels.csv", *words])
