"""What a river was like at the end of the last month: a table with a row, or several, for each of its reservoirs."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from reservoir.errors import InputError
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import UnitSystem
from reservoir.text.data_file import real_number, text_in_limits

#: Columns that are read, in the program's units: of the first three, the first that is there.
STORAGES, LEVEL = ("storage_end_hm3", "storage_hm3"), "level_m"
RELEASE, INFLOW, ARRIVING = "release_m3s", "inflow_m3s", "arriving_m3s"
_READ = (*STORAGES, LEVEL, RELEASE, INFLOW, ARRIVING)
_EXPECTED = "a column reservoir, and one of storage_end_hm3, storage_hm3 or level_m"
_MEND = "name the columns so; schedule.csv of a simulation is such a table"


def read_river_state(path: Path, system: System, month: int) -> dict[str, dict[str, float]]:
    """Read a table with a column ``reservoir``: of each, its last row counts.

    Parameters
    ----------
    path : Path
        CSV. Storage at the end of a month or a forebay level, and if known the month's release and inflow, of which
        ``arriving_m3s`` is what links brought; in SI or US units, as the columns are named.
    system : System
    month : int
        Calendar month that begins: where the table has a column ``month``, its last rows are of the month before.

    Returns
    -------
    dict
        For each reservoir that the table has, ``storage_hm3`` or ``level_m``, and ``release_m3s`` and ``local_m3s`` if
        they are known.

    Raises
    ------
    InputError
        With the first mistake in the file.
    """
    header, *rows = [[cell.strip() for cell in row] for row in csv.reader(text_in_limits(path).splitlines())] or [[]]
    units = UnitSystem.of_columns(header)
    names = [units.program_column(name) for name in header]
    stored = next((name for name in (*STORAGES, LEVEL) if name in names), None)
    if "reservoir" not in names or stored is None:
        raise InputError("has no state of a river", _EXPECTED, _MEND, str(path), row=1, value=", ".join(header))
    last = dict[str, tuple[int, dict[str, str]]]()
    for number, row in enumerate(rows, start=2):
        if any(row):
            cells = dict(zip(names, row, strict=False))
            last[cells.get("reservoir", "")] = number, cells
    found, column = dict[str, dict[str, float]](), header[names.index("reservoir")]
    for name, (number, cells) in last.items():
        if name not in system.names:
            expected = f"one of {', '.join(system.names)}"
            raise InputError("is no reservoir of the system", expected, "", str(path), number, column, name)
        before = (month - 2) % MONTHS_PER_YEAR + 1
        if cells.get("month", str(before)) != str(before):
            expected, mend = f"{before}, {MONTH_NAMES[before - 1]}", "give the rows up to the month before --month"
            raise InputError("is not the month before", expected, mend, str(path), number, "month", cells["month"])
        numbers = {
            each: _number(path, number, header[names.index(each)], cells[each]) * units.size(each)
            for each in _READ
            if cells.get(each)
        }
        if stored not in numbers:
            raise InputError("is missing", "a number", "", str(path), number, header[names.index(stored)])
        state = {"storage_hm3" if stored in STORAGES else LEVEL: numbers[stored]}
        state |= {RELEASE: numbers[RELEASE]} if RELEASE in numbers else {}
        state |= {"local_m3s": numbers[INFLOW] - numbers.get(ARRIVING, 0.0)} if INFLOW in numbers else {}
        found[name] = state
    return found


def _number(path: Path, row: int, column: str, cell: str) -> float:
    number = real_number(cell)
    if math.isnan(number):
        raise InputError("is not a number", "a number", "", str(path), row, column, cell)
    return number
