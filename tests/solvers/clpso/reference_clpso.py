"""CLPSO in plain Python: Yu et al. 2020 (Complexity 6589658), section 2.1 and Figure 1, line by line, in float32.

It shares nothing with the package's engines but the order in which a particle draws its random numbers, so that from
the same streams it must find the same swarm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.solvers.rng.reference_random import Draws

Fitness = Callable[[np.ndarray], float]

GAP = 7
FLOAT = np.float32


def inertia(generation: int, generations: int) -> float:
    """Eq. 4."""
    return 0.9 - 0.5 * generation / generations


def learning_probability(rank: int, particles: int) -> float:
    """Eq. 5, with ranks from 1."""
    return 0.05 + 0.45 * (math.exp(10 * (rank - 1) / (particles - 1)) - 1) / (math.exp(10) - 1)


@dataclass
class Particle:
    """One particle; vectors of D numbers."""

    draws: Draws
    learning: float
    position: np.ndarray
    velocity: np.ndarray
    best: np.ndarray
    best_fitness: float
    exemplar: np.ndarray | None = None
    teachers: list[int] = field(default_factory=list)
    stagnation: int = GAP  # so that the exemplar is drawn in generation 1
    refreshed: list[int] = field(default_factory=list)


class Swarm:
    """A swarm of CLPSO, stepped by the generation."""

    def __init__(
        self,
        fitness: Fitness,
        lower: Sequence[float],
        upper: Sequence[float],
        generations: int,
        draws: Sequence[Draws],
        *,
        strict: bool = False,
        noise: float = 0.0,
        follow: bool = False,
    ) -> None:
        self.fitness, self.strict, self.noise, self.follow = fitness, strict, noise, follow
        self.lower, self.upper = np.array(lower, FLOAT), np.array(upper, FLOAT)
        self.fastest = FLOAT(0.2) * (self.upper - self.lower)
        self.generations, self.generation = generations, 0
        self.particles = [self._born(rank, draw, len(draws)) for rank, draw in enumerate(draws, start=1)]
        self.evaluations = len(draws)
        self.trace: list[float] = []

    def _born(self, rank: int, draws: Draws, particles: int) -> Particle:
        """Step 1: velocity and position are uniform, drawn in this order for each dimension."""
        position, velocity = np.empty_like(self.lower), np.empty_like(self.lower)
        for d in range(len(self.lower)):
            velocity[d] = (2 * draws.uniform() - 1) * self.fastest[d]
            position[d] = self.lower[d] + draws.uniform() * (self.upper[d] - self.lower[d])
        worth = self.fitness(position) + self._noise(draws)
        worth = -math.inf if math.isnan(worth) else worth
        return Particle(draws, learning_probability(rank, particles), position, velocity, position.copy(), worth)

    def step(self) -> None:
        """Steps 2-5: one generation."""
        self.generation += 1
        weight = FLOAT(inertia(self.generation, self.generations))
        for index, particle in enumerate(self.particles):
            if particle.stagnation >= GAP:
                self._choose_exemplar(index, particle)
        if self.follow:
            for particle in self.particles:
                particle.exemplar = self._of_teachers(particle)
        for particle in self.particles:
            self._move(particle, weight)
            noise = self._noise(particle.draws)
            if np.all((self.lower <= particle.position) & (particle.position <= self.upper)):
                self._judge(particle, noise)
        self.trace.append(max(particle.best_fitness for particle in self.particles))

    def run(self) -> Swarm:
        """All generations."""
        for _ in range(self.generations):
            self.step()
        return self

    @property
    def leader(self) -> Particle:
        """The particle with the best personal best, the first of equals."""
        return max(self.particles, key=lambda particle: particle.best_fitness)

    def _noise(self, draws: Draws) -> float:
        return self.noise * draws.uniform() if self.noise else 0.0

    def _choose_exemplar(self, index: int, particle: Particle) -> None:
        """Eq. 5 and after: on each dimension its own best, or that of the better of two drawn at random."""
        count, dimension = len(self.particles), len(self.lower)
        teachers = []
        drawn = particle.draws.exemplar()
        for d in range(dimension):
            teacher = index
            others = [each for each in range(count) if each != index] if self.strict else list(range(count))
            rivals = drawn.rivals(d, FLOAT(particle.learning), (len(others), len(others) - self.strict))
            if rivals is not None:
                one = others[rivals[0]]
                if self.strict:
                    others.remove(one)
                other = others[rivals[1]]
                teacher = one if self.particles[one].best_fitness > self.particles[other].best_fitness else other
            teachers.append(teacher)
        if all(teacher == index for teacher in teachers):
            chosen = drawn.below(dimension, dimension)
            spare = drawn.below(dimension + 1, count - self.strict)
            teachers[chosen] = spare + (self.strict and spare >= index)
        particle.teachers = teachers
        particle.exemplar = self._of_teachers(particle)
        particle.stagnation = 0
        particle.refreshed.append(self.generation)

    def _of_teachers(self, particle: Particle) -> np.ndarray:
        return np.array([self.particles[teacher].best[d] for d, teacher in enumerate(particle.teachers)])

    def _move(self, particle: Particle, weight: np.float32) -> None:
        """Eq. 1-3."""
        chance = np.array([particle.draws.uniform() for _ in self.lower], FLOAT)
        assert particle.exemplar is not None
        pull = FLOAT(1.5) * chance * (particle.exemplar - particle.position)
        particle.velocity = np.clip(weight * particle.velocity + pull, -self.fastest, self.fastest)
        particle.position = particle.position + particle.velocity

    def _judge(self, particle: Particle, noise: float) -> None:
        """Step 4, reached only within the bounds."""
        self.evaluations += 1
        worth = self.fitness(particle.position) + noise
        if worth > particle.best_fitness:
            particle.best, particle.best_fitness = particle.position.copy(), worth
        else:
            particle.stagnation += 1
