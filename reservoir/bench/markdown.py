"""A result as one Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import pandas as pd

from reservoir.bench.result import ExperimentResult, ResultTable
from reservoir.planning.checks import Check
from reservoir.text.quantities import printable

#: Of numbers without a format of their own.
WHOLE_FORMAT, REAL_FORMAT = ",d", ".4g"
MISSING = "–"
#: What begins something in Markdown or HTML, as what only shows it.
_MARKS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {mark: f"\\{mark}" for mark in "\\|`[]"})
#: As it is written, with its sign.
_NUMBER = re.compile(rf"([≤≥] )?-?[\d.,]+(e[-+]\d+)?%?|{MISSING}|nan|-?inf")


def page(result: ExperimentResult, origin: Mapping[str, Any]) -> str:
    """Write the page: warnings, acceptance table, tables, figures, and where it all comes from."""
    parts = [
        f"# {plain(result.title)}",
        "\n".join(f"> **{plain(warning)}**  " for warning in result.warnings),
        *(section(acceptance_table(result.checks)) if result.checks else ()),
    ]
    for table in result.tables:
        parts += section(table)
    for name in result.figures:
        parts.append(f"![{name}]({name}.png)\n\n{plain(result.captions[name])}")
    parts += ["## Origin", "\n".join(_origin_lines(origin))]
    return "\n\n".join(part for part in parts if part) + "\n"


def section(table: ResultTable) -> list[str]:
    """A table under its title, and what must be known to read it."""
    return [f"## {plain(table.title)}", table_text(table.frame, table.formats or {}), *map(plain, table.notes)]


def table_text(frame: pd.DataFrame, formats: Mapping[str, str]) -> str:
    """A frame as a Markdown table; numbers are right-aligned."""
    columns = [[cell(value, formats.get(name)) for value in frame[name]] for name in frame.columns]
    marks = ["--:" if all(map(_NUMBER.fullmatch, cells)) else ":--" for cells in columns]
    rows = [[plain(str(name)) for name in frame.columns], marks, *zip(*columns, strict=True)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def acceptance_table(checks: Sequence[Check]) -> ResultTable:
    """Claims, what was measured, thresholds, and whether the claims hold."""
    rows = [
        {
            "check": check.check,
            "value": float(check.value),
            "threshold": check.limit,
            "pass": "yes" if check.passed else "**NO**",
        }
        for check in checks
    ]
    frame = pd.DataFrame(rows, columns=["check", "value", "threshold", "pass"])
    return ResultTable("Acceptance", frame, formats={"value": ".3g"})


def cell(value: Any, form: str | None) -> str:
    """One value, in a format or the usual one of its kind, with a dash for what is missing."""
    if isinstance(value, str):
        return plain(value)
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, bool) or not isinstance(value, Real):
        return plain(str(value))
    return format(value, form or (WHOLE_FORMAT if isinstance(value, Integral) else REAL_FORMAT))


def plain(text: str) -> str:
    """Text that Markdown, and the HTML in it, shows as it stands, in one line: names come from others' files.

    Stars and underscores are left, since they can do no more than stress.
    """
    return printable(" ".join(text.splitlines())).translate(_MARKS)


def _origin_lines(origin: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    for key, value in origin.items():
        if isinstance(value, Mapping):
            yield f"{'  ' * depth}- {plain(str(key))}:"
            yield from _origin_lines(value, depth + 1)
        else:
            yield f"{'  ' * depth}- {plain(str(key))}: {plain(str(value))}"
