"""The Trade off screen: the front is the command's, and so is the plan of a point."""

from __future__ import annotations

import csv
import re

import pytest

from reservoir.errors import InputError
from tests.golden.lake import LAKES, write_files
from tests.page.conftest import desk_of, expect, narrow, quiet

pytestmark = [pytest.mark.timeout(300), pytest.mark.device]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A small lake and six years, open."""
    folder = tmp_path_factory.mktemp("fronts")
    write_files(folder)
    (folder / "lake.toml").write_text(LAKES["plain"])
    return desk_of(folder, ("record-6.csv", "--reservoir", "lake.toml", "--objective", "firm-power"))


def test_the_front_is_the_commands_and_a_point_is_planned_by_it(desk):
    folder, stages = desk.workspace.folder, []
    found = desk.answer(
        {"kind": "find-front", "goals": ["energy", "firm-power"], "points": 3}, lambda stage, *_: stages.append(stage)
    )
    name = found["folder"]
    with (folder / name / "front.csv").open() as table:
        rows = [*csv.DictReader(table)]
    assert found["points"] == [row["point"] for row in rows] == ["p1", "p2", "p3"]
    for goal, values in zip(("energy", "firm_power"), found["values"], strict=True):
        assert values == pytest.approx([float(row[goal]) for row in rows])
    assert found["labels"] == ["Energy of 6 years (GWh)", "Firm power (MW)"]
    assert f"--between energy,firm-power --points 3 --no-figures --out {name}" in found["command"]
    assert len(stages) > 1
    listed = desk.answer({"kind": "fronts"}, quiet)
    assert listed["fronts"] == [name]
    assert listed["goals"]["firm-power"] == "Firm power (MW)"
    again = desk.answer({"kind": "front", "folder": name}, quiet)
    assert again == {key: value for key, value in found.items() if key != "command"}

    planned = desk.answer({"kind": "plan-point", "folder": name, "point": "p3"}, quiet)
    assert planned["plan"] in planned["saved"]
    assert planned["command"].startswith(f"reservoir plan --point {name}/p3 ")
    with (folder / planned["plan"] / "schedule.csv").open() as table:
        powers = [float(row["power_mw"]) for row in csv.DictReader(table)]
    assert min(powers) == pytest.approx(found["values"][1][2], rel=1e-3)  # the firm power of that point
    before = (folder / planned["plan"] / "plan.json").stat().st_mtime_ns
    assert desk.answer({"kind": "plan-point", "folder": name, "point": "p3"}, quiet)["plan"] == planned["plan"]
    assert (folder / planned["plan"] / "plan.json").stat().st_mtime_ns == before  # planned once

    origin = folder / name / "tradeoff.json"
    text = origin.read_text()
    origin.write_text(text.replace('"sha256": "', '"sha256": "0'))
    assert desk.answer({"kind": "fronts"}, quiet)["fronts"] == []
    with pytest.raises(InputError, match="is the front of another case"):
        desk.answer({"kind": "front", "folder": name}, quiet)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        ({"kind": "find-front", "goals": ["energy", "fame"]}, "two of energy, revenue"),
        ({"kind": "find-front", "goals": ["energy", "energy"]}, "are not two different goals"),
        ({"kind": "find-front", "goals": ["energy", "firm-power"], "points": 2}, "3 to 201"),
        ({"kind": "front", "folder": "../x"}, "is no name"),
        ({"kind": "front", "folder": "none"}, "is not the provenance of a tradeoff"),
        ({"kind": "plan-point", "folder": "none", "point": "p1"}, "there is no such point"),
    ],
)
def test_what_is_wrong_is_refused(desk, ask, words):
    before = sorted(desk.workspace.folder.iterdir())
    with pytest.raises(InputError, match=re.escape(words)):
        desk.answer(ask, quiet)
    assert sorted(desk.workspace.folder.iterdir()) == before


def test_a_point_is_chosen_in_a_browser_and_planned(opened, served):
    try:
        opened.get_by_role("tab", name="Trade off").click()
        opened.get_by_label("Points").fill("3")
        opened.get_by_role("button", name="Find the front").click()
        point = opened.get_by_role("group", name="points of the front").get_by_role("button").nth(1)
        point.wait_for()
        expect(opened.locator("#state")).to_have_text(re.compile("^Found in"))
        point.focus()
        expect(opened.locator("#state")).to_contain_text("p2: Energy of 62 years (GWh)")
        narrow(opened)
        boxes = [each.bounding_box() for each in opened.locator(".point .dot").all()]
        assert boxes[0]["x"] > boxes[1]["x"] > boxes[2]["x"] > 0  # less energy, more power
        assert boxes[0]["y"] > boxes[1]["y"] > boxes[2]["y"]
        point.press("Enter")
        opened.get_by_role("tab", name="Plan", selected=True).wait_for(timeout=60_000)
        opened.locator("#state", has_text="reservoir plan --point front-energy-firm-power/p2").wait_for()
    finally:
        served.desk.open(("--case", "xiaowan"), quiet)
