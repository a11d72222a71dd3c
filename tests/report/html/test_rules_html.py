"""The page of a plan's rules: everything that is claimed of a rule is said, and said of the right years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.checks import Check, plan_checks
from reservoir.planning.plan import Plan
from reservoir.report.folder import provenance
from reservoir.report.html.page import HtmlTable
from reservoir.report.html.rules_page import rules_report, rules_sections, scores_table
from reservoir.report.rules_folder import rules_provenance
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.evaluation import Evaluation, Sample
from reservoir.rules.findings import best_fitted, rules_checks, shortfalls
from reservoir.rules.scores import SimulationMode
from tests.report.html.test_html import Structure

RULES_TABLES = (
    "energy-continuous",
    "energy-yearly",
    "service-continuous",
    "service-yearly",
    "limits-continuous",
    "limits-yearly",
    "rules-acceptance-table",
)
KINDS = ("energy", "service", "limits")
ATTACK = "<b>x</b>"


def saved_of(plan: Plan) -> SavedPlan:
    """A plan as it is read back, without its files."""
    return SavedPlan(Path("plan"), plan, provenance(plan, plan_checks(plan)) | {"figures": {}})


def report_of(evaluation: Evaluation, checks: Sequence[Check] | None = None) -> str:
    saved = saved_of(evaluation.plan)
    found = rules_checks(evaluation) if checks is None else checks
    return rules_report(evaluation, saved, found, rules_provenance(evaluation, saved, found), [])


def tables_of(evaluation: Evaluation) -> dict[str, HtmlTable]:
    """All scores, before the page leaves out what it has said."""
    return {
        table.name: table
        for mode in evaluation.modes
        for kind in KINDS
        if (table := scores_table(evaluation, mode, kind))
    }


def only(evaluation: Evaluation, *families: str) -> Evaluation:
    return replace(evaluation, families=tuple(each for each in evaluation.families if each.family in families))


@pytest.fixture(scope="module", params=["evaluation", "october_evaluation"])
def any_evaluation(request: pytest.FixtureRequest) -> Evaluation:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def structure(any_evaluation: Evaluation) -> Structure:
    return Structure(report_of(any_evaluation))


def test_provenance_ends_the_page_and_the_plan_is_a_link_away(any_evaluation: Evaluation, structure: Structure):
    names = [section["id"] for section in structure.all("section")]
    warned = ["rules-shortfalls"] if shortfalls(any_evaluation) else []
    rules = [*warned, "rules", "rules-energy", "rules-service", "rules-limits", "rules-findings", "rules-acceptance"]
    assert names == [*rules, "rules-provenance"]
    assert [link["href"] for link in structure.all("a")] == [*(f"#{name}" for name in names), "report.html"]
    assert "Operation rules of" in structure.words("h1")


def test_all_tables_are_there_under_names_of_their_own(structure: Structure):
    shown = [table["id"] for table in structure.all("table")]
    assert shown == [name for name in RULES_TABLES if name in shown]
    assert {*RULES_TABLES[0::2]} <= {*shown}
    names = [attributes["id"] for _, attributes in structure.elements if "id" in attributes]
    assert len(names) == len(set(names))


def test_headings_go_down_one_level_at_a_time(structure: Structure):
    levels = [int(tag[1]) for tag, _ in structure.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) == 1


def test_no_number_is_missing_or_none(structure: Structure):
    words = structure.words().split()
    assert not {"nan", "NaN", "inf", "None", "−0", "-0", "−0.0"} & set(words)


def test_caveats_come_before_any_number(evaluation: Evaluation):
    page = report_of(evaluation)
    for text in ("Inflow made up for a test", "not measured"):
        assert 0 < page.index(text) < page.index('<dl class="key">')


def test_the_best_fitted_family_is_named_with_what_it_makes_of_foresight(
    any_evaluation: Evaluation, structure: Structure
):
    best = best_fitted(any_evaluation)
    assert best is not None
    part = f"{best.runs[SimulationMode.CONTINUOUS, Sample.HELD_OUT].score.percent_of_foresight:.2f} %"
    sentence = f"The best family fitted to the plan is {best.family}: on held-out years {part} of perfect foresight"
    assert sentence in structure.words("p")
    assert part in structure.words("dd")
    assert f"best fitted rule ({best.family})" in structure.words("dt")


def test_the_baselines_are_told_as_such(evaluation: Evaluation):
    words = Structure(report_of(evaluation)).words("p")
    assert "by standard, the weak baseline." in words
    assert "by sdp" not in words
    assert "For comparison" not in Structure(report_of(only(evaluation, "linear"))).words("p")


def test_baselines_alone_are_not_called_the_best(evaluation: Evaluation):
    words = Structure(report_of(only(evaluation, "standard"))).words()
    assert not {"best family", "best fitted"} & {*map(" ".join, pairwise(words.split()))}
    assert "standard" in words


def test_checks_of_the_rules_are_counted_and_failed_ones_marked(evaluation: Evaluation):
    wrong = [*rules_checks(evaluation)[:2], Check("something false", 2.0, 1.0)]
    structure = Structure(report_of(evaluation, wrong))
    assert "2 of 3" in structure.words("dd")
    assert "something false" in structure.words("th")
    assert len([row for row in structure.all("tr") if row.get("class") == "marked"]) >= 1


def test_how_years_were_held_out_is_said(evaluation: Evaluation, october_evaluation: Evaluation):
    for each, said in ((evaluation, "2 blocks of years"), (october_evaluation, "leave one year out")):
        words = Structure(report_of(each)).words("p", "dd")
        assert f"Cross-validation: {said};" in words
        assert words.endswith(said)  # in the provenance too
    assert "blocks" not in Structure(report_of(october_evaluation)).words()


def test_what_the_rules_know_is_said(evaluation: Evaluation, october_evaluation: Evaluation):
    forecast = "its mean inflow (a perfect one-month forecast)"
    assert forecast in Structure(report_of(evaluation)).words("p")
    without = Structure(report_of(october_evaluation))
    assert forecast not in without.words()
    assert "the month, the storage at its start and the inflow of the month before" in without.words("p")


def test_guaranteed_energy_is_called_so_and_nothing_else_is(evaluation: Evaluation, october_evaluation: Evaluation):
    assert "Target: the guaranteed energy of the reservoir, 19,000 GWh" in report_of(evaluation)
    words = Structure(report_of(october_evaluation)).words("p")
    assert october_evaluation.plan.reservoir.guaranteed_energy_gwh is None
    targets = october_evaluation.targets
    assert "Nothing is guaranteed in the reservoir file. Target: firm power: the largest that the standard" in words
    assert f"The stricter target, {targets.firm_95_mw:,.0f} MW, is given in 95 % of the months" in words
    assert f"{targets.annual_gwh:,.0f} GWh per year, or {targets.firm_mw:,.0f} MW in every month" in words


def test_perfect_foresight_heads_the_energies(any_evaluation: Evaluation):
    tables = tables_of(any_evaluation)
    for mode in SimulationMode:
        top = tables[f"energy-{mode}"].rows[0]
        energy = any_evaluation.foresight_benefit(mode)
        assert (*top[:2], top[3]) == ("perfect foresight", "all", "100.00")
        assert float(top[2].replace(",", "")) == pytest.approx(energy.mean(), rel=1e-3)
        assert float(top[4]) == 0
        assert float(top[7].replace(",", "")) == pytest.approx(energy.min(), rel=1e-3)
        spill = any_evaluation.foresights[mode].operation.spill_m3s.ravel()
        volume = any_evaluation.training.hm3_per_m3s.ravel()
        assert float(top[8].replace(",", "")) == pytest.approx(spill @ volume / any_evaluation.training.years, rel=1e-2)
        assert "perfect foresight" not in [row[0] for row in tables[f"service-{mode}"].rows]


def test_every_family_has_a_row_for_the_years_it_knows_and_one_for_those_it_does_not(any_evaluation: Evaluation):
    expected = [(result.family, str(sample)) for result in any_evaluation.families for sample in Sample]
    for table in tables_of(any_evaluation).values():
        rows = [row[:2] for row in table.rows if row[0] != "perfect foresight"]
        assert rows == expected
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_no_row_stands_in_two_tables_and_no_column_says_the_same_in_every_row(any_evaluation: Evaluation):
    full = tables_of(any_evaluation)
    for section in rules_sections(any_evaluation, [], []):
        tables = [table for table in section.tables if table.name in full]
        whole = [set(full[table.name].rows) for table in tables]
        for first, other in combinations(whole, 2):
            assert len(tables[1].rows) == len(other - first)
        for table in tables:
            for place, column in enumerate(table.columns[1:], start=1):
                assert len({row[place] for row in table.rows}) > 1 or len(table.rows) < 2, column


def test_scores_stand_under_their_heads(evaluation: Evaluation):
    tables = tables_of(evaluation)
    score = evaluation.families[1].runs[SimulationMode.YEARLY, Sample.HELD_OUT].score
    energy, service, limits = (
        next(row for row in tables[f"{kind}-yearly"].rows if row[:2] == (score.family, score.sample)) for kind in KINDS
    )
    heads = {kind: [(each.title, each.unit) for each in tables[f"{kind}-yearly"].columns] for kind in KINDS}
    assert energy[heads["energy"].index(("Of foresight", "%"))] == f"{score.percent_of_foresight:.2f}"
    assert energy[heads["energy"].index(("Worst year", "GWh"))] == f"{score.worst:,.0f}"
    assert service[heads["service"].index(("Reliable", "years, %"))] == f"{100 * score.reliability:.1f}"
    assert service[heads["service"].index(("Shortfall", "months, %"))] == f"{100 * score.firm_vulnerability:.1f}"
    assert limits[heads["limits"].index(("Repaired", "months"))] == f"{score.repairs:,}"
    assert limits[heads["limits"].index(("Outside", "months"))] == f"{score.months_violated:,}"


def test_a_target_is_shown_once_where_the_stricter_is_the_same(evaluation: Evaluation):
    """The bundled reservoir guarantees a power; without a guarantee the stricter target is another."""
    assert evaluation.targets.guaranteed
    freely = replace(evaluation, targets=replace(evaluation.targets, firm_95_mw=evaluation.targets.firm_mw / 2))
    for shown, strict in ((evaluation, False), (freely, True)):
        section = next(each for each in rules_sections(shown, [], []) if each.name == "rules-service")
        heads = {(column.title, column.unit) for table in section.tables for column in table.columns}
        assert (("Strict", "months, %") in heads) == strict
        assert ("Strict" in dict(section.facts)) == strict
        assert ("Reliable", "months, %") in heads


def test_every_score_is_explained(any_evaluation: Evaluation):
    sections = {section.name: section for section in rules_sections(any_evaluation, [], [])}
    for name in (f"rules-{kind}" for kind in KINDS):
        explained = ", ".join(term for term, _ in sections[name].facts).lower()
        for column in sections[name].tables[0].columns[2:]:
            if column.title != "Worst year":
                assert column.title.lower() in explained, column.title
        assert all(meaning[0].isupper() and meaning.endswith(".") for _, meaning in sections[name].facts)


def test_every_family_is_described(any_evaluation: Evaluation, structure: Structure):
    for result in any_evaluation.families:
        assert result.family in structure.words("dt")


@pytest.mark.parametrize("field", ["name", "description", "caveat"])
def test_what_users_write_is_text_and_never_markup(evaluation: Evaluation, field: str):
    reservoir = replace(evaluation.plan.reservoir, **{field: ATTACK})
    attacked = replace(evaluation, plan=replace(evaluation.plan, reservoir=reservoir))
    structure = Structure(report_of(attacked))
    assert not structure.all("b")
    assert ATTACK in structure.words()


def test_without_a_script_or_a_network(evaluation: Evaluation):
    page = report_of(evaluation)
    assert not re.search(r"https?:|src=|@import|<script|<link", page)


def test_the_same_evaluation_gives_the_same_bytes(evaluation: Evaluation):
    saved, checks = saved_of(evaluation.plan), rules_checks(evaluation)
    origin = rules_provenance(evaluation, saved, checks)
    once, again = (rules_report(evaluation, saved, checks, origin, []) for _ in range(2))
    assert once == again


def flooded(foresight: Foresight) -> Foresight:
    """Foresight whose sixth storage is far beyond its bound."""
    storage = foresight.operation.storage_hm3.copy()
    storage[0, 5] = 2 * storage.max()
    return replace(foresight, operation=replace(foresight.operation, storage_hm3=storage))


def test_foresight_that_violates_limits_is_marked_in_the_tables(evaluation: Evaluation):
    assert all(0 not in tables_of(evaluation)[f"energy-{mode}"].marked for mode in SimulationMode)
    spoilt = replace(evaluation, foresights={mode: flooded(each) for mode, each in evaluation.foresights.items()})
    tables = tables_of(spoilt)
    assert all(0 in tables[f"energy-{mode}"].marked for mode in SimulationMode)
    assert all(tables[f"energy-{mode}"].rows[0][0] == "perfect foresight" for mode in SimulationMode)
