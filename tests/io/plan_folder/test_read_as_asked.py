"""A plan's folder says how its record was read, and reads it back in the same way."""

import json

import numpy as np
import pytest

from reservoir import optimise, read_inflow
from reservoir.io.plan_folder.saved_plan import read_plan
from tests.io.records.odd_tables import daily, flow_of_day


@pytest.fixture(scope="module")
def planned(small, tmp_path_factory):
    """A plan of a daily record of two columns, some days below zero and one missing; and the folder."""
    place = tmp_path_factory.mktemp("days")

    def flow(day):
        value = flow_of_day(day) / 50
        return None if (day.year, day.month, day.day) == (1964, 5, 17) else -value if day.month == 2 else value

    text = daily("%d-%b-%Y", "date,inflow_cfs,other_cfs", lambda value: f"{35 * value},1", of_day=flow)
    (place / "days.csv").write_text(text.replace("1964,\n", "1964,,1\n"))
    asked = {"column": "inflow_cfs", "missing_days": 1, "negative": "keep"}
    inflow = read_inflow(place / "days.csv", first_month=small.first_month, **asked)
    return optimise(small, inflow, solver="dp").save(place / "plan", figures=False), inflow


def test_months_of_negative_inflow_are_planned_within_the_water_balance(planned):
    folder, inflow = planned
    assert (inflow.flow_m3s[:, inflow.calendar.months == 2] < 0).all()
    plan = read_plan(folder).plan
    gained = (inflow.flow_m3s - plan.operation.release_m3s) * inflow.calendar.hm3_per_m3s
    np.testing.assert_allclose(np.diff(plan.operation.storage_hm3, axis=1), gained, atol=1e-9)


def test_the_record_is_read_back_as_it_was_read(planned):
    folder, inflow = planned
    told = json.loads((folder / "plan.json").read_text())
    assert told["inflow"]["reading"] == {"column": "inflow_cfs", "missing_days": 1, "negative": "keep"}
    assert any("negative values kept" in note for note in told["notes"])
    assert "negative values kept" in (folder / "report.html").read_text()
    assert np.array_equal(read_plan(folder).plan.inflow.flow_m3s, inflow.flow_m3s)
