"""What runs in the processes of the race: imports and compilation before the clock is started, then a year at a time.

Processes and not threads: the libraries hold the interpreter's lock. They are started anew for every entrant, so that
none inherits another's threads, memory or settings.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from reservoir.bench.peers.entry import Attempt, RaceCourse, SearchBudget
from reservoir.bench.peers.libraries import Peer
from reservoir.bench.peers.objective import SearchOver, YearObjective
from reservoir.bench.peers.searches import SEARCHES
from reservoir.problems.reservoir.year import ReservoirYear

#: Enough for every library to have done everything once.
_WARM_UP = SearchBudget(near=-math.inf, evaluations=1000, seconds=60)


def warm_up(peer: Peer, year: ReservoirYear) -> None:
    """Import the library, compile, and try it for a moment."""
    search_year(peer, year, 0.0, [0], _WARM_UP)


def search_year(
    peer: Peer, year: ReservoirYear, optimum_gwh: float, seeds: Sequence[int], budget: SearchBudget
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
        from reservoir.bench.peers import evosax_search

        return evosax_search.search_years(course, peer.algorithm, peer.settings)


def platform() -> str:
    """Where a library computes that may have a device of its own: ``cpu``, or the device."""
    with _silence():
        from reservoir.bench.peers import evosax_search

        return evosax_search.platform()


def one_seed(*parts: int) -> int:
    """A seed of 31 bits, which every library takes."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0] >> 1)


@contextmanager
def _silence() -> Iterator[None]:
    """Libraries warn of their own deprecated calls, and of searches that end because the objective ends them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
