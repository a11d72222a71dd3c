"""The Start screen in a browser: a newcomer drops two files, gives what nobody gave, and has a plan."""

from __future__ import annotations

import pytest

from tests.page.conftest import expect, narrow, quiet
from tests.page.test_start import LEVELS, RECORD

pytestmark = pytest.mark.timeout(300)


def told(window, text: str) -> None:
    """Wait until the status says a text."""
    window.locator("#state", has_text=text).wait_for()


def file(name: str, text: str) -> dict[str, object]:
    """A file to drop."""
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


def test_two_files_become_a_plan_and_a_bundled_case_is_opened(served, opened):
    opened.get_by_role("tab", name="Start").click()
    opened.get_by_text("synthetic inflow, not the historical record").first.wait_for()
    levels, record = opened.get_by_label("Levels, storages and areas"), opened.get_by_label("Record of inflow")
    levels.set_input_files(file("流量.csv", RECORD))
    opened.get_by_text("no header names a level and a storage").wait_for()
    opened.get_by_text("Or paste columns, or type them").first.click()
    pasted = opened.get_by_label("Columns with their names").first
    pasted.fill(LEVELS)
    pasted.press("Tab")
    opened.get_by_text("storage 1000 to 131900 acre-ft").wait_for()
    told(opened, "now the record of inflow")
    record.set_input_files(file("流量.csv", RECORD))
    told(opened, "13 still to be given or kept")

    opened.get_by_label("Unit of the inflow").fill("cfs")
    full = opened.get_by_label("the full (maximum) storage", exact=True)
    full.fill("1500")
    opened.get_by_label("unit of the full (maximum) storage").select_option("ft (level)")
    opened.get_by_text("expected 1300 to 1410 ft").wait_for()
    expect(full).to_have_attribute("aria-invalid", "true")
    full.fill("1,400")
    full.press("Tab")
    opened.get_by_text("no thousands separator").wait_for()
    opened.get_by_label("the constant level below the dam", exact=True).fill("360")
    opened.get_by_role("button", name="Plan it").click()
    told(opened, "nobody gave this number")  # nothing was lost, nothing is planned
    expect(full).to_have_value("1,400")
    full.fill("1400")
    full.press("Tab")
    told(opened, "8 still to be given or kept")
    for tick in opened.get_by_label("I keep this assumption").all():
        if tick.is_visible():
            tick.check()
    told(opened, "all is given")

    try:
        narrow(opened)
        opened.set_viewport_size({"width": 1400, "height": 1000})
        opened.get_by_role("button", name="Plan it").click()
        opened.locator("#title", has_text="levels, 10 years").wait_for(timeout=120_000)
        assert served.desk.opened.case.base.name == "levels"
        opened.get_by_role("tab", name="Start").click()
        expect(opened.get_by_label("the full (maximum) storage", exact=True)).to_have_value("1400")
        expect(pasted).to_have_value(LEVELS)
        opened.get_by_role("button", name="xiaowan", exact=True).click()
        opened.locator("#title", has_text="62 years").wait_for(timeout=120_000)
    finally:
        if served.desk.opened.case.words != ("--case", "xiaowan"):
            served.desk.open(["--case", "xiaowan"], quiet)
