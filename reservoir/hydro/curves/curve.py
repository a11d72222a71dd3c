"""Curves of a reservoir: tables joined by monotone cubics, polynomials and power laws (rating curves).

Every curve is a function of one variable on a closed domain and is held at its end values beyond it, so that a state
outside the bounds (which only a year that cannot be satisfied reaches) still has a level, and none that is absurd.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import FieldWords, Words
from reservoir.hydro.units import HM3_PER_KM2_MM
from reservoir.text.quantities import counted

FloatArray = NDArray[np.float64]

#: Beyond these a formula follows its data no better, and overflows when its unit is converted.
MOST_COEFFICIENTS = 13
LARGEST_EXPONENT = 10
#: More points than a survey gives, and than can be joined at once.
MOST_POINTS = 10_000
#: Part of a table's range by which points lie apart; nearer ones give slopes without meaning.
LEAST_SPACING = 1e-9
#: Points at which the area is taken from a level curve: those of a formula, and the fewest in each piece of a table.
_AREA_POINTS, _OF_PIECE = 201, 8
#: Where a curve is nearly level, the area is no more than so many times the storage over the level of the pieces
#: around: a cubic may be level at its end, where the lake is not endless.
_MOST = 3.0
#: Points between which the steepest rise of an area is looked for.
_GRID = 401


class CompiledCurve(NamedTuple):
    """A curve as compiled code reads it.

    Piece ``k`` holds between ``breaks[k]`` and ``breaks[k + 1]`` and is a polynomial in ``x - breaks[k]`` with
    ``coefficients[k]``, highest power first. A power law has ``is_power`` and reads ``coefficients[0] = (factor,
    offset)``, ``origin`` and ``exponent``.
    """

    breaks: FloatArray
    coefficients: FloatArray
    is_power: bool
    origin: float
    exponent: float


class Follows(Enum):
    """What a formula follows of its reservoir when one is made of another with other limits."""

    NOTHING = auto()
    """Its domain is where it is known to hold."""
    RANGE = auto()
    """It holds wherever it is needed: its domain widens with the storages, releases or heads."""
    LARGEST_RELEASE = auto()
    """As well, and it is so much that no release is limited by it."""


class Curve(Protocol):
    """What every curve offers."""

    @property
    def domain(self) -> tuple[float, float]:
        """Closed interval on which the curve is defined."""

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Values at `x`, float64; held at the ends outside the domain."""

    def compiled(self) -> CompiledCurve:
        """The same curve as compiled code reads it."""

    def __hash__(self) -> int:
        """Of its numbers: forms are kept by curve."""


@dataclass(frozen=True)
class Table:
    """Points joined by monotone cubics (Fritsch and Carlson 1980; PCHIP): no overshoot between the points.

    Parameters
    ----------
    x, y : sequence of float
        At least two points, `x` strictly increasing.

    Raises
    ------
    InputError
        If they are not.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            object.__setattr__(self, name, numbers(name, getattr(self, name)))
        if mistakes := list(point_mistakes("x", self.x, "y", self.y, FieldWords())):
            raise InputError(mistakes)

    @property
    def domain(self) -> tuple[float, float]:
        """First and last point."""
        return self.x[0], self.x[-1]

    @cached_property
    def _cubics(self) -> FloatArray:
        return monotone_cubics(np.array(self.x), np.array(self.y))

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Values at `x`."""
        held = np.clip(np.asarray(x, np.float64), *self.domain)
        return piecewise_values(np.array(self.x), self._cubics, held)

    def compiled(self) -> CompiledCurve:
        """A cubic a piece."""
        return CompiledCurve(np.array(self.x), self._cubics.copy(), False, 0.0, 0.0)


