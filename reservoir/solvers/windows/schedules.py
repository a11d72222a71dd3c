"""Schedules of horizons, and how what windows find is put into them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation
from reservoir.problems.base import CertifiedBatch, FloatArray
from reservoir.problems.reservoir.year import ReservoirYears


@dataclass(frozen=True, eq=False)
class Places:
    """Where windows lie.

    Parameters
    ----------
    horizon : ndarray, shape (windows,)
        The horizon of each.
    steps : ndarray, shape (windows, length)
        Its steps in that horizon.
    """

    horizon: NDArray[np.intp]
    steps: NDArray[np.int64]

    def some(self, which: NDArray[np.intp]) -> Places:
        """Some of the windows."""
        return Places(self.horizon[which], self.steps[which])


class Schedules:
    """The best schedule so far of each of several horizons.

    Parameters
    ----------
    horizons : ReservoirYears
        Horizons of one batch.
    first : ndarray, shape (horizons, n, dimension), optional
        Positions, of which the best is the first schedule of each; by default its mean inflow is released, repaired.
    """

    def __init__(self, horizons: ReservoirYears, first: FloatArray | None = None) -> None:
        self.horizons = horizons
        if first is None:
            limits = horizons.limits
            volume = (limits.net_inflow_m3s * limits.hm3_per_m3s).sum(axis=1, keepdims=True)
            mean = volume / limits.hm3_per_m3s.sum(axis=1, keepdims=True)
            drafts = np.broadcast_to(mean, limits.inflow_m3s.shape)
            first = self._positions(drafts, limits.start_bounds_hm3.mean(axis=1))[:, np.newaxis]
        certified = horizons.certify(first[:, 0])
        self.draft_m3s, self.release_m3s, self.storage_hm3 = (np.array(each) for each in _rows(certified))
        self.fitness = np.array(certified.fitness)
        for number in range(1, first.shape[1]):
            self._take_better(horizons.certify(first[:, number]), np.arange(len(horizons)))

    @property
    def limits(self) -> Limits:
        """Limits of the horizons."""
        return self.horizons.limits

    @property
    def positions(self) -> FloatArray:
        """Positions of the horizons as problems."""
        return self._positions(self.draft_m3s, self.storage_hm3[:, 0])

    def _positions(self, drafts_m3s: FloatArray, starts_hm3: FloatArray) -> FloatArray:
        return np.column_stack([drafts_m3s, starts_hm3]) if self.limits.cyclic else np.array(drafts_m3s)

    def accept(self, places: Places, gain: FloatArray, operation: Operation) -> None:
        """Take what windows found, all of a horizon or, if that makes it worse, one after another.

        Parameters
        ----------
        places : Places
            No two windows overlap.
        gain : ndarray, shape (windows,)
            What each adds to the fitness by itself; only those that add are taken.
        operation : Operation
            What each found.
        """
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        if not len(order):
            return
        better = self._accept_together(places.some(order), operation, order)
        left = order[~better[places.horizon[order]]]
        while len(left):
            _, best = np.unique(places.horizon[left], return_index=True)
            self._accept_together(places.some(left[best]), operation, left[best])
            left = np.delete(left, best)

    def _accept_together(self, places: Places, operation: Operation, windows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Put windows into schedules, and keep those schedules that are better; returns which."""
        drafts, starts = self.draft_m3s.copy(), self.storage_hm3[:, 0].copy()
        drafts[places.horizon[:, np.newaxis], places.steps] = operation.draft_m3s[windows]
        if self.limits.cyclic:
            row, column = np.nonzero(places.steps == 0)
            starts[places.horizon[row]] = operation.storage_hm3[windows[row], column]
        return self._take_better(self.horizons.certify(self._positions(drafts, starts)), places.horizon)

    def _take_better(self, found: CertifiedBatch, changed: NDArray[np.intp]) -> NDArray[np.bool_]:
        better = np.zeros(len(self.fitness), bool)
        better[changed] = found.fitness[changed] > self.fitness[changed]
        for kept, new in zip((self.draft_m3s, self.release_m3s, self.storage_hm3), _rows(found), strict=True):
            kept[better] = new[better]
        self.fitness[better] = found.fitness[better]
        return better


def _rows(found: CertifiedBatch) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Drafts, releases and storages."""
    operation: Operation = found.operation
    return operation.draft_m3s, operation.release_m3s, operation.storage_hm3
