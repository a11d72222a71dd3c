"""Calls of every engine on small problems of every kind that it solves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reservoir.cases import bundled_case
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.problems.bits import FAMILIES
from reservoir.problems.functions import FUNCTIONS, RING_FUNCTIONS, FunctionProblem, function_problems
from reservoir.problems.mlp import modelled
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.problems.system import system_problems
from reservoir.problems.tours import tour_problem
from reservoir.runtime import package_path
from reservoir.solvers import Problem
from tests.golden.plans import FEW, ISLANDS, SWARM
from tests.io.small_reservoir import SMALL
from tests.problems.random_systems import dams

#: Engine, settings beside its defaults, and the problems it is given (`problems_by_name`).
CALLS: list[tuple[str, dict[str, Any], str]] = [
    *(("clpso", SWARM, problems) for problems in ("years", "small", "cyclic", "free", "functions")),
    *(("clpso", {**SWARM, "model": each}, "years") for each in ("basic", "intermediate", "final")),
    *(("clpso", {**SWARM, "model": "final", "random": each}, "years") for each in ("host", "kernel")),
    ("clpso", {**SWARM, "exemplars": "strict"}, "years"),
    *(("clpso-sequential", SWARM, problems) for problems in ("years", "small", "cyclic", "free", "functions")),
    *(("lshade", FEW, problems) for problems in ("years", "small", "cyclic", "free", "functions")),
    ("lshade", {**FEW, "archive_fraction": 2.6}, "years"),
    *(("lshade-sequential", FEW, problems) for problems in ("years", "small", "cyclic", "free", "functions")),
    *(("ann-pso", {**SWARM, "variant": each}, "networks") for each in ("fused", "steps", "global")),
    ("ann-pso", SWARM, "years"),
    ("ann-pso", {**SWARM, "random": "congruential"}, "networks"),
    *(("ann-pso-parallel", SWARM, problems) for problems in ("networks", "years")),
    *(
        ("island-ga", {**ISLANDS, "scheme": scheme}, problems)
        for scheme in ("lim-is", "lim-cg", "tim", "sak", "slk")
        for problems in ("year", "tours")
    ),
    *(
        ("island-ga", {**ISLANDS, "mutation": "two-opt", "crossover": "order", "scheme": scheme}, "tours")
        for scheme in ("lim-is", "tim")
    ),
    *(("island-ga-sequential", ISLANDS, problems) for problems in ("year", "tours", "functions")),
    *(("ring-pso", SWARM, problems) for problems in ("years", "free", "ring")),
    *(("ring-pso-sequential", SWARM, problems) for problems in ("years", "ring")),
    *(("dsmga2", {"generations": 3}, problems) for problems in ("year", "bits", "functions")),
    ("dsmga2", {"generations": 3, "model": "lossless"}, "bits"),
    *((engine, SWARM, "system") for engine in ("clpso", "clpso-sequential")),
    *((engine, FEW, "system") for engine in ("lshade", "lshade-sequential")),
    *((engine, {"states": 5, "most_sweeps": 1}, "system") for engine in ("dpsa", "dpsa-sequential")),
    *((engine, {"states": 7, "most_corridors": 1}, "system") for engine in ("dp-joint", "dp-joint-sequential")),
    *((engine, {}, problems) for engine in ("dp", "dp-opencl") for problems in ("years", "small", "cyclic", "free")),
]


def problems_by_name() -> dict[str, Sequence[Problem]]:
    """The problems of the calls."""
    case = bundled_case()
    record = Inflow(flow_m3s=case.inflow().flow_m3s[:5], calendar=Calendar(1953, 5))
    small = reservoir_of(SMALL.encode(), "small.toml")
    flows = np.array([35, 25, 18, 14, 12, 16, 24, 38, 55, 80, 75, 50], float)
    wet_and_dry = Inflow(flow_m3s=flows * np.array([[0.6], [1.0], [1.5]]), calendar=Calendar(2001, 3))
    years = reservoir_problems(case.reservoir(), record)
    network = modelled(40)
    return {
        "years": years,
        "year": years[:1],
        "small": reservoir_problems(small, wet_and_dry),
        "cyclic": reservoir_problems(
            replace(small, year_end=YearEnd.CYCLIC, initial_storage_hm3=None, final_storage_hm3=None), wet_and_dry
        ),
        "free": reservoir_problems(replace(small, year_end=YearEnd.FREE, final_storage_hm3=None), wet_and_dry),
        "functions": [function_problems(each, 1, dimension=10)[0] for each in FUNCTIONS.values()],
        "networks": [network],
        "tours": [tour_problem(package_path("data", "tsp/att48.tsp"))],
        "ring": [FunctionProblem(each, 16, 0) for each in RING_FUNCTIONS.values()],
        "system": system_problems(*dams(("xiaowan", "nuozhadu")), Horizon()).batches[0],
        "bits": [each.of(4 * each.stride, 1) for each in FAMILIES.values()],
    }
