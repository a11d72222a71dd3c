"""The report in a real browser, opened from a file: nothing is asked of a network, and it fits a phone."""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from reservoir.io.plan_folder.files import PROVENANCE
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.report.folder import write_plan
from reservoir.report.rules_folder import write_rules
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.findings import rules_checks

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)
#: Widths in pixels; paper is what the margins of A4 leave of it.
PHONE, DESK, PAPER = 390, 1240, 680
NAME, CAVEAT = "<b>x</b>", "<i>made up</i> & <script>alert(1)</script>"

# A window cannot be as narrow as a phone, a frame can. What is measured goes where a dumped page shows it.
FRAME = """<!DOCTYPE html><html><head></head><body>
<iframe id="screen" style="width: {width}px; height: 900px; border: 0" srcdoc="{page}"></iframe><script>
addEventListener("load", () => {{
  const frame = document.getElementById("screen").contentWindow, page = frame.document, root = page.documentElement;
  const all = (names) => [...page.querySelectorAll(names)];
  const right = (each) => each.getBoundingClientRect().right;
  const letters = (each) => parseFloat(frame.getComputedStyle(each).fontSize);
  Object.assign(document.documentElement.dataset, {{
    inner: frame.innerWidth,
    scroll: Math.max(root.scrollWidth, page.body.scrollWidth),
    requests: frame.performance.getEntriesByType("resource").length,
    clipped: all("h1, h2, h3, p, li, dt, dd, figcaption, caption span").filter((each) => right(each) > {width}).length,
    letters: Math.min(...all("p, li, dt, dd, td, th, figcaption").map(letters)),
    drawn: Math.min(...all("figure svg").map((each) => each.getBoundingClientRect().width)),
    scores: Math.max(0, ...all("#rules-energy table, #rules-service table, #rules-limits table").map(
      (each) => right(each) - right(each.parentElement))),
    narrow: Math.max(...all("table.narrow").map((each) => right(each) - right(each.parentElement))),
  }});
}});
</script></body></html>"""

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium on this machine")


@pytest.fixture(scope="module", params=["plan", "rules"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a plan, and that of rules whose user writes markup."""
    folder = tmp_path_factory.mktemp(request.param) / "plan"
    if request.param == "plan":
        plan: Plan = request.getfixturevalue("plan")
        write_plan(plan, folder, plan_checks(plan))
        return folder / "report.html"
    evaluation = with_markup(request.getfixturevalue("evaluation"))
    write_plan(evaluation.plan, folder, plan_checks(evaluation.plan))
    saved = SavedPlan(folder, evaluation.plan, json.loads((folder / PROVENANCE).read_text(encoding="utf-8")))
    write_rules(evaluation, saved, rules_checks(evaluation))
    return folder / "rules.html"


def with_markup(evaluation: Evaluation) -> Evaluation:
    plan = evaluation.plan
    named = replace(plan.reservoir, name=NAME, description=NAME)
    return replace(evaluation, plan=replace(plan, reservoir=named, inflow=replace(plan.inflow, caveat=CAVEAT)))


def has_rules(report: Path) -> bool:
    return (report.parent / "rules").exists()


def browse(page: Path, profile: Path, *options: str, width: int = DESK) -> subprocess.CompletedProcess[str]:
    command = [BROWSER, *OPTIONS, f"--user-data-dir={profile}", f"--window-size={width},900", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def measured(report: Path, folder: Path, width: int, *, printed: bool = False) -> dict[str, float]:
    """Measure the report on a screen of this width, or as it is printed."""
    outside = folder / "frame.html"
    page = report.read_text(encoding="utf-8")
    shown = page.replace("@media print", "@media all") if printed else page
    outside.write_text(FRAME.format(width=width, page=html.escape(shown)), encoding="utf-8")
    dumped = browse(outside, folder / "profile", "--dump-dom", width=DESK + 100).stdout
    return {name: float(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', dumped[: dumped.index("<head>")])}


def test_the_browser_finds_tables_and_figures_and_has_nothing_to_complain_of(report: Path, tmp_path: Path):
    finished = browse(report, tmp_path / "profile", "--dump-dom")
    tables, figures = (7, 8) if has_rules(report) else (3, 4)
    assert finished.stdout.count("<table") == tables
    assert finished.stdout.count("<svg") == finished.stdout.count("<figcaption") == figures
    assert "CONSOLE" not in finished.stderr
    if has_rules(report):
        assert html.escape(NAME) in finished.stdout
        assert html.escape(CAVEAT, quote=False) in finished.stdout
    assert not re.search("<(b|i|script)>", finished.stdout)


def test_a_page_that_does_complain_would_be_noticed(report: Path, tmp_path: Path):
    page = report.read_text(encoding="utf-8").replace("</body>", "<script>alert(1)</script></body>")
    broken = tmp_path / "broken.html"
    broken.write_text(page, encoding="utf-8")
    finished = browse(broken, tmp_path / "profile", "--dump-dom")
    assert "CONSOLE" in finished.stderr
    assert "Content Security Policy" in finished.stderr


def test_the_network_is_never_asked(report: Path, tmp_path: Path):
    log = tmp_path / "net.json"
    browse(report, tmp_path / "profile", "--dump-dom", f"--log-net-log={log}")
    asked = set(re.findall(r'"url":"([^"]*)"', log.read_text(encoding="utf-8")))
    assert not [url for url in asked if report.name not in url and url.startswith(("file:", "ftp:"))]
    own = [url for url in asked if not re.search(r"google|gstatic|chrome|localhost", url)]
    assert all(url.startswith(("file:", "data:", "about:")) for url in own), own


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_page_never_scrolls_sideways_and_can_be_read(report: Path, tmp_path: Path, width: int):
    found = measured(report, tmp_path, width)
    assert found["inner"] == width
    assert found["scroll"] <= width
    assert found["requests"] == 0
    assert found["clipped"] == 0
    assert found["letters"] >= 12
    assert found["drawn"] >= 600  # at this width the letters in a figure are about 10 pixels high
    assert found["narrow"] <= 0  # tables of few columns need no moving sideways
    assert width == PHONE or found["scores"] <= 0  # on a desk those of the rules do not either


def test_nothing_is_cut_off_on_paper(report: Path, tmp_path: Path):
    found = measured(report, tmp_path, PAPER, printed=True)
    assert found["inner"] == PAPER
    assert found["scroll"] <= PAPER
    assert found["clipped"] == 0
    assert found["letters"] >= 11  # 8.3 points
    assert found["drawn"] >= 600


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_a_picture_of_the_page_is_as_wide_as_the_screen(report: Path, tmp_path: Path, width: int):
    picture = tmp_path / "page.png"
    browse(report, tmp_path / "profile", f"--screenshot={picture}", width=width)
    assert struct.unpack(">I", picture.read_bytes()[16:20]) == (width,)


def test_it_prints_on_pages(report: Path, tmp_path: Path):
    printed = tmp_path / "page.pdf"
    browse(report, tmp_path / "profile", f"--print-to-pdf={printed}", "--no-pdf-header-footer")
    content = printed.read_bytes()
    assert content.startswith(b"%PDF")
    # A4 in points, as the page's own style asks for.
    assert re.search(rb"/MediaBox \[0 0 59[45][.\d]* 84[12][.\d]*\]", content)
