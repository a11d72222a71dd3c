"""The sequential engine is CLPSO as the paper writes it, generation by generation (eq. 1-5, Figure 1)."""

from typing import NamedTuple

import numpy as np
import pytest

from reservoir.solvers.clpso import SwarmSettings
from reservoir.solvers.clpso import sequential as clpso_sequential
from tests.solvers.clpso.reference_clpso import Swarm, inertia, learning_probability
from tests.solvers.rng.reference_random import Stream
from tests.solvers.toys import Toy

SEED = (7 << 32) + 2001
#: A bowl whose lowest point is inside, one whose lowest point is a corner, and a plain without any.
TOYS = {"bowl": Toy(), "corner": Toy(rng_stream_id=2, centre=3.0), "plain": Toy(rng_stream_id=3, slope=0.0)}


class Outcome(NamedTuple):
    """The engine's swarm after its last generation, and what it reports."""

    swarm: clpso_sequential.Swarm
    evaluations: int
    trace: np.ndarray


def engine(toy: Toy, particles: int, generations: int, **options: object) -> Outcome:
    """Run the engine under test."""
    settings = SwarmSettings(particles=particles, generations=generations, trace_points=generations, **options)
    swarm = clpso_sequential.new_swarm(toy, settings, SEED, np.empty((0, toy.dimension), np.float32))
    trace = np.empty(generations, np.float32)
    evaluations = clpso_sequential._run(toy.compiled_context(), swarm, generations, 1, trace)
    return Outcome(swarm, evaluations, trace)


def reference(toy: Toy, particles: int, generations: int, **options: bool) -> Swarm:
    """Run the same swarm by the paper's equations."""
    draws = [Stream(SEED, toy.rng_stream_id, particle) for particle in range(particles)]
    return Swarm(toy.fitness, toy.lower, toy.upper, generations, draws, **options).run()


