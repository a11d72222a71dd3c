"""Constraints of a reservoir's curves: their trend and the range of their values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro import ranges
from reservoir.hydro.curves.curve import Curve, FloatArray, Table
from reservoir.hydro.ranges import Range
from reservoir.hydro.units import WATER_MW_PER_M3S_M
from reservoir.hydro.wording import Words

#: Output coefficient K of a plant without losses, kW per m3/s and metre.
LOSSLESS_COEFFICIENT = 1e3 * WATER_MW_PER_M3S_M
GRID = 2001
#: Published tables are rounded: a rate may pass the physical limit by this much.
ROUNDING = 1e-3


def _not_falling(before: FloatArray, after: FloatArray) -> NDArray[np.bool_]:
    return after >= before - 1e-9 * np.abs(before)


@dataclass(frozen=True)
class CurveConstraint:
    """What must hold for one of the curves.

    Parameters
    ----------
    x, y : str
        Variable and value, with their units; the keys of a file's points.
    claim : str
        The constraint in words.
    x_range, y_range : Range
        Between which every point and every value lie.
    holds : callable or None
        Whether a value and the next follow the trend; None where there is none to follow.
    broken : str
        What the curve does where they do not.
    mend : str
        What to do about a curve that breaks the constraint.
    """

    x: str
    y: str
    claim: str
    x_range: Range
    y_range: Range
    holds: Callable[[Any, Any], Any] | None = _not_falling
    broken: str = "decreases"
    mend: str = ""


_LEVEL, _TAILRACE = "a level that does not decrease with the storage", "a level that does not decrease with the release"
CURVE_CONSTRAINTS: Mapping[str, CurveConstraint] = {
    "level": CurveConstraint("storage_hm3", "level_m", _LEVEL, ranges.STORAGE_HM3, ranges.LEVEL_M),
    "tailrace": CurveConstraint("release_m3s", "level_m", _TAILRACE, ranges.FLOW_M3S, ranges.LEVEL_M),
    "conversion_rate": CurveConstraint(
        "head_m",
        "rate_m3_per_kwh",
        "a rate above 0 that decreases with the head",
        ranges.HEAD_M,
        ranges.RATE_M3_PER_KWH,
        operator.gt,
        "does not decrease",
    ),
    "output_coefficient": CurveConstraint(
        "head_m",
        "coefficient",
        f"a coefficient above 0, at most {LOSSLESS_COEFFICIENT} (no losses)",
        ranges.HEAD_M,
        Range(ranges.LEAST_COEFFICIENT, LOSSLESS_COEFFICIENT),
        holds=None,
    ),
    "efficiency": CurveConstraint(
        "head_m",
        "efficiency",
        "a fraction above 0, at most 1",
        ranges.HEAD_M,
        Range(ranges.LEAST_EFFICIENCY, 1.0),
        holds=None,
        mend="write 0.92 for 92 %",
    ),
    "capacity": CurveConstraint(
        "head_m",
        "capacity_m3s",
        "a capacity of 0 or more",
        ranges.HEAD_M,
        ranges.FLOW_M3S,
        holds=None,
    ),
    "area": CurveConstraint(
        "storage_hm3",
        "area_km2",
        "an area that does not decrease with the storage",
        ranges.STORAGE_HM3,
        ranges.AREA_KM2,
    ),
    "seepage": CurveConstraint(
        "storage_hm3", "seepage_m3s", "a flow of 0 or more", ranges.STORAGE_HM3, ranges.FLOW_M3S, holds=None
    ),
}


@dataclass(frozen=True)
class _Sample:
    """A curve under inspection: its points, or the values of its formula on a dense grid."""

    constraint: CurveConstraint
    of_points: bool
    x: FloatArray
    y: FloatArray
    words: Words

    def where(self, index: int) -> str:
        """Name a point by its number and values, or a place on the grid by its values."""
        x = self.words.amount(self.constraint.x, self.x[index])
        y = self.words.amount(self.constraint.y, self.y[index])
        return f"point {index + 1} ({x}: {y})" if self.of_points else f"{x} (value {y})"

    def mistake(self, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake of the values."""
        return self.words.mistake(
            self.constraint.y if self.of_points else "", problem, expected, mend or self.constraint.mend
        )


def check_curve(constraint: CurveConstraint, curve: Curve, words: Words) -> Iterator[Mistake]:
    """Check the values of a curve: its points, or its formula on a dense grid."""
    of_points = isinstance(curve, Table)
    x, y = (np.array(curve.x), np.array(curve.y)) if isinstance(curve, Table) else _grid(curve)
    sample = _Sample(constraint, of_points, x, y, words)
    if not np.isfinite(y).all():
        yield sample.mistake("does not give a finite number everywhere", mend="check the numbers and their units")
        return
    outside = np.flatnonzero((y < constraint.y_range.least) | (y > constraint.y_range.most))
    if outside.size:
        yield sample.mistake(f"is out of range at {sample.where(outside[0])}", _expected(constraint, words))
        return
    astray = np.flatnonzero(~constraint.holds(y[:-1], y[1:])) if constraint.holds else np.array([], int)
    if astray.size:
        first = int(astray[0])
        yield sample.mistake(
            f"{constraint.broken} from {sample.where(first)} to {sample.where(first + 1)}", constraint.claim
        )
    if constraint is CURVE_CONSTRAINTS["conversion_rate"]:
        yield from _physical(sample)


def _expected(constraint: CurveConstraint, words: Words) -> str:
    least, most = (words.amount(constraint.y, end) for end in constraint.y_range)
    return f"{constraint.claim}: {least} to {most}"


def _physical(sample: _Sample) -> Iterator[Mistake]:
    least = 3600 / (LOSSLESS_COEFFICIENT * np.where(sample.x > 0, sample.x, np.inf))
    beyond = np.flatnonzero(sample.y * (1 + ROUNDING) < least)
    if beyond.size:
        problem = f"gives more energy than the water contains at {sample.where(beyond[0])}"
        yield sample.mistake(problem, f"at least {least[beyond[0]]:.4f} m3/kWh there")


def _grid(curve: Curve) -> tuple[FloatArray, FloatArray]:
    x = np.linspace(*curve.domain, GRID)
    # A formula in the wrong unit may overflow; that is a mistake to state, not a warning to print.
    with np.errstate(all="ignore"):
        return x, curve(x)
