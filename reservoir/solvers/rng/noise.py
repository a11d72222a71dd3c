"""Noise of a fitness, drawn from a particle's own stream, in compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import overload
from reservoir.problems.fitness import Context, noise_of
from reservoir.solvers.rng.stream import next_uniform


def fresh_noise(context: Context, states: NDArray[np.uint32], particle: int) -> np.float32:
    """What is added to a fitness, drawn from the particle's stream if the problem is noisy."""
    raise NotImplementedError("call this from compiled code")


@overload(fresh_noise)
def _fresh_noise(context: Any, states: Any, particle: Any) -> Callable[..., Any]:
    kind: Any = getattr(context, "instance_class", None)
    noise = noise_of(kind)
    if noise == 0:
        return lambda context, states, particle: np.float32(0)
    return lambda context, states, particle: np.float32(noise) * next_uniform(states, particle)
