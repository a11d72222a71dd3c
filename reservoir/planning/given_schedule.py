"""A schedule by anyone: a release for each step of a record, and maybe what is claimed to follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.inflow import Inflow

FloatArray = NDArray[np.float64]

RELEASE, START, SHORTAGE = "release_m3s", "storage_start_hm3", "shortage_m3s"
#: Columns whose numbers follow from the releases and the inflow; what is claimed of them is compared.
CLAIMS = (
    *("inflow_m3s", "storage_end_hm3", "energy_gwh", "power_mw", START, "level_m", "tailrace_m", "head_m"),
    *("turbined_m3s", "spill_m3s", "evaporation_hm3", "seepage_hm3", "withdrawal_m3s"),
)


@dataclass(frozen=True, eq=False)
class GivenSchedule:
    """What a file says of the steps of a record.

    Parameters
    ----------
    path : Path
    inflow : Inflow
        The years of the record that the file has.
    columns : mapping of str to ndarray, shape (years, steps)
        Releases, and whatever else the file has, in the program's units and by its names.
    half_digit : mapping of str to float
        Half of the last decimal of each column, in the program's unit.
    headings : mapping of str to str
        What the file calls each column.
    sizes : mapping of str to float
        One of each column's unit in the program's.
    not_read : tuple of str
        Headings of further columns, of which nothing is known.
    """

    path: Path
    inflow: Inflow
    columns: Mapping[str, FloatArray]
    half_digit: Mapping[str, float]
    headings: Mapping[str, str]
    sizes: Mapping[str, float]
    not_read: tuple[str, ...] = ()

    def mistake(self, problem: str, name: str, year: int, step: int, expected: str, mend: str = "") -> Mistake:
        """A mistake at a number of the file, with its row as an editor shows it."""
        value = float(self.columns[name][year, step]) / self.sizes[name]
        row = year * self.inflow.steps + step + 2  # the heading is row 1
        return Mistake(problem, expected, mend, str(self.path), row, self.headings[name], value)
