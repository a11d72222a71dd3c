"""Odd inflow files, as people bring them: each is read as it is meant, or refused with what is wrong."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import MOST_YEARS
from reservoir.io.records.reader import read_inflow
from reservoir.io.records.table import MOST_BYTES, MOST_CAVEAT, MOST_COMMENTS, MOST_LINES

FLOWS = ["400", "390", "420", "510", "790", "1470", "2650", "2380", "2740", "1720", "850", "600"]
ROW = ",".join(FLOWS)
M = ",".join(f"m{month:02}" for month in range(1, 13))
N = "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec"
OCTOBER = "Oct,Nov,Dec,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep"
WIDE = f"year,{M}\n1953,{ROW}"


def wide(*rows: str, header: str = f"year,{M}") -> str:
    """A table with a row a year."""
    return "\n".join((header, *rows))


def cells(**changed: str) -> str:
    """A row of 1953 with some of its cells changed, by the names of their columns."""
    return ",".join(["1953", *(changed.get(f"m{month:02}", flow) for month, flow in enumerate(FLOWS, start=1))])


def long(stamp: str = "{:04}-{:02}", months: int = 12, first: int = 1, header: str = "date,inflow") -> str:
    """A table with a row a month from 1953 on, counted from January."""
    places = range(first - 1, first - 1 + months)
    rows = (f"{stamp.format(1953 + at // 12, at % 12 + 1)},{FLOWS[at % 12]}" for at in places)
    return "\n".join((header, *rows))


def month_ends() -> str:
    """Dates on the last day of each month."""
    days = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    rows = (f"1953-{month:02}-{day},{flow}" for month, (day, flow) in enumerate(zip(days, FLOWS, strict=True), start=1))
    return "\n".join(("date,inflow", *rows))


#: Files of the flows above, all of which begin with January or October of the year named.
READ: dict[str, tuple[str | bytes, str]] = {
    "plain": (WIDE, "1953"),
    "byte order mark": ("\ufeff" + WIDE, "1953"),
    "windows lines": (WIDE.replace("\n", "\r\n"), "1953"),
    "old mac lines": (WIDE.replace("\n", "\r"), "1953"),
    "blank lines": ("\n\n" + WIDE.replace("\n", "\n\n \n\t\n") + "\n\n", "1953"),
    "control-z at the end": (WIDE + "\n\x1a", "1953"),
    "form feed at the end": (WIDE + "\n\x0c\n", "1953"),
    "no-break spaces": (WIDE.replace(",", "\u00a0,\u00a0"), "1953"),
    "ideographic spaces": (WIDE.replace(",", "\u3000,"), "1953"),
    "quoted": (WIDE.replace(",", '","').replace("\n", '"\n"').join('""'), "1953"),
    "semicolons": (WIDE.replace(",", ";"), "1953"),
    "tabs": (WIDE.replace(",", "\t"), "1953"),
    "sep=;": ("sep=;\n" + WIDE.replace(",", ";"), "1953"),
    "SEP=,": ("SEP=,\n" + WIDE, "1953"),
    "quoted sep": ('"sep=;"\r\n' + WIDE.replace(",", ";"), "1953"),
    "sep behind a mark": ("\ufeffsep=;\n" + WIDE.replace(",", ";"), "1953"),
    "sep is a tab": ("sep=\t\n" + WIDE.replace(",", "\t"), "1953"),
    "comments everywhere": (f'# a\n{WIDE}\n#b,,,\n"# c, d"\n', "1953"),
    "padding in every line": (WIDE.replace("\n", ",,\n") + ",,", "1953"),
    "padding in rows": (WIDE + ",,,", "1953"),
    "padding in the header": (WIDE.replace("\n", ",\n"), "1953"),
    "padding of the long layout": (long().replace("\n", ",\n") + ",", "1953"),
    "rows of nothing but commas": (WIDE + "\n" + "," * 12 + "\n,,\n", "1953"),
    "names of months": (wide(f"1953,{ROW}", header=f"Year,{N}"), "1953"),
    "Sept": (wide(f"1953,{ROW}", header=f"year,{N.replace('Sep', 'Sept')}"), "1953"),
    "Sept.": (wide(f"1953,{ROW}", header=f"year,{N.replace('Sep', 'Sept.')}"), "1953"),
    "dots behind months": (wide(f"1953,{ROW}", header=f"year,{N.replace(',', '.,')}."), "1953"),
    "capitals": (wide(f"1953,{ROW}", header=f"YEAR,{N.upper()}"), "1953"),
    "signs and exponents": (wide(cells(m06="+1.47e3", m07="2650.", m08="2380.0")), "1953"),
    "water year": (wide(f"1990/91,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year in full": (wide(f"1990/1991,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year with a dash": (wide(f"1990-91,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year with an en dash": (wide(f"1990–91,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year in full with a dash": (wide(f"1990-1991,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year with spaces": (wide(f"1990 / 91,{ROW}", header=f"year,{OCTOBER}"), "1990/91"),
    "water year over the century": (wide(f"1999-00,{ROW}", header=f"year,{OCTOBER}"), "1999/00"),
    "water year of winter": (wide(f"2010-11,{ROW}", header=f"year,{OCTOBER}"), "2010/11"),
    "long": (long(), "1953"),
    "month ends": (month_ends(), "1953"),
    "first days": (long("{:04}-{:02}-01"), "1953"),
    "midnights": (long("{:04}-{:02}-01 00:00:00"), "1953"),
    "columns in the other order": (
        "inflow,date\n" + "\n".join(f"{v},1953-{m:02}" for m, v in enumerate(FLOWS, 1)),
        "1953",
    ),
    "comma in a column's name": (long().replace(",", ";").replace("inflow", "inflow, m3/s"), "1953"),
    "capital date": (long(header="DATE,INFLOW"), "1953"),
    "a title": ("Inflow to Xiaowan\n" + WIDE, "1953"),
    "a title with commas": ("Inflow, monthly means,,,\n" + WIDE, "1953"),
    "comments of other programs": ("// made by hand\n% really\n" + long(), "1953"),
    "a column of totals": (wide(f"1953,{ROW},14920", header=f"year,{M},Total"), "1953"),
    "a column of means": (wide(f"1953,{ROW},1243", header=f"year,{M},Mean"), "1953"),
    "a column of stations": (wide(f"A,1953,{ROW}", header=f"station,year,{M}"), "1953"),
    "a water year by its end": (wide(f"WY1953,{ROW}", header=f"year,{OCTOBER}"), "1952/53"),
    "water years by their end": (wide(f"1953,{ROW}", header=f"WY,{OCTOBER}"), "1952/53"),
    "names of months in dates": (long().replace("1953-05", "1953-May").replace("1953-06", "30-Jun-1953"), "1953"),
    "thousands in quotes": (WIDE.replace("1470", '"1,470"'), "1953"),
    "a long caveat": (f"# caveat: {'x' * MOST_CAVEAT}\n{WIDE}", "1953"),
    "mean row": (f"{WIDE}\nMean,{ROW}", "1953"),
    "average row": (f"{WIDE}\nAVERAGE,{ROW}", "1953"),
    "total row": (long() + "\nTotal,14920", "1953"),
    "Chinese mean row": (f"{WIDE}\n多年平均,{ROW}", "1953"),
    "rows of means and extremes": (f"{WIDE}\nMIN,{ROW}\nMED,{ROW}\nMAX,{ROW}", "1953"),
    "footer": (f"{WIDE}\nSource: the operator", "1953"),
    "footers with marks": (f"{long()}\n* estimated, by the operator\n** computed\n(1) not measured", "1953"),
    "zero width in the header": ("\u200b" + long(), "1953"),
    "blanks before and after": (
        long(first=-1, months=2).replace(",850", ",").replace(",600", ",-999")
        + long().partition("\n")[2].join("\n\n")
        + "1954-01,\n1954-02,NA",
        "1953",
    ),
    "a tab in a caveat": (f"# caveat: synthetic,\tnot observed\n{WIDE}", "1953"),
}

DATES = "date,inflow\n{},400"
#: Files that are refused, and part of what is said.
REFUSED: dict[str, tuple[str | bytes, str]] = {
    # Not such a file.
    "half of utf-16": (WIDE.encode("utf-16")[:-1], "not UTF-16"),
    "latin-1": (long(header="date,inflow (m³/s)").encode("latin-1"), "not UTF-8: byte 0xb3"),
    "a broken workbook": (b"PK\x03\x04", "workbook"),
    "two marks": ("\ufeff\ufeff" + WIDE, "the unprintable character U+FEFF"),
    "escape in the header": (long(header="date,inflow\x1b[31m"), "the unprintable character U+001B"),
    "html": ("<html><body>404</body></html>", "only one column"),
    "json": ('{"year": [1953], "m01": [400]}', "cannot be split into cells"),
    "pipes": (WIDE.replace(",", "|"), "separate the columns with commas"),
    "sep is a pipe": ("sep=|\n" + WIDE.replace(",", "|"), 'unknown delimiter (found "|")'),
    "sep of another": ("sep=;\n" + WIDE, "only one column"),
    "only sep": ("sep=;\n", "the file is empty"),
    "data above the header": (f"1953,{ROW}\n{WIDE}", "a line of data above the header in row 2"),
    "no header": (f"1953,{ROW}", "the header line is missing"),
    "unnamed layout": ("when,inflow\n1953-01,400", "neither a year nor a date"),
    "a water year from January": (wide(f"1953,{ROW}", header=f"WY,{M}"), "but the months begin in January"),
    "a date and months": (WIDE.replace("year", "date"), 'name the column of years "year"'),
    "a month that is no month": ("year,month,inflow\n1953,13,400", 'not a month (found "13"); expected 1 to 12'),
    "a day that is no day": ("year,month,day,inflow\n1953,2,30,400", "the date does not exist"),
    "a year of two digits apart": ("year,month,inflow\n53,1,400", "the century is unknown"),
    # Other columns and rows.
    "mean row above": (wide(f"Mean,{ROW}", f"1953,{ROW}"), "delete rows of means and totals"),
    "total row among months": (long().replace("1953-06", "Total"), "delete rows of means and totals"),
    "footer that is a row": (f"{WIDE}\nSource 1955,7", "wrong number of cells"),
    "two values": (long(header="date,inflow,flow").replace(",4", ",4,1"), "2 columns besides the date: inflow, flow"),
    "no value": ("date\n1953-01", "no column besides the date"),
    "a cell more": (wide(f"1953,{ROW},7"), "wrong number of cells (found 14)"),
    "a cell less": (wide(f"1953,{ROW}"[:-4]), "wrong number of cells (found 12)"),
    "eleven months": (wide("1953" + ",1" * 11, header=f"year,{M[:-4]}"), "no column for Dec"),
    "March twice": (wide(f"1953,{ROW}", header=f"year,{N.replace('Apr', 'Mar')}"), "a second column for Mar"),
    "months out of order": (wide(f"1953,{ROW}", header=f"year,{N.replace('Jan,Feb', 'Feb,Jan')}"), "out of order"),
    # Years.
    "two digits": (wide(f"53,{ROW}", f"54,{ROW}"), 'the year has two digits: the century is unknown (found "53")'),
    "three digits": (wide(f"953,{ROW}"), "the year is out of range"),
    "a leading zero": (wide(f"0953,{ROW}"), "the year is out of range"),
    "five digits": (wide(f"19530,{ROW}"), "the year is out of range"),
    "thousands of digits": (wide(f"{'1' * 5000},{ROW}"), "the year is out of range"),
    "decimal year": (wide(f"1953.5,{ROW}"), "not a year"),
    "a month in the place of a year": (wide(f"1953-01,{ROW}"), 'name the column "date"'),
    "a water year of January": (wide(f"1990-91,{ROW}"), "but the months begin in January"),
    "a water year of two": (wide(f"1990/92,{ROW}", header=f"year,{OCTOBER}"), "must span two consecutive years"),
    "a dash over two": (wide(f"1990-92,{ROW}", header=f"year,{OCTOBER}"), "not a year"),
    "a year twice": (wide(f"1953,{ROW}", f"1953,{ROW}"), "the year appears twice, first in row 2"),
    "a hole": (wide(f"1953,{ROW}", f"1955,{ROW}"), "the year 1954 is missing"),
    # Dates.
    "day or month first": (DATES.format("01/02/1953"), "ambiguous date"),
    "dots": (DATES.format("01.02.1953"), "ambiguous date"),
    "a number that may be October": (DATES.format("1953.1"), "not a date that is understood"),
    "Jan-53": (DATES.format("Jan-53"), "the year has two digits: the century is unknown"),
    "no separators": (DATES.format("195301"), "not a date that is understood"),
    "a spreadsheet's number": (DATES.format("19360"), "not a date that is understood"),
    "one digit of a month": (DATES.format("1953-1"), "not a date that is understood"),
    "time zone": (DATES.format("1953-01-01T00:00:00Z"), "not a date that is understood"),
    "year 53": (DATES.format("0053-01"), "the year is out of range"),
    "a digit too much": (DATES.format("1953-010"), "not a date that is understood"),
    "30 February": (DATES.format("1953-02-30"), "date does not exist"),
    "full-width digits": (DATES.format("１９５３-01"), "not a date that is understood"),
    "24:00": (long("{:04}-{:02}-28T24:00"), "24:00 is the start of the next day"),
    "whole years from February": (long("{:04}-{:02}-01", 24, 2), "each date may be the day after the end of its month"),
    "midnights from February": (long("{:04}-{:02}-01T00:00", 12, 2), "1953-01 or 1953-02"),
    "month's end by a comment": ("# stamps at month-end\n" + long("{:04}-{:02}-01"), "mentions the end of the month"),
    "month ending by a comment": ("# month ending\n" + long("{:04}-{:02}-01"), "mentions the end of the month"),
    "period ending": ("# period ending at the stamp\n" + long("{:04}-{:02}-01"), "mentions the end of the month"),
    "days": (
        long() + "\n" + "\n".join(f"1953-12-{day:02},5" for day in range(1, 32)),
        "time step is shorter than a month",
    ),
    "ten days": (
        long() + "".join(f"\n1953-{month:02}-{day},5" for month in range(1, 13) for day in (11, 21)),
        "3 rows in 1953-01",
    ),
    "two stations": (long() + long().removeprefix("date,inflow"), "or keep only one station"),
    "a month missing": (long().replace("\n1953-05,790", ""), "the month 1953-05 is missing"),
    "a month twice": (long() + "\n1953-05,790", "the month appears twice"),
    # Values.
    "empty": (wide(cells(m05="")), "missing value"),
    "n/a": (wide(cells(m05="N/A")), "missing value"),
    "dash": (wide(cells(m05="-")), "missing value"),
    "spreadsheet error": (wide(cells(m05="#DIV/0!")), "not a number"),
    "star": (wide(cells(m05="790*")), "not a number"),
    "estimated": (wide(cells(m05="790e")), "not a number"),
    "less than": (wide(cells(m05="<5")), "not a number"),
    "unit in the cell": (wide(cells(m05="790 m3/s")), "not a number"),
    "negative": (wide(cells(m05="-5")), "negative flow"),
    "unicode minus": (wide(cells(m05="−5")), "not a number"),
    "brackets of an accountant": (wide(cells(m05="(5)")), "not a number"),
    "decimal comma between commas": (WIDE.replace("790", "790,5"), "wrong number of cells"),
    "thousands by comma": (WIDE.replace(",", ";").replace("1470", "1,470"), "a decimal mark or separate thousands"),
    "thousands by blank": (wide(cells(m06="1 470")), "no thousands separator"),
    "thousands by no-break space": (wide(cells(m06="1\u00a0470")), "no thousands separator"),
    "thousands by thin space": (wide(cells(m06="1\u202f470")), "no thousands separator"),
    "thousands by apostrophe": (wide(cells(m06="1'470")), "no thousands separator"),
    "two points": (wide(cells(m06="1.470.000")), "not a number"),
    "one point": (wide(cells(m06="1.470")), "three decimals among whole numbers: the point may be a decimal point or"),
    "points": (
        wide(cells(m06="1.470", m07="2.650", m08="2.380", m09="2.740", m10="1.720")),
        "write 1470, or 1.4700 if the point is a decimal point",
    ),
    "mostly points": (
        wide("1953," + ",".join(["1.470", "2.650", "12.380"] * 3 + ["990", "2.740", "850"])),
        "thousands",
    ),
    "point between semicolons": (wide(cells(m06="1.470")).replace(",", ";"), "or a thousands separator"),
    "-9999": (wide(cells(m05="-9999")), "missing-value code"),
    "9999": (wide(cells(m05="9999")), 'looks like a missing-value code (found "9999")'),
    "9999.0": (wide(cells(m05="9999.0")), "looks like a missing-value code"),
    "99999": (wide(cells(m05="99999")), "looks like a missing-value code"),
    "999999.99": (wide(cells(m05="999999.99")), "looks like a missing-value code"),
    "9999 twice near the largest": (wide(cells(m05="9999", m09="9999", m07="8000")), "looks like a missing-value code"),
    "999 in two months": (wide(cells(m05="999", m06="999")), "looks like a missing-value code"),
    "999.9 of a brook": (wide("1953,12,11,14,10,9,8,7,999.9,8,9,10,11"), "looks like a missing-value code"),
    "99 of a brook": (wide("1953,1.2,1.1,1.4,1,9,8,7,99,8,9,1,1"), "looks like a missing-value code"),
    "all 9999": (wide("1953" + ",9999" * 12), "looks like a missing-value code"),
    "a sentinel of netCDF": (wide(cells(m05="9.96921e36")), "looks like a missing-value code"),
    "thousands of digits in a cell": (wide(cells(m05="9" * 5000)), "infinite flow"),
    "infinite": (wide(cells(m05="1e309")), "infinite flow"),
    # Sizes.
    "a cell of 200 kB": (wide(cells(m05="9" * 200_000)), "the line has 200,054 characters"),
    "a quoted cell of 200 kB": (wide(cells(m05='"' + "9" * 200_000 + '"')), "the line has 200,056 characters"),
    "a caveat of 20,000 characters": (f"# caveat: {'x' * 20_000}\n{WIDE}", "the line has 20,010 characters"),
    "many columns": ("year" + ",Jan" * 1000 + "\n1953" + ",1" * 1000, "the file has 1,001 columns"),
    "many columns of one month": (wide("1953" + ",1" * 99, header="year" + ",Jan" * 99), "a second column for Jan"),
    "many lines": ("\n" * (MOST_LINES + 1) + WIDE, "lines; expected at most"),
    "many years": (wide(*(f"{1000 + year},{ROW}" for year in range(MOST_YEARS + 1))), "the record has 8,001 years"),
    "many months": (long(months=12 * (MOST_YEARS + 1)), "the record has 8,001 years"),
    "many comments": ("#\n" * (MOST_COMMENTS + 1) + WIDE, "comment lines"),
    "comments of a book": (
        ("# " + "word " * 1500 + "\n") * 14 + WIDE,
        "the comments have 104,986 characters; expected at",
    ),
    "many bytes": (WIDE.encode() + b" " * MOST_BYTES, "too large"),
    # Caveats.
    "escape in a caveat": (f"# caveat: \x1b[31m red\n{WIDE}", "row 1: the caveat has the unprintable character U+001B"),
    "no character in a caveat": (
        f"#\n# caveat: x\uffffy\n{WIDE}",
        "row 2: the caveat has the unprintable character U+FFFF",
    ),
    "direction in a caveat": (f"# caveat: x\u202ey\n{WIDE}", "the unprintable character U+202E"),
    "a caveat too long": (f"# caveat: {'x' * (MOST_CAVEAT + 1)}\n{WIDE}", "more than 1,000 characters"),
    "caveats too long": (f"# caveat: {'x' * 600}\n# caveat: {'x' * 600}\n{WIDE}", "row 2: the caveats have more than"),
    # Quotation marks.
    "open quotation mark": (wide('"1953,1,2', f"1954,{ROW}"), "close every quotation mark"),
    "text behind a quotation mark": (wide(cells(m05='"790"x')), "close every quotation mark"),
    "line break in quotation marks": (WIDE.replace("790", '"790\n"'), "close every quotation mark"),
}

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file."""

    def to_file(content: str | bytes) -> Path:
        path = tmp_path / "inflow.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


