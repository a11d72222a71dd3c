"""The data that a kernel reads of a problem, described once for its constants and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray


@dataclass(frozen=True)
class ContextLayout:
    """Named blocks of numbers, one behind the other.

    Parameters
    ----------
    size_name : str
        Constant that tells how many numbers there are.
    blocks : mapping
        By the name of a block, the constant that tells where it begins: how many numbers it has.
    padded_to : int
        The size is a multiple of this; zeros stand at the end.
    """

    size_name: str
    blocks: Mapping[str, int]
    padded_to: int = 1

    @property
    def size(self) -> int:
        """Numbers in all."""
        return -(-sum(self.blocks.values()) // self.padded_to) * self.padded_to

    def constants(self) -> dict[str, int]:
        """Macros of a kernel: the place of each block, and the size."""
        places = np.cumsum([0, *self.blocks.values()]).tolist()
        return {**dict(zip(self.blocks, places, strict=False)), self.size_name: self.size}

    def pack(
        self, values: Mapping[str, ArrayLike], shape: tuple[int, ...] = (), dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """What stands in each block as contexts, shape (*shape, size).

        Parameters
        ----------
        values : mapping
            By name of a block; shape (*shape, numbers), or `shape` where a block is one number.
        shape : tuple of int
            Contexts.
        dtype : dtype
            Of what is packed.

        Raises
        ------
        ValueError
            If the names or the shapes are others than the blocks'.
        """
        if set(values) != set(self.blocks):
            raise ValueError(f"{self.size_name} has {', '.join(self.blocks)}, not {', '.join(values)}")
        packed = np.zeros((*shape, self.size), dtype)
        last = 0
        for name, count in self.blocks.items():
            first, last = last, last + count
            packed[..., first:last] = np.reshape(values[name], (*shape, count))
        return packed
