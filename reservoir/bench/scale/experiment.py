"""What planning costs a year, from a thousand years to many: the whole command, as a user types it."""

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

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator
from numpy.typing import ArrayLike, NDArray

from reservoir.bench.experiment import DeviceSetup, in_order, names_named, numbers_named, select
from reservoir.bench.figures import log_axis, panels, short
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.errors import Mistake, ReservoirError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.records.writer import write_ensemble
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.figures.style import LIMITS, NORMAL, POWER, RELEASE, SPILL, STORAGE, sheet_figure
from reservoir.report.folder import PROFILE
from reservoir.solvers import SOLVERS
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


#: Largest distance from the straight line, as a part of it.
LINEAR = 0.1
#: Years, and the seconds that a plan of as many may take: on a large GPU and on two cores; and memory on the host.
GPU_YEARS, GPU_SECONDS = 100_000, {"lshade": 10.0, "clpso": 15.0}
CPU_YEARS, CPU_SECONDS = 10_000, {"lshade": 30.0}
MEMORY_MB = 2000.0


@dataclass(frozen=True)
class Line:
    """Seconds of a plan: those that any takes, and those of each year more."""

    fixed_seconds: float
    year_seconds: float

    @classmethod
    def through(cls, points: pd.DataFrame) -> Line:
        """The line from which points are at the least distance, as a part of each."""
        years, seconds = (points[name].to_numpy(float) for name in ("years", "seconds"))
        of_each = np.column_stack([1 / seconds, years / seconds])
        fixed, year = np.linalg.lstsq(of_each, np.ones(len(years)), rcond=None)[0]
        return cls(float(fixed), float(year))

    def at(self, years: ArrayLike) -> NDArray[np.float64]:
        """Seconds of so many years."""
        return np.asarray(self.fixed_seconds + self.year_seconds * np.asarray(years, np.float64))


@dataclass(frozen=True, eq=False)
class ScaleFindings:
    """The runs, and the medians of each point."""

    setup: ScaleSetup
    runs: pd.DataFrame

    @property
    def points(self) -> pd.DataFrame:
        """Medians of the runs, a row for each solver and number of years."""
        medians = self.runs.drop(columns="run").groupby(["solver", "years"], sort=False).median().reset_index()
        return pd.concat([select(medians, solver=solver) for solver in self.solvers], ignore_index=True)

    @property
    def solvers(self) -> list[str]:
        """In the order in which they were asked for."""
        return in_order(self.runs["solver"])

    def line(self, solver: str) -> Line:
        """Through the points of a solver."""
        return Line.through(select(self.points, solver=solver))

    def deviation(self, solver: str) -> float:
        """Largest distance of a point from the line, as a part of it."""
        points = select(self.points, solver=solver)
        at = self.line(solver).at(points["years"])
        return float(np.abs(points["seconds"].to_numpy() / at - 1).max())


def scale_checks(found: ScaleFindings) -> list[Check]:
    """Growth in a straight line; seconds and memory where the device and the number of years are those of a claim."""
    checks, setup = [], found.setup
    for solver in found.solvers:
        points = select(found.points, solver=solver)
        mine = {int(row["years"]): row for row in points.to_dict("records")}
        if len(mine) > 2:  # two points are on a line always
            what = f"{solver}: largest distance from a straight line, {min(mine):,} to {max(mine):,} years"
            checks.append(Check(what, found.deviation(solver), LINEAR))
        claims = [(GPU_YEARS, GPU_SECONDS, setup.large_gpu), (CPU_YEARS, CPU_SECONDS, setup.small_cpu)]
        for years, limits, holds in claims:
            if holds and years in mine and solver in limits:
                checks.append(Check(f"{solver}: seconds for {years:,} years", mine[years]["seconds"], limits[solver]))
        if GPU_YEARS in mine:
            checks.append(
                Check(f"{solver}: memory at {GPU_YEARS:,} years, MB", mine[GPU_YEARS]["memory_mb"], MEMORY_MB)
            )
    return checks


def scale_tables(found: ScaleFindings) -> tuple[ResultTable, ...]:
    """The points, and the lines through them."""
    shown = found.points.rename(
        columns={"seconds": "whole, s", **{stage: f"{stage}, s" for stage in STAGES}}
        | {"memory_mb": "memory, MB", "folder_mb": "folder, MB"}
    )
    runs, reference = found.setup.budget.runs, "with" if found.setup.reference else "without"
    note = (
        f"Medians of {runs} runs of `reservoir plan`, {reference} reference, from the start of the command to its end, "
        f"NetCDF in and out, figures and report included; after one run that builds programs. Synthetic members of "
        f"{MEMBER_YEARS} years ({METHOD}). The device's seconds are those that it stamped; the host works at other "
        "parts meanwhile, and only what it takes longer is counted as its own. Memory is the largest that the process "
        "held, of which the system can take back pages of the file of parts."
    )
    lines = [
        {"solver": solver, "any plan, s": line.fixed_seconds, "a year more, ms": 1000 * line.year_seconds}
        | {"largest distance, %": 100 * found.deviation(solver)}
        for solver, line in ((solver, found.line(solver)) for solver in found.solvers)
    ]
    about = "The straight line whose largest parts of distance are least in the sum of their squares."
    return (
        result_table("Seconds by years", shown, note, **{"*, s": ",.2f", "*, MB": ",.0f"}),
        result_table(
            "Cost of a year",
            lines,
            about,
            **{"any plan, s": ".2f", "a year more, ms": ".4g", "largest distance, %": ".1f"},
        ),
    )


