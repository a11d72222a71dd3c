"""What a page does with the hand, and whether it saves what its command makes.

``python -m tests.measure_page drag [WORDS OF A CASE]``: a limit is dragged for three seconds in Chromium, a move each
50 ms. Told are the milliseconds from a question to the frame that draws its answer, from the release to the checked
plan, and what was sent to the browser.
``python -m tests.measure_page wishes [COUNT]``: random changes of the bundled case are saved by the page, and planned
again by the command that it shows: how many folders have the same files, and how far the energy of previews is off.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.io.plan_folder.saved_plan import read_plan
from tests.page.conftest import BROWSER, desk_of, quiet, serving

#: Keeps when each question was asked, and when the frame after its answer was drawn.
_SPY = """
window.asked = {}; window.drawn = {preview: [], full: []};
const send = WebSocket.prototype.send, of = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage");
WebSocket.prototype.send = function (text) {
  const {id, kind} = JSON.parse(text);
  asked[id] = [performance.now(), kind];
  return send.call(this, text);
};
Object.defineProperty(WebSocket.prototype, "onmessage", {set(take) {
  of.set.call(this, (event) => {
    take(event);
    const {id, answer} = JSON.parse(event.data), [at, kind] = asked[id] ?? [];
    if (answer) requestAnimationFrame(() => drawn[kind]?.push(performance.now() - at));
  });
}});
"""
_MOVES, _MOVE_MS = 60, 50


def drag(*words: str) -> None:
    """Drag the upper limit of the fifth month down and up again."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory() as folder,
        serving(desk_of(Path(folder) / "page", words or ("--case", "xiaowan"))) as served,
        sync_playwright() as playwright,
    ):
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        window, sent = chromium.new_page(viewport={"width": 1400, "height": 1000}), list[int]()
        window.on("response", lambda answer: answer.status == 200 and sent.append(len(answer.body())))
        window.add_init_script(_SPY)
        window.goto(served.address)
        window.locator("#state", has_text="Checked").wait_for()
        box = window.locator("g.handle.upper").nth(4).locator(".dot").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        window.mouse.move(x, y)
        window.mouse.down()
        for move in range(_MOVES):
            window.mouse.move(x, y + 2 * min(move, _MOVES - move))
            window.wait_for_timeout(_MOVE_MS)
        window.mouse.up()
        window.wait_for_timeout(5000)
        drawn: dict[str, list[float]] = window.evaluate("drawn")
        chromium.close()
    for kind, spent in drawn.items():
        median, most = np.quantile(spent, [0.5, 0.95]) if spent else (np.nan, np.nan)
        print(f"{kind}: {len(spent)} drawn of {_MOVES} moves; median {median:.0f} ms, 95 % {most:.0f} ms")
    print(f"sent to the browser: {sum(sent) / 1e3:.0f} kB")


def random_wish(base: Any, random: np.random.Generator) -> dict[str, Any]:
    """Some of: a lower limit of a month, another capacity, least release or demand, other ends of the year."""
    wish: dict[str, Any] = {}
    if random.random() < 0.8:
        upper, month = base.storage_upper_hm3.copy(), random.integers(11)
        upper[month] -= 0.3 * random.random() * (upper[month] - base.storage_lower_hm3[month])
        wish["storage.upper_hm3"] = upper.round(1).tolist()
    for key, chance, least, most in (
        ("plant.installed_capacity_mw", 0.5, 2500, 5000),
        ("release.lower_m3s", 0.4, 100, 500),
        ("plant.power_lower_mw", 0.3, 50, 500),
    ):
        if random.random() < chance:
            wish[key] = int(random.integers(least, most))
    if random.random() < 0.3:
        wish["storage.initial_hm3"] = wish["storage.final_hm3"] = int(random.integers(9000, 14000))
    return wish


def wishes(count: str = "20") -> None:
    """Save random wishes, and plan each again by the command that the page shows."""
    random, same, off, spent = np.random.default_rng(46), 0, list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        desk = desk_of(Path(folder) / "page")
        for number in range(int(count)):
            name, wish, began = f"wish-{number}", random_wish(desk.opened.case.base, random), time.perf_counter()
            answer = desk.answer({"kind": "save", "name": name, "wish": wish}, quiet)
            spent.append(time.perf_counter() - began)
            words = shlex.split(answer["command"])[1:]
            words[words.index("--out") + 1] = f"again-{number}"
            subprocess.run([sys.executable, "-m", "reservoir", *words], cwd=desk.workspace.folder, capture_output=True)
            folders = [desk.workspace.path(each) for each in (name, f"again-{number}")]
            made, again = (json.loads((each / "plan.json").read_text("utf-8")) for each in folders)
            same += made["files"] == again["files"] and made["figures"] == again["figures"]
            saved = read_plan(folders[0]).plan.energy_gwh.sum()
            off += [abs(float(desk.opened.session.preview(wish).energy_gwh.sum() / saved) - 1)]
    print(f"{same} of {count} saved folders have the files of the command; saved in {np.median(spent):.1f} s (median)")
    print(f"energy of previews against the saved plans: {max(off):.1e} at most")


if __name__ == "__main__":
    {"drag": drag, "wishes": wishes}[sys.argv[1]](*sys.argv[2:])
