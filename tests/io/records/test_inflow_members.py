"""Inflow files with a column of members: an ensemble, read whole or refused with the row of the mistake."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

MONTHS = [f"{2000 + month // 12}-{month % 12 + 1:02d}" for month in range(24)]


def written(tmp_path, rows, header="member,date,inflow_m3s", comments=""):
    path = tmp_path / "ensemble.csv"
    path.write_text(comments + header + "\n" + "\n".join(rows) + "\n")
    return path


def rows_of(*members):
    return [
        f"{name},{month},{10 * (place + 1) + at}"
        for place, name in enumerate(members)
        for at, month in enumerate(MONTHS)
    ]


def test_members_follow_each_other_with_the_years_of_each(tmp_path):
    inflow = read_inflow(written(tmp_path, rows_of("wet", "dry"), comments="# caveat: invented\n"))
    assert inflow.labels == ("wet: 2000", "wet: 2001", "dry: 2000", "dry: 2001")
    assert inflow.flow_m3s.ravel().tolist() == [10 * (1 + place) + at for place in range(2) for at in range(24)]
    assert (inflow.caveat, inflow.unit, inflow.unit_from) == ("invented", "m3/s", "from the column name")
    assert len(inflow.sha256) == 64


def test_rows_may_stand_in_any_order_and_members_be_called_scenarios(tmp_path):
    usual = read_inflow(written(tmp_path, rows_of("a", "b", "c")))
    rows = rows_of("a", "b", "c")
    mixed = [rows[0], *np.random.default_rng(1).permutation(rows[1:24]).tolist(), *rows[24:][::-1]]
    again = read_inflow(written(tmp_path, mixed, header="Scenario;Date;inflow_m3s".replace(";", ",")))
    assert dict(zip(again.labels, again.flow_m3s.tolist(), strict=True)) == dict(
        zip(usual.labels, usual.flow_m3s.tolist(), strict=True)
    )


def test_water_years_begin_in_the_month_that_is_asked_for(tmp_path):
    inflow = read_inflow(written(tmp_path, rows_of("1", "2")), first_month=6)
    assert inflow.labels == ("1: 2000/01", "2: 2000/01")
    assert inflow.flow_m3s[1, 0] == 20 + 5
    assert any("left out" in note for note in inflow.notes)


def test_volumes_become_flows_by_the_days_of_each_month(tmp_path):
    inflow = read_inflow(written(tmp_path, rows_of("1"), header="member,date,inflow_hm3"))
    assert inflow.flow_m3s[0, 1] == pytest.approx(11 / (29 * 0.0864))


def test_evaporation_and_withdrawals_stand_beside_the_inflow(tmp_path):
    rows = [f"{row},{-1.5 + at % 12},{at}" for at, row in enumerate(rows_of("1", "2"))]
    inflow = read_inflow(written(tmp_path, rows, header="member,date,inflow_m3s,evaporation_mm,withdrawal_m3s"))
    assert inflow.evaporation_mm[3].tolist() == [-1.5 + at for at in range(12)]
    assert inflow.withdrawal_m3s.ravel().tolist() == list(range(48))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({3: "wet,2000-03,abc"}, 'row 5, column inflow_m3s: not a number \\(found "abc"\\)'),
        ({3: "wet,2000-03,-3"}, "row 5, column inflow_m3s: negative flow"),
        ({3: "wet,2000-03,"}, "row 5, column inflow_m3s: missing value"),
        ({3: "wet,2000-03,inf"}, "row 5, column inflow_m3s: infinite flow"),
        ({3: "wet,2000-3,4"}, "row 5, column date: not a date that is understood"),
        ({3: ",2000-03,4"}, "row 5, column member: missing value"),
        ({3: "wet,2000-03"}, "row 5: wrong number of cells \\(found 2\\)"),
        ({3: "wet,2000-03,4,5"}, "row 5: wrong number of cells \\(found 4\\)"),
        ({0: "wet,2000-01,4,5"}, "row 2: wrong number of cells \\(found 4\\)"),
        ({3: "wet,2000-04,4\nwet,2000-04,5"}, "row 6, column date: 2000-04 of member wet appears twice"),
        ({5: ""}, "member wet has no 2000-06; expected 2000-01 to 2001-12 of every member"),
        ({24: ""}, "member dry has no 2000-01"),
        ({47: ""}, "member dry has no 2001-12"),
        ({7: "wet,2000-08,2000000"}, "2000-08 of member wet: the flow is too large for a river"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path, wrong, said):
    rows = [wrong.get(at, row) for at, row in enumerate(rows_of("wet", "dry"))]
    path = written(tmp_path, rows)
    with pytest.raises(InputError, match=said) as refused:
        read_inflow(path)
    assert "ensemble.csv" in str(refused.value)


def test_rows_are_counted_as_an_editor_shows_them(tmp_path):
    rows = rows_of("a")
    rows[10] = "\n\na,2000-11,x"
    path = written(tmp_path, rows, comments="# one\n\n# two\n")
    with pytest.raises(InputError, match="row 17, column inflow_m3s: not a number"):
        read_inflow(path)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("member,date,inflow_m3s,flow", "2 columns besides the date"),
        ("member,date,flow_xyz", "unit"),
        ("member,date,level_m", "does not seem to be inflow|unit"),
    ],
)
def test_a_header_that_is_not_understood_is_refused(tmp_path, header, said):
    rows = [row + ",1" * (header.count(",") - 2) for row in rows_of("a")]
    with pytest.raises(InputError, match=said):
        read_inflow(written(tmp_path, rows, header=header))


def test_a_member_column_without_dates_is_told_what_layout_is_read(tmp_path):
    with pytest.raises(InputError, match="neither a year nor a date"):
        read_inflow(written(tmp_path, rows_of("a"), header="member,month,inflow_m3s"))


@pytest.mark.parametrize(
    ("name", "value"), [("price_per_mwh", "1e300"), ("evaporation_mm", "2001"), ("withdrawal_cfs", "4e7")]
)
def test_what_stands_beside_the_inflow_of_a_member_keeps_to_its_range(tmp_path, name, value):
    rows = [f"{row},{value if at == 2 else 1}" for at, row in enumerate(rows_of("wet"))]
    with pytest.raises(InputError, match=f"row 4, column {name}: is out of range"):
        read_inflow(written(tmp_path, rows, header=f"member,date,inflow_m3s,{name}"))


@pytest.mark.parametrize("rows", ["", "\n", "\n\n# a comment\n"])
def test_a_header_alone_has_no_rows(tmp_path, rows):
    (tmp_path / "members.csv").write_text(f"member,date,inflow_m3s{rows}")
    with pytest.raises(InputError):
        read_inflow(tmp_path / "members.csv")
