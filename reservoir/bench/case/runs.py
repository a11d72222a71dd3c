"""Runs of the OpenCL engine and of the sequential one, in turn, so that both see the same machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reservoir.bench.experiment import DeviceSetup, seconds_of, select
from reservoir.bench.host_time import phase_seconds
from reservoir.planning.best_known import relative_gap
from reservoir.planning.plan import Plan
from reservoir.planning.solving import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.solvers import Solutions

DEVICE_ENGINE = "clpso"
ENGINES = (SEQUENTIAL, DEVICE_ENGINE)
#: Random numbers: the product's own streams, and the paper's scheme, made on the host and shared (section 4.3).
STREAM, PAPER = "stream", "host"
#: Runs with the paper's random numbers: only where their time goes is of interest.
PAPER_RUNS = 5


@dataclass(frozen=True, kw_only=True)
class CaseSetup(DeviceSetup):
    """What is run: the years of a plan, whose own run builds the program and is not counted; with what settings."""

    plan: Plan
    settings: Mapping[str, Any]


class Call(NamedTuple):
    """A run to be made: whose, with which settings, and whether it counts."""

    engine: str
    seed: int
    options: Mapping[str, Any]
    counted: bool = True


def engine_runs(setup: CaseSetup) -> pd.DataFrame:
    """Run both engines in turn, then the paper's random numbers; a row a run."""
    plan = setup.plan
    setup.solve(plan.problems.each[:1], SEQUENTIAL, generations=1)  # compiles
    rows = [_row(plan, plan.solutions, counted=False)]
    for call in setup.tracked("runs of the engines", _calls(setup)):
        found = setup.solve(plan.problems.each, call.engine, seed=call.seed, **call.options)
        rows.append(_row(plan, found, counted=call.counted))
    return pd.DataFrame(rows)


def _calls(setup: CaseSetup) -> Iterator[Call]:
    """The engines have different seeds: with the same, both would draw the same numbers."""
    first, runs, settings = setup.budget.seed, setup.budget.runs, setup.settings
    for run in range(runs):
        yield Call(DEVICE_ENGINE, first + run, settings)
        yield Call(SEQUENTIAL, first + runs + run, {**settings, "threads": 1})
    for run in range(min(PAPER_RUNS, runs) + 1):
        yield Call(DEVICE_ENGINE, first + run, {**settings, "random": PAPER}, counted=run > 0)


def _row(plan: Plan, solutions: Solutions, *, counted: bool) -> dict[str, Any]:
    first, gap = solutions[0], np.abs(relative_gap(solutions, plan.references))
    worst = int(gap.argmax())
    row: dict[str, Any] = {"engine": first.solver, "random": first.settings.get("random", STREAM)}
    row |= {"seed": first.settings["seed"], "counted": counted} | seconds_of(first)
    for name, attribute in (("benefit_gwh", "benefit"), ("fitness_gwh", "fitness"), ("violation", "violation")):
        row[name] = sum(getattr(solutions, attribute).tolist())
    row |= {
        "worst_gap": float(gap[worst]),
        "worst_year": plan.problems.each[worst].label,
        "mean_gap": float(gap.mean()),
    }
    row |= {"generations": first.generations, "evaluations": int(solutions.evaluations.sum())}
    return row | phase_seconds(first.host_seconds_by_phase, np.nan)


def counted_runs(runs: pd.DataFrame, engine: str, random: str = STREAM) -> pd.DataFrame:
    """The runs of an engine that count."""
    return select(runs, counted=True, engine=engine, random=random)
