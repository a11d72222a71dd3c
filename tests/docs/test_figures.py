"""Measured figures in README and documentation agree with the committed reports that their pages name.

A figure has a source if a table or text of a report that its page names has a number that rounds to it. Of figures that
were changed at random, four of five are found so: the others fit another number of the report.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.docs.documents import PAGES, ROOT, name_of

REPORTS = ROOT / "reports"
#: Pages with measurements that name no report.
MEASURED = ("docs/benchmarks/cascade.md", "docs/how-to/devices.md", "docs/what-was-missed.md")
#: Figures without a source, by page: what the reports do not hold, and numbers that are settings; of what was missed,
#: goals and what development measured on the way. Lower a number when a report holds more; README has none.
WITHOUT_SOURCE = {
    "docs/how-to/devices.md": 4,
    "docs/mathematics/deviations.md": 2,
    "docs/tutorial.md": 1,
}
#: What tells results in words and tables; measurements of single runs beside them would fit any figure.
_TOLD = (".md", ".txt")
#: Tables of rules, which no page of a report tells.
_SCORES = ("scores.csv", "robustness.csv")
#: Versions are no figures.
_VERSION = re.compile(r"(Python|PoCL|driver) \d[\w.-]*")
_NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|\.\d)")
_REPORT = re.compile(r"reports/([\w-]+)")
_CELL = re.compile(r"[\s*`\d.,e<>≤≥%+−–-]+")


def figures_of(text: str) -> Iterator[str]:
    """Numbers of a page that may be measured: in cells that hold nothing else, and in sentences those with decimals."""
    text = _VERSION.sub("", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell for cell in line.strip("|").split("|") if _CELL.fullmatch(cell)]
            yield from (each for cell in cells for each in _NUMBER.findall(cell) if re.search(r"[.e]|\d{3}", each))
        elif not line.startswith("#"):
            yield from (each for each in _NUMBER.findall(line) if re.search(r"\.|e", each))


def as_written(value: float, figure: str) -> bool:
    """Whether a value rounds to a figure, by its significant digits or by its decimals."""
    mantissa = figure.split("e")[0]
    digits = len(mantissa.replace(".", "").lstrip("0")) or 1
    decimals = len(mantissa.partition(".")[2])
    told = float(figure)
    return told == float(f"{value:.{digits}g}") or ("e" not in figure and told == round(value, decimals))


@cache
def values_of(report: str) -> frozenset[float]:
    """Numbers of a report: what its tables and texts tell, and scores of rules also in percent."""
    folder = REPORTS / report
    told = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.suffix in _TOLD]
    values = {float(each.replace(",", "")) for text in told for each in _NUMBER.findall(text)}
    for path in (folder / name for name in _SCORES if (folder / name).exists()):
        scores = {float(each) for each in _NUMBER.findall(path.read_text(encoding="utf-8").replace(",", " "))}
        values |= scores | {100 * each for each in scores}
    return frozenset(values)


def without_source(text: str) -> list[str]:
    """Figures of a page that no report has that it names."""
    values = {value for report in set(_REPORT.findall(text)) for value in values_of(report)}
    figures = (figure.replace(",", "") for figure in figures_of(text))
    return [figure for figure in figures if not any(as_written(value, figure) for value in values)]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if name_of(page) in MEASURED or _REPORT.search(page.read_text())], ids=name_of
)
def test_measured_figures_of_a_page_stand_in_the_reports_that_it_names(page):
    found = without_source(page.read_text(encoding="utf-8"))
    assert len(found) == WITHOUT_SOURCE.get(name_of(page), 0), found


def test_the_readme_has_no_figure_without_a_source():
    assert "README.md" not in WITHOUT_SOURCE


def test_a_changed_figure_and_one_of_no_report_are_found():
    text = "`reports/acceptance-gpu` | names it\n\n| solver | gap |\n|---|---|\n| a | {} |\n"
    assert without_source(text.format("4.1e-5")) == []
    assert without_source(text.format("6.9e-5")) == ["6.9e-5"]
    assert without_source("It takes 0.63 s.") == ["0.63"]
