"""Years whose limits no schedule can keep: no penalised value is called an energy, and no mean or sum holds them."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reservoir as package
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.checks import plan_checks
from reservoir.planning.comparison import compare
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.sentences import NAMED_YEARS, left_out_sentence, listed, outside_sentences
from reservoir.planning.validation import validate
from reservoir.report.folder import provenance, write_plan
from reservoir.report.html.plan_page import plan_report
from reservoir.report.html.tables import monthly_table

#: Of five years, the third has hardly any water and the fourth far too much.
KEPT = [True, True, False, False, True]
QUICK = {"solver": "clpso-sequential", "generations": 400}


@pytest.fixture(scope="module")
def hard(five_years: Inflow) -> Inflow:
    flow = five_years.flow_m3s.copy()
    flow[2], flow[3] = 100.0, 9_000.0
    return Inflow(flow_m3s=flow, calendar=five_years.calendar)


@pytest.fixture(scope="module")
def plan(xiaowan: Reservoir, hard: Inflow) -> Plan:
    return optimise(xiaowan, hard, **QUICK)


@pytest.fixture(scope="module")
def hopeless(xiaowan: Reservoir, hard: Inflow) -> Plan:
    """No year can keep its limits."""
    flow = np.full_like(hard.flow_m3s, 9_000.0)
    return optimise(xiaowan, Inflow(flow_m3s=flow, calendar=hard.calendar), **QUICK)


def report(plan: Plan) -> str:
    checks = plan_checks(plan)
    return plan_report(plan, checks, provenance(plan, checks), ())


def test_years_that_no_schedule_can_keep_are_told_from_those_that_the_solver_missed(plan: Plan) -> None:
    assert plan.feasible.tolist() == plan.keeps_limits.tolist() == KEPT
    assert outside_sentences(plan) == [
        "2 years cannot satisfy their storage limits with any permitted release: 1955, 1956"
    ]
    violation = plan.operation.violation.copy()
    violation[0] = 1e-3
    missed = replace(plan, operation=replace(plan.operation, violation=violation))
    assert missed.feasible.tolist() == KEPT
    assert missed.keeps_limits.tolist() == [False, *KEPT[1:]]
    assert outside_sentences(missed)[1] == (
        "1 year can satisfy its storage limits, but the solver found no schedule: 1953"
    )


def test_the_reference_column_is_an_energy_and_its_violation_stands_beside_it(plan: Plan) -> None:
    summary = plan.summary()
    penalised = np.array([each.fitness for each in plan.references])
    energy = np.array([each.benefit for each in plan.references])
    assert (penalised[[2, 3]] < 0.9 * energy[[2, 3]]).all(), "the fitness of these years is no energy"
    assert summary["reference_gwh"].tolist() == energy.tolist()
    assert (summary["reference_violation"] > 0).tolist() == [not each for each in KEPT]
    assert summary["gap"].isna().tolist() == [not each for each in KEPT]


def test_a_plan_that_keeps_its_limits_has_no_column_for_violations_of_the_reference(
    small: Reservoir, small_inflow: Inflow
) -> None:
    assert "reference_violation" not in optimise(small, small_inflow, solver="dp").summary()


def test_means_and_sums_are_of_the_years_that_keep_their_limits(plan: Plan) -> None:
    kept = plan.energy_gwh[KEPT]
    assert provenance(plan, [])["energy_gwh"] == pytest.approx(kept.sum(), rel=1e-12)
    assert provenance(plan, [])["not_in_energy"] == ["1955", "1956"]
    page = report(plan)
    assert f"{kept.mean():,.0f} GWh" in page
    assert all(f"{energy:,.0f} GWh" in page for energy in (kept.min(), kept.max()))
    assert f"{kept.sum():,.0f} GWh in the 3 years within storage limits" in page
    assert f"{plan.energy_gwh.mean():,.0f} GWh" not in page
    assert "2 years cannot satisfy their storage limits with any permitted release: 1955, 1956" in page
    assert "the 3 years within storage limits" in monthly_table(plan).caption
    medians = np.median(plan.operation.power_mw[KEPT], axis=0)
    power = [title.title for title in monthly_table(plan).columns].index("Power")
    assert [row[power] for row in monthly_table(plan).rows] == [f"{value:,.0f}" for value in medians]


def test_a_report_of_which_no_year_keeps_its_limits_has_no_mean(hopeless: Plan) -> None:
    page = report(hopeless)
    assert "no year satisfies its storage limits" in page
    assert not re.search(r"\bnan\b", page)


def test_checks_of_energy_leave_these_years_out_and_check_them_by_a_name_of_their_own(plan: Plan) -> None:
    named = {check.check: check for check in plan_checks(plan)}
    assert "gap to dp, worst of 3 feasible years (absolute value)" in named
    penalised = "penalised energy against dp, worst of 2 infeasible years (absolute value)"
    assert named[penalised].passed
    poor = replace(plan.solutions, fitness=plan.solutions.fitness - 100 * ~np.array(KEPT))
    spoilt = {check.check: check for check in plan_checks(replace(plan, solutions=poor))}
    assert not spoilt[penalised].passed
    assert [name for name in named if "gap" in name and spoilt[name].value != named[name].value] == []


def test_checks_of_a_plan_without_a_feasible_year_say_nothing_of_energy(hopeless: Plan) -> None:
    assert not [check for check in plan_checks(hopeless) if "gap" in check.check]


def test_a_comparison_leaves_these_years_out_and_names_them(xiaowan: Reservoir, hard: Inflow) -> None:
    (row,) = compare(xiaowan, hard, solvers=["dp"])
    alone = optimise(xiaowan, hard, solver="dp")
    assert row.left_out == ("1955", "1956")
    assert row.benefit == pytest.approx(alone.energy_gwh[KEPT].sum(), rel=1e-12)
    assert row.violation == pytest.approx(alone.violation.sum(), rel=1e-12)
    assert row.gap == 0


def test_a_validation_compares_energies_of_the_other_years(xiaowan: Reservoir, hard: Inflow, device) -> None:
    _, checks = validate(xiaowan, hard, runs=2, options={"generations": 50})
    names = [check.check for check in checks]
    assert "sequential: gap to dp, sum of 3 feasible years (absolute value)" in names
    worst = next(name for name in names if "worst year of 2 runs" in name)
    assert not any(label in worst for label in ("1955", "1956"))


@pytest.fixture
def folder(plan: Plan, tmp_path: Path) -> Path:
    """The plan's folder, which names a file of the reservoir."""
    source = package.bundled_case().reservoir().source
    named = replace(
        plan,
        reservoir=replace(plan.reservoir, source=source, sha256=hashlib.sha256(Path(source).read_bytes()).hexdigest()),
    )
    return write_plan(named, tmp_path / "plan", plan_checks(plan), figures=False)


