"""The population that a problem needs, found by sweep: the size with the fewest evaluations at which all runs succeed.

As Hsu and Yu 2015 find it, and Li and Yu 2017 after them: a size counts only if so many runs one after another all find
the optimum. Sizes grow by a step until the middle of three has the least mean of evaluations; then quarters of the
interval are tried until it is narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: The first size tried, and the step from it to the next.
FIRST, STEP = 10, 30
#: The interval is narrow when it is at most this part of its middle.
NARROW = 20
#: Sizes beyond this are not tried.
LARGEST = 20_000


@dataclass(frozen=True)
class Point:
    """What runs of one size came to.

    Parameters
    ----------
    population : int
    evaluations : float
        Mean of the runs, infinite if one of them missed the optimum.
    mixing : float
        Those of mixing alone, hill climbing apart.
    generations : float
        Mean of the runs.
    """

    population: int
    evaluations: float
    mixing: float
    generations: float


#: Runs of one size.
Trial = Callable[[int], Point]


def sweep(trial: Trial) -> Point:
    """The best point found; its evaluations are infinite if no size up to `LARGEST` always succeeds."""
    known: dict[int, Point] = {}

    def tried(population: int) -> Point:
        size = population + population % 2
        if size not in known:
            known[size] = trial(size)
        return known[size]

    left, middle, right = (tried(FIRST + place * STEP) for place in range(3))
    while not (middle.evaluations < left.evaluations and middle.evaluations <= right.evaluations):
        if left.evaluations <= middle.evaluations and left.evaluations < float("inf"):
            break  # already the first size is good enough
        if right.population + STEP > LARGEST:
            return middle
        left, middle, right = middle, right, tried(right.population + STEP)
    if middle.evaluations > left.evaluations:
        left, middle, right = left, left, middle
    return _narrowed(tried, left, middle, right)


def _narrowed(tried: Trial, left: Point, middle: Point, right: Point) -> Point:
    """The best within an interval, by trying the middles of its halves."""
    while (right.population - left.population) * NARROW > middle.population:
        lower = tried((left.population + middle.population) // 2)
        upper = tried((middle.population + right.population) // 2)
        if {lower.population, upper.population} <= {left.population, middle.population, right.population}:
            break
        if lower.evaluations < middle.evaluations and lower.evaluations <= upper.evaluations:
            left, middle, right = left, lower, middle
        elif upper.evaluations < middle.evaluations:
            left, middle, right = middle, upper, right
        else:
            left, middle, right = lower, middle, upper
    return middle
