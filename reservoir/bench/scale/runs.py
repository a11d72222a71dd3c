"""Time `reservoir plan` as a user types it, over synthetic ensembles of more and more years."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reservoir.bench.experiment import DeviceSetup
from reservoir.errors import Mistake, ReservoirError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.ensemble_writer import write_ensemble
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.report.folder import PROFILE
from reservoir.synthetic.ensemble import synthetic_inflow

#: Years of a member, and how the members are made.
MEMBER_YEARS, METHOD = 50, "kirsch"
#: How often the memory of a run is looked at.
_LOOK_SECONDS = 0.02
#: Stages of a profile as the table has them; what is none of these is counted to the last.
_STAGES = {
    "start, import, read": ("start", "import", "read", "prepare", "devices"),
    "search, host": ("search", "host", "programs", "certify"),
    "search, device": ("device",),
    "write": ("write",),
    "figures, report": ("import matplotlib", "figure", "report"),
}
OTHER = "rest"
STAGES = (*_STAGES, OTHER)


@dataclass(frozen=True, kw_only=True)
class ScaleSetup(DeviceSetup):
    """What is planned.

    Parameters
    ----------
    reservoir : Reservoir
    record : Inflow
        That the ensembles are like.
    years : tuple of int
        Of the ensembles, ascending, multiples of `MEMBER_YEARS`.
    solvers : tuple of str
    reference : bool
        Whether every year is compared with dynamic programming.
    devices : str
        As ``--device`` of the plans.
    """

    reservoir: Reservoir
    record: Inflow
    years: tuple[int, ...]
    solvers: tuple[str, ...]
    reference: bool
    devices: str


def scale_runs(setup: ScaleSetup) -> pd.DataFrame:
    """A row for each run: solver, years, seconds of the whole command and of its stages, and its largest memory."""
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_reservoir(setup.reservoir, folder / "reservoir.toml")
        source = synthetic_inflow(setup.record, METHOD, seed=setup.budget.seed)
        for years in setup.years:
            write_ensemble(source.ensemble(years // MEMBER_YEARS, MEMBER_YEARS), "x.nc", folder / f"{years}.nc")
        points = [
            (run, years, solver)
            for run in range(setup.budget.runs + 1)
            for solver in setup.solvers
            for years in setup.years
        ]
        for run, years, solver in setup.tracked(lambda point: f"{point[1]:,} years, {point[2]}", points):
            if run or years == setup.years[0]:  # the first builds programs, and does not count
                row = _run(setup, folder, years, solver, folder / f"{run}-{years}-{solver}")
                rows += [{"run": run, "solver": solver, "years": years} | row] * bool(run)
    return pd.DataFrame(rows)


def _run(setup: ScaleSetup, folder: Path, years: int, solver: str, out: Path) -> dict[str, Any]:
    """Seconds and memory of one call, which may end with 1: years that cannot keep their limits."""
    reference = [] if setup.reference else ["--no-reference"]
    words = ["plan", f"{years}.nc", "--reservoir", "reservoir.toml", "--solver", solver, "--device", setup.devices]
    words += ["--format", "netcdf", "--seed", str(setup.budget.seed), "--profile", *reference, "--out", str(out)]
    began = time.perf_counter()
    with (folder / "said.txt").open("w+") as said:
        process = subprocess.Popen([sys.executable, "-m", "reservoir", *words], cwd=folder, stdout=said, stderr=said)
        with _watched_memory(process.pid) as largest:
            status = process.wait()
        seconds = time.perf_counter() - began
        said.seek(0)
        if status not in (0, 1):
            told = said.read().strip().splitlines()[-1:]
            problem = f"`reservoir plan` over {years:,} years ended with status {status}: {' '.join(told)}"
            raise ReservoirError(Mistake(problem))
    size = sum(each.stat().st_size for each in out.rglob("*") if each.is_file())
    of_stages = _stages(json.loads((out / PROFILE).read_text(encoding="utf-8")), seconds)
    return {"seconds": seconds, **of_stages, "memory_mb": largest[0] / 1e6, "folder_mb": size / 1e6}


def _stages(profile: dict[str, Any], seconds: float) -> dict[str, float]:
    """Seconds of each of `STAGES`, with a sum of `seconds`."""
    found = dict.fromkeys(STAGES, 0.0)
    for each in profile["stages"]:
        words = each["stage"].rpartition(": ")[2]
        stage = next((name for name, parts in _STAGES.items() if words.startswith(parts)), OTHER)
        found[stage] += each["seconds"]
    found[OTHER] += seconds - profile["total_seconds"]
    return found


@contextmanager
def _watched_memory(process: int) -> Iterator[list[int]]:
    """Bytes that a process holds at most, of the system's own account; not a number where there is none."""
    largest, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_SECONDS):
            try:
                pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            except (OSError, IndexError):
                continue
            largest[0] = max(largest[0], pages * os.sysconf("SC_PAGE_SIZE"))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield largest
    finally:
        ended.set()
        watcher.join()
