"""pymoo (Blank and Deb 2020, IEEE Access 8:89497), a generation judged in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymoo.algorithms.soo.nonconvex.cmaes import CMAES
from pymoo.algorithms.soo.nonconvex.de import DE
from pymoo.algorithms.soo.nonconvex.pso import PSO
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from reservoir.bench.peers.objective import FloatArray, YearObjective

ALGORITHMS = {"PSO": PSO, "DE": DE, "CMAES": CMAES}


class _Year(Problem):
    """A year as pymoo wants a problem."""

    def __init__(self, objective: YearObjective) -> None:
        super().__init__(n_var=objective.dimension, n_obj=1, xl=objective.lower, xu=objective.upper)
        self.objective = objective

    def _evaluate(self, x: FloatArray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        out["F"] = self.objective.losses(x)[:, None]


def search(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """Search until the objective says that it is over, or the generations are done."""
    options = dict(settings)
    generations = options.pop("generations")
    minimize(_Year(objective), ALGORITHMS[algorithm](**options), ("n_gen", generations), seed=seed)
