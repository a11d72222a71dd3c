"""Training a perceptron with one hidden layer as a problem (Li and Liu 2017, eq. 1-2): network, samples, error."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError
from reservoir.hydro.jit import compiled_part, inlined
from reservoir.hydro.stack_array import ROW, stack_rows
from reservoir.problems.base import ContextLayout, FloatArray, KernelProblem, SymmetricBox
from reservoir.problems.fitness import register_fitness


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


Row = NDArray[np.float32]


class TrainingContext(NamedTuple):
    """What compiled code reads, in float32.

    ``inputs`` and ``desired`` have a row an input and output, the latter over its range; ``shares`` is what each sample
    counts, ``scales`` is 1 / the ranges. ``row`` and ``outputs`` are tuples of zeros: their lengths, 1 and the number
    of outputs, are known when code is compiled.
    """

    inputs: Any
    desired: Any
    shares: Any
    scales: Any
    hidden: int
    bias: int
    row: tuple[int, ...]
    outputs: tuple[int, ...]


@inlined
def sigmoid_float32(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) in float32; the polynomial of ``kernels/common/math/sigmoid.cl``."""
    real = np.float32
    bounded = min(max(x * real(-1.44269504), real(-39)), real(39))
    nearest: np.float32 = np.floor(bounded + real(0.5))
    rest = bounded - nearest
    value = real(0.0013276472) * rest + real(0.009675541)
    value = value * rest + real(0.05550713)
    value = value * rest + real(0.2402212)
    value = value * rest + real(0.69314694)
    value = value * rest + real(1.0000001)
    power = np.int32((np.int32(nearest) + np.int32(127)) << np.int32(23)).view(np.float32)
    return real(1) / (real(1) + value * power)


@compiled_part
def _fill(row: Row, value: np.float32) -> None:
    for sample in range(len(row)):
        row[sample] = value


@compiled_part
def _add_scaled(row: Row, factor: np.float32, other: Row) -> None:
    for sample in range(len(row)):
        row[sample] += factor * other[sample]


@compiled_part
def _add_both(row: Row, one_factor: np.float32, one: Row, other_factor: np.float32, other: Row) -> None:
    for sample in range(len(row)):
        row[sample] += one_factor * one[sample] + other_factor * other[sample]


@compiled_part
def _activate(row: Row) -> None:
    for sample in range(len(row)):
        row[sample] = sigmoid_float32(row[sample])


@compiled_part
def _add_squares(row: Row, scale: np.float32, desired: Row, squares: Row) -> None:
    for sample in range(len(row)):
        error = row[sample] * scale - desired[sample]
        squares[sample] += error * error


@compiled_part
def _weighted(squares: Row, shares: Row) -> np.float32:
    total = np.float32(0)
    for sample in range(len(squares)):
        total += squares[sample] * shares[sample]
    return total


def _fitness(context: TrainingContext, position: Row, scratch: object) -> float:
    inputs, outputs, bias = len(context.inputs), len(context.desired), context.bias
    unit_size = inputs + bias + outputs
    active, made = stack_rows(context.row, np.float32)[0], stack_rows(context.outputs, np.float32)
    total = np.float32(0)
    for first in range(0, len(context.shares), ROW):
        last = min(first + ROW, len(context.shares))
        row = active[: last - first]
        for output in range(outputs):
            start = position[context.hidden * unit_size + output] if bias else np.float32(0)
            _fill(made[output, : last - first], start)
        for unit in range(context.hidden):
            at = unit * unit_size
            _fill(row, position[at + inputs] if bias else np.float32(0))
            for i in range(0, inputs - 1, 2):
                one, other = context.inputs[i, first:last], context.inputs[i + 1, first:last]
                _add_both(row, position[at + i], one, position[at + i + 1], other)
            if inputs % 2:
                _add_scaled(row, position[at + inputs - 1], context.inputs[inputs - 1, first:last])
            _activate(row)
            for output in range(outputs):
                _add_scaled(made[output, : last - first], position[at + inputs + bias + output], row)
        _fill(row, np.float32(0))
        for output in range(outputs):
            desired = context.desired[output, first:last]
            _add_squares(made[output, : last - first], context.scales[output], desired, row)
        total += _weighted(row, context.shares[first:last])
    return -math.sqrt(total)


