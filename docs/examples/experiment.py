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
from reservoir.bench.tables import ResultTable, Row, result_table
from reservoir.cli import cli
from reservoir.cli.bench import EXPERIMENTS, Experiment
from reservoir.planning.checks import Check

NAME = "random-points"
POINTS, QUICK_POINTS, DIMENSION = (100, 1000, 10_000), (10, 100), 4


# 1. What is run, in fields of a study, and what it comes to. One that needs a device derives `DeviceStudy`.
@dataclass(frozen=True, kw_only=True, eq=False)
class PointStudy(Study):
    """Numbers of random points. Table: ``runs``, the best value of each."""

    title = "Random points on the sphere function"
    points: tuple[int, ...]

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run: a journal is continued where all of it is the same."""
        return super().origin() | {"points": list(self.points)}

    def _measure(self) -> dict[str, pd.DataFrame]:
        # Those that the journal has are not made again.
        runs = {f"{count}, {run}": (count, run) for count in self.points for run in range(self.budget.runs)}
        return {"runs": pd.DataFrame(self.kept_rows("points", runs))}

    def _row(self, run: tuple[int, int]) -> Row:
        count, number = run
        random = np.random.default_rng([self.budget.seed, count, number])
        values = np.square(random.uniform(-1, 1, (count, DIMENSION))).sum(axis=1)
        return {"points": count, "run": number + 1, "best": float(values.min())}

    @property
    def means(self) -> pd.Series:
        """Mean best values by the number of points."""
        return self.data["runs"].groupby("points")["best"].mean()

    def _headlines(self) -> dict[str, str]:
        return {"Best": ", ".join(f"{value:.2g} of {count:,} points" for count, value in self.means.items())}

    def _tables(self) -> Iterator[ResultTable]:
        frame = self.means.to_frame("best, mean")
        yield result_table("Best value", frame, f"Means of {self.budget.runs} runs.", points=",d", form=".3g")

    def claims(self) -> Iterator[Check]:
        """What a quick trial is not held to."""
        yield Check("mean of the most points over that of the fewest", self.means.iloc[-1] / self.means.iloc[0], 1.0)


def run(*, budget: RunBudget, points: str | None = None) -> ExperimentResult:
    """Run the experiment, with options as the command line gives them.

    Parameters
    ----------
    points : str, optional
        Numbers of points with commas between them.
    """
    counts = budget.usual(POINTS, QUICK_POINTS)
    if points is not None:
        counts = numbers_named(points, lambda count: count > 0, "is no number of points", "1 or more", "--points")
    return PointStudy.of(budget, points=counts).measured().result()


# 2. A row of the table that registers it: name, summary, module, its own options.
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
