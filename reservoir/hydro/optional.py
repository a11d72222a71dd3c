"""Functions of what most reservoirs do not have: losses and demands (`conditions`), objectives but energy (`benefit`).

Such a part is the first argument: an empty tuple, or a year without it (`rows.YearRows`), where there is none.
`jit` compiles one of two forms of the function, so that what is not there costs compiled code nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

#: In the least precision, so that it raises that of no other number.
ZERO: Any = np.float32(0.0)

#: A function whose first argument may be nothing.
Function = TypeVar("Function", bound=Callable[..., Any])


def _as_float(found: Any) -> Any:
    """`ZERO` as a number of Python, whose own numbers it would bring to its precision."""
    if isinstance(found, tuple):
        return tuple(map(_as_float, found))
    return 0.0 if found is ZERO else found


def none_without(without: Callable[..., Any], field: str = "lake") -> Callable[[Function], Function]:
    """Decorate a function of an optional part with what it is where there is none (`jit` compiles one of the two).

    There is none either if a year has nothing as its `field`.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def chosen(part: Any, *arguments: Any) -> Any:
            if not part or not getattr(part, field, True):
                return _as_float(without(part, *arguments))
            return function(part, *(np.float64(each) if type(each) is float else each for each in arguments))

        chosen.without_part, chosen.field = without, field  # type: ignore[attr-defined]
        return cast(Function, chosen)

    return decorate