@pytest.mark.parametrize(("content", "label"), READ.values(), ids=READ)
def test_is_read_as_it_is_meant(write: Write, content: str | bytes, label: str) -> None:
    inflow = read_inflow(write(content))
    np.testing.assert_array_equal(inflow.flow_m3s, [np.array(FLOWS, float)])
    assert inflow.labels == (label,)
    assert inflow.unit == "m3/s"


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED)
def test_is_refused_with_what_is_wrong(write: Write, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_inflow(write(content))
    assert said in str(refused.value)
    assert all(mistake.mend for mistake in refused.value.mistakes)
    assert len(str(refused.value)) < 50_000
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (cells(m05="999"), "999 (row 2, column m05)"),
        (cells(m05="9999", m07="8000"), "9999 (row 2, column m05)"),
        (cells(m05="999", m11="999"), "999 (row 2, column m05, 2 times)"),
    ],
)
def test_a_code_that_may_be_a_flow_is_noted(write: Write, rows: str, text: str) -> None:
    assert read_inflow(write(wide(rows))).notes == (f"{text} is read as a value, not as a missing-value code",)


@pytest.mark.parametrize(
    "rows",
    [
        "1953,1,2,3,1.125,2,3,4,3,2,1,1,1",
        cells(m05="790.125", m06="1470.5"),
        "1953," + ",".join(f"{float(flow) / 1000:.3f}" for flow in FLOWS),
        "1953," + ",".join(f"{float(flow):.3f}" for flow in FLOWS),
        "1953,0.5,0,1,0.125,2,3,0,0,2,1,1,1",
        cells(m01="99", m02="99"),
    ],
)
def test_decimals_and_small_numbers_are_no_reason_for_doubt(write: Write, rows: str) -> None:
    inflow = read_inflow(write(wide(rows)))
    np.testing.assert_array_equal(inflow.flow_m3s[0], [float(cell) for cell in rows.split(",")[1:]])
    assert inflow.notes == ()


