"""Arrays on the stack of a compiled function, as C's local arrays.

Compiled code allocates nothing, and for all that the compiler knows any two arrays of its caller overlap, so that reads
and writes must keep their order. An array on the stack overlaps with nothing: loops that write to it alone become
vector instructions.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic


def _stack_array(_typing, room, dtype):
    """An uninitialised array of as many elements as the tuple `room`; must not outlive the function that asks for it.

    For compiled code only. A tuple, because its length is known when code is compiled.
    """
    array = types.Array(dtype.dtype, 1, "C")

    def allocate(context, builder, _signature, _arguments):
        element = context.get_data_type(array.dtype)
        length, size = (
            context.get_constant(types.intp, count) for count in (len(room), context.get_abi_sizeof(element))
        )
        made = context.make_array(array)(context, builder)
        data = cgutils.alloca_once(builder, element, size=length)
        context.populate_array(made, data=data, shape=[length], strides=[size], itemsize=size, meminfo=None)
        return made._getvalue()

    return array(room, dtype), allocate


stack_array: Any = intrinsic(_stack_array)
