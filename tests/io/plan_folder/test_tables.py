"""A table is written as pandas writes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from reservoir.io.plan_folder.tables import FLOAT_FORMAT, write_table


def test_a_tables_bytes_are_those_of_pandas(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "year": np.array(["1953/54", 'a "quoted", one', "line\nbreak"], object),
            "month": [6, 7, 8],
            "flow, m3/s": [1.0, -0.25, 123456.7890125],
            "gap": [np.nan, np.inf, -5.1e-7],
            "kept": [True, False, True],
            "none": [np.nan] * 3,
        }
    )
    write_table(table, tmp_path / "ours.csv")
    table.to_csv(tmp_path / "theirs.csv", index=False, float_format=FLOAT_FORMAT, lineterminator="\n")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()


def test_no_zero_has_a_sign(tmp_path: Path) -> None:
    values = [-0.0, -1e-9, -5e-7, float(np.nextafter(-5e-7, -1)), 1e-9]
    write_table(pd.DataFrame({"value": values, "gap": [np.nan, *values[:4]]}), tmp_path / "table.csv")
    written = [line.split(",") for line in (tmp_path / "table.csv").read_text().splitlines()[1:]]
    assert [value for value, _ in written] == ["0.000000"] * 3 + ["-0.000001", "0.000000"]
    assert [gap for _, gap in written] == ["", *["0.000000"] * 3, "-0.000001"]


def test_a_table_of_no_rows_is_its_heading(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"year": [], "energy_gwh": []}), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "year,energy_gwh\n"