def test_how_first_days_are_read_is_said(write: Write) -> None:
    (note,) = read_inflow(write(long("{:04}-{:02}-01"))).notes
    assert note.startswith("dates on the first of a month are read as that month: 1953-01-01 is Jan 1953")
    assert read_inflow(write(long())).notes == read_inflow(write(month_ends())).notes == ()


def test_whole_years_one_month_after_the_water_year_are_asked_about(write: Write) -> None:
    path = write(long("{:04}-{:02}-01", 24, 11))
    with pytest.raises(InputError, match="the day after the end of its month"):
        read_inflow(path, first_month=10)
    assert read_inflow(path, first_month=11).years == 2
    assert read_inflow(write(long("{:04}-{:02}", 24, 11)), first_month=10).years == 1


@pytest.mark.parametrize(
    ("content", "first_month", "note"),
    [
        (wide(f"1905,{ROW}", header=f"year,{OCTOBER}"), None, "1905 is Oct 1905 to Sep 1906"),
        (wide(f"1905,{ROW}", header=f"year,{OCTOBER}"), 10, "1905 is Oct 1905 to Sep 1906"),
        (wide(f"1905,{ROW}", header=f"Water Year,{OCTOBER}"), None, "1905 is Oct 1904 to Sep 1905"),
        (wide(f"WY 1905,{ROW}", header=f"year,{OCTOBER}"), 10, "1905 is Oct 1904 to Sep 1905 (by the label WY)"),
        (wide(f"1905,{ROW}", f"1906,{ROW}"), 10, "1905/06 is Oct 1905 to Sep 1906"),
        (long(months=24), 4, "1953/54 is Apr 1953 to Mar 1954"),
    ],
)
def test_how_water_years_are_named_is_said_once(write: Write, content: str, first_month: int | None, note: str) -> None:
    notes = read_inflow(write(content), first_month=first_month).notes
    assert [note in each for each in notes].count(True) == sum("named by" in each for each in notes) == 1


def test_water_years_that_do_not_fit_are_mended_where_the_first_month_stands(write: Write) -> None:
    path = write(wide(f"1990/91,{ROW}", header=f"year,{OCTOBER}"))
    with pytest.raises(InputError, match="set first_month = 10 in the reservoir file"):
        read_inflow(path, first_month=1)


def test_a_pipe_is_read(write: Write, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(WIDE))
    writer.start()
    inflow = read_inflow(pipe)
    writer.join()
    np.testing.assert_array_equal(inflow.flow_m3s, [np.array(FLOWS, float)])


def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InputError, match="is too large; expected at most 16 MB"):
        read_inflow("/dev/zero")


def test_a_file_without_end_of_its_rows_is_refused_before_it_is_cut(write: Write) -> None:
    content = wide(*["x" + ",y" * 30] * (MOST_LINES - 10), header=f"year,{','.join(f'c{at}' for at in range(30))}")
    with pytest.raises(InputError, match="the file has 31 columns and"):
        read_inflow(write(content))
