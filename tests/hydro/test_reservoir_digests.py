"""What makes two reservoirs the same: every number that decides how they work, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.attributes import ConversionKind, ReferenceLevels, YearEnd
from reservoir.hydro.curves.curve import PowerLaw, Table
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.io.reservoir_toml.reader import read_reservoir

TEMPLATE = (Path(package.__file__).resolve().parent.parent / "data/template.toml").read_text(encoding="utf-8")


def read(tmp_path: Path, **changes: str) -> Reservoir:
    """The template's reservoir with lines of it replaced, each by the words it begins with."""
    lines = TEMPLATE.splitlines()
    for begins, line in changes.items():
        (place,) = [at for at, each in enumerate(lines) if each.startswith(f"{begins} = ")]
        lines[place] = line
    path = tmp_path / "reservoir.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_reservoir(path)


def test_remarks_names_marks_and_units_are_no_part_of_it(tmp_path):
    digests = reservoir_digests(read(tmp_path))
    other = read(
        tmp_path,
        name='name = "other" # a remark',
        caveat='caveat = "guessed"',
        description='description = "a lake"',
        normal_m="normal_m = 444.8",
        dead_hm3="dead_m3 = 20e6",
        full_hm3="full_m3 = 120e6",
        installed_capacity_mw="installed_capacity_mw = 30.0",
    )
    assert differing_parts(other, digests) == []


def test_a_value_in_another_unit_is_the_same_value(tmp_path):
    digests = reservoir_digests(read(tmp_path))
    cfs = 4 / 0.028316846592
    assert differing_parts(read(tmp_path, lower_m3s=f"lower_cfs = {cfs!r}"), digests) == []


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("level curve", lambda plant: {"level": Table((10.0, 60.0, 130.0), (405.0, 429.0, 447.2))}),
        ("tailrace curve", lambda plant: {"tailrace": replace(plant.tailrace, factor=0.1600001)}),
        ("power of water by head", lambda plant: {"conversion_kind": ConversionKind.COEFFICIENT}),
        ("hydraulic capacity", lambda plant: {"capacity_m3s": replace(plant.capacity_m3s, factor=5.3)}),
        ("reach of the curves", lambda plant: {"tailrace": replace(plant.tailrace, domain=(0.0, 240.0))}),
        ("installed capacity", lambda plant: {"installed_mw": plant.installed_mw * (1 + 1e-9)}),
        ("storage bounds", lambda plant: {"storage_upper_hm3": plant.storage_upper_hm3 - np.eye(12)[7] * 1e-6}),
        ("storage bounds", lambda plant: {"storage_lower_hm3": plant.storage_lower_hm3 / 2}),
        ("release bounds", lambda plant: {"release_upper_m3s": np.roll(plant.release_upper_m3s, 1)}),
        ("year end", lambda plant: {"final_storage_hm3": 96.0}),
        ("year end", lambda plant: {"year_end": YearEnd.FREE, "final_storage_hm3": None}),
        ("penalty", lambda plant: {"penalty": 261.0}),
        ("guaranteed energy", lambda plant: {"guaranteed_energy_gwh": 90.0}),
        ("guaranteed power", lambda plant: {"guaranteed_power_mw": 9.0}),
        ("first month", lambda plant: {"first_month": 7}),
    ],
)
def test_any_number_that_is_changed_is_told_by_its_part(small, part, change):
    changed = replace(small, **change(small))
    assert differing_parts(changed, reservoir_digests(small)) == [part]
    assert differing_parts(small, reservoir_digests(small)) == []


def test_a_domain_that_follows_the_bounds_is_not_told_beside_them(small):
    changed = replace(
        small,
        release_upper_m3s=small.release_upper_m3s * 1.1,
        tailrace=PowerLaw(362.0, 0.16, 0.0, 0.6, (0.0, 275.0)),
    )
    assert differing_parts(changed, reservoir_digests(small)) == ["release bounds"]


def test_marks_are_drawn_and_limit_nothing(small):
    marked = replace(small, marks=ReferenceLevels(normal_m=440.0), description="x", caveat="y", source="z", sha256="0")
    assert reservoir_digests(marked) == reservoir_digests(small)


@pytest.mark.parametrize("digests", [{}, {"level curve": 3}, {"level curve": None}])
def test_what_is_no_digest_differs(small, digests):
    assert "level curve" in differing_parts(small, digests)