@dataclass(frozen=True)
class Polynomial:
    """A polynomial on a domain.

    Parameters
    ----------
    coefficients : sequence of float
        Lowest power first.
    domain : pair of float
        Where it holds.
    follows : Follows
        What of its reservoir it follows when limits are changed.

    Raises
    ------
    InputError
        If these are no finite numbers, or too many coefficients.
    """

    coefficients: tuple[float, ...]
    domain: tuple[float, float]
    follows: Follows = field(default=Follows.NOTHING, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "coefficients", numbers("coefficients", self.coefficients))
        object.__setattr__(self, "domain", checked_domain(self.domain))
        if not 1 <= len(self.coefficients) <= MOST_COEFFICIENTS:
            problem = f"has {counted(len(self.coefficients), 'value')}"
            raise InputError(problem, f"1 to {MOST_COEFFICIENTS} coefficients", column="coefficients")

    @cached_property
    def _polynomial(self) -> np.polynomial.Polynomial:
        return np.polynomial.Polynomial(self.coefficients)

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Values at `x`."""
        return np.asarray(self._polynomial(np.clip(np.asarray(x, np.float64), *self.domain)))

    def compiled(self) -> CompiledCurve:
        """One piece, expanded around the lower end of the domain."""
        shifted = self._polynomial(np.polynomial.Polynomial([self.domain[0], 1.0]))
        coefficients = np.ascontiguousarray(shifted.coef[::-1], np.float64)[np.newaxis]
        return CompiledCurve(np.array(self.domain), coefficients, False, 0.0, 0.0)


@dataclass(frozen=True)
class PowerLaw:
    """A rating curve ``offset + factor (x - origin)**exponent``.

    Parameters
    ----------
    offset, factor, origin, exponent : float
        The curve's constants; `x` is never below `origin` on the domain.
    domain : pair of float
        Where it holds.
    follows : Follows
        What of its reservoir it follows when limits are changed.

    Raises
    ------
    InputError
        If these are no finite numbers, the exponent is out of range, or the domain begins below the origin.
    """

    offset: float
    factor: float
    origin: float
    exponent: float
    domain: tuple[float, float]
    follows: Follows = field(default=Follows.NOTHING, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("offset", "factor", "origin", "exponent"):
            object.__setattr__(self, name, numbers(name, (getattr(self, name),))[0])
        object.__setattr__(self, "domain", checked_domain(self.domain))
        if abs(self.exponent) > LARGEST_EXPONENT:
            expected = f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
            raise InputError("is out of range", expected, column="exponent", value=self.exponent)
        if self.origin > self.domain[0]:
            expected = f"at most {self.domain[0]:.7g}, the start of the domain"
            raise InputError("is above the start of the domain", expected, column="origin", value=self.origin)

    def __call__(self, x: ArrayLike) -> FloatArray:
        """Values at `x`."""
        held = np.clip(np.asarray(x, np.float64), *self.domain)
        return np.asarray(self.offset + self.factor * (held - self.origin) ** self.exponent)

    def compiled(self) -> CompiledCurve:
        """Its constants."""
        coefficients = np.array([[self.factor, self.offset]])
        return CompiledCurve(np.array(self.domain), coefficients, True, self.origin, self.exponent)


def constant(value: float, domain: tuple[float, float], follows: Follows = Follows.NOTHING) -> Polynomial:
    """A curve that has the same value everywhere."""
    return Polynomial((value,), domain, follows)


def joined_lines(x: Sequence[float], y: Sequence[float]) -> Callable[..., Any]:
    """Straight lines between points whose x do not fall, as a function of arrays; beyond their ends the value there."""
    return partial(np.interp, xp=np.array(x), fp=np.array(y))


def point_mistakes(x_name: str, x: Sequence[float], y_name: str, y: Sequence[float], words: Words) -> Iterator[Mistake]:
    """State why points cannot be joined: their number, and the first two that are not in rising order."""
    x_word = words.named(x_name).rpartition(".")[2]
    if len(x) != len(y):
        y_word = words.named(y_name).rpartition(".")[2]
        yield words.mistake(
            x_name, f"has {counted(len(x), 'value')}, but {y_word} has {len(y)}", "lists of the same length"
        )
    elif not 2 <= len(x) <= MOST_POINTS:
        found = "fewer than two points" if len(x) < 2 else f"{len(x)} points"
        yield words.mistake(x_name, f"has {found}", f"2 to {MOST_POINTS:,} points")
    spacing = LEAST_SPACING * abs(x[-1] - x[0]) if len(x) else 0.0
    for index, (before, after) in enumerate(pairwise(x), 1):
        if not after - before > spacing:
            points = (f"point {index} ({words.amount(x_name, before)})", f"point {index + 1}")
            pair = f"{points[0]} to {points[1]} ({words.amount(x_name, after)})"
            does = "increases too little" if after > before else "does not increase"
            yield words.mistake(x_name, f"{does} from {pair}", f"points in increasing order of {x_word}")
            return


def numbers(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Finite numbers as Python's own.

    Raises
    ------
    InputError
        If they are anything else.
    """
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise InputError("is not a sequence of numbers", column=name) from None
    if not all(map(math.isfinite, found)):
        raise InputError("has a value that is not a finite number", "finite numbers", column=name)
    return found


def checked_domain(values: Sequence[float]) -> tuple[float, float]:
    """A closed interval.

    Raises
    ------
    InputError
        If it is none.
    """
    ends = numbers("domain", values)
    if len(ends) != 2 or ends[0] > ends[1]:
        raise InputError("is not an interval", "two numbers, the lower one first", column="domain")
    return ends[0], ends[1]


def monotone_cubics(x: FloatArray, y: FloatArray) -> FloatArray:
    """A cubic between each point and the next, without overshoot: PCHIP as SciPy has it, whose import takes 0.4 s.

    Parameters
    ----------
    x, y : ndarray, shape (points,)
        At least two points, `x` strictly increasing.

    Returns
    -------
    ndarray, shape (points - 1, 4)
        Coefficients of powers of the distance from the piece's first point, highest power first.
    """
    width = np.diff(x)
    slope = np.diff(y) / width
    derivative = _derivatives(width, slope)
    bend = (derivative[:-1] + derivative[1:] - 2 * slope) / width
    return np.stack([bend / width, (slope - derivative[:-1]) / width - bend, derivative[:-1], y[:-1]], axis=1)


