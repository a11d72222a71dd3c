"""The two-level swarm of Li and Liu 2017 as their section 5 tells it, in plain loops over numpy."""

from __future__ import annotations

import numpy as np

from reservoir.solvers.rng import philox4x32, seed_words
from reservoir.solvers.two_level_pso import TwoLevelSettings


def numbers(seed: int, rng_stream_id: int, particle: int, generation: int, count: int) -> np.ndarray:
    """The first numbers that a particle draws in a generation."""
    word = philox4x32(np.array([particle, rng_stream_id, generation, 1], np.uint32), seed_words(seed))[0]
    mixed = (np.uint64(word) + np.arange(count, dtype=np.uint64) * np.uint64(0x9E3779B9)) & np.uint64(0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        mixed = ((mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    mixed ^= mixed >> np.uint64(16)
    return (mixed >> np.uint64(9)).astype(float) * 2.0**-23


class Swarm:
    """Positions, velocities and bests of all particles, in float64."""

    def __init__(self, problem, settings: TwoLevelSettings, seed: int, value) -> None:
        self.settings, self.value, self.problem, self.seed = settings, value, problem, seed
        count, dimension = settings.particles, problem.dimension
        drawn = np.array([numbers(seed, problem.rng_stream_id, each, 0, 2 * dimension) for each in range(count)])
        width = problem.upper - problem.lower
        self.fastest = width * settings.velocity_fraction
        self.position = drawn[:, ::2] * width + problem.lower
        self.velocity = (2 * drawn[:, 1::2] - 1) * self.fastest
        self.best = self.position.copy()
        self.best_fitness = np.array([value(each) for each in self.position])

    def leader(self, members: range) -> int:
        return max(members, key=lambda each: self.best_fitness[each])

    def move(self, particle: int, generation: int, leading: np.ndarray) -> None:
        dimension, settings = self.problem.dimension, self.settings
        drawn = numbers(self.seed, self.problem.rng_stream_id, particle, generation, 2 * dimension)
        at = self.position[particle]
        velocity = settings.inertia * self.velocity[particle]
        velocity = velocity + settings.cognitive * drawn[::2] * (self.best[particle] - at)
        velocity = velocity + settings.social * drawn[1::2] * (leading - at)
        velocity = np.clip(velocity, -self.fastest, self.fastest)
        moved = at + velocity
        if self.problem.kernel().bounded:
            outside = (moved < self.problem.lower) | (moved > self.problem.upper)
            velocity = np.where(outside, 0.0, velocity)
            moved = np.clip(moved, self.problem.lower, self.problem.upper)
        self.position[particle], self.velocity[particle] = moved, velocity

    def run(self, local: bool = True) -> tuple[np.ndarray, float]:
        settings, everybody = self.settings, range(self.settings.particles)
        groups = [everybody[first : first + settings.group] for first in everybody[:: settings.group]]
        exchanged = {0, *settings.trace_generations.tolist()}
        swarm_best = self.best[self.leader(everybody)].copy()
        for generation in range(1, settings.generations + 1):
            leaders = [self.best[self.leader(group)].copy() for group in groups]
            follow_swarm = not local or generation - 1 in exchanged
            for group, leading in zip(groups, leaders, strict=True):
                for particle in group:
                    self.move(particle, generation, swarm_best if follow_swarm else leading)
            for particle in everybody:
                found = self.value(self.position[particle])
                if found > self.best_fitness[particle]:
                    self.best_fitness[particle], self.best[particle] = found, self.position[particle]
            if not local or generation in exchanged:
                swarm_best = self.best[self.leader(everybody)].copy()
        leader = self.leader(everybody)
        return self.best[leader], self.best_fitness[leader]
