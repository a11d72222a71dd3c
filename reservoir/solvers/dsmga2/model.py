"""The linkage model of a population, and its building on the host."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.solvers.dsmga2.information import entropy_table
from reservoir.solvers.dsmga2.settings import ON_DEMAND, SEQUENTIAL


class Model(NamedTuple):
    """Arrays of a linkage model; those that the kind of building has no use for have no rows."""

    winners: NDArray[np.int32]  # (individuals,)
    ranks: NDArray[np.int64]  # (2 loci,), a permutation twice; see linkage.begin_set
    places: NDArray[np.int64]  # (loci,), where its numbers stand
    representatives: NDArray[np.int32]  # (loci,), the individual that each set of a lossy model is made for
    table: NDArray[np.int64]  # (individuals + 1,), see information
    words: NDArray[np.uint64]  # (words, loci), genes of the winners
    ones: NDArray[np.int64]  # (loci,), room
    both: NDArray[np.int64]  # (loci,), room
    matrix: NDArray[np.int64]  # (loci, loci), the dependency structure matrix
    strengths: NDArray[np.int64]  # (1 or loci, loci), of every set that is built on demand
    most: NDArray[np.int64]  # (loci,), the largest strength beside every such set
    sets: NDArray[np.uint16]  # (loci, loci), a linkage set from every locus
    lengths: NDArray[np.int64]  # (loci,), how much of them is there
    candidates: NDArray[np.uint64]  # (words,), room of mixing


def new_model(loci: int, individuals: int, building: str) -> Model:
    """Room for a model that is built in one of `settings.MODELS`."""
    words = -(-individuals // 64)
    # Filled with zeros, not np.zeros: that leaves it to the first generation to fetch the pages of memory.
    host = loci if building in (SEQUENTIAL, ON_DEMAND) else 0
    return Model(
        winners=np.zeros(individuals, np.int32),
        ranks=np.zeros(2 * loci, np.int64),
        places=np.zeros(loci, np.int64),
        representatives=np.zeros(loci, np.int32),
        table=entropy_table(loci, individuals),
        words=np.zeros((words, host), np.uint64),
        ones=np.zeros(host, np.int64),
        both=np.zeros(host, np.int64),
        matrix=np.full((host, host), 0, np.int64),
        strengths=np.full((loci if building == ON_DEMAND else min(host, 1), loci), 0, np.int64),
        most=np.zeros(loci, np.int64),
        sets=np.full((loci, loci), 0, np.uint16),
        lengths=np.zeros(loci, np.int64),
        candidates=np.zeros(words, np.uint64),
    )
