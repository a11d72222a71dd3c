"""What must hold of every population (the faults that evosax' tests look for): by device and in compiled Python."""

import math

import numpy as np
import pytest

from reservoir.solvers import Solutions, solve
from tests.solvers.engines import each_of
from tests.solvers.rng.reference_random import Stream
from tests.solvers.toys import Toy

#: Small populations, told of in every generation where the engine can.
SMALL = {
    "clpso": {"particles": 5, "generations": 80, "trace_points": 80},
    "clpso-sequential": {"particles": 5, "generations": 80, "trace_points": 80},
    "lshade": {"members_per_dimension": 2, "evaluations": 600},
    "lshade-sequential": {"members_per_dimension": 2, "evaluations": 600},
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
    "dsmga2": {"population": 8, "generations": 40},
}
SOLVERS = pytest.mark.parametrize("solver", each_of(SMALL))
#: Without DSMGA-II, which climbs from every first individual before anybody sees it.
SWARMS = pytest.mark.parametrize("solver", each_of(name for name in SMALL if name != "dsmga2"))
#: Settings by which nobody leaves the first positions.
STILL = {
    "clpso": {"acceleration": 0.0, "inertia_first": 0.0, "inertia_last": 0.0},
    "ring-pso": {"inertia": 0.0, "cognitive": 0.0, "social": 0.0},
    "ann-pso": {"inertia": 0.0, "cognitive": 0.0, "social": 0.0},
    "island-ga": {"crossover_fraction": 0.0, "mutation_scale": 0.0},
}
STILL |= {f"{name}-{'parallel' if name == 'ann-pso' else 'sequential'}": still for name, still in STILL.items()}


def solved(solver: str, toys: list[Toy], **options: object) -> Solutions:
    return list(solve(toys, solver=solver, **SMALL[solver] | options))


def toys_with_numbers_up_to(edge: float) -> list[Toy]:
    """Bowls that have a fitness where the first variable, from -2 to 3, is at most `edge`."""
    return [Toy(rng_stream_id=stream, dimension=2, nothing=math.nan, edge=edge) for stream in range(12)]


@SOLVERS
def test_the_best_is_never_lost(solver: str) -> None:
    for found in solved(solver, [Toy(rng_stream_id=stream) for stream in range(4)]):
        assert np.all(np.diff(found.trace_fitness) >= 0)
        assert found.trace_fitness[-1] == pytest.approx(found.fitness, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("solver", each_of(STILL))
def test_the_best_first_particle_survives_the_first_step(solver: str) -> None:
    toys = [Toy(rng_stream_id=stream) for stream in range(12)]
    once = {"iterations": 1} if solver.startswith("island") else {"generations": 1}
    first, found = (solved(solver, toys, **once, **settings) for settings in (STILL[solver], {}))
    assert all(after.fitness >= before.fitness for after, before in zip(found, first, strict=True))
    assert any(np.array_equal(after.position, before.position) for after, before in zip(found, first, strict=True))
    assert any(after.fitness > before.fitness for after, before in zip(found, first, strict=True))


@pytest.mark.parametrize("solver", each_of(["lshade", "lshade-sequential"]))
def test_the_best_first_member_of_lshade_survives_the_first_step(solver: str) -> None:
    toys = [Toy(rng_stream_id=stream) for stream in range(12)]
    kept = 0
    for toy, found in zip(toys, solved(solver, toys, evaluations=1), strict=True):
        draws = [Stream(1, toy.rng_stream_id, member) for member in range(2 * toy.dimension)]
        drawn = np.array([[draw.uniform() for _ in range(toy.dimension)] for draw in draws])
        first = max(toy.fitness(position) for position in toy.lower + drawn * (toy.upper - toy.lower))
        assert found.fitness >= first - 1e-5
        kept += found.fitness <= first + 1e-5
    assert 0 < kept < len(toys)


@SOLVERS
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
