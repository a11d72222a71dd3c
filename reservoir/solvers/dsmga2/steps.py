"""What a generation is made of, as Python calls it: compiled, without the interpreter's lock, for any problem."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.jit import compiled, compiled_for_any, inlined
from reservoir.solvers.dsmga2.linkage import count_genes, fill_matrix, fill_sets
from reservoir.solvers.dsmga2.mixing import mix
from reservoir.solvers.dsmga2.population import begin, below, select


@compiled
def select_winners(population, model):
    """`population.select` into the model."""
    select(population, model.winners, model.ranks, model.places)


@compiled
def select_for_device(population, model, lossy, numbers):
    """`population.select`, an individual for each set of a lossy model, and all that the kernels read, in their order.

    Parameters
    ----------
    population : Population
    model : Model
    lossy : bool
    numbers : ndarray of uint32, shape (numbers,)
        Is filled: halves of the words of columns, winners, ranks, places and representatives.
    """
    select(population, model.winners, model.ranks, model.places)
    if lossy:
        for locus in range(len(model.representatives)):
            model.representatives[locus] = below(population.states, len(population.keys))
    at = 0
    for locus in range(population.columns.shape[0]):
        for word in population.columns[locus]:
            numbers[at] = word & np.uint64(0xFFFFFFFF)
            numbers[at + 1] = word >> np.uint64(32)
            at += 2
    at = _appended(numbers, at, model.winners)
    at = _appended(numbers, at, model.ranks)
    at = _appended(numbers, at, model.places)
    _appended(numbers, at, model.representatives)


@inlined
def _appended(numbers, at, part):
    for place in range(len(part)):
        numbers[at + place] = part[place]
    return at + len(part)


@compiled
def find_matrix(population, model):
    """The dependency structure matrix from the winners."""
    count_genes(population.genes, model.winners, model.words)
    fill_matrix(model.words, len(model.winners), model.table, model.ones, model.both, model.matrix)


@compiled
def find_sets(model):
    """Whole linkage sets from every locus."""
    fill_sets(model.matrix, model.ranks, model.places, model.strengths[0], model.sets)
    for start in range(len(model.lengths)):
        model.lengths[start] = len(model.places)


@compiled
def forget_sets(model):
    """No set is there yet: they are built on demand."""
    for start in range(len(model.lengths)):
        model.lengths[start] = 0


@compiled_for_any
def begin_population(kind, population, climb_order):
    """`population.begin`."""
    begin(kind, population, climb_order)


@compiled_for_any
def mix_population(kind, population, model, mask_order):
    """`mixing.mix`."""
    mix(kind, population, model, mask_order)
