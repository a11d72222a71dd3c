"""Bit strings for problems of real vectors: a number of bits per variable, in Gray code, mapped onto positions.

Neighbouring levels of a variable differ by one bit (Gray 1953, US patent 2,632,058), so that a small change of a
variable needs few flips. What the levels stand for is up to the problem: `level_position` puts them evenly between the
bounds, and a problem that knows better has a method ``compiled_coding``, whose named tuple registers a function here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
