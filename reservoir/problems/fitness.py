"""`fitness_of`: the function that compiled solvers call; each problem registers its own implementation.

A problem's context is a named tuple; numba picks the fitness by the tuple's class, and inlines it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import overload

#: A named tuple, of a class that a problem has of its own.
Context = tuple[Any, ...]
#: Two arrays of dimension + 1 numbers, room to work in.
Scratch = RealArray | tuple[RealArray, RealArray]

_FITNESS: dict[type, Callable[..., Any]] = {}
_NOISE: dict[type, float] = {}
_REPAIR: dict[type, Callable[..., Any]] = {}


def register_fitness(
    context: type, function: Callable[..., Any], noise: float = 0.0, repair: Callable[..., Any] | None = None
) -> None:
    """Make `function(context, position, scratch)` the fitness of problems whose context is a `context`.

    To every evaluation is added `noise` times a fresh number in [0, 1). Problems that repair positions have
    `repair(context, position, scratch)`: called behind `function`, it puts the repaired position in place of the given
    one.
    """
    _FITNESS[context] = function
    _NOISE[context] = noise
    if repair is not None:
        _REPAIR[context] = repair


def noise_of(context: type) -> float:
    """What the fitness of such problems scatters by; 0 if they are not noisy."""
    return _NOISE.get(context, 0.0)


def fitness_of(context: Context, position: NDArray[Any], scratch: Scratch) -> float:
    """Fitness of a position, to be maximised; `scratch` is room to work in."""
    raise NotImplementedError("call this from compiled code")


@overload(fitness_of)
def _fitness_of(context: Any, position: Any, scratch: Any) -> Callable[..., Any] | None:
    kind: Any = getattr(context, "instance_class", None)
    return _FITNESS.get(kind)


def take_repaired(context: Context, position: NDArray[Any], scratch: Scratch) -> None:
    """Put the repaired position in place of the one that `fitness_of` judged last, with the same `scratch`."""
    raise NotImplementedError("call this from compiled code")


@overload(take_repaired)
def _take_repaired(context: Any, position: Any, scratch: Any) -> Callable[..., Any]:
    kind: Any = getattr(context, "instance_class", None)
    return _REPAIR.get(kind, lambda context, position, scratch: None)


def scaled_noise(context: Context, number: np.float32) -> float:
    """What is added to a fitness for a number in [0, 1): nothing if the problem is not noisy."""
    raise NotImplementedError("call this from compiled code")


@overload(scaled_noise)
def _scaled_noise(context: Any, number: Any) -> Callable[..., Any]:
    kind: Any = getattr(context, "instance_class", None)
    noise = np.float32(noise_of(kind))
    return lambda context, number: noise * number
