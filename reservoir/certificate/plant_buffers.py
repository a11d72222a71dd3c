"""A plant, its lake and the steps of horizons as kernels read them: curves as numbers behind each other.

Numbers are double, or intervals of float32 that contain them (`single.outwards`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.single import outwards
from reservoir.certificate.stages import FloatArray, Stages
from reservoir.hydro.curves.curve import CompiledCurve
from reservoir.hydro.plant import Plant
from reservoir.hydro.units import MW_PER_KW_HOURS

#: The curves in their order: of the plant, and of the lake.
_CURVES = ("level", "tailrace", "conversion", "capacity", "area", "seepage")
_OF_LAKE = _CURVES[-2:]
#: What a kernel is told of a curve: where its numbers begin, how many pieces it has, and coefficients each.
_SHAPE = ("place", "pieces", "columns", "is_power")
_OF_PLANT = ("is_rate", "factor", "lower", "upper", "installed_mw")
#: What a kernel is told of a step: all of `Stages` but the curves.
OF_STAGE = tuple(name for name in Stages._fields if name not in _OF_LAKE)


class PlantArrays(NamedTuple):
    """Buffers of a kernel.

    Parameters
    ----------
    numbers : ndarray, shape (1, numbers)
        Of the plant; in float32 this and the others but `shapes` have an axis more, of the ends of each interval.
    shapes : ndarray of int32, shape (curves, 4)
    curves : ndarray, shape (numbers of all curves,)
    stages : ndarray, shape (steps of all horizons, fields)
    """

    numbers: NDArray[np.floating]
    shapes: NDArray[np.int32]
    curves: NDArray[np.floating]
    stages: NDArray[np.floating]


def definitions(*, single: bool = False) -> Mapping[str, int | str]:
    """Macros of the kernels: the fields of their structures, the place of each curve, and whether they use float32."""
    return {
        **({"SINGLE": 1} if single else {}),
        "CURVE_SHAPE_FIELDS": _fields("int", _SHAPE),
        "PLANT_FIELDS": _fields("Given", _OF_PLANT),
        "STAGE_FIELDS": _fields("Given", OF_STAGE),
        "MW_PER_KW_HOURS": repr(MW_PER_KW_HOURS),
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
    rows = np.concatenate([_rows(stages) for stages in horizons])
    of_plant, of_shapes = np.array([numbers], np.float64), np.array(shapes, np.int32)
    if single:
        return PlantArrays(outwards(of_plant), of_shapes, outwards(of_curves), outwards(rows))
    return PlantArrays(of_plant, of_shapes, of_curves, rows)


def _fields(kind: str, names: Sequence[str]) -> str:
    return f"{kind} {', '.join(names)}"


def _lake_of(horizons: Sequence[Stages]) -> list[CompiledCurve]:
    """The curves of the lake that the horizons share; where there are no losses they are not read."""
    lossy = [stages for stages in horizons if stages.has_losses] or [horizons[0]]
    for name in _OF_LAKE:
        numbers = [_numbers(getattr(stages, name)) for stages in lossy]
        if not all(np.array_equal(each, numbers[0]) for each in numbers):
            raise ValueError(f"horizons with another {name}")
    return [getattr(lossy[0], name) for name in _OF_LAKE]


def _numbers(curve: CompiledCurve) -> FloatArray:
    parts: list[Any] = [[curve.origin, curve.exponent], curve.breaks, curve.coefficients.ravel()]
    return np.concatenate(parts).astype(np.float64)


def _rows(stages: Stages) -> FloatArray:
    """A row a step."""
    steps = stages.per_flow.shape
    return np.stack([np.broadcast_to(np.float64(getattr(stages, name)), steps) for name in OF_STAGE], axis=1)
