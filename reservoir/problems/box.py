"""Bounds that are the same for all variables and symmetric about zero."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from reservoir.problems.base import Certified, FloatArray


class _Boxed(Protocol):
    @property
    def dimension(self) -> int: ...

    @property
    def reach(self) -> float: ...

    def value(self, position: FloatArray) -> float: ...


class SymmetricBox:
    """A problem whose variables lie between ``-reach`` and ``reach``, whose `value` is to be made small."""

    @property
    def lower(self: _Boxed) -> FloatArray:
        """Lower bounds, shape (dimension,)."""
        return np.full(self.dimension, -self.reach)

    @property
    def upper(self: _Boxed) -> FloatArray:
        """Upper bounds, shape (dimension,)."""
        return np.full(self.dimension, self.reach)

    def certify(self: _Boxed, position: FloatArray) -> Certified:
        """The negative of the value in float64, of a noisy function without its noise."""
        fitness = -self.value(position)
        return Certified(fitness, fitness, 0.0)
