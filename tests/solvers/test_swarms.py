"""What must hold of every swarm (the three faults that evosax' tests look for): by device and in compiled Python."""

import math

import numpy as np
import pytest

from reservoir.solvers import Solution, solve
from tests.solvers.engines import each_of
from tests.solvers.toys import Toy

#: Small populations, told of in every generation where the engine can.
SMALL = {
    "clpso": {"particles": 5, "generations": 80, "trace_points": 80},
    "clpso-sequential": {"particles": 5, "generations": 80, "trace_points": 80},
    "lshade": {"members_per_dimension": 2, "evaluations": 600},
    "ann-pso": {"particles": 5, "generations": 80, "exchange_every": 1, "inertia": 0.7, "velocity_fraction": 0.5},
    "ann-pso-parallel": {
        "particles": 5,
        "generations": 80,
        "exchange_every": 1,
        "inertia": 0.7,
        "velocity_fraction": 0.5,
    },
    "ring-pso": {"particles": 5, "generations": 80, "trace_points": 80},
    "ring-pso-sequential": {"particles": 5, "generations": 80, "trace_points": 80},
    "island-ga": {"islands": 2, "island_size": 8, "iterations": 80, "migrate_every": 1},
    "island-ga-sequential": {"islands": 2, "island_size": 8, "iterations": 80, "migrate_every": 1},
}
SWARMS = pytest.mark.parametrize("solver", each_of(SMALL))


def solved(solver: str, toys: list[Toy], **options: object) -> list[Solution]:
    return list(solve(toys, solver=solver, **SMALL[solver] | options))


def toys_with_numbers_up_to(edge: float) -> list[Toy]:
    """Bowls that have a fitness where the first variable, from -2 to 3, is at most `edge`."""
    return [Toy(rng_stream_id=stream, dimension=2, nothing=math.nan, edge=edge) for stream in range(12)]


@SWARMS
def test_the_best_is_never_lost(solver: str) -> None:
    for found in solved(solver, [Toy(rng_stream_id=stream) for stream in range(4)]):
        assert np.all(np.diff(found.trace_fitness) >= 0)
        assert found.trace_fitness[-1] == pytest.approx(found.fitness, rel=1e-4, abs=1e-6)


@SWARMS
def test_what_is_no_number_never_becomes_a_best(solver: str) -> None:
    for found in solved(solver, toys_with_numbers_up_to(0.5)):
        assert not np.isnan(found.trace_fitness).any()
        assert math.isfinite(found.fitness)
        assert found.position[0] <= 0.5


@SWARMS
def test_a_swarm_recovers_from_first_positions_without_any_number(solver: str) -> None:
    found = solved(solver, toys_with_numbers_up_to(-1.7))
    blind = [each for each in found if each.trace_fitness[0] == -math.inf]
    assert blind, "of twelve tiny swarms some see no number at first"
    assert any(math.isfinite(each.fitness) for each in blind)
    assert all(each.position[0] <= -1.7 for each in found if math.isfinite(each.fitness))
