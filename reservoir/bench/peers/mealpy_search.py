"""mealpy (Van Thieu and Mirjalili 2023, J. Syst. Archit. 139:102871), which judges one position at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mealpy import FloatVar
from mealpy.evolutionary_based import SHADE
from mealpy.swarm_based import PSO

from reservoir.bench.peers.objective import YearObjective

ALGORITHMS = {"OriginalPSO": PSO.OriginalPSO, "CL_PSO": PSO.CL_PSO, "L_SHADE": SHADE.L_SHADE}


def search(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """Search until the objective says that it is over, or the epochs are done."""
    problem = {
        "obj_func": objective.loss,
        "bounds": FloatVar(lb=objective.lower, ub=objective.upper),
        "minmax": "min",
        "log_to": None,
    }
    ALGORITHMS[algorithm](**settings).solve(problem, seed=seed)
