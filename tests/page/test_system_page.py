"""A system on a page: a place is chosen on its drawing, one reservoir is changed, and all are planned and saved."""

from dataclasses import replace

import pytest

import reservoir
from reservoir import Link
from reservoir.errors import InputError
from reservoir.hydro.system import System
from reservoir.io.reservoir_toml.writer import write_system
from reservoir.page.drawn import drawn_system
from reservoir.page.workspace import CancelledError
from reservoir.planning.tradeoff import FRONT_STAGES
from reservoir.zoo import zoo_case
from tests.page.conftest import desk_of, expect, quiet, serving, window_on
from tests.page.test_session import LANCANG

LESS = {"xiaowan:plant.installed_capacity_mw": 3300, "xiaowan to nuozhadu:travel_hours": 73.05}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("river")
    lines = (LANCANG / "inflow-2.csv").read_text().splitlines(keepends=True)
    (folder / "inflow.csv").write_text("".join(lines[: 3 + 2 * 12]))
    return desk_of(folder, (str(folder / "inflow.csv"), "--reservoir", str(LANCANG / "system-2.toml")))


def test_a_drawing_has_the_links_of_the_system():
    one, two, three = (replace(zoo_case(1, 1).reservoir, name=name) for name in ("one", "two", "three"))
    links = [Link(one.name, three.name, 0.25), Link(two.name, three.name, travel_steps=0.5), Link(three.name)]
    drawn = drawn_system(System((one, two, three), links))
    assert {(each["name"], each["x"], each["y"]) for each in drawn["places"]} == {
        (one.name, 0.5, 0.0), (two.name, 1.5, 0.0), (three.name, 1.0, 1.0),
    }  # fmt: skip
    assert {"from": one.name, "to": three.name, "carries": "25%", "late": ""} in drawn["links"]
    assert {"from": two.name, "to": three.name, "carries": "", "late": "15.2 days"} in drawn["links"]
    assert {"from": three.name, "to": None, "carries": "", "late": ""} in drawn["links"]


def test_the_files_of_a_system_are_saved_for_the_command(desk, monkeypatch):
    folder, typed = desk.workspace.folder, []
    with monkeypatch.context() as instead:  # planning by all solvers takes long
        instead.setattr(desk.workspace, "run", lambda words, tell: typed.append(words) or (folder / "less").mkdir())
        desk.answer({"kind": "save", "wish": LESS, "name": "less"}, quiet)
    assert typed == [["plan", "inflow.csv", "--reservoir", "less.toml", "--out", "less"]]
    assert (folder / "less.toml").read_text().startswith("# Two of the dams")
    assert (folder / "less.xiaowan.toml").read_text().startswith((LANCANG / "xiaowan.toml").read_text()[:100])
    saved, changed = reservoir.read_system(folder / "less.toml"), desk.opened.session.keys.changed(LESS)
    assert write_system(saved) == write_system(changed)
    assert (saved.reservoirs[0].installed_mw, saved.links[0].travel_steps) == (3300, 0.1)
    with pytest.raises(InputError, match="another name"):
        desk.answer({"kind": "save", "wish": LESS, "name": "less"}, quiet)


def test_a_reservoir_has_fields_of_the_links_that_leave_it(desk):
    sites = desk.answer({"kind": "info"}, quiet)["info"]["sites"]
    ((name, fields),) = (each.values() for each in sites["xiaowan"]["links"])
    assert sites["nuozhadu"]["links"] == []
    assert name == "xiaowan to nuozhadu"
    by_key = {field["key"].removeprefix(f"{name}:"): field for field in fields}
    assert [*by_key] == ["carries", "travel_hours", "lost_share", "lost_m3s", "before_m3s", "backwater"]
    assert (by_key["carries"]["value"], by_key["travel_hours"]["value"]) == ("all", 0)
    assert by_key["lost_share"]["label"] == "Part that never arrives, 0 to 1"
    wish = {"wish": {f"{name}:lost_share": 0.5}}
    whole, _, lower = desk.answer({"kind": "preview"} | wish, quiet)["rows"]
    assert lower["energy_change_gwh"] < -0.2 * lower["energy_gwh"]
    assert whole["energy_change_gwh"] < 0


def test_a_front_of_a_system_tells_its_points_and_how_many_were_planned_when_it_ends(desk, monkeypatch):
    told, inner = [], "slp"

    def run(words, tell):
        for stage, done in ((FRONT_STAGES[0], 0), (inner, 1), (FRONT_STAGES[1], 2), (inner, 5)):
            tell(stage, done, 3)
        raise CancelledError("ended after 10 minutes")

    monkeypatch.setattr(desk.workspace, "run", run)
    ask = {"kind": "find-front", "goals": ["energy", "firm-power"], "points": 3, "wish": LESS}
    with pytest.raises(CancelledError) as ended:
        desk.answer(ask, lambda *each: told.append(each))
    assert told[1] == ("ends of the front (slp)", 0, 3)
    assert told[3] == ("points of the front (slp)", 2, 3)
    said = "ended after 10 minutes: nothing was written; 2 of 3 points of the front were planned"
    assert str(ended.value).startswith(said)
    assert not [*desk.workspace.folder.glob("front-*")]  # the file with the changes neither


def test_a_place_is_chosen_on_the_drawing(desk, browser):
    with serving(desk) as served, window_on(served, browser) as window:
        group = window.get_by_role("radiogroup", name="Reservoirs of the system")
        expect(group.get_by_role("radio", name="xiaowan", checked=True)).to_have_count(1)
        group.get_by_role("radio", name="nuozhadu").click()
        chosen = group.get_by_role("radio", name="nuozhadu", checked=True)
        chosen.wait_for()
        chosen.press("ArrowUp")
        group.get_by_role("radio", name="xiaowan", checked=True).wait_for()
        expect(group.get_by_role("radio", name="xiaowan")).to_be_focused()
        field = window.get_by_label("Installed capacity")
        field.fill("3300")
        field.press("Enter")
        window.get_by_text("Checked").wait_for()
        share = window.get_by_role("group", name="River xiaowan to nuozhadu").get_by_label("Part that never arrives")
        share.fill("2")
        share.press("Enter")
        window.locator("label .fault", has_text="out of range").wait_for()
        share.fill("0.1")
        share.press("Enter")
        window.get_by_text("Checked").wait_for()
        target = window.get_by_label("Mean power of which less is a shortage")
        target.fill("2500")  # of all plants together
        target.press("Enter")
        group.get_by_role("radio", name="nuozhadu").click()
        group.get_by_role("radio", name="nuozhadu", checked=True).wait_for()
        expect(target).to_have_value("2500")
        expect(window.get_by_label("Installed capacity")).to_have_value("5850")
        window.locator("#state", has_text="Checked").wait_for()
        expect(window.locator(".fault", has_text="expected")).to_have_count(0)
