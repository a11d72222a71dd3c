"""Dates that can be read in several ways, names of their columns, and months in other languages."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.dates import DateStyle, Stamp, parse_date, style_of
from reservoir.io.records.reader import read_inflow, read_inflow_forecast
from tests.io.records.odd_tables import DAYS, NAMES, daily, days_of, flow, flows_of, long, means_of_days, months, wide

MONTHS = [f"{year}-{month:02}" for each in months() for year, month in each]


def read(tmp_path, text, **options):
    (tmp_path / "inflow.csv").write_text(text, encoding="utf-8")
    return read_inflow(tmp_path / "inflow.csv", **options)


def refused(tmp_path, text, **options):
    with pytest.raises(InputError) as error:
        read(tmp_path, text, **options)
    return error.value.mistakes


def without_zeros(form):
    return lambda day: day.strftime(form).replace("/0", "/").removeprefix("0")


#: Dates of days as programs write them: the form, and the note.
OF_DAYS = {
    "a spreadsheet in the United States": ("%m/%d/%Y", "dates are read month first: 01/13/1963 is 1963-01-13"),
    "with a time of twelve hours": ("%m/%d/%Y 12:00:00 AM", "month first: 01/13/1963 12:00:00 AM is 1963-01-13 00:00"),
    "a spreadsheet in Germany": ("%d.%m.%Y", "dates are read day first: 13.01.1963 is 1963-01-13"),
    "with dashes": ("%d-%m-%Y", "dates are read day first: 13-01-1963 is 1963-01-13"),
    "years of two digits": ("%m/%d/%y", "month first: 01/13/63 is 1963-01-13 (the other number is no month); years of"),
    "years of two digits and names": ("%d-%b-%y", "years of two digits are read as 1963 to 1965"),
    "names in front": ("%b %d %Y", ""),
}


@pytest.mark.parametrize(("form", "note"), OF_DAYS.values(), ids=OF_DAYS)
def test_days_are_read_where_the_whole_column_shows_how_and_it_is_told(tmp_path, form, note):
    inflow = read(tmp_path, daily(form))
    np.testing.assert_allclose(inflow.flow_m3s, means_of_days())
    assert inflow.labels == ("1963", "1964", "1965")
    assert any(note in each for each in inflow.notes)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    "form", ["{month}/1/{year}", "{month:02}/01/{year}", "{month}/1/{year} 0:00", "01.{month}.{year}"]
)
def test_first_days_of_months_are_read_where_only_one_order_makes_months(tmp_path, form, backwards):
    header, *rows = long(stamp=lambda year, month: form.format(year=year, month=month)).splitlines()
    inflow = read(tmp_path, "\n".join((header, *(rows[::-1] if backwards else rows))))
    np.testing.assert_array_equal(inflow.flow_m3s, flows_of())
    order = "day" if form.startswith("01.") else "month"
    assert any(f"dates are read {order} first: " in note and "evenly apart" in note for note in inflow.notes)


@pytest.mark.parametrize("form", ["{month:02}/{year}", "{month}/{year}", "{month:02}.{year}", "{month:02}-{year}"])
@pytest.mark.parametrize("header", ["date", "Date (month)", ""])
def test_a_month_and_a_year_are_a_month(tmp_path, form, header):
    if not header and "." in form:
        header = "date"  # without a name, these may be numbers
    text = long(f"{header},inflow_m3s", lambda year, month: form.format(year=year, month=month))
    np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, flows_of())


@pytest.mark.parametrize("form", ["{year}/{month:02}", "{year}/{month}", "{year}.{month:02}"])
def test_a_year_and_a_month_are_a_month(tmp_path, form):
    text = long(stamp=lambda year, month: form.format(year=year, month=month))
    np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, flows_of())


@pytest.mark.parametrize("text", ["13/2001", "2001/13", "2001.1", "2001.10.1.", "1.2001", "00/2001", "2001/0"])
def test_what_is_no_month_of_a_year_is_refused(text):
    assert not isinstance(parse_date(text), Stamp)


def short(year_of_first, form="{day}-{name}-{year:02}"):
    """A record of three years whose dates have years of two digits."""
    of_row = [(year, month) for year in range(year_of_first, year_of_first + 3) for month in range(1, 13)]
    rows = (
        f"{form.format(day=1, name=NAMES[month - 1], month=month, year=year % 100)},{month}" for year, month in of_row
    )
    return "\n".join(("date,inflow_m3s", *rows))


@pytest.mark.parametrize("form", ["{day}-{name}-{year:02}", "{month}/1/{year:02}", "{name}-{year:02}"])
@pytest.mark.parametrize("first", [1903, 2003, 1998, 2101])
def test_the_first_year_gives_the_century(tmp_path, form, first):
    asked = {"first_year": first} | ({"dates": "month-first"} if "/" in form else {})
    inflow = read(tmp_path, short(first, form), **asked)
    assert inflow.labels == tuple(str(first + at) for at in range(3))
    note = f"years of two digits are read as {first} to {first + 2}, as asked"
    assert any(note in each for each in inflow.notes)
    assert inflow.reading == asked


def test_a_century_that_is_not_clear_names_the_option_that_settles_it(tmp_path):
    assert all("--first-year 1953" in mistake.mend for mistake in refused(tmp_path, short(2003))[:5])
    rows = short(2003, "{month}/1/{year:02}")
    assert "--dates month-first or --dates day-first; and give the year" in refused(tmp_path, rows)[0].mend
    with pytest.raises(InputError, match=r"first_year: is out of range .found 53.; expected 1000 to 9899"):
        read(tmp_path, rows, first_year=53)


def test_members_of_years_to_come_have_a_first_year(tmp_path):
    stamp = lambda month: f"1-{NAMES[int(month[5:]) - 1]}-{month[2:4]}"  # noqa: E731
    assert read(tmp_path, ensemble(stamp), first_year=2063).labels[:3] == ("a: 2063", "a: 2064", "a: 2065")


def test_what_decides_nothing_is_told(tmp_path):
    notes = read(tmp_path, long(), dates="day-first", first_year=1963).notes
    assert '"day-first" decides nothing: the file has no dates such as 10/01/1990' in notes
    assert "the first year 1963 decides nothing: the file has no dates with years of two digits" in notes
    assert not any("decides nothing" in note for note in read(tmp_path, YEAR, dates="month-first").notes)


YEAR = "\n".join(("date,inflow_m3s", *(f"{month:02}/01/1963,{flow(1963, month)}" for month in range(1, 13))))


def test_a_column_that_can_be_read_in_both_orders_is_refused_with_the_option_that_settles_it(tmp_path):
    (mistake,) = refused(tmp_path, YEAR)
    assert (mistake.row, mistake.column, mistake.value) == (2, "date", "01/01/1963")
    assert mistake.problem == "ambiguous date: day and month cannot be distinguished"
    assert mistake.mend == "give --dates month-first or --dates day-first"
    inflow = read(tmp_path, YEAR, dates="month-first")
    np.testing.assert_array_equal(inflow.flow_m3s, flows_of()[:1])
    assert "dates are read month first: 02/01/1963 is 1963-02-01 (as asked)" in inflow.notes
    assert inflow.reading == {"dates": "month-first"}
    assert "1963-01 (lacks 19 days)" in refused(tmp_path, YEAR, dates="day-first")[0].problem


def test_the_order_that_is_asked_for_is_kept(tmp_path):
    assert {mistake.problem for mistake in refused(tmp_path, daily("%m/%d/%Y"), dates="day-first")[1:12]} == {
        "the date does not exist"
    }
    with pytest.raises(InputError, match=r'dates: is unknown .found "year-first".; expected month-first or day-first'):
        read(tmp_path, YEAR, dates="year-first")


def mixed(day):
    """As a spreadsheet leaves dates of which it understood those that its own order allows."""
    return f"{day:%Y-%m-%d}" if day.day <= 12 else f"{day:%d/%m/%Y}"


def exchanged(day):
    return f"{day:%m/%d/%Y}" if day.day <= 12 else f"{day:%d/%m/%Y}"


def both(day):
    return f"{day:%m/%d/%Y}" if day.year == 1963 else f"{day:%d/%m/%Y}"


@pytest.mark.parametrize("stamp", [mixed, exchanged, both])
def test_dates_that_are_not_all_written_alike_are_refused(tmp_path, stamp):
    text = "\n".join(("date,inflow_m3s", *(f"{stamp(day)},{at}" for at, day in enumerate(DAYS))))
    assert any("ambiguous date" in mistake.problem for mistake in refused(tmp_path, text))


def test_rows_without_an_order_in_time_decide_nothing():
    assert style_of(["02/13/1990", "01/14/1990", "03/15/1990"]).doubt is not None
    assert style_of(["02/13/1990", "01/14/1990", "03/15/1990"], DateStyle("month-first")).doubt is None


@pytest.mark.parametrize(
    ("first", "last", "years"),
    [("1962-10-01", "1966-09-30", "1962 to 1966"), ("1997-01-01", "2004-12-31", "1997 to 2004")],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_the_order_of_rows_gives_the_century(first, last, years, backwards):
    days = np.arange(np.datetime64(first), np.datetime64(last) + 1).tolist()
    texts = [without_zeros("%d-%b-%y")(day) for day in (days[::-1] if backwards else days)]
    style, notes, _ = style_of(texts)
    assert f"years of two digits are read as {years}" in notes[0]
    assert parse_date(texts[5], style).day_ordinal == (days[::-1] if backwards else days)[5].toordinal()


@pytest.mark.parametrize(
    "texts",
    [
        ["1-Oct-62"],
        [f"1-{name}-62" for name in ("Oct", "Jan", "Dec")],
        [f"1-{name}-{year:02}" for year in (3, 4, 5) for name in NAMES],  # 1903 or 2003
        [f"1-{name}-{year:02}" for year in range(1, 101) for name in NAMES if year < 100] + ["1-Jan-01", "1-Feb-01"],
    ],
)
def test_a_century_that_the_order_does_not_give_is_refused(texts):
    style = style_of(texts).style
    assert "the century is unknown" in parse_date(texts[0], style).problem


def test_two_digits_that_may_be_the_year_in_front_are_refused():
    texts = [f"{day:%y/%m/%d}" for day in days_of(DAYS[0].replace(year=2001), DAYS[0].replace(year=2003))]
    doubt = style_of(texts).doubt
    assert doubt is not None
    assert "write years of four digits" in doubt.mend


HEADERS = [
    "time",
    "Time",
    "Datetime (UTC)",
    "Date/Time [UTC]",
    "#Timestamp",
    "# date",
    "",
    "Date (yyyy-mm-dd)",
    "Data",
    "时间",
]


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("title", ["", "# station 12\n# with a comment, and more\n", "Lake inflow\n"])
def test_columns_of_dates_have_other_names(tmp_path, name, title):
    if title.startswith("Lake") and name.startswith("#"):
        title = f"# {title}"
    inflow = read(tmp_path, title + long(f"{name},inflow_m3s", lambda year, month: f"{year}-{month:02}-01"))
    np.testing.assert_array_equal(inflow.flow_m3s, flows_of())


def test_a_comment_in_front_of_a_header_is_none(tmp_path):
    text = "# date, remark\n" + long()
    np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, flows_of())
    assert "passed over" not in str(read(tmp_path, text).notes)


LANGUAGES = {
    "Chinese": ("年份", [f"{month}月" for month in range(1, 13)], "年平均"),
    "Chinese with a unit": ("年", [f"{month}月流量(m3/s)" for month in range(1, 13)], "1-12月"),
    "Chinese numbers": (
        "年份",
        ["一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"],
        "合计",
    ),
    "Portuguese": (
        "ano",
        ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"],
        "jan-dez",
    ),
    "Portuguese in full": (
        "Ano",
        [
            "Janeiro",
            "Fevereiro",
            "Março",
            "Abril",
            "Maio",
            "Junho",
            "Julho",
            "Agosto",
            "Setembro",
            "Outubro",
            "Novembro",
            "Dezembro",
        ],
        "Jan a Dez",
    ),
    "Spanish": ("año", ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"], "ene-dic"),
    "Spanish in full": (
        "Año",
        [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
        "Enero - Diciembre",
    ),
    "French": (
        "Année",
        ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
        "janv-déc",
    ),
    "German": ("Jahr", ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"], "Jan-Dez"),
    "Italian": (
        "anno",
        ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
        "gen-dic",
    ),
    "English beside an outflow": ("year", NAMES, "Out"),
    "English": ("year", NAMES, "Jan-Dec"),
}


@pytest.mark.parametrize(("year", "names", "sum_of_year"), LANGUAGES.values(), ids=LANGUAGES)
def test_months_are_named_in_other_languages_and_a_sum_of_the_year_is_none(tmp_path, year, names, sum_of_year):
    rows = wide(more="12345").splitlines()[1:]
    inflow = read(tmp_path, "\n".join((",".join((year, *names, sum_of_year)), *rows)))
    np.testing.assert_array_equal(inflow.flow_m3s, flows_of())
    assert f"read the columns of months, passed over {sum_of_year}" in inflow.notes


def test_water_years_in_another_language(tmp_path):
    names = ["out", "nov", "dez", "jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set"]
    rows = wide(first_month=10).splitlines()[1:]
    np.testing.assert_array_equal(read(tmp_path, "\n".join((",".join(("ano", *names)), *rows))).flow_m3s, flows_of(10))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("31-ene-1990", "1990-01-31"),
        ("1 de febrero de 1990", "1990-02-01"),
        ("01/out/1990", "1990-10-01"),
        ("3 février 2001", "2001-02-03"),
        ("3. März 2001", "2001-03-03"),
        ("2001-dez-24", "2001-12-24"),
    ],
)
def test_dates_have_names_of_months_in_other_languages(text, day):
    stamp = parse_date(text)
    assert isinstance(stamp, Stamp)
    assert str(stamp) == day


def test_parts_of_dates_are_named_in_other_languages(tmp_path):
    for header, form in {
        "年,月,流量(m3/s)": "{}年,{}月",
        "ano,mês,vazão (m3/s)": "{},{}",
        "año,mes,caudal (m3/s)": "{},{}",
    }.items():
        text = long(header, lambda year, month, form=form: form.format(year, month))
        np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, flows_of())


def ensemble(stamp, header="member,date,inflow_m3s"):
    rows = (f"{member},{stamp(each)},{at + 1}" for member in "ab" for at, each in enumerate(MONTHS))
    return "\n".join((header, *rows))


def slashed(month):
    return f"{int(month[5:])}/1/{month[:4]}"


def test_members_have_such_dates_and_columns_too(tmp_path):
    plain = read(tmp_path, ensemble(str))
    for text in (ensemble(slashed), ensemble(lambda month: f"{month}-01", "member,time,inflow_m3s")):
        np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, plain.flow_m3s)
    assert any(
        "dates are read month first: 2/1/1963 is 1963-02-01" in note for note in read(tmp_path, ensemble(slashed)).notes
    )


def test_a_forecast_of_some_months_asks_for_the_order(tmp_path):
    rows = (f"{member},0{month}/01/2027,{month}" for member in "ab" for month in range(3, 8))
    (tmp_path / "forecast.csv").write_text("\n".join(("member,date,inflow_m3s", *rows)))
    with pytest.raises(InputError, match=r"date: ambiguous date.*--dates month-first or --dates day-first"):
        read_inflow_forecast(tmp_path / "forecast.csv")
    flows = read_inflow_forecast(tmp_path / "forecast.csv", month=3, dates="month-first")
    assert flows.tolist() == [[3.0, 4.0, 5.0, 6.0, 7.0]] * 2


def test_years_to_come_have_four_digits(tmp_path):
    with pytest.raises(InputError, match="the century is unknown"):
        read(tmp_path, ensemble(lambda month: f"1-{NAMES[int(month[5:]) - 1]}-{month[2:4]}"))
