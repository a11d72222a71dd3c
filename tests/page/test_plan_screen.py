"""The Plan screen in a browser: a limit is dragged, keys are typed, what is saved is the command's."""

from __future__ import annotations

import json
import re

import pytest

from reservoir.io.reservoir_toml.reader import read_reservoir
from tests.page.conftest import expect, narrow

pytestmark = pytest.mark.timeout(300)
MAY = "upper storage limit at the end of May"


def planned(window) -> None:
    """Wait for a plan that is checked."""
    window.locator("#state", has_text=re.compile("Checked|Not accepted")).wait_for()


def energies(window) -> tuple[str, str, str]:
    """Base, now and change of the energy."""
    return tuple(window.locator("aside table tr", has_text="Energy, GWh").locator("td").all_text_contents())


def test_a_limit_is_dragged_undone_and_typed(opened):
    planned(opened)
    base = energies(opened)[0]
    handle = opened.get_by_role("slider", name=MAY)
    before, box = handle.get_attribute("aria-valuenow"), handle.locator(".dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.mouse.move(x, y)
    opened.mouse.down()
    for step in range(1, 9):
        opened.mouse.move(x, y + 10 * step)
    opened.mouse.up()
    assert float(handle.get_attribute("aria-valuenow")) < float(before) - 500
    planned(opened)
    opened.locator("aside table", has_text="less").first.wait_for()
    assert energies(opened)[0] == base != energies(opened)[1]

    opened.get_by_role("button", name="Undo").click()
    opened.locator("aside table").filter(has_not_text="less").first.wait_for()
    expect(handle).to_have_attribute("aria-valuenow", before)
    handle.focus()
    handle.press("PageDown")
    opened.locator("aside table", has_text="less").first.wait_for()
    assert float(handle.get_attribute("aria-valuenow")) < float(before)

    field = opened.get_by_label("Installed capacity of the plant, MW")
    field.fill("many")
    field.press("Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    opened.get_by_text("“many” is no number").wait_for()
    field.fill("3600,125")  # no separator of thousands
    field.press("Enter")
    opened.get_by_text("“3600,125” is no number").wait_for()
    field.fill("-5")
    field.press("Enter")
    opened.locator("label .fault", has_text="expected").wait_for()
    field.fill("3,600")
    field.press("Enter")
    planned(opened)
    opened.get_by_role("button", name="Back to base").click()
    opened.locator("aside table").filter(has_not_text="less").first.wait_for()
    expect(field).to_have_value("4200")


def test_what_is_saved_is_the_commands_and_opens_again(opened, served):
    planned(opened)
    handle = opened.get_by_role("slider", name=MAY)
    handle.focus()
    handle.press("PageDown")
    planned(opened)
    told = float(handle.get_attribute("aria-valuenow"))
    opened.get_by_label("Name of the plan").fill("no such/name")
    opened.get_by_role("button", name="Save", exact=True).click()
    opened.locator("#state", has_text="1 to 40 letters").wait_for()
    opened.get_by_label("Name of the plan").fill("lower-may")
    opened.get_by_role("button", name="Save", exact=True).click()
    opened.locator("#state", has_text="Saved in").wait_for(timeout=120_000)
    expect(opened.locator("code").first).to_contain_text("reservoir plan --case xiaowan --reservoir lower-may.toml")

    folder = served.desk.workspace.folder
    assert read_reservoir(folder / "lower-may.toml").storage_upper_hm3[4] == pytest.approx(told)
    plan = json.loads((folder / "lower-may" / "plan.json").read_text("utf-8"))
    assert (folder / "lower-may" / "report.html").is_file()
    shown = float(energies(opened)[1].replace(",", ""))
    assert plan["energy_gwh"] / plan["years"] == pytest.approx(shown, abs=1)
    with opened.context.expect_page() as report:
        opened.get_by_role("link", name="Its report").click()
    expect(report.value).to_have_title(re.compile("xiaowan"))
    report.value.close()


def test_units_a_phone_and_the_end_of_the_program(opened, served):
    planned(opened)
    opened.get_by_label("Units").select_option("us")
    opened.get_by_role("heading", name=re.compile("acre-ft.*ft")).first.wait_for()
    field = opened.locator("[data-key='plant.hydraulic_capacity_m3s'] input")  # in the units of the page
    field.fill("70,000")
    field.press("Enter")
    planned(opened)
    opened.get_by_text("Any other key").click()
    opened.get_by_label("Key", exact=True).fill("storage.dead_hm3")  # in the unit that it names
    opened.get_by_label("Value in the unit that the key ends with").fill("5,000")
    opened.get_by_role("button", name="Set", exact=True).click()
    planned(opened)
    opened.get_by_label("Units").select_option("si")
    expect(field).to_have_value("1982.17926")
    assert served.desk.opened.session.latest.reservoir.storage_lower_hm3.min() == 5000
    narrow(opened)


#: Counts previews that are asked for and not answered.
_SPY = """() => {
  const open = new Set(), send = WebSocket.prototype.send;
  window.previews = {most: 0, all: 0};
  WebSocket.prototype.send = function (text) {
    const {id, kind} = JSON.parse(text);
    if (kind === "preview") {
      if (!previews.all++) this.addEventListener("message", ({data}) => { const told = JSON.parse(data); if (!told.stage) open.delete(told.id); });
      open.add(id);
      setTimeout(() => { previews.most = Math.max(previews.most, open.size); }, 0);
    }
    return send.call(this, text);
  };
}"""  # noqa: E501


def test_the_hand_is_followed_by_one_preview_at_a_time(opened):
    planned(opened)
    opened.evaluate(_SPY)
    box = opened.get_by_role("slider", name=MAY).locator(".dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    opened.mouse.move(x, y)
    opened.mouse.down()
    for step in range(1, 25):
        opened.mouse.move(x, y + 3 * step)
        opened.wait_for_timeout(60)
    opened.locator("aside .key", has_text=re.compile(r"preview, .* s")).wait_for()
    opened.mouse.up()
    planned(opened)
    seen = opened.evaluate("previews")
    assert seen["most"] == 1
    assert seen["all"] > 1
