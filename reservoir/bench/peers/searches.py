"""One search in a year by a library on a CPU: until the objective says that it is over, or the search is done.

Each library is imported by its function alone, in the processes in which it runs. A generation is judged in one call
where the library can.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reservoir.bench.peers.objective import FloatArray, YearObjective


def scipy(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """Differential evolution (Virtanen et al. 2020, Nature Methods 17:261) until its population has contracted."""
    from scipy.optimize import Bounds, differential_evolution

    def losses(columns: FloatArray, /) -> Any:
        return objective.losses(np.atleast_2d(columns.T))

    assert algorithm == differential_evolution.__name__
    bounds, rng = Bounds(objective.lower, objective.upper), np.random.default_rng(seed)
    differential_evolution(losses, bounds, vectorized=True, updating="deferred", polish=False, rng=rng, **settings)


def mealpy(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """As mealpy (Van Thieu and Mirjalili 2023, J. Syst. Archit. 139:102871) does, one position at a time."""
    from mealpy import FloatVar
    from mealpy.evolutionary_based import SHADE
    from mealpy.swarm_based import PSO

    algorithms = {"OriginalPSO": PSO.OriginalPSO, "CL_PSO": PSO.CL_PSO, "L_SHADE": SHADE.L_SHADE}
    problem = {"obj_func": objective.loss, "bounds": FloatVar(lb=objective.lower, ub=objective.upper)}
    algorithms[algorithm](**settings).solve(problem | {"minmax": "min", "log_to": None}, seed=seed)


def pymoo(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """As pymoo (Blank and Deb 2020, IEEE Access 8:89497) does."""
    from pymoo.algorithms.soo.nonconvex.cmaes import CMAES
    from pymoo.algorithms.soo.nonconvex.de import DE
    from pymoo.algorithms.soo.nonconvex.pso import PSO
    from pymoo.core.problem import Problem
    from pymoo.optimize import minimize

    class Year(Problem):  # type: ignore[misc]
        """A year as pymoo wants a problem."""

        def _evaluate(self, x: FloatArray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = objective.losses(x)[:, None]

    options = dict(settings)
    ends = ("n_gen", options.pop("generations"))
    year = Year(n_var=objective.dimension, n_obj=1, xl=objective.lower, xu=objective.upper)
    minimize(year, {"PSO": PSO, "DE": DE, "CMAES": CMAES}[algorithm](**options), ends, seed=seed)


def pygmo(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """As pygmo (Biscani and Izzo 2020, J. Open Source Softw. 5:2338) does."""
    import pygmo

    options = dict(settings)
    together = pygmo.bfe(pygmo.member_bfe())
    problem = pygmo.problem(_PygmoYear(objective))
    population = pygmo.population(problem, options.pop("population"), b=together, seed=seed)
    engine = getattr(pygmo, algorithm)(seed=seed, **options)
    if hasattr(engine, "set_bfe"):
        engine.set_bfe(together)
    pygmo.algorithm(engine).evolve(population)


class _PygmoYear:
    """A year as pygmo wants a problem."""

    def __init__(self, objective: YearObjective) -> None:
        self.objective = objective

    def __deepcopy__(self, memo: object) -> _PygmoYear:
        """Pygmo copies problems; the count of evaluations is to be one."""
        return self

    def fitness(self, position: FloatArray) -> list[float]:
        return [self.objective.loss(position)]

    def batch_fitness(self, positions: FloatArray) -> FloatArray:
        return self.objective.losses(positions.reshape(-1, self.objective.dimension))

    def get_bounds(self) -> tuple[FloatArray, FloatArray]:
        return self.objective.lower, self.objective.upper


#: By library: objective, algorithm, settings and seed of a search.
SEARCHES: Mapping[str, Callable[[YearObjective, str, Mapping[str, Any], int], None]] = {
    search.__name__: search for search in (scipy, mealpy, pymoo, pygmo)
}
