"""Ensembles in long CSV files, read as a record's members and as a forecast."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.io.records.reader import read_inflow, read_inflow_forecast
from reservoir.text.quantities import first_unprintable
from tests.fuzz.case import Reader, one_file
from tests.fuzz.judge import judge_refusal
from tests.fuzz.spoiling import spoiled

FILE = "ensemble.csv"
_WORDS = (
    *(
        b"member",
        b"scenario",
        b"wet",
        b"dry",
        b"2001-13",
        b"2001-06",
        b"1-Jun-2001",
        b"-9999",
        b"-901",
        b"9999",
        b"1e300",
    ),
    *(
        b"evaporation_mm",
        b"withdrawal_cfs",
        b"price_per_mwh",
        b"station",
        b"# unit: hm3\n",
        b"# caveat: x\n",
        b"inflow_m3s",
    ),
    *(b"a,2001-01,5\n", b"inflow (acre-ft)", b"0001-01", b"9999-12", b"99999-01", b'"a\nb"', b"=cmd()"),
)


def reader() -> Reader:
    """`read_inflow` with members, and `read_inflow_forecast`."""
    months = [f"{2001 + at // 12}-{at % 12 + 1:02}" for at in range(24)]
    rows = [(name, month, 5 + 3 * at % 17) for name in ("wet", "dry") for at, month in enumerate(months)]
    plain = "member,date,inflow_m3s\n" + "".join(f"{name},{month},{flow}\n" for name, month, flow in rows)
    full = "# unit: hm3\n# caveat: invented\ndate;scenario;inflow;evaporation_mm;withdrawal_cfs;price_per_mwh;station\n"
    full += "".join(f"{month};{name};{flow};{flow - 9};{flow};40;A\n" for name, month, flow in reversed(rows))
    return Reader(FILE, one_file(FILE, spoiled([plain.encode(), full.encode()], _WORDS)), _read)


def _read(folder: Path) -> None:
    path = folder / FILE
    try:
        flow_m3s = read_inflow_forecast(path)
    except InputError as refused:
        judge_refusal(refused, folder)
    else:
        assert flow_m3s.size
        assert np.isfinite(flow_m3s).all()
        assert 0 <= flow_m3s.min() <= flow_m3s.max() <= FLOW_M3S.most
    inflow = read_inflow(path, negative="zero" if path.is_file() and path.stat().st_size % 2 else None)
    flow = inflow.flow_m3s
    assert flow.shape == (inflow.years, 12)
    assert np.isfinite(flow).all()
    assert 0 <= flow.min() <= flow.max() <= FLOW_M3S.most
    names = [] if inflow.members is None else inflow.members.tolist()
    assert first_unprintable("".join((inflow.caveat, *inflow.notes, *inflow.labels, *names))) is None
