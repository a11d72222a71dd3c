"""Experiments on ring PSO (Mussi, Nashed and Cagnoni 2011)."""

from reservoir.bench.ring.experiment import run
from reservoir.problems.sums.functions import RING_FUNCTIONS, RingFunction, RingProblem

__all__ = ["RING_FUNCTIONS", "RingFunction", "RingProblem", "run"]
