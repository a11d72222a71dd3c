"""Inflow records: odd files of the tests, spoiled further."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from reservoir.hydro.attributes import FLOW_M3S
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.io.records.reader import read_inflow
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Reader, one_file
from tests.fuzz.spoiling import spoiled
from tests.io.records.odd_records import ODD_RECORDS
from tests.io.records.test_inflow_zoo import FLOWS, READ, REFUSED

_LINES = (
    *(
        b"# unit: hm3\n",
        b"# unit: barrel\n",
        b"# caveat: x\n",
        b"sep=;\n",
        b"# all values in 1000 m3\n",
        b"# month ending\n",
    ),
    *(b"year,m01,m02\n", b"date,inflow_m3s\n", b"date,volume (Mio m3)\n", b"1953-12-31,5\n", b"1990/91", b"WY1990"),
    *(
        b"Jan",
        b"Sept.",
        b"Total",
        b"Mean",
        b"1953-02-30",
        b"1953-01-01T24:00",
        b"01/02/1953",
        b"N/A",
        b"-9999",
        b"9999.9",
    ),
    *(
        b"inflow (acre-ft)",
        b"01-Jan-1953",
        b"Jan 1953",
        b'"1,470"',
        b"1.470,5",
        b"-12.5",
        b"water_year",
        b"Inflow to the lake\n",
        b"inflow in 10^6 m3",
        "入库水量(亿m3)".encode(),
        b"m01_cfs",
        b"year (hm3)",
        b"0.5",
        b"1.470",
    ),
)
_MOST = 20_000

FILE = "inflow.csv"


def reader() -> Reader:
    """`read_inflow`, in the file's water year or one that begins in June."""
    texts = [text if isinstance(text, bytes) else text.encode() for text, _ in (*READ.values(), *REFUSED.values())]
    texts += [record.text.encode() for record in ODD_RECORDS]
    rows = "\n".join(f"{1953 + year},{','.join(FLOWS)}" for year in range(9))
    header = "year," + ",".join(f"m{month:02}" for month in range(1, MONTHS_PER_YEAR + 1))
    many = [f"{header}\n{rows}\n".encode()] * 300
    return Reader(FILE, one_file(FILE, spoiled([*many, *(text for text in texts if len(text) < _MOST)], _LINES)), _read)


def _read(folder: Path) -> None:
    path = folder / FILE
    first_month = 6 if path.is_file() and path.stat().st_size % 5 == 0 else None
    size = path.stat().st_size if path.is_file() else 0
    inflow = read_inflow(path, first_month=first_month, missing_days=size % 4, negative=(None, "zero")[size % 2])
    flow = inflow.flow_m3s
    assert flow.shape == (inflow.years, MONTHS_PER_YEAR) == (len(inflow.labels), MONTHS_PER_YEAR)
    assert inflow.years >= 1
    assert np.isfinite(flow).all()
    assert 0 <= flow.min() <= flow.max() <= FLOW_M3S.most
    assert inflow.calendar.first_month == (first_month or inflow.calendar.first_month)
    assert inflow.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert first_unprintable("".join((inflow.caveat, *inflow.notes, inflow.scale, *inflow.labels))) is None
