"""Evaporation and bank storage as volumes or mean flows of a record, in every unit, and what they are told as."""

import numpy as np
import pytest

from reservoir import InputError, optimise, read_inflow
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3, key_suffix
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.checks import all_pass, plan_checks
from tests.io.small_reservoir import SMALL

VALUES = np.linspace(-1, 2, 24).reshape(2, 12)


def record(tmp_path, columns: dict[str, np.ndarray]):
    path = tmp_path / "in.csv"
    lines = [",".join(("date", "inflow_m3s", *columns))]
    for at in range(24):
        values = (repr(float(column.flat[at])) for column in columns.values())
        lines.append(",".join((f"{2001 + at // 12}-{at % 12 + 1:02}", f"{20 + at}.5", *values)))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("unit", VOLUME_HM3)
@pytest.mark.parametrize(("name", "field"), [("evaporation", "evaporation_hm3"), ("bank_storage", "bank_storage_hm3")])
def test_volumes_of_every_unit(tmp_path, unit, name, field):
    values = (VALUES / VOLUME_HM3[unit]).astype(float)
    inflow = read_inflow(record(tmp_path, {f"{name}_{key_suffix(unit)}": values}))
    np.testing.assert_allclose(getattr(inflow, field), VALUES, rtol=1e-12)


@pytest.mark.parametrize("unit", FLOW_M3S)
def test_mean_flows_of_every_unit(tmp_path, unit):
    inflow = read_inflow(record(tmp_path, {f"bank_storage_{key_suffix(unit)}": VALUES / FLOW_M3S[unit]}))
    np.testing.assert_allclose(inflow.bank_storage_hm3, VALUES * inflow.calendar.hm3_per_m3s, rtol=1e-12)
    assert any(
        note.startswith("bank storage ") and "hm³ a year, from column" in note for note in map(str, inflow.notes)
    )


@pytest.mark.parametrize("name", ["Evaporation (acre-ft)", "lake evaporation, acre-ft", "Bank storage (acre-ft)"])
def test_as_reports_write_them(tmp_path, name):
    path = record(tmp_path, {name.replace(",", ""): VALUES})
    read = read_inflow(path).recorded_losses_hm3
    (volumes,) = read.values()
    np.testing.assert_allclose(volumes, VALUES * VOLUME_HM3["acre-ft"], rtol=1e-12)


def test_days_add_up_to_months(tmp_path):
    path, days = tmp_path / "days.csv", np.arange("2001-01", "2003-01", dtype="datetime64[D]")
    rows = (f"{day},30,0.25,-1" for day in days)
    path.write_text("date,inflow_m3s,evaporation_hm3,bank_storage_m3s\n" + "\n".join(rows) + "\n")
    inflow = read_inflow(path)
    np.testing.assert_allclose(inflow.evaporation_hm3, 0.25 * inflow.calendar.days, rtol=1e-9)
    np.testing.assert_allclose(inflow.bank_storage_hm3, -inflow.calendar.hm3_per_m3s, rtol=1e-9)


def test_evaporation_is_said_once(tmp_path):
    with pytest.raises(InputError, match="second column of the same quantity"):
        read_inflow(record(tmp_path, {"evaporation_mm": VALUES * 10, "evaporation_hm3": VALUES}))


def test_a_plan_loses_what_was_recorded_and_nothing_by_area(tmp_path):
    lake = reservoir_of((SMALL + "[losses]\nevaporation_mm = 100\nseepage_m3s = 0.3\n").encode(), "r.toml")
    inflow = read_inflow(record(tmp_path, {"evaporation_hm3": VALUES, "bank_storage_hm3": VALUES[::-1]}))
    plan = optimise(lake, inflow, solver="dp")
    assert all_pass(plan_checks(plan))
    np.testing.assert_allclose(plan.operation.evaporation_hm3, VALUES, atol=1e-12)
    seeped = plan.operation.seepage_hm3 - VALUES[::-1]
    np.testing.assert_allclose(seeped, 0.3 * inflow.calendar.hm3_per_m3s, rtol=1e-9)
