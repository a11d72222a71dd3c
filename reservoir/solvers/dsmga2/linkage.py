"""Linkage models on the host: information, dependency structure, incremental linkage sets (Li and Yu 2017)."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.jit import compiled, compiled_part, inlined
from reservoir.solvers.dsmga2 import ON_DEMAND, SEQUENTIAL
from reservoir.solvers.engine import new_state

#: What a locus has in common with itself: once added to its strength, nothing can bring that back to zero.
USED = -(2**62)
#: More of a logarithm than this many bits would not be exact in double precision, from which the table is made.
_MOST_SCALE = 32
_LEAST_SCALE = 8


def rank_bits(loci: int) -> int:
    """Bits that number the loci."""
    return max(1, (loci - 1).bit_length())


def scale_bits(loci: int, individuals: int) -> int:
    """Binary places of the table, as many as sums of `loci` numbers leave room for.

    Raises
    ------
    InputError
        If hardly any are left.
    """
    largest = loci * individuals * math.log(2)
    scale = min(_MOST_SCALE, 62 - rank_bits(loci) - math.ceil(math.log2(largest)) - 1)
    if scale < _LEAST_SCALE:
        raise InputError(
            "too many loci and individuals for mutual information in 64 bits",
            mend="choose fewer bits per variable, or a smaller population",
            value=f"{loci:,} loci, {individuals:,} individuals",
        )
    return scale


def between_variables(matrix: NDArray[np.int64], individuals: int, bits: int) -> NDArray[np.float64]:
    """Mutual information in nats of the codes of variables, as sums over pairs of their bits.

    Parameters
    ----------
    matrix : ndarray of int64, shape (loci, loci)
        Mutual information of bits, as engines make it of `entropy_table`.
    individuals : int
    bits : int
        Of a variable.

    Returns
    -------
    ndarray, shape (variables, variables)
        Less what chance alone makes of independent variables (Miller 1955: 1 / (2 individuals) for a pair of bits), and
        at least zero; zero for a variable with itself.
    """
    loci = len(matrix)
    unit = np.ldexp(float(individuals), scale_bits(loci, individuals) + rank_bits(loci))
    blocks = (np.maximum(matrix, 0) / unit).reshape(loci // bits, bits, loci // bits, bits).sum(axis=(1, 3))
    np.fill_diagonal(blocks, 0)
    return np.asarray(np.maximum(blocks - bits**2 / (2 * individuals), 0))


def entropy_table(loci: int, individuals: int) -> NDArray[np.int64]:
    """C ln c for c = 0 .. individuals, times 2^(scale + rank bits), the rank bits zero; shape (individuals + 1,)."""
    counts = np.arange(individuals + 1, dtype=np.float64)
    terms = counts * np.log(np.maximum(counts, 1))
    return np.rint(np.ldexp(terms, scale_bits(loci, individuals))).astype(np.int64) << rank_bits(loci)


Integers = NDArray[np.int64]


class Model(NamedTuple):
    """Arrays of a linkage model; those that the kind of building has no use for have no rows."""

    winners: Annotated[NDArray[np.int32], "individuals"]
    ranks: Annotated[Integers, "twice"]  # a permutation of the loci twice; see linkage.begin_set
    places: Annotated[Integers, "loci"]  # where its numbers stand
    representatives: Annotated[NDArray[np.int32], "loci"]  # the individual that each set of a lossy model is made for
    table: Integers  # (individuals + 1,), see information
    words: Annotated[NDArray[np.uint64], "columns", "host_loci"]  # genes of the winners
    ones: Annotated[Integers, "host_loci"]  # room
    both: Annotated[Integers, "host_loci"]  # room
    matrix: Annotated[Integers, "host_loci", "host_loci"]  # the dependency structure matrix
    strengths: Annotated[Integers, "growing_sets", "loci"]  # of every set that is built on demand
    most: Annotated[Integers, "loci"]  # the largest strength beside every such set
    sets: Annotated[NDArray[np.uint16], "loci", "loci"]  # a linkage set from every locus
    lengths: Annotated[Integers, "loci"]  # how much of them is there
    candidates: Annotated[NDArray[np.uint64], "columns"]  # room of mixing


def new_model(loci: int, individuals: int, building: str) -> Model:
    """Room for a model that is built in one of `MODELS`."""
    host_loci = loci if building in (SEQUENTIAL, ON_DEMAND) else 0
    return new_state(
        Model,
        loci=loci,
        twice=2 * loci,
        individuals=individuals,
        columns=-(-individuals // 64),
        host_loci=host_loci,
        growing_sets=loci if building == ON_DEMAND else min(host_loci, 1),
        table=entropy_table(loci, individuals),
    )


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

    What a locus has in common with itself is `USED`: when its row is added to a set's strengths, that
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
