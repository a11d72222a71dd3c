"""Plans of ensembles: a year is planned alike in a record, in an ensemble and in a part of one."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.columns import meanings
from reservoir.planning.operated_record import members_table
from reservoir.report.html import plan_page, tables

needs_xarray = pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray, which the extra netcdf installs")


@pytest.fixture(scope="module")
def ensemble(small_inflow) -> Inflow:
    """Each of three years as a member of two years."""
    flows = np.stack([small_inflow.flow_m3s[[each, each]] for each in range(3)]).reshape(6, 12)
    return Inflow(flows, Calendar(2001, 6, small_inflow.calendar.first_month, years_each=2), members=["a", "b", "c"])


@pytest.fixture(scope="module")
def plan(small, ensemble):
    return reservoir.optimise(small, ensemble, solver="dp")


def test_every_year_of_every_member_is_planned_as_in_a_record(small, ensemble, plan):
    for member in range(3):
        flows = ensemble.flow_m3s[2 * member : 2 * member + 2]
        record = Inflow(flows, Calendar(2001, 2, ensemble.calendar.first_month))
        alone = reservoir.optimise(small, record, solver="dp")
        assert np.array_equal(alone.operation.release_m3s, plan.operation.release_m3s[2 * member : 2 * member + 2])


def test_with_the_horizon_of_a_record_a_member_is_one_problem(small, ensemble):
    whole = reservoir.optimise(small, ensemble, solver="dp", horizon="record")
    assert len(whole.problems) == 3
    assert whole.problems.labels[1] == "b: 2001/02 to b: 2002/03"
    flows = ensemble.flow_m3s[2:4]
    record = Inflow(flows, Calendar(2001, 2, ensemble.calendar.first_month))
    alone = reservoir.optimise(small, record, solver="dp", horizon="record")
    assert np.array_equal(alone.operation.release_m3s, whole.operation.release_m3s[2:4])


def test_tables_name_the_member_before_the_year(plan):
    schedule, summary = plan.schedule(), plan.summary()
    assert list(schedule.columns[:3]) == ["member", "year", "month"]
    assert summary["member"].tolist() == ["a", "a", "b", "b", "c", "c"]
    assert summary["year"].tolist() == ["2001/02", "2002/03"] * 3
    assert schedule["member"].tolist() == [name for name in "abc" for _ in range(24)]


@needs_xarray
def test_a_dataset_has_a_dimension_of_members(plan, ensemble, small):
    data = plan.to_xarray()
    assert dict(data.sizes) == {"member": 3, "year": 2, "step": 12, "boundary": 13}
    assert (
        data["energy_gwh"].sel(member="b", year="2002/03").to_numpy().tolist() == plan.operation.energy_gwh[3].tolist()
    )
    part = reservoir.optimise(small, ensemble.span(1, 4), solver="dp").to_xarray()
    assert dict(part.sizes) == {"year": 3, "step": 12, "boundary": 13}
    assert part["member"].to_numpy().tolist() == ["a", "b", "b"]


def test_a_saved_plan_is_read_as_it_was(plan, tmp_path):
    saved = read_plan(plan.save(tmp_path / "plan", figures=False)).plan
    assert tuple(saved.inflow.labels) == tuple(plan.inflow.labels)
    assert saved.inflow.calendar == plan.inflow.calendar
    assert np.array_equal(saved.operation.release_m3s, plan.operation.release_m3s)


def test_figures_of_a_sequence_of_years_are_left_out_and_there_is_one_of_members(plan):
    assert set(plan.plots()) == {"storage-fan", "typical-years", "members", "water-values"}


def test_a_row_a_member_is_what_its_years_come_to(plan):
    table = members_table(plan).set_index("member")
    schedule = plan.schedule()
    own = schedule[schedule["member"] == "b"]
    row = table.loc["b"]
    assert row["years"] == 2
    assert row["energy_gwh"] == pytest.approx(own["energy_gwh"].sum() / 2)
    assert row["lowest_energy_gwh"] == plan.energy_gwh[2:4].min()
    assert row["firm_power_mw"] == pytest.approx(own["power_mw"].quantile(0.1))
    assert row["lowest_storage_hm3"] == own["storage_end_hm3"].min()
    assert row["spill_hm3"] == pytest.approx(plan.summary().query("member == 'b'")["spill_hm3"].mean())
    assert table["violating_years"].tolist() == [0, 0, 0]


def test_a_record_and_a_part_of_a_member_have_no_table_of_members(small, small_inflow, ensemble):
    assert members_table(reservoir.optimise(small, small_inflow, solver="dp")) is None
    assert members_table(reservoir.optimise(small, ensemble.span(1, 4), solver="dp")) is None


def test_the_folder_has_the_members_in_a_table_and_in_the_report(plan, tmp_path):
    folder = plan.save(tmp_path / "plan", figures=False)
    with (folder / "members.csv").open() as table:
        assert next(table).strip().split(",") == list(meanings("members"))
    report = (folder / "report.html").read_text()
    assert "members-table" in report
    assert "3 members, each 2001/02 to 2002/03" in report


def test_a_report_has_percentiles_of_many_members_and_no_row_for_each_of_many_years(plan, monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "SHOWN_MEMBERS", 2)
    monkeypatch.setattr(plan_page, "SHOWN_YEARS", 5)
    report = (plan.save(tmp_path / "plan", figures=False) / "report.html").read_text()
    assert "exceeded by 90 %" in report
    assert "yearly-table" not in report


@pytest.mark.device
def test_a_part_of_an_ensemble_has_the_bytes_of_the_whole(small, ensemble, device):
    options = {
        "solver": "lshade",
        "evaluations": 500,
        "device": str(device.index),
        "engine_only": True,
        "reference": False,
    }
    whole = reservoir.optimise(small, ensemble, **options).operation.release_m3s
    part = reservoir.optimise(small, ensemble.span(3, 6), **options).operation.release_m3s
    assert np.array_equal(whole[3:], part)


def test_what_goes_through_one_record_refuses_an_ensemble(small, ensemble):
    with pytest.raises(InputError, match="a plan from a given month cannot work on an ensemble"):
        reservoir.optimise(small, ensemble, start="2001-08", start_hm3=small.initial_storage_hm3)
    valued = replace(small, year_end="valued", final_storage_hm3=None)
    with pytest.raises(InputError, match="the value of water that a record implies cannot work on an ensemble"):
        reservoir.optimise(valued, ensemble)
