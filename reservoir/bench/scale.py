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
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator
from numpy.typing import ArrayLike, NDArray

from reservoir.bench.experiment import DeviceStudy, RunBudget, names_named, numbers_named
from reservoir.bench.figures import log_axis, panels, short
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, in_order, select
from reservoir.errors import Mistake, ReservoirError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.records.members import write_ensemble
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.planning.checks import Check
from reservoir.report.figures.style import LIMITS, NORMAL, POWER, RELEASE, SPILL, STORAGE, sheet_figure
from reservoir.report.folder import PROFILE
from reservoir.solvers import SOLVERS
from reservoir.synthetic.ensemble import synthetic_inflow

YEARS, QUICK_YEARS = "1000,3000,10000,30000,100000", "100,200"
#: Solvers of the claims.
USUAL = "lshade,clpso"
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
#: Years, and the seconds that a plan of as many may take: on a large GPU and on two cores.
GPU_YEARS, GPU_SECONDS = 100_000, {"lshade": 10.0, "clpso": 15.0}
CPU_YEARS, CPU_SECONDS = 10_000, {"lshade": 30.0}


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


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaleStudy(DeviceStudy):
    """What is planned. Table: ``runs``, with seconds of the whole command and of its stages, and its largest memory.

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
    """

    paper = "scale"
    reservoir: Reservoir
    record: Inflow
    years: tuple[int, ...]
    solvers: tuple[str, ...]
    reference: bool

    @cached_property
    def points(self) -> Frame:
        """Medians of the runs, a row for each solver and number of years."""
        runs = self.data["runs"]
        medians = runs.drop(columns="run").groupby(["solver", "years"], sort=False).median().reset_index()
        return pd.concat([select(medians, solver=solver) for solver in in_order(runs["solver"])], ignore_index=True)

    @property
    def by_solver(self) -> Iterator[tuple[str, Frame, Line]]:
        """Each solver in the order in which they were asked for, its points, and the line through them."""
        for solver in in_order(self.points["solver"]):
            points = select(self.points, solver=solver)
            yield solver, points, Line.through(points)


def _deviation(points: pd.DataFrame, line: Line) -> float:
    """Largest distance of a point from the line, as a part of it."""
    return float(np.abs(points["seconds"].to_numpy() / line.at(points["years"]) - 1).max())


def run(
    reservoir: Reservoir,
    record: Inflow,
    *,
    budget: RunBudget,
    years: str | None = None,
    solvers: str | None = None,
    reference: bool = True,
) -> ExperimentResult:
    """Plan synthetic ensembles that are like a record. Options: see `reservoir.cli.bench`."""
    asked = years or budget.usual(YEARS, QUICK_YEARS)
    problem, expected = "these are no numbers of years of whole members", f"multiples of {MEMBER_YEARS}"
    counts = numbers_named(asked, lambda count: count > 0 and not count % MEMBER_YEARS, problem, expected, "years")
    names = names_named(solvers or USUAL, SOLVERS, "there is no such solver", "solvers")
    own: dict[str, Any] = {"reservoir": reservoir, "record": record, "years": counts, "solvers": names}
    study = ScaleStudy.of(budget, reference=reference, **own)
    runs = _runs(study)
    study = study.measured({"runs": runs})
    caveat = f"The inflow is synthetic ({METHOD}), made from {Path(record.source).name or 'a record'}."
    shown: dict[str, Any] = {"data": {"runs": runs, "points": study.points}, "years": list(counts)}
    shown |= {"reference": reference, "caveats": (caveat,)}
    title = f"Cost of a year, on {study.device.name}"
    return study.result(title, _headlines, scale_tables, scale_figures, checks=scale_checks, **shown)


