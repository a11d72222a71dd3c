"""Plans by dynamic programming have water values: a column, a table and a figure, in the folder and read back."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from reservoir.errors import InputError
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.columns import meanings
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.water_values import LEVELS, end_storage_values, storage_levels
from reservoir.report.figures.figures import plan_captions, plan_figures
from reservoir.report.figures.water_value_map import PANELS, by_month_and_storage, draw_water_values
from tests.year_ends import free

COLUMN = "water_value_gwh_per_hm3"
MEAN, LOW, HIGH = "mean_gwh_per_hm3", "q10_gwh_per_hm3", "q90_gwh_per_hm3"


@pytest.fixture(scope="module")
def plan(small, small_inflow) -> Plan:
    return optimise(small, small_inflow, solver="dp", horizon="record")


@pytest.fixture
def folder(planned, tmp_path):
    """A copy of a plan's folder that may be changed."""
    return shutil.copytree(planned, tmp_path / "plan")


def test_each_month_of_the_schedule_has_the_value_of_water_at_its_end(plan):
    schedule, values = plan.schedule(), plan.water_values
    assert list(schedule)[-1] == COLUMN
    assert schedule[COLUMN].tolist() == values.month_end_gwh_per_hm3.ravel().tolist()
    assert values.month_end_gwh_per_hm3.shape == plan.inflow.flow_m3s.shape
    assert np.isfinite(schedule[COLUMN]).all()


def test_the_table_has_a_row_for_each_month_and_storage(plan, small):
    table = plan.water_values.table
    assert list(table) == list(meanings("water_values"))
    assert table["month"].tolist() == np.repeat(plan.inflow.calendar.months, LEVELS).tolist()
    assert table["storage_hm3"].iloc[[0, LEVELS - 1]].tolist() == [20, 120]
    assert table["level_m"].tolist() == pytest.approx(small.level(table["storage_hm3"].to_numpy()))
    known = table[table["years"] > 0]
    assert (known[LOW] <= known[MEAN]).all()
    assert (known[MEAN] <= known[HIGH]).all()
    assert table.loc[table["years"] == 0, [LOW, MEAN, HIGH]].isna().all(axis=None)


def test_the_table_is_of_the_years_that_can_be_completed_from_a_storage(plan, small, small_inflow):
    """In the last month of a year with a fixed end the least and the greatest release leave few storages."""
    years = optimise(small, small_inflow, solver="dp").water_values.table
    last, record = (table[table["month"] == 5].reset_index() for table in (years, plan.water_values.table))
    assert (last["years"] < 3).any()
    assert (record["years"] >= last["years"]).all()


def test_a_record_that_is_one_problem_has_the_values_of_the_record_and_not_of_years(plan, small, small_inflow):
    years = optimise(small, small_inflow, solver="dp")
    assert end_storage_values(years.problems, years.operation).shape == (3,)
    (end,) = end_storage_values(plan.problems, plan.operation)
    assert plan.water_values.month_end_gwh_per_hm3[-1, -1] == end
    assert years.water_values.month_end_gwh_per_hm3[-1, -1] == pytest.approx(end, rel=0.01)


def test_at_a_free_end_stored_water_is_worth_nothing(small, small_inflow):
    plan = optimise(free(small), small_inflow, solver="dp", horizon=2)
    ends = plan.water_values.month_end_gwh_per_hm3[:, -1]
    assert (ends == 0).tolist() == [False, True, True]


@pytest.mark.parametrize(("horizon", "months", "values"), [(1, 8, 3), (2, 12, 4)])
def test_scenarios_from_a_month_have_the_months_that_they_reach(small, small_inflow, horizon, months, values):
    """Of two years, some months come twice in a scenario."""
    plan = optimise(small, small_inflow, solver="dp", horizon=horizon, start="2026-10", start_hm3=90.0)
    table = plan.water_values.table
    expected = [(9 + step) % 12 + 1 for step in range(months)]
    assert table["month"].tolist() == np.repeat(expected, LEVELS).tolist()
    assert table["years"].max() == values
    assert plan.schedule()[COLUMN].tolist() == plan.water_values.month_end_gwh_per_hm3.ravel().tolist()
    ax = draw_water_values(Figure().add_subplot(), plan, MEAN)
    assert len(ax.lines[0].get_ydata()) == months


