"""Solutions of which no more is known than a file or a part of a run tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reservoir.problems.base import CertifiedBatch, FloatArray
from reservoir.solvers import Solutions
from reservoir.solvers.base.rows import repeated


def stated_solutions(
    positions: Sequence[FloatArray] | FloatArray, worth: CertifiedBatch, settings: Mapping[str, Any], **stated: Any
) -> Solutions:
    """Solutions without traces.

    Parameters
    ----------
    positions : sequence of ndarray
    worth : CertifiedBatch
        Of these positions.
    settings : mapping
        Of all.
    **stated
        Generations and evaluations of each; solver, device and seconds.
    """
    count = len(positions)
    return Solutions(
        position=positions,
        fitness=worth.fitness,
        benefit=worth.benefit,
        violation=worth.violation,
        settings=repeated(settings, count),
        trace_generations=np.empty((count, 0), np.int64),
        trace_fitness=np.empty((count, 0)),
        fitness_float32=np.full(count, np.nan),
        best_position_history=np.empty((count, 0, 0)),
        linkage=np.empty((count, 0, 0)),
        operation=worth.operation,
        **{"host_seconds_by_phase": {}, **stated},
    )
