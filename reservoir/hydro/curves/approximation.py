"""The forms of the curves that solvers evaluate: least-degree polynomials, or even tables where those will not do.

A polynomial costs a few fused multiply-adds in every vector lane, a table look-up much more. The forms are float32, as
devices take them; what they do to head and power is measured against the exact curves, rounding included.

Forms belong to curves, not to limits. They are fitted on the widest of a few ranges on which they hold, and kept: a
reservoir with another limit, or another installed capacity or turbine flow, has the same forms, whatever was planned
before. Only where none of these ranges will do are they fitted on a reservoir's own. Who plans a reservoir many times
with other limits may name ranges for all of them (`form_ranges`), so that no limit between their ends fits anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly, chebvander
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.conversion import conversion_of
from reservoir.hydro.curve_checks import Domain, heads_of, releases_of, storages_of
from reservoir.hydro.curves.curve import Curve, Follows, Polynomial, PowerLaw, Table
from reservoir.hydro.curves.forms import PolynomialForm, UnclampedPolynomial, UniformTable
from reservoir.hydro.plant import Plant
from reservoir.hydro.record_rows import lake_area, lake_seepage
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import head_at, power_at_head

FloatArray = NDArray[np.float64]
Function = Callable[[FloatArray], FloatArray]
Form = PolynomialForm | UniformTable
#: Of storage, release and head.
Ranges = tuple[Domain, Domain, Domain]
#: Of storage and release.
FormRanges = tuple[Domain, Domain]

#: Largest part of power that all forms together may change.
POWER_TOLERANCE = 2e-4
TABLE_SIZES = (256, 1024, 4096, 8192)
_CHECKED_POINTS = 4001
#: States of each kind at which forms are compared with the curves: of forms on common ranges, and on a reservoir's own.
_STATES, _OWN_STATES = 301, 601
#: Points that polynomials are fitted to, and those on which their degree is guessed.
_NODES, _GUESSED_POINTS = 1200, 401
#: An error of head by which an error of power may be explained, where the capacity changes steeply with the head.
_STEEP_HEAD_M = 0.02
#: There, errors of power below this part of the largest are relative to that part.
_LEAST_PART = 0.01
#: Where there is no lowest head, errors of level count as at this part of the highest.
_LEAST_PART_OF_HEAD = 0.05
#: Into how many parts an octave is divided to whose next ends ranges are widened, the widest range first; None: as far
#: as the curves go.
_WIDTHS = (None, 1, 8)
#: How much dearer the forms of a range may be than the cheapest, and what a table costs for each doubling of its
#: points, in coefficients of polynomials.
_DEARER, _TABLE_COST = 1.1, 8
#: Points among which the storages are looked for whose heads the curves cover.
_STORAGES = 2001
#: Digits of a capacity's part of its largest value: the same of a curve and of its multiple.
_DIGITS = 12


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
#: For losses, as a part of their mean: they are a small part of what a step balances.
LAKE = FitTolerance(1e-4, 12)


@dataclass(frozen=True)
class Approximation:
    """A plant in float32 forms, and what they change.

    Parameters
    ----------
    plant : Plant
        Forms of level by storage, tailrace by release, MW per m3/s by head, and capacity by head.
    capacity_part : PolynomialForm or UniformTable
        Form of the capacity as a part of the largest, by head.
    most_capacity_m3s : float
        The largest capacity.
    head_error_m : float
        Largest difference in head.
    power_error : float
        Largest relative difference in power. Where that is beyond `POWER_TOLERANCE`, what the difference in head
        explains is left out, and less than a hundredth of the largest power counts as a hundredth.
    """

    plant: Plant
    capacity_part: Form
    most_capacity_m3s: float
    head_error_m: float
    power_error: float

    @property
    def cost(self) -> float:
        """What an evaluation of the forms costs, about, in coefficients of polynomials."""
        return sum(
            len(form.coefficients) if isinstance(form, PolynomialForm) else _TABLE_COST * math.log2(len(form.values))
            for form in (*self.plant[:3], self.capacity_part)
        )

    @property
    def compiled_plant(self) -> Plant:
        """The same for compiled code (`padded`)."""
        return self._with_curves(padded)

    @property
    def unheld_plant(self) -> Plant:
        """The same for storages and releases within their bounds, where polynomials need not be held at their ends."""
        return self._with_curves(lambda form: _unclamped(padded(form)))

    def _with_curves(self, changed: Callable[[Form], Any]) -> Plant:
        return Plant._make([*map(changed, self.plant[:4]), self.plant.installed_mw])


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


def form_ranges(reservoir: Reservoir) -> tuple[FormRanges, ...]:
    """Storages and releases between which forms hold, whatever limits a reservoir has there.

    First those on which the reservoir's own forms are, then, with forms that may cost more, those with releases down to
    the least of the tailrace curve.
    """
    tailrace, part = reservoir.tailrace, most_and_part(reservoir.capacity_m3s)[1]
    own, most = releases_of(vars(reservoir))
    least = max(0.0 if _follows(tailrace) else tailrace.domain[0], getattr(tailrace, "origin", 0.0))
    found = []
    for releases in ((own, most), (min(least, own), most)):
        ranges = _common_ranges(reservoir, part, -math.inf, releases)
        fitted = {each[:2]: _forms_on(reservoir, part, each, FINE) for each in ranges}
        best = _widest_of_cheap([*fitted.values()])
        found += [each for each, forms in fitted.items() if forms is best]
    return tuple(dict.fromkeys(found))


def approximate(
    reservoir: Reservoir,
    closeness: FitTolerance = COARSE,
    tailwater_m: float = -math.inf,
    ranges: Sequence[FormRanges] = (),
) -> Approximation:
    """The forms of a reservoir's curves: fitted once in a process, on one of a few ranges that its limits lie in.

    Heads are down to those that a lake below leaves at its highest level, `tailwater_m`. The first of `ranges` (of
    `form_ranges`) that the limits lie in, and on which forms are close enough, goes before these.

    Raises
    ------
    InputError
        If the forms change power by more than `POWER_TOLERANCE` somewhere.
    """
    most, part = most_and_part(reservoir.capacity_m3s)
    given = filter(None, (_covered(reservoir, part, tailwater_m, *each) for each in ranges))
    fitted = (_forms_on(reservoir, part, each, closeness) for each in given)
    forms = next((each for each in fitted if each.power_error <= POWER_TOLERANCE), None)
    if forms is None:
        common = _common_ranges(reservoir, part, tailwater_m, releases_of(vars(reservoir)))
        forms = _widest_of_cheap([_forms_on(reservoir, part, each, closeness) for each in common])
    if forms is None:
        storage, release = storages_of(vars(reservoir)), releases_of(vars(reservoir))
        lowest, highest = heads_of(reservoir.level, reservoir.tailrace, storage, release)
        head = min(lowest, float(reservoir.level(storage[0])) - tailwater_m), highest
        limits = most, reservoir.installed_mw
        forms = _forms_on(reservoir, part, (storage, release, head), closeness, limits)
    if forms.power_error > POWER_TOLERANCE:
        problem = (
            f"the solvers' float32 approximation of the curves changes power by up to "
            f"{100 * forms.power_error:.3g} % and head by up to {forms.head_error_m:.3g} m"
        )
        expected = f"at most {100 * POWER_TOLERANCE:.3g} % of power"
        mend = (
            "smooth the points of the curves, or narrow the storage and release limits; turbines that stop below a "
            "level have plant.operating_level_m"
        )
        raise InputError(problem, expected, mend, reservoir.source, column="curves")
    capacity, installed = _scaled(forms.capacity_part, most), np.float32(reservoir.installed_mw)
    plant = forms.plant._replace(capacity=capacity, installed_mw=installed)
    return replace(forms, plant=plant, most_capacity_m3s=most)


def _forms_on(
    reservoir: Reservoir,
    part: Curve,
    ranges: Ranges,
    closeness: FitTolerance,
    limits: tuple[float, float] | None = None,
) -> Approximation:
    storage, release, head = ranges
    level, tailrace = _defined_on(reservoir.level, storage), _defined_on(reservoir.tailrace, release)
    conversion = _defined_on(reservoir.conversion, head), reservoir.conversion_kind
    return _kept(level, tailrace, conversion, _defined_on(part, head), ranges, closeness, limits)


def _widest_of_cheap(fitted: Sequence[Approximation]) -> Approximation | None:
    """The first forms, of the widest ranges, that are close and hardly dearer than any that are; None if none are."""
    close = [forms for forms in fitted if forms.power_error <= POWER_TOLERANCE]
    least = min((forms.cost for forms in close), default=0.0)
    return next((forms for forms in close if forms.cost <= _DEARER * least), None)


def approximate_lake(reservoir: Reservoir, ranges: Sequence[FormRanges] = ()) -> tuple[Form, Form]:
    """Forms of the area of the lake (km2) and of the seepage (m3/s), by storage; fitted once in a process.

    They hold on the storages of the first of `ranges` that the limits lie in, if one of them does.
    """
    own = storages_of(vars(reservoir))
    own = next((storage for storage, _ in ranges if _within(own, storage)), own)
    return _lake_form(lake_area(reservoir), own), _lake_form(lake_seepage(reservoir), own)


def _lake_form(curve: Curve, own: Domain) -> Form:
    """On the widest range that a polynomial will do for; else on the narrowest."""
    for parts in _WIDTHS:
        ends = _widened(own, curve, parts)
        form = _fit_of_lake(_defined_on(curve, ends), ends)
        if isinstance(form, PolynomialForm):
            break
    return form


@lru_cache(maxsize=64)
def _fit_of_lake(curve: Curve, ends: Domain) -> Form:
    return _fit(curve, ends, lambda values: np.full_like(values, max(float(np.abs(values).mean()), 1e-9)), LAKE)


def most_and_part(capacity: Curve) -> tuple[float, Curve]:
    """The largest capacity (m3/s), and the curve of what part of it there is: of a curve's multiple, the same part."""
    values = np.array(capacity.y) if isinstance(capacity, Table) else capacity(np.linspace(*capacity.domain, 2001))
    most = float(values.max())
    if not most > 0:
        return 1.0, capacity

    def part(value: float) -> float:
        return float(f"{value / most:.{_DIGITS}g}")

    if isinstance(capacity, Table):
        return most, Table(capacity.x, tuple(map(part, capacity.y)))
    if isinstance(capacity, Polynomial):
        return most, replace(capacity, coefficients=tuple(map(part, capacity.coefficients)))
    assert isinstance(capacity, PowerLaw)
    return most, replace(capacity, offset=part(capacity.offset), factor=part(capacity.factor))


