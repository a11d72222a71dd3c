"""How many arithmetic instructions a particle's move takes, counted from the problem and not from a compiler's output.

Each of these counts as one: a fused multiply-add, any other float operation, a minimum or maximum, a comparison or
selection, a conversion, a 32-bit integer operation. Reading and writing memory, loops and the choice of exemplars count
nothing: the count is what the algorithm cannot do without, so that a fraction of the limit flatters nobody.
"""

from __future__ import annotations

from reservoir.hydro.curves.approximation import Form
from reservoir.hydro.curves.forms import PolynomialForm
from reservoir.problems.reservoir.year import ReservoirYear

#: CLPSO, eq. 1-3, in one dimension: xoshiro128+ takes 10 integer operations and 4 to become a number in a range.
PER_DIMENSION = {"random number": 14, "velocity": 5, "position": 1, "bounds test": 4}
#: A step of a year that repair always mends, eq. 6-9 and 16-19, without the curves.
PER_STEP = {"water balance": 2, "reach": 2, "repair": 2, "mean storage": 2, "head and power": 4, "energy": 1}
#: In a cyclic year the reach of a step follows the start storage.
CYCLIC_REACH = 6
#: Energy in GWh, comparison with the personal best, counters.
PER_MOVE = 5
#: A curve: to the polynomial's range, then one for each degree; or two entries of a table, joined.
POLYNOMIAL, EVEN_TABLE = 1, 10


def curve_operations(form: Form) -> int:
    """Instructions of one look at a curve."""
    return POLYNOMIAL + len(form.coefficients) - 1 if isinstance(form, PolynomialForm) else EVEN_TABLE


def operations_per_move(year: ReservoirYear) -> int:
    """Instructions of one move of one particle, and of the fitness of where it comes to."""
    plant = year.model.approximation.plant
    curves = sum(map(curve_operations, (plant.level, plant.tailrace, plant.conversion, plant.capacity)))
    step = sum(PER_STEP.values()) + curves + year.limits.cyclic * CYCLIC_REACH
    return year.dimension * sum(PER_DIMENSION.values()) + year.limits.steps * step + PER_MOVE


def rule(year: ReservoirYear) -> str:
    """How the count comes about, in words."""
    plant = year.model.approximation.plant
    curves = [curve_operations(form) for form in (plant.level, plant.tailrace, plant.conversion, plant.capacity)]
    return (
        "One instruction each: a fused multiply-add, another float operation, a minimum or maximum, a comparison or "
        "selection, a conversion, a 32-bit integer operation. A move takes "
        f"{_sum(PER_DIMENSION)} in each of {year.dimension} dimensions; {_sum(PER_STEP)}"
        f"{f', {CYCLIC_REACH} more in a cyclic year' if year.limits.cyclic else ''} and the curves (level "
        f"{curves[0]}, tailrace {curves[1]}, conversion {curves[2]}, capacity {curves[3]}) in each of "
        f"{year.limits.steps} steps; and {PER_MOVE} once: {operations_per_move(year):,} in all. Memory, loops and the "
        "choice of exemplars count nothing; a move that leaves the bounds counts as any other."
    )


def _sum(parts: dict[str, int]) -> str:
    return f"{sum(parts.values())} ({', '.join(f'{name} {count}' for name, count in parts.items())})"
