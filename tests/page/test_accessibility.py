"""Every screen keeps the rules of accessibility that axe-core 4.14.1 knows (WCAG 2.1, A and AA); the end is told.

axe-core (MPL 2.0) lies in ``vendor`` for this test alone.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.page.conftest import desk_of, expect, serving, window_on

pytestmark = pytest.mark.timeout(300)
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
RULES = "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})"
SCREENS = ("Plan", "Start", "Compare", "Trade off", "Operate")


def test_every_screen_keeps_the_rules_of_accessibility(opened):
    opened.locator("#state", has_text="Checked").wait_for()
    opened.evaluate(AXE.read_text("utf-8"))
    for name in SCREENS:
        opened.get_by_role("tab", name=name).click()
        opened.wait_for_timeout(1000)
        opened.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        found = opened.evaluate(RULES)
        assert len(found["passes"]) > 15
        assert [(name, each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []


def test_every_handle_is_a_slider_with_a_name_and_a_value_in_words(opened):
    sliders = opened.get_by_role("slider")
    sliders.first.wait_for()
    expect(sliders).to_have_count(24)
    names = {each.get_attribute("aria-label") for each in sliders.all()}
    assert len(names) == 24
    assert "lower storage limit at the end of Dec" in names
    expect(sliders.first).to_have_attribute("aria-valuetext", re.compile(" hm³$"))
    twins = opened.locator("input[data-side]")
    expect(twins).to_have_count(24)


def test_the_end_of_the_program_is_told(browser, tmp_path):
    with ExitStack() as page:
        served = page.enter_context(serving(desk_of(tmp_path / "page", ())))
        with window_on(served, browser) as window:
            window.get_by_role("tab", name="Start", selected=True).wait_for()
            page.close()
            window.locator("#state", has_text="The program has ended").wait_for()
