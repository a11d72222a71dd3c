"""Tables as CSV files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

#: Decimals in tables; a millionth of a hm3 is a cubic metre.
FLOAT_FORMAT = "%.6f"
#: Numbers no farther from 0 than this are written as 0: half of the last decimal is rounded to the even one.
_LEAST_SHOWN = 5e-7
#: Rows that are written at once: a number takes many times its bytes as an object.
_ROWS = 100_000
_SPECIAL = frozenset(',"\r\n')


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index, numbers with six decimals, nothing where there is none.

    The bytes are those of `DataFrame.to_csv`, which asks of every number whether it is one; but no zero has a sign.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(_quoted, table.columns)) + "\n")
        for first in range(0, len(table), _ROWS):
            columns = [_column(table[name].iloc[first : first + _ROWS]) for name in table]
            row = ",".join(form for form, _ in columns) + "\n"
            file.writelines(row % cells for cells in zip(*(cells for _, cells in columns), strict=True))


def _column(column: pd.Series) -> tuple[str, Sequence[Any]]:
    """How a cell is written, and the cells."""
    if column.dtype.kind != "f":
        values = column.tolist()
        return "%s", [_quoted(value) for value in values] if column.dtype.kind == "O" else values
    # What six decimals show as a zero below 0 is 0.
    values = column.mask((column <= 0) & (column >= -_LEAST_SHOWN), 0.0).tolist()
    if column.isna().any():
        return "%s", ["" if math.isnan(value) else FLOAT_FORMAT % value for value in values]
    return FLOAT_FORMAT, values


def _quoted(text: str) -> str:
    return text if _SPECIAL.isdisjoint(text) else '"' + text.replace('"', '""') + '"'
