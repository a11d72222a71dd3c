"""A solver in one file: a (1+1) evolution strategy with the one-fifth rule (Rechenberg 1973).

    python docs/examples/solver.py

plans three years of the bundled record by it, and compares them with dynamic programming. Everything is scalar on
purpose: a position is changed one variable at a time, and judged in float64.
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
from reservoir.solvers.base.engine import HostEngine
from reservoir.solvers.base.results import EngineResult
from reservoir.solvers.base.settings import Settings, number

NAME = "one-plus-one"
#: A step grows by this after a gain and shrinks by its fourth root after a failure: one gain in five keeps its length.
GROWTH = 1.5


# 1. Settings: default, least and most. They are checked together, and written into every solution.
@dataclass(frozen=True)
class EvolutionSettings(Settings):
    """Settings of the strategy.

    Parameters
    ----------
    evaluations : int
        Positions that are judged.
    first_step : float
        Standard deviation of the first changes, as a fraction of a variable's range.
    """

    evaluations: int = number(6000, 1, 10**9)
    first_step: float = number(0.2, 1e-9, 1.0)


# 2. The engine: `solve_one` for an engine on the CPU; one on devices is a `PopulationEngine` (see solvers/lshade).
class EvolutionStrategy(HostEngine[EvolutionSettings]):
    """One parent, one child; the better of both is the next parent."""

    name = NAME
    settings_class = EvolutionSettings

    def solve_one(self, problem: Problem) -> EngineResult:
        """Solve one problem; the seed and the problem's own number name its random numbers."""
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
        return EngineResult(position=np.array(best), generations=0, evaluations=self.settings.evaluations)


ENGINE = EvolutionStrategy


# 3. One line in the registry: the command line, compare, the benches and the tests go through it.
def register() -> None:
    """Make the solver known, as its line in `reservoir.solvers.SOLVERS` would."""
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
        energy[name] = float(sum(each.fitness for each in solutions))
        print(f"{name:<14} {energy[name]:12,.1f} GWh in {len(years)} years")
    return energy


if __name__ == "__main__":
    main()
