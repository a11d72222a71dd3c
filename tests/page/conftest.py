"""A page that is served in a thread, and a browser on it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reservoir.cli.page import read_case
from reservoir.page.desk import Desk
from reservoir.page.workspace import Workspace

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def quiet(stage: str, done: float, total: int | None) -> None:
    """Whom nothing interests."""


def desk_of(folder: Path, words: tuple[str, ...] = ("--case", "xiaowan")) -> Desk:
    """A desk in a folder, with a case open if there are words."""
    workspace = Workspace(folder)
    desk = Desk(workspace, partial(read_case, workspace.folder))
    if words:
        desk.open(words, quiet)
    return desk


@dataclass
class Served:
    """A page that is served: its desk and its address with the token."""

    desk: Desk
    address: str


@contextmanager
def serving(desk: Desk) -> Iterator[Served]:
    """A page on a desk, in a thread of this process."""
    pytest.importorskip("uvicorn", reason="the page's server (pip install 'reservoir[page]') is not installed")
    from reservoir.page import server

    addresses: list[str] = []
    known = threading.Event()

    def opened(address: str) -> None:
        addresses.append(address)
        known.set()

    running: list[Any] = []
    how = {"kwargs": {"started": running.append}, "daemon": True}
    thread = threading.Thread(target=server.serve, args=(desk, 0, opened), **how)
    thread.start()
    assert known.wait(60)
    try:
        yield Served(desk, addresses[0])
    finally:
        running[0].should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    """The bundled case on a page."""
    with serving(desk_of(tmp_path_factory.mktemp("page"))) as page:
        yield page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, without a window."""
    if BROWSER is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as started:
        playwright.expect.set_options(timeout=120_000)  # a machine that does much else takes its time
        chromium = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield chromium
        chromium.close()


def expect(what: Any) -> Any:
    """What must come to be of a page or of a part of it: an assertion that waits, where a look at once would race."""
    from playwright.sync_api import expect

    return expect(what)


@contextmanager
def window_on(served: Served, browser: Any) -> Iterator[Any]:
    """A window of the page, 1400 pixels wide; at its end nothing was said on the console, and nobody else was asked."""
    said: list[str] = []
    asked: list[str] = []
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(120_000)
    window = context.new_page()
    window.on("console", lambda message: said.append(f"{message.type}: {message.text} {message.location}"))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.on("request", lambda request: asked.append(request.url))
    window.goto(served.address)
    window.locator("#tabs [role=tab]").first.wait_for()
    yield window
    context.close()
    assert not said
    own = served.address.split("/?")[0]
    assert all(url.startswith((own, own.replace("http", "ws"), "data:")) for url in asked)


def narrow(window: Any) -> None:
    """Make a window as wide as a phone; nothing scrolls sideways once the charts have followed."""
    window.set_viewport_size({"width": 400, "height": 800})
    for _ in range(50):
        wide = window.evaluate("document.documentElement.scrollWidth")
        if wide <= 400:
            break
        window.wait_for_timeout(100)
    assert wide <= 400


@pytest.fixture
def opened(served, browser) -> Iterator[Any]:
    """A window of the bundled case."""
    with window_on(served, browser) as window:
        yield window
