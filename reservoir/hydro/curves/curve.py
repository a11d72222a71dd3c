"""Curves of a reservoir: tables joined by monotone cubics, polynomials and power laws (rating curves).

Every curve is a function of one variable on a closed domain and is held at its end values beyond it, so that a state
outside the bounds (which only a year that cannot be satisfied reaches) still has a level, and none that is absurd.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.checks import LARGEST_EXPONENT, MOST_COEFFICIENTS, domain, numbers, require_points
from reservoir.hydro.curves.monotone_cubic import monotone_cubics, piecewise_values
from reservoir.text.quantities import counted

FloatArray = NDArray[np.float64]


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
        require_points(self.x, self.y)

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
        object.__setattr__(self, "domain", domain(self.domain))
        if not 1 <= len(self.coefficients) <= MOST_COEFFICIENTS:
            problem = f"has {counted(len(self.coefficients), 'value')}"
            raise InputError(Mistake(problem, f"1 to {MOST_COEFFICIENTS} coefficients", column="coefficients"))

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
        object.__setattr__(self, "domain", domain(self.domain))
        if abs(self.exponent) > LARGEST_EXPONENT:
            expected = f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}"
            raise InputError(Mistake("is out of range", expected, column="exponent", value=self.exponent))
        if self.origin > self.domain[0]:
            expected = f"at most {self.domain[0]:.7g}, the start of the domain"
            raise InputError(Mistake("is above the start of the domain", expected, column="origin", value=self.origin))

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
