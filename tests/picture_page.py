"""The pictures of docs/how-to/page.md: ``python -m tests.picture_page``, with the page and Chromium installed."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from queue import Queue
from typing import Any

from playwright.sync_api import sync_playwright

from reservoir.page import server
from tests.page.conftest import BROWSER, desk_of

FOLDER = Path(__file__).parent.parent / "docs" / "_static"
EXAMPLE = Path(__file__).parent.parent / "docs" / "own-reservoir"


def main() -> None:
    """Draw all of them."""
    addresses, servers = Queue[str](), Queue[Any]()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        desk = desk_of(Path(folder) / "page")
        thread = threading.Thread(target=server.serve, args=(desk, 0, addresses.put), kwargs={"started": servers.put})
        thread.start()
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        window = chromium.new_page(viewport={"width": 1200, "height": 800})
        window.goto(addresses.get())
        picture_plan(window)
        window.screenshot(path=FOLDER / "page-plan.png")
        chromium.close()
        servers.get().should_exit = True
        thread.join()


def picture_plan(window: Any) -> None:
    """A lower limit of May, while it is compared with the base."""
    window.locator("#state", has_text="Checked").wait_for()
    handle = window.get_by_role("slider", name="upper storage limit at the end of May")
    handle.focus()
    for _ in range(4):
        handle.press("PageDown")
    window.locator("aside table", has_text="less").first.wait_for()
    window.locator("#state", has_text="Checked").wait_for()


if __name__ == "__main__":
    main()
