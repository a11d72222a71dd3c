"""The Compare screen in a browser: a base is chosen, a range is planned, and a row opens its plan."""

from __future__ import annotations

import json
import re

import pytest

from tests.page.conftest import expect, narrow

pytestmark = pytest.mark.timeout(300)


def test_plans_are_compared_a_range_is_planned_and_a_row_opens_its_plan(opened, served):
    desk, folder = served.desk, served.desk.workspace.folder
    desk.opened.plan.save(folder / "first", figures=False)
    desk.opened.session.plan({"plant.installed_capacity_mw": 3000}).save(folder / "lower", figures=False)
    goals = {"between": ["energy", "firm-power"], "points": [{"energy": 9e5, "firm_power": 700}]}
    goals["points"].append({"energy": 8e5, "firm_power": 800})
    record = {"sha256": desk.opened.case.inflow.sha256, "reading": {}}
    (folder / "front").mkdir()
    (folder / "front/tradeoff.json").write_text(json.dumps(goals | {"inflow": record, "files": {}}))
    capacity = opened.get_by_label("Installed capacity of the plant, MW")
    capacity.fill("3900")
    capacity.press("Enter")
    opened.get_by_role("tab", name="Compare").click()
    opened.get_by_role("radio", name="first is the base").check()
    opened.get_by_role("checkbox", name="compare lower").check()
    differs = opened.get_by_role("region", name="What differs in the inputs")
    expect(differs.locator("tbody tr").first).to_have_text(re.compile("^lowerplant.installed_capacity_mw"))
    plans = opened.get_by_role("region", name="What the plans come to").locator("tbody tr")
    expect(plans.filter(has_text="lower")).to_contain_text("−")
    assert plans.count() >= 2
    opened.get_by_role("heading", name="Fronts: Energy of 62 years (GWh) against Firm power (MW)").wait_for()
    expect(opened.locator("#screen canvas")).to_have_count(3)
    opened.get_by_text("Medians as a table").click()
    expect(opened.get_by_role("region", name="medians").locator("tbody tr")).to_have_count(12)

    opened.get_by_label("Key", exact=True).fill("plant.capacity_mw")
    opened.get_by_label("from", exact=True).fill("3,600")
    opened.get_by_label("to", exact=True).fill("3000")
    opened.get_by_label("steps", exact=True).fill("2")
    opened.get_by_role("button", name="Plan the range").click()
    opened.locator("#screen .fault", has_text="is not a known key").wait_for(timeout=60_000)
    opened.get_by_label("Key", exact=True).fill("plant.installed_capacity_mw")
    opened.get_by_label("steps", exact=True).fill("40")
    opened.get_by_role("button", name="Plan the range").click()
    opened.locator(".busy", has_text="1 whole plan").wait_for(timeout=120_000)
    opened.get_by_role("tab", name="Start").click()  # how far it is, and its end, are in sight there, too
    opened.get_by_role("button", name="Cancel").click()
    opened.locator("#state", has_text=re.compile(r"cancelled: \d+ whole plans? in batch")).wait_for()
    opened.get_by_role("tab", name="Compare").click()
    opened.get_by_role("checkbox", name="compare batch/base").wait_for()

    opened.get_by_text(
        "It starts from xiaowan with the changes of the Plan screen (plant.installed_capacity_mw)"
    ).wait_for()
    opened.get_by_text("Such as plant.installed_capacity_mw from 3400 to 4200 in 5 steps").wait_for()
    opened.get_by_label("Name of the batch").fill("two")
    opened.get_by_label("Key", exact=True).fill("plant.installed_capacity_mw")
    opened.get_by_label("from", exact=True).fill("3,600")
    opened.get_by_label("to", exact=True).fill("3000")
    opened.get_by_label("steps", exact=True).fill("2")
    opened.get_by_role("button", name="Plan the range").click()
    shown = "--reservoir two.toml --vary plant.installed_capacity_mw=3600:3000:2"
    opened.locator("code", has_text=shown).wait_for(timeout=120_000)
    opened.get_by_role("radio", name="two/base is the base", checked=True).wait_for()
    plans.filter(has_text="installed_capacity_mw-3000").wait_for()
    expect(plans).to_have_count(3)

    narrow(opened)
    plans.filter(has_text="installed_capacity_mw-3000").get_by_role("button").click()
    opened.get_by_role("tab", name="Plan", selected=True).wait_for(timeout=60_000)
    assert desk.opened.case.base.installed_mw == 3000
    desk.open(("--case", "xiaowan"), lambda *_: None)  # as the other tests expect it
