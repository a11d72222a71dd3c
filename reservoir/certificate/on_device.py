"""Brackets of pairs of cells, bounded on a device in double: a work item a pair, all horizons in one launch.

As `box.bracket_bound`, operation by operation: what a device makes of + - * / is rounded as IEEE 754 says, and its
brackets are those of compiled code to the last bit. Powers (of curves that are power laws) are widened by what OpenCL
allows a device's `pow` to err (``kernels/certificate/intervals.cl``): brackets are a little larger then, and valid.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.pairs import Pairs
from reservoir.certificate.plant_buffers import definitions, plant_arrays
from reservoir.certificate.stages import Stages
from reservoir.errors import DeviceError, Mistake
from reservoir.hydro.plant import Plant
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build

FloatArray = NDArray[np.float64]

#: The kernel files of the bound, in the order they need.
FILES = tuple(
    f"certificate/{name}.cl" for name in ("intervals", "enclosures", "affine", "box", "powers", "terms", "brackets")
)
#: Work items of a group.
_ITEMS = 64
_BUFFERS = ("numbers", "shapes", "curves", "stages")


class BracketsOnDevice:
    """Bounds brackets of one plant's horizons, on the device of a session.

    Parameters
    ----------
    session : Session
        Open as long as this is used.
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
        """
        session, used = self._session, {**pairs._asdict(), "brackets": brackets}
        session.free(*used)
        session.upload(**used)
        numbers = np.int32(len(pairs.lower)), np.int32(pairs.number)
        items = -(-pairs.number // _ITEMS) * _ITEMS
        session.run(self._program, "bound_pairs", items, _ITEMS, *_BUFFERS, *pairs._fields, *numbers, "brackets")
        return session.download("brackets")


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
