"""Training error of a perceptron in compiled code (Li and Liu 2017, eq. 1-3), arranged for a CPU.

Samples are handled in rows of `ROW`, unit by unit, so that every loop runs over samples: vector instructions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_part, inlined
from reservoir.hydro.stack_array import ROW, stack_rows
from reservoir.problems.fitness import register_fitness

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
def sigmoid(x: np.float32) -> np.float32:
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
        row[sample] = sigmoid(row[sample])


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
