"""How long direct policy search takes on the bundled case: the second stage of the `ann` rule."""

from __future__ import annotations

from typing import Any

import pandas as pd

import reservoir as package
from reservoir.bench.networks.runs import Course
from reservoir.planning.plan import StageProgress, optimise
from reservoir.problems.mlp.perceptron import Perceptron
from reservoir.rules import Forecast, Training
from reservoir.rules.families.ann.inputs import Scales, input_names
from reservoir.rules.families.ann.problem import NetworkOperation
from reservoir.rules.families.ann.training import SETTLING
from reservoir.solvers import solve

HIDDEN, PARTICLES, GENERATIONS, GROUP = 8, 512, 2000, 32
QUICK_GENERATIONS = 50


def measure_policy_search(course: Course, progress: StageProgress) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Search all years of the case some times; a row a run, and what must be said of the case."""
    case = package.bundled_case()
    reservoir, inflow = case.reservoir(), case.inflow()
    progress("policy search", 0, 1)
    plan = optimise(reservoir, inflow, solver="dp", reference=False)
    training = Training.of(plan)
    network = Perceptron(len(input_names(Forecast.MONTH)), HIDDEN, 1, bias=True)
    operation = NetworkOperation.of(training, network, Forecast.MONTH, Scales.of(training))
    swarm: dict[str, Any] = {"particles": PARTICLES, "group": GROUP, **SETTLING}
    swarm["generations"] = QUICK_GENERATIONS if course.effort.quick else GENERATIONS
    rows = []
    for run in range(course.effort.repeats + 1):  # the first compiles
        seed, device = course.effort.seed + run, str(course.device.index)
        found = solve([operation], solver="ann-pso", seed=seed, device=device, **swarm)[0]
        rows.append(
            {
                "run": run,
                "years": training.years,
                "network": str(network),
                "particles": PARTICLES,
                "generations": swarm["generations"],
                "seconds": found.wall_seconds,
                "device_seconds": found.device_seconds,
                "gwh_a_year": found.fitness,
            }
        )
    progress("policy search", 1, 1)
    return pd.DataFrame(rows[1:]), plan.caveats
