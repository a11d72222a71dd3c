"""The row of a CSV file that cannot be read."""

from __future__ import annotations

import csv
from io import StringIO

from reservoir.errors import Mistake


def wrong_row(text: str) -> Mistake | None:
    """First row of a table with more cells than its header, or a quotation mark out of place.

    Parameters
    ----------
    text : str
        What the file holds.

    Returns
    -------
    Mistake or None
        With its row, as an editor counts them, and without the file; None where every row can be read.
    """
    rows = csv.reader(StringIO(text, newline=None), strict=True)
    columns, row = 0, 1
    try:
        for cells in rows:
            columns = columns or len(cells)
            if len(cells) > columns:
                return Mistake(f"has {len(cells)} cells", f"{columns}, as in the header", row=row)
            row = rows.line_num + 1
    except csv.Error:
        return Mistake("has quotation marks that do not enclose a whole cell", row=row)
    return None
