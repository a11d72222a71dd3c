"""Windows of a long horizon as problems: corrections of a schedule's storages are the variables.

The ends of a window are fixed: its first storage, and its last unless the horizon's end is free. A variable is what is
added to the storage at the end of a block of steps. With blocks of one step each storage is corrected by itself; longer
blocks correct the storages of many years. Of lakes with losses, what a correction makes of later ones is linear in it;
their schedule is run with its losses in full.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.step import storage_after
from reservoir.problems.base import Certified, ContextLayout, FloatArray, KernelProblem
from reservoir.problems.reservoir.rows import year_layout
from reservoir.problems.reservoir.year import FLOAT32_MARGIN, ReservoirYears

_BY_BLOCK = ("CORRECTION_LOWER", "CORRECTION_UPPER", "RETAINED", "FLOW_PER_BLOCK_VOLUME")
#: Part of the largest storage, and of the most release, by which a step is varied to find what it makes of a change.
_VARIATION = 1e-3


@dataclass(frozen=True, eq=False)
class StorageCorrections(Sequence[Any]):
    """Windows of equally many steps and blocks (implements `Batch`).

    Parameters
    ----------
    windows : ReservoirYears
        Limits of each window, none of them cyclic.
    draft_m3s : ndarray, shape (windows, steps)
        Drafts (`Operation.draft_m3s`) of the schedule that is corrected.
    lower, upper : ndarray, shape (windows, blocks)
        Bounds of the corrections, hm3; zero lies between them.
    """

    windows: ReservoirYears
    draft_m3s: FloatArray
    lower: FloatArray
    upper: FloatArray

    def __len__(self) -> int:
        return len(self.windows)

    def __getitem__(self, index: int | slice) -> StorageCorrections:
        """Some of the windows, or one, as a batch of one: devices alone solve windows, a batch at a time."""
        some = index if isinstance(index, slice) else slice(range(len(self))[index], range(len(self))[index] + 1)
        return StorageCorrections(
            self.windows[some], *(each[some] for each in (self.draft_m3s, self.lower, self.upper))
        )

    @property
    def dimension(self) -> int:
        """Blocks of a window."""
        return int(self.lower.shape[1])

    @property
    def steps_of_block(self) -> int:
        """Steps of a block."""
        return int(self.draft_m3s.shape[1]) // self.dimension

    @property
    def program_key(self) -> Hashable:
        """Windows of one reservoir with equally many steps and blocks share a program."""
        return self.windows.program_key, self.dimension

    @property
    def rng_stream_ids(self) -> NDArray[np.int64]:
        """Name the random numbers of each window."""
        return self.windows.rng_stream_ids

    @cached_property
    def schedule(self) -> Certified:
        """The schedule that is corrected, in float64."""
        return self.windows.certify(self.draft_m3s)

    @cached_property
    def _of_blocks(self) -> tuple[FloatArray, FloatArray]:
        """What each block leaves of a hm3, and the flow, m3/s, that adds one at its end; (windows, blocks)."""
        year = self.windows.exact_year
        shape = len(self), self.dimension, -1
        left, volume = np.ones((len(self), self.dimension)), year.hm3_per_m3s.reshape(shape)
        if not year.lake:
            return left, 1 / volume.sum(axis=-1)
        every, by_field = (slice(None), slice(None)), year._replace(lake=self.windows.limits.lake).by_field
        storage, draft = self.schedule.operation.storage_hm3[:, :-1], self.draft_m3s
        more, flow = (_VARIATION * each[:, np.newaxis] for each in (year.capacity, year.release_upper.max(axis=1)))

        def end(storage: FloatArray, draft: FloatArray) -> FloatArray:
            return storage_after(storage, year.inflow, draft, year.hm3_per_m3s, by_field, every)

        of_storage = (end(storage + more, draft) - end(storage - more, draft)) / (2 * more)
        of_flow = (end(storage, draft - flow) - end(storage, draft + flow)) / (2 * flow)
        gained = np.zeros_like(left)
        of_storage, of_flow = of_storage.reshape(shape), of_flow.reshape(shape)
        for step in range(self.steps_of_block):
            kept = of_storage[..., step]
            left, gained = left * kept, gained * kept + of_flow[..., step]
        return left, 1 / gained

    def drafts_m3s(self, positions: FloatArray) -> FloatArray:
        """The drafts wanted for corrections, shape (windows, steps)."""
        left, flow_per_volume = self._of_blocks
        before = np.pad(positions[:, :-1], ((0, 0), (1, 0)))
        more = (before * left - positions) * flow_per_volume
        return np.asarray(self.draft_m3s + np.repeat(more, self.steps_of_block, axis=1))

    def certify(self, positions: FloatArray) -> Certified:
        """Benefit, violation and fitness of corrections of each window in float64."""
        return self.windows.certify(self.drafts_m3s(positions))

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The year's, and the file of corrections."""
        year = self.windows.kernel(fine=fine)
        constants = {"BLOCKS_OF_WINDOW": self.dimension, "STEPS_OF_BLOCK": self.steps_of_block}
        constants |= self._layout.constants()
        files = (*year.files, "problems/reservoir/storage_corrections.cl")
        return KernelProblem(year.source, files, {**year.constants, **constants})

    def kernel_contexts(self) -> NDArray[np.float32]:
        """Rows of ``kernels/problems/reservoir/storage_corrections.cl``."""
        left, flow_per_volume = self._of_blocks
        values = {
            "YEAR": self.windows.kernel_rows(FLOAT32_MARGIN),
            "BASE_RELEASE": self.draft_m3s,
            "CORRECTION_LOWER": self.lower,
            "CORRECTION_UPPER": self.upper,
            "RETAINED": left,
            "FLOW_PER_BLOCK_VOLUME": flow_per_volume,
        }
        return self._layout.pack(values, (len(self),)).astype(np.float32)

    def kernel_context(self) -> NDArray[np.float32]:
        """The first row: of whose length layouts ask, and all have one length."""
        return np.asarray(self.kernel_contexts()[0])

    @property
    def _layout(self) -> ContextLayout:
        """A window's context: that of a year, and what corrections need beside it."""
        limits = self.windows.limits
        of_steps = {"YEAR": year_layout(limits).size, "BASE_RELEASE": limits.steps}
        return ContextLayout("CONTEXT", of_steps | dict.fromkeys(_BY_BLOCK, self.dimension))