def _common_ranges(reservoir: Reservoir, part: Curve, tailwater_m: float, releases: Domain) -> Iterator[Ranges]:
    """Ranges of storage, release and head within which a reservoir's lie, with these releases, the widest first.

    They depend on where its limits lie only by whole steps, and never on what was planned before.
    """
    storages = storages_of(vars(reservoir))
    for parts in _WIDTHS:
        storage, release = _widened(storages, reservoir.level, parts), _widened(releases, reservoir.tailrace, parts)
        if ranges := _covered(reservoir, part, tailwater_m, storage, release):
            yield ranges


def _covered(reservoir: Reservoir, part: Curve, tailwater_m: float, storage: Domain, release: Domain) -> Ranges | None:
    """These ranges, with the heads that they leave, as far as curves cover those; None if a limit lies beyond."""
    storages = storages_of(vars(reservoir))
    if not (_within(storages, storage) and _within(releases_of(vars(reservoir)), release)):
        return None
    of_head = [curve for curve in (reservoir.conversion, part) if not (_follows(curve) or _is_constant(curve))]
    least = max((curve.domain[0] for curve in of_head), default=0.0)
    most = min((curve.domain[1] for curve in of_head), default=math.inf)
    below = _defined_on(reservoir.tailrace, release)(np.linspace(*release, _STATES))
    points = np.linspace(*storage, _STORAGES)
    levels = _defined_on(reservoir.level, storage)(points)
    above = levels - max(float(below.max()), tailwater_m)
    inside = np.flatnonzero((above >= least) & (above > 0) & (levels - below.min() <= most))
    if not len(inside) or not _within(storages, (points[inside[0]], points[inside[-1]])):
        return None
    first, last = inside[0], inside[-1]
    return (
        (float(points[first]), float(points[last])),
        release,
        (float(above[first]), float(levels[last] - below.min())),
    )


