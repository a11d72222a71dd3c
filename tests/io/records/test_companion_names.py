"""Losses and prices beside the inflow: read by clear names, told, and refused where they would be passed over."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

FLOWS = [11.3, 12.48, 16.75, 43.39, 76.09, 53.08, 21.73, 12.0, 13.1, 23.7, 27.3, 16.1]
BESIDE = [2.0, 3.0, 6.0, 12, 18, 24, 30, 28, 20, 12, 6, 3]
CFS = 0.3048**3


def read(tmp_path, name, beside=BESIDE, members=()):
    rows = [f"2001-{month:02},{flow},{each}" for month, (flow, each) in enumerate(zip(FLOWS, beside, strict=True), 1)]
    head = f'date,inflow_m3s,"{name}"'
    if members:
        head, rows = f"member,{head}", [f"{member},{row}" for member in members for row in rows]
    (tmp_path / "record.csv").write_text("\n".join((head, *rows)))
    return read_inflow(tmp_path / "record.csv")


READ = {
    "evaporation_mm": ("evaporation_mm", 1.0, "evaporation 164 mm a year"),
    "evaporation_in": ("evaporation_mm", 25.4, "evaporation 4,166 mm a year"),
    "Evaporation (mm)": ("evaporation_mm", 1.0, "evaporation 164 mm a year"),
    "net lake evaporation, mm": ("evaporation_mm", 1.0, "evaporation 164 mm a year"),
    "Evap [inches]": ("evaporation_mm", 25.4, "evaporation 4,166 mm a year"),
    "withdrawal_m3s": ("withdrawal_m3s", 1.0, "withdrawal 13.67 m³/s on average"),
    "Withdrawal (cfs)": ("withdrawal_m3s", CFS, "withdrawal 0.387 m³/s on average"),
    "withdrawals hm3/day": ("withdrawal_m3s", 1e6 / 86400, "withdrawal 158.2 m³/s on average"),
    "price_per_mwh": ("price_per_mwh", 1.0, "price 13.67 per MWh on average"),
    "Price (EUR/MWh)": ("price_per_mwh", 1.0, "price 13.67 per MWh on average"),
    "Day-ahead price (EUR/MWh)": ("price_per_mwh", 1.0, "price 13.67 per MWh on average"),
    "spot price €/kWh": ("price_per_mwh", 1000.0, "price 13,667 per MWh on average"),
}


@pytest.mark.parametrize("members", [(), ("a", "b")])
@pytest.mark.parametrize("name", READ)
def test_a_clear_name_is_read_and_told(tmp_path, name, members):
    field, size, told = READ[name]
    inflow = read(tmp_path, name, members=members)
    np.testing.assert_allclose(getattr(inflow, field)[0], np.array(BESIDE) * size)
    assert f"{told}, from column {name}" in inflow.notes
    assert not any("passed over" in note for note in inflow.notes)


NEARLY = {
    **dict.fromkeys(("evaporation", "Evaporation (mm/day)", "pan_evaporation_mm",
                     "evaporaton_mm", "Verdunstung_mm", "蒸发(mm)", "evaporation_cm"), "evaporation_mm"),
    **dict.fromkeys(("withdrawal_hm3", "withdrawal", "withdrawl_m3s", "abstraction_m3s", "Withdrawals (acre-ft)"),
                    "withdrawal_m3s"),
    **dict.fromkeys(("price", "price_eur", "tariff_eur_mwh", "Strompreis"), "price_per_mwh"),
    "seepage_m3s": "in the reservoir file",
}  # fmt: skip


@pytest.mark.parametrize("members", [(), ("a", "b")])
@pytest.mark.parametrize("name", NEARLY)
def test_a_name_that_is_nearly_one_is_refused_with_the_right_one(tmp_path, name, members):
    with pytest.raises(InputError) as refused:
        read(tmp_path, name, members=members)
    (mistake,) = refused.value.mistakes
    assert (mistake.row, mistake.column) == (1, name)
    assert NEARLY[name] in mistake.mend


@pytest.mark.parametrize(
    "name",
    ["evaporation_flag", "precipitation_mm", "outflow_m3s", "storage_hm3", "demand_m3s"],
)
def test_other_columns_are_passed_over(tmp_path, name):
    assert f"read column inflow_m3s, passed over {name}" in read(tmp_path, name).notes


@pytest.mark.parametrize("name", ["evaporation_mm", "evaporation", "withdrawal_hm3"])
def test_a_table_by_years_has_no_losses(tmp_path, name):
    header = f"year,{name}," + ",".join(f"m{month:02}" for month in range(1, 13))
    (tmp_path / "record.csv").write_text(f"{header}\n2001,4," + ",".join(map(str, FLOWS)))
    with pytest.raises(InputError, match=f"row 1, column {name}: .*or delete the column"):
        read_inflow(tmp_path / "record.csv")


@pytest.mark.parametrize("members", [(), ("a", "b")])
@pytest.mark.parametrize(("name", "code"), [("evaporation_mm", "-9999"), ("evaporation_mm", "-999.9"),
                                            ("evaporation_mm", "999"), ("withdrawal_m3s", "9999")])  # fmt: skip
def test_codes_of_losses_are_refused(tmp_path, name, code, members):
    with pytest.raises(InputError, match="missing-value code"):
        read(tmp_path, name, [*BESIDE[:5], code, *BESIDE[6:]], members)


@pytest.mark.parametrize(("name", "values"), [("evaporation_mm", [-99, *BESIDE[1:]]), ("withdrawal_m3s", [99] * 12),
                                              ("price_per_mwh", [9999, *BESIDE[1:]])])  # fmt: skip
def test_what_may_be_a_loss_or_a_price_is_read(tmp_path, name, values):
    assert getattr(read(tmp_path, name, values), name)[0].tolist() == values


@pytest.mark.parametrize("members", [(), ("a", "b")])
def test_two_columns_of_one_quantity_are_refused(tmp_path, members):
    months = zip(FLOWS, BESIDE, strict=True)
    rows = [f"2001-{month:02},{flow},{beside},{beside}" for month, (flow, beside) in enumerate(months, 1)]
    head = "date,inflow_m3s,evaporation_mm,evaporation_in"
    if members:
        head, rows = f"member,{head}", [f"{member},{row}" for member in members for row in rows]
    (tmp_path / "record.csv").write_text("\n".join((head, *rows)))
    with pytest.raises(InputError, match="row 1, column evaporation_in: is a second column of the same quantity"):
        read_inflow(tmp_path / "record.csv")
