"""A benchmark function as a problem: its fitness is the function's negative."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.opencl import literal
from reservoir.problems.base import FloatArray, KernelProblem
from reservoir.problems.box import SymmetricBox
from reservoir.problems.functions.catalogue import ROTATIONS, SEED, Function, FunctionContext, Rotation

#: Variables: Rosenbrock and planes need two. A rotation is written into a device's program; sums have weights instead.
FEWEST, MOST, MOST_OF_SUM = 2, 200, 1024


@dataclass(frozen=True)
class FunctionProblem(SymmetricBox):
    """One function in so many dimensions (implements `Problem`).

    Parameters
    ----------
    function : Function
    dimension : int
    rng_stream_id : int
        Names its random numbers.
    rotation : Rotation, optional
        Of a rotated function.
    """

    function: Function
    dimension: int
    rng_stream_id: int = 0
    rotation: Rotation | None = None

    def __post_init__(self) -> None:
        """Refuse dimensions that no program is made for."""
        most = MOST_OF_SUM if self.function.summed else MOST
        if not FEWEST <= self.dimension <= most:
            expected = f"{FEWEST} to {most:,}"
            raise InputError(Mistake("the number of variables is out of range", expected, value=self.dimension))

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        return f"{self.function.title}, {self.dimension} variables"

    @property
    def reach(self) -> float:
        """The function's."""
        return self.function.reach

    @property
    def program_key(self) -> Hashable:
        """Whatever a program is specialised for."""
        return self.function.name, self.dimension, self.rotation

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The function's file, and its rotation written out."""
        function = self.function
        constants = {
            "DIM": self.dimension,
            "LOWER": -function.reach,
            "UPPER": function.reach,
            "OPTIMUM": function.optimum,
        }
        if function.noise:
            constants["NOISE"] = function.noise
        source = ""
        if self.rotation is not None:
            numbers = ", ".join(literal(each) for each in self.rotation.matrix().ravel())
            source = f"__constant float rotation[] = {{{numbers}}};\n"
        files = ("common/math/elementary.cl", *function.files)
        return KernelProblem(source, files, constants, by_dimension=function.summed)

    def kernel_context(self) -> NDArray[np.float32]:
        """The weights, ones where a sum has none; of other functions nothing, but a device's arrays are not empty."""
        if self.function.weights is None:
            return np.ones(self.dimension if self.function.summed else 1, np.float32)
        return self._numbers.astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> FunctionContext:
        """The rotation or the weights in float32."""
        return self.function.context(self._numbers.astype(np.float32))

    def value(self, position: FloatArray) -> float:
        """The function in float64, without noise."""
        at = np.ascontiguousarray(position, np.float64)
        if self.rotation is not None:
            return float(self.function.value(at, self._numbers, np.empty_like(at)))
        return float(self.function.value(at, *([] if self.function.weights is None else [self._numbers])))

    @property
    def _numbers(self) -> FloatArray:
        if self.function.weights is not None:
            return self.function.weights(self.dimension)
        return np.zeros((1, 1)) if self.rotation is None else self.rotation.matrix().copy()


def function_problems(
    function: Function, count: int, *, dimension: int = 30, rotations: int = ROTATIONS, rotation_seed: int = SEED
) -> list[FunctionProblem]:
    """So many independent problems of one function, with streams 0, 1, ...

    Raises
    ------
    InputError
        If the dimension is out of range.
    """
    rotation = Rotation(dimension, rotations, rotation_seed) if function.rotated else None
    return [FunctionProblem(function, dimension, stream, rotation) for stream in range(count)]