def _within(inner: Domain, outer: Domain) -> bool:
    return bool(outer[0] <= inner[0] and inner[1] <= outer[1])


def _is_constant(curve: Curve) -> bool:
    return isinstance(curve, Polynomial) and not any(curve.coefficients[1:])


def _widened(ends: Domain, curve: Curve, parts: int | None) -> Domain:
    """Ends moved outwards, to those of an octave's parts or of the curve, but never beyond the curve."""
    lower, upper = ends
    if parts is None and not _follows(curve):
        return min(lower, curve.domain[0]), max(upper, curve.domain[1])
    per_octave = parts or 1
    least = 2 ** (math.floor(math.log2(lower) * per_octave) / per_octave) if lower > 0 else lower
    most = 2 ** (math.ceil(math.log2(upper) * per_octave) / per_octave) if upper > 0 else upper
    if not _follows(curve):
        least, most = max(least, curve.domain[0]), min(most, curve.domain[1])
    elif isinstance(curve, PowerLaw):
        least = max(least, curve.origin)
    return min(least, lower), max(most, upper)


def _defined_on(curve: Curve, ends: Domain) -> Curve:
    """A formula that holds wherever it is needed, on a range; other curves as they are."""
    return replace(curve, domain=ends) if _follows(curve) else curve  # type: ignore[type-var]


