"""DSMGA-II in plain Python, written from the paper and not from the package; it draws the package's random numbers.

Mutual information is in whole numbers (c ln c times a power of two, rounded, as in the package), so that ties are ties.
Slow: for small problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tests.solvers.rng.reference_random import WORD, philox4x32

Fitness = Callable[[list[int]], float]
EQUAL = 1e-8


class Stream:
    """Numbers of xoshiro128+, from a seed and the number of a problem."""

    def __init__(self, seed: int, rng_stream_id: int) -> None:
        self.state = list(philox4x32((0, rng_stream_id, 0, 0), (seed & WORD, seed >> 32)))

    def bits(self) -> int:
        """The next 32 bits."""
        s0, s1, s2, s3 = self.state
        out = (s0 + s3) & WORD
        shifted = (s1 << 9) & WORD
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = ((s3 << 11) | (s3 >> 21)) & WORD
        self.state = [s0, s1, s2, s3]
        return out

    def below(self, count: int) -> int:
        """A number in 0 .. count - 1."""
        return self.bits() * count >> 32

    def permutation(self, count: int) -> list[int]:
        """A random order of 0 .. count - 1, by swaps from the back."""
        order = list(range(count))
        for place in range(count - 1, 0, -1):
            other = self.below(place + 1)
            order[place], order[other] = order[other], order[place]
        return order


class Reference:
    """A population and all that happens to it."""

    def __init__(
        self, fitness: Fitness, loci: int, population: int, optimum: float, scale: int, seed: int, rng_stream_id: int
    ) -> None:
        self.fitness, self.loci, self.size, self.optimum, self.scale = fitness, loci, population, optimum, scale
        self.rng_stream_id = Stream(seed, rng_stream_id)
        for _ in range(2 * loci):  # keys of a hash that this program has no need of
            self.rng_stream_id.bits()
        self.mixing = self.climbing = self.hit = 0
        self.people: list[list[int]] = []
        self.worth: list[float] = []
        for _ in range(population):
            self._climb([self.rng_stream_id.bits() >> 31 for _ in range(loci)])

    def _climb(self, genes: list[int]) -> None:
        worth = self.fitness(genes)
        self.climbing += 1
        for locus in self.rng_stream_id.permutation(self.loci):
            genes[locus] ^= 1
            other = self.fitness(genes)
            self.climbing += 1
            if other > worth + EQUAL:
                worth = other
            else:
                genes[locus] ^= 1
        self.people.append(genes)
        self.worth.append(worth)
        self._look(worth)

    def _look(self, worth: float) -> None:
        if worth >= self.optimum - EQUAL and not self.hit:
            self.hit = self.mixing + self.climbing

    def run(self, generations: int) -> int:
        """Generations until the end."""
        for generation in range(generations):
            if generation and (self.hit or max(self.worth) - EQUAL <= sum(self.worth) / self.size):
                return generation
            self._generation()
        return generations

    def _generation(self) -> None:
        places = self.rng_stream_id.permutation(self.size) + self.rng_stream_id.permutation(self.size)
        winners = [
            other if self.worth[other] > self.worth[one] else one
            for one, other in zip(places[::2], places[1::2], strict=True)
        ]
        ranks = self.rng_stream_id.permutation(self.loci)
        sets = linkage_sets(matrix_of([self.people[each] for each in winners], self.scale), ranks)
        for _ in range(max(1, self.loci // 50)):
            for receiver in self.rng_stream_id.permutation(self.size):
                self._receive(receiver, sets)
                if self.hit:
                    return

    def _receive(self, receiver: int, sets: list[list[int]]) -> None:
        mask = sets[self.rng_stream_id.below(self.loci)]
        mine = self.people[receiver]
        size = 0
        while size < max(self.loci // 2, 1) and any(
            all(other[locus] != mine[locus] for locus in mask[: size + 1]) for other in self.people
        ):
            size += 1
        trial = list(mine)
        for flips in range(1, size + 1):
            trial[mask[flips - 1]] ^= 1
            if trial in self.people:
                return
            worth = self._judged(trial)
            if worth >= self.worth[receiver] - EQUAL:
                self.people[receiver], self.worth[receiver] = trial, worth
                if not self.hit:
                    self._spread(trial, mask[:flips])
                return

    def _spread(self, source: list[int], mask: list[int]) -> None:
        pattern, equals = [source[locus] for locus in mask], True
        for receiver in self.rng_stream_id.permutation(self.size):
            trial = list(self.people[receiver])
            for locus, gene in zip(mask, pattern, strict=True):
                trial[locus] = gene
            if trial == self.people[receiver]:
                continue
            worth, before = self._judged(trial), self.worth[receiver]
            if worth > before + EQUAL or (equals and worth >= before - EQUAL):
                self.people[receiver], self.worth[receiver] = trial, worth
                equals = equals and not worth > before + EQUAL
            if self.hit:
                return

    def _judged(self, trial: list[int]) -> float:
        self.mixing += 1
        worth = self.fitness(trial)
        self._look(worth)
        return worth


def matrix_of(people: list[list[int]], scale: int) -> np.ndarray:
    """Mutual information of every two loci times the individuals, in whole numbers of 2^-scale; Python's own, exact."""
    genes, count = np.array(people), len(people)
    terms = [round(math.ldexp(c * math.log(c), scale)) if c else 0 for c in range(count + 1)]
    matrix = np.zeros((genes.shape[1],) * 2, object)
    for one in range(len(matrix)):
        for other in range(len(matrix)):
            pairs = [int(((genes[:, one] == a) & (genes[:, other] == b)).sum()) for a in (0, 1) for b in (0, 1)]
            alone = [int((genes[:, locus] == a).sum()) for locus in (one, other) for a in (0, 1)]
            value = sum(terms[c] for c in pairs) - sum(terms[c] for c in alone) + terms[count]
            matrix[one, other] = max(value, 0)
    return matrix


def linkage_sets(matrix: np.ndarray, ranks: list[int]) -> list[list[int]]:
    """All loci from each start: always that of the largest sum, and among equals that of the highest rank.

    The ranks of a start are read from its own place on, around the end.
    """
    loci = len(matrix)
    sets = []
    for start in range(loci):
        mask = [start]
        while len(mask) < loci:
            left = [locus for locus in range(loci) if locus not in mask]
            sums = {locus: sum(matrix[each, locus] for each in mask) for locus in left}
            mask.append(max(left, key=lambda locus: (sums[locus], ranks[(start + locus) % loci])))
        sets.append(mask)
    return sets