def piecewise_values(breaks: FloatArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Values of cubics, one a piece.

    Parameters
    ----------
    breaks : ndarray, shape (pieces + 1,)
    coefficients : ndarray, shape (pieces, 4)
        As `monotone_cubics` returns them.
    x : ndarray, any shape
        The first and the last piece hold beyond the breaks too.

    Returns
    -------
    ndarray, shape of `x`
    """
    piece = np.searchsorted(breaks[1:-1], x, side="right")
    cubic, square, linear, value = coefficients.T
    with np.errstate(over="ignore", invalid="ignore"):  # of points beyond all lakes, which are refused by their values
        distance = x - breaks[piece]
        total = value[piece] + linear[piece] * distance
        power = distance * distance
        total += square[piece] * power
        power *= distance
        total += cubic[piece] * power
    return np.asarray(total)


def _derivatives(width: FloatArray, slope: FloatArray) -> FloatArray:
    """At the points: inside, zero or a weighted harmonic mean of both slopes (Fritsch and Butland 1984)."""
    if len(slope) == 1:
        return np.repeat(slope, 2)
    derivative = np.zeros(len(slope) + 1)
    monotone = np.sign(slope[1:]) * np.sign(slope[:-1]) > 0
    after, before = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # of slopes that are not monotone, and that are left out
        mean = (after / slope[:-1] + before / slope[1:]) / (after + before)
    derivative[1:-1][monotone] = 1.0 / mean[monotone]
    derivative[0] = _end_derivative(*width[:2], *slope[:2])
    derivative[-1] = _end_derivative(*width[:-3:-1], *slope[:-3:-1])
    return derivative


def _end_derivative(width: float, next_width: float, slope: float, next_slope: float) -> float:
    """Of three points, made to keep the shape (Moler 2004, Numerical Computing with MATLAB, 3.4)."""
    derivative = ((2 * width + next_width) * slope - width * next_slope) / (width + next_width)
    if np.sign(derivative) != np.sign(slope):
        return 0.0
    if np.sign(slope) != np.sign(next_slope) and abs(derivative) > 3 * abs(slope):
        return 3.0 * slope
    return derivative


def area_of_levels(level: Curve) -> Curve:
    """Area (km2) by storage (hm3): by how much the storage grows with the level, along the curve itself.

    Within 0.2 % of the reciprocal of the slope of a usual curve, as far as that is not nearly level.
    """
    ends = np.array(level.x) if isinstance(level, Table) else np.linspace(*level.domain, _AREA_POINTS)
    rise = np.diff(level(ends))
    secant = np.divide(np.diff(ends), rise, out=np.zeros(len(rise)), where=rise > 0)
    around = np.pad(secant, 1)
    most = _MOST * np.maximum(np.maximum(around[:-2], around[2:]), secant)
    parts = max(_OF_PIECE, _AREA_POINTS // len(rise)) if isinstance(level, Table) else 1
    points = np.append(
        (ends[:-1, np.newaxis] + np.diff(ends)[:, np.newaxis] * np.arange(parts) / parts).ravel(), ends[-1]
    )
    slope, most = slope_of(level, points), np.append(np.repeat(most, parts), most[-1])
    steep = slope > 0
    if steep.sum() < 2:
        return constant(0.0, level.domain)
    with np.errstate(over="ignore"):
        area = np.minimum(1 / slope[steep], most[steep])
    return Table(tuple(points[steep]), tuple(area))


def slope_of(curve: Curve, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivative of a curve at points of its domain."""
    form = curve.compiled()
    if form.is_power:
        with np.errstate(divide="ignore"):
            power = (x - form.origin) ** (form.exponent - 1)
        return np.asarray(form.coefficients[0, 0] * form.exponent * power)
    piece = np.searchsorted(form.breaks[1:-1], x, side="right")
    distance, highest = x - form.breaks[piece], form.coefficients.shape[1] - 1
    slope = np.zeros(len(x))
    for place in range(highest):
        slope = slope * distance + (highest - place) * form.coefficients[piece, place]
    return slope


def most_evaporated(area: Curve, least_hm3: float, most_hm3: float, evaporation_mm: NDArray[np.float64]) -> float:
    """Largest part of a further hm3 that evaporates in a step, or that rain adds, where the area changes most."""
    storages = np.linspace(least_hm3, most_hm3, _GRID)
    steepest = np.abs(np.diff(area(storages))).max() / (storages[1] - storages[0])
    return float(np.abs(evaporation_mm).max() * HM3_PER_KM2_MM * steepest)