def _follows(curve: Curve) -> bool:
    return isinstance(curve, Polynomial | PowerLaw) and curve.follows is not Follows.NOTHING


@lru_cache(maxsize=64)
def _kept(
    level: Curve,
    tailrace: Curve,
    conversion: tuple[Curve, ConversionKind],
    part: Curve,
    ranges: Ranges,
    closeness: FitTolerance,
    limits: tuple[float, float] | None,
) -> Approximation:
    """Forms of curves on ranges; power is limited by a capacity (m3/s) and MW, `limits`, or whatever these are.

    The largest capacity is left to be 1, and the installed capacity has no end.
    """
    storage, release, head = ranges
    given = Plant(level, tailrace, conversion_of(*conversion), part, math.inf)

    def lowest_head(values: FloatArray) -> FloatArray:
        return np.full_like(values, head[0] or _LEAST_PART_OF_HEAD * head[1])

    # Where floods leave no head, forms are asked for less: tables alone are held at their ends always.
    of_head = _fit if head[0] > 0 else _closest_table
    with np.errstate(all="ignore"):  # a formula may have no values where it is widened to: such forms are not close
        forms = Plant(
            _fit(level, storage, lowest_head, closeness),
            _fit(tailrace, release, lowest_head, closeness),
            of_head(given.conversion, head, np.abs, closeness),
            of_head(part, head, np.abs, closeness),
            math.inf,
        )
        if limits is None:
            # As releases at which no capacity counts, and as those at which it alone counts: in between, either does.
            full, still = given._replace(capacity=_unlimited), forms._replace(capacity=_unlimited)
            pairs = [(full, still, 1.0)] + ([] if _is_constant(part) else [(given, forms, math.inf)])
            errors = [_differences(*pair[:2], storage, release, pair[2], _STATES) for pair in pairs]
        else:
            capacity, installed = limits
            exact = given._replace(capacity=lambda heads: capacity * part(heads), installed_mw=installed)
            made = forms._replace(capacity=_scaled(forms.capacity, capacity), installed_mw=np.float32(installed))
            # Where turbines start at a low head, a table of the capacity is right between two of its points.
            apart = 0.0 if head[0] > 0 else 1 / float(forms.capacity.per_unit)
            errors = [_differences(exact, made, storage, release, None, _OWN_STATES, apart)]
    return Approximation(forms, forms.capacity, 1.0, *map(max, zip(*errors, strict=True)))


def _unlimited(head_m: FloatArray) -> FloatArray:
    return np.full_like(head_m, math.inf)


def _scaled(part: Form, factor: float) -> Form:
    if isinstance(part, PolynomialForm):
        return part._replace(coefficients=tuple(np.float32(float(each) * factor) for each in part.coefficients))
    return part._replace(values=(part.values * factor).astype(np.float32))


def _fit(curve: Function, domain: Domain, scale: Function, closeness: FitTolerance) -> Form:
    """The cheapest form whose largest difference, as a part of `scale` of the value, is within the tolerance."""
    points = np.linspace(*domain, _CHECKED_POINTS)
    exact = curve(points)
    allowed = closeness.tolerance * scale(exact)

    def close(form: Form) -> bool:
        return bool(np.all(np.abs(form(points) - exact) <= allowed))

    series = _chebyshev(curve, domain, closeness.highest_degree)
    for degree in range(_least_degree(series, points, exact, allowed, domain), closeness.highest_degree + 1):
        form = _polynomial(series[: degree + 1], domain)
        if close(form):
            return form
    return _closest_table(curve, domain, scale, closeness)


