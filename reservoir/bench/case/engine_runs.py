"""Runs of the OpenCL engine and of the sequential one, in turn, so that both see the same machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.run_budget import RunBudget
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.planning.plan import Plan, StageProgress, relative_gap
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import Solutions, solve

DEVICE_ENGINE = "clpso"
#: Random numbers: the product's own streams, and the paper's scheme, made on the host and shared (section 4.3).
STREAM, PAPER = "stream", "host"
#: Runs with the paper's random numbers: only where their time goes is of interest.
PAPER_RUNS = 5
#: What a host spends its time on, in the order of Yu et al. 2020, section 5, and waiting for the kernel.
SEGMENTS = ("numbers", "transfer", "build", "enqueue", "read", "release", "wait")


@dataclass(frozen=True)
class Call:
    """A run to be made: whose, with which settings, and whether it counts."""

    engine: str
    seed: int
    device: str | None
    options: Mapping[str, Any]
    counted: bool = True

    def solved(self, years: Sequence[ReservoirYear]) -> Solutions:
        """Make the run."""
        return solve(years, solver=self.engine, seed=self.seed, device=self.device, **self.options)


def engine_runs(
    plan: Plan, device: DeviceInfo, effort: RunBudget, settings: Mapping[str, Any], progress: StageProgress
) -> pd.DataFrame:
    """Run both engines in turn, then the paper's random numbers; a row a run.

    Parameters
    ----------
    plan : Plan
        Of the OpenCL engine, the first run of the process: it builds the program, and is not counted.
    device : DeviceInfo
    effort : RunBudget
        The engines have different seeds: with the same, both would draw the same numbers.
    settings : mapping
        Of both engines.
    """
    Call(SEQUENTIAL, effort.seed, None, {"generations": 1}).solved(plan.years[:1])  # compiles
    rows = [_row(plan, plan.solutions, counted=False)]
    calls = list(_calls(device, effort, settings))
    for done, call in enumerate(calls):
        progress("runs of the engines", done, len(calls))
        rows.append(_row(plan, call.solved(plan.years), counted=call.counted))
    progress("runs of the engines", len(calls), len(calls))
    return pd.DataFrame(rows)


def _calls(device: DeviceInfo, effort: RunBudget, settings: Mapping[str, Any]) -> Iterator[Call]:
    where = str(device.index)
    for run in range(effort.runs):
        yield Call(DEVICE_ENGINE, effort.seed + run, where, settings)
        yield Call(SEQUENTIAL, effort.seed + effort.runs + run, None, settings)
    for run in range(min(PAPER_RUNS, effort.runs) + 1):
        yield Call(DEVICE_ENGINE, effort.seed + run, where, {**settings, "random": PAPER}, counted=run > 0)


def _row(plan: Plan, solutions: Solutions, *, counted: bool) -> dict[str, Any]:
    first = solutions[0]
    gap = relative_gap(solutions, plan.references)
    worst = int(np.abs(gap).argmax())
    row: dict[str, Any] = {
        "engine": first.solver,
        "random": first.settings.get("random", STREAM),
        "seed": first.settings["seed"],
        "counted": counted,
        "seconds": first.wall_seconds,
        "device_seconds": np.nan if first.device_seconds is None else first.device_seconds,
        "benefit_gwh": sum(each.benefit for each in solutions),
        "fitness_gwh": sum(each.fitness for each in solutions),
        "violation": sum(each.violation for each in solutions),
        "worst_gap": float(np.abs(gap[worst])),
        "worst_year": plan.years[worst].label,
        "mean_gap": float(np.abs(gap).mean()),
        "generations": first.generations,
        "evaluations": sum(each.evaluations for each in solutions),
    }
    return row | {f"{name}_seconds": first.host_seconds_by_phase.get(name, np.nan) for name in SEGMENTS}


def counted_runs(runs: pd.DataFrame, engine: str, random: str = STREAM) -> pd.DataFrame:
    """The runs of an engine that count."""
    return runs[runs["counted"] & (runs["engine"] == engine) & (runs["random"] == random)]
