"""Inflow records by months, by years, and files that are no record."""

from __future__ import annotations

LONG = """\
date,inflow_m3s
1953-01,400
1953-02,390
1953-03,420
1953-04,510
1953-05,790
1953-06,1470
1953-07,2650
1953-08,2380
1953-09,2740
1953-10,1720
1953-11,850
1953-12,600
"""

#: Of a record by months.
BY_MONTHS: dict[str, tuple[str, str, str]] = {
    "a million cfs": (
        "inflow_m3s",
        "inflow_mcfs",
        (
            'inflow.csv, row 1, column inflow_mcfs: unknown unit (found "mcfs"); expected m3/s, l/s, cfs, kcfs (mean '
            "flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or give one of these units."
        ),
    ),
    "trillion cubic feet": (
        "inflow_m3s",
        "inflow_tcf",
        (
            'inflow.csv, row 1, column inflow_tcf: unknown unit (found "tcf"); expected m3/s, l/s, cfs, kcfs (mean '
            "flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or give one of these units."
        ),
    ),
    "billion cubic feet": (
        "inflow_m3s",
        "inflow_bcf",
        (
            'inflow.csv, row 1, column inflow_bcf: unknown unit (found "bcf"); expected m3/s, l/s, cfs, kcfs (mean '
            "flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or give one of these units."
        ),
    ),
    "millilitres a second": (
        "inflow_m3s",
        "inflow (ml/s)",
        (
            'inflow.csv, row 1, column inflow (ml/s): unknown unit (found "mlps"); expected m3/s, l/s, cfs, '
            "kcfs (mean flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or "
            "volume/day). Fix: convert "
            "the values, or give one of these units."
        ),
    ),
    "cubic decametres": (
        "inflow_m3s",
        "volume_dam3",
        (
            'inflow.csv, row 1, column volume_dam3: unknown unit (found "dam3"); expected m3/s, l/s, cfs, kcfs (mean '
            "flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or give one of these units."
        ),
    ),
    "a depth": (
        "inflow_m3s",
        "runoff_mm",
        (
            'inflow.csv, row 1, column runoff_mm: unknown unit (found "mm"); expected m3/s, l/s, cfs, kcfs (mean '
            "flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or give one of these units."
        ),
    ),
    "ten thousand m3": (
        "inflow_m3s",
        "径流量(千m3)",
        (
            'inflow.csv, row 1, column 径流量(千m3): m3 with the unknown "千" (found "千"); expected m3/s, l/s, cfs, '
            "kcfs (mean flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or "
            "volume/day). Fix: convert "
            "the values, or give one of these units."
        ),
    ),
    "a year's volume": (
        "inflow_m3s",
        "inflow (m3/year)",
        (
            'inflow.csv, row 1, column inflow (m3/year): m3 with the unknown "/ year" (found "/ year"); expected m3/s, '
            "l/s, cfs, kcfs (mean flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf "
            "(volume, or volume/day). "
            "Fix: convert the values, or give one of these units."
        ),
    ),
    "a level": (
        "inflow_m3s",
        "level_m",
        (
            'inflow.csv, row 1, column level_m: unknown unit (found "m"); expected m3/s, l/s, cfs, kcfs (mean flow) '
            "or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: "
            "convert the values, or "
            "give one of these units.\n"
            "inflow.csv, row 1, column level_m: the column does not seem to be inflow; expected monthly inflow, as "
            "mean flow or volume. Fix: keep the inflow column; if this is it, name it inflow_m3s, or inflow with "
            "another unit."
        ),
    ),
    "an outflow": (
        "inflow_m3s",
        "outflow_m3s",
        (
            "inflow.csv, row 1, column outflow_m3s: the column does not seem to be inflow; expected monthly "
            "inflow, as mean flow or volume. Fix: keep the inflow column; if this is it, name it inflow_m3s, or "
            "inflow with another unit."
        ),
    ),
    "a volume of no unit": (
        "inflow_m3s",
        "volume",
        (
            "inflow.csv, row 1, column volume: the unit of the values is not given; expected m3/s, l/s, cfs, kcfs "
            "(mean flow) or hm3, Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or "
            "volume/day). Fix: name the "
            'column inflow_m3s (or inflow_hm3, ...), add a line "# unit: m3/s", or give the unit (--unit m3/s).'
        ),
    ),
    "two ways to read": (
        "1953-01",
        "01/02/1953",
        (
            "inflow.csv, row 2, column date: ambiguous date: day and month cannot be distinguished (found "
            '"01/02/1953"); expected 1953-01 or 1953-01-31 (year, month, day), or a date with the month\'s '
            "name, such as 31-Jan-1953. Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "a month of one digit": (
        "1953-01",
        "1953-1",
        (
            'inflow.csv, row 2, column date: not a date that is understood (found "1953-1"); expected '
            "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. "
            "Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "a season": (
        "1953-01",
        "Winter 1953",
        (
            'inflow.csv, row 2, column date: not a date that is understood (found "Winter 1953"); expected '
            "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. "
            "Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "a decade of a month": (
        "1953-01",
        "1953-01 upper",
        (
            'inflow.csv, row 2, column date: not a date that is understood (found "1953-01 upper"); expected '
            "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. "
            "Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "BC": (
        "1953-01",
        "-0044-03",
        (
            'inflow.csv, row 2, column date: not a date that is understood (found "-0044-03"); expected '
            "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. "
            "Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "year 10000": (
        "1953-01",
        "10000-01",
        (
            'inflow.csv, row 2, column date: not a date that is understood (found "10000-01"); expected '
            "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. "
            "Fix: write dates as YYYY-MM or YYYY-MM-DD, without a time zone."
        ),
    ),
    "month 13": (
        "1953-12",
        "1953-13",
        (
            'inflow.csv, row 13, column date: the date does not exist (found "1953-13"); expected a calendar '
            "date. Fix: correct the date."
        ),
    ),
    "31 April": (
        "1953-04",
        "1953-04-31",
        (
            'inflow.csv, row 5, column date: the date does not exist (found "1953-04-31"); expected a calendar '
            "date. Fix: correct the date."
        ),
    ),
    "a trace of rain": (
        "790",
        "T",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "T"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "an estimate": (
        "790",
        "790 e",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "790 e"); expected a number such as 413 '
            "or 412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a flag": (
        "790",
        "790R",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "790R"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a range": (
        "790",
        "780-800",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "780-800"); expected a number such as 413 '
            "or 412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a question mark": (
        "790",
        "?",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "?"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "below detection": (
        "790",
        "<1",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "<1"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "minus a balance": (
        "790",
        "-12.5",
        (
            'inflow.csv, row 6, column inflow_m3s: negative flow (found "-12.5"); expected a number of 0 or '
            "more. Fix: correct the value; if it is computed from a reservoir balance, choose --negative keep"
            " or --negative zero."
        ),
    ),
    "octal": (
        "790",
        "0o20",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "0o20"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a fraction": (
        "790",
        "1/2",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "1/2"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "per cent": (
        "790",
        "50%",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "50%"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a currency": (
        "790",
        "$790",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "$790"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "huge exponent": (
        "790",
        "1e99999",
        (
            'inflow.csv, row 6, column inflow_m3s: infinite flow (found "1e99999"); expected a finite number. '
            "Fix: correct the value."
        ),
    ),
    "infinite by name": (
        "790",
        "∞",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "∞"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "NaN with a sign": (
        "790",
        "-nan",
        (
            'inflow.csv, row 6, column inflow_m3s: missing value (found "-nan"); expected a number of 0 or more. '
            "Fix: fill in the month's value, or keep only the complete part of the record."
        ),
    ),
    "Roman": (
        "790",
        "DCCXC",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "DCCXC"); expected a number such as 413 '
            "or 412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "Persian digits": (
        "790",
        "۷۹۰",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "۷۹۰"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "superscript": (
        "790",
        "79²",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "79²"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a subnormal flow is no flood": (
        "790",
        "1e7",
        (
            "inflow.csv, row 6, column inflow_m3s: the flow is too large for a river, if the unit is m3/s (found "
            '"1e7"); expected a mean flow of at most 1,000,000 m3/s. Fix: check the value; if the unit is '
            'another, add a comment line such as "# unit: hm3".'
        ),
    ),
    "a date in place of a flow": (
        "790",
        "1953-05",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "1953-05"); expected a number such as 413 '
            "or 412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a formula": (
        "790",
        "=A2*2",
        (
            'inflow.csv, row 6, column inflow_m3s: not a number (found "=A2*2"); expected a number such as 413 '
            "or 412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "a header over two lines": (
        "date,inflow_m3s",
        ("date,inflow\n,buckets"),
        (
            'inflow.csv, row 2, column date: not a date that is understood (found ""); expected 1953-01 or '
            "1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953. Fix: write "
            "dates as YYYY-MM or YYYY-MM-DD, without a time zone.\n"
            'inflow.csv, row 2, column inflow: not a number (found "buckets"); expected a number such as 413 or '
            "412.5. Fix: use only the digits 0 to 9, without unit or remark."
        ),
    ),
    "comment of another unit": (
        "date,inflow_m3s",
        ("# unit: hm3\ndate,inflow_m3s"),
        (
            "inflow.csv, row 2, column inflow_m3s: contradictory units: the comment in row 1 gives hm3, the "
            "column name gives m3/s; expected one unit. Fix: check which unit is right, and correct or remove "
            "the other."
        ),
    ),
    "comment of a multiplier": (
        "date,inflow_m3s",
        ("# values x 1000\ndate,inflow_m3s"),
        (
            'inflow.csv, row 1: unknown unit (found "x 1000"); expected m3/s, l/s, cfs, kcfs (mean flow) or hm3, '
            "Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: convert "
            "the values, or give one "
            "of these units."
        ),
    ),
    "comment of no unit": (
        "date,inflow_m3s",
        ("# unit: buckets\ndate,inflow_m3s"),
        (
            'inflow.csv, row 1: unknown unit (found "buckets"); expected m3/s, l/s, cfs, kcfs (mean flow) or hm3, '
            "Mm3, MCM, 1e8m3, 1e4m3, km3, m3, acre-ft, kaf, taf, maf (volume, or volume/day). Fix: convert "
            "the values, or give one "
            "of these units."
        ),
    ),
    "a caveat with a bell": (
        "date,inflow_m3s",
        ("# caveat: x\x07y\ndate,inflow_m3s"),
        (
            "inflow.csv, row 1: the caveat has the unprintable character U+0007; expected plain text. Fix: "
            "delete the character."
        ),
    ),
    "eleven months": (
        "1953-12,600\n",
        "",
        (
            "inflow.csv: no complete water year (Jan to Dec) in 1953-01 to 1953-11 (11 months); expected at "
            "least one complete water year. Fix: add months to the record, or set another first month of the "
            "water year."
        ),
    ),
    "a month twice": (
        "1953-12",
        "1953-11",
        (
            'inflow.csv, row 13, column date: the month appears twice, first in row 12 (found "1953-11"); '
            "expected one row per month. Fix: delete one of the rows; average values of shorter steps than a "
            "month first."
        ),
    ),
    "a month left out": (
        "1953-06,1470\n",
        "",
        (
            "inflow.csv, row 7, column date: the month 1953-06 is missing between 1953-05 and 1953-07. Fix: add "
            "the missing rows, or keep only the part of the record before or after the gap."
        ),
    ),
}

WIDE = """\
year,m01,m02,m03,m04,m05,m06,m07,m08,m09,m10,m11,m12
1953,400,390,420,510,790,1470,2650,2380,2740,1720,850,600
1954,400,390,420,510,790,1470,2650,2380,2740,1720,850,600
"""

#: Of a record by years.
BY_YEARS: dict[str, tuple[str, str, str]] = {
    "year of both": (
        "1953,",
        "1953/1955,",
        (
            'inflow.csv, row 2, column year: a water year must span two consecutive years (found "1953/1955"); '
            "expected 1953/54. Fix: correct the year."
        ),
    ),
    "year by its end": (
        "1953,",
        "WY1953,",
        (
            "inflow.csv, row 2, column year: a water year of two calendar years, but the months begin in "
            'January (found "WY1953"); expected 1953. Fix: write one year, or begin the columns with the '
            "first month of the water year."
        ),
    ),
    "fiscal year": (
        "1953,",
        "FY53,",
        (
            'inflow.csv, row 2, column year: not a year (found "FY53"); expected a whole number such as 1953,'
            " 1953/54 or WY1954. Fix: write only the year, or 1953/54 for a water year that begins in 1953."
        ),
    ),
    "a year in words": (
        "1953,",
        "MCMLIII,",
        (
            'inflow.csv, row 2, column year: not a year (found "MCMLIII"); expected a whole number such as '
            "1953, 1953/54 or WY1954. Fix: write only the year, or 1953/54 for a water year that begins in "
            "1953."
        ),
    ),
    "a year with a point": (
        "1953,",
        "1953.0,",
        (
            'inflow.csv, row 2, column year: not a year (found "1953.0"); expected a whole number such as '
            "1953, 1953/54 or WY1954. Fix: write only the year, or 1953/54 for a water year that begins in "
            "1953."
        ),
    ),
    "a total row": (
        "1953,",
        "Total,",
        (
            'inflow.csv, row 2, column year: not a year (found "Total"); expected a whole number such as '
            "1953, 1953/54 or WY1954. Fix: delete rows of means and totals."
        ),
    ),
    "a total column": (
        "year,m01,m02,m03,m04,m05,m06,m07,m08,m09,m10,m11,m12",
        "year,m01,m02,m03,m04,m05,m06,m07,m08,m09,m10,m11,m12,Total",
        (
            "inflow.csv, row 2: wrong number of cells (found 13); expected 14 cells, as in the header. Fix: "
            "add the missing cells, one for each column of the header.\n"
            "inflow.csv, row 3: wrong number of cells (found 13); expected 14 cells, as in the header. Fix: "
            "add the missing cells, one for each column of the header."
        ),
    ),
    "a month in another language": (
        "m03",
        "maaliskuu",
        (
            'inflow.csv, row 1: no column for Mar (found "maaliskuu"); expected twelve month columns. Fix: add the'
            " missing columns, named m01 to m12 or Jan to Dec."
        ),
    ),
    "thirteen": (
        "m12",
        "m13",
        (
            'inflow.csv, row 1: no column for Dec (found "m13"); expected twelve month columns. Fix: add the '
            "missing columns, named m01 to m12 or Jan to Dec."
        ),
    ),
    "a month twice": (
        "m02",
        "m01",
        (
            "inflow.csv, row 1, column m01: a second column for Jan; expected one column per month. Fix: delete "
            "or rename one of them.\n"
            "inflow.csv, row 1: no column for Feb; expected twelve month columns. Fix: add the missing columns, "
            "named m01 to m12 or Jan to Dec."
        ),
    ),
    "years out of order is no fault but a hole is": (
        "1954,",
        "1960,",
        (
            "inflow.csv, row 3, column year: the years 1954 to 1959 are missing between 1953 and 1960. Fix: add "
            "the missing rows, or keep only the part of the record before or after the gap."
        ),
    ),
    "an empty cell": (
        "1953,400,390,",
        "1953,400,,",
        (
            'inflow.csv, row 2, column m02: missing value (found ""); expected a number of 0 or more. Fix: fill '
            "in the month's value, or keep only the complete part of the record."
        ),
    ),
    "a space for nothing": (
        "1953,400,390,",
        "1953,400, ,",
        (
            'inflow.csv, row 2, column m02: missing value (found ""); expected a number of 0 or more. Fix: fill '
            "in the month's value, or keep only the complete part of the record."
        ),
    ),
    "a code": (
        "1953,400,390,",
        "1953,400,-999,",
        (
            'inflow.csv, row 2, column m02: negative flow, probably a missing-value code (found "-999"); '
            "expected a number of 0 or more. Fix: fill in the month's value, or keep only the complete part of "
            "the record."
        ),
    ),
    "many nines": (
        "1953,400,",
        "1953,99999,",
        (
            'inflow.csv, row 2, column m01: looks like a missing-value code (found "99999"); expected the flow '
            "or volume of the month. Fix: fill in the month's value, or keep only the complete part of the "
            "record; if the value is right, add a digit: 99999.1."
        ),
    ),
    "a cell with a line break": (
        "1953,400,",
        ('1953,"4\n00",'),
        (
            'inflow.csv, row 2: the line cannot be split into cells (unexpected end of data) (found "1953,"4"). '
            "Fix: close every quotation mark on the same line.\n"
            "inflow.csv, row 3: wrong number of cells (found 12); expected 13 cells, as in the header. Fix: add "
            "the missing cells, one for each column of the header."
        ),
    ),
    "a quote that is not closed": (
        "1953,400,",
        '1953,"400,',
        (
            "inflow.csv, row 2: the line cannot be split into cells (unexpected end of data) (found "
            '"1953,"400,390,420,510,790,1470,2650,2380,2740,1720,850,600"). Fix: close every quotation mark on '
            "the same line."
        ),
    ),
}

#: What is no record at all, and what is said of it.
NO_RECORD: dict[str, tuple[bytes, str]] = {
    "nothing": (
        b"",
        (
            "inflow.csv: the file is empty; expected a header line and data rows. Fix: check that this is the "
            "right file."
        ),
    ),
    "spaces": (
        b"  \n \n",
        (
            "inflow.csv: the file is empty; expected a header line and data rows. Fix: check that this is the "
            "right file."
        ),
    ),
    "a byte order mark alone": (
        b"\xef\xbb\xbf",
        (
            "inflow.csv: the file is empty; expected a header line and data rows. Fix: check that this is the "
            "right file."
        ),
    ),
    "a comment alone": (
        b"# inflow\n",
        (
            "inflow.csv: the file has only comments; expected a header line and data rows. Fix: check that this "
            "is the right file."
        ),
    ),
    "a header alone": (
        b"date,inflow_m3s\n",
        "inflow.csv, row 1: there are no data rows below the header. Fix: add the data rows.",
    ),
    "gzip": (
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
        (
            "inflow.csv, row 1: the line has a NUL byte: binary data, or UTF-16 text; expected UTF-8 text. Fix: "
            'save the file as UTF-8 text (in a spreadsheet: "CSV UTF-8").'
        ),
    ),
    "PDF": (
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        (
            "inflow.csv, row 2: the line is not UTF-8: byte 0xe2; expected UTF-8 text. Fix: save the file as "
            'UTF-8 text (in a spreadsheet: "CSV UTF-8").'
        ),
    ),
    "old Excel": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00",
        (
            "inflow.csv, row 1: the line has a NUL byte: binary data, or UTF-16 text; expected UTF-8 text. Fix: "
            'save the file as UTF-8 text (in a spreadsheet: "CSV UTF-8").'
        ),
    ),
    "UTF-16": (
        b"\xff\xfed\x00a\x00t\x00e\x00,\x00i\x00n\x00f\x00l\x00o\x00w\x00_\x00m\x003\x00s\x00\n\x00",
        ("inflow.csv, row 1: there are no data rows below the header. Fix: add the data rows."),
    ),
    "code page 1252": (
        b"date,d\xe9bit_m3s\n1953-01,1\n",
        (
            "inflow.csv, row 1: the line is not UTF-8: byte 0xe9; expected UTF-8 text. Fix: save the file as "
            'UTF-8 text (in a spreadsheet: "CSV UTF-8").'
        ),
    ),
    "XML": (
        b'<?xml version="1.0"?>\n<inflow/>\n',
        (
            'inflow.csv, row 1: the header has only one column (found "<?xml version="1.0"?>"); expected '
            '"year,m01,...,m12" with one row per year, or "date,inflow_m3s" with one row per month or day. '
            "Fix: separate the columns with commas, semicolons or tabs."
        ),
    ),
    "TOML of a reservoir": (
        b'name = "small"\nfirst_month = 1\n\n[plant]\ninstalled_capacity_m',
        (
            "inflow.csv, row 1: this is a reservoir file (TOML), not a record; expected a table of dates, or years, "
            "and inflow. Fix: give it by --reservoir, and a record in its place."
        ),
    ),
    "one number": (
        b"413\n",
        (
            "inflow.csv, row 1: there are no data rows below the header. Fix: add the data rows.\n"
            'inflow.csv, row 1: the header line is missing: this line has data (found "413"); expected '
            '"year,m01,...,m12" with one row per year, or "date,inflow_m3s" with one row per month or day. '
            "Fix: add a line with the column names above it."
        ),
    ),
    "Python": (
        b"import numpy\n",
        (
            "inflow.csv, row 1: there are no data rows below the header. Fix: add the data rows.\n"
            'inflow.csv, row 1: the header has only one column (found "import numpy"); expected '
            '"year,m01,...,m12" with one row per year, or "date,inflow_m3s" with one row per month or day. '
            "Fix: separate the columns with commas, semicolons or tabs."
        ),
    ),
}
