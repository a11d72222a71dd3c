"""A population of bits: how they are judged, its beginning, selection, mixing (Hsu and Yu 2015; Li and Yu 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import OPTIONS, compiled, compiled_for_any, compiled_part, inlined, overload
from reservoir.problems.base import BITS, FloatArray, Problem, encoding_of
from reservoir.problems.fitness import coding_of, fitness_of, gray_level, level_position
from reservoir.solvers.dsmga2.linkage import Model, begin_set, extend_set, strongest
from reservoir.solvers.engine import new_state
from reservoir.solvers.rng import fresh_noise, next_bits


class Plain(NamedTuple):
    """Of a problem of bit strings."""

    context: Any
    scratch: NDArray[Any]


class Coded(NamedTuple):
    """Of a problem of real vectors, in Gray code."""

    context: Any
    coding: Any
    bits: int
    parts: NDArray[np.float32]  # (variables,), room
    position: NDArray[np.float32]  # (dimension,), room
    scratch: NDArray[np.float32]


def genotype_of(problem: Problem, bits: int) -> tuple[Plain | Coded, int]:
    """How bits are judged, and how many there are; `bits` of them a variable unless the problem is made of bits."""
    context = problem.compiled_context()
    if encoding_of(problem) == BITS:
        return Plain(context=context, scratch=np.empty((2, problem.dimension + 1))), problem.dimension
    coding, variables = coding_of(problem)
    kind = Coded(
        context=context,
        coding=coding,
        bits=bits,
        parts=np.empty(variables, np.float32),
        position=np.empty(problem.dimension, np.float32),
        scratch=np.empty((2, problem.dimension + 1), np.float32),
    )
    return kind, bits * variables


def position_of(problem: Problem, kind: Plain | Coded, genes: NDArray[np.uint8]) -> FloatArray:
    """The position that bits stand for; within the bounds, which float32 may miss by its last digit."""
    if isinstance(kind, Plain):
        return genes.astype(np.float64)
    _decode(kind, genes)
    return np.clip(kind.position.astype(np.float64), problem.lower, problem.upper)


@inlined
def fill_position(kind: Coded, genes: NDArray[np.uint8]) -> None:
    """Fill the position of a coded individual."""
    highest = np.float32((1 << kind.bits) - 1)
    for variable in range(len(kind.parts)):
        kind.parts[variable] = np.float32(gray_level(genes, variable * kind.bits, kind.bits)) / highest
    level_position(kind.coding, kind.parts, kind.position)


@compiled_for_any
def _decode(kind: Coded, genes: NDArray[np.uint8]) -> None:
    fill_position(kind, genes)


def bits_fitness(kind: Plain | Coded, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
    """Fitness of bits, to be maximised; one that is no number is the worst. A noisy problem draws from the stream.

    Not compiled into its callers: there are four, and a year's fitness takes seconds to compile.
    """
    raise NotImplementedError("call this from compiled code")


@overload(bits_fitness, OPTIONS)
def _bits_fitness(kind: Any, genes: Any, states: Any) -> Callable[..., Any]:
    if kind.instance_class is Plain:

        def plain(kind: Plain, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
            fitness = np.float64(fitness_of(kind.context, genes, kind.scratch))
            return fitness if fitness == fitness else -np.inf

        return plain

    def judged(kind: Coded, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
        fill_position(kind, genes)
        fitness = fitness_of(kind.context, kind.position, kind.scratch)
        fitness = np.float64(fitness + fresh_noise(kind.context, states, 0))
        return fitness if fitness == fitness else -np.inf

    return judged


#: Fitness closer than this is equal.
EQUAL = 1e-8
#: Places of `Population.tally`: evaluations of mixing, of hill climbing, and of both when the optimum was found.
MIXING, CLIMBING, HIT = 0, 1, 2


class Population(NamedTuple):
    """State of a population, with its numbers."""

    genes: Annotated[NDArray[np.uint8], "individuals", "padded"]  # loci, and more up to a multiple of 64
    columns: Annotated[NDArray[np.uint64], "loci", "words"]  # bit i % 64 of word i // 64 is the gene of individual i
    keys: Annotated[NDArray[np.uint64], "individuals"]  # the Zobrist keys of their genes, combined
    fitness: Annotated[NDArray[np.float64], "individuals"]
    zobrist: Annotated[NDArray[np.uint64], "loci"]
    order: Annotated[NDArray[np.int64], "contestants"]  # room for permutations
    trial: Annotated[NDArray[np.uint8], "padded"]  # as a row of genes, room
    tally: Annotated[NDArray[np.int64], "tallies"]
    states: NDArray[np.uint32]  # (1, 4), the random stream
    optimum: float  # infinite if it is not known


def new_population(loci: int, individuals: int, states: NDArray[np.uint32], optimum: float) -> Population:
    """Room for a population, with its random stream."""
    sizes = {
        "loci": loci,
        "padded": -(-loci // 64) * 64,
        "words": -(-individuals // 64),
        "contestants": 2 * individuals,
    }
    return new_state(Population, individuals=individuals, **sizes, tallies=3, states=states, optimum=optimum)


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


Linkage = NDArray[np.uint16]


@compiled_for_any
def mix(kind: Plain | Coded, population: Population, model: Model, mask_order: NDArray[np.int64]) -> None:
    """Every individual is a receiver of restricted mixing once in each of loci / 50 rounds; ends at the optimum.

    Parameters
    ----------
    kind : Plain or Coded
    population : Population
    model : Model
        Built from this population.
    mask_order : ndarray of int64, shape (individuals,)
        Room for a permutation.
    """
    individuals, loci = len(population.keys), len(population.zobrist)
    receivers = population.order[:individuals]
    for _ in range(max(1, loci // 50)):
        permute(population.states, receivers)
        for receiver in receivers:
            start = below(population.states, loci)
            size = _donated(population, model, receiver, start)
            flips = _restricted(kind, population, model.sets[start], size, receiver)
            if flips > 0 and population.tally[HIT] == 0:
                permute(population.states, mask_order)
                _spread(kind, population, model.sets[start], flips, receiver, mask_order)
            if population.tally[HIT] > 0:
                return


@compiled_part
def _donated(population: Population, model: Model, receiver: int, start: int) -> int:
    """Loci of the longest linkage set from `start` at which some individual differs from the receiver throughout.

    At most half of the loci. Where the model is built on demand, sets grow here.
    """
    loci, words = population.columns.shape
    linkage = model.sets[start]
    candidates = model.candidates
    for word in range(words):
        candidates[word] = ~np.uint64(0)
    if words * 64 > len(population.keys):
        candidates[words - 1] = (np.uint64(1) << np.uint64(len(population.keys) % 64)) - np.uint64(1)
    size = 0
    while size < max(loci // 2, 1):
        if size == model.lengths[start] and not _grown(model, start):
            break
        locus = linkage[size]
        flip = np.uint64(0) if population.genes[receiver, locus] == 0 else ~np.uint64(0)
        left = np.uint64(0)
        for word in range(words):
            candidates[word] &= population.columns[locus, word] ^ flip
            left |= candidates[word]
        if left == 0:
            break
        size += 1
    return size


@inlined
def _grown(model: Model, start: int) -> bool:
    """Make a set one locus longer if it is built on demand: there is room for the strengths of every set then."""
    if model.strengths.shape[0] < model.lengths.shape[0]:
        return False
    size = model.lengths[start]
    if size == 0:
        model.most[start] = begin_set(model, start, model.strengths[start])
        model.sets[start, 0] = start
    else:
        last = model.sets[start, size - 1]
        if size > 1:
            model.most[start] = extend_set(model.matrix, last, model.strengths[start])
        model.sets[start, size] = strongest(model, model.most[start], start)
    model.lengths[start] = size + 1
    return True


@compiled_part
def _restricted(kind: Plain | Coded, population: Population, linkage: Linkage, size: int, receiver: int) -> int:
    """Flip the first 1, 2, ... loci until that does no harm; stop where that individual exists already.

    Returns
    -------
    int
        Loci flipped; 0 if nothing was accepted.
    """
    trial, genes = population.trial, population.genes[receiver]
    _copy(genes, trial)
    key = population.keys[receiver]
    for flips in range(1, size + 1):
        locus = linkage[flips - 1]
        trial[locus] ^= 1
        key ^= population.zobrist[locus]
        if _exists(population.keys, key):
            return 0
        fitness = _judged(kind, population)
        if fitness >= population.fitness[receiver] - EQUAL:
            _replace(population, receiver, linkage, flips, key, fitness)
            return flips
    return 0


@compiled_part
def _spread(
    kind: Plain | Coded, population: Population, linkage: Linkage, flips: int, source: int, order: NDArray[np.int64]
) -> None:
    """Offer the source's pattern to everybody: equals are welcome until somebody has become strictly better by it."""
    pattern, equals = population.genes[source], True
    for receiver in order:
        genes, key = population.genes[receiver], population.keys[receiver]
        _copy(genes, population.trial)
        for place in range(flips):
            locus = linkage[place]
            if genes[locus] != pattern[locus]:
                population.trial[locus] = pattern[locus]
                key ^= population.zobrist[locus]
        if key == population.keys[receiver]:
            continue
        fitness, before = _judged(kind, population), population.fitness[receiver]
        better = fitness > before + EQUAL
        if better or (equals and fitness >= before - EQUAL):
            _replace(population, receiver, linkage, flips, key, fitness)
            equals = equals and not better
        if population.tally[HIT] > 0:
            return


@inlined
def _judged(kind: Plain | Coded, population: Population) -> float:
    """Fitness of the trial, counted."""
    population.tally[MIXING] += 1
    fitness = bits_fitness(kind, population.trial, population.states)
    if fitness >= population.optimum - EQUAL:
        note_hit(population)
    return fitness


@inlined
def _replace(
    population: Population, individual: int, linkage: Linkage, flips: int, key: np.uint64, fitness: float
) -> None:
    """Take the trial's genes, which differ at some of the first loci of a linkage set."""
    bit = np.uint64(1) << np.uint64(individual % 64)
    for place in range(flips):
        locus = linkage[place]
        if population.genes[individual, locus] != population.trial[locus]:
            population.genes[individual, locus] = population.trial[locus]
            population.columns[locus, individual // 64] ^= bit
    population.keys[individual], population.fitness[individual] = key, fitness


@inlined
def _copy(source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    for locus in range(len(source)):
        target[locus] = source[locus]


@compiled_part
def _exists(keys: NDArray[np.uint64], key: np.uint64) -> bool:
    """Whether an individual of that key lives."""
    exists = False
    for index in range(len(keys)):
        exists |= keys[index] == key
    return exists
