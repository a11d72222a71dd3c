"""What a device's work groups and vectors can hold: shared by the engines that lay a population out on them."""

from __future__ import annotations

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.opencl import DeviceInfo, Session, ordering_of

#: Looks at the verdict until a group gives up that the others are there: some tenths of a second.
MAX_POLLS = {"GPU": 200_000, "accelerator": 200_000, "CPU": 20_000_000}

#: The verdict, as the kernels' `CO_RESIDENT`.
_CO_RESIDENT = 2


def require_ordering(device: DeviceInfo, what: str, mend: str) -> None:
    """Refuse a device whose work groups cannot show each other what they write, in order.

    Parameters
    ----------
    device : DeviceInfo
    what : str
        Whose groups do so.
    mend : str
        What to choose instead.

    Raises
    ------
    DeviceError
    """
    if not ordering_of(device).promised:
        problem = (
            f"work groups of {what} exchange data while they run, and {device.name} does not guarantee memory ordering"
        )
        expected = "OpenCL C 2.0, OpenCL C 3.0 with device-scope atomics, or CUDA"
        raise DeviceError(Mistake(problem, expected, mend))


def co_resident(session: Session) -> bool:
    """Whether all groups of the launch that filled the buffer ``probe`` were at work at once; waits for it."""
    return bool(session.download("probe")[1] == _CO_RESIDENT)


VECTOR_WIDTHS = (1, 2, 4, 8, 16)
#: Work items of a group on a GPU: each keeps a particle in registers, and more than this spill.
MOST_ITEMS = 256
#: What a vector costs beside its lanes, in lanes; measured with 4, 8 and 16 lanes on a CPU with AVX-512.
VECTOR_COST_LANES = 11
#: Numbers that a kernel can count in 32 bits.
MOST_NUMBERS = 2**31 - 1
#: What a thread's stack is taken for where the system does not tell.
USUAL_STACK_BYTES = 2 << 20
#: Left of local memory for what compilers put there themselves.
LOCAL_RESERVE_BYTES = 1024


def lanes_for(device: DeviceInfo, particles: int, lanes: int | None) -> int:
    """Lanes of a vector: as asked, or chosen for the device; InputError if no vector has so many."""
    if lanes is None:
        lanes = cheapest_width(particles, device.native_float_width) if device.kind == "CPU" else 1
    if lanes not in VECTOR_WIDTHS:
        raise InputError(
            Mistake(
                "the number of lanes is not a supported vector width",
                f"one of {', '.join(map(str, VECTOR_WIDTHS))}",
                "choose one of them",
                value=lanes,
            )
        )
    return lanes


def items_for(device: DeviceInfo, vectors: int, items: int | None, swarms: int = 1) -> int:
    """Work items for so many vectors, as asked or chosen for the device.

    On a CPU one item has all vectors, since it gains nothing from more. InputError if a group cannot hold the items of
    so many swarms.
    """
    if items is None:
        items = 1 if device.kind == "CPU" else _even_share(vectors, most_items(device))
    _check_group(device, items, swarms)
    return items


def most_items(device: DeviceInfo) -> int:
    """Work items of a group at most, unless asked for."""
    return min(MOST_ITEMS, device.max_work_group_size)


def team_of(device: DeviceInfo, items: int) -> int:
    """Items of a group that exchange in registers: a warp where the device has them in whole, or 1."""
    return device.sub_group_size if device.warps and items % device.sub_group_size == 0 else 1


def local_bytes_of(device: DeviceInfo) -> int:
    """Local memory that a kernel's own arrays may take."""
    return device.local_memory_bytes - LOCAL_RESERVE_BYTES


def require_countable(numbers: int, what: str, mend: str) -> None:
    """Refuse more numbers of one problem than a kernel can count; InputError says what has them."""
    if numbers > MOST_NUMBERS:
        raise InputError(Mistake(f"{what} has too many values", f"at most {MOST_NUMBERS:,}", mend, value=numbers))


def require_private(device: DeviceInfo, needed_bytes: int, what: str, mend: str) -> None:
    """Refuse a work item with more memory of its own than the stack of a CPU's thread can hold beside its calls.

    Other devices' drivers refuse for themselves.

    Raises
    ------
    DeviceError
        With what to reduce.
    """
    room = _stack_bytes() // 2
    if device.kind == "CPU" and needed_bytes > room:
        problem = f"{what} needs {needed_bytes:,} bytes of private memory per work item on {device.name}"
        raise DeviceError(Mistake(problem, f"at most {room:,} bytes", mend))


def _stack_bytes() -> int:
    try:
        import resource
    except ImportError:  # not on Windows
        return USUAL_STACK_BYTES
    limit = resource.getrlimit(resource.RLIMIT_STACK)[0]
    return USUAL_STACK_BYTES if limit in (resource.RLIM_INFINITY, -1) else limit


def cheapest_width(particles: int, native_width: int) -> int:
    """The vector width, up to the device's own, in which a swarm takes the least time; the widest of equals."""
    widths = [width for width in VECTOR_WIDTHS if 4 <= width <= max(native_width, 4)]
    return min(widths, key=lambda width: (-(-particles // width) * (width + VECTOR_COST_LANES), -width))


def _check_group(device: DeviceInfo, items: int, swarms: int) -> None:
    if items < 1 or swarms < 1 or items * swarms > device.max_work_group_size:
        limit = f"1 to {device.max_work_group_size} on {device.name}"
        mend = "choose fewer items, or fewer swarms per group" if items * swarms > 1 else "choose more items"
        raise InputError(Mistake("the work group size is out of range", limit, mend, value=items * swarms))


def _even_share(vectors: int, most: int) -> int:
    """Work items for so many vectors, at most `most`, that leave the fewest idle."""
    blocks = -(-vectors // most)
    return -(-vectors // blocks)