def stacked(swarm: Swarm, name: str) -> np.ndarray:
    """One quantity of all particles."""
    return np.array([getattr(particle, name) for particle in swarm.particles])


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
@pytest.mark.parametrize("generations", [1, 2, 8, 30])
def test_a_tiny_swarm_moves_as_the_paper_says(toy: Toy, generations: int) -> None:
    found, expected = engine(toy, 5, generations), reference(toy, 5, generations)
    for name in ("position", "velocity", "best"):
        np.testing.assert_allclose(getattr(found.swarm, name), stacked(expected, name), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.swarm.best_fitness, stacked(expected, "best_fitness"), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
@pytest.mark.parametrize("generations", [1, 8, 30])
def test_every_particle_draws_as_many_numbers_as_the_paper_says(toy: Toy, generations: int) -> None:
    found, expected = engine(toy, 5, generations), reference(toy, 5, generations)
    states = [particle.draws.state for particle in expected.particles]
    assert found.swarm.states.tolist() == states


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
@pytest.mark.parametrize("particles", [2, 5, 12])
def test_positions_outside_their_bounds_are_not_evaluated_nor_counted_as_stagnation(toy: Toy, particles: int) -> None:
    found, expected = engine(toy, particles, 30), reference(toy, particles, 30)
    assert found.evaluations == expected.evaluations < particles * 31
    assert found.swarm.stagnation.tolist() == stacked(expected, "stagnation").tolist()


def test_a_particle_that_never_improves_chooses_exemplars_at_1_and_every_7_generations() -> None:
    """With no room to leave the bounds, every generation is evaluated: the draws tell when exemplars were chosen."""
    toy = Toy(rng_stream_id=3, slope=0.0)
    options = {"acceleration": 0.0, "inertia_first": 0.0, "inertia_last": 0.0}
    drawn = [int(engine(toy, 2, generations, **options).evaluations) for generations in (1, 7, 8, 22)]
    assert drawn == [2 * (1 + generations) for generations in (1, 7, 8, 22)]
    stagnation = [engine(toy, 2, k, **options).swarm.stagnation.tolist() for k in (1, 6, 7, 8, 14, 15)]
    assert stagnation == [[1, 1], [6, 6], [7, 7], [1, 1], [7, 7], [1, 1]]


@pytest.mark.parametrize("generations", [1, 8, 15])
def test_exemplars_are_chosen_as_the_paper_says(generations: int) -> None:
    found, expected = engine(TOYS["bowl"], 12, generations), reference(TOYS["bowl"], 12, generations)
    np.testing.assert_allclose(found.swarm.exemplar, stacked(expected, "exemplar"), rtol=1e-4, atol=1e-5)


def test_every_particle_learns_from_another_on_some_dimension_or_draws_itself_by_chance() -> None:
    """The relaxed choice: a particle may draw itself, though it rarely does in a large swarm."""
    swarm = engine(TOYS["plain"], 300, 1, acceleration=0.0, inertia_first=0.0, inertia_last=0.0).swarm
    own = np.all(swarm.exemplar == swarm.best, axis=1)
    assert own.mean() < 0.05


def test_inertia_falls_linearly_from_0_9_to_0_4() -> None:
    assert inertia(10, 10) == pytest.approx(0.4)
    assert SwarmSettings().inertia_first == 0.9
    assert SwarmSettings().inertia_last == 0.4
    born = stacked(reference(TOYS["bowl"], 4, 0), "velocity")
    for generations in (1, 2, 9):
        weights = np.prod([0.9 - 0.5 * k / generations for k in range(1, generations + 1)])
        coasting = engine(TOYS["bowl"], 4, generations, acceleration=0.0).swarm
        np.testing.assert_allclose(coasting.velocity, weights * born, rtol=1e-5)


def test_velocity_never_exceeds_a_fifth_of_the_range() -> None:
    toy = TOYS["corner"]
    fastest = 0.2 * (toy.upper - toy.lower)
    for generations in range(1, 20):
        assert np.all(np.abs(engine(toy, 12, generations).swarm.velocity) <= fastest * (1 + 1e-6))


def test_velocity_is_clamped_where_the_pull_is_strong() -> None:
    swarm = engine(TOYS["bowl"], 12, 2, acceleration=1e6).swarm
    fastest = np.broadcast_to(0.2 * (TOYS["bowl"].upper - TOYS["bowl"].lower), swarm.velocity.shape)
    moving = swarm.velocity != 0
    clamped = np.isclose(np.abs(swarm.velocity), fastest, rtol=1e-6)
    assert clamped[moving].mean() > 0.9


@pytest.mark.parametrize("particles", [2, 5, 40])
def test_learning_probability_rises_from_0_05_to_0_5(particles: int) -> None:
    found = SwarmSettings(particles=particles).learning_probability()
    expected = [learning_probability(rank, particles) for rank in range(1, particles + 1)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[0], found[-1]) == (pytest.approx(0.05), pytest.approx(0.5))
    assert np.all(np.diff(found) > 0)


def test_start_positions_and_velocities_fill_their_ranges() -> None:
    swarm = engine(Toy(rng_stream_id=9), 4000, 1, acceleration=0.0, inertia_first=0.0, inertia_last=0.0).swarm
    toy = TOYS["bowl"]
    part = (swarm.position - toy.lower) / (toy.upper - toy.lower)
    np.testing.assert_allclose(part.mean(axis=0), 0.5, atol=0.02)
    assert part.min() >= 0
    assert part.max() <= 1
    born = engine(Toy(rng_stream_id=9), 4000, 1, acceleration=0.0, inertia_first=1.0, inertia_last=1.0).swarm.velocity
    speed = born / (0.2 * (toy.upper - toy.lower))
    np.testing.assert_allclose(
        np.quantile(speed, [0.01, 0.25, 0.5, 0.75, 0.99]), [-0.98, -0.5, 0, 0.5, 0.98], atol=0.03
    )


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_exemplars_can_follow_their_teachers(toy: Toy) -> None:
    found, expected = engine(toy, 5, 30, exemplars_follow=True), reference(toy, 5, 30, follow=True)
    np.testing.assert_allclose(found.swarm.position, stacked(expected, "position"), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.trace, expected.trace, rtol=1e-4, atol=1e-6)


def test_copies_that_stand_and_exemplars_that_follow_move_a_swarm_otherwise() -> None:
    toy = TOYS["bowl"]
    assert not np.allclose(engine(toy, 5, 30).swarm.position, engine(toy, 5, 30, exemplars_follow=True).swarm.position)
