"""The libraries in the race, the algorithms of each, and their settings.

Of each library its particle swarm and what does best on a year of the bundled case, tried with several populations and
variants. Settings are those of the documentation where nothing else is said; a search that has run its generations or
has contracted starts anew, with other random numbers, so that no library stays in a local optimum for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

INSTALL = "pip install 'reservoir[peers]'"
_DE: dict[str, Any] = {"variant": "DE/rand/1/bin", "CR": 0.9, "dither": "vector"}
_WEIGHTS: dict[str, Any] = {"elitism": False, "differential_weight_min": 0.5, "differential_weight_max": 1.0}


@dataclass(frozen=True)
class Peer:
    """A library's algorithm, as the library calls it, and its settings; it may solve many years together."""

    library: str
    algorithm: str
    settings: Mapping[str, Any]
    together: bool = False

    @property
    def version(self) -> str:
        """The version that is installed; empty if none is."""
        try:
            return version(self.library)
        except PackageNotFoundError:
            return ""


#: Those that solve a year at a time, and those that solve all together.
PEERS = (
    Peer("pygmo", "pso_gen", {"population": 40, "gen": 2000}),
    Peer("pygmo", "cmaes", {"population": 30, "gen": 500, "ftol": 1e-9, "xtol": 1e-9, "force_bounds": True}),
    Peer("pygmo", "de1220", {"population": 40, "gen": 2000}),
    Peer("pymoo", "PSO", {"pop_size": 40, "generations": 2000}),
    Peer("pymoo", "DE", {"pop_size": 48, "generations": 1000} | _DE),
    Peer("pymoo", "CMAES", {"sigma": 0.25, "generations": 1000}),
    Peer("scipy", "differential_evolution", {"popsize": 4, "recombination": 0.9, "maxiter": 5000, "tol": 1e-8}),
    Peer("mealpy", "OriginalPSO", {"pop_size": 40, "epoch": 1000}),
    Peer("mealpy", "CL_PSO", {"pop_size": 40, "epoch": 2000}),
    Peer("mealpy", "L_SHADE", {"pop_size": 60, "epoch": 1000}),
    Peer("evosax", "PSO", {"population": 40, "generations": 200}, together=True),
    Peer("evosax", "DifferentialEvolution", {"population": 48, "generations": 1000} | _WEIGHTS, together=True),
)