register_fitness(TrainingContext, _fitness)


#: Samples are padded to a multiple of this, the widest vector.
PADDING = 16
#: Hidden units that vectors handle together, at most: more do not fit into the registers of a processor.
UNITS_TOGETHER = 6


@dataclass(frozen=True, eq=False)
class TrainingError(SymmetricBox):
    """The error of a network on samples (implements `Problem`): its fitness is minus that of Li and Liu 2017, eq. 3.

    Parameters
    ----------
    network : Perceptron
    inputs : ndarray, shape (samples, inputs)
    desired : ndarray, shape (samples, outputs)
    weights : ndarray, shape (samples,), optional
        How much each sample counts; all alike if not given. A sample of no weight is not trained on.
    reach : float
        First weights are drawn from -reach to reach.
    rng_stream_id : int
        Names its random numbers.

    Raises
    ------
    InputError
        If samples do not fit the network, an output is the same in all samples, or the reach is not above 0.
    """

    network: Perceptron
    inputs: FloatArray
    desired: FloatArray
    weights: FloatArray | None = field(default=None)
    reach: float = 1.0
    rng_stream_id: int = 0

    def __post_init__(self) -> None:
        """Refuse samples that a network cannot learn."""
        count, network = len(self.inputs), self.network
        if self.inputs.shape != (count, network.inputs) or self.desired.shape != (count, network.outputs) or not count:
            expected = f"(samples, {network.inputs}) and (samples, {network.outputs}), for a network {network}"
            raise InputError(
                "the samples do not fit the network", expected, value=(self.inputs.shape, self.desired.shape)
            )
        if not (np.isfinite(self.inputs).all() and np.isfinite(self.desired).all()):
            raise InputError("a sample has a value that is not finite", "finite numbers", "remove the sample")
        if not 0 < self.reach < np.inf:
            raise InputError("the reach of the initial weights is out of range", "more than 0", value=self.reach)
        if (np.ptp(self.desired, axis=0) == 0).any():
            raise InputError("an output is the same in all samples", "outputs that vary", "remove the output")

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        return f"{self.network}, {len(self.inputs)} samples"

    @property
    def dimension(self) -> int:
        """Weights of the network."""
        return self.network.dimension

    @property
    def program_key(self) -> Hashable:
        """Networks of one shape on as many samples share a program."""
        return self.network, len(self.inputs), self.reach

    @cached_property
    def ranges(self) -> FloatArray:
        """Largest less smallest desired value of each output (eq. 3), shape (outputs,)."""
        return np.asarray(np.ptp(self.desired, axis=0))

    @cached_property
    def shares(self) -> FloatArray:
        """What the square of each sample's errors counts, shape (samples,)."""
        weights = np.ones(len(self.inputs)) if self.weights is None else np.asarray(self.weights, float)
        return np.asarray(weights / (weights.sum() * self.network.outputs))

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The error as a sum over the samples."""
        network = self.network
        together = max(units for units in range(1, UNITS_TOGETHER + 1) if network.hidden % units == 0)
        constants = {
            "INPUTS": network.inputs,
            "HIDDEN": network.hidden,
            "OUTPUTS": network.outputs,
            "BIAS": int(network.bias),
            "REACH": self.reach,
            **self._head.constants(),
            **self._rows.constants(),
            "UNITS_TOGETHER": together,
        }
        return KernelProblem(
            "",
            ("common/math/sigmoid.cl", "problems/mlp/mlp_error.cl"),
            constants,
            terms=self._padded,
            bounded=False,
        )

    @property
    def _padded(self) -> int:
        return -(-len(self.inputs) // PADDING) * PADDING

    @property
    def _head(self) -> ContextLayout:
        return ContextLayout("HEAD", {"SAMPLE_COUNT": 1, "SCALES": self.network.outputs}, PADDING)

    @property
    def _rows(self) -> ContextLayout:
        network = self.network
        return ContextLayout("ROWS", {"INPUT_ROW": network.inputs, "DESIRED_ROW": network.outputs, "WEIGHT_ROW": 1})

    def kernel_context(self) -> NDArray[np.float32]:
        """Head and rows of ``kernels/problems/mlp/mlp_error.cl``, a number a sample in each row."""
        head = self._head.pack({"SAMPLE_COUNT": self._padded, "SCALES": 1 / self.ranges})
        samples = {"INPUT_ROW": self.inputs, "DESIRED_ROW": self.desired / self.ranges, "WEIGHT_ROW": self.shares}
        rows = self._rows.pack(samples, self.shares.shape).T
        padded = np.pad(rows, ((0, 0), (0, self._padded - rows.shape[1])))
        return np.append(head, padded).astype(np.float32)

    def compiled_context(self, *, fine: bool = False) -> TrainingContext:
        """The same as arrays."""
        samples = self.inputs.T, (self.desired / self.ranges).T, self.shares, 1 / self.ranges
        inputs, desired, shares, scales = (np.ascontiguousarray(each, np.float32) for each in samples)
        hidden, bias, outputs = self.network.hidden, int(self.network.bias), (0,) * self.network.outputs
        return TrainingContext(inputs, desired, shares, scales, hidden, bias, (0,), outputs)

    def value(self, position: FloatArray) -> float:
        """The error in float64 (eq. 3)."""
        off = (self.network(position, self.inputs) - self.desired) / self.ranges
        return float(np.sqrt(np.sum(self.shares[:, None] * off**2)))


INPUTS, OUTPUTS = 6, 2
_SEED = 1
#: GHz: the band, and the resonances of the middle geometry.
LOWEST_GHZ, HIGHEST_GHZ = 3.0, 11.0
_RESONANCES_GHZ = (4.2, 8.1)


def reflection(inputs: FloatArray) -> FloatArray:
    """Real and imaginary part of the reflection coefficient, shape (samples, 2).

    Parameters
    ----------
    inputs : ndarray, shape (samples, 6)
        Each from -1 to 1: the frequency over the band, the lengths of both radiators, the gap between them, the width
        of the feed and the height of the substrate.
    """
    frequency, first, second, gap, width, height = np.asarray(inputs, float).T
    ghz = LOWEST_GHZ + (frequency + 1) / 2 * (HIGHEST_GHZ - LOWEST_GHZ)
    resonances = (
        _RESONANCES_GHZ[0] * (1 - 0.15 * first - 0.05 * height),
        _RESONANCES_GHZ[1] * (1 - 0.12 * second - 0.04 * height + 0.03 * gap),
    )
    qualities = 1.0 * (1 - 0.3 * height), 1.2 * (1 + 0.2 * gap)
    couplings = 0.9 + 0.25 * width, 0.8 - 0.2 * gap + 0.1 * width
    admittance = sum(
        coupling / (1 + 1j * quality * (ghz / resonance - resonance / ghz))
        for resonance, quality, coupling in zip(resonances, qualities, couplings, strict=True)
    )
    found = (1 - admittance) / (1 + admittance)
    return np.stack([found.real, found.imag], axis=1)


def samples(count: int) -> tuple[FloatArray, FloatArray]:
    """So many inputs at random and their `reflection`, shapes (count, 6) and (count, 2)."""
    inputs = np.random.default_rng(_SEED).uniform(-1, 1, (count, INPUTS))
    return inputs, reflection(inputs)


def modelled(count: int) -> TrainingError:
    """The response, to be learnt by 6-30-2."""
    return TrainingError(Perceptron(INPUTS, 30, OUTPUTS), *samples(count))


def taught(network: Perceptron, count: int) -> TrainingError:
    """Samples of a network of the same shape with random weights: a task of which it is known that it can be done."""
    random = np.random.default_rng(_SEED)
    inputs = random.uniform(-1, 1, (count, network.inputs))
    return TrainingError(network, inputs, network(random.normal(0, 1, network.dimension), inputs))
