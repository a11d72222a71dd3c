"""The table of attributes: a further row is a further attribute everywhere, and a changed limit is as in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import ATTRIBUTES, POWER_DEMAND, Kind, attribute_of, by_step_attributes
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.reservoir import Reservoir, differing_parts, reservoir_digests
from reservoir.hydro.rows import FIELDS
from reservoir.io.reservoir_toml.reader import reservoir_of
from tests.io.small_reservoir import SMALL

ROOT = Path(__file__).parents[2]
#: A program that reads, writes and checks what the row of the example describes.
INVENTED = r"""
import json, sys
from pathlib import Path

sys.path[:0] = ["docs/examples", "docs/_extensions"]
import attribute

from dataclasses import replace
import numpy as np
import reservoir
from reservoir.errors import InputError
from reservoir.hydro import rows
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.hydro.system import System
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.io.reservoir_toml.writer import write_template
from reservoir.problems.reservoir.record import record_problems
import generated

text, target = sys.stdin.read(), sys.argv[1]

def refusal(make):
    try:
        make()
    except InputError as refused:
        return str(refused)

def read(line):
    return reservoir_of(text.replace("[release]\n", f"[release]\n{line}\n").encode(), "lake.toml")

lake, usual = read("fish_cfs = 100"), read("")
back = reservoir_of(lake.to_toml().encode(), "")
write_template("lake", Path(target))
inflow = Inflow(np.full((3, 12), 20.0), Calendar(2001, 3, lake.first_month))
limits = open_limits(System.of(lake), inflow)
years = limits.arrays()
print(json.dumps({
    "read": lake.fish_release_m3s.tolist(),
    "by year": lake.in_years(lake.fish_release_m3s, Calendar(2001, 2)).shape,
    "usual": usual.fish_release_m3s.tolist(),
    "back": back.fish_release_m3s.tolist(),
    "text": [line for line in lake.to_toml().splitlines() if "fish" in line],
    "usual text": "fish" in usual.to_toml(),
    "digests": [reservoir_digests(each) for each in (usual, lake)],
    "docs": [cells for cells in generated.section_keys("release") if "fish" in cells[0]],
    "range": [refusal(lambda: read("fish_cfs = -1")), refusal(lambda: replace(lake, fish_release_m3s=[-1.0] * 12))],
    "length": refusal(lambda: read("fish_m3s = [" + "1, " * 36 + "]")),
    "word": refusal(lambda: read('fish_m3s = "few"')),
    "unit": refusal(lambda: read("fish_hm3 = 1")),
    "rows": [rows.FIELDS[-1], years.rows.shape, years.rows[:, 0, -1].tolist(), years.fish_release[1].tolist()],
    "given": [limits.fish_release_m3s.shape, limits.rows["fish_release"].strides[0]],
    "problems": record_problems(lake, inflow, Horizon()).batches[0].limits.fish_release_m3s.tolist(),
    "template": open(target).read().count("fish_m3s"),
}))
"""


def test_a_further_row_is_a_further_attribute_everywhere(tmp_path: Path) -> None:
    call = [sys.executable, "-c", INVENTED, str(tmp_path / "new.toml")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        call, input=SMALL, capture_output=True, text=True, cwd=ROOT, env=environment, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    flow = 100 * 0.3048**3
    np.testing.assert_allclose(said["read"], [flow] * 12, rtol=1e-11)
    assert said["by year"] == [2, 12]
    assert said["usual"] == [0.5] * 12
    assert said["back"] == said["read"]
    assert said["text"] == [f"fish_m3s = {said['read'][0]!r}"]
    assert not said["usual text"]
    before, with_fish = said["digests"]
    assert before == reservoir_digests(reservoir_of(SMALL.encode(), ""))
    assert with_fish.keys() - before.keys() == {"fish release"}
    lists = "one number, a list of twelve (January to December), or one a step"
    assert said["docs"] == [["`fish_m3s`", "`0.5`", f"the flow for fish: {lists}"]]
    of_file, of_python = said["range"]
    assert of_file == "lake.toml, release.fish_cfs: is below 0 in every month (found -1); expected 0 or more."
    assert of_python == "fish_release_m3s: is below 0 in every month; expected 0 or more."
    assert 'release.fish_m3s: has 36 ten-day periods, but step is "month"' in said["length"]
    assert f'is neither a number nor a list of numbers (found "few"); expected {lists}' in said["word"]
    assert '"hm3" is not a known unit (found 1); expected one of fish_m3s' in said["unit"]
    last, shape, own, second = said["rows"]
    assert (last, shape) == ("fish_release", [3, 1, len(FIELDS) + 1, 12])
    np.testing.assert_allclose([*own, second], [[flow] * 12] * 4, rtol=1e-11)
    assert said["given"] == [[3, 12], 0]
    assert said["problems"] == own
    assert said["template"] == 1


def test_every_field_that_is_by_step_has_its_row() -> None:
    arrays = [each.name for each in fields(Reservoir) if "NDArray" in str(each.type)]
    assert sorted(arrays) == sorted(row.field for row in by_step_attributes() if row.section != "objective")


def test_a_field_that_the_table_alone_has_is_described_by_it() -> None:
    words = " ".join((Reservoir.__doc__ or "").split())
    assert f"{POWER_DEMAND} : ndarray, shape (12,) or (steps,) The minimum mean power, MW. Raises" in words
    assert attribute_of(POWER_DEMAND).default == 0.0


def test_every_row_has_a_meaning_and_a_key_of_its_own() -> None:
    keys = [row.key for row in ATTRIBUTES]
    assert len(set(keys)) == len(keys)
    assert all(row.meaning for row in ATTRIBUTES)
    assert {row.kind for row in ATTRIBUTES if row.default is not None} >= {Kind.BY_STEP, Kind.CHOICE}


OPEN = SMALL.replace("hydraulic_capacity_m3s = 45\n", "plant_factor = 0.9\n")
CURVE = 'kind = "polynomial"\ncoefficients = [401.0, 0.57, -0.00169]\n'
FORMULAS = (
    SMALL[: SMALL.index("[curves.level]")] + f"[curves.level]\n{CURVE}" + SMALL[SMALL.index("[curves.tailrace]") :]
).replace("output_coefficient = 8.3\n", "") + (
    '[curves.efficiency]\nkind = "polynomial"\ncoefficients = [0.80, 0.001]\n'
    '[curves.area]\nkind = "polynomial"\ncoefficients = [1.0, 0.03]\n'
    '[curves.seepage]\nkind = "polynomial"\ncoefficients = [0.1, 0.003]\n'
)
UPPER = next(line for line in SMALL.splitlines() if line.startswith("upper_m3s"))
#: Lines of a file and what stands in their place.
LIMITS = [
    {"dead_hm3 = 20": "dead_hm3 = 12"},
    {"dead_hm3 = 20": "dead_hm3 = 30"},
    {"full_hm3 = 120": "full_hm3 = 129"},
    {"full_hm3 = 120": "full_hm3 = 115"},
    {"full_hm3 = 120": "full_hm3 = 120\nlower_hm3 = 25"},
    {"full_hm3 = 120": "full_hm3 = 120\nupper_hm3 = 111"},
    {"lower_m3s = 4": "lower_m3s = 1"},
    {"lower_m3s = 4": "lower_m3s = 9"},
    {UPPER: "upper_m3s = 320"},
    {UPPER: "upper_m3s = 60"},
    {UPPER: "upper_m3s = 320", "lower_m3s = 4": "lower_m3s = 0", "full_hm3 = 120": "full_hm3 = 130"},
    {"initial_hm3 = 110": "initial_hm3 = 50"},
    {"initial_hm3 = 110": "initial_hm3 = 110\nfinal_hm3 = 40"},
    {"installed_capacity_mw = 30": "installed_capacity_mw = 55"},
    {"installed_capacity_mw = 30": "installed_capacity_mw = 30\npower_lower_mw = 3"},
    {"installed_capacity_mw = 30": "installed_capacity_mw = 30\noperating_level_m = 420"},
    {"installed_capacity_mw = 30": "installed_capacity_mw = 30\nguaranteed_power_mw = 5\nguaranteed_energy_gwh = 9"},
    {"[release]": "[release]\nramp_up_m3s = 9\nramp_down_m3s = 7"},
    {"[release]": "[losses]\nwithdrawal_m3s = 2\nevaporation_mm = 80\n[release]"},
    {"first_month = 1": "first_month = 7"},
]


@pytest.mark.parametrize("text", [SMALL, OPEN, FORMULAS], ids=["points", "no capacity", "formulas"])
@pytest.mark.parametrize("changes", LIMITS, ids=lambda changes: "; ".join(changes.values()).replace("\n", " "))
def test_another_limit_is_as_in_a_file(text: str, changes: dict[str, str]) -> None:
    made, other = reservoir_of(text.encode(), ""), text
    for line, new in changes.items():
        assert other.count(f"{line}\n") == 1
        other = other.replace(f"{line}\n", f"{new}\n")
    read = reservoir_of(other.encode(), "")
    limits = {each.name: getattr(read, each.name) for each in fields(Reservoir)}
    numbers = {name: value for name, value in limits.items() if name not in WORDS}
    changed = replace(made, **numbers)
    assert differing_parts(changed, reservoir_digests(read)) in ([], ["reach of the curves"])
    for name in CURVES:
        of_changed, of_read = getattr(changed, name), getattr(read, name)
        if of_read is not None:
            assert of_changed.domain[0] <= of_read.domain[0]
            assert of_changed.domain[1] >= of_read.domain[1]
            points = np.linspace(*of_read.domain, 41)
            np.testing.assert_array_equal(of_changed(points), of_read(points))
    back = replace(changed, **{name: getattr(made, name) for name in numbers})
    assert differing_parts(back, reservoir_digests(made)) in ([], ["reach of the curves"])


def test_a_formula_whose_domain_is_given_is_not_used_beyond_it() -> None:
    text = SMALL.replace("exponent = 0.6\n", "exponent = 0.6\ndomain_m3s = [0, 250]\n")
    made = reservoir_of(text.encode(), "")
    assert replace(made, release_upper_m3s=np.full(12, 240.0)).tailrace.domain == (0, 250)
    with pytest.raises(InputError, match=r"tailrace: covers only 0 m3/s to 250 m3/s; expected 4 m3/s to 300 m3/s"):
        replace(made, release_upper_m3s=np.full(12, 300.0))


def test_a_formula_is_not_used_below_its_origin() -> None:
    text = SMALL.replace("exponent = 0.6\n", "exponent = 0.6\norigin_m3s = 3\n")
    made = reservoir_of(text.encode(), "")
    with pytest.raises(InputError, match=r"tailrace.origin: is above the start of the domain"):
        replace(made, release_lower_m3s=np.full(12, 2.0))


def test_points_are_never_used_beyond_their_ends() -> None:
    made = reservoir_of(SMALL.encode(), "")
    assert isinstance(made.level, Table)
    with pytest.raises(InputError, match=r"level: covers only|is outside the storage range"):
        replace(made, storage_upper_hm3=np.full(12, 140.0), initial_storage_hm3=135.0)


CURVES = ("level", "tailrace", "conversion", "capacity_m3s", "area_km2", "seepage_m3s")
WORDS = (*CURVES, "name", "source", "sha256", "content", "conversion_kind")


def test_the_example_writes_its_attribute_and_refuses_a_wrong_one() -> None:
    call = [sys.executable, "docs/examples/attribute.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(call, capture_output=True, text=True, cwd=ROOT, env=environment, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert "fish_m3s = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]\n" in ended.stdout
    assert ended.stdout.endswith("fish_release_m3s: is below 0 in every month; expected 0 or more.\n")
