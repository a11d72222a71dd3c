"""Folders of a plan of two years: a file, what is changed in it, what it becomes (None: it is gone), the message."""

from __future__ import annotations

ODD: dict[str, tuple[str, str | None, str | None, str]] = {
    "schedule.csv: gone": (
        "schedule.csv",
        None,
        None,
        "schedule.csv: is missing. Fix: run `reservoir plan` again, or restore the file.",
    ),
    "summary.csv: gone": (
        "summary.csv",
        None,
        None,
        "summary.csv: is missing. Fix: run `reservoir plan` again, or restore the file.",
    ),
    "reservoir.toml: gone": (
        "reservoir.toml",
        None,
        None,
        "reservoir.toml: is missing. Fix: run `reservoir plan` again, or restore the file.",
    ),
    "plan.json: gone": (
        "plan.json",
        None,
        None,
        "FOLDER: is not a plan folder: plan.json is missing; expected a folder written by `reservoir plan`.",
    ),
    "plan.json: years in words": (
        "plan.json",
        '"years": 2',
        '"years": "two"',
        (
            "plan.json, years: is missing or has the wrong type; expected a number. Fix: run `reservoir plan` "
            "again, or restore the file."
        ),
    ),
    "plan.json: another number of years": (
        "plan.json",
        '"years": 2',
        '"years": 3',
        ("schedule.csv: has 24 months; the plan has 36. Fix: run `reservoir plan` again, or restore the file."),
    ),
    "plan.json: no solver": (
        "plan.json",
        '"solver": "dp",',
        "",
        (
            "plan.json, solver: is missing or has the wrong type; expected a string. Fix: run `reservoir plan` "
            "again, or restore the file."
        ),
    ),
    "plan.json: notes of numbers": (
        "plan.json",
        '"notes": []',
        '"notes": [1]',
        (
            "plan.json, notes: is missing or has the wrong type; expected a list of strings. Fix: run `reservoir "
            "plan` again, or restore the file."
        ),
    ),
    "plan.json: a figure of a number": (
        "plan.json",
        '"figures": {}',
        '"figures": {"fan": 1}',
        (
            "plan.json, figures: is missing or has the wrong type; expected a string for each figure. Fix: run "
            "`reservoir plan` again, or restore the file."
        ),
    ),
    "plan.json: a key twice": (
        "plan.json",
        '"years": 2',
        '"years": 2, "years": 2',
        (
            "plan.json: cannot be read (the key years appears twice in one object). Fix: run `reservoir "
            "plan` again, or restore the file."
        ),
    ),
    "plan.json: infinite years": (
        "plan.json",
        '"years": 2',
        '"years": 1e400',
        (
            "plan.json: cannot be read (a number that is not finite or beyond 1e+30). Fix: run `reservoir plan` "
            "again, or restore the file."
        ),
    ),
    "schedule.csv: no months": (
        "schedule.csv",
        "year,month",
        "year,months",
        "schedule.csv: has no column month. Fix: run `reservoir plan` again, or restore the file.",
    ),
    "schedule.csv: another month": (
        "schedule.csv",
        "1953,1,",
        "1953,2,",
        (
            'schedule.csv, row 2, column month: is out of sequence (found "2"); expected 1. Fix: run `reservoir '
            "plan` again, or restore the file."
        ),
    ),
    "schedule.csv: another year": (
        "schedule.csv",
        "1953,1,",
        "1952,1,",
        (
            'schedule.csv, row 3, column year: is out of sequence (found "1953"); expected 1952. Fix: run '
            "`reservoir plan` again, or restore the file."
        ),
    ),
    "schedule.csv: an empty cell": (
        "schedule.csv",
        "1953,1,20.000000",
        "1953,1,",
        (
            "schedule.csv, row 2, column inflow_m3s: is empty; expected a number. Fix: run `reservoir plan` "
            "again, or restore the file."
        ),
    ),
    "schedule.csv: two points": (
        "schedule.csv",
        "1953,1,20.000000",
        "1953,1,20..0",
        (
            'schedule.csv, row 2, column inflow_m3s: is not a finite number (found "20..0"); expected a number. '
            "Fix: run `reservoir plan` again, or restore the file."
        ),
    ),
    "schedule.csv: a flow below 0": (
        "schedule.csv",
        "1953,1,20.000000",
        "1953,1,-20",
        (
            "schedule.csv, row 2, column inflow_m3s: is negative (found -20.0); expected 0 or more. Fix: run "
            "`reservoir plan` again, or restore the file."
        ),
    ),
    "schedule.csv: a flow of no river": (
        "schedule.csv",
        "1953,1,20.000000",
        "1953,1,1e16",
        (
            'schedule.csv, row 2, column inflow_m3s: is out of range (found "1e16"); expected a number. Fix: run '
            "`reservoir plan` again, or restore the file."
        ),
    ),
    "schedule.csv: a byte of another encoding": (
        "schedule.csv",
        "1953,2,",
        "1953,\udce9,",
        (
            "schedule.csv, row 3: the line is not UTF-8: byte 0xe9; expected UTF-8 text. Fix: run `reservoir "
            "plan` again, or restore the file."
        ),
    ),
    "schedule.csv: a NUL byte": (
        "schedule.csv",
        "1953,2,",
        "1953,\x00,",
        (
            "schedule.csv, row 3: the line has a NUL byte: binary data, or UTF-16 text; expected UTF-8 text. "
            "Fix: run `reservoir plan` again, or restore the file."
        ),
    ),
    "schedule.csv: a cell more": (
        "schedule.csv",
        "1953,2,",
        "1953,2,2,",
        (
            "schedule.csv, row 3: has 17 cells; expected 16, as in the header. Fix: run `reservoir plan` again, or "
            "restore the file."
        ),
    ),
    "schedule.csv: a cell more in the first row": (
        "schedule.csv",
        "1953,1,",
        "1953,1,1,",
        (
            "schedule.csv, row 2: has 17 cells; expected 16, as in the header. Fix: run `reservoir plan` again, or "
            "restore the file."
        ),
    ),
    "schedule.csv: an open quotation mark": (
        "schedule.csv",
        "1953,2,",
        '"1953,2,',
        (
            "schedule.csv, row 3: has quotation marks that do not enclose a whole cell. Fix: run `reservoir plan` "
            "again, or restore the file."
        ),
    ),
    "summary.csv: a byte of another encoding in the heading": (
        "summary.csv",
        "year,",
        "year\udcff,",
        (
            "summary.csv, row 1: the line is not UTF-8: byte 0xff; expected UTF-8 text. Fix: run `reservoir "
            "plan` again, or restore the file."
        ),
    ),
    "summary.csv: another year": (
        "summary.csv",
        "1953,",
        "1990,",
        ("summary.csv: has other years than schedule.csv. Fix: run `reservoir plan` again, or restore the file."),
    ),
    "reservoir.toml: a reservoir that was changed": (
        "reservoir.toml",
        "dead_hm3 = 20",
        "dead_hm3 = 21",
        ("reservoir.toml: was changed after the plan was made. Fix: run `reservoir plan` again, or restore the file."),
    ),
}