def _runs(study: ScaleStudy) -> pd.DataFrame:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_reservoir(study.reservoir, folder / "reservoir.toml")
        source = synthetic_inflow(study.record, METHOD, seed=study.budget.seed)
        for years in study.years:
            write_ensemble(source.ensemble(years // MEMBER_YEARS, MEMBER_YEARS), "x.nc", folder / f"{years}.nc")
        points = product(range(study.budget.runs + 1), study.solvers, study.years)
        for run, solver, years in study.tracked(lambda point: f"{point[2]:,} years, {point[1]}", points):
            if run or years == study.years[0]:  # the first builds programs, and does not count
                row = _run(study, folder, years, solver, folder / f"{run}-{years}-{solver}")
                rows += [{"run": run, "solver": solver, "years": years} | row] * bool(run)
    return pd.DataFrame(rows)


def _run(study: ScaleStudy, folder: Path, years: int, solver: str, out: Path) -> dict[str, Any]:
    """Seconds and memory of one call, which may end with 1: years that cannot keep their limits."""
    reference = [] if study.reference else ["--no-reference"]
    words = ["plan", f"{years}.nc", "--reservoir", "reservoir.toml", "--solver", solver]
    words += ["--device", study.budget.device, "--format", "netcdf", "--seed", str(study.budget.seed), "--profile"]
    began, call = time.perf_counter(), [sys.executable, "-m", "reservoir", *words, *reference, "--out", str(out)]
    with (folder / "said.txt").open("w+") as said:
        process = subprocess.Popen(call, cwd=folder, stdout=said, stderr=said)
        with _watched_memory(process.pid) as largest:
            status = process.wait()
        seconds = time.perf_counter() - began
        said.seek(0)
        if status not in (0, 1):
            words = said.read().strip().splitlines()[-1:]
            problem = f"`reservoir plan` over {years:,} years ended with status {status}: {' '.join(words)}"
            raise ReservoirError(Mistake(problem))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    of_stages = _stages(json.loads((out / PROFILE).read_text(encoding="utf-8")), seconds)
    return {"seconds": seconds, **of_stages, "memory_mb": largest[0] / 1e6, "folder_mb": size / 1e6}


def _stages(profile: dict[str, Any], seconds: float) -> dict[str, float]:
    """Seconds of each of `STAGES`, with a sum of `seconds`."""
    stages = dict.fromkeys(STAGES, 0.0)
    for part in profile["stages"]:
        words = part["stage"].rpartition(": ")[2]
        stage = next((name for name, parts in _STAGES.items() if words.startswith(parts)), OTHER)
        stages[stage] += part["seconds"]
    stages[OTHER] += seconds - profile["total_seconds"]
    return stages


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


def scale_checks(study: ScaleStudy) -> Iterator[Check]:
    """Growth in a straight line; seconds and memory where the device and the number of years are those of a claim."""
    claims = ((GPU_YEARS, GPU_SECONDS, study.large_gpu), (CPU_YEARS, CPU_SECONDS, study.small_cpu))
    for solver, points, line in study.by_solver:
        of_years = points.set_index("years")
        if len(points) > 2:  # two points are on a line always
            first, last = points["years"].min(), points["years"].max()
            yield study.claim("linear", _deviation(points, line), solver=solver, first=first, last=last)
        for years, limits, holds in claims:
            if holds and years in of_years.index and solver in limits:
                yield study.claim("seconds", of_years.loc[years, "seconds"], limits[solver], solver=solver, years=years)
        if GPU_YEARS in of_years.index:
            yield study.claim("memory", of_years.loc[GPU_YEARS, "memory_mb"], solver=solver, years=GPU_YEARS)


def _headlines(study: ScaleStudy) -> dict[str, str]:
    lines = {}
    for solver, points, line in study.by_solver:
        last = points.iloc[-1]
        a_year = f"{1000 * line.year_seconds:.3g} ms a year and {line.fixed_seconds:.1f} s for any plan"
        lines[solver] = f"{last['years']:,.0f} years in {last['seconds']:.1f} s, {last['memory_mb']:,.0f} MB; {a_year}"
    return lines


def scale_tables(study: ScaleStudy) -> Iterator[ResultTable]:
    """The points, and the lines through them."""
    names = {"reference": "with" if study.reference else "without", "years": MEMBER_YEARS, "method": METHOD}
    yield study.table("points", study.points, **names)
    rows = [
        {"solver": solver, "any plan, s": line.fixed_seconds, "a year more, ms": 1000 * line.year_seconds}
        | {"largest distance, %": 100 * _deviation(points, line)}
        for solver, points, line in study.by_solver
    ]
    yield study.table("lines", rows)


_COLOURS = dict(zip(STAGES, (NORMAL, RELEASE, STORAGE, POWER, SPILL, LIMITS), strict=True))
_WIDTH = 0.72


def scale_figures(study: ScaleStudy) -> dict[str, Figure]:
    """Both rows for each solver: seconds by years with the line, and seconds a thousand years by stage."""
    return {"scale": sheet_figure(4.6, study.foot("Synthetic inflow · "), lambda sheet: _draw(sheet, study))}


def _draw(sheet: SubFigure, study: ScaleStudy) -> Axes:
    shown = list(study.by_solver)
    axes = panels(sheet, 2 * len(shown), len(shown), "")
    for upper, lower, (solver, points, line) in zip(axes[: len(shown)], axes[len(shown) :], shown, strict=True):
        at = np.geomspace(points["years"].min(), points["years"].max(), 100)
        upper.plot(at, line.at(at), color=LIMITS, lw=1, label="straight line")
        upper.plot(points["years"], points["seconds"], "o", ms=4.5, color=STORAGE, label="whole command")
        log_axis(upper, "x", form=short)
        upper.xaxis.set_major_locator(FixedLocator(points["years"].to_list()))
        upper.set_ylim(bottom=0)
        upper.set_title(solver)
        below, places = np.zeros(len(points)), np.arange(len(points))
        for stage, colour in _COLOURS.items():
            share = 100 * points[stage].to_numpy() / points["seconds"].to_numpy()
            lower.bar(places, share, _WIDTH, below, color=colour, label=stage)
            below += share
        lower.set_xticks(places, [short(years) for years in points["years"]])
        lower.set(ylim=(0, 100), xlabel="Years")
    axes[0].set_ylabel("Seconds")
    axes[len(shown)].set_ylabel("Share (%)")
    return axes[len(shown)]
