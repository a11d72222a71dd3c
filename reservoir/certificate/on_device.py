"""Brackets of pairs of cells on a device: all horizons in one launch.

In double, brackets are bounded as by `bracket_bound`, operation by operation: what a device makes of + - * / is
rounded as IEEE 754 says, and its brackets are those of compiled code to the last bit. Powers (of curves that are power
laws) are widened by what OpenCL allows a device's `pow` to err, 16 units in the last place (OpenCL C 1.2, section 7.4):
brackets are a little larger then, and valid.

A device without double bounds them in float32, rounded outwards, from numbers that are intervals (`single`): they are
valid, and larger by about 1e-5 of what a stage is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.cells import Pairs
from reservoir.certificate.plant_buffers import definitions, plant_arrays
from reservoir.certificate.single import add_differences, single_cells
from reservoir.certificate.stages import Stages
from reservoir.errors import DeviceError, Mistake
from reservoir.hydro.plant import Plant
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build

FloatArray = NDArray[np.float64]

#: The kernel files, in the order they need.
_NAMES = ("real", "intervals", "enclosures", "affine", "box", "powers", "terms", "brackets")
FILES = tuple(f"certificate/{name}.cl" for name in _NAMES)
#: Work items of a group.
_ITEMS = 64
#: Pairs of a launch at most: enough for any device, and few enough that a slow one is not long at it, since some
#: drivers end a kernel after some seconds. Each takes so many bytes; a launch has a part of the device's memory.
_MOST_PAIRS, _PAIR_BYTES, _PART_OF_MEMORY = 2**23, 8, 4
#: What a session holds of a plant, and of cells, in the order of the kernel.
_PLANT = ("numbers", "shapes", "curves", "stages")
_OF_CELLS = ("lower", "upper", "value", "slope")
_CELLS = ("step", "first_end", "first_pair", *_OF_CELLS)
#: Of a program in float32: numbers without an f are float32 too, also on a device that has double.
SINGLE_OPTIONS = ("-cl-single-precision-constant",)


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
    single : bool
        Whether to bound them in float32 also if the device has double precision.

    Raises
    ------
    DeviceError
        If the device neither has double precision nor rounds as OpenCL's full profile does: brackets are bounded by
        compiled code then (`paths.bound_pairs`).
    """

    def __init__(self, session: Session, plant: Plant, horizons: Sequence[Stages], *, single: bool = False) -> None:
        self._single = single or not has_double(session.device)
        self._session, self._program = session, bound_program(session.device, single=self._single)
        session.upload(**plant_arrays(plant, horizons, single=self._single)._asdict())

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
        given = {name: getattr(pairs, name) for name in _CELLS}
        if self._single:
            cells, brackets = single_cells(pairs), np.where(brackets > -np.inf, 0.0, -np.inf).astype(np.float32)
            given |= {name: getattr(cells, name) for name in _OF_CELLS}
        room = min(device.max_allocation_bytes, device.global_memory_bytes // _PART_OF_MEMORY)
        for start, stop in _spans(pairs.number, min(_MOST_PAIRS, room // _PAIR_BYTES)):
            # A cell has those of its pairs that are in the part.
            first_pair = np.minimum(pairs.first_pair, np.int32(stop)) - np.int32(start)
            self._bound({**given, "first_pair": first_pair, "brackets": brackets[start:stop]})
            found[start:stop] = self._session.download("brackets")
        if self._single:
            add_differences(pairs.first_end, pairs.first_pair, cells.least, cells.most, found)
        return found

    def _bound(self, given: Mapping[str, NDArray[Any]]) -> None:
        session, cells, pairs = self._session, len(given["lower"]), len(given["brackets"])
        session.free(*given)
        session.upload(**given)
        counts, items = (np.int32(cells), np.int32(pairs)), -(-pairs // _ITEMS) * _ITEMS
        session.run(self._program, "bound_pairs", items, _ITEMS, *_PLANT, *_CELLS, *counts, "brackets")


def has_double(device: DeviceInfo) -> bool:
    """Whether a device computes in double precision."""
    return "cl_khr_fp64" in device.device.extensions


def rounds_to_nearest(device: DeviceInfo) -> bool:
    """Whether float32 is rounded to the nearest number, and numbers that are too large are infinite."""
    return device.device.profile == "FULL_PROFILE"


def bound_program(device: DeviceInfo, *, single: bool) -> BuiltProgram:
    """The program of a device, for every plant: in double, or in float32.

    Raises
    ------
    DeviceError
        If float32 may be rounded otherwise than to nearest, as OpenCL's embedded profile allows.
    """
    if single and not rounds_to_nearest(device):
        problem = f"{device.name} neither has double precision nor promises to round to nearest"
        raise DeviceError(Mistake(problem, mend="prove bounds on CPU threads, or choose another device"))
    options = SINGLE_OPTIONS if single else ()
    return build(device, assemble(FILES, definitions(single=single)), options, as_written=True)


def _spans(number: int, most: int) -> Iterator[tuple[int, int]]:
    for start in range(0, number, most):
        yield start, min(start + most, number)
