"""A population of bit strings, and how it begins and is selected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_part, inlined
from reservoir.solvers.dsmga2.genotype import bits_worth
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
    worth: NDArray[np.float64]  # (individuals,)
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
        np.zeros((individuals, padded), np.uint8),
        np.zeros((loci, -(-individuals // 64)), np.uint64),
        np.zeros(individuals, np.uint64),
        np.zeros(individuals),
        np.zeros(loci, np.uint64),
        np.zeros(2 * individuals, np.int64),
        np.zeros(padded, np.uint8),
        np.zeros(3, np.int64),
        stream_states(seed, rng_stream_id, 1),
        float(optimum),
    )


@inlined
def below(states, count):
    """A random number in 0 .. count - 1."""
    return np.int64((np.uint64(next_bits(states, 0)) * np.uint64(count)) >> np.uint64(32))


@compiled_part
def permute(states, order):
    """Fill with a random permutation of 0 .. len - 1."""
    for place in range(len(order)):
        order[place] = place
    for place in range(len(order) - 1, 0, -1):
        other = below(states, place + 1)
        order[place], order[other] = order[other], order[place]


@inlined
def note_hit(people):
    """Remember how many evaluations it took, if nobody had the optimum before."""
    if people.tally[HIT] == 0:
        people.tally[HIT] = people.tally[MIXING] + people.tally[CLIMBING]


@compiled_part
def begin(kind, people, climb_order):
    """Random bits, improved by hill climbing: one pass over the loci in random order, flips kept if strictly better.

    `climb_order` is room for a permutation of the loci.
    """
    loci = len(people.zobrist)
    states = people.states
    for locus in range(loci):
        people.zobrist[locus] = (np.uint64(next_bits(states, 0)) << np.uint64(32)) | np.uint64(next_bits(states, 0))
    for individual in range(len(people.keys)):
        genes = people.genes[individual]
        for locus in range(loci):
            genes[locus] = next_bits(states, 0) >> np.uint32(31)
        worth = bits_worth(kind, genes, states)
        people.tally[CLIMBING] += 1
        permute(states, climb_order)
        for locus in climb_order:
            genes[locus] ^= 1
            flipped = bits_worth(kind, genes, states)
            people.tally[CLIMBING] += 1
            if flipped > worth + EQUAL:
                worth = flipped
            else:
                genes[locus] ^= 1
        people.worth[individual] = worth
        if worth >= people.optimum - EQUAL:
            note_hit(people)
        _enter(people, individual)


@inlined
def _enter(people, individual):
    """Key and columns of an individual's genes."""
    key, bit = np.uint64(0), np.uint64(1) << np.uint64(individual % 64)
    for locus in range(len(people.zobrist)):
        if people.genes[individual, locus]:
            key ^= people.zobrist[locus]
            people.columns[locus, individual // 64] |= bit
    people.keys[individual] = key


@compiled_part
def select(people, winners, ranks, places):
    """Tournaments of two without replacement: every individual meets two others. Also draws the ranks of the loci.

    Parameters
    ----------
    people : Population
    winners : ndarray of int, shape (individuals,)
        Is filled: winner i is the better of entries 2i and 2i + 1 of two permutations laid end to end, the first if
        they are equal.
    ranks, places : ndarray of int64, shape (2 loci,) and (loci,)
        Are filled: a permutation twice, and where its numbers stand.
    """
    individuals, loci = len(people.keys), len(places)
    permute(people.states, people.order[:individuals])
    permute(people.states, people.order[individuals:])
    for place in range(individuals):
        one, other = people.order[2 * place], people.order[2 * place + 1]
        winners[place] = other if people.worth[other] > people.worth[one] else one
    permute(people.states, ranks[:loci])
    for locus in range(loci):
        ranks[loci + locus] = ranks[locus]
        places[ranks[locus]] = locus


def best_of(people: Population) -> tuple[NDArray[np.uint8], float]:
    """Genes and fitness of the best individual."""
    row = int(people.worth.argmax())
    return people.genes[row], float(people.worth[row])


def settled(people: Population) -> bool:
    """Whether nothing is left to be found: the optimum is there, or all individuals are equally good."""
    worth: Any = people.worth
    return bool(people.tally[HIT]) or bool(worth.max() - EQUAL <= worth.mean())
