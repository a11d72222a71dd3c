"""A reservoir written in feet, acre-feet and cfs is the reservoir written in metres."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import reservoir
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.units import AREA_KM2, DEPTH_MM, FLOW_M3S, LENGTH_M, VOLUME_HM3
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.opencl.devices import DeviceInfo
from tests.io.small_reservoir import LEVEL, SMALL, TAILRACE
from tests.io.us_units import in_us_units, record_in_cfs

DATA = Path(__file__).parents[2] / "data" / "xiaowan"
STORAGES, RELEASES, HEADS = np.linspace(20, 120, 41), np.linspace(4, 200, 41), np.linspace(47, 80, 41)
FOOT = LENGTH_M["ft"]


def read(tmp_path: Path, text: str) -> Reservoir:
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    return read_reservoir(path)


def test_the_units_are_those_of_their_definitions() -> None:
    assert FOOT == 0.3048
    assert FLOW_M3S["cfs"] == pytest.approx(0.028316846592, rel=1e-15)
    assert VOLUME_HM3["acre-ft"] == pytest.approx(1233.48183754752e-6, rel=1e-15)
    assert VOLUME_HM3["maf"] == pytest.approx(1e3 * VOLUME_HM3["kaf"]) == pytest.approx(1e6 * VOLUME_HM3["acre-ft"])
    assert VOLUME_HM3["kaf"] == VOLUME_HM3["taf"]
    assert AREA_KM2["acres"] == pytest.approx(4046.8564224e-6, rel=1e-15)
    assert DEPTH_MM["in"] * 12 == pytest.approx(DEPTH_MM["ft"])
    # A foot of water on an acre is an acre-foot.
    assert DEPTH_MM["ft"] * AREA_KM2["acres"] * 1e-3 == pytest.approx(VOLUME_HM3["acre-ft"], rel=1e-15)


def test_every_key_of_a_file_may_be_in_us_units(tmp_path: Path) -> None:
    losses = "[losses]\nevaporation_mm = 80\nwithdrawal_m3s = 2\nseepage_m3s = 0.3\n"
    area = '[curves.area]\nkind = "table"\nstorage_hm3 = [10, 130]\narea_km2 = [1.2, 4.9]\n'
    ends = "ramp_up_m3s = 40\nramp_down_m3s = 30\n\n[curves.level]"
    text = SMALL.replace("\n[curves.level]", ends).replace("[release]", f"{losses}\n[release]") + area
    text = text.replace("[marks]", "operating_level_m = 415\n[marks]\ndead_m = 412")
    us = in_us_units(text)
    assert not [key for key in ("_hm3", "_m3s", "_m ", "_mm ", "_km2") if key in us]
    one, other = read(tmp_path, text), read(tmp_path, us)
    for name in ("storage_lower_hm3", "storage_upper_hm3", "release_upper_m3s", "evaporation_mm", "withdrawal_m3s"):
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-11)
    for name in ("initial_storage_hm3", "operating_level_m", "ramp_up_m3s", "ramp_down_m3s"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-11)
    assert other.marks.normal_m == pytest.approx(445)
    for name, at in {"level": STORAGES, "tailrace": RELEASES, "capacity_m3s": HEADS, "area_km2": STORAGES}.items():
        np.testing.assert_allclose(getattr(other, name)(at), getattr(one, name)(at), rtol=1e-10)


@pytest.mark.parametrize("volume", VOLUME_HM3)
@pytest.mark.parametrize("length", LENGTH_M)
def test_a_formula_may_be_in_any_unit_of_its_variable_and_its_value(tmp_path: Path, volume: str, length: str) -> None:
    size, one = VOLUME_HM3[volume], LENGTH_M[length]
    head = f'[curves.level]\nstorage_unit = "{volume}"\nlevel_unit = "{length}"\n'
    numbers = [401 / one, 0.57 * size / one, -0.00169 * size**2 / one]
    polynomial = f'{head}kind = "polynomial"\ncoefficients = {numbers!r}\n'
    law = f'{head}kind = "power"\noffset_m = 390\nfactor = {4.6 * size**0.52 / one!r}\nexponent = 0.52\n'
    text = SMALL.replace("normal_m = 445\n", "")
    level = read(tmp_path, text.replace(LEVEL, polynomial)).level
    np.testing.assert_allclose(level(STORAGES), 401 + 0.57 * STORAGES - 0.00169 * STORAGES**2, rtol=1e-12)
    level = read(tmp_path, text.replace(LEVEL, law)).level
    np.testing.assert_allclose(level(STORAGES), 390 + 4.6 * STORAGES**0.52, rtol=1e-12)


def test_a_tailrace_in_feet_of_cfs_has_its_offset_in_feet(tmp_path: Path) -> None:
    factor = 0.16 * FLOW_M3S["cfs"] ** 0.6 / FOOT
    law = 'kind = "power"\nrelease_unit = "cfs"\nlevel_unit = "ft"\nexponent = 0.6\n'
    section = f"[curves.tailrace]\n{law}offset_ft = {362 / FOOT!r}\nfactor = {factor!r}\n"
    tailrace = read(tmp_path, SMALL.replace(TAILRACE, section)).tailrace
    np.testing.assert_allclose(tailrace(RELEASES), 362 + 0.16 * RELEASES**0.6, rtol=1e-11)


def test_a_capacity_in_cfs_of_feet_has_its_offset_in_cfs(tmp_path: Path) -> None:
    cfs = FLOW_M3S["cfs"]
    law = 'kind = "power"\nhead_unit = "ft"\ncapacity_unit = "cfs"\nexponent = 0.5\n'
    numbers = f"factor = {5.2 * FOOT**0.5 / cfs!r}\noffset = {3 / cfs!r}\norigin_ft = 0\n"
    text = SMALL.replace("hydraulic_capacity_m3s = 45\n", "") + f"[curves.capacity]\n{law}{numbers}"
    np.testing.assert_allclose(read(tmp_path, text).capacity_m3s(HEADS), 3 + 5.2 * HEADS**0.5, rtol=1e-12)


def test_the_bundled_case_in_us_units_has_the_same_plan(tmp_path: Path, device: DeviceInfo) -> None:
    (tmp_path / "us.toml").write_text(in_us_units((DATA / "reservoir.toml").read_text(encoding="utf-8")))
    (tmp_path / "us.csv").write_text(record_in_cfs((DATA / "inflow.csv").read_text(encoding="utf-8")))
    si = reservoir.read_inflow(DATA / "inflow.csv"), reservoir.read_reservoir(DATA / "reservoir.toml")
    us = reservoir.read_inflow(tmp_path / "us.csv"), reservoir.read_reservoir(tmp_path / "us.toml")
    np.testing.assert_allclose(us[0].flow_m3s, si[0].flow_m3s, rtol=1e-12)
    ours, theirs = (
        reservoir.optimise(plant, inflow, solver="dp-opencl", device=str(device.index)) for inflow, plant in (si, us)
    )
    np.testing.assert_allclose(theirs.energy_gwh, ours.energy_gwh, rtol=1e-6)
    np.testing.assert_allclose(theirs.operation.energy_gwh, ours.operation.energy_gwh, rtol=1e-6)
    np.testing.assert_allclose(theirs.operation.storage_hm3, ours.operation.storage_hm3, rtol=1e-6)
