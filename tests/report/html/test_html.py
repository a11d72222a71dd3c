"""The report: complete, escaped, self-contained, and the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.unit_system import SI
from reservoir.planning.checks import plan_checks
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import shortfall_months, shortfalls_by_kind
from reservoir.report.figures.figures import plan_captions, save_figures
from reservoir.report.folder import provenance, write_plan
from reservoir.report.html.page import read_pictures
from reservoir.report.html.plan_page import TITLES, plan_report, plan_sections
from reservoir.report.html.tables import number, yearly_table

NAMES = ("storage-fan", "typical-years", "convergence", "annual-energy")
TABLES = ("acceptance-table", "monthly-table", "yearly-table")
CREATED = "2020-01-01T00:00:00+00:00"
ATTACK = "<script>alert(1)</script>"
VOID = {"meta", "link", "img", "br", "hr", "input"}

Report = Callable[..., str]


class Structure(HTMLParser):
    """Elements and texts of a page; every element that is opened must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def words(self, *tags: str) -> str:
        return " ".join(text for tag, text in self.texts if not tags or tag in tags)


@pytest.fixture(scope="module")
def drawn(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    save_figures(plan, folder)
    return folder


def report_of(plan: Plan, figures: Path | None = None) -> str:
    checks = plan_checks(plan)
    pictures = read_pictures(figures, TITLES, plan_captions(plan)) if figures else []
    return plan_report(plan, checks, {**provenance(plan, checks), "created": CREATED}, pictures)


@pytest.fixture(scope="module")
def page(plan: Plan, drawn: Path) -> str:
    return report_of(plan, drawn)


@pytest.fixture(scope="module")
def structure(page: str) -> Structure:
    return Structure(page)


@pytest.fixture(scope="module")
def failing() -> Plan:
    """One good year, and many years with far too little water."""
    reservoir = package.bundled_case().reservoir()
    years = 27
    flows = np.full((years, 12), 40.0)
    flows[0] = 1200
    inflow = Inflow(flow_m3s=flows, calendar=Calendar(1953, years, 1))
    return package.optimise(reservoir, inflow, solver="clpso-sequential", generations=20, particles=8)


def test_the_page_says_its_language_and_fits_a_phone(structure: Structure):
    assert structure.all("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in structure.all("meta")


def test_all_figures_are_there_with_a_name_and_how_to_read_them(plan: Plan, structure: Structure):
    assert tuple(figure["id"] for figure in structure.all("figure")) == NAMES
    captions = plan_captions(plan)
    for name, drawing in zip(NAMES, structure.all("svg"), strict=True):
        assert drawing["role"] == "img"
        assert drawing["aria-label"] == TITLES[name]
        assert drawing["aria-describedby"] == f"{name}-caption"
        assert captions[name] in structure.words("figcaption")


def test_all_tables_are_there_with_captions_and_scopes(structure: Structure):
    assert tuple(table["id"] for table in structure.all("table")) == TABLES
    assert len(structure.all("caption")) == len(TABLES)
    assert {head.get("scope") for head in structure.all("th")} == {"col", "row"}


def test_every_year_month_and_check_has_its_row(plan: Plan, structure: Structure):
    heads = [text for tag, text in structure.texts if tag == "th"]
    checks = [check.in_units(SI).check for check in plan_checks(plan)]
    assert [head for head in heads if head in checks] == checks
    for name in (*plan.inflow.labels, *plan.inflow.calendar.step_names):
        assert heads.count(name) == 1


def test_the_months_stand_in_the_order_of_the_water_year(june_plan: Plan):
    sections = {section.name: section for section in plan_sections(june_plan, [], provenance(june_plan, []), [])}
    (table,) = sections["months"].tables
    assert [row[0] for row in table.rows] == list(june_plan.inflow.calendar.step_names)
    flows = np.median(june_plan.inflow.flow_m3s, axis=0)
    assert [row[1] for row in table.rows] == [f"{flow:,.0f}" for flow in flows]


def test_caveats_and_notes_come_before_any_number(plan: Plan):
    said = replace(plan, notes=("a note on this plan",))
    page = report_of(said)
    for text in ("Inflow made up for a test", "not measured", "A note on this plan"):
        assert 0 < page.index(text) < page.index('<dl class="key">')


def test_provenance_tells_versions_settings_and_time(structure: Structure):
    words = structure.words("dd")
    for text in (CREATED, f"reservoir {package.__version__}", "numpy ", "generations 50", "seed 1", "SHA-256 "):
        assert text in words


def test_names_occur_once_and_links_lead_somewhere(page: str, structure: Structure):
    names = [attributes["id"] for _, attributes in structure.elements if "id" in attributes]
    assert len(names) == len(set(names))
    pointers = [attributes["href"] for _, attributes in structure.elements if "href" in attributes]
    pointers += re.findall(r"url\(([^)]*)\)", page)
    pointers += [f"#{value}" for key in ("aria-labelledby", "aria-describedby") for value in values(structure, key)]
    assert len(pointers) > 100
    assert {pointer[1:] for pointer in pointers} <= set(names)
    assert all(pointer.startswith("#") for pointer in pointers)


def values(structure: Structure, key: str) -> list[Any]:
    return [attributes[key] for _, attributes in structure.elements if key in attributes]


def test_nothing_outside_the_file_is_asked_for(page: str, structure: Structure):
    assert not re.search(r"https?:|//[a-z]|src=|@import|srcset", page)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in structure.elements}


@pytest.mark.parametrize("field", ["name", "description", "caveat"])
def test_what_users_write_is_text_and_never_markup(plan: Plan, field: str, tmp_path: Path):
    reservoir = replace(plan.reservoir, **{field: f"{ATTACK} & \"{field}'"})
    attacked = replace(plan, reservoir=reservoir, notes=(ATTACK,))
    save_figures(attacked, tmp_path)
    page = report_of(attacked, tmp_path)
    structure = Structure(page)
    assert not structure.all("script")
    assert f"{ATTACK} & \"{field}'" in structure.words()
    assert "<script" not in page


def test_file_names_are_text_too(plan: Plan):
    named = replace(plan, inflow=replace(plan.inflow, source=f"folder/{ATTACK[:8]}.csv", sha256="0" * 64))
    structure = Structure(report_of(named))
    assert f"{ATTACK[:8]}.csv, SHA-256 {'0' * 64}" in structure.words("dd")
    assert "folder" not in structure.words("dd")


def test_the_same_plan_and_provenance_give_the_same_bytes(plan: Plan, page: str, tmp_path: Path):
    save_figures(plan, tmp_path)
    assert report_of(plan, tmp_path) == page


def test_without_figures_the_rest_is_there(plan: Plan):
    structure = Structure(report_of(plan))
    assert not structure.all("figure")
    assert "#figures" not in [link["href"] for link in structure.all("a")]
    assert tuple(table["id"] for table in structure.all("table")) == TABLES


def test_a_plan_that_keeps_its_bounds_tells_of_no_shortfall(plan: Plan, structure: Structure):
    assert "shortfalls" not in [section["id"] for section in structure.all("section")]
    assert not yearly_table(plan).marked


def test_bounds_that_are_not_kept_are_named_first_and_counted(failing: Plan):
    sentences = shortfalls_by_kind(failing)
    assert len(sentences) <= 4 < 24 < shortfall_months(failing)
    structure = Structure(report_of(failing))
    items = [text for tag, text in structure.texts if tag == "li"]
    assert [item for item in items if item in sentences] == sentences
    assert "plan.json lists every month." in items
    assert structure.all("section")[0]["id"] == "shortfalls"
    cells = [text for tag, text in structure.texts if tag == "td"]
    assert "NO" not in cells  # no schedule keeps them: that is found, and does not fail
    (found,) = [each for each in plan_checks(failing) if "that no schedule can keep" in each.check]
    assert (found.value, found.passed) == (failing.inflow.years - 1, None)
    assert found.check in [text for _, text in structure.texts]
    assert yearly_table(failing).marked == set(range(1, failing.inflow.years))
    assert len([row for row in structure.all("tr") if row.get("class") == "marked"]) == failing.inflow.years - 1


def test_a_plan_without_a_reference_has_no_column_of_gaps(make_plan: Callable[..., Plan]):
    words = Structure(report_of(make_plan(2, reference=False))).words()
    assert "Gap" not in words.split()
    assert "nan" not in words.split()


def test_a_plan_of_one_year_has_its_report(one_year: Plan):
    words = Structure(report_of(one_year)).words("h1", "dd")
    assert "1953" in words
    assert "1 years" not in words


def test_a_page_beside_it_is_a_link_away(plan: Plan):
    checks = plan_checks(plan)
    page = plan_report(plan, checks, provenance(plan, checks), [], (("Operation rules", "rules.html"),))
    assert Structure(page).all("a")[-1]["href"] == "rules.html"
    assert "rules.html" not in report_of(plan)


@pytest.mark.parametrize("figures", [True, False])
def test_the_report_stands_beside_the_tables(plan: Plan, tmp_path: Path, figures: bool):
    folder = write_plan(plan, tmp_path / "out", plan_checks(plan), figures=figures)
    structure = Structure((folder / "report.html").read_text(encoding="utf-8"))
    assert (folder / "schedule.csv").is_file()
    assert len(structure.all("svg")) == (len(NAMES) if figures else 0)


@pytest.mark.parametrize(
    ("value", "form", "written"),
    [
        (-1.2e-6, "{:.1e}", "−1.2e−06"),
        (0.0, "{:.1e}", "0"),
        (-0.0, "{:.1f}", "0.0"),
        (-0.04, "{:.1f}", "0.0"),
        (12345.6, "{:,.0f}", "12,346"),
        (float("nan"), "{:.1e}", "–"),
    ],
)
def test_numbers_are_written_for_reading(value: float, form: str, written: str):
    assert number(value, form) == written
