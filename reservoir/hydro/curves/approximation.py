"""The forms of the curves that solvers evaluate: least-degree polynomials, or even tables where those will not do.

A polynomial costs a few fused multiply-adds in every vector lane, a table look-up much more. The forms are float32, as
devices take them; what they do to head and power is measured against the exact curves, rounding included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.curves.forms import PolynomialForm, UnclampedPolynomial, UniformTable
from reservoir.hydro.plant import Plant, plant_of
from reservoir.hydro.record_rows import lake_area, lake_seepage
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import head_at, power_at_head

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]
Form = PolynomialForm | UniformTable

#: Largest part of power that all forms together may change.
POWER_TOLERANCE = 2e-4
TABLE_SIZES = (256, 1024, 4096, 8192)
_CHECKED_POINTS = 4001
#: An error of head by which an error of power may be explained, where the capacity changes steeply with the head.
_STEEP_HEAD_M = 0.02
#: There, errors of power below this part of the largest are relative to that part.
_LEAST_PART = 0.01


@dataclass(frozen=True)
class FitTolerance:
    """How close a curve's form must be.

    Parameters
    ----------
    tolerance : float
        Largest part of power that it may change before a higher degree is taken.
    highest_degree : int
        Beyond which an even table is taken.
    """

    tolerance: float
    highest_degree: int


#: For engines that make billions of evaluations: positions best for these forms lose up to 1.3e-5 of the energy of
#: the best for the exact curves (bundled case), less than such engines leave themselves.
COARSE = FitTolerance(6e-5, 12)
#: For engines that leave less: up to 9e-6, for an eighth more time.
FINE = FitTolerance(2e-5, 24)
#: For losses, as a part of the largest: they are a small part of what a step balances.
LAKE = FitTolerance(1e-4, 12)


@dataclass(frozen=True)
class Approximation:
    """A plant in float32 forms, and what they change.

    Parameters
    ----------
    plant : Plant
        Forms of level by storage, tailrace by release, MW per m3/s by head, and capacity by head.
    head_error_m : float
        Largest difference in head.
    power_error : float
        Largest relative difference in power. Where that is beyond `POWER_TOLERANCE`, what the difference in head
        explains is left out, and less than a hundredth of the largest power counts as a hundredth.
    """

    plant: Plant
    head_error_m: float
    power_error: float

    @property
    def compiled_plant(self) -> Plant:
        """The same for compiled code (`padded`)."""
        return self._with_curves(padded)

    @property
    def unheld_plant(self) -> Plant:
        """The same for storages and releases within their bounds, where polynomials need not be held at their ends."""
        return self._with_curves(lambda form: _unclamped(padded(form)))

    def _with_curves(self, changed: Callable[[Form], Any]) -> Plant:
        plant = self.plant
        curves = plant.level, plant.tailrace, plant.conversion, plant.capacity
        return Plant._make([*map(changed, curves), plant.installed_mw])


#: Coefficients that a polynomial is padded to: each number of them is compiled by itself. A straight line stays one:
#: its only product is rounded otherwise where there are others.
PADDED_LENGTHS = (2, 4, 10, 15, 32)


def padded(form: Form) -> Form:
    """A form whose polynomial begins with zeros, up to one of few lengths: the same values, to the last bit."""
    if not isinstance(form, PolynomialForm):
        return form
    length = next(each for each in PADDED_LENGTHS if each >= len(form.coefficients))
    zeros = (np.float32(0.0),) * (length - len(form.coefficients))
    return form._replace(coefficients=zeros + form.coefficients)


def _unclamped(form: Form) -> Any:
    return UnclampedPolynomial(*form[2:]) if isinstance(form, PolynomialForm) else form


def approximate(reservoir: Reservoir, closeness: FitTolerance = COARSE) -> Approximation:
    """Fit the forms of a reservoir's curves.

    Raises
    ------
    InputError
        If the forms change power by more than `POWER_TOLERANCE` somewhere.
    """
    storage = _storages(reservoir)
    release = _span(reservoir.release_lower_m3s, reservoir.release_upper_m3s)
    head = (
        float(reservoir.level(storage[0]) - reservoir.tailrace(release[1])),
        float(reservoir.level(storage[1]) - reservoir.tailrace(release[0])),
    )
    plant = Plant(
        _fit(reservoir.level, storage, lambda value: np.full_like(value, head[0]), closeness),
        _fit(reservoir.tailrace, release, lambda value: np.full_like(value, head[0]), closeness),
        _fit(plant_of(reservoir).conversion, head, np.abs, closeness),
        _fit(reservoir.capacity_m3s, head, np.abs, closeness),
        np.float32(reservoir.installed_mw),
    )
    checked = Approximation(plant, *_differences(reservoir, plant, storage, release))
    if checked.power_error > POWER_TOLERANCE:
        problem = (
            f"the solvers' float32 approximation of the curves changes power by up to "
            f"{100 * checked.power_error:.3g} % and head by up to {checked.head_error_m:.3g} m"
        )
        expected = f"at most {100 * POWER_TOLERANCE:.3g} % of power"
        mend = (
            "smooth the points of the curves, or narrow the storage and release limits; turbines that stop below a "
            "level have plant.operating_level_m"
        )
        raise InputError(Mistake(problem, expected, mend, reservoir.source, column="curves"))
    return checked


def approximate_lake(reservoir: Reservoir) -> tuple[Form, Form]:
    """Forms of the area of the lake (km2) and of the seepage (m3/s), by storage."""
    storage = _storages(reservoir)
    area, seepage = lake_area(reservoir), lake_seepage(reservoir)
    return _fit(area, storage, _largest, LAKE), _fit(seepage, storage, _largest, LAKE)


def _largest(values: FloatArray) -> FloatArray:
    return np.full_like(values, max(float(np.abs(values).max()), 1e-9))


def _storages(reservoir: Reservoir) -> tuple[float, float]:
    ends = [end for end in (reservoir.initial_storage_hm3, reservoir.final_storage_hm3) if end is not None]
    return _span([*reservoir.storage_lower_hm3, *ends], [*reservoir.storage_upper_hm3, *ends])


def _span(lower: ArrayLike, upper: ArrayLike) -> tuple[float, float]:
    return float(np.min(lower)), float(np.max(upper))


def _fit(curve: Function, domain: tuple[float, float], scale: Function, closeness: FitTolerance) -> Form:
    """The cheapest form whose largest difference, as a part of `scale` of the value, is within the tolerance."""
    points = np.linspace(*domain, _CHECKED_POINTS)
    exact = curve(points)
    allowed = closeness.tolerance * scale(exact)

    def close(form: Form) -> bool:
        return bool(np.all(np.abs(form(points) - exact) <= allowed))

    for degree in range(1, closeness.highest_degree + 1):
        form: Form = _polynomial(curve, domain, degree)
        if close(form):
            return form
    for size in TABLE_SIZES:
        form = _even_table(curve, domain, size)
        if close(form):
            return form
    return form


def _polynomial(curve: Function, domain: tuple[float, float], degree: int) -> PolynomialForm:
    """Least squares on Chebyshev points: within a small factor of the best polynomial of that degree."""
    lower, upper = domain
    centre, half = (lower + upper) / 2, (upper - lower) / 2 or 1.0
    nodes = np.cos(np.linspace(0, np.pi, 50 * (degree + 1)))
    fitted = Chebyshev.fit(nodes, curve(centre + half * nodes), degree, domain=[-1, 1])
    powers = fitted.convert(kind=np.polynomial.Polynomial).coef
    padded = np.pad(powers, (0, degree + 1 - len(powers)))[::-1]
    constants: list[Any] = [np.float32(value) for value in (lower, upper, centre, 1 / half)]
    return PolynomialForm._make([*constants, tuple(np.float32(value) for value in padded)])


def _even_table(curve: Function, domain: tuple[float, float], size: int) -> UniformTable:
    lower, upper = domain
    values = curve(np.linspace(lower, upper, size)).astype(np.float32)
    return UniformTable(np.float32(lower), np.float32((size - 1) / ((upper - lower) or 1.0)), values)


def _differences(
    reservoir: Reservoir, plant: Plant, storage: tuple[float, float], release: tuple[float, float]
) -> tuple[float, float]:
    """Largest difference in head (m) and largest relative difference in power, over a grid of all states."""
    given = plant_of(reservoir)
    storages, releases = np.meshgrid(np.linspace(*storage, 601), np.linspace(*release, 601))
    head, form_head = (head_at(each, storages, releases) for each in (given, plant))
    single: Any = np.float32(releases)
    power, form_power = power_at_head(given, head, releases), power_at_head(plant, form_head, single)
    produced = power > 0
    head_error = float(np.max(np.abs(form_head - head)))
    power_error = float(np.max((np.abs(form_power - power)[produced] / power[produced]), initial=0.0))
    if power_error > POWER_TOLERANCE and head_error <= _STEEP_HEAD_M:
        # Along a steep capacity curve a small error of head is a large one of power: it is not counted twice.
        heads = (np.clip(head + shift, head.min(), head.max()) for shift in (-head_error, 0, head_error))
        powers = [power_at_head(given, each, releases) for each in heads]
        nearest = np.clip(form_power, np.min(powers, axis=0), np.max(powers, axis=0))
        least = _LEAST_PART * float(power.max())
        power_error = float(np.max(np.abs(form_power - nearest) / np.maximum(power, least)))
    return head_error, power_error