def _closest_table(curve: Function, domain: Domain, scale: Function, closeness: FitTolerance) -> UniformTable:
    """The smallest even table that is within the tolerance, or the largest."""
    points = np.linspace(*domain, _CHECKED_POINTS)
    exact = curve(points)
    allowed = closeness.tolerance * scale(exact)
    for size in TABLE_SIZES:
        form = _even_table(curve, domain, size)
        if np.all(np.abs(form(points) - exact) <= allowed):
            break
    return form


def _middle_and_half(domain: Domain) -> tuple[float, float]:
    lower, upper = domain
    return (lower + upper) / 2, (upper - lower) / 2 or 1.0


def _chebyshev(curve: Function, domain: Domain, highest: int) -> FloatArray:
    """Coefficients of the Chebyshev series, whose first are within a small factor of the best polynomial's."""
    middle, half = _middle_and_half(domain)
    values = curve(middle + half * np.cos(np.linspace(0, np.pi, _NODES + 1)))
    series = np.fft.rfft(np.append(values, values[-2:0:-1])).real / _NODES
    series[0] /= 2
    return np.asarray(series[: highest + 1])


def _least_degree(
    series: FloatArray, points: FloatArray, exact: FloatArray, allowed: FloatArray, domain: Domain
) -> int:
    """A degree below which none is close: found in float64, on some of the points, for all degrees at once."""
    middle, half = _middle_and_half(domain)
    some = slice(None, None, _CHECKED_POINTS // _GUESSED_POINTS)
    values = np.cumsum(chebvander((points[some] - middle) / half, len(series) - 1) * series, axis=1)
    close = np.all(np.abs(values - exact[some, np.newaxis]) <= 1.05 * allowed[some, np.newaxis], axis=0)
    degrees = np.flatnonzero(close)
    return max(int(degrees[0]), 1) if len(degrees) else len(series)


def _polynomial(series: FloatArray, domain: Domain) -> PolynomialForm:
    middle, half = _middle_and_half(domain)
    powers = cheb2poly(series)
    powers = np.pad(powers, (0, len(series) - len(powers)))[::-1]
    constants: list[Any] = [np.float32(value) for value in (*domain, middle, 1 / half)]
    return PolynomialForm._make([*constants, tuple(np.float32(value) for value in powers)])


def _even_table(curve: Function, domain: Domain, size: int) -> UniformTable:
    lower, upper = domain
    values = curve(np.linspace(lower, upper, size)).astype(np.float32)
    return UniformTable(np.float32(lower), np.float32((size - 1) / ((upper - lower) or 1.0)), values)


def _differences(
    given: Plant,
    plant: Plant,
    storage: Domain,
    release: Domain,
    turbined: float | None,
    states: int,
    apart_m: float = 0.0,
) -> tuple[float, float]:
    """Largest difference in head (m) and largest relative difference in power, over a grid of all states.

    What is released to the turbines is `turbined`; where that is not given, the release, and what the difference in
    head explains, or the distance of points of the capacity (`apart_m`), does not count.
    """
    storages, releases = np.meshgrid(np.linspace(*storage, states), np.linspace(*release, states))
    head, form_head = (head_at(each, storages, releases) for each in (given, plant))
    flows = releases if turbined is None else np.full_like(releases, turbined)
    single: Any = np.float32(flows)
    power, form_power = power_at_head(given, head, flows), power_at_head(plant, form_head, single)
    produced = power > 0
    head_error = float(np.max(np.abs(form_head - head)))
    power_error = float(np.max((np.abs(form_power - power)[produced] / power[produced]), initial=0.0))
    if turbined is None and power_error > POWER_TOLERANCE and head_error <= _STEEP_HEAD_M:
        # Along a steep capacity curve a small error of head is a large one of power: it is not counted twice.
        most = head_error + (apart_m if apart_m <= _STEEP_HEAD_M else 0.0)
        heads = (np.clip(head + shift, head.min(), head.max()) for shift in (-most, 0, most))
        powers = [power_at_head(given, each, releases) for each in heads]
        nearest = np.clip(form_power, np.min(powers, axis=0), np.max(powers, axis=0))
        least = _LEAST_PART * float(power.max())
        power_error = float(np.max(np.abs(form_power - nearest) / np.maximum(power, least)))
    return head_error, power_error if power_error == power_error else math.inf
