"""Changed keys of a reservoir file are read as if the file said them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.reservoir import differing_parts, reservoir_digests
from reservoir.io.file_keys import FileKeys
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.io.reservoir_toml.writer import write_system
from reservoir.io.varied_file import varied_files
from reservoir.zoo import zoo_case
from tests.golden.lake import LAKES
from tests.io.two_dams import TWO, write_two

UPPER = [100, 95, 90, 90, 95, 100, 105, 110, 118, 120, 115, 110]


@pytest.fixture
def keys(tmp_path) -> FileKeys:
    (tmp_path / "lake.toml").write_text(LAKES["plain"])
    return FileKeys.of(reservoir.read_reservoir(tmp_path / "lake.toml"))


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"storage.upper_hm3": UPPER, "storage.initial_hm3": 100}, "storage_upper_hm3", UPPER),
        ({"storage.dead_hm3": 40}, "storage_lower_hm3", [40] * 12),
        ({"storage.dead_mcm": 40}, "storage_lower_hm3", [40] * 12),
        ({"storage.initial_hm3": 90, "storage.final_hm3": 95}, "final_storage_hm3", 95),
        ({"release.lower_m3s": 3}, "release_lower_m3s", [3] * 12),
        ({"plant.installed_capacity_mw": 15.5}, "installed_mw", 15.5),
        ({"plant.units": 2, "plant.unit_capacity_mw": 8}, "installed_mw", 16),
        ({"plant.power_lower_mw": 2}, "power_lower_mw", [2] * 12),
        ({"storage.year_end": "free"}, "final_storage_hm3", None),
    ],
)
def test_a_changed_key_changes_what_it_says(keys, changes, field, value):
    assert getattr(keys.changed(changes), field) == pytest.approx(value)


def test_another_way_to_say_the_same_replaces_what_the_file_says(keys):
    table = keys.changed({"curves.capacity": {"kind": "table", "head_m": [20, 120], "capacity_m3s": [30, 50]}})
    assert FileKeys.of(table).changed({"plant.hydraulic_capacity_m3s": 40}).capacity_m3s(50.0) == 40
    units = replace(keys, tree={**keys.tree, "plant": {**keys.tree["plant"], "units": 2, "unit_capacity_mw": 9}})
    assert units.changed({"plant.installed_capacity_mw": 17}).installed_mw == 17


def test_without_changes_it_is_the_same_reservoir_however_it_was_made(keys):
    made = zoo_case(1, 2).reservoir
    assert not differing_parts(FileKeys.of(made).changed({}), reservoir_digests(made))
    less = keys.changed({"plant.power_lower_mw": 2})
    assert not differing_parts(
        FileKeys.of(less).changed({"plant.power_lower_mw": None}), reservoir_digests(keys.changed({}))
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"storage.dead_hm3": 150}, ("dead_hm3 = 20", "dead_hm3 = 150")),
        ({"release.lower_m3s": -1}, ("lower_m3s = 4", "lower_m3s = -1")),
        ({"plant.installed_mw": 3}, ("[plant]", "[plant]\ninstalled_mw = 3")),
    ],
)
def test_a_bad_change_is_refused_in_the_words_of_the_reader(keys, changes, line, tmp_path):
    assert LAKES["plain"].count(line[0]) == 1
    (tmp_path / "lake.toml").write_text(LAKES["plain"].replace(*line))
    with pytest.raises(InputError) as of_file:
        reservoir.read_reservoir(tmp_path / "lake.toml")
    with pytest.raises(InputError) as of_change:
        keys.changed(changes)
    assert str(of_change.value) == str(of_file.value)
    np.testing.assert_array_equal(keys.changed({}).release_lower_m3s, 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"storage.upper_hm3": UPPER, "storage.initial_hm3": 100, "name": "a-lake", "plant.power_lower_mw": 2},
        {
            "storage.dead_acre_ft": 20000.5,
            "storage.year_end": "free",
            "storage.initial_mcm": 50,
            "marks.normal_m": None,
        },
        {"objective.goal": "revenue", "objective.price_per_mwh": [30.5] * 12, "objective.currency": 'CNY "#"'},
        {"curves.capacity": {"kind": "table", "head_m": [20, 120], "capacity_m3s": [30, 50.5]}},
        {"curves.level": {"kind": "polynomial", "coefficients": [405.0, 0.33]}, "description": "# none"},
        {"objective.weights": {"energy": 1, "revenue": 2}, "objective.price_per_mwh": [30.5] * 12},
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_edited_files_are_read_as_the_changes(keys, changes, end, tmp_path):
    text = keys.content.decode().replace("[plant]", "# of the plant\n[plant]  # two units").replace("\n", end)
    keys = FileKeys.read(text.encode(), str(tmp_path / "lake.toml"))
    ((path, content),) = keys.edited(changes, tmp_path / "out", "v").items()
    assert path == tmp_path / "out" / "v.toml"
    assert {"# of the plant", "[plant]  # two units"} < {*content.decode().split(end)}
    assert content.decode().count("\n") == content.decode().count(end)
    read, changed = reservoir_of(content, ""), keys.changed(changes)
    assert read.name == changed.name
    assert not differing_parts(read, reservoir_digests(changed))
    (back,) = FileKeys.read(content, "").edited({"plant.hydraulic_capacity_m3s": 40}, tmp_path, "w").values()
    again = keys.changed({**changes, "curves.capacity": None, "plant.hydraulic_capacity_m3s": 40})
    assert not differing_parts(reservoir_of(back, ""), reservoir_digests(again))


SYSTEM = Path(reservoir.__file__).parents[1] / "data/lancang/system-2.toml"


def test_keys_of_a_system_are_its_own_or_those_of_a_reservoir(tmp_path):
    keys = FileKeys.of(reservoir.read_system(SYSTEM))
    changes = {
        "xiaowan:plant.installed_capacity_mw": 4000,
        "horizon.span": "record",
        "nuozhadu:release.lower_m3s": [300] * 12,
    }
    changed = keys.changed(changes)
    assert changed.reservoirs[0].installed_mw == 4000
    files = keys.edited(changes, tmp_path, "v")
    assert [path.name for path in files] == ["v.toml", "v.xiaowan.toml", "v.nuozhadu.toml"]
    for path, content in files.items():
        path.write_bytes(content)
    lines = SYSTEM.read_text().splitlines()
    assert {line for line in lines if line.startswith("#")} < {*files[tmp_path / "v.toml"].decode().splitlines()}
    read = reservoir.read_system(tmp_path / "v.toml")
    assert write_system(read) == write_system(changed) != write_system(reservoir.read_system(SYSTEM))


def test_keys_of_links_are_changed_in_their_file(tmp_path):
    system = write_two(tmp_path, TWO + '\n# for the pumps\n[[links]]\nfrom = "lower"\ncarries = 0.5\n')
    keys = FileKeys.of(reservoir.read_system(system))
    river, away = "upper to lower", "lower to the end of the river"
    changes = {f"{river}:travel_steps": 0.25, f"{river}:before_m3s": 20, f"{away}:lost_share": 0.1}
    changed = keys.changed(changes)
    assert [(link.travel_steps, link.before_m3s, link.lost_share) for link in changed.links] == [
        (0.25, 20, 0),
        (0, None, 0.1),
    ]
    ((path, content),) = keys.edited(changes, tmp_path, "v").items()
    path.write_bytes(content)
    text = content.decode()  # hours and cfs are replaced, and all else stays
    assert ("travel_hours" in text, "before_cfs" in text, "# for the pumps" in text) == (False, False, True)
    assert write_system(reservoir.read_system(path)) == write_system(changed)
    assert keys.as_written(f"{river}:before") == f"{river}:before_cfs"
    (varied,) = varied_files(system, {f"{river}:before": 500.0}, tmp_path, "w").values()
    assert "before_cfs = 500\n" in varied.decode()
    for key, value in {f"{river}:lost_share": 2, f"{away}:backwater": True, f"{river}:pond": 1, "a to b:x": 1}.items():
        with pytest.raises(InputError) as refused:
            keys.changed({key: value})
        assert key in {each.column for each in refused.value.mistakes}, str(refused.value)


def test_links_between_the_same_reservoirs_are_numbered(tmp_path):
    second = '\n[[links]]\nfrom = "upper"\nto = "lower"\ncarries = "spilled"\n'
    system = write_two(tmp_path, TWO.replace("travel_hours", 'carries = "turbined"\ntravel_hours') + second)
    keys = FileKeys.of(reservoir.read_system(system))
    assert [each.lost_m3s for each in keys.changed({"upper to lower (2):lost_m3s": 3}).links] == [0, 3]
    with pytest.raises(InputError, match="out of range") as refused:
        keys.changed({"upper to lower (2):lost_m3s": -3})
    assert refused.value.mistakes[0].column == "upper to lower (2):lost_m3s"


def test_a_system_that_was_made_has_keys_too():
    system = reservoir.read_system(SYSTEM)
    made = replace(system, source="", content=b"", penalty=2 * system.penalty)
    changed = FileKeys.of(made).changed({"xiaowan:storage.initial_hm3": 13000})
    assert (changed.penalty, changed.reservoirs[0].initial_storage_hm3) == (made.penalty, 13000)
    (text,) = FileKeys.of(made).edited({"xiaowan:losses.seepage_m3s": 3, "nuozhadu:name": "low"}, Path(), "v").values()
    assert text.decode().index("[reservoirs.losses]\nseepage_m3s = 3\n") < text.decode().index('name = "low"')


@pytest.mark.parametrize("made", [False, True])
def test_a_mistake_of_a_system_is_told_at_the_key_that_is_changed(made):
    system = reservoir.read_system(SYSTEM)
    keys = FileKeys.of(replace(system, content=b"") if made else system)
    for key, value in {
        "xiaowan:storage.dead_hm3": 1e6,
        "objective.goal": "fame",
        "xiaowan:pond": 1,
        "pond:x": 1,
    }.items():
        with pytest.raises(InputError) as refused:
            keys.changed({key: value})
        assert key in {each.column for each in refused.value.mistakes}, str(refused.value)
