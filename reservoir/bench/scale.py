"""What planning costs a year, from a thousand years to many: the whole command, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.polynomial import Polynomial

from reservoir.bench.experiment import DeviceStudy, RunBudget, names_named, numbers_named
from reservoir.bench.figures import number_ticks, panels, short
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row
from reservoir.errors import Mistake, ReservoirError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.records.members import check_writable, write_ensemble
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.planning.checks import Check
from reservoir.report.figures.style import LIMITS, NORMAL, POWER, RELEASE, SPILL, STORAGE, sheet_figure
from reservoir.report.folder import PROFILE
from reservoir.solvers import RESERVOIR_SOLVERS
from reservoir.synthetic.ensemble import synthetic_inflow

YEARS, QUICK_YEARS = "1000,3000,10000,30000,100000", "100,200"
#: Solvers of the claims.
USUAL = "lshade,clpso"
#: Years of a member, and how the members are made.
MEMBER_YEARS, METHOD = 50, "kirsch"
#: By its name, the format that plans read members from.
ENSEMBLE = "ensemble.nc"
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
    title = "Cost of a year, on {study.device.name}"
    reservoir: Reservoir
    record: Inflow
    years: tuple[int, ...]
    solvers: tuple[str, ...]
    reference: bool

    def _measure(self) -> dict[str, pd.DataFrame]:
        rows = []
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write_reservoir(self.reservoir, folder / "reservoir.toml")
            source = synthetic_inflow(self.record, METHOD, seed=self.budget.seed)
            for years in self.years:
                write_ensemble(source.ensemble(years // MEMBER_YEARS, MEMBER_YEARS), ENSEMBLE, folder / f"{years}.nc")
            points = product(range(self.budget.runs + 1), self.solvers, self.years)
            for run, solver, years in self.tracked(lambda point: f"{point[2]:,} years, {point[1]}", points):
                if run or years == self.years[0]:  # the first builds programs, and does not count
                    row = self._run(folder, years, solver, folder / f"{run}-{years}-{solver}")
                    rows += [{"run": run, "solver": solver, "years": years} | row] * bool(run)
        return {"runs": pd.DataFrame(rows)}

    def _run(self, folder: Path, years: int, solver: str, out: Path) -> Row:
        """Seconds and memory of one call, which may end with 1: years that cannot keep their limits."""
        words = ["plan", f"{years}.nc", "--reservoir", "reservoir.toml", "--solver", solver, "--format", "netcdf"]
        words += ["--device", self.budget.device, "--seed", str(self.budget.seed), "--profile", "--out", str(out)]
        words += [] if self.reference else ["--no-reference"]
        status, largest, began = None, 0, time.perf_counter()
        with (folder / "said.txt").open("w+") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "reservoir", *words], cwd=folder, stdout=said, stderr=said
            )
            while status is None:
                with suppress(subprocess.TimeoutExpired):
                    status = process.wait(_LOOK_SECONDS)
                with suppress(OSError, IndexError):  # of the system's own account, where there is one
                    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
                    largest = max(largest, pages * os.sysconf("SC_PAGE_SIZE"))
            seconds = time.perf_counter() - began
            said.seek(0)
            if status not in (0, 1):
                last = " ".join(said.read().strip().splitlines()[-1:])
                raise ReservoirError(
                    Mistake(f"`reservoir plan` over {years:,} years ended with status {status}: {last}")
                )
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        of_stages = _stages(json.loads((out / PROFILE).read_text(encoding="utf-8")), seconds)
        return {"seconds": seconds, **of_stages, "memory_mb": largest / 1e6, "folder_mb": size / 1e6}

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        return super().origin() | {"years": list(self.years), "reference": self.reference}

    def caveats(self) -> tuple[str, ...]:
        """Where the inflow is from."""
        return (f"The inflow is synthetic ({METHOD}), made from {Path(self.record.source).name or 'a record'}.",)

    def written(self) -> dict[str, pd.DataFrame]:
        """The runs, and their medians."""
        return {**self.data, "points": self.points}

    @cached_property
    def points(self) -> Frame:
        """Medians of the runs, a row for each solver and number of years."""
        runs = self.data["runs"].drop(columns="run")
        return runs.groupby(["solver", "years"], sort=False).median().reset_index()

    @property
    def by_solver(self) -> Iterator[tuple[str, Frame, Polynomial]]:
        """Each solver in the order in which they were asked for, its points, and the line through them.

        The line, seconds that any plan takes and those of each year more, is at the least distance from the points, as
        a part of each.
        """
        for solver, points in self.points.groupby("solver", sort=False):
            years, seconds = (points[name].to_numpy(float) for name in ("years", "seconds"))
            of_each = np.column_stack([1 / seconds, years / seconds])
            yield str(solver), points, Polynomial(np.linalg.lstsq(of_each, np.ones(len(years)), rcond=None)[0])

    def checks(self) -> Iterator[Check]:
        """Growth in a straight line; seconds and memory where device and number of years are those of a claim."""
        claims = ((GPU_YEARS, GPU_SECONDS, self.large_gpu), (CPU_YEARS, CPU_SECONDS, self.small_cpu))
        for solver, points, line in self.by_solver:
            of_years = points.set_index("years")
            if len(points) > 2:  # two points are on a line always
                first, last = points["years"].min(), points["years"].max()
                yield self.claim("linear", _deviation(points, line), solver=solver, first=first, last=last)
            for years, limits, holds in claims:
                if holds and years in of_years.index and solver in limits:
                    yield self.claim(
                        "seconds", of_years.loc[years, "seconds"], limits[solver], solver=solver, years=years
                    )
            if GPU_YEARS in of_years.index:
                yield self.claim("memory", of_years.loc[GPU_YEARS, "memory_mb"], solver=solver, years=GPU_YEARS)

    def _headlines(self) -> dict[str, str]:
        lines = {}
        for solver, points, line in self.by_solver:
            last = points.iloc[-1]
            a_year = f"{1000 * line.coef[1]:.3g} ms a year and {line.coef[0]:.1f} s for any plan"
            lines[solver] = (
                f"{last['years']:,.0f} years in {last['seconds']:.1f} s, {last['memory_mb']:,.0f} MB; {a_year}"
            )
        return lines

    def _tables(self) -> Iterator[ResultTable]:
        """The points, and the lines through them."""
        names = {"reference": "with" if self.reference else "without", "years": MEMBER_YEARS, "method": METHOD}
        yield self.table("points", self.points, **names)
        rows = [
            {"solver": solver, "any plan, s": line.coef[0], "a year more, ms": 1000 * line.coef[1]}
            | {"largest distance, %": 100 * _deviation(points, line)}
            for solver, points, line in self.by_solver
        ]
        yield self.table("lines", rows)

    def _figures(self) -> dict[str, Figure]:
        """Both rows for each solver: seconds by years with the line, and seconds a thousand years by stage."""
        return {"scale": sheet_figure(4.6, self.foot("Synthetic inflow · "), lambda sheet: _draw(sheet, self))}


def _deviation(points: pd.DataFrame, line: Polynomial) -> float:
    """Largest distance of a point from the line, as a part of it."""
    return float(np.abs(points["seconds"].to_numpy() / line(points["years"].to_numpy()) - 1).max())


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
    names = names_named(solvers or USUAL, RESERVOIR_SOLVERS, "there is no such solver", "solvers")
    check_writable(ENSEMBLE)
    own: dict[str, Any] = {"reservoir": reservoir, "record": record, "years": counts, "solvers": names}
    return ScaleStudy.of(budget, reference=reference, **own).measured().result()


def _stages(profile: dict[str, Any], seconds: float) -> dict[str, float]:
    """Seconds of each of `STAGES`, with a sum of `seconds`."""
    stages = dict.fromkeys(STAGES, 0.0)
    for part in profile["stages"]:
        words = part["stage"].rpartition(": ")[2]
        stage = next((name for name, parts in _STAGES.items() if words.startswith(parts)), OTHER)
        stages[stage] += part["seconds"]
    stages[OTHER] += seconds - profile["total_seconds"]
    return stages


_COLOURS = dict(zip(STAGES, (NORMAL, RELEASE, STORAGE, POWER, SPILL, LIMITS), strict=True))
_WIDTH = 0.72


def _draw(sheet: SubFigure, study: ScaleStudy) -> Axes:
    shown = list(study.by_solver)
    axes = panels(sheet, 2 * len(shown), len(shown), "")
    for upper, lower, (solver, points, line) in zip(axes[: len(shown)], axes[len(shown) :], shown, strict=True):
        at = np.geomspace(points["years"].min(), points["years"].max(), 100)
        upper.plot(at, line(at), color=LIMITS, lw=1, label="straight line")
        upper.plot(points["years"], points["seconds"], "o", ms=4.5, color=STORAGE, label="whole command")
        number_ticks(upper, points["years"], base=10, form=short)
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
