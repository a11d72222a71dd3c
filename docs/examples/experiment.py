"""An experiment in one file: how far the best of random points stays from the optimum of the sphere function.

    python docs/examples/experiment.py

writes tables, measurements and an acceptance table to a folder, as `reservoir bench random-points` does. In the package
this file would be a module of `reservoir/bench`, and what `register` adds a row of the table in
`reservoir/cli/bench.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pandas as pd

from reservoir.bench.experiment import RunBudget, Study, numbers_named
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import ResultTable, Row, by, result_table
from reservoir.cli import cli
from reservoir.cli.bench import EXPERIMENTS, Experiment
from reservoir.planning.checks import Check

NAME = "random-points"
POINTS, QUICK_POINTS, DIMENSION = (100, 1000, 10_000), (10, 100), 4


# 1. What is run, in fields of a study. One that needs a device derives `DeviceStudy`, which solves problems there.
@dataclass(frozen=True, kw_only=True, eq=False)
class PointStudy(Study):
    """Numbers of random points. Table: ``runs``, the best value of each."""

    points: tuple[int, ...]

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run: a journal is continued where all of it is the same."""
        return super().origin() | {"points": list(self.points)}


# 2. The experiment: options as the command line gives them, runs, and functions of what they come to.
def run(*, budget: RunBudget, points: str | None = None) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    points : str, optional
        Numbers of points with commas between them.
    """
    counts = budget.usual(POINTS, QUICK_POINTS)
    if points is not None:
        counts = numbers_named(points, lambda count: count > 0, "is no number of points", "1 or more", "--points")
    study = PointStudy.of(budget, points=counts)
    runs = {f"{count}, {run}": (count, run) for count in counts for run in range(budget.runs)}
    rows = study.kept_rows("points", runs, _row)  # those that the journal has are not made again
    study = study.measured({"runs": pd.DataFrame(rows)})
    return study.result("Random points on the sphere function", _headlines, _tables, claims=_claims)


def _row(study: PointStudy, asked: tuple[int, int]) -> Row:
    count, run = asked
    random = np.random.default_rng([study.budget.seed, count, run])
    values = np.square(random.uniform(-1, 1, (count, DIMENSION))).sum(axis=1)
    return {"points": count, "run": run + 1, "best": float(values.min())}


def _headlines(study: PointStudy) -> dict[str, str]:
    best = study.data["runs"].groupby("points")["best"].mean()
    return {"Best": ", ".join(f"{value:.2g} of {count:,} points" for count, value in best.items())}


def _tables(study: PointStudy) -> Iterator[ResultTable]:
    frame = by(study.data["runs"].assign(value="best, mean"), "points", "value", value="best", statistic="mean")
    yield result_table("Best value", frame, f"Means of {study.budget.runs} runs.", points=",d", form=".3g")


def _claims(study: PointStudy) -> Iterator[Check]:
    best = study.data["runs"].groupby("points")["best"].mean()
    yield Check("mean of the most points over that of the fewest", best.iloc[-1] / best.iloc[0], 1.0)


# 3. A row of the table that registers it: name, summary, module, its own options.
def register() -> None:
    """Register the experiment; in the package this is a row in `reservoir.cli.bench`."""
    option = click.option("--points", metavar="10,100,...", help="Numbers of points.  [default: 100 to 10000]")
    summary = "Random points on the sphere function: best values."
    EXPERIMENTS[NAME] = Experiment(NAME, summary, __name__, option, resumable=True, runs=10)


def main(*words: str) -> int:
    """Run it as a command of `reservoir bench`; returns the exit status."""
    register()
    return int(cli.main(["bench", NAME, *words], standalone_mode=False) or 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main("--out", f"{folder}/{NAME}")
