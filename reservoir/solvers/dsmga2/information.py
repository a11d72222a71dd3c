"""Mutual information in whole numbers, so that every engine gets the same sums whatever their order.

With counts n_xy of two loci's values among n individuals, n times their mutual information (Li and Yu 2017, section
2.2, natural logarithm) is ``sum n_xy ln n_xy - sum n_x ln n_x - sum n_y ln n_y + n ln n``. The terms c ln c are looked
up in a table that holds them times 2^scale, rounded. Sums of rows of such numbers are exact in 64 bits: no accumulation
can prefer a locus by rounding, loci that are equally strong are equal, and no device needs double precision.

The lowest bits of a number are left free for a rank among equals, `rank_bits` of them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake

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
            Mistake(
                "too many loci and individuals for mutual information in 64 bits",
                mend="choose fewer bits per variable, or a smaller population",
                value=f"{loci:,} loci, {individuals:,} individuals",
            )
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
