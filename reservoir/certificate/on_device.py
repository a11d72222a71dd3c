"""Brackets of pairs of cells on a device in double: all horizons in one launch.

Brackets are bounded as by `bracket_bound`, operation by operation: what a device makes of + - * / is rounded as
IEEE 754 says, and its brackets are those of compiled code to the last bit. Powers (of curves that are power laws) are
widened by what OpenCL allows a device's `pow` to err, 16 units in the last place (OpenCL C 1.2, section 7.4): brackets
are a little larger then, and valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.pairs import Pairs
from reservoir.certificate.plant_buffers import definitions, plant_arrays
from reservoir.certificate.stages import Stages
from reservoir.errors import DeviceError, Mistake
from reservoir.hydro.plant import Plant
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build

FloatArray = NDArray[np.float64]

#: The kernel files, in the order they need.
_NAMES = ("intervals", "enclosures", "affine", "box", "powers", "terms", "brackets")
FILES = tuple(f"certificate/{name}.cl" for name in _NAMES)
#: Work items of a group.
_ITEMS = 64
#: Pairs of a launch at most: enough for any device, and few enough that a slow one is not long at it, since some
#: drivers end a kernel after some seconds. Each takes so many bytes; a launch has a part of the device's memory.
_MOST_PAIRS, _PAIR_BYTES, _PART_OF_MEMORY = 2**23, 8, 4
#: What a session holds of a plant, and of cells, in the order of the kernel.
_PLANT = ("numbers", "shapes", "curves", "stages")
_CELLS = ("step", "first_end", "first_pair", "lower", "upper", "value", "slope")


class BracketsOnDevice:
    """Bounds brackets of one plant's horizons, on the device of a session.

    Parameters
    ----------
    session : Session
        Open as long as this is used; it frees the buffers.
    plant : Plant
        From `exact_plant`.
    horizons : sequence of Stages
        Their steps are counted behind each other.

    Raises
    ------
    DeviceError
        If the device has no double precision: brackets are bounded by compiled code then (`paths.bound_pairs`).
    """

    def __init__(self, session: Session, plant: Plant, horizons: Sequence[Stages]) -> None:
        self._session, self._program = session, bound_program(session.device)
        session.upload(**plant_arrays(plant, horizons)._asdict())

    def bound(self, pairs: Pairs, brackets: FloatArray) -> FloatArray:
        """Bound the brackets of all pairs.

        Parameters
        ----------
        pairs : Pairs
        brackets : ndarray, shape (pairs,)
            Those that are minus infinity stay so; what the others are does not matter.

        Raises
        ------
        DeviceError
            If the device cannot hold them.
        """
        found, device = np.empty(pairs.number), self._session.device
        room = min(device.max_allocation_bytes, device.global_memory_bytes // _PART_OF_MEMORY)
        for start, stop in _spans(pairs.number, min(_MOST_PAIRS, room // _PAIR_BYTES)):
            # A cell has those of its pairs that are in the part.
            part = pairs._replace(first_pair=np.minimum(pairs.first_pair, np.int32(stop)) - np.int32(start))
            self._bound(part, brackets[start:stop])
            found[start:stop] = self._session.download("brackets")
        return found

    def _bound(self, pairs: Pairs, brackets: FloatArray) -> None:
        session, used = self._session, {**{name: getattr(pairs, name) for name in _CELLS}, "brackets": brackets}
        session.free(*used)
        session.upload(**used)
        counts, items = (np.int32(len(pairs.lower)), np.int32(pairs.number)), -(-pairs.number // _ITEMS) * _ITEMS
        session.run(self._program, "bound_pairs", items, _ITEMS, *_PLANT, *_CELLS, *counts, "brackets")


def has_double(device: DeviceInfo) -> bool:
    """Whether a device computes in double precision."""
    return "cl_khr_fp64" in device.device.extensions


def bound_program(device: DeviceInfo) -> BuiltProgram:
    """The program of a device, for every plant.

    Raises
    ------
    DeviceError
        If the device has no double precision.
    """
    if not has_double(device):
        problem = f"{device.name} does not support double precision, in which bounds are proved"
        raise DeviceError(Mistake(problem, mend="prove them on CPU threads, or choose another device"))
    return build(device, assemble(FILES, definitions()), as_written=True)


def _spans(number: int, most: int) -> Iterator[tuple[int, int]]:
    for start in range(0, number, most):
        yield start, min(start + most, number)
