"""Schedules by anyone, as ``reservoir prove`` reads and checks them."""

from __future__ import annotations

import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.io.given_schedule import read_given_schedule
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.planning.checked_schedule import checked_schedule
from reservoir.planning.columns import table_of
from reservoir.planning.operated_record import OperatedSteps
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.io.small_reservoir import SMALL

FILE = "schedule.csv"
_WORDS = (
    *(b"release_m3s", b"release_cfs", b"shortage_m3s", b"storage_start_hm3", b"storage_start_acre_ft", b"level_ft"),
    *(
        b"energy_gwh",
        b"power_mw",
        b"date",
        b"first_day",
        b"year",
        b"month",
        b"2001-02",
        b"2001-02-01",
        b"1e300",
        b"1e15",
    ),
    *(b"0.0000005", b"-0.0000001", b"1e-300", b"20.000000000000000000001", b"inflow_m3s", b"release_m3s,release_m3s"),
)
_FLOWS = [20 + at % 12 * 5 for at in range(24)]


def reader() -> Reader:
    """`read_given_schedule`, and what follows from its releases."""
    months = [f"{2001 + at // 12}-{at % 12 + 1:02}" for at in range(24)]
    plain = "date,release_m3s\n" + "".join(f"{month},{flow}\n" for month, flow in zip(months, _FLOWS, strict=True))
    reservoir, record = _case()
    given = checked_schedule(reservoir, record, _given(plain, record))
    operation = given.plan.operation
    columns = {name: each.ravel() for name, each in table_of("steps", OperatedSteps(record, operation)).items()}
    header = ",".join(("year", "month", *columns, "shortage_m3s"))
    rows = zip(*(each.tolist() for each in columns.values()), strict=True)
    full = "".join(
        f"{2001 + at // 12},{at % 12 + 1},{','.join(f'{value:.6f}' for value in row)},0\n"
        for at, row in enumerate(rows)
    )
    given.checks()  # so that no case waits for what is compiled
    return Reader(FILE, one_file(FILE, spoiled([plain.encode(), f"{header}\n{full}".encode()], _WORDS)), _read)


@cache
def _case() -> tuple[Reservoir, Inflow]:
    reservoir = reservoir_of(SMALL.encode(), "small.toml")
    rows = "".join(f"{2001 + at // 12}-{at % 12 + 1:02},{flow}\n" for at, flow in enumerate(_FLOWS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "inflow.csv"
        path.write_text(f"date,inflow_m3s\n{rows}")
        return reservoir, System.of(reservoir).on_calendar(read_inflow(path))


def _given(text: str, record: Inflow):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        path.write_text(text)
        return read_given_schedule(path, record)


def _read(folder: Path) -> None:
    reservoir, record = _case()
    given = checked_schedule(reservoir, record, read_given_schedule(folder / FILE, record))
    assert math.isfinite(given.energy_gwh)
    assert np.isfinite(given.plan.operation.storage_hm3).all()
    assert np.isfinite(given.plan.operation.release_m3s).all()
    assert given.kept.all() == (not given.missed)
    assert all(
        first_unprintable(str(each)) is None for each in (*given.missed, *given.differences, given.energy_sentence())
    )
    assert given.checks()
