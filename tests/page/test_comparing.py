"""Plans of a workspace beside a base, and batches: what the Compare screen asks for."""

import json
from pathlib import Path

import pytest

from reservoir.errors import InputError
from reservoir.io.reservoir_toml.reader import read_reservoir
from reservoir.page import workspace
from reservoir.page.comparing import compared, plans, varied
from reservoir.page.workspace import CancelledError
from tests.page.conftest import desk_of, quiet

OWN = Path(__file__).resolve().parents[2] / "docs" / "own-reservoir"
RANGE = {"key": "storage.full_hm3", "first": 98, "last": 90, "count": 2}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A desk with a reservoir of four years, and its plan in the workspace."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "lake.toml").write_text((OWN / "hill-lake.toml").read_text())
    lines = (OWN / "inflow.csv").read_text().splitlines()
    (folder / "inflow.csv").write_text("\n".join(lines[:7]) + "\n")
    desk = desk_of(folder, ("inflow.csv", "--reservoir", "lake.toml"))
    desk.opened.plan.save(folder / "saved", figures=False)
    return desk


def test_a_batch_is_the_commands_and_is_compared_with_its_base(desk):
    stages = []
    told = varied(desk, {"name": "batch", "keys": [RANGE]}, lambda stage, *_: stages.append(stage))
    assert " --vary storage.full_hm3=98:90:2 " in told["varied"]
    assert len(stages) > 2
    assert told["plans"] == ["batch/base", "batch/full_hm3-98", "batch/full_hm3-90"]
    assert told["differences"] == [
        ["full_hm3-90", "storage.full_hm3", "98.0", "90"],
        ["full_hm3-98", "nothing", "–", "–"],
    ]
    written = json.loads((desk.workspace.folder / "batch/comparison/comparison.json").read_text())
    assert [row["plan"] for row in written["plans"]] == [row[0] for row in told["rows"]]
    storage = [max(each["fans"][""][2]) for each in told["drawn"]]
    assert storage[2] <= 90.001 < storage[0]
    assert all(len(each["duration"]) == 51 and len(each["fans"][""][0]) == 13 for each in told["drawn"])
    assert plans(desk, {}, quiet)["plans"] == ["saved", "batch/base", "batch/full_hm3-90", "batch/full_hm3-98"]

    again = compared(desk, {"plans": ["batch/full_hm3-90", "saved"], "units": "us"}, quiet)
    assert again["differences"][0] == ["saved", "storage.full_hm3", "90.0", "98.0"]
    assert any("acre-ft" in head for head in again["heads"])
    assert again["command"] == "reservoir compare batch/full_hm3-90 saved --units us"
    for refused, said in (
        ({"name": "batch", "keys": [RANGE]}, "already exists"),
        ({"name": "other", "keys": [RANGE | {"key": "storage.ful_hm3"}]}, "storage.ful_hm3: is not a known key"),
        ({"name": "../x", "keys": [RANGE]}, "is no name"),
        ({"name": "other", "keys": []}, "asks for no range"),
    ):
        with pytest.raises(InputError, match=said):
            varied(desk, refused, quiet)
    assert not (desk.workspace.folder / "other").exists()


def test_a_batch_starts_from_the_changes_that_are_not_saved(desk):
    folder, wish = desk.workspace.folder, {"plant.installed_capacity_mw": 15}
    with pytest.raises(InputError, match="is not a known key"):
        varied(desk, {"name": "wish", "keys": [RANGE | {"key": "storage.ful_hm3"}], "wish": wish}, quiet)
    assert not [*folder.glob("wish*")]
    told = varied(desk, {"name": "wish", "keys": [RANGE], "wish": wish}, quiet)
    assert "--reservoir wish.toml --vary storage.full_hm3=98:90:2" in told["varied"]
    assert read_reservoir(folder / "wish.toml").installed_mw == 15
    shown = compared(desk, {"plans": ["saved", "wish/base"]}, quiet)
    assert [row[1:] for row in shown["differences"]] == [["plant.installed_capacity_mw", "24.0", "15.0"]]


def test_the_example_of_a_range_is_one_that_the_files_can_have(desk):
    example = plans(desk, {}, quiet)["example"]
    assert (example["key"], example["first"] < example["last"]) == ("plant.installed_capacity_mw", True)
    for end in ("first", "last"):
        assert desk.opened.session.keys.changed({example["key"]: example[end]}).installed_mw == example[end]


def test_files_with_changes_are_again_as_they_were_where_the_command_is_refused(desk, monkeypatch):
    def refuse(words, tell):
        assert "11" in (desk.workspace.folder / "kept.toml").read_text()
        raise InputError("no")

    monkeypatch.setattr(desk.workspace, "run", refuse)
    wish = {"wish": {"plant.installed_capacity_mw": 11}, "name": "kept"}
    for before, replace in (("", False), ("# mine", True)):
        if before:
            (desk.workspace.folder / "kept.toml").write_text(before)
        with pytest.raises(InputError, match="no"):
            desk.answer({"kind": "save", "replace": replace} | wish, quiet)
        path = desk.workspace.folder / "kept.toml"
        assert (path.read_text() if path.exists() else "") == before


def test_a_command_that_takes_too_long_is_ended_and_named(desk, monkeypatch):
    monkeypatch.setattr(workspace, "MOST_SECONDS", 0.6)
    with pytest.raises(
        CancelledError, match=r"the most on a page \(where `reservoir plan --case xiaowan --out long` has no end"
    ):
        desk.workspace.run(["plan", "--case", "xiaowan", "--out", "long"], quiet)
    assert not (desk.workspace.folder / "long").exists()


def test_what_cannot_be_compared_is_refused(desk):
    for names, said in (
        (["saved"], "a base and 1 to 49 others"),
        (["saved", "../x"], "outside"),
        (["saved", "x"], "no such"),
    ):
        with pytest.raises(InputError, match=said):
            compared(desk, {"plans": names}, quiet)


def test_a_batch_that_is_cancelled_leaves_nothing_half_made(desk):
    def cancel(stage, done, total):
        if stage != "starting":
            desk.workspace.cancel()

    many = RANGE | {"last": 90.5, "count": 60}
    with pytest.raises(CancelledError, match="cancelled"):
        varied(desk, {"name": "ended", "keys": [many]}, cancel)
    left = sorted(path.name for path in (desk.workspace.folder / "ended").glob("*"))
    assert all((desk.workspace.folder / "ended" / name.removesuffix(".toml") / "plan.json").is_file() for name in left)
    assert not [*desk.workspace.folder.rglob(".reservoir-*")]
