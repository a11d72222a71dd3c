"""Brackets of pairs of cells on a device: all horizons in one launch.

In double, brackets are bounded as by `bracket_bound`, operation by operation: what a device makes of + - * / is
rounded as IEEE 754 says, and its brackets are those of compiled code to the last bit. Powers (of curves that are power
laws) are widened by what OpenCL allows a device's `pow` to err, 16 units in the last place (OpenCL C 1.2, section 7.4):
brackets are a little larger then, and valid.

A device without double bounds them in float32, rounded outwards, from numbers that are intervals: they are valid, and
larger by about 1e-5 of what a stage is worth. Ends of cells are moved outwards to float32, so that cells overlap a
little. The value on a cell is a line of its own, in float32, about the middle of that: what the line in float64 is
more, on the cell, is added to brackets in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.cells import Pairs
from reservoir.certificate.reachable import Reachable
from reservoir.certificate.stages import FIELDS, SEGMENTS, ByMean, Stages
from reservoir.errors import DeviceError
from reservoir.hydro.curves.curve import CompiledCurve, constant
from reservoir.hydro.jit import compiled_as_written
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import Lake
from reservoir.hydro.units import MW_PER_KW_HOURS
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, assemble, build
from reservoir.solvers.dp.free_flow import NODES

FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]

#: The kernel files, in the order they need.
_NAMES = ("real", "intervals", "enclosures", "affine", "box", "powers", "terms", "boxes", "brackets")
FILES = tuple(f"certificate/{name}.cl" for name in _NAMES)
#: Those of reservoirs with a free flow (`stages.freed`), and those that tell lines by mean storage, in double.
FILES_IF_FREE = (*FILES[:6], "certificate/turbined.cl", *FILES[6:8], "certificate/flows.cl", FILES[8])
FILES_IN_DOUBLE = ("certificate/means.cl",)
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
#: The curves in their order: of the plant, and of the lake.
_CURVES = ("level", "tailrace", "conversion", "capacity", "area", "seepage")
#: What a kernel is told of a curve: where its numbers begin, how many pieces it has, and coefficients each.
_SHAPE = ("place", "pieces", "columns", "is_power")
#: And of what is told of a step.
_SEGMENTED = ", ".join([f"edges[{SEGMENTS + 1}]", *(f"{name}[{SEGMENTS}]" for name in ("value", "slope", "over"))])
_TOLD = f"Given first, per_hm3, best[{NODES}], number, {_SEGMENTED}"
_OF_PLANT = ("is_rate", "factor", "lower", "upper", "installed_mw")
#: Smaller numbers are moved to 0, or from it: a device may flush what is less than 2^-126 to 0, and sums of such.
#: A float32 itself.
_SMALLEST = 2.0**-100
#: More than what float64 rounds in some ten operations, as a part of their numbers: here, and in `add_differences`.
_ROUNDING = 4e-15
_INFINITY = float("inf")


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
        compiled code then (`bound.bound_pairs`).
    """

    def __init__(self, session: Session, plant: Plant, horizons: Sequence[Stages], *, single: bool = False) -> None:
        self._single, self._free = single or not has_double(session.device), bool(horizons[0].free)
        self._session = session
        self._program = bound_program(session.device, single=self._single, free=self._free)
        session.upload(**plant_arrays(plant, horizons, single=self._single).given)

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
        bounds, device = np.empty(pairs.number), self._session.device
        given = {name: getattr(pairs, name) for name in _CELLS}
        if self._single:
            cells, brackets = single_cells(pairs), np.where(brackets > -np.inf, 0.0, -np.inf).astype(np.float32)
            given |= {name: getattr(cells, name) for name in _OF_CELLS}
        room = min(device.max_allocation_bytes, device.global_memory_bytes // _PART_OF_MEMORY)
        for start, stop in _spans(pairs.number, min(_MOST_PAIRS, room // _PAIR_BYTES)):
            # A cell has those of its pairs that are in the part.
            first_pair = np.minimum(pairs.first_pair, np.int32(stop)) - np.int32(start)
            self._bound({**given, "first_pair": first_pair, "brackets": brackets[start:stop]})
            bounds[start:stop] = self._session.download("brackets")
        if self._single:
            add_differences(pairs.first_end, pairs.first_pair, cells.least, cells.most, bounds)
        return bounds

    def told_by_mean(self, within: Sequence[Reachable], room: int = SEGMENTS) -> list[ByMean]:
        """What is told of the steps of each horizon by mean storage, in double alone, as by `boxes.fill_by_mean`.

        Parameters
        ----------
        within : sequence of Reachable
            Bounds of the storages of each horizon, which are without a range of the free flow (`Stages.without_range`).
        room : int
            For so many segments of a step.
        """
        corners = [(known.lower[:-1], known.lower[1:], known.upper[:-1], known.upper[1:]) for known in within]
        bounds = np.concatenate([np.column_stack(each) for each in corners])
        session, (parts, of_part) = self._session, ByMean.parts(room)
        session.upload(bounds=bounds)
        session.allocate(counts=((len(bounds), parts), np.int32))
        sizes = np.int32(parts), np.int32(of_part)
        last = "bounds", *sizes, "counts", "told"
        session.run(self._program, "fill_by_mean", parts * len(bounds), 1, *_PLANT, *last)
        counts, told = session.download("counts"), session.download("told")
        first = np.cumsum([len(known.lower) - 1 for known in within])[:-1]
        each = zip(np.split(told, first), np.split(counts, first), strict=True)
        return [_by_mean(*of, room, of_part) for of in each]

    def _bound(self, given: Mapping[str, NDArray[Any]]) -> None:
        session, cells, pairs = self._session, len(given["lower"]), len(given["brackets"])
        session.free(*given)
        session.upload(**given)
        counts, items = (np.int32(cells), np.int32(pairs)), -(-pairs // _ITEMS) * _ITEMS
        last = ("brackets", "told") if self._free else ("brackets",)
        session.run(self._program, "bound_pairs", items, _ITEMS, *_PLANT, *_CELLS, *counts, *last)


def has_double(device: DeviceInfo) -> bool:
    """Whether a device computes in double precision."""
    return "cl_khr_fp64" in device.device.extensions


def bound_program(device: DeviceInfo, *, single: bool, free: bool = False) -> BuiltProgram:
    """The program of a device, for every plant: in double, or in float32; without, or with a free flow.

    Raises
    ------
    DeviceError
        If float32 may be rounded otherwise than to nearest, as OpenCL's embedded profile allows.
    """
    if single and device.device.profile != "FULL_PROFILE":
        problem = f"{device.name} neither has double precision nor promises to round to nearest"
        raise DeviceError(problem, mend="prove bounds on CPU threads, or choose another device")
    options = SINGLE_OPTIONS if single else ()
    files = (*FILES_IF_FREE, *(() if single else FILES_IN_DOUBLE)) if free else FILES
    source = assemble(files, definitions(single=single, free=free))
    return build(device, source, options, as_written=True)


def _spans(number: int, most: int) -> Iterator[tuple[int, int]]:
    for start in range(0, number, most):
        yield start, min(start + most, number)


class PlantArrays(NamedTuple):
    """Buffers of a kernel.

    Parameters
    ----------
    numbers : ndarray, shape (1, numbers)
        Of the plant; in float32 this and the others but `shapes` have an axis more, of the ends of each interval.
    shapes : ndarray of int32, shape (curves, 4)
    curves : ndarray, shape (numbers of all curves,)
    stages : ndarray, shape (steps of all horizons, fields)
    told : ndarray, shape (steps of all horizons, numbers), or None
        Of reservoirs with a free flow (`stages.freed`), what is told of each step: best releases, and by mean storage.
    """

    numbers: NDArray[np.floating]
    shapes: NDArray[np.int32]
    curves: NDArray[np.floating]
    stages: NDArray[np.floating]
    told: NDArray[np.floating] | None = None

    @property
    def given(self) -> dict[str, NDArray[Any]]:
        """Those that there are, by name."""
        return {name: array for name, array in self._asdict().items() if array is not None}


def definitions(*, single: bool = False, free: bool = False) -> Mapping[str, int | str]:
    """Macros of the kernels: the fields of their structures, the place of each curve, and whether they use float32."""
    return {
        **({"SINGLE": 1} if single else {}),
        **({"FREE": 1, "NODES": NODES, "TOLD_FIELDS": _TOLD} if free else {}),
        "CURVE_SHAPE_FIELDS": f"int {', '.join(_SHAPE)}",
        "PLANT_FIELDS": f"Given {', '.join(_OF_PLANT)}",
        "STAGE_FIELDS": f"Given {', '.join(FIELDS)}",
        "MW_PER_KW_HOURS": repr(MW_PER_KW_HOURS),
        "SEGMENTS": SEGMENTS,
        **{name.upper(): place for place, name in enumerate(_CURVES)},
    }


def plant_arrays(plant: Plant, horizons: Sequence[Stages], *, single: bool = False) -> PlantArrays:
    """The buffers of one plant and horizons of it, their steps behind each other.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    horizons : sequence of Stages
    single : bool
        Whether numbers are intervals of float32.

    Raises
    ------
    ValueError
        If the horizons are of lakes with different curves.
    """
    conversion = plant.conversion
    given = [plant.level, plant.tailrace, conversion.curve, plant.capacity, *_lake_of(horizons)]
    places = np.cumsum([0, *(len(_numbers(curve)) for curve in given[:-1])])
    shapes = [(place, *curve.coefficients.shape, curve.is_power) for place, curve in zip(places, given, strict=True)]
    numbers = [conversion.is_rate, conversion.factor, conversion.lower, conversion.upper, plant.installed_mw]
    of_curves = np.concatenate([_numbers(curve) for curve in given])
    rows = np.concatenate([stages.rows.T for stages in horizons])
    of_plant, of_shapes = np.array([numbers], np.float64), np.array(shapes, np.int32)
    told = np.concatenate([_told(stages) for stages in horizons]) if horizons[0].free else None
    if single:
        told = None if told is None else outwards(told)
        return PlantArrays(outwards(of_plant), of_shapes, outwards(of_curves), outwards(rows), told)
    return PlantArrays(of_plant, of_shapes, of_curves, rows, told)


def _told(stages: Stages) -> FloatArray:
    """What is told of each step, in the order of `_TOLD`."""
    free, told = stages.free, stages.by_mean
    steps, room = told.value.shape
    lines = [np.pad(each, ((0, 0), (0, SEGMENTS - room))) for each in told[1:]]
    nodes = np.broadcast_to([free.first[0], free.per_hm3[0]], (steps, 2))
    return np.column_stack([nodes, free.best, told.number, *lines])


def _by_mean(told: FloatArray, counts: Int32Array, room: int, of_part: int) -> ByMean:
    """What is told of mean storages, as a device has filled it in: some segments of each part."""
    ends = np.cumsum([2 + NODES, 1, SEGMENTS + 1, SEGMENTS, SEGMENTS])
    _, _, edges, *lines = np.split(told, ends, axis=1)
    filled, number = np.arange(of_part) < counts[:, :, np.newaxis], counts.sum(axis=1, dtype=np.int64)
    by_mean = ByMean.empty(len(told), room)._replace(number=number)
    for step, some in enumerate(filled.reshape(len(told), -1)):
        of_step = slice(number[step])
        for all_of, given in zip(by_mean[1:], (edges, *lines), strict=True):
            all_of[step, of_step] = given[step, : len(some)][some]
        by_mean.edges[step, number[step]] = edges[step, SEGMENTS]
    return by_mean


def _lake_of(horizons: Sequence[Stages]) -> Lake:
    """The curves of the lake that the horizons share; where there are no losses they are not read."""
    lakes = [stages.lake for stages in horizons if stages.lake]
    if not lakes:
        return Lake(*[constant(0.0, (0.0, 1.0)).compiled()] * 2)
    for name in Lake._fields:
        numbers = [_numbers(getattr(lake, name)) for lake in lakes]
        if not all(np.array_equal(each, numbers[0]) for each in numbers):
            raise ValueError(f"horizons with another {name}")
    return Lake(*lakes[0])


def _numbers(curve: CompiledCurve) -> FloatArray:
    parts: list[Any] = [[curve.origin, curve.exponent], curve.breaks, curve.coefficients.ravel()]
    return np.concatenate(parts).astype(np.float64)


class SingleCells(NamedTuple):
    """Cells as a kernel in float32 reads them, and what is added to brackets.

    Parameters
    ----------
    lower, upper, value, slope : ndarray of float32, shape (cells,)
        As in `Pairs`.
    least, most : ndarray, shape (cells,)
        Between what the value in float64 is more than that in float32, on the cell.
    """

    lower: Float32Array
    upper: Float32Array
    value: Float32Array
    slope: Float32Array
    least: FloatArray
    most: FloatArray


def downwards(numbers: FloatArray) -> Float32Array:
    """The largest float32 that are not above some numbers; none so small that a device may flush it to 0."""
    with np.errstate(over="ignore", under="ignore"):
        nearest = numbers.astype(np.float32)
        nearest = np.where(nearest > numbers, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    small = np.where(numbers < 0, np.float32(-_SMALLEST), np.float32(0.0))
    return np.where(np.abs(numbers) < _SMALLEST, small, nearest)


def upwards(numbers: FloatArray) -> Float32Array:
    """The smallest float32 that are not below some numbers; none so small that a device may flush it to 0."""
    return -downwards(-numbers)


def outwards(numbers: FloatArray) -> Float32Array:
    """Intervals in float32 that contain some numbers; shape (..., 2)."""
    return np.stack([downwards(numbers), upwards(numbers)], axis=-1)


def single_cells(pairs: Pairs) -> SingleCells:
    """Cells in float32, with the same values or values that differ by little."""
    lower, upper = downwards(pairs.lower), upwards(pairs.upper)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        value, slope = pairs.value.astype(np.float32), pairs.slope.astype(np.float32)
        middle = 0.5 * (pairs.lower + pairs.upper)
        # As the kernel makes it: no more than one of its two operations rounds, to nearest.
        apart = slope * ((np.float32(0.5) * (lower + upper)).astype(np.float64) - middle)
        half = np.maximum(pairs.upper - middle, middle - pairs.lower)
        more, spread = pairs.value - value, np.abs(pairs.slope - slope) * half
        spread += _ROUNDING * (np.abs(more) + np.abs(apart) + spread)
        return SingleCells(lower, upper, value, slope, more + apart - spread, more + apart + spread)


@compiled_as_written
def add_differences(
    first_end: Int32Array, first_pair: Int32Array, least: FloatArray, most: FloatArray, brackets: FloatArray
) -> None:
    """Add to the brackets of all pairs by how much values in float64 rise more than those in float32."""
    for x in range(len(first_end)):
        to_end = first_end[x] - first_pair[x]
        for pair in range(first_pair[x], first_pair[x + 1]):
            if brackets[pair] > -_INFINITY:
                bound = brackets[pair] + (most[pair + to_end] - least[x])
                brackets[pair] = bound if bound < _INFINITY else _INFINITY  # also what is no number
