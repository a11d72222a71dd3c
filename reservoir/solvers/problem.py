"""What a solver can optimise: a dimension, bounds and a fitness to make as large as possible."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class KernelProblem:
    """A problem as a device program sees it: ``DIM``, ``lower``, ``upper`` and ``fitness`` of design section 4.

    Parameters
    ----------
    source : str
        OpenCL C written in front of `files`: curves and the like.
    files : tuple of str
        Kernel files, in order, that define the contract.
    constants : mapping
        Macros to define.
    """

    source: str
    files: tuple[str, ...]
    constants: Mapping[str, int | float | str]


@dataclass(frozen=True)
class Certified:
    """A position's worth in float64: fitness = benefit - penalty factor x violation."""

    fitness: float
    benefit: float
    violation: float


class Problem(Protocol):
    """One problem; solvers maximise its fitness."""

    @property
    def label(self) -> str:
        """Name for messages and tables."""

    @property
    def stream(self) -> int:
        """Number that, with the seed, names the problem's random numbers; the same whatever is solved beside it."""

    @property
    def dimension(self) -> int:
        """Number of variables."""

    @property
    def lower(self) -> FloatArray:
        """Lower bounds, shape (dimension,)."""

    @property
    def upper(self) -> FloatArray:
        """Upper bounds, shape (dimension,)."""

    @property
    def signature(self) -> Hashable:
        """Problems of one signature differ by their context alone and can share a launch."""

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The problem as a device program sees it; closer to what certifies, and dearer, where that is `fine`."""

    def kernel_context(self) -> NDArray[np.float32]:
        """The numbers that tell this problem from others of its signature, one flat array."""

    def compiled_context(self) -> Any:
        """What compiled code reads, a named tuple that `fitness.fitness_of` knows, in float32."""

    def certify(self, position: FloatArray) -> Certified:
        """The worth of a position in float64."""