def test_energy_violation_and_fitness_of_the_reference_are_read_back(plan: Plan, folder: Path) -> None:
    again = read_plan(folder).plan
    for quantity in ("benefit", "fitness", "violation"):
        wanted = [getattr(each, quantity) for each in plan.references]
        assert [getattr(each, quantity) for each in again.references] == wanted, quantity
    assert again.keeps_limits.tolist() == again.feasible.tolist() == KEPT
    assert again.gap.tolist() == pytest.approx(plan.gap.tolist(), rel=0, abs=0, nan_ok=True)


def test_the_new_keys_are_in_the_folder(folder: Path) -> None:
    assert json.loads((folder / "plan.json").read_text())["not_in_energy"] == ["1955", "1956"]


def test_many_years_are_counted_and_the_first_are_named() -> None:
    labels = [str(1900 + year) for year in range(NAMED_YEARS + 3)]
    assert listed(labels[:2]) == "1900, 1901"
    assert listed(labels) == f"{', '.join(labels[:NAMED_YEARS])} and 3 more"


def test_a_plan_that_keeps_its_limits_says_nothing(small: Reservoir, small_inflow: Inflow) -> None:
    plan = optimise(small, small_inflow, solver="dp")
    assert outside_sentences(plan) == []
    assert left_out_sentence(plan) == ""


@pytest.fixture(scope="module")
def mixed(xiaowan: Reservoir, five_years: Inflow) -> Plan:
    """A plan whose years all hold the schedule of the reference; in the third a flood cannot be stored or released."""
    flow = five_years.flow_m3s.copy()
    flow[2, 7] = 40_000.0
    record = Inflow(flow_m3s=flow, calendar=five_years.calendar)
    return optimise(xiaowan, record, solver="clpso-sequential", particles=5, generations=2)


def test_a_year_that_no_schedule_can_keep_holds_the_reference_if_the_solver_is_worse(mixed: Plan, plan: Plan) -> None:
    assert mixed.source.tolist() == ["dp"] * 5
    assert mixed.keeps_limits.tolist() == mixed.feasible.tolist() == [True, True, False, True, True]
    assert mixed.violation.tolist() == mixed.references.violation.tolist()
    assert np.isnan(mixed.gap).tolist() == np.isnan(mixed.engine_gap).tolist() == [False, False, True, False, False]
    assert (mixed.engine_solutions.fitness < mixed.references.fitness - 1).all()
    assert not [check.check for check in plan_checks(mixed) if check.passed is False]
    stated = [check.check for check in plan_checks(mixed) if check.threshold is None]
    assert "clpso-sequential by itself: gap to dp, worst of 4 feasible years (absolute value)" in stated
    assert (
        "clpso-sequential by itself: penalised energy against dp, worst of 1 infeasible year (absolute value)" in stated
    )


def test_such_a_plan_is_read_back_and_reported_without_penalised_energies(mixed: Plan, tmp_path: Path) -> None:
    source = package.bundled_case().reservoir().source
    named = replace(
        mixed,
        reservoir=replace(mixed.reservoir, source=source, sha256=hashlib.sha256(Path(source).read_bytes()).hexdigest()),
    )
    folder = write_plan(named, tmp_path / "plan", plan_checks(mixed), figures=False)
    again = read_plan(folder).plan
    assert again.source.tolist() == ["dp"] * 5
    assert again.engine_gap == pytest.approx(mixed.engine_gap, rel=0, abs=0, nan_ok=True)
    assert again.feasible.tolist() == [True, True, False, True, True]
    assert "nan" not in (folder / "summary.csv").read_text()
    summary = pd.read_csv(folder / "summary.csv")
    assert summary["gap"].isna().tolist() == summary["engine_gap"].isna().tolist() == [False, False, True, False, False]
    assert summary["reference_gwh"].to_numpy() == pytest.approx(mixed.references.benefit, abs=1e-6)
    page = (folder / "report.html").read_text()
    assert not re.search(r"\bnan\b", page)
    assert f"{mixed.references.fitness[2]:,.1f}" not in page
