"""Where the host's time goes in a run of CLPSO, as in Table 7 of Yu et al. 2020 (Complexity 6589658)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.setup import select

#: What a host spends its time on, in the order of Yu et al. 2020, section 5, and waiting for the kernel; with titles.
PHASES = {
    "numbers": "1 initial numbers",
    "transfer": "2 queue, buffers, writes",
    "build": "3 program",
    "enqueue": "4 kernel, arguments, enqueue",
    "read": "5 read",
    "release": "6 release",
    "wait": "waiting for the kernel",
}


def phase_seconds(seconds: Mapping[str, float], missing: float | None) -> dict[str, float | None]:
    """Columns of a run."""
    return {f"{name}_seconds": seconds.get(name, missing) for name in PHASES}


def host_time_table(about: str, runs: Mapping[str, pd.DataFrame], note: str, *, rest: bool = False) -> ResultTable:
    """Milliseconds by phase: of the first runs, and the mean of those that count, which follow.

    The runs are by what they are told apart by; the rest is what lies outside the phases.
    """
    rows: list[dict[str, Any]] = []
    for name, mine in runs.items():
        for counted, which in ((False, "first run"), (True, "mean of the others")):
            chosen = select(mine, counted=counted)
            columns = [f"{phase}_seconds" for phase in PHASES]
            spent = 1e3 * chosen[columns].astype(float).fillna(0.0).mean()
            total, device = (1e3 * chosen[each].astype(float).mean() for each in ("seconds", "device_seconds"))
            row = {about: name, "run": which} | dict(zip(PHASES.values(), spent.tolist(), strict=True))
            row |= {"rest": total - float(spent.sum())} if rest else {}
            rows.append(row | {"whole call": total, "device": device})
    return result_table("Where the host's time goes (after Table 7)", rows, note, form=",.2f")
