"""Arrays on the stack of a compiled function, as C's local arrays.

Compiled code allocates nothing, and for all that the compiler knows any two arrays of its caller overlap, so that reads
and writes must keep their order. An array on the stack overlaps with nothing: loops that write to it alone become
vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

#: Columns of the rows that `stack_rows` gives.
ROW = 512


def _allocated(array: Any, shape: tuple[int, ...]) -> Callable[..., Any]:
    """Code that makes an uninitialised array of a type and shape on the stack."""

    def allocate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        element = context.get_data_type(array.dtype)
        size = context.get_abi_sizeof(element)
        data = cgutils.alloca_once(builder, element, size=context.get_constant(types.intp, prod(shape)))
        made = context.make_array(array)(context, builder)
        strides = [size * prod(shape[axis + 1 :]) for axis in range(len(shape))]
        lengths, steps, itemsize = (
            [context.get_constant(types.intp, count) for count in counts] for counts in (shape, strides, [size])
        )
        context.populate_array(made, data=data, shape=lengths, strides=steps, itemsize=itemsize[0], meminfo=None)
        return made._getvalue()

    return allocate


def _stack_array(_typing: Any, room: Any, dtype: Any) -> tuple[Any, Callable[..., Any]]:
    """An uninitialised array of as many elements as the tuple `room`; must not outlive the function that asks for it.

    For compiled code only. A tuple, because its length is known when code is compiled.
    """
    array = types.Array(dtype.dtype, 1, "C")
    return array(room, dtype), _allocated(array, (len(room),))


def _stack_rows(_typing: Any, room: Any, dtype: Any) -> tuple[Any, Callable[..., Any]]:
    """The same with a row of `ROW` elements for each element of the tuple."""
    array = types.Array(dtype.dtype, 2, "C")
    return array(room, dtype), _allocated(array, (len(room), ROW))


stack_array: Any = intrinsic(_stack_array)
stack_rows: Any = intrinsic(_stack_rows)
