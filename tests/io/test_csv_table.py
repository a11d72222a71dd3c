"""A table is written as pandas writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from reservoir.io.csv_table import FLOAT_FORMAT, write_table


def test_a_tables_bytes_are_those_of_pandas(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "year": np.array(["1953/54", 'a "quoted", one', "line\nbreak"], object),
            "month": [6, 7, 8],
            "flow, m3/s": [1.0, -0.0, 123456.7890125],
            "gap": [np.nan, np.inf, -1e-9],
            "kept": [True, False, True],
            "none": [np.nan] * 3,
        }
    )
    write_table(table, tmp_path / "ours.csv")
    table.to_csv(tmp_path / "theirs.csv", index=False, float_format=FLOAT_FORMAT, lineterminator="\n")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_a_table_of_no_rows_is_its_heading(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"year": [], "energy_gwh": []}), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "year,energy_gwh\n"
