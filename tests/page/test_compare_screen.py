"""The Compare screen in a browser: a base is chosen, a range is planned, and a row opens its plan."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.timeout(300)


def test_plans_are_compared_a_range_is_planned_and_a_row_opens_its_plan(opened, served):
    desk, folder = served.desk, served.desk.workspace.folder
    desk.opened.plan.save(folder / "first", figures=False)
    desk.opened.session.plan({"plant.installed_capacity_mw": 3000}).save(folder / "lower", figures=False)
    opened.get_by_role("tab", name="Compare").click()
    opened.get_by_role("radio", name="first is the base").check()
    opened.get_by_role("checkbox", name="compare lower").check()
    differs = opened.get_by_role("region", name="What differs in the inputs")
    assert differs.locator("tbody tr").first.text_content().startswith("lowerplant.installed_capacity_mw")
    plans = opened.get_by_role("region", name="What the plans come to").locator("tbody tr")
    assert plans.count() >= 2
    assert "−" in plans.filter(has_text="lower").text_content()
    assert opened.locator("#screen canvas").count() >= 2
    opened.get_by_text("Medians as a table").click()
    assert opened.get_by_role("region", name="medians").locator("tbody tr").count() == 12

    opened.get_by_label("Key", exact=True).fill("plant.capacity_mw")
    opened.get_by_label("from", exact=True).fill("3,600")
    opened.get_by_label("to", exact=True).fill("3000")
    opened.get_by_label("steps", exact=True).fill("2")
    opened.get_by_role("button", name="Plan the range").click()
    opened.locator("#screen .fault", has_text="is not a known key").wait_for(timeout=60_000)
    opened.get_by_label("Key", exact=True).fill("plant.installed_capacity_mw")
    opened.get_by_role("button", name="Plan the range").click()
    opened.locator("code", has_text="--vary plant.installed_capacity_mw=3600:3000:2").wait_for(timeout=120_000)
    opened.get_by_role("radio", name="batch/base is the base", checked=True).wait_for()
    plans.filter(has_text="installed_capacity_mw-3000").wait_for()
    assert plans.count() == 3

    opened.set_viewport_size({"width": 400, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 400
    plans.filter(has_text="installed_capacity_mw-3000").get_by_role("button").click()
    opened.get_by_role("tab", name="Plan", selected=True).wait_for(timeout=60_000)
    assert desk.opened.case.base.installed_mw == 3000
    desk.open(("--case", "xiaowan"), lambda *_: None)  # as the other tests expect it
