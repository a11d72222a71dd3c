"""Any solver of the registry on the eight functions, so that it can be compared with other programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reservoir.bench.benchmark_functions import rotation, titled
from reservoir.bench.experiment import Setup, device_origin
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.samples import summary
from reservoir.errors import InputError, Mistake
from reservoir.opencl import choose_devices
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.functions import ROTATIONS, FunctionProblem, function_problems, functions_named
from reservoir.solvers import GENERAL_SOLVERS, Solver, solve
from reservoir.solvers.engine import Progress

DIMENSION = 30
#: The budget of Yu et al. 2020, section 5: 40 particles and so many generations, or as many evaluations.
PAPER_BUDGET, QUICK_BUDGET = {"generations": 5000, "evaluations": 200_000}, {"generations": 500, "evaluations": 20_000}


def run(
    *,
    budget: RunBudget,
    solver: str = "clpso",
    dimension: int = DIMENSION,
    functions: str | None = None,
    rotations: int = ROTATIONS,
    settings: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Solve every function as often as there are runs, all in one call.

    Parameters
    ----------
    solver : str
        A name of `reservoir.solvers.GENERAL_SOLVERS`.
    dimension : int
        Variables.
    functions : str, optional
        Names with commas between them; all if not given.
    rotations : int
        Of the matrix of the rotated functions.
    settings : mapping, optional
        Settings of the solver; the paper's budget for those that are not given.
    """
    if solver not in GENERAL_SOLVERS:
        known = ", ".join(GENERAL_SOLVERS)
        raise InputError(Mistake("this solver does not solve functions", known, "choose one of them", value=solver))
    engine, chosen = GENERAL_SOLVERS[solver], functions_named(functions)
    usual = budget.usual(PAPER_BUDGET, QUICK_BUDGET)
    given = {name: value for name, value in usual.items() if name in engine.budget}
    given |= {**engine.measured_with, **(settings or {})}
    setup, rows, problems = Setup(budget=budget, progress=progress), [], []
    for done, function in enumerate(chosen):

        def within(part: int, parts: int, done: int = done) -> None:
            """Tell of the swarms of a function as of parts of the whole."""
            progress("functions", done + (part == parts), len(chosen))

        problems = function_problems(function, budget.runs, dimension=dimension, rotations=rotations)
        rows += _solved(engine, problems, budget, given, within)
    runs = pd.DataFrame(rows)
    turned = [function_problems(each, 1, dimension=dimension, rotations=rotations)[0] for each in chosen]
    matrix, made_by = rotation(turned)
    device: dict[str, Any] = {"device": device_origin(choose_devices(budget.device)[0])} if engine.opencl else {}
    return setup.result(
        f"{solver} on benchmark functions in {dimension} dimensions",
        headlines=_headlines(runs),
        tables=(_table(runs),),
        data={"runs": runs} | matrix,
        **device,
        solver=engine.name,
        settings=given,
        dimension=dimension,
        **made_by,
    )


def _solved(
    engine: Solver, problems: list[FunctionProblem], budget: RunBudget, settings: Mapping[str, Any], progress: Progress
) -> list[dict[str, Any]]:
    asked: dict[str, Any] = {"solver": engine.name, "seed": budget.seed, "device": budget.device, **settings}
    # Compiles; a device may lay out other numbers of problems otherwise.
    solve(problems if engine.opencl else problems[:1], **asked)
    function = problems[0].function
    return [
        {"function": function.name, "run": place}
        | {"best": -each.fitness_float32 if function.noise else -each.fitness, "value": -each.fitness}
        | {"evaluations": each.evaluations, "call_seconds": each.wall_seconds, "device_seconds": each.device_seconds}
        for place, each in enumerate(solve(problems, progress=progress, **asked), start=1)
    ]


def _headlines(runs: pd.DataFrame) -> dict[str, str]:
    best = runs.groupby("function", sort=False)["best"]
    return {
        titled(str(name)): f"mean {values.mean():.3g}, from {values.min():.3g} to {values.max():.3g}"
        for name, values in best
    }


def _table(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for name, mine in runs.groupby("function", sort=False):
        evaluations, seconds = mine["evaluations"], float(mine["call_seconds"].iloc[0])
        row: dict[str, Any] = {"function": titled(str(name))} | summary(mine["best"], ".3g")
        row |= {"evaluations per run": round(evaluations.mean()), "seconds, all runs": seconds}
        rows.append(row | {"evaluations, M/s": evaluations.sum() / seconds / 1e6})
    note = (
        f"{runs['run'].max()} runs of each function in one call, after one call that compiles. Best values "
        "are recomputed in float64; those of f3 are the solver's own, including noise."
    )
    return result_table("Best values", rows, note, **{"seconds, all runs": ",.3f", "evaluations, M/s": ",.1f"})
