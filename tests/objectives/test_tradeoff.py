"""A front between two goals: no point is better for both, its ends are the best of each, and points can be planned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir import InputError, optimise, read_inflow, read_reservoir
from reservoir.hydro.objectives import Goal, Objective, goal_label
from reservoir.io.workbook import sheets_of
from reservoir.planning.tradeoff import tradeoff, with_goal
from reservoir.report.figures.front import front_caption, front_figure
from reservoir.report.tradeoff_folder import front_table, point_inputs, write_tradeoff
from tests.objectives.test_dp_against_independent import PRICE, SUPPLY

DOCS = Path(__file__).resolve().parents[2] / "docs" / "own-reservoir"


@pytest.fixture(scope="module")
def able(lake):
    """The lake with prices and targets."""
    stated = Objective(price_per_mwh=PRICE, currency="EUR", supply_target_m3s=SUPPLY, power_target_mw=np.full(12, 20.0))
    return replace(lake, objective=stated)


@pytest.fixture(scope="module", params=["energy,firm-power", "energy,supply-shortage", "revenue,firm-power"])
def front(request, able, river):
    return tradeoff(able, river, request.param.split(","), points=5, horizon="record", device=None)


def signed(front):
    """Values of which more is better."""
    return front.goal_values * [-1 if goal is Goal.SUPPLY_SHORTAGE else 1 for goal in front.goals]


def test_what_is_gained_of_one_goal_is_lost_of_the_other(front):
    first, second = signed(front).T
    slack = 1e-6 * np.abs(front.goal_values).max(axis=0)
    assert (np.diff(first) <= slack[0]).all()
    assert (np.diff(second) >= -slack[1]).all()
    assert first[0] > first[-1] + slack[0]
    assert second[-1] > second[0] + slack[1]


def test_the_first_point_is_the_best_for_the_first_goal(front, able, river):
    alone = with_goal(replace(able, objective=front.reservoir.objective), front.goals[0])
    best = optimise(alone, river, solver="dp", horizon="record").operation.benefit.sum()
    assert signed(front)[0, 0] == pytest.approx(best, rel=1e-4)


def test_a_point_planned_by_its_file_gives_what_the_front_says(front, river, tmp_path):
    folder = write_tradeoff(front, tmp_path / "front", figures=False)
    point = front.points[2]
    planned = read_reservoir(folder / "points" / f"{point.name}.toml")
    assert str(planned.horizon) == "record"  # that of the front, not of the reservoir
    plan = optimise(planned, river, solver="dp")
    assert plan.energy_gwh.sum() == pytest.approx(point.energy_gwh, rel=1e-5)
    if Goal.FIRM_POWER in front.goals:
        assert plan.firm_power_mw[0] == pytest.approx(point.values[1], rel=1e-5)


def test_a_front_begins_where_water_is_spilled_rather_than_paid_for(able, river):
    prices = np.where(np.arange(12) == 5, -30.0, PRICE)
    spilling = replace(able, objective=replace(able.objective, price_per_mwh=prices))
    front = tradeoff(spilling, river.span(0, 3), ["revenue", "firm-power"], points=3, device=None)
    assert front.goal_values[0, 1] < 0.01  # no power in June
    assert front.goal_values[-1, 1] > 1.0
    assert front.goal_values[0, 0] > front.goal_values[-1, 0]


@pytest.fixture
def written(able, tmp_path):
    """The folder of a front over a record that was read from a file."""
    record = "\n".join((DOCS / "inflow.csv").read_text().splitlines()[:5])
    (tmp_path / "record.csv").write_text(record + "\n")
    front = tradeoff(able, read_inflow(tmp_path / "record.csv"), ["energy", "firm-power"], points=3, device=None)
    return write_tradeoff(front, tmp_path / "front", figures=False)


GIVEN = {"reservoir": None, "inflow": None}


def test_a_point_is_planned_from_the_files_of_the_front_alone(written, tmp_path):
    """A point says what the front says of it: other files by these names would be planned in silence."""
    found = point_inputs(written / "p1", GIVEN)
    assert found["inflow_file"] == written / "inflow.csv"
    record, point = written / "inflow.csv", written / "points" / "p1.toml"
    for changed, given in ((record, GIVEN), (point, GIVEN), (point, GIVEN | {"inflow": tmp_path / "record.csv"})):
        before = changed.read_bytes()
        changed.write_bytes(before.replace(b"0", b"1", 1))
        with pytest.raises(InputError, match=f"{changed.name}: was changed after the tradeoff was made"):
            point_inputs(written / "p1", given)
        changed.write_bytes(before)
    record.write_text("date,inflow_m3s\n")
    assert point_inputs(written / "p1", GIVEN | {"inflow": tmp_path / "record.csv"}) == {"reservoir_file": point}
    (written / "tradeoff.json").write_text("{}")
    with pytest.raises(InputError, match="is not the provenance of a tradeoff"):
        point_inputs(written / "p1", GIVEN)


@pytest.mark.parametrize("horizon", ["year", "record"])
def test_every_point_gives_the_power_that_it_asks_for_and_no_less_energy_than_its_plan(able, river, horizon):
    """Also where most problems keep the schedule that is best for energy alone."""
    front = tradeoff(able, river, ["energy", "firm-power"], points=5, horizon=horizon, device=None)
    asked = np.array([point.objective.firm_power_mw for point in front.points])
    assert (front.goal_values[:, 1] >= asked * (1 - 3e-6)).all()
    for point in front.points[1:]:
        plan = optimise(point.reservoir, river, solver="dp", horizon=horizon)
        assert point.energy_gwh == pytest.approx(plan.energy_gwh.sum(), rel=3e-6)


def test_the_last_point_has_the_largest_firm_power_of_the_weakest_year(able, river):
    front = tradeoff(able, river, ["energy", "firm-power"], points=3, device=None)
    largest = optimise(with_goal(able, "firm-power"), river, solver="dp").firm_power_mw.min()
    assert front.goal_values[-1, 1] == pytest.approx(largest, rel=1e-5)
    assert front.points[-1].objective.firm_power_mw <= largest * (1 + 2e-6)


def test_goals_of_very_different_size_have_weights_that_a_file_can_state(xiaowan, inflow):
    stated = replace(xiaowan, objective=Objective(supply_target_m3s=1300.0))
    front = tradeoff(stated, inflow.span(0, 2), ["energy", "supply-shortage"], points=3, device=None)
    alone = optimise(with_goal(stated, "supply-shortage"), inflow.span(0, 2), solver="dp").benefit.sum()
    assert front.goal_values[-1, 1] == pytest.approx(alone, rel=2e-3)
    assert front.goal_values[0, 0] > front.goal_values[1, 0] > front.goal_values[2, 0]


def test_the_goal_of_the_file_keeps_its_penalty(able):
    own = replace(with_goal(able, "power-shortage"), penalty=3.0)
    assert with_goal(own, "power-shortage").penalty == 3.0


def test_years_by_themselves_are_added_up(able, river):
    front = tradeoff(able, river, ["energy", "firm-power"], points=3, device=None)
    assert front.goal_values.shape == (3, 2)
    assert front.points[0].violation == 0
    best = optimise(able, river, solver="dp").energy_gwh.sum()
    assert front.goal_values[0, 0] == pytest.approx(best, rel=1e-4)


def test_the_table_names_points_weights_and_goals(front):
    table = front_table(front)
    assert table["point"].tolist() == ["p1", "p2", "p3", "p4", "p5"]
    assert {goal.replace("-", "_") for goal in front.goals} <= set(table)
    stated = "asked_firm_power_mw" if Goal.FIRM_POWER in front.goals else f"weight_{front.goals[1].replace('-', '_')}"
    assert table[stated].notna().all()


def test_labels_have_units():
    assert goal_label(Goal.REVENUE, "EUR") == "Revenue (million EUR)"
    assert goal_label(Goal.FIRM_POWER) == "Firm power (MW)"
    assert goal_label(Goal.UNUSED_CAPACITY) == "Unused capacity"
    assert goal_label(Goal.ENERGY, years=30) == "Energy of 30 years (GWh)"
    assert goal_label(Goal.REVENUE, "EUR", 1_000) == "Revenue of 1,000 years (million EUR)"
    assert goal_label(Goal.FIRM_POWER, years=30) == "Firm power (MW)"


def test_sums_of_years_say_of_how_many(front, tmp_path):
    years = front.inflow.years
    assert years > 1
    firm = Goal.FIRM_POWER in front.goals
    axes = front_figure(front).axes[0]
    for label in (axes.get_xlabel(), axes.get_ylabel()):
        assert label.startswith("Firm power (MW)") or f" of {years} years" in label
    assert f"{years} years" in front_caption(front)
    assert ("firm power is the smallest of all problems" in front_caption(front)) == firm
    page = (write_tradeoff(front, tmp_path / "front") / "report.html").read_text()
    assert "Energy (GWh)" not in page
    assert f"Energy of {years} years (GWh)" in page


def test_a_front_is_the_sheet_of_a_workbook_where_that_is_asked_for(front, tmp_path):
    folder = write_tradeoff(front, tmp_path / "front", figures=False, workbook=True)
    assert not (folder / "front.csv").exists()
    heading, *rows = sheets_of((folder / "front.xlsx").read_bytes())[0].rows
    table = front_table(front)
    assert list(heading) == list(table)
    assert [row[0] for row in rows] == table["point"].tolist()
    energy = [float(row[heading.index("energy" if "energy" in table else "energy_gwh")]) for row in rows]
    assert energy == pytest.approx([point.energy_gwh for point in front.points], abs=1e-6)


@pytest.mark.parametrize(
    ("goals", "told"),
    [
        (["energy"], "are not two different goals"),
        (["energy", "energy"], "are not two different goals"),
        (["energy", "profit"], "one of energy"),
    ],
)
def test_goals_that_make_no_front_are_refused(able, river, goals, told):
    with pytest.raises(InputError, match=told):
        tradeoff(able, river, goals, device=None)


def test_a_goal_without_targets_is_refused(lake, river):
    with pytest.raises(InputError, match="add power_target_mw"):
        tradeoff(lake, river, ["energy", "power-shortage"], device=None)
