"""Any solver of the registry on the eight functions, so that it can be compared with other programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from reservoir.bench.experiment import RunBudget, Study, device_origin
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import ResultTable, Row, summary
from reservoir.errors import InputError
from reservoir.opencl import choose_devices
from reservoir.problems.functions import (
    FUNCTIONS,
    ROTATIONS,
    Function,
    FunctionProblem,
    function_problems,
    functions_named,
)
from reservoir.solvers import GENERAL_SOLVERS, Solver, solve

DIMENSION = 30
#: The budget of Yu et al. 2020, section 5: 40 particles and so many generations, or as many evaluations.
PAPER_BUDGET, QUICK_BUDGET = {"generations": 5000, "evaluations": 200_000}, {"generations": 500, "evaluations": 20_000}


def titled(function: str) -> str:
    """A function's name and title."""
    return f"{function} {FUNCTIONS[function].title}"


def rotation(problems: Iterable[FunctionProblem]) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """The matrix of the rotated problems, which have the same, and what makes it; nothing if none is rotated."""
    for problem in problems:
        if problem.rotation is not None:
            return {"rotation": pd.DataFrame(problem.rotation.matrix)}, {"rotation": asdict(problem.rotation)}
    return {}, {}


@dataclass(frozen=True, kw_only=True, eq=False)
class FunctionStudy(Study):
    """What is run: functions of so many variables, by an engine with settings. Table: ``runs``."""

    paper = "functions"
    title = "{study.engine.name} on benchmark functions in {study.dimension} dimensions"
    engine: Solver
    functions: Sequence[Function]
    dimension: int
    rotations: int
    settings: Mapping[str, Any]

    def problems(self, function: Function, count: int) -> list[FunctionProblem]:
        """A function, with the random numbers of each run."""
        return list(function_problems(function, count, dimension=self.dimension, rotations=self.rotations))

    def rotation(self) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
        """As `rotation`, of the functions."""
        return rotation(self.problems(function, 1)[0] for function in self.functions)

    def _measure(self) -> dict[str, pd.DataFrame]:
        rows: list[Row] = []
        asked = {"solver": self.engine.name, "seed": self.budget.seed, "device": self.budget.device, **self.settings}
        for function in self.tracked("functions", self.functions):
            problems = self.problems(function, self.budget.runs)
            # Compiles; a device may lay out other numbers of problems otherwise.
            solve(problems if self.engine.opencl else problems[:1], **asked)
            for place, solution in enumerate(solve(problems, **asked), start=1):
                best = -solution.fitness_float32 if function.noise else -solution.fitness
                row: Row = {"function": function.name, "run": place, "best": best, "value": -solution.fitness}
                row |= {"evaluations": solution.evaluations, "call_seconds": solution.wall_seconds}
                rows.append(row | {"device_seconds": solution.device_seconds})
        return {"runs": pd.DataFrame(rows), **self.rotation()[0]}

    def origin(self) -> dict[str, Any]:
        """As of every study, the device if the engine needs one, and what is run."""
        device = {"device": device_origin(choose_devices(self.budget.device)[0])} if self.engine.opencl else {}
        about = {"solver": self.engine.name, "settings": self.settings, "dimension": self.dimension}
        return super().origin() | device | about | self.rotation()[1]

    def _headlines(self) -> dict[str, str]:
        best = self.data["runs"].groupby("function", sort=False)["best"]
        return {
            titled(str(name)): f"mean {values.mean():.3g}, from {values.min():.3g} to {values.max():.3g}"
            for name, values in best
        }

    def _tables(self) -> Iterator[ResultTable]:
        rows = []
        for name, mine in self.data["runs"].groupby("function", sort=False):
            evaluations, seconds = mine["evaluations"], float(mine["call_seconds"].iloc[0])
            row: Row = {"function": titled(str(name))} | summary(mine["best"], ".3g")
            row |= {"evaluations per run": round(evaluations.mean()), "seconds, all runs": seconds}
            rows.append(row | {"evaluations, M/s": evaluations.sum() / seconds / 1e6})
        yield self.table("best", rows)


def run(
    *,
    budget: RunBudget,
    solver: str = "clpso",
    dimension: int = DIMENSION,
    functions: str | None = None,
    rotations: int = ROTATIONS,
    settings: Mapping[str, Any] | None = None,
) -> ExperimentResult:
    """Solve every function as often as there are runs, all in one call. Options: see `reservoir.cli.bench`."""
    if solver not in GENERAL_SOLVERS:
        known = ", ".join(GENERAL_SOLVERS)
        raise InputError("this solver does not solve functions", known, "choose one of them", value=solver)
    engine, usual = GENERAL_SOLVERS[solver], budget.usual(PAPER_BUDGET, QUICK_BUDGET)
    given = {name: value for name, value in usual.items() if name in engine.budget}
    given |= {**engine.measured_with, **(settings or {})}
    asked: dict[str, Any] = {"functions": functions_named(functions), "dimension": dimension, "rotations": rotations}
    study = FunctionStudy.of(budget, engine=engine, settings=given, **asked)
    return study.measured().result()
