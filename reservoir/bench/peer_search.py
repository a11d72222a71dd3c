"""Searches by other libraries in processes of their own: the objective that each is given, and a year at a time.

Imports and compilation are done before the clock is started. Processes and not threads: the libraries hold the
interpreter's lock. They are started anew for every entrant, so that none inherits another's threads, memory or
settings. Each library is imported by its function alone; a generation is judged in one call where the library can.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled
from reservoir.problems.fitness import Context, fitness_of
from reservoir.problems.reservoir.year import ReservoirYears

FloatArray = NDArray[np.float64]
Floats = NDArray[np.float32]


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


@dataclass(frozen=True)
class SearchBudget:
    """How long a library may try.

    A year is done when its fitness is `near` enough, as a part of the reference optimum. Evaluations are of a year in
    one attempt, those of a swarm of CLPSO with the paper's settings; a year that was missed is tried again while there
    is time. Seconds are for all years together; runs after the first are made as far as they fit into them with it.
    """

    near: float = 1e-4
    evaluations: int = 400_000
    seconds: float = 180.0
    runs: int = 5


@dataclass(frozen=True, eq=False)
class RaceCourse:
    """What is run over: years of one reservoir, and the fitness of their reference optima, GWh."""

    years: Sequence[ReservoirYears]
    optima_gwh: Sequence[float]
    budget: SearchBudget
    seed: int


@dataclass(frozen=True)
class Attempt:
    """What an attempt at a year came to: the gap of its best position in float64 (`gap_to`); seconds of the clock."""

    gap: float
    evaluations: int
    seconds: float


def gap_to(optimum_gwh: float, fitness_gwh: float) -> float:
    """Part by which a fitness falls short of the optimum."""
    return (optimum_gwh - fitness_gwh) / (abs(optimum_gwh) or 1.0)


class SearchOver(Exception):
    """Ends a library's search from within its objective: the year is near enough, or its allowance is used up."""


class YearObjective:
    """A year as a library sees it: bounds, and losses to be made as small as possible.

    It is the sequential solver's own fitness in float32, called for a batch of rows, so a library is given neither a
    slower nor another physics. Whatever improves on the best is certified in float64, and only that counts as near.
    The budget's time runs from when it is made.
    """

    def __init__(self, year: ReservoirYears, optimum_gwh: float, budget: SearchBudget) -> None:
        self.lower, self.upper, self.dimension = year.lower, year.upper, year.dimension
        self.evaluations = 0
        self.gap = np.inf
        self._year, self._optimum_gwh, self._budget = year, optimum_gwh, budget
        self._deadline = time.perf_counter() + budget.seconds
        self._context = year.compiled_context()
        self._scratch = np.empty((2, year.dimension + 1), np.float32)
        self._best = -np.inf

    def losses(self, positions: FloatArray) -> FloatArray:
        """Negative fitness of each position, GWh: releases in m3/s, and in a cyclic year the start in hm3.

        SearchOver is raised if these positions, shape (n, dimension), or those before them, were the last to be judged.
        """
        self.end_if_over()
        values = np.empty(len(positions), np.float32)
        _judge(self._context, np.ascontiguousarray(positions, np.float32), self._scratch, values)
        self.evaluations += len(values)
        best = int(values.argmax())
        if values[best] > self._best:
            self._best = values[best]
            fitness = self._year.certify(positions[best]).fitness
            self.gap = min(self.gap, gap_to(self._optimum_gwh, fitness))
            if self.gap <= self._budget.near:
                raise SearchOver
        return -values.astype(np.float64)

    def loss(self, position: FloatArray) -> float:
        """Negative fitness of one position, for libraries that ask for one at a time."""
        return float(self.losses(np.asarray(position)[None])[0])

    def end_if_over(self) -> None:
        """Raise SearchOver when nothing is left to be searched for, or with."""
        used_up = self.evaluations >= self._budget.evaluations or time.perf_counter() >= self._deadline
        if used_up or self.gap <= self._budget.near:
            raise SearchOver


@compiled
def _judge(context: Context, positions: Floats, scratch: Floats, values: Floats) -> None:
    """Fill `values`, shape (n,), with the fitness of `positions`, shape (n, dimension)."""
    for row in range(len(values)):
        values[row] = fitness_of(context, positions[row], scratch)


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
#: Enough for every library to have done everything once.
_WARM_UP = SearchBudget(near=-math.inf, evaluations=1000, seconds=60)


def warm_up(peer: Peer, year: ReservoirYears) -> None:
    """Import the library, compile, and try it for a moment."""
    search_year(peer, year, 0.0, [0], _WARM_UP)


def search_year(
    peer: Peer, year: ReservoirYears, optimum_gwh: float, seeds: Sequence[int], budget: SearchBudget
) -> Attempt:
    """Try one year until it is near its optimum or the budget is used up; a search that ends before starts anew.

    The seeds name the random numbers, with the number of the start.
    """
    started = time.perf_counter()
    objective = YearObjective(year, optimum_gwh, budget)
    try:
        with _silence():
            for start in range(budget.evaluations):
                objective.end_if_over()
                SEARCHES[peer.library](objective, peer.algorithm, peer.settings, one_seed(*seeds, start))
    except SearchOver:
        pass
    return Attempt(objective.gap, objective.evaluations, time.perf_counter() - started)


def search_years(peer: Peer, course: RaceCourse) -> list[Attempt]:
    """Try all years of a course at once."""
    with _silence():
        from reservoir.bench import peer_evosax

        return peer_evosax.search_years(course, peer.algorithm, peer.settings)


def platform() -> str:
    """Where a library computes that may have a device of its own: ``cpu``, or the device."""
    with _silence():
        from reservoir.bench import peer_evosax

        return peer_evosax.platform()


def one_seed(*parts: int) -> int:
    """A seed of 31 bits, which every library takes."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


@contextmanager
def _silence() -> Iterator[None]:
    """Libraries warn of their own deprecated calls, and of searches that end because the objective ends them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
