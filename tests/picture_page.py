"""The pictures of docs/how-to/page.md: ``python -m tests.picture_page``, with the page and Chromium installed."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.page.conftest import BROWSER, desk_of, serving

FOLDER = Path(__file__).parent.parent / "docs" / "_static"
EXAMPLE = Path(__file__).parent.parent / "docs" / "own-reservoir"


def main() -> None:
    """Draw all of them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(desk_of(Path(folder) / "page")) as served,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        window = chromium.new_page(viewport={"width": 1200, "height": 800})
        window.set_default_timeout(120_000)
        window.goto(served.address)
        for name, prepare in PICTURES.items():
            prepare(window)
            window.screenshot(path=FOLDER / f"page-{name}.png")
        chromium.close()


def prepare_plan(window: Any) -> None:
    """The upper limit of May, lower than in the base."""
    window.locator("#state", has_text="Checked").wait_for()
    handle = window.get_by_role("slider", name="upper storage limit at the end of May")
    handle.focus()
    for _ in range(4):
        handle.press("PageDown")
    window.locator("aside table", has_text="less").first.wait_for()
    window.locator("#state", has_text="Checked").wait_for()


def prepare_tradeoff(window: Any) -> None:
    """A front of seven points."""
    window.get_by_role("tab", name="Trade off").click()
    window.get_by_label("Points").fill("7")
    window.get_by_role("button", name="Find the front").click()
    window.locator("#state", has_text="Found in").wait_for()
    window.wait_for_timeout(500)


def prepare_operate(window: Any) -> None:
    """Three rules of a plan that is saved for it."""
    window.get_by_role("tab", name="Plan").click()
    window.get_by_label("Name of the plan").fill("lower-may")
    window.get_by_role("button", name="Save", exact=True).click()
    window.locator("#state", has_text="Saved in").wait_for()
    window.get_by_role("tab", name="Operate").click()
    for box in window.get_by_role("checkbox").all():
        box.uncheck()
    for family in ("linear", "zones", "water-value"):
        window.get_by_role("checkbox", name=re.compile(f"^{family}:")).check()
    window.get_by_role("button", name="Fit these rules").click()
    window.locator("#state", has_text=re.compile("Advice|Fitted")).wait_for()
    window.wait_for_timeout(1000)


def prepare_start(window: Any) -> None:
    """The example of the documentation, as a newcomer drops it."""
    window.get_by_role("tab", name="Start").click()
    window.get_by_label("Levels, storages and areas").set_input_files(EXAMPLE / "levels.csv")
    window.get_by_label("Record of inflow").set_input_files(EXAMPLE / "inflow.csv")
    window.locator("#state", has_text="to be given or kept").wait_for()
    window.wait_for_timeout(500)


PICTURES = {"plan": prepare_plan, "tradeoff": prepare_tradeoff, "operate": prepare_operate, "start": prepare_start}

if __name__ == "__main__":
    main()