_COLOURS = dict(zip(STAGES, (NORMAL, RELEASE, STORAGE, POWER, SPILL, LIMITS), strict=True))
_WIDTH = 0.72


def scale_figures(found: ScaleFindings) -> dict[str, Figure]:
    """Both rows for each solver: seconds by years with the line, and seconds a thousand years by stage."""
    foot = [found.setup.foot("Synthetic inflow · ")]
    return {"scale": sheet_figure(4.6, foot, lambda sheet: _draw(sheet, found))}


def _draw(sheet: SubFigure, found: ScaleFindings) -> Axes:
    solvers = found.solvers
    axes = panels(sheet, 2 * len(solvers), len(solvers), "")
    for upper, lower, solver in zip(axes[: len(solvers)], axes[len(solvers) :], solvers, strict=True):
        points, line = select(found.points, solver=solver), found.line(solver)
        at = np.geomspace(points["years"].min(), points["years"].max(), 100)
        upper.plot(at, line.at(at), color=LIMITS, lw=1, label="straight line")
        upper.plot(points["years"], points["seconds"], "o", ms=4.5, color=STORAGE, label="whole command")
        log_axis(upper, "x", form=short)
        upper.xaxis.set_major_locator(FixedLocator(points["years"].to_list()))
        upper.set_ylim(bottom=0)
        upper.set_title(solver)
        below = np.zeros(len(points))
        places = np.arange(len(points))
        for stage, colour in _COLOURS.items():
            share = 100 * points[stage].to_numpy() / points["seconds"].to_numpy()
            lower.bar(places, share, _WIDTH, below, color=colour, label=stage)
            below += share
        lower.set_xticks(places, [short(years) for years in points["years"]])
        lower.set(ylim=(0, 100), xlabel="Years")
    axes[0].set_ylabel("Seconds")
    axes[len(solvers)].set_ylabel("Share (%)")
    return axes[len(solvers)]


YEARS, QUICK_YEARS = "1000,3000,10000,30000,100000", "100,200"
#: Solvers of the claims.
USUAL = "lshade,clpso"
_CAPTION = (
    "Above: seconds of the whole command `reservoir plan` by years of the ensemble (medians), and the straight line "
    "through them; years are on a logarithmic axis. Below: where the seconds go."
)


def run(
    reservoir: Reservoir,
    record: Inflow,
    *,
    budget: RunBudget,
    years: str | None = None,
    solvers: str | None = None,
    reference: bool = True,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Plan synthetic ensembles that are like a record.

    Parameters
    ----------
    years : str, optional
        Numbers of years with commas between them, multiples of `MEMBER_YEARS`.
    solvers : str, optional
        Names with commas between them.
    reference : bool
        Compare every year with dynamic programming, as `reservoir plan` does.
    """
    asked = years or budget.usual(YEARS, QUICK_YEARS)
    problem, expected = "these are no numbers of years of whole members", f"multiples of {MEMBER_YEARS}"
    counts = numbers_named(asked, lambda count: count > 0 and not count % MEMBER_YEARS, problem, expected, "years")
    setup = ScaleSetup.of(
        budget,
        progress,
        reservoir=reservoir,
        record=record,
        years=counts,
        solvers=names_named(solvers or USUAL, SOLVERS, "there is no such solver", "solvers"),
        reference=reference,
        devices=budget.device,
    )
    found = ScaleFindings(setup, scale_runs(setup))
    return setup.result(
        f"Cost of a year, on {setup.device.name}",
        caveats=(f"The inflow is synthetic ({METHOD}), made from {Path(record.source).name or 'a record'}.",),
        headlines={solver: _headline(found, solver) for solver in found.solvers},
        checks=scale_checks(found),
        tables=scale_tables(found),
        data={"runs": found.runs, "points": found.points},
        figures=scale_figures(found),
        captions={"scale": _CAPTION},
        years=list(counts),
        reference=reference,
    )


def _headline(found: ScaleFindings, solver: str) -> str:
    line, last = found.line(solver), found.points[found.points["solver"] == solver].iloc[-1]
    each = f"{1000 * line.year_seconds:.3g} ms a year and {line.fixed_seconds:.1f} s for any plan"
    return f"{last['years']:,.0f} years in {last['seconds']:.1f} s, {last['memory_mb']:,.0f} MB; {each}"
