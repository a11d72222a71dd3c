"""The fitness of a problem as compiled code evaluates it, and how positions are coded for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined, overload
from reservoir.problems.base import Problem

_POSITIONS: dict[type, Callable[..., Any]] = {}


class BoxCoding(NamedTuple):
    """Levels evenly between the bounds, each variable for itself."""

    lower: NDArray[np.float32]  # (variables,)
    width: NDArray[np.float32]  # (variables,)


def register_position(coding: type, function: Callable[..., Any]) -> None:
    """Make `function(coding, parts, position)` what fills a position from parts in [0, 1], one for each variable."""
    _POSITIONS[coding] = function


def level_position(coding: tuple[Any, ...], parts: NDArray[np.float32], position: NDArray[np.float32]) -> None:
    """Fill a position from parts in [0, 1]."""
    raise NotImplementedError("call this from compiled code")


@overload(level_position)
def _level_position(coding: Any, parts: Any, position: Any) -> Callable[..., Any] | None:
    return _POSITIONS.get(coding.instance_class)


def coding_of(problem: Problem) -> tuple[Any, int]:
    """How a problem's variables are coded, for compiled code, and how many are."""
    own = getattr(problem, "compiled_coding", None)
    if own is not None:
        coding, variables = own()
        return coding, int(variables)
    lower, upper = (np.asarray(bound, np.float32) for bound in (problem.lower, problem.upper))
    return BoxCoding(lower, upper - lower), problem.dimension


@inlined
def gray_level(genes: NDArray[np.uint8], first: int, bits: int) -> int:
    """Level 0 .. 2^bits - 1 of so many genes from `first` on, the most significant in front."""
    level, bit = 0, 0
    for place in range(bits):
        bit ^= genes[first + place]
        level = 2 * level + bit
    return level


def _box_position(coding: BoxCoding, parts: NDArray[np.float32], position: NDArray[np.float32]) -> None:
    for variable in range(len(parts)):
        upper = coding.lower[variable] + coding.width[variable]
        position[variable] = min(coding.lower[variable] + parts[variable] * coding.width[variable], upper)


register_position(BoxCoding, _box_position)


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