@pytest.mark.device
def test_a_plan_on_a_device_has_the_same_water_values(plan, small, small_inflow):
    other = optimise(small, small_inflow, solver="dp-opencl", horizon="record")
    one, two = plan.water_values, other.water_values
    assert two.month_end_gwh_per_hm3 == pytest.approx(one.month_end_gwh_per_hm3, rel=0.01)
    assert two.table[MEAN].to_numpy() == pytest.approx(one.table[MEAN].to_numpy(), rel=0.01, abs=1e-4, nan_ok=True)


def test_plans_by_other_solvers_have_none(small, small_inflow):
    plan = optimise(small, small_inflow, solver="lshade", evaluations=500, reference=False)
    assert plan.water_values is None
    assert COLUMN not in plan.schedule()
    assert "water-values" not in plan_figures(plan)
    assert "water-values" not in plan_captions(plan)


def test_years_that_cannot_keep_their_limits_are_not_in_the_table(small, small_inflow):
    flow = small_inflow.flow_m3s.copy()
    flow[1] = 0.5
    plan = optimise(small, type(small_inflow)(flow, small_inflow.calendar), solver="dp")
    assert plan.feasible.tolist() == [True, False, True]
    assert plan.water_values.table["years"].max() == 2
    assert np.isfinite(plan.water_values.month_end_gwh_per_hm3[1]).any()


def test_a_plan_of_which_no_year_keeps_its_limits_has_no_figure(small, small_inflow):
    flow = np.full_like(small_inflow.flow_m3s, 0.5)
    plan = optimise(small, type(small_inflow)(flow, small_inflow.calendar), solver="dp")
    assert not plan.water_values.table["years"].any()
    assert "water-values" not in plan_figures(plan)
    assert "water-values" not in plan_captions(plan)


def test_the_figure_draws_every_value_of_the_table(plan):
    assert "water-values" in plan_figures(plan)
    assert "slope of the value function" in plan_captions(plan)["water-values"]
    for column in PANELS:
        ax = draw_water_values(Figure().add_subplot(), plan, column)
        (cells,) = ax.collections
        values = plan.water_values.table[column].to_numpy()
        assert sorted(cells.get_array()) == sorted(values[np.isfinite(values)])
        drawn = {tuple(np.round(path.vertices[:4].mean(axis=0), 6)) for path in cells.get_paths()}
        months, places = np.nonzero(np.isfinite(by_month_and_storage(plan, column)))
        storages = storage_levels(plan.reservoir)[places]
        assert drawn == {(month + 0.5, round(storage, 6)) for month, storage in zip(months, storages, strict=True)}


def test_water_values_are_written_and_read_back(six_year_plan, folder):
    written = pd.read_csv(folder / "water_values.csv")
    assert list(written) == list(meanings("water_values"))
    assert "water_values.csv" in json.loads((folder / "plan.json").read_text())["files"]
    again, plan = read_plan(folder).plan.water_values, six_year_plan.water_values
    assert again.month_end_gwh_per_hm3 == pytest.approx(plan.month_end_gwh_per_hm3, rel=0, abs=0, nan_ok=True)
    assert again.table.equals(plan.table)


def test_a_table_that_was_changed_is_refused(folder):
    path = folder / "water_values.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(InputError, match=r"water_values\.csv: was changed after the plan was made"):
        read_plan(folder)


def test_a_table_that_is_missing_is_told(folder):
    (folder / "water_values.csv").unlink()
    with pytest.raises(InputError, match=r"water_values\.csv: is missing"):
        read_plan(folder)
