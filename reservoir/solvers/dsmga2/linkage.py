"""The linkage model on the host: dependency structure matrix and incremental linkage sets (Li and Yu 2017, section 2).

All functions work on a `Model`, whose arrays are described there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled, compiled_part, inlined
from reservoir.solvers.dsmga2.information import USED
from reservoir.solvers.dsmga2.model import Model

Integers = NDArray[np.int64]

_PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_BYTES, _ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@inlined
def bits_in(word: np.uint64) -> np.int64:
    """Bits that are set in 64; compilers know the idiom and use the processor's instruction."""
    word = word - ((word >> np.uint64(1)) & _PAIRS)
    word = (word & _FOURS) + ((word >> np.uint64(2)) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _BYTES
    return np.int64((word * _ONES) >> np.uint64(56))


@compiled
def find_matrix(genes: NDArray[np.uint8], model: Model) -> None:
    """Fill a model's words and dependency structure matrix.

    Parameters
    ----------
    genes : ndarray of uint8, shape (individuals, loci or more)
    model : Model
        With the winners of these.
    """
    _count_genes(genes, model.winners, model.words)
    _fill_matrix(model.words, len(model.winners), model.table, model.ones, model.both, model.matrix)


@compiled_part
def _count_genes(genes: NDArray[np.uint8], winners: NDArray[np.int32], words: NDArray[np.uint64]) -> None:
    """Bit i % 64 of word i // 64 of a locus is the gene of the i-th winner (FastCounting, section 4.2)."""
    loci = words.shape[1]
    for word in range(words.shape[0]):
        row = words[word]
        for locus in range(loci):
            row[locus] = 0
        for bit in range(min(64, len(winners) - 64 * word)):
            individual = genes[winners[64 * word + bit]]
            shift = np.uint64(bit)
            for locus in range(loci):
                row[locus] |= np.uint64(individual[locus]) << shift


@compiled_part
def _fill_matrix(
    words: NDArray[np.uint64], individuals: int, table: Integers, ones: Integers, both: Integers, matrix: Integers
) -> None:
    """Mutual information of every two loci (section 2.2).

    What a locus has in common with itself is `information.USED`: when its row is added to a set's strengths, that
    takes the locus itself out of what can be chosen, for good.
    """
    loci = words.shape[1]
    ones[:] = 0
    for word in range(words.shape[0]):
        row = words[word]
        for locus in range(loci):
            ones[locus] += bits_in(row[locus])
    for one in range(loci):
        matrix[one, one] = USED
        _count_pairs(words, one, both)
        _fill_row(table, individuals, ones, both, one, matrix[one])
        for other in range(one + 1, loci):
            matrix[other, one] = matrix[one, other]


@compiled_part
def _count_pairs(words: NDArray[np.uint64], one: int, both: Integers) -> None:
    """Individuals that have both genes set, for `one` and every later locus."""
    for other in range(one + 1, len(both)):
        both[other] = 0
    for word in range(words.shape[0]):
        row = words[word]
        mine = row[one]
        for other in range(one + 1, len(both)):
            both[other] += bits_in(mine & row[other])


@compiled_part
def _fill_row(table: Integers, individuals: int, ones: Integers, both: Integers, one: int, row: Integers) -> None:
    of_one = table[individuals] - table[ones[one]] - table[individuals - ones[one]]
    for other in range(one + 1, len(row)):
        neither = individuals - ones[one] - ones[other] + both[other]
        joint = table[both[other]] + table[ones[one] - both[other]] + table[ones[other] - both[other]] + table[neither]
        of_other = table[ones[other]] + table[individuals - ones[other]]
        row[other] = max(joint + of_one - of_other, 0)


@compiled_part
def begin_set(model: Model, start: int, strengths: Integers) -> np.int64:
    """Strengths of all loci beside a set of `start` alone: its row of the matrix, and a rank in the lowest bits.

    Ranks are read from the place of the start on, so that equals are in another order for each. Returns the largest.
    """
    loci = len(strengths)
    row, mine = model.matrix[start], model.ranks[start : start + loci]
    for locus in range(loci):
        strengths[locus] = row[locus] + mine[locus]
    most = np.int64(USED)
    for locus in range(loci):
        most = max(most, strengths[locus])
    return most


@inlined
def strongest(model: Model, most: np.int64, start: int) -> int:
    """The locus of the largest strength, by the rank in its lowest bits."""
    loci, mask = len(model.places), np.int64(1)
    while mask < loci:
        mask *= 2
    locus: int = model.places[most & (mask - 1)] - start
    return locus + loci if locus < 0 else locus


@compiled_part
def extend_set(matrix: Integers, locus: int, strengths: Integers) -> np.int64:
    """Add a locus to a set: its row of the matrix to the strengths of the others. Returns the largest strength then."""
    row = matrix[locus]
    most = np.int64(USED)
    for other in range(len(strengths)):
        strength = strengths[other] + row[other]
        strengths[other] = strength
        most = max(most, strength)
    return most


@compiled
def fill_sets(model: Model) -> None:
    """Fill every set: all loci, from each start, in the order in which they join (FindClique, section 2.3)."""
    loci, strengths = len(model.places), model.strengths[0]
    for start in range(loci):
        most = begin_set(model, start, strengths)
        model.sets[start, 0] = start
        for size in range(1, loci):
            locus = strongest(model, most, start)
            model.sets[start, size] = locus
            most = extend_set(model.matrix, locus, strengths)
        model.lengths[start] = loci
