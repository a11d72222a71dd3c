"""A plant, its lake and the steps of horizons as kernels read them, in double: curves as numbers behind each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
_OF_STAGE = tuple(name for name in Stages._fields if name not in _OF_LAKE)


class PlantArrays(NamedTuple):
    """Buffers of a kernel.

    Parameters
    ----------
    numbers : ndarray, shape (1, numbers)
        Of the plant.
    shapes : ndarray of int32, shape (curves, 4)
    curves : ndarray, shape (numbers of all curves,)
    stages : ndarray, shape (steps of all horizons, fields)
    """

    numbers: FloatArray
    shapes: NDArray[np.int32]
    curves: FloatArray
    stages: FloatArray


def definitions() -> Mapping[str, int | str]:
    """Macros of the kernels: the fields of their structures, and the place of each curve."""
    return {
        "CURVE_SHAPE_FIELDS": _fields("int", _SHAPE),
        "PLANT_FIELDS": _fields("double", _OF_PLANT),
        "STAGE_FIELDS": _fields("double", _OF_STAGE),
        "MW_PER_KW_HOURS": repr(MW_PER_KW_HOURS),
        **{name.upper(): place for place, name in enumerate(_CURVES)},
    }


def plant_arrays(plant: Plant, horizons: Sequence[Stages]) -> PlantArrays:
    """The buffers of one plant and horizons of it, their steps behind each other.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    horizons : sequence of Stages

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
    return PlantArrays(
        np.array([numbers], np.float64),
        np.array(shapes, np.int32),
        np.concatenate([_numbers(curve) for curve in given]),
        np.concatenate([_rows(stages) for stages in horizons]),
    )


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
    return np.stack([np.broadcast_to(np.float64(getattr(stages, name)), steps) for name in _OF_STAGE], axis=1)
