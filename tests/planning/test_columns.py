"""Columns of results stand in one table: an invented one is in every file, page, dataset and document by it alone."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir.cli.rules import show_evaluation
from reservoir.io.plan_folder.saved_plan import SavedPlan
from reservoir.planning.columns import BENEFIT, TABLES, ResultColumn, Shown, column_of, meanings, shown_columns
from reservoir.planning.plan import Plan
from reservoir.report.html.rules_page import scores_table
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.scores import Score, SimulationMode

STORED = ResultColumn(
    "stored_hm3", "water stored in the step, hm3", "hm3", lambda record: np.diff(record.operation.storage_hm3),
    "water stored in the step", page=Shown("Stored", "{:,.2f}"),
)  # fmt: skip
MEAN = ResultColumn(
    "mean_hm3", "mean storage of the year, hm3", "hm3", lambda plan: plan.operation.storage_hm3.mean(axis=1),
    "mean storage of the year", cells="{:.2e}", page=Shown("Mean storage", "{:,.1f}"),
)  # fmt: skip
SCORE = ResultColumn(
    "spill_part", "an invented score", screen=Shown("invented score", "{:.1%}", 3.5),
    page=Shown("Invented", "{:.1f}", 99, "energy", "%", 100),
)  # fmt: skip


@pytest.fixture
def plan(six_year_plan: Plan) -> Plan:
    return six_year_plan


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Score, "spill_part", property(lambda score: score.worst / score.mean), raising=False)
    for name, column in (("schedule", STORED), ("summary", MEAN), ("scores", SCORE)):
        monkeypatch.setitem(TABLES, name, (*TABLES[name], column))


@pytest.mark.usefixtures("invented")
def test_an_invented_column_is_in_every_file_and_page(plan: Plan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan", figures=False)
    stored = np.diff(plan.operation.storage_hm3)
    with (tmp_path / "plan" / "schedule.csv").open(encoding="utf-8") as table:
        cells = [row["stored_hm3"] for row in csv.DictReader(table)]
    np.testing.assert_allclose(np.array(cells, float), stored.ravel(), atol=1e-6)
    mean = plan.operation.storage_hm3.mean(axis=1)
    with (tmp_path / "plan" / "summary.csv").open(encoding="utf-8") as table:
        assert [row["mean_hm3"] for row in csv.DictReader(table)] == [f"{value:.2e}" for value in mean]
    page = (tmp_path / "plan" / "report.html").read_text(encoding="utf-8")
    for title, value in (("Stored", np.median(stored[:, 0])), ("Mean storage", mean[0])):
        assert title in page
        assert f"{value:,.2f}".replace("-", "−") in page or f"{value:,.1f}" in page


@pytest.mark.usefixtures("invented")
def test_an_invented_column_is_in_datasets_and_documents(plan: Plan) -> None:
    pytest.importorskip("xarray")
    dataset = plan.to_xarray()
    assert dataset["stored_hm3"].dims == ("year", "step")
    assert dataset["stored_hm3"].attrs == {"units": "hm3", "long_name": "water stored in the step"}
    np.testing.assert_array_equal(dataset["mean_hm3"], plan.operation.storage_hm3.mean(axis=1))
    assert meanings("schedule")["stored_hm3"] == STORED.meaning
    sys.path.insert(0, "docs/_extensions")
    try:
        import generated
    finally:
        sys.path.pop(0)
    assert ("`mean_hm3`", MEAN.meaning) in list(generated.columns("summary"))


@pytest.mark.usefixtures("invented")
def test_an_invented_score_is_on_the_screen_and_the_page(
    six_year_rules: tuple[Evaluation, SavedPlan], capsys: pytest.CaptureFixture[str]
) -> None:
    show_evaluation(six_year_rules[0])
    shown = capsys.readouterr().out
    assert shown.index("worst year") < shown.index("invented score") < shown.index("reliable")
    titles = [column.title for column in scores_table(six_year_rules[0], SimulationMode.CONTINUOUS, "energy").columns]
    assert titles[-1] == "Invented"


def test_every_column_of_a_dataset_has_a_meaning_there_and_names_are_not_twice_in_a_table() -> None:
    for columns in TABLES.values():
        assert len({column.name for column in columns}) == len(columns)
        variables = [column.variable or column.name for column in columns if column.long_name]
        assert len(set(variables)) == len(variables)
        assert not any(column.variable for column in columns if not column.long_name)
        assert all(column.meaning for column in columns)


def test_a_benefit_is_named_by_its_unit() -> None:
    mean = next(column for column in TABLES["scores"] if column.unit == BENEFIT)
    assert mean.benefit_name("objective") == "mean_objective"
    assert "mean_gwh" in meanings("scores")


def test_columns_that_a_record_has_not_are_left_out(plan: Plan) -> None:
    assert column_of("summary", "evaporation_hm3", plan) is None
    assert "evaporation_hm3" not in plan.summary()
    assert [column.name for column in shown_columns("summary", "page")][:2] == ["inflow_mean_m3s", "energy_gwh"]


def test_a_column_says_what_it_needs_and_repeats_what_is_of_a_problem(plan: Plan) -> None:
    of_problems = ResultColumn("proven", "an invented column", of="solutions.fitness", only="proofs", by_problem=True)
    assert of_problems.values(plan) is None
    values = replace(of_problems, only=lambda plan: plan.inflow.years > 1).values(plan)
    np.testing.assert_array_equal(values, plan.solutions.fitness[plan.problems.of_year])
    assert replace(of_problems, of=None).values(plan) is None
