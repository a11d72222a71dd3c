"""The factors of the compiled L-SHADE: drawn for every member about those that succeeded, which are remembered.

As ``kernels/solvers/lshade/factors.cl``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from reservoir.hydro.jit import inlined
from reservoir.solvers.lshade.population import Population
from reservoir.solvers.rng.distributions import cauchy, normal
from reservoir.solvers.rng.stream import below, mixed, uniform_of

#: Which number of a member's draw serves what; the first D, which these follow, serve the crossover.
SLOT, SCALE, RATE, ANGLE, BEST, ONE, OTHER, FORCED, PLACE = range(9)


class Factors(NamedTuple):
    """A member's own factors, and the places in `Population.order` of those that it learns from."""

    scale: np.float32
    rate: np.float32
    best: int
    one: int
    other: int
    forced: int


@inlined
def draw_factors(population: Population, drawn: np.uint32, member: int, count: int, archived: int) -> Factors:
    """Draw a scale by Cauchy's distribution above zero and a rate by the normal one, about a remembered pair.

    And three members: one near the best, one other, and one other or archived.
    """
    first, zero, one, spread = len(population.unrolled), np.float32(0), np.float32(1), np.float32(0.1)
    place = below(mixed(drawn, first + SLOT), len(population.remembered_scale))
    shut = population.remembered_shut[place]
    part = (one - shut) * uniform_of(mixed(drawn, first + SCALE)) + shut
    scale = spread * cauchy(part) + population.remembered_scale[place]
    scale = one if part > np.float32(0.999) else min(scale, one)
    rate = population.remembered_rate[place]
    if rate < zero:
        rate = zero
    else:
        number = normal(uniform_of(mixed(drawn, first + RATE)), uniform_of(mixed(drawn, first + ANGLE)))
        rate = min(max(spread * number + rate, zero), one)
    leaders = max(2, int(population.best_fraction * np.float32(count) + np.float32(0.5)))
    other_member = below(mixed(drawn, first + ONE), count - 1)
    other_member += other_member >= member
    third = below(mixed(drawn, first + OTHER), count + archived - 2)
    third += third >= min(member, other_member)
    third += third >= max(member, other_member)
    third += len(population.fitness) - count if third >= count else 0
    forced = below(mixed(drawn, first + FORCED), first)
    return Factors(scale, rate, below(mixed(drawn, first + BEST), leaders), other_member, third, forced)


@inlined
def remember(population: Population, place: int, count: int) -> None:
    """Replace a remembered pair by Lehmer means of the factors that succeeded, weighted by what they gained."""
    zero = np.float32(0)
    scales, scale_squares, rates, rate_squares = zero, zero, zero, zero
    for member in range(count):
        gain, scale, rate = population.gain[member], population.scale[member], population.rate[member]
        scales += gain * scale
        scale_squares += gain * scale * scale
        rates += gain * rate
        rate_squares += gain * rate * rate
    if scales <= zero:
        return
    scale = scale_squares / scales
    population.remembered_scale[place] = scale
    population.remembered_shut[place] = np.float32(0.5) - np.arctan(scale * np.float32(10)) / np.float32(math.pi)
    ended = population.remembered_rate[place] < zero or rates <= zero
    population.remembered_rate[place] = np.float32(-1) if ended else rate_squares / rates
