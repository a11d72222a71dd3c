"""Restricted and back mixing (Hsu and Yu 2015; Li and Yu 2017, section 2.1), for compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any, compiled_part, inlined
from reservoir.solvers.dsmga2.genotype import Coded, Plain, bits_fitness
from reservoir.solvers.dsmga2.linkage import begin_set, extend_set, strongest
from reservoir.solvers.dsmga2.model import Model
from reservoir.solvers.dsmga2.population import EQUAL, HIT, MIXING, Population, below, note_hit, permute

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
    found = False
    for index in range(len(keys)):
        found |= keys[index] == key
    return found
