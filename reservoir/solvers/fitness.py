"""`fitness_of`: what a compiled solver calls, whatever the problem; each problem registers itself here.

A problem's context is a named tuple; numba picks the fitness by the tuple's class, and inlines it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.extending import overload

from reservoir.hydro.compile import INLINED

_FITNESS: dict[type, Callable[..., Any]] = {}


def register_fitness(context: type, function: Callable[..., Any]) -> None:
    """Make `function(context, position, scratch)` the fitness of problems whose context is a `context`."""
    _FITNESS[context] = function


def fitness_of(context, position, scratch):
    """Fitness of a position, to be maximised; `scratch` is two arrays of dimension + 1 numbers."""
    raise NotImplementedError("call this from compiled code")


@overload(fitness_of, jit_options=INLINED)  # type: ignore[arg-type]
def _fitness_of(context, position, scratch):
    return _FITNESS.get(getattr(context, "instance_class", None))
