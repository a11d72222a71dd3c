"""Turbines as utilities describe them: tables at full gate, units of a kind, capacities that fall or end early."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.power import generation
from reservoir.hydro.record_rows import conditions_in
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.reservoir_toml.reader import read_reservoir, reservoir_of
from tests.io.small_reservoir import SMALL
from tests.io.us_units import in_us_units

CAPACITY, CONVERSION = "hydraulic_capacity_m3s = 45\n", "output_coefficient = 8.3\n"
HEADS, FLOWS, POWERS = (40.0, 60.0, 80.0, 90.0), (16.5, 20.0, 22.0, 20.0), (5.3, 10.0, 14.6, 15.0)
TABLE = f"[curves.turbine]\nhead_m = {[*HEADS]}\nflow_m3s = {[*FLOWS]}\npower_mw = {[*POWERS]}\nunits = 2\n"


def read(tmp_path: Path, text: str) -> Reservoir:
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    return read_reservoir(path)


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    (mistake,) = caught.value.mistakes
    return str(mistake)


def with_table(table: str = TABLE) -> str:
    return SMALL.replace(CAPACITY, "").replace(CONVERSION, "") + table


def with_capacity(heads: list[float], flows: list[float], installed_mw: float = 30) -> str:
    curve = f'[curves.capacity]\nkind = "table"\nhead_m = {heads}\ncapacity_m3s = {flows}\n'
    return SMALL.replace(CAPACITY, "").replace("= 30", f"= {installed_mw}") + curve


def test_a_turbine_table_gives_its_discharge_and_its_power_at_full_gate(tmp_path: Path) -> None:
    plant = read(tmp_path, with_table())
    power = conversion_of(plant.conversion, plant.conversion_kind)
    np.testing.assert_allclose(plant.capacity_m3s(HEADS), 2 * np.array(FLOWS))
    np.testing.assert_allclose(plant.capacity_m3s(HEADS) * power(HEADS), 2 * np.array(POWERS))


def test_a_turbine_table_of_one_unit_is_that_of_all_units(tmp_path: Path) -> None:
    both = TABLE.replace("units = 2\n", "")
    both = both.replace(str([*FLOWS]), str([2 * flow for flow in FLOWS]))
    both = both.replace(str([*POWERS]), str([2 * power for power in POWERS]))
    one, other = read(tmp_path, with_table()), read(tmp_path, with_table(both))
    heads = np.linspace(46, 82, 31)
    np.testing.assert_allclose(other.capacity_m3s(heads), one.capacity_m3s(heads))
    np.testing.assert_allclose(other.conversion(heads), one.conversion(heads))


def test_a_turbine_table_may_be_in_feet_and_cfs(tmp_path: Path) -> None:
    one, other = read(tmp_path, with_table()), read(tmp_path, in_us_units(with_table()))
    heads = np.linspace(46, 82, 31)
    np.testing.assert_allclose(other.capacity_m3s(heads), one.capacity_m3s(heads), rtol=1e-10)
    np.testing.assert_allclose(other.conversion(heads), one.conversion(heads), rtol=1e-10)


def test_a_turbine_table_is_written_as_its_curves(tmp_path: Path) -> None:
    plant = read(tmp_path, with_table())
    back = reservoir_of(plant.to_toml().encode(), "")
    assert back.capacity_m3s == plant.capacity_m3s
    assert back.conversion == plant.conversion


def test_turbines_that_do_not_run_below_a_head_make_nothing_there(tmp_path: Path) -> None:
    still = TABLE.replace("[40.0, 60.0,", "[40.0, 55.0, 60.0,").replace("[16.5,", "[0, 0,").replace("[5.3,", "[0, 0,")
    plant = read(tmp_path, with_table(still))
    made = generation(plant, np.array([20.0, 120.0]), 40.0)
    assert made.head_m[0] < 55
    assert made.power_mw[0] == 0
    assert made.power_mw[1] > 20


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[5.3, 10.0,", "[5.3, 0,", ["power_mw", "with a discharge of 20 m3/s at point 2 (60 m)", "both above 0"]),
        ("[5.3,", "[7.0,", ["more than the water contains at point 1 (40 m)", "at most 6.47", "check the units"]),
        ("[5.3,", "[0.0053,", ["hardly any for the discharge at point 1"]),
        ("[5.3, 10.0, 14.6, 15.0]", "[5.3, 10.0, 14.6]", ["head_m", "4 values", "power_mw has 3"]),
        ("[40.0, 60.0,", "[60.0, 40.0,", ["head_m", "does not increase"]),
        ("units = 2", "units = 0", ["units", "at least 1"]),
        ("head_m = [40.0,", 'head_m = ["low",', ["head_m: value 1 of the list is not a number"]),
        ("units = 2", "gate = 1", ["turbine.gate: is not a known key"]),
        ("units = 2", "power = 1", ["turbine.power: is not a known key", "write power_mw if it is in MW"]),
    ],
)
def test_a_broken_turbine_table_is_refused_by_its_point(tmp_path: Path, old: str, new: str, words: list[str]) -> None:
    assert old in TABLE
    with pytest.raises(InputError) as caught:
        read(tmp_path, with_table(TABLE.replace(old, new)))
    said = str(caught.value)
    assert "curves.turbine" in said
    assert all(word in said for word in words)


@pytest.mark.parametrize("other", [CAPACITY, CONVERSION])
def test_a_turbine_table_stands_alone(tmp_path: Path, other: str) -> None:
    text = SMALL.replace(CAPACITY, "").replace(CONVERSION, "").replace("[marks]", f"{other}[marks]")
    assert "contradicts curves.turbine" in refused(tmp_path, text + TABLE)


def test_units_of_a_kind_are_the_plant(tmp_path: Path) -> None:
    of_units = "units = 3\nunit_capacity_mw = 10\nunit_hydraulic_capacity_m3s = 15\n"
    text = SMALL.replace("installed_capacity_mw = 30\n", "").replace(CAPACITY, of_units)
    one, other = read(tmp_path, SMALL), read(tmp_path, text)
    assert other.installed_mw == one.installed_mw == 30
    assert other.penalty == one.penalty
    np.testing.assert_array_equal(other.capacity_m3s([50, 80]), one.capacity_m3s([50, 80]))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("installed_capacity_mw = 30\n", "unit_capacity_mw = 10\n", ["plant.units: is missing", "equal units"]),
        ("installed_capacity_mw = 30\n", "", ["installed_capacity_mw: is missing", "add installed_capacity_mw"]),
        (
            "installed_capacity_mw = 30\n",
            "installed_capacity_mw = 30\nunits = 3\n",
            ["is used by nothing", "remove it"],
        ),
        (
            CAPACITY,
            f"{CAPACITY}units = 3\nunit_hydraulic_capacity_m3s = 15\n",
            ["contradicts plant.hydraulic_capacity"],
        ),
        (CAPACITY, f"{CAPACITY}units = 3\nunit_capacity_mw = 10\n", ["contradicts plant.installed_capacity_mw"]),
    ],
)
def test_units_without_their_number_or_beside_the_whole_are_refused(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    said = refused(tmp_path, SMALL.replace(old, new))
    assert all(word in said for word in words)


def test_a_capacity_may_fall_again_and_be_zero_below_a_head(tmp_path: Path) -> None:
    plant = read(tmp_path, with_capacity([40, 55, 56, 70, 90], [0, 0, 38, 45, 36]))
    assert plant.capacity_m3s(50) == 0
    assert plant.capacity_m3s(70) > plant.capacity_m3s(85)


def test_a_capacity_that_ends_early_is_held_where_it_limits_nothing(tmp_path: Path) -> None:
    # 20 MW need 32 m3/s at 75 m and less above: 40 m3/s limit nothing there.
    plant = read(tmp_path, with_capacity([40, 60, 75], [33, 38, 40], installed_mw=20))
    (note,) = plant.notes
    assert note == (
        "The hydraulic capacity is not given for heads of 75 to 82.63 m: it is held at its last value, which limits "
        "nothing there."
    )
    whole = read(tmp_path, with_capacity([40, 60, 75, 90], [33, 38, 40, 44], installed_mw=20))
    assert whole.notes == ()
    storages, releases = np.meshgrid(np.linspace(20, 120, 60), np.linspace(4, 200, 60))
    beyond = generation(whole, storages, releases).head_m > 75
    made = [generation(each, storages, releases).power_mw[beyond] for each in (plant, whole)]
    np.testing.assert_allclose(*made, rtol=1e-12)


def test_a_capacity_that_ends_early_is_refused_where_it_limits(tmp_path: Path) -> None:
    said = refused(tmp_path, with_capacity([40, 60, 75], [33, 38, 40], installed_mw=30))
    assert "curves.capacity: covers only 40 m to 75 m; expected 46.1564 m to 82.63242 m" in said
    assert "extend the curve" in said


def test_a_conversion_need_not_be_given_below_the_operating_level(tmp_path: Path) -> None:
    curve = '[curves.efficiency]\nkind = "table"\nhead_m = [60, 90]\nefficiency = [0.85, 0.87]\n'
    text = SMALL.replace(CONVERSION, "") + curve
    assert "covers only" in refused(tmp_path, text)
    plant = read(tmp_path, text.replace("[marks]", "operating_level_m = 430\n[marks]"))
    (note,) = plant.notes
    assert "conversion to power is not given for heads of 46.16 to 60 m" in note
    assert "turbines stand still" in note


@pytest.mark.parametrize(
    "factor", ["plant_factor = 0.5", f"full_load_hours = {[372] * 12}", f"plant_factor = {[0.5, 0.9, 0] + [0.05] * 9}"]
)
def test_without_a_capacity_the_plant_factor_limits_the_power_alone(tmp_path: Path, factor: str) -> None:
    text = SMALL.replace(CAPACITY, f"{factor}\n")
    bounds, releases = text[text.index("upper_m3s") :].splitlines()[0], np.array([5.0, 20.0, 30.0])
    # All that may be released makes less than the installed capacity: a part of it would be the limit.
    narrow, wide = (read(tmp_path, text.replace(bounds, f"upper_m3s = {largest}")) for largest in (30, 900))
    inflow = Inflow(np.full((1, 12), 60.0), Calendar(2001, 1, 1))
    for plant in (narrow, wide):
        for step in range(12):
            made = generation(plant, 100.0, releases, conditions_in(plant, inflow), (0, step))
            allowed = 30 * plant.plant_factor[step]
            power = conversion_of(plant.conversion, plant.conversion_kind)(made.head_m) * releases
            np.testing.assert_allclose(made.power_mw, np.minimum(power, allowed))
