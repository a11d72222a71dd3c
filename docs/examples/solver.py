"""A solver in one file: a (1+1) evolution strategy with the one-fifth rule (Rechenberg 1973).

    python docs/examples/solver.py

plans three years of the bundled record with it, and compares them with dynamic programming. For clarity all code is
scalar, and the fitness is computed in float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import reservoir
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import SOLVERS, Solver, solve
from reservoir.solvers.engine import HostEngine
from reservoir.solvers.settings import Settings, number
from reservoir.solvers.solution import EngineResults, engine_results

NAME = "one-plus-one"
#: The step is multiplied by this after a success and divided by its fourth root after a failure: with one success in
#: five its length is constant.
GROWTH = 1.5


# 1. Settings: default, smallest and largest value. They are checked together, and stored in every solution.
@dataclass(frozen=True)
class EvolutionSettings(Settings):
    """Settings of the strategy.

    Parameters
    ----------
    evaluations : int
        Number of positions evaluated.
    first_step : float
        First standard deviation of the changes, as a fraction of a variable's range.
    """

    evaluations: int = number(6000, 1, 10**9)
    first_step: float = number(0.2, 1e-9, 1.0)


# 2. The engine: `solve_one` for an engine on the CPU; one on devices is a `PopulationEngine` (see solvers/lshade).
class EvolutionStrategy(HostEngine[EvolutionSettings]):
    """One parent, one child; the better one is the next parent."""

    name = NAME
    settings_class = EvolutionSettings

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Solve one problem; the seed and the problem's stream determine its random numbers."""
        random = np.random.default_rng([self.seed, problem.rng_stream_id])
        best = [random.uniform(low, high) for low, high in zip(problem.lower, problem.upper, strict=True)]
        fitness = problem.certify(np.array(best)).fitness
        step = self.settings.first_step
        for _ in range(1, self.settings.evaluations):
            child = []
            for value, low, high in zip(best, problem.lower, problem.upper, strict=True):
                changed = value + step * (high - low) * random.normal()
                child.append(min(max(changed, low), high))
            child_fitness = problem.certify(np.array(child)).fitness
            if child_fitness > fitness:  # never true of NaN
                best, fitness = child, child_fitness
                step *= GROWTH
            else:
                step /= math.sqrt(math.sqrt(GROWTH))
        return engine_results(position=[best], of_all=self.settings.work)


ENGINE = EvolutionStrategy


# 3. One line in the registry, which the command line, compare, the benchmarks and the tests use.
def register() -> None:
    """Register the solver; in the package this is a line in `reservoir.solvers.SOLVERS`."""
    SOLVERS[NAME] = Solver(name=NAME, summary="(1+1) evolution strategy", module=__name__, budget=("evaluations",))


def main() -> dict[str, float]:
    """Energy of the years (GWh) by solver."""
    register()
    case = reservoir.bundled_case()
    record = Inflow(flow_m3s=case.inflow().flow_m3s[:3], calendar=Calendar(1953, 3))
    years = reservoir_problems(case.reservoir(), record)
    energy = {}
    for name in (NAME, "dp"):
        solutions = solve(years, solver=name)
        energy[name] = float(solutions.fitness.sum())
        print(f"{name:<14} {energy[name]:12,.1f} GWh in {len(years)} years")
    return energy


if __name__ == "__main__":
    main()
