"""What the runs come to: a straight line through the seconds, and how far they are from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reservoir.bench.experiment import in_order, select
from reservoir.bench.result import ResultTable, result_table
from reservoir.bench.scale.runs import MEMBER_YEARS, METHOD, STAGES, ScaleSetup
from reservoir.planning.checks import Check

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
