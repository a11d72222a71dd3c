"""Files of public services are read as delivered: in one call, or with the one option that the refusal names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow
from tests.io.records.odd_tables import DAYS, NAMES, flow_of_day, wide
from tests.io.records.service_forms import CHINESE, ENGLISH, FORMS, day_table

CHOSEN = [form for form in FORMS if form.refused]


def written(tmp_path, content):
    if isinstance(content, str):
        (tmp_path / "record.csv").write_text(content, encoding="utf-8")
        return tmp_path / "record.csv"
    book = pytest.importorskip("openpyxl").Workbook()
    for row in content:
        book.active.append([*row])
    book.save(tmp_path / "record.xlsx")
    return tmp_path / "record.xlsx"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_it_is_read_as_delivered(tmp_path, form):
    inflow = read_inflow(written(tmp_path, form.content), **form.options)
    np.testing.assert_allclose(inflow.flow_m3s, form.flows, rtol=1e-9)
    assert inflow.unit == form.unit
    assert any(form.note in str(note) for note in (*inflow.notes, ""))


@pytest.mark.parametrize("form", CHOSEN, ids=lambda form: form.name)
def test_what_is_ambiguous_is_refused_with_the_option_that_chooses(tmp_path, form):
    path = written(tmp_path, form.content)
    others = {name: value for name, value in form.options.items() if name != "column"}
    with pytest.raises(InputError, match=re.escape(form.refused)) as refused:
        read_inflow(path, **others)
    named = re.search(r'--column "([^"]+)"', str(refused.value))
    if named is None:
        assert "--column NAME" in str(refused.value)
    elif form.name != "ONS, open data":  # which has several flows of each plant
        read_inflow(path, **others, column=named[1])


def test_the_rows_of_a_series_and_their_column_are_asked_for_together(tmp_path):
    form = next(form for form in FORMS if form.name == "ONS, open data")
    path = written(tmp_path, form.content)
    with pytest.raises(InputError, match="3 columns besides the date: val_vazaoafluente") as refused:
        read_inflow(path, column="nom_reservatorio=FURNAS")
    assert '--column "nom_reservatorio=FURNAS; NAME"' in str(refused.value)
    with pytest.raises(InputError, match=r"no row has nom_reservatorio = ITAIPU.*one of FURNAS, CAMARGOS"):
        read_inflow(path, column="nom_reservatorio=ITAIPU")
    with pytest.raises(InputError, match="no such column; the file has"):
        read_inflow(path, column="nom_reservatorio=FURNAS; val_vazao")


def test_series_of_a_table_by_years_are_chosen_by_the_same_option(tmp_path):
    upper, lower = wide(more="Upper"), wide(more="Lower", cell=lambda value: f"{10 * value:g}").partition("\n")[2]
    path = written(tmp_path, f"{upper}\n{lower}".replace("Extra", "station"))
    with pytest.raises(InputError, match="2 stations, one below the other: Upper, Lower"):
        read_inflow(path)
    one, ten = (read_inflow(path, column=f"station={name}").flow_m3s for name in ("upper", "LOWER"))
    np.testing.assert_allclose(ten, 10 * one)


TITLE = "Verona, daily discharge, m3/s"
REFUSED_DAYS = {
    "no year": (f"{TITLE}\n{ENGLISH}\n{day_table(1963)}", "without a year", 'add a column "year"'),
    "two years": (f"{TITLE}, 1963 and 1970\n{ENGLISH}\n{day_table(1963)}", "without a year", "names one year"),
    "30 February": (
        f"{TITLE}, 1963\n{ENGLISH}\n{day_table(1963, '7')}",
        "on 1963-02-29, which does not exist",
        "delete",
    ),
    "levels": (f"Daily mean water level, 1963\n{ENGLISH}\n{day_table(1963)}", "does not speak of a flow", "--unit"),
    "levels in Chinese": (
        f"某站 1963年 逐日平均水位表\n{CHINESE}\n{day_table(1963)}",
        "does not speak of a flow",
        "--unit",
    ),
    "a day twice": (f"{TITLE}, 1963\n{ENGLISH}\n{day_table(1963)}\n1,{','.join('5' * 12)}", "appears twice", "delete"),
    "day 32": (f"{TITLE}, 1963\n{ENGLISH}\n{day_table(1963)}\n32,{','.join('5' * 12)}", "not a day", "correct"),
    "a text": (f"{TITLE}, 1963\n{ENGLISH}\n{day_table(1963).replace('.25,', ' e,', 1)}", "not a number", "digits"),
}


@pytest.mark.parametrize(("text", "problem", "mend"), REFUSED_DAYS.values(), ids=REFUSED_DAYS)
def test_a_table_of_days_by_months_is_refused_with_the_mend(tmp_path, text, problem, mend):
    with pytest.raises(InputError) as refused:
        read_inflow(written(tmp_path, text))
    assert any(problem in mistake.problem and mend in mistake.mend for mistake in refused.value.mistakes)


def test_levels_are_flows_if_the_caller_says_so(tmp_path):
    text = REFUSED_DAYS["levels"][0]
    assert read_inflow(written(tmp_path, text), unit="m3/s").years == 1


def test_a_time_that_stands_twice_without_summer_time_is_refused(tmp_path):
    rows = [f"{day} {hour:02}:00,{flow_of_day(day)!r}" for day in DAYS for hour in range(24)]
    rows.insert(9800, rows[9800])
    with pytest.raises(InputError, match="the time appears twice, first in row 9802"):
        read_inflow(written(tmp_path, "\n".join(("date,inflow_m3s", *rows))))


def test_footnotes_may_say_the_unit_and_never_hide_a_contradiction(tmp_path):
    rows = "\n".join(f"1963-{month:02},{month}" for month in range(1, 13))
    assert read_inflow(written(tmp_path, f"date,inflow\n{rows}\n* all values in hm3")).unit == "hm3"
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(written(tmp_path, f"date,inflow_cfs\n{rows}\n* all values in hm3"))


def test_a_row_of_units_states_the_unit_and_never_hides_a_contradiction(tmp_path):
    rows = "\n".join(f"1963-{month:02},{month},3" for month in range(1, 13))
    assert read_inflow(written(tmp_path, f"date,inflow,level\n,acre-ft,ft\n{rows}")).unit == "acre-ft"
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(written(tmp_path, f"date,inflow_cfs,level\n,acre-ft,ft\n{rows}"))


def test_marks_of_footnotes_are_no_multipliers(tmp_path):
    rows = "\n".join(f"1963-{month:02},{month}" for month in range(1, 13))
    for header in ("inflow (m3/s)*", "inflow† (m3/s)", "Inflow*** (m3/s)"):
        assert read_inflow(written(tmp_path, f"date,{header}\n{rows}")).unit == "m3/s"
    with pytest.raises(InputError, match="unknown unit"):
        read_inflow(written(tmp_path, f"# flow* 1000\ndate,inflow_m3s\n{rows}"))


def test_the_header_above_dates_is_found_in_every_order_of_its_rows(tmp_path):
    days = "\n".join(f"{day},{flow_of_day(day)!r},7" for day in DAYS)
    names, numbers, units = ",Verona inflow,Bend level", ",112,113", ",m3/s,m"
    for above in ((names, numbers, units), (units, numbers, names), (numbers, units, names)):
        inflow = read_inflow(written(tmp_path, "\n".join(("A report", *above, days))))
        assert (inflow.unit, inflow.years) == ("m3/s", 3)
    assert NAMES[0] == "Jan"


def test_sums_since_the_beginning_are_no_flows(tmp_path):
    form = next(form for form in FORMS if form.name == "DSS, instants")
    with pytest.raises(InputError, match=r"sums since the beginning \(INST-CUM\)"):
        read_inflow(written(tmp_path, form.content.replace("INST-VAL", "INST-CUM")))


def test_a_month_that_is_none_is_told_in_a_table_of_months_by_days(tmp_path):
    text = next(form for form in FORMS if form.name == "months down, days across").content
    with pytest.raises(InputError, match=r"row 4, column month: not a month"):
        read_inflow(written(tmp_path, text.replace("\n,1,2", "\nmonth,1,2").replace("Feb,", "x,")))


@pytest.mark.parametrize("label", ["WY{}", "{}/04"])
def test_no_row_of_data_above_a_repeated_header_is_taken_for_a_title(tmp_path, label):
    header = "WY," + ",".join((*NAMES[9:], *NAMES[:9]))
    rows = [f"{label.format(year)},{','.join(['5'] * 12)}" for year in (2003, 2004)]
    text = "\n".join((header, rows[0], header, rows[1]))
    if "/" in label:
        with pytest.raises(InputError, match="a water year must span two consecutive years"):
            read_inflow(written(tmp_path, text))
    else:
        assert read_inflow(written(tmp_path, text)).years == 2


def test_a_date_that_is_not_understood_above_a_repeated_header_is_told(tmp_path):
    rows = [f"1963-{month:02},{month}" for month in range(1, 13)]
    text = "\n".join(("date,inflow_m3s", *rows[:5], "June 63,6", "date,inflow_m3s", *rows[6:]))
    with pytest.raises(InputError, match="row 7, column date"):
        read_inflow(written(tmp_path, text))
