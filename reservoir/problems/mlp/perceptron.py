"""A perceptron with one hidden layer of sigmoids and linear outputs (Li and Liu 2017, eq. 1-2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Perceptron:
    """A network's shape, as l-p-q. Its numbers are one array, its position for a solver: see `units` and `biases`.

    Parameters
    ----------
    inputs, hidden, outputs : int
        l, p and q.
    bias : bool
        Whether units have biases; the paper's have none.
    """

    inputs: int
    hidden: int
    outputs: int
    bias: bool = False

    def __str__(self) -> str:
        """Write the shape as usual, such as 6-30-2."""
        return f"{self.inputs}-{self.hidden}-{self.outputs}"

    @property
    def dimension(self) -> int:
        """Numbers of the network."""
        return self.hidden * self._unit + self.bias * self.outputs

    @property
    def _unit(self) -> int:
        return self.inputs + self.bias + self.outputs

    def units(self, position: ArrayLike) -> FloatArray:
        """What belongs to each hidden unit: weights of the inputs, bias if any, weights in the outputs."""
        return np.asarray(position, float)[: self.hidden * self._unit].reshape(self.hidden, self._unit)

    def biases(self, position: ArrayLike) -> FloatArray:
        """Biases of the outputs, shape (outputs,); zeros where there are none."""
        found = np.asarray(position, float)[self.hidden * self._unit :]
        return found if self.bias else np.zeros(self.outputs)

    def mean_of(self, positions: ArrayLike) -> tuple[Perceptron, FloatArray]:
        """The mean of some networks of this shape, shape (networks, dimension): a network with the units of all."""
        members = np.asarray(positions, float)
        units = np.array([self.units(each) for each in members])
        units[:, :, self.inputs + self.bias :] /= len(members)
        biases = np.mean([self.biases(each) for each in members], axis=0)
        mean = Perceptron(self.inputs, len(members) * self.hidden, self.outputs, self.bias)
        return mean, np.concatenate([units.ravel(), biases[: self.outputs * self.bias]])

    def __call__(self, position: ArrayLike, inputs: ArrayLike) -> FloatArray:
        """Outputs of the network, shape (..., outputs), for inputs of shape (..., inputs)."""
        units, known = self.units(position), np.asarray(inputs, float)
        reached = known @ units[:, : self.inputs].T + (units[:, self.inputs] if self.bias else 0.0)
        return sigmoid(reached) @ units[:, self.inputs + self.bias :] + self.biases(position)


def sigmoid(x: ArrayLike) -> FloatArray:
    """1 / (1 + exp(-x)), written so that no x overflows."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * np.asarray(x, float)))
