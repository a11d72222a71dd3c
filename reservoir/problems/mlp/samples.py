"""Samples to train networks: of a known network, and of a synthetic response.

The samples of Li and Liu 2017, section 6.3, an ultra-wideband antenna with six inputs and two outputs, are not public.
In their place stands a one-port with two resonances, as an antenna has them: its reflection coefficient at a frequency,
real and imaginary part, where five dimensions of its geometry move the resonances, their coupling and their losses. The
formula and its constants are our own; nothing was measured.
"""

from __future__ import annotations

import numpy as np

from reservoir.problems.base import FloatArray
from reservoir.problems.mlp.perceptron import Perceptron
from reservoir.problems.mlp.training_error import TrainingError

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
