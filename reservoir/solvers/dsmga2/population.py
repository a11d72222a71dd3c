"""A population of bit strings, and how it begins and is selected."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled, compiled_for_any, compiled_part, inlined
from reservoir.solvers.dsmga2.genotype import Coded, Plain, bits_fitness
from reservoir.solvers.dsmga2.model import Model
from reservoir.solvers.rng.stream import next_bits, stream_states

#: Fitness closer than this is equal.
EQUAL = 1e-8
#: Places of `Population.tally`: evaluations of mixing, of hill climbing, and of both when the optimum was found.
MIXING, CLIMBING, HIT = 0, 1, 2


class Population(NamedTuple):
    """State of a population, with its numbers."""

    genes: NDArray[np.uint8]  # (individuals, loci and more up to a multiple of 64)
    columns: NDArray[np.uint64]  # (loci, words): bit i % 64 of word i // 64 is the gene of individual i
    keys: NDArray[np.uint64]  # (individuals,): the Zobrist keys of their genes, combined
    fitness: NDArray[np.float64]  # (individuals,)
    zobrist: NDArray[np.uint64]  # (loci,)
    order: NDArray[np.int64]  # (2 individuals,), room for permutations
    trial: NDArray[np.uint8]  # as a row of genes, room
    tally: NDArray[np.int64]  # (3,)
    states: NDArray[np.uint32]  # (1, 4), the random stream
    optimum: float  # infinite if it is not known


def new_population(loci: int, individuals: int, *, seed: int, rng_stream_id: int, optimum: float) -> Population:
    """Room for a population."""
    padded = -(-loci // 64) * 64
    return Population(
        genes=np.zeros((individuals, padded), np.uint8),
        columns=np.zeros((loci, -(-individuals // 64)), np.uint64),
        keys=np.zeros(individuals, np.uint64),
        fitness=np.zeros(individuals),
        zobrist=np.zeros(loci, np.uint64),
        order=np.zeros(2 * individuals, np.int64),
        trial=np.zeros(padded, np.uint8),
        tally=np.zeros(3, np.int64),
        states=stream_states(seed, rng_stream_id, 1),
        optimum=float(optimum),
    )


@inlined
def below(states: NDArray[np.uint32], count: int) -> int:
    """A random number in 0 .. count - 1."""
    return int(np.int64((np.uint64(next_bits(states, 0)) * np.uint64(count)) >> np.uint64(32)))


@compiled_part
def permute(states: NDArray[np.uint32], order: NDArray[np.int64]) -> None:
    """Fill with a random permutation of 0 .. len - 1."""
    for place in range(len(order)):
        order[place] = place
    for place in range(len(order) - 1, 0, -1):
        other = below(states, place + 1)
        order[place], order[other] = order[other], order[place]


@inlined
def note_hit(population: Population) -> None:
    """Remember how many evaluations it took, if nobody had the optimum before."""
    if population.tally[HIT] == 0:
        population.tally[HIT] = population.tally[MIXING] + population.tally[CLIMBING]


@compiled_for_any
def begin(kind: Plain | Coded, population: Population, climb_order: NDArray[np.int64]) -> None:
    """Random bits, improved by hill climbing: one pass over the loci in random order, flips kept if strictly better.

    `climb_order` is room for a permutation of the loci.
    """
    loci = len(population.zobrist)
    states = population.states
    for locus in range(loci):
        population.zobrist[locus] = (np.uint64(next_bits(states, 0)) << np.uint64(32)) | np.uint64(next_bits(states, 0))
    for individual in range(len(population.keys)):
        genes = population.genes[individual]
        for locus in range(loci):
            genes[locus] = next_bits(states, 0) >> np.uint32(31)
        fitness = bits_fitness(kind, genes, states)
        population.tally[CLIMBING] += 1
        permute(states, climb_order)
        for locus in climb_order:
            genes[locus] ^= 1
            flipped = bits_fitness(kind, genes, states)
            population.tally[CLIMBING] += 1
            if flipped > fitness + EQUAL:
                fitness = flipped
            else:
                genes[locus] ^= 1
        population.fitness[individual] = fitness
        if fitness >= population.optimum - EQUAL:
            note_hit(population)
        _enter(population, individual)


@inlined
def _enter(population: Population, individual: int) -> None:
    """Key and columns of an individual's genes."""
    key, bit = np.uint64(0), np.uint64(1) << np.uint64(individual % 64)
    for locus in range(len(population.zobrist)):
        if population.genes[individual, locus]:
            key ^= population.zobrist[locus]
            population.columns[locus, individual // 64] |= bit
    population.keys[individual] = key


@compiled
def select(population: Population, model: Model) -> None:
    """Tournaments of two without replacement: every individual meets two others. Also draws the ranks of the loci.

    Fills winners, ranks and places of the `Model`: winner i is the better of entries 2i and 2i + 1 of two permutations
    laid end to end, the first if they are equal.
    """
    winners, ranks, places = model.winners, model.ranks, model.places
    individuals, loci = len(population.keys), len(places)
    permute(population.states, population.order[:individuals])
    permute(population.states, population.order[individuals:])
    for place in range(individuals):
        one, other = population.order[2 * place], population.order[2 * place + 1]
        winners[place] = other if population.fitness[other] > population.fitness[one] else one
    permute(population.states, ranks[:loci])
    for locus in range(loci):
        ranks[loci + locus] = ranks[locus]
        places[ranks[locus]] = locus
