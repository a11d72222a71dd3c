"""What every entrant is given, and what it found for a year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reservoir.problems.reservoir.year import ReservoirYear


@dataclass(frozen=True)
class Budget:
    """How long a library may try.

    Parameters
    ----------
    near : float
        A year is done when its fitness is within this part of the reference optimum.
    evaluations : int
        Most evaluations of a year in one attempt, those of a swarm of CLPSO with the paper's settings; a year that was
        missed is tried again while there is time.
    seconds : float
        For all years together.
    runs : int
        Most runs; those after the first as far as they fit into `seconds` with it.
    """

    near: float = 1e-4
    evaluations: int = 400_000
    seconds: float = 180.0
    runs: int = 5


#: For a look at whether everything works.
QUICK = Budget(seconds=10.0, runs=1)


@dataclass(frozen=True, eq=False)
class Course:
    """What is run over: years of one reservoir, and the fitness of their reference optima, GWh."""

    years: Sequence[ReservoirYear]
    optima_gwh: Sequence[float]
    budget: Budget
    seed: int


@dataclass(frozen=True)
class Attempt:
    """What an attempt at a year came to.

    Parameters
    ----------
    gap : float
        Part by which the best position's fitness, in float64, falls short of the reference optimum.
    evaluations : int
        Positions judged.
    seconds : float
        Since the clock was started.
    """

    gap: float
    evaluations: int
    seconds: float


def gap_to(optimum_gwh: float, fitness_gwh: float) -> float:
    """Part by which a fitness falls short of the optimum."""
    return (optimum_gwh - fitness_gwh) / (abs(optimum_gwh) or 1.0)
