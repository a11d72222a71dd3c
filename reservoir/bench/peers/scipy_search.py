"""scipy's differential evolution (Virtanen et al. 2020, Nature Methods 17:261), a generation judged in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import Bounds, differential_evolution

from reservoir.bench.peers.objective import FloatArray, YearObjective


def search(objective: YearObjective, algorithm: str, settings: Mapping[str, Any], seed: int) -> None:
    """Search until the objective says that it is over, or the population has contracted."""

    def losses(columns: FloatArray, /) -> Any:
        return objective.losses(np.atleast_2d(columns.T))

    assert algorithm == differential_evolution.__name__
    differential_evolution(
        losses,
        Bounds(objective.lower, objective.upper),
        vectorized=True,
        updating="deferred",
        polish=False,
        rng=np.random.default_rng(seed),
        **settings,
    )
